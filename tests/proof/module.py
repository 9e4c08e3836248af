# SPDX-License-Identifier: Apache-2.0
"""The shipped module: its file, its disassembly and its rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fastcrypt import _core

from .disassembly import Image


@dataclass(frozen=True)
class Row:
    """A row of csrc/kernels.def as the module tells it."""

    op: str
    name: str
    features: frozenset[str]
    symbols: tuple[str, ...]
    built: bool


def path() -> Path:
    return Path(_core.__file__).resolve()


@cache
def image() -> Image:
    return Image(path())


@cache
def rows() -> tuple[Row, ...]:
    return tuple(
        Row(r["op"], r["name"], frozenset(r["features"]), tuple(r["symbols"]), r["built"])
        for r in _core.rows()
    )


def symbols() -> list[str]:
    """Every kernel, once, in the table's order."""
    return list(dict.fromkeys(s for row in rows() for s in row.symbols if s))


def features_of(symbol: str) -> frozenset[str]:
    """What every row that names the symbol asks for."""
    owners = [row.features for row in rows() if symbol in row.symbols]
    return frozenset.intersection(*owners)
