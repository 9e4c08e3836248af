# SPDX-License-Identifier: Apache-2.0
"""pytest-benchmark for bench/: what its JSON says beyond CPU and interpreter, and how a case is run.

python -m pytest bench [-k sha256] [--benchmark-json=FILE]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from bench import machine
from bench.interleaved import CLOCK, Case, Contender, prepare

ROUNDS = 15
ROUND_SECONDS = 0.002
NOW: Callable[[], float] = getattr(time, CLOCK)

Run = Callable[[Case, Contender, "Clock"], None]


def pytest_benchmark_update_machine_info(config: pytest.Config, machine_info: dict[str, Any]) -> None:
    facts = machine.facts()
    facts.pop("cpu")  # pytest-benchmark's own is there
    machine_info["fastcrypt"] = facts


class Clock:
    """A clock that runs `calls` times slower, so that the time of a loop reads as that of one call."""

    def __init__(self) -> None:
        self.__name__ = f"{CLOCK}, per call"
        self.calls = 1

    def __call__(self) -> float:
        return NOW() / self.calls


def parameters(cases: Iterable[tuple[Case, Iterable[Contender]]]) -> list[Any]:
    """One parameter per implementation of each case, grouped as operation-size."""
    found = []
    for case, rows in cases:
        for contender in (*case.contenders, *rows):
            clock = Clock()
            mark = pytest.mark.benchmark(group=case.name, timer=clock)
            found.append(pytest.param(case, contender, clock, marks=mark, id=f"{case.name}-{contender.name}"))
    return found


@pytest.fixture
def run(benchmark: Any) -> Run:
    """Run one implementation. Its calls stand in a loop of their own: the 40 ns that pytest-benchmark
    takes around what it calls fall on thousands of them."""

    def run_one(case: Case, contender: Contender, clock: Clock) -> None:
        timer = prepare(contender, ROUND_SECONDS)
        clock.calls = timer.calls
        benchmark.extra_info.update(
            implementation=contender.name,
            statement=contender.statement,
            size=case.size,
            calls_in_a_round=timer.calls,
        )
        benchmark.pedantic(timer.loop, args=(timer.passes,), rounds=ROUNDS, warmup_rounds=1)

    return run_one
