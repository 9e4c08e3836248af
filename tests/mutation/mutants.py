# SPDX-License-Identifier: Apache-2.0
"""Every mutant of every kernel: a list that depends on the sources alone."""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import operators
from .source import ROOT, Scope, scopes_of, users

sys.path.insert(0, str(ROOT))

import kernel_sources

#: How many mutants a line has beside those of its jump; of a compare kernel, more.
KEEP = {"asm": 1, "c": 2, "compare": 3}
#: No code of a kernel: checked by the compiler, or only there for it.
NOT_CODE = {
    "ALWAYS_INLINE", "FC_C_KERNEL", "FC_VALUE_BARRIER", "KEEP_IN_MEMORY", "X", "STEP",
    "FC_AES_BITSLICED_H",
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change. `unit` is the source to compile, `file` the one changed: itself or what it includes."""

    unit: str
    file: str
    scope: str
    number: int
    text: str
    what: str
    line: str
    kernels: tuple[str, ...]

    @property
    def identity(self) -> str:
        return f"{self.file} | {self.scope} | {self.text} | {self.what}"


@dataclass(frozen=True)
class Unit:
    """An object to rebuild: its source, the files of ours that are part of it, its kernels."""

    source: str
    files: tuple[str, ...]
    kernels: tuple[str, ...]


def _included(source: str) -> tuple[str, ...]:
    """Files next to an assembly source that it includes, and those that they include."""
    names = re.findall(r'^#include "(\w+\.(?:h|inc))"', (ROOT / source).read_text(), flags=re.M)
    found = [f"{Path(source).parent}/{name}" for name in names]
    there = [f for f in found if (ROOT / f).exists() and "stack" not in f]
    return tuple(inner for f in there for inner in (f, *_included(f)))


def aes_functions() -> list[str]:
    text = (ROOT / "csrc/kernels.h").read_text().split("#define FC_AES_FUNCTIONS(X)")[1]
    return re.findall(r"X\((\w+)\)", text.split("\n\n")[0])


def portable_kernels() -> list[str]:
    found = []
    for op, isa in kernel_sources.rows("x86_64"):
        if isa == "portable":
            names = [f"aes_{f}" for f in aes_functions()] if op == "aes" else [op]
            found += [f"fc_{name}_portable" for name in names]
    return found


def units() -> list[Unit]:
    found = []
    for source in kernel_sources.asm_sources("x86_64").values():
        text = (ROOT / source).read_text()
        files = (source, *_included(source))
        whole = "".join((ROOT / f).read_text() for f in files)
        kernels = tuple(re.findall(r"^FC_FUNC\((fc_\w+)\)", whole, flags=re.M))
        if "ENTRY" in text and not kernels:
            kernels = tuple(portable_kernels())
        found.append(Unit(source, files, kernels))
    for source in kernel_sources.portable_sources():
        files = (source, "csrc/portable/aes_bitsliced.h") if source.endswith("modes.c") else (source,)
        found.append(Unit(source, files, tuple(portable_kernels())))
    return found


def _scopes(unit: Unit) -> list[tuple[str, Scope]]:
    return [(f, s) for f in unit.files for s in scopes_of(ROOT / f) if s.name not in NOT_CODE]


def _users(unit: Unit) -> dict[str, list[str]]:
    """Reached kernels by scope; those of C through all C files, since they call each other."""
    if unit.source.endswith(".S"):
        if "ENTRY" in (ROOT / unit.source).read_text() and "portable" in unit.source:
            return {s.name: list(unit.kernels) for _, s in _scopes(unit)}
        return users([s for _, s in _scopes(unit)], list(unit.kernels))
    files = [*kernel_sources.portable_sources(), "csrc/portable/aes_bitsliced.h"]
    return users([s for f in files for s in scopes_of(ROOT / f)], list(unit.kernels))


def thinned(found: list[operators.Mutation], key: str, keep: int) -> list[operators.Mutation]:
    """Every change of a jump, and `keep` others, which ones depending on the line's text alone."""
    jumps = [m for m in found if re.match(r"(?:j\w+|\d+[fb]|\.L\w+|condition|[<>=!]+) ", m[0])]
    others = [m for m in found if m not in jumps]
    others.sort(key=lambda m: zlib.crc32(f"{key} {m[0]}".encode()))
    return jumps + others[:keep]


def _asm_line(scope: Scope, line: str, here: int, thorough: bool) -> Iterator[operators.Mutation]:
    if scope.kind == "data":
        yield from operators.asm_directive(line, thorough)
    else:
        labels = [m[1] for _, t in scope.lines if (m := re.match(r"(\.?\w+):", t))]
        yield from operators.asm_directive(line, thorough)
        yield from operators.asm(line, labels, here, thorough)


def _c_line(scope: Scope, line: str) -> Iterator[operators.Mutation]:
    if scope.kind != "data":
        yield from operators.c_line(line)
    else:
        yield from (m for m in operators.c_line(line) if "->" in m[0])


def mutants_of(unit: Unit) -> Iterator[Mutant]:
    reached = _users(unit)
    is_c = unit.source.endswith(".c")
    thorough = "timingsafe" in unit.source
    keep = KEEP["compare" if thorough else "c" if is_c else "asm"]
    for file, scope in _scopes(unit):
        kernels = reached.get(scope.name, [])
        if scope.kind == "define" or not kernels:
            continue
        seen: dict[str, int] = {}
        here = 0
        for number, line in scope.lines:
            text = " ".join(line.rstrip("\\").split())
            here += bool(re.match(r"\.?\w+:", line))
            if not text:
                continue
            seen[text] = seen.get(text, 0) + 1
            named = text if seen[text] == 1 else f"{text} #{seen[text]}"
            changes = _c_line(scope, line) if is_c else _asm_line(scope, line, here, thorough)
            for what, new in thinned(list(changes), f"{file} {scope.name} {named}", keep):
                yield Mutant(unit.source, file, scope.name, number, named, what, new, tuple(kernels))


def all_mutants() -> list[Mutant]:
    return [m for unit in units() for m in mutants_of(unit)]
