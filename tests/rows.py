# SPDX-License-Identifier: Apache-2.0
"""The rows of the kernel table as test parameters.

A test that asks for the fixture `<op>_row` runs once per row of that op, and one that asks for `row`
once per row of the table. Calling the row runs its kernel; nothing global chooses it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from fastcrypt import _core


@dataclass(frozen=True)
class Row:
    op: str
    name: str
    features: frozenset[str]
    symbols: tuple[str, ...]
    built: bool
    runnable: bool
    chosen: bool

    @property
    def id(self) -> str:
        return f"{self.op}-{self.name}"

    def __call__(self, *buffers: Any) -> Any:
        return _core.call_kernel(self.op, self.name, *buffers)

    def why_not(self) -> str | None:
        """Why this row cannot be tested here, or None."""
        if not self.built:
            return f"{self.id} is not in this build"
        if not self.runnable:
            missing = sorted(self.features - _core.detected_features())
            return f"this CPU cannot run {self.id}: no {', '.join(missing)}"
        return None


def all_rows() -> list[Row]:
    listed: list[dict[str, Any]] = [dict(row) for row in _core.rows()]
    return [Row(**{name: row[name] for name in Row.__dataclass_fields__}) for row in listed]


def parameters(op: str | None) -> list[Any]:
    """The rows of `op`, or all of them, as pytest parameters; the ones that cannot run are skipped."""
    chosen = [row for row in all_rows() if op in (None, row.op)]
    return [
        pytest.param(row, id=row.id, marks=[pytest.mark.skip(reason=reason)] if reason else [])
        for row, reason in ((row, row.why_not()) for row in chosen)
    ]
