# SPDX-License-Identifier: Apache-2.0
"""hashlib with fastcrypt's hashes: `import fastcrypt.hashlib as hashlib`.

SHA-1 and SHA-2, `new` for their names, `pbkdf2_hmac` with them and `file_digest` are fastcrypt's; everything
else that the running Python's hashlib offers (MD5, SHA-3, BLAKE2, scrypt ...) is the standard library's own.
"""

from __future__ import annotations

import hashlib as _stdlib
from typing import TYPE_CHECKING, Any

from . import _core
from ._core import sha1, sha224, sha256, sha384, sha512, sha512_224, sha512_256

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import ReadableBuffer as Buffer

__all__ = [  # noqa: PLE0604
    *_stdlib.__all__,
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "sha512_224",
    "sha512_256",
]


def __getattr__(name: str) -> Any:
    """What is not here is the standard library's."""
    return getattr(_stdlib, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_stdlib)})


#: Of every name in them, `new` makes an object, as in the standard library.
algorithms_guaranteed = _stdlib.algorithms_guaranteed
algorithms_available = _stdlib.algorithms_available | {"sha512_224", "sha512_256"}


def new(name: str, data: Buffer = b"", **kwargs: Any) -> Any:
    """A hash object by the name of its algorithm: fastcrypt's, or else the standard library's.

    ValueError for a name that neither knows. Any thread may call it.
    """
    try:
        return _core.new(name, data, **kwargs)
    except ValueError:
        return _stdlib.new(name, data, **kwargs)


def pbkdf2_hmac(
    hash_name: str, password: Buffer, salt: Buffer, iterations: int, dklen: int | None = None
) -> bytes:
    """PBKDF2 (RFC 8018) with HMAC as dklen bytes, a digest's if None; the GIL is released.

    Names and errors as hashlib.pbkdf2_hmac.
    """
    try:
        return _core.pbkdf2_hmac(hash_name, password, salt, iterations, dklen)
    except ValueError:
        return _stdlib.pbkdf2_hmac(hash_name, password, salt, iterations, dklen)


def file_digest(fileobj: Any, digest: str | Callable[[], Any], /, *, _bufsize: int = 2**18) -> Any:
    """A hash object of what a file open for reading in binary mode holds from its position on.

    digest is the name of an algorithm or a callable that makes a hash object. The file is left at its
    end and open. Unlike hashlib's, a BytesIO is hashed from its position too. ValueError for an object
    that is no such file, BlockingIOError for a non-blocking one without data.
    """
    result = new(digest) if isinstance(digest, str) else digest()
    if hasattr(fileobj, "getbuffer"):
        with fileobj.getbuffer() as whole:
            result.update(whole[fileobj.tell() :])
        fileobj.seek(0, 2)
        return result
    if not (hasattr(fileobj, "readinto") and hasattr(fileobj, "readable") and fileobj.readable()):
        raise ValueError(f"'{fileobj!r}' is not a file-like object in binary reading mode.")
    with memoryview(bytearray(_bufsize)) as piece:
        while (size := fileobj.readinto(piece)) != 0:
            if size is None:
                raise BlockingIOError("I/O operation would block.")
            result.update(piece[:size])
    return result
