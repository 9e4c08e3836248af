# SPDX-License-Identifier: Apache-2.0
"""pytest-benchmark: compare_digest at every size, and FreeBSD's three mixes of lengths."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench import cases
from bench.conftest import Clock, Run, parameters
from bench.interleaved import Case, Contender


def with_rows() -> Iterator[tuple[Case, list[Contender]]]:
    for case in cases.compare_cases():
        data = cases.message(case.size)
        rows = case.size >= cases.ROWS_FROM["compare"]
        yield case, list(cases.compare_rows(data, bytes(bytearray(data)))) if rows else []


@pytest.mark.parametrize(("case", "contender", "clock"), parameters(with_rows()))
def test_compare(case: Case, contender: Contender, clock: Clock, run: Run) -> None:
    run(case, contender, clock)


@pytest.mark.parametrize(("case", "contender", "clock"), parameters((case, []) for case in cases.mix_cases()))
def test_mix(case: Case, contender: Contender, clock: Clock, run: Run) -> None:
    run(case, contender, clock)
