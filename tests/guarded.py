# SPDX-License-Identifier: Apache-2.0
"""Memory for tests: between two unmapped pages, where a read or write one byte outside kills the process,
and gigabytes of zeros."""

from __future__ import annotations

import ctypes
import mmap

PAGE = mmap.PAGESIZE
PROT_NONE = 0

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class Guarded:
    """`pages` writable pages with an unmapped one before and after."""

    def __init__(self, pages: int = 1) -> None:
        self.size = pages * PAGE
        self._map = mmap.mmap(-1, self.size + 2 * PAGE)
        anchor = ctypes.c_char.from_buffer(self._map)
        self.base = ctypes.addressof(anchor) + PAGE
        del anchor
        for page in (self.base - PAGE, self.base + self.size):
            if _libc.mprotect(page, PAGE, PROT_NONE) != 0:
                raise OSError(ctypes.get_errno(), "mprotect")
        self.inner = memoryview(self._map)[PAGE : PAGE + self.size]

    def at(self, offset: int, data: bytes) -> memoryview:
        """data copied to `offset` bytes behind the page's start."""
        view = self.inner[offset : offset + len(data)]
        view[:] = data
        return view

    def at_start(self, data: bytes) -> memoryview:
        return self.at(0, data)

    def at_end(self, data: bytes) -> memoryview:
        return self.at(self.size - len(data), data)


def zeros(size: int) -> mmap.mmap:
    """Address space that reads as zeros and takes no memory."""
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def unreadable(size: int) -> mmap.mmap:
    """Address space where every access kills the process; takes no memory. OSError if there is none."""
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=PROT_NONE)
