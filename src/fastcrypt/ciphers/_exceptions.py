# SPDX-License-Identifier: Apache-2.0
"""The exceptions of Cipher: cryptography's own classes where that package is installed."""

from __future__ import annotations

try:
    from cryptography.exceptions import (
        AlreadyFinalized,
        AlreadyUpdated,
        NotYetFinalized,
        UnsupportedAlgorithm,
    )
except ImportError:

    class AlreadyFinalized(Exception):  # type: ignore[no-redef]
        """The context has been finalized."""

    class AlreadyUpdated(Exception):  # type: ignore[no-redef]
        """Associated data after data."""

    class NotYetFinalized(Exception):  # type: ignore[no-redef]
        """The tag is known only after finalize()."""

    class UnsupportedAlgorithm(Exception):  # type: ignore[no-redef]
        """What this mode does not do."""


__all__ = ["AlreadyFinalized", "AlreadyUpdated", "NotYetFinalized", "UnsupportedAlgorithm"]
