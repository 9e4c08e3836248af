# SPDX-License-Identifier: Apache-2.0
"""In a child: make every writable byte of the module read-only, then call every hot function.

    python -m tests.proof.read_only_runner CALLS [plant]

Prints each expression before it is called, so that the last line names the one that faulted. With `plant`
it writes to the module's own data instead, and must die of it.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from pathlib import Path

from elftools.elf.elffile import ELFFile

import fastcrypt
from fastcrypt import _core

from .public_calls import CALLS, NAMESPACE


def load_address(path: Path) -> int:
    """Where the file is mapped."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.endswith(str(path)):
            return int(line.split("-")[0], 16)
    raise OSError(f"{path} is not mapped")


def writable_ranges(path: Path) -> list[tuple[int, int]]:
    """The pages of the segments that are mapped writable: .data, .bss and what RELRO protected."""
    base, page = load_address(path), mmap.PAGESIZE
    with path.open("rb") as stream:
        segments = [
            (s["p_vaddr"], s["p_memsz"]) for s in ELFFile(stream).iter_segments("PT_LOAD") if s["p_flags"] & 2
        ]
    ranges = []
    for address, size in segments:
        start = (base + address) // page * page
        end = -(-(base + address + size) // page) * page
        ranges.append((start, end - start))
    return ranges


def main() -> None:
    path = Path(_core.__file__).resolve()
    names = {"fastcrypt": fastcrypt, **NAMESPACE}
    codes = [(c.expression, compile(c.expression, "<call>", "eval")) for c in CALLS if c.hot]
    for _, code in codes:
        eval(code, names)
    mprotect = ctypes.CDLL(None, use_errno=True).mprotect
    ranges = writable_ranges(path)
    for start, size in ranges:
        if mprotect(ctypes.c_void_p(start), ctypes.c_size_t(size), mmap.PROT_READ) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")
    if "plant" in sys.argv[2:]:
        start, size = ranges[-1]
        ctypes.memset(start + size - 8, 0, 1)
    for expression, code in codes:
        print(expression, flush=True)
        for _ in range(int(sys.argv[1])):
            eval(code, names)
    print("done", flush=True)


if __name__ == "__main__":
    main()
