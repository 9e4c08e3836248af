# SPDX-License-Identifier: Apache-2.0
"""The native checks: programs of tests/native that print their cells."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

from . import native
from .disassembly import ROOT
from .result import FAIL, PASS, UNDECIDABLE, Cell, parse_lines

sys.path.insert(0, str(ROOT / "tests"))

#: Program -> what runs it.
PROGRAMS: dict[str, tuple[str, ...]] = {
    "ctgrind": ("valgrind", "-q", "--error-limit=no"),
    "bounds": (),
    "abi": (),
    "wiped": (),
    "bitflip": (),
}


def cells(name: str, *options: str) -> Iterator[Cell]:
    """Build one program, run it, and yield what it printed; a crash is a failed cell."""
    runner = PROGRAMS[name]
    if runner and shutil.which(runner[0]) is None:
        yield Cell(name, name, FAIL, f"{runner[0]} is not installed")
        return
    command = [*runner, str(native.build.build(name)), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = list(parse_lines(done.stdout))
    yield from found
    if done.returncode not in (0, 1) or not found:
        yield Cell(name, name, FAIL, f"status {done.returncode}: {done.stderr.strip()[-300:]}")


def further_cells(quick: bool) -> Iterator[Cell]:
    """Those programs in other builds, the frames of C functions, and the wipes in the binary."""
    import checks  # tests/native, found as build.py is

    for cell in checks.further_cells(quick):
        yield Cell(*cell)


def fuzz_cells(quick: bool) -> Iterator[Cell]:
    """Every fuzz target for a share of a fixed time; longer by `make fuzz SECONDS=n`."""
    if shutil.which("clang-19") is None and shutil.which("clang") is None:
        status = FAIL if os.environ.get("CI") else UNDECIDABLE
        yield Cell("fuzz", "fuzz", status, "needs Debian packages clang-19 libclang-rt-19-dev")
        return
    seconds = "6" if quick else os.environ.get("FASTCRYPT_FUZZ_SECONDS", "24")
    command = [sys.executable, "-m", "tests.fuzz", "--seconds", seconds]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    yield Cell("fuzz", "fuzz", PASS if done.returncode == 0 else FAIL, (done.stdout + done.stderr)[-600:])


def mutation_cells(quick: bool) -> Iterator[Cell]:
    """As many mutants of the kernels as fit into a fixed time, of each file the same part; all by
    `make mutation`."""
    from mutation import campaign  # tests/mutation, found by the line above that names tests

    seconds = float(os.environ.get("FASTCRYPT_MUTATION_SECONDS", "20" if quick else "120"))
    for cell in campaign.cells(seconds):
        yield Cell(*cell)
