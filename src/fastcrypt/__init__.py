# SPDX-License-Identifier: Apache-2.0
"""Hashing, AES and constant-time comparison on the best kernels of this CPU."""

from ._core import (
    AES,
    AESGCM,
    InvalidTag,
    __version__,
    aes_decrypt,
    aes_encrypt,
    build_info,
    compare_digest,
    cpu_features,
    kernels,
    self_test,
    sha256,
    sha256_digest,
    sha256_hexdigest,
    timingsafe_bcmp,
    timingsafe_equal,
    timingsafe_memcmp,
)

__all__ = [
    "AES",
    "AESGCM",
    "InvalidTag",
    "__version__",
    "aes_decrypt",
    "aes_encrypt",
    "build_info",
    "compare_digest",
    "cpu_features",
    "kernels",
    "self_test",
    "sha256",
    "sha256_digest",
    "sha256_hexdigest",
    "timingsafe_bcmp",
    "timingsafe_equal",
    "timingsafe_memcmp",
]
