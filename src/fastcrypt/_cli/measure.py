# SPDX-License-Identifier: Apache-2.0
"""Time the contenders of a case in rounds: in each round, each of them once, in turn.

What slows the machine for a while slows all of them; the median over the rounds forgets the rest. The
clock is the CPU time of the thread where that is fine enough, so that other work on a busy machine does
not count: nothing here waits.
"""

from __future__ import annotations

import statistics
import time
import timeit
from dataclasses import dataclass
from typing import Any

from .cases import Case, Contender
from .errors import Failure

FINE = 1e-6  # seconds
CLOCK = "thread_time" if time.get_clock_info("thread_time").resolution <= FINE else "perf_counter"


@dataclass(frozen=True)
class Effort:
    """How long to measure: rounds a case, seconds a sample."""

    rounds: int
    sample: float


QUICK = Effort(rounds=5, sample=0.001)
FULL = Effort(rounds=15, sample=0.01)


@dataclass(frozen=True)
class Result:
    """Seconds a call, one sample a round, for each contender; fastcrypt first."""

    operation: str
    size: int
    samples: dict[str, list[float]]

    def median(self, name: str) -> float:
        return statistics.median(self.samples[name])

    @property
    def peers(self) -> list[str]:
        return list(self.samples)[1:]

    def ratio(self, peer: str) -> float:
        """How many times as long as fastcrypt the peer takes."""
        return self.median(peer) / self.median("fastcrypt")

    def as_dict(self) -> dict[str, Any]:
        return {
            "operation": self.operation,
            "size": self.size,
            "samples": self.samples,
            "median": {name: self.median(name) for name in self.samples},
            "ratio": {peer: self.ratio(peer) for peer in self.peers},
        }


def check_answers(case: Case) -> None:
    """Only contenders that give the same answer are compared."""
    answer = case.ours.run()
    for peer in case.peers:
        if peer.run() != answer:
            raise Failure(f"{case.operation}, {case.size} bytes: fastcrypt and {peer.name} disagree")


def calls_in(timer: timeit.Timer, seconds: float) -> int:
    """How many calls take about that long."""
    timer.timeit(1)
    number = 1
    while (taken := timer.timeit(number)) < seconds / 10:
        number *= 10
    return max(1, round(number * seconds / taken))


def prepare(contender: Contender, seconds: float) -> tuple[timeit.Timer, int]:
    timer = timeit.Timer(contender.statement, timer=getattr(time, CLOCK), globals=dict(contender.names))
    return timer, calls_in(timer, seconds)


def measure(case: Case, effort: Effort) -> Result:
    check_answers(case)
    timers = {c.name: prepare(c, effort.sample) for c in case.contenders}
    samples: dict[str, list[float]] = {name: [] for name in timers}
    order = list(timers)
    for _ in range(effort.rounds):
        for name in order:
            timer, number = timers[name]
            samples[name].append(timer.timeit(number) / number)
        order.append(order.pop(0))  # nobody always follows the same one
    return Result(case.operation, case.size, samples)
