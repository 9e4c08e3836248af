# SPDX-License-Identifier: Apache-2.0
"""Hashes of files: read and hashed in pieces, both outside the GIL."""

import os

from ._core import sha256

TYPE_CHECKING = False  # to import typing costs more than fastcrypt does
if TYPE_CHECKING:
    from collections.abc import Callable

#: 256 KiB stay in a level-2 cache between the read and the hash.
PIECE = 1 << 18


def sha256_file(
    path_or_fd: str | bytes | os.PathLike[str] | int, *, offset: int = 0, length: int | None = None
) -> bytes:
    """SHA-256 of a file, or of length bytes of it from offset on, as 32 bytes.

    path_or_fd is a path or an open descriptor; where the system can read at an offset, a descriptor keeps its
    position. A pipe is read to its end, and has no offset. The file may end before length bytes: EOFError.
    OSError as open() and read() raise it, ValueError for negative numbers.
    """
    if offset < 0 or (length is not None and length < 0):
        raise ValueError("offset and length must not be negative")
    if isinstance(path_or_fd, int):
        return _digest(path_or_fd, offset, length)
    fd = os.open(path_or_fd, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        return _digest(fd, offset, length)
    finally:
        os.close(fd)


def _reader(fd: int, offset: int) -> "Callable[[memoryview, int], int]":
    """read(piece, done): fills piece with what lies `done` bytes behind the offset; how many bytes it was."""
    try:
        os.lseek(fd, 0, os.SEEK_CUR)
    except OSError:  # a pipe, a socket, a terminal
        if offset:
            raise
        return lambda piece, _: os.readv(fd, [piece])
    return lambda piece, done: os.preadv(fd, [piece], offset + done)


def _digest(fd: int, offset: int, length: int | None) -> bytes:
    read = _reader(fd, offset)
    h = sha256()
    done = 0
    with memoryview(bytearray(PIECE)) as piece:
        while length is None or done < length:
            wanted = PIECE if length is None else min(PIECE, length - done)
            size = read(piece[:wanted], done)
            if size == 0:
                break
            h.update(piece[:size])
            done += size
    if length is not None and done < length:
        raise EOFError(f"length must be {length} bytes, the file has {done} from offset {offset}")
    return h.digest()
