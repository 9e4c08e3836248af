# SPDX-License-Identifier: Apache-2.0
"""What the head comment of a .S file declares: the registers that hold only public values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .disassembly import GPRS, ROOT

ASM = ROOT / "asm/x86_64"
LEAKS = ROOT / "tests/native/leaks"

_BEGIN = re.compile(r"^\s*(?:FC_FUNC|FC_LOCAL_FUNC|FC_SHARED_FUNC)\((\w+)\)")
_DECLARED = re.compile(r"Public registers:(.*)")


@dataclass(frozen=True)
class Head:
    """Where a function is written and which registers its head declares public, or None."""

    source: str
    public: frozenset[str] | None


def _registers(text: str) -> list[str]:
    """The register names that a line begins with."""
    words = re.split(r"[\s,]+", text.strip(" *"))
    names = []
    for word in words:
        if word not in GPRS:
            break
        names.append(word)
    return names


def _declaration(lines: list[str], at: int) -> frozenset[str]:
    """The list that begins on line `at` and goes on as long as lines hold nothing but registers."""
    found = _DECLARED.search(lines[at])
    names = _registers(found.group(1)) if found else []
    for line in lines[at + 1 :]:
        words = line.strip(" *").split()
        if not words or not all(w.strip(",.") in GPRS for w in words):
            break
        names += _registers(line)
    return frozenset(names)


def declarations(path: Path) -> dict[str, Head]:
    """Function -> its head: the nearest declaration above it, else the file's first."""
    lines = path.read_text().splitlines()
    last: frozenset[str] | None = None
    functions: dict[str, Head] = {}
    in_head = True
    file_head: frozenset[str] | None = None
    for at, line in enumerate(lines):
        if _DECLARED.search(line):
            last = _declaration(lines, at)
            if in_head:
                file_head = last
        begun = _BEGIN.match(line)
        if begun:
            functions[begun.group(1)] = Head(path.name, last if last is not None else file_head)
            in_head = False
            last = None if file_head is not None else last
    return functions


@cache
def all_heads() -> dict[str, Head]:
    """Every function of asm/, by symbol. Files without a head of their own belong to an includer."""
    heads: dict[str, Head] = {}
    for path in sorted([*ASM.iterdir(), *LEAKS.iterdir()]):
        if path.suffix not in (".S", ".inc", ".h"):
            continue
        own = declarations(path)
        includers = [p for p in sorted(ASM.glob("*.S")) if f'"{path.name}"' in p.read_text()]
        shared = file_declaration(includers[0]) if includers else None
        for name, head in own.items():
            heads[name] = head if head.public is not None else Head(head.source, shared)
    return heads


def file_declaration(path: Path) -> frozenset[str] | None:
    lines = path.read_text().splitlines()
    for at, line in enumerate(lines):
        if _DECLARED.search(line):
            return _declaration(lines, at)
    return None


def head_of(symbol: str) -> Head | None:
    """The head of a function in asm/, None if it is not written there (a C kernel)."""
    found = all_heads().get(symbol)
    if found is not None:
        return found
    # A function that a macro names: the source file is known from the row's name.
    stem = symbol.removeprefix("fc_")
    for path in sorted(ASM.glob("*.S")):
        op, _, isa = path.stem.rpartition("_")
        if stem == path.stem or (op and stem.startswith(f"{op}_") and stem.endswith(f"_{isa}")):
            return Head(path.name, file_declaration(path))
    return None
