# SPDX-License-Identifier: Apache-2.0
"""No C function of ours has a stack frame above 2048 bytes, however it is compiled.

Every C file at every level of optimisation, with and without UBSan, with gcc and clang where present;
the numbers are the compiler's own (-fstack-usage).
"""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import build
import kernel_sources

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT = 2048
LEVELS = (
    ("-O2",),
    ("-O3",),
    ("-Os",),
    ("-O2", "-fno-code-hoisting"),
    ("-O2", "-fno-tree-pre", "-fno-tree-sra"),
)
UBSAN = ("-fsanitize=undefined",)


@dataclass(frozen=True)
class Frame:
    """One function's frame in one build. Dynamic: of no size that the compiler could bound."""

    function: str
    size: int
    dynamic: bool
    source: str
    command: str


def c_sources() -> list[str]:
    found = [p for d in ("cpu", "ct", "hash", "aes") for p in (build.ROOT / "csrc" / d).glob("*.c")]
    return ["csrc/kernels.c", *sorted(str(p.relative_to(build.ROOT)) for p in found),
            *kernel_sources.portable_sources()]  # fmt: skip


def compilers() -> list[str]:
    return [cc for cc in ("gcc", "clang-19") if shutil.which(cc)]


def commands(quick: bool) -> list[list[str]]:
    """Compilers with their flags. clang knows gcc's -fno-... by name only."""
    if quick:
        return [["gcc", "-O3"], ["gcc", "-O2", *UBSAN]]
    return [
        [cc, *level, *ubsan]
        for cc in compilers()
        for level in LEVELS
        if cc == "gcc" or len(level) == 1
        for ubsan in ((), UBSAN)
    ]


def parse_su(text: str, source: str, command: str) -> list[Frame]:
    frames = []
    for line in text.splitlines():
        place, size, kind = line.split("\t")
        frames.append(Frame(place.split(":")[-1], int(size), kind == "dynamic", source, command))
    return frames


def frames_of(source: str, command: list[str], macros: list[str]) -> list[Frame]:
    """Compile (where anything changed) and read what the compiler says about the stack."""
    flavour = build.Flavour("frames/" + "".join(command), cc=command[0])
    flags = ["-w", *kernel_sources.C_FLAGS, "-D_GNU_SOURCE", *command[1:], "-fstack-usage"]
    output = build.compile_object(flavour, source, flags, macros)
    report = output.with_suffix(".su")  # absent where a file has no function
    text = report.read_text() if report.exists() else ""
    return parse_su(text, source, " ".join(command))


def all_frames(quick: bool = False) -> list[Frame]:
    with build._locked(build.OUTPUT / "plain"):
        macros = list(build.build_core(build.FLAVOURS["plain"]).macros)
    jobs = [(source, command) for source in c_sources() for command in commands(quick)]
    with build._locked(build.OUTPUT / "frames"), ThreadPoolExecutor(2) as pool:
        return [f for fs in pool.map(lambda j: frames_of(j[0], j[1], macros), jobs) for f in fs]


def cells(frames: list[Frame]) -> Iterator[tuple[str, str, str, str]]:
    """One cell per C kernel, and one per file for everything else in it."""
    groups: dict[str, list[Frame]] = {}
    for frame in frames:
        name = frame.function.removesuffix("_body")
        is_kernel = name.startswith("fc_") and name.endswith("_portable")
        groups.setdefault(name if is_kernel else frame.source, []).append(frame)
    for symbol, group in groups.items():
        worst = max(group, key=lambda f: (f.dynamic, f.size))
        status = "fail" if worst.dynamic or worst.size > LIMIT else "pass"
        kind = ", of no fixed size" if worst.dynamic else ""
        detail = f"{worst.size} bytes{kind} in {worst.function} with {worst.command}, limit {LIMIT}"
        yield symbol, "frames", status, detail


if __name__ == "__main__":
    for cell in cells(all_frames()):
        print(*cell)
