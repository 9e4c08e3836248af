# SPDX-License-Identifier: Apache-2.0
"""Kernel sources as scopes (functions, macros, tables), and which kernels each scope is part of."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORD = re.compile(r"\.?[A-Za-z_][\w.]*")


@dataclass
class Scope:
    """A named stretch of lines; `kind` is function, macro, data or define."""

    name: str
    kind: str
    lines: list[tuple[int, str]] = field(default_factory=list)

    def words(self) -> set[str]:
        return {word for _, text in self.lines for word in WORD.findall(text)}


def code_lines(path: Path) -> list[str]:
    """The lines of a file with comments blanked, so that numbers of lines stay."""
    text = path.read_text()
    blanked = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
    return [line.rstrip() for line in blanked.split("\n")]


# ---- Assembly ------------------------------------------------------------------------------------


def asm_scopes(path: Path) -> list[Scope]:
    scopes: list[Scope] = []
    current: Scope | None = None
    continued = False
    for number, line in enumerate(code_lines(path)):
        macro = re.match(r"\.macro (\w+)", line)
        function = re.match(r"(?:FC_FUNC|FC_LOCAL_FUNC|FC_SHARED_FUNC)\((\w+)\)", line)
        label = re.match(r"(\.?\w+):", line)
        define = re.match(r"#define (\w+)", line)
        if define or continued:
            if define:
                scopes.append(Scope(define[1], "define"))
            scopes[-1].lines.append((number, line))
            continued = line.endswith("\\")
        elif macro or function:
            current = Scope((macro or function)[1], "macro" if macro else "function")  # type: ignore[index]
            scopes.append(current)
        elif line.startswith((".endm", "FC_END", "FC_RODATA")) or line == ".text":
            current = None
        elif label and (current is None or current.kind == "data"):
            kind = "data" if label[1].startswith(".L") else "function"
            current = Scope(label[1], kind)
            scopes.append(current)
        elif current is not None:
            current.lines.append((number, line))
    return scopes


# ---- C -------------------------------------------------------------------------------------------

C_FUNCTION = re.compile(r"^[A-Za-z_].*?(?:FC_C_KERNEL\((\w+)\)|\b(\w+))\(")
C_TABLE = re.compile(r"^static const .*\b(\w+)\[\w+\] = \{$")


def c_scopes(path: Path) -> list[Scope]:
    scopes: list[Scope] = []
    current: Scope | None = None
    continued, opening = False, ""
    for number, line in enumerate(code_lines(path)):
        function, table = C_FUNCTION.match(line), C_TABLE.match(line)
        if re.match(r"#define \w", line) or continued:
            if not continued:
                scopes.append(Scope(re.findall(r"\w+", line)[1], "macro"))
            scopes[-1].lines.append((number, line))
            continued = line.endswith("\\")
        elif line.startswith("}"):
            current = None
        elif current is not None:
            current.lines.append((number, line))
            if line.endswith(";") and "{" not in "".join([opening, *(t for _, t in current.lines)]):
                scopes.pop()  # a declaration
                current = None
        elif table:
            current, opening = Scope(table[1], "data"), line
            scopes.append(current)
        elif function and not line.startswith(("typedef", "enum", "_Static")) and not line.endswith(";"):
            current, opening = Scope(function[1] or function[2], "function"), line
            scopes.append(current)
            if line.endswith("}"):
                current.lines.append((number, line))
                current = None
    return scopes


def scopes_of(path: Path) -> list[Scope]:
    return asm_scopes(path) if path.suffix in (".S", ".inc") or "asm" in path.parts else c_scopes(path)


# ---- Which kernels a scope is part of ------------------------------------------------------------


def users(scopes: list[Scope], kernels: list[str]) -> dict[str, list[str]]:
    """Name of a scope -> the kernels whose code reaches it."""
    names = {s.name for s in scopes}
    edges: dict[str, set[str]] = {}
    for s in scopes:
        edges.setdefault(s.name, set()).update(s.words() & names)
    found: dict[str, list[str]] = {}
    for kernel in kernels:
        reached, todo = set(), [kernel]
        while todo:
            name = todo.pop()
            if name not in reached:
                reached.add(name)
                todo += edges.get(name, ())
        for name in reached:
            found.setdefault(name, []).append(kernel)
    return found
