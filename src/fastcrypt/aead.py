# SPDX-License-Identifier: Apache-2.0
"""AESGCM and AESGCMSIV for code that was written for cryptography.hazmat.primitives.ciphers.aead.

The classes are fastcrypt.AESGCM and fastcrypt.AESGCMSIV themselves: a call costs nothing more. Where
cryptography is installed, InvalidTag here is a class that derives from fastcrypt's and from
cryptography.exceptions'. The types are final, so none can be derived that raises it; but whatever raises
InvalidTag looks for the class in the extension module at that moment, and finds this one there from the
first import of this module on. All of fastcrypt raises it then; whoever catches fastcrypt.InvalidTag does
not see the difference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import AESGCM, AESGCMSIV, _core
from . import InvalidTag as _InvalidTag

if TYPE_CHECKING:
    from . import InvalidTag
else:
    try:
        from cryptography.exceptions import InvalidTag as _OtherInvalidTag
    except ImportError:
        InvalidTag = _InvalidTag
    else:

        class InvalidTag(_InvalidTag, _OtherInvalidTag):
            """A tag that does not verify: fastcrypt.InvalidTag and cryptography.exceptions.InvalidTag."""

        _core.InvalidTag = InvalidTag

__all__ = ["AESGCM", "AESGCMSIV", "InvalidTag"]
