# SPDX-License-Identifier: Apache-2.0
"""pytest-benchmark: SHA-256 at every size, the other hashes at two."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench import cases
from bench.conftest import Clock, Run, parameters
from bench.interleaved import Case, Contender


def with_rows() -> Iterator[tuple[Case, list[Contender]]]:
    for case in cases.sha256_cases():
        rows = case.operation == "sha256" and case.size >= cases.ROWS_FROM["sha256"]
        yield case, list(cases.sha256_rows(cases.message(case.size))) if rows else []


@pytest.mark.parametrize(("case", "contender", "clock"), parameters(with_rows()))
def test_sha256(case: Case, contender: Contender, clock: Clock, run: Run) -> None:
    run(case, contender, clock)


@pytest.mark.parametrize(
    ("case", "contender", "clock"), parameters((case, []) for case in cases.family_cases())
)
def test_family(case: Case, contender: Contender, clock: Clock, run: Run) -> None:
    run(case, contender, clock)
