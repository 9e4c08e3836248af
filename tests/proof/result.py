# SPDX-License-Identifier: Apache-2.0
"""What every check yields: one cell of the table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

PASS = "pass"
FAIL = "fail"
UNDECIDABLE = "undecidable"
STATUSES = (PASS, FAIL, UNDECIDABLE)


@dataclass(frozen=True)
class Cell:
    """The answer of one check about one symbol."""

    symbol: str
    check: str
    status: str
    detail: str = ""

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"{self.status!r} is no status")

    def __str__(self) -> str:
        return f"{self.status} {self.symbol} {self.check} {self.detail}".rstrip()


def verdict(symbol: str, check: str, problems: list[str], passed: str = "") -> Cell:
    """A cell that passed with `passed` as its detail, or failed with the problems found."""
    if problems:
        more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
        return Cell(symbol, check, FAIL, "; ".join(problems[:3]) + more)
    return Cell(symbol, check, PASS, passed)


def parse_lines(text: str) -> Iterator[Cell]:
    """The cells that a native program printed, as text lines or as JSON objects one per line."""
    for line in text.splitlines():
        if line.startswith("{"):
            fields = json.loads(line)
            yield Cell(fields["symbol"], fields["check"], fields["status"], fields.get("detail", ""))
            continue
        words = line.split(None, 3)
        if len(words) >= 3 and words[0] in STATUSES:
            yield Cell(words[1], words[2], words[0], words[3] if len(words) > 3 else "")
