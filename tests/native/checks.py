# SPDX-License-Identifier: Apache-2.0
"""All native checks as one stream of cells: (symbol, check, status, detail).

    for cell in cells(): ...

Programs are built and run; each prints a line per target and check. A program that dies, or that says
nothing about a target of the table, is a failed cell itself: nothing is passed over in silence.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

import frames
import wipe_sites

import build

if TYPE_CHECKING:
    from collections.abc import Iterator

Cell = tuple[str, str, str, str]
STATUSES = ("pass", "fail", "undecidable")


class Program(NamedTuple):
    """A native program, the flavours it is run in, and the checks that it reports."""

    name: str
    checks: tuple[str, ...]
    flavours: tuple[str, ...] = ("plain",)
    under: tuple[str, ...] = ()


MEMCHECK = ("valgrind", "-q", "--error-limit=no", "--log-file=/dev/null")
PROGRAMS = (
    Program("bounds", ("bounds", "answers", "alignment"), ("plain", "ubsan", "clang")),
    Program("abi", ("abi", "stack", "thread", "signals")),
    Program("wiped", ("wiped",), ("plain", "clang", "os", "o3")),
    Program("ctgrind", ("ctgrind",), ("plain", "clang", "os", "o3"), MEMCHECK),
)


def flavour_exists(name: str) -> bool:
    return shutil.which(build.FLAVOURS[name].cc) is not None


def run(program: str, *arguments: str, flavour: str = "plain", under: tuple[str, ...] = ()) -> str:
    """The lines that a program prints; a death adds a failed cell of its own."""
    binary = build.build(program, flavour)
    done = subprocess.run([*under, str(binary), *arguments], capture_output=True, text=True,
                          check=False)  # fmt: skip
    if done.returncode not in (0, 1):
        lines = done.stderr.strip().splitlines() or ["no message"]
        return done.stdout + f"\nfail {program} {program} died with {done.returncode}: {lines[-1]}\n"
    return done.stdout


def parse(text: str) -> Iterator[Cell]:
    for line in text.splitlines():
        words = line.split(None, 3)
        if len(words) >= 3 and words[0] in STATUSES:
            yield words[1], words[2], words[0], words[3] if len(words) > 3 else ""


def targets(flavour: str = "plain") -> dict[str, str]:
    """Every function of every row, as kernels.def has them, and whether this machine can run it."""
    lines = run("bounds", "--list", flavour=flavour).splitlines()
    return {line.split()[1]: line.split(None, 2)[2] for line in lines if line.startswith("target")}


def program_cells(program: Program, flavour: str, quick: bool) -> Iterator[Cell]:
    """One cell per target and check; in other flavours than `plain` the check's name says which."""
    output = run(program.name, *(["--quick"] if quick else []), flavour=flavour, under=program.under)
    suffix = "" if flavour == "plain" else f"-{flavour}"
    seen = set()
    for symbol, check, status, detail in parse(output):
        seen.add((symbol, check))
        yield symbol, check + suffix, status, detail
    for symbol in targets(flavour):
        for check in program.checks:
            if (symbol, check) not in seen:
                yield symbol, check + suffix, "fail", f"{program.name} said nothing about it"


def further_cells(quick: bool = False) -> Iterator[Cell]:
    """The programs in the other flavours (not when quick), the frames of C functions, and the wipes."""
    for program in () if quick else PROGRAMS:
        for flavour in program.flavours[1:]:
            if flavour_exists(flavour):
                yield from program_cells(program, flavour, quick)
    yield from frames.cells(frames.all_frames(quick))
    yield from wipe_sites.cells(("O3",) if quick else tuple(wipe_sites.FLAVOURS))


def cells(quick: bool = False) -> Iterator[Cell]:
    """Everything. Quick: fewer lengths, the default flavour only, no link-time optimisation."""
    for program in PROGRAMS:
        yield from program_cells(program, "plain", quick)
    yield from further_cells(quick)


if __name__ == "__main__":
    failed = False
    for symbol, check, status, detail in cells("--quick" in sys.argv):
        failed |= status == "fail"
        print(status, symbol, check, detail)
    sys.exit(failed)
