# SPDX-License-Identifier: Apache-2.0
"""pytest-benchmark: AES-256-GCM, the block modes, and the questions about keys, at every size."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench import cases
from bench.conftest import Clock, Run, parameters
from bench.interleaved import Case, Contender


def with_rows() -> Iterator[tuple[Case, list[Contender]]]:
    for case in (*cases.gcm_cases(), *cases.mode_cases(), *cases.siv_and_mac_cases()):
        rows = not case.operation.startswith("gcm") and case.size >= cases.ROWS_FROM["aes"]
        yield case, list(cases.mode_rows(case.size, case.operation)) if rows else []


@pytest.mark.parametrize(("case", "contender", "clock"), parameters(with_rows()))
def test_aes(case: Case, contender: Contender, clock: Clock, run: Run) -> None:
    run(case, contender, clock)


@pytest.mark.parametrize(
    ("case", "contender", "clock"),
    parameters((case, []) for case in (*cases.protocol_cases(), cases.key_kept(), cases.record())),
)
def test_questions(case: Case, contender: Contender, clock: Clock, run: Run) -> None:
    run(case, contender, clock)
