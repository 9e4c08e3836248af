# SPDX-License-Identifier: Apache-2.0
"""AES keys for Cipher. The key schedule is made, and wiped, by each context."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NoReturn

from ._buffers import flat, require_bytes_like

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["AES", "AES128", "AES256"]


class AES:
    """An AES key of 128, 192 or 256 bits, or of 512 bits for AES-256-XTS (both keys in a row).

    ValueError for other sizes. No attribute returns the key.
    """

    __slots__ = ("_key",)
    name: ClassVar = "AES"
    block_size: ClassVar = 128
    key_sizes: ClassVar = frozenset([128, 192, 256, 512])

    def __init__(self, key: ReadableBuffer) -> None:
        self._key = require_bytes_like("key", key)
        if self.key_size not in self.key_sizes:
            raise ValueError(f"Invalid key size ({self.key_size}) for {self.name}.")

    @property
    def key_size(self) -> int:
        """In bits."""
        return 8 * len(flat(self._key))

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"cannot pickle {type(self).__name__!r} object")


class AES128(AES):
    """AES with a key of 128 bits and no other."""

    __slots__ = ()
    key_sizes: ClassVar = frozenset([128])


class AES256(AES):
    """AES with a key of 256 bits and no other."""

    __slots__ = ()
    key_sizes: ClassVar = frozenset([256])
