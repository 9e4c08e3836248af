# SPDX-License-Identifier: Apache-2.0
"""hmac with fastcrypt's hashes: `import fastcrypt.hmac as hmac`.

With the SHA-1 and SHA-2 names and fastcrypt's own types everything runs in C and the key is wiped when
the object dies; any other digestmod is the standard library's hmac underneath.
"""

from __future__ import annotations

import hmac as _stdlib
from hmac import trans_5C, trans_36
from typing import TYPE_CHECKING, Any, Self

from . import _core
from ._core import HMACKey, HMACState, compare_digest, hmac_digest

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

__all__ = ["HMAC", "HMACKey", "compare_digest", "digest", "new", "trans_5C", "trans_36"]

#: As in the standard library: the size depends on the digestmod.
digest_size = None

_NAMES = {
    getattr(_core, name): name
    for name in ("sha1", "sha224", "sha256", "sha384", "sha512", "sha512_224", "sha512_256")
}


def _own_name(digestmod: Any) -> str | None:
    """The name under which the extension may know a digestmod."""
    if isinstance(digestmod, type):
        return _NAMES.get(digestmod)
    return digestmod if isinstance(digestmod, str) else None


def _is_buffer(value: object) -> bool:
    try:
        memoryview(value).release()  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


class HMAC:
    """HMAC (RFC 2104) of a message in pieces; `new` makes one.

    May be subclassed: what is secret lives in an object of its own that is final and wiped.
    """

    __slots__ = ("_hmac", "block_size", "digest_size")

    blocksize = 64  # of older Pythons; block_size is each object's own

    def __init__(self, key: Buffer, msg: Buffer | None = None, digestmod: Any = "") -> None:
        if not digestmod:
            raise TypeError("Missing required argument 'digestmod'.")
        if not isinstance(key, bytes | bytearray) and not _is_buffer(key):
            raise TypeError(f"key: expected bytes or bytearray, but got {type(key).__name__!r}")
        self._init_hmac(key, msg, digestmod)

    def _init_hmac(self, key: Buffer, msg: Buffer | None, digestmod: Any) -> None:
        name = _own_name(digestmod)
        if name is None:
            self._init_old(key, msg, digestmod)
            return
        try:
            self._adopt(HMACState(key, name, msg))
        except ValueError:  # not a name of ours
            self._init_old(key, msg, digestmod)

    def _init_old(self, key: Buffer, msg: Buffer | None, digestmod: Any) -> None:
        self._adopt(_stdlib.HMAC(key if isinstance(key, bytearray) else bytes(key), msg, digestmod))

    def _adopt(self, state: Any) -> None:
        self._hmac = state
        self.digest_size: int = state.digest_size
        self.block_size: int = state.block_size

    @property
    def name(self) -> str:
        """'hmac-' and the name of the hash."""
        return str(self._hmac.name)

    def update(self, msg: Buffer) -> None:
        """Append msg, any contiguous buffer."""
        self._hmac.update(msg)

    def copy(self) -> Self:
        """An independent object in the same state."""
        twin = self.__class__.__new__(self.__class__)
        twin._hmac = self._hmac.copy()
        twin.digest_size = self.digest_size
        twin.block_size = self.block_size
        return twin

    def digest(self) -> bytes:
        """The tag of what has been given so far."""
        return bytes(self._hmac.digest())

    def hexdigest(self) -> str:
        """The tag of what has been given so far, in lower-case hexadecimal."""
        return str(self._hmac.hexdigest())


def new(key: Buffer, msg: Buffer | None = None, digestmod: Any = "") -> HMAC:
    """An HMAC under key (any contiguous buffer), with msg as the beginning of its message.

    digestmod is the name of a hash, a callable that makes a hash object, or a module with `new`. TypeError
    for kinds and a missing digestmod, ValueError for an unknown name.
    """
    return HMAC(key, msg, digestmod)


def digest(key: Buffer, msg: Buffer, digest: Any) -> bytes:
    """The tag of msg under key in one call; digest as digestmod of `new`."""
    name = _own_name(digest)
    if name is not None:
        try:
            return hmac_digest(key, msg, name)
        except ValueError:  # not a name of ours
            pass
    return _stdlib.digest(bytes(key) if isinstance(key, memoryview) else key, msg, digest)  # type: ignore[arg-type]
