# SPDX-License-Identifier: Apache-2.0
"""Time several ways to do the same thing, in turn: the measurement from which ratios are quoted.

    python -m bench.interleaved [--rounds N] [--pin CPU] [TEXT ...]

runs the cases that have one of the texts in their name (all without) and prints them.

The statement under test is written sixteen times into the loop of a function of its own, its names as
local variables, for every contender alike: what is left of the loop is half a nanosecond a call. In
each round every contender has one sample, in an order that turns; a slow moment of the machine hits
all of them. The clock is the CPU time of the thread where that is fine enough, so that other work on
the machine does not count. A ratio is that of the medians; its spread are the quartiles of the ratios
within a round.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

UNROLLED = 16
#: Calls longer than this stand alone in their loop.
LONG = 20e-6
FINE = 1e-6
CLOCK = "thread_time" if time.get_clock_info("thread_time").resolution <= FINE else "perf_counter"

Loop = Callable[[int], float]


class Disagreement(Exception):
    """Two contenders gave different answers: what they take is not worth comparing."""


@dataclass(frozen=True)
class Contender:
    """A statement, the objects its names stand for, and what must be equal for all once it has run."""

    name: str
    statement: str
    names: Mapping[str, Any]
    answer: str | None = None  # an expression; None: the statement's value

    def run(self) -> object:
        scope = dict(self.names)
        if self.answer is None:
            return eval(self.statement, scope)
        exec(self.statement, scope)
        return eval(self.answer, scope)


@dataclass(frozen=True)
class Case:
    """The first contender is ours; the others are what it is compared with."""

    operation: str
    size: int
    contenders: Sequence[Contender]
    same_answers: bool = True

    @property
    def name(self) -> str:
        return f"{self.operation}-{size_text(self.size)}"


@dataclass(frozen=True)
class Effort:
    """Rounds a case, and seconds a sample."""

    rounds: int = 25
    sample: float = 0.008


@dataclass(frozen=True)
class Ratio:
    """How many times as long as ours a peer takes: of the medians, and quartiles over the rounds."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Result:
    """Nanoseconds a call, one sample a round, for each contender."""

    operation: str
    size: int
    statements: dict[str, str]
    samples: dict[str, list[float]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.operation}-{size_text(self.size)}"

    @property
    def ours(self) -> str:
        return next(iter(self.samples))

    @property
    def peers(self) -> list[str]:
        return list(self.samples)[1:]

    def median(self, name: str) -> float:
        return statistics.median(self.samples[name])

    def ratio(self, peer: str) -> Ratio:
        ours, theirs = self.samples[self.ours], self.samples[peer]
        within = [b / a for a, b in zip(ours, theirs, strict=True)]
        low, _, high = statistics.quantiles(within, n=4) if len(within) > 1 else within * 3
        return Ratio(self.median(peer) / self.median(self.ours), low, high)

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "operation": self.operation,
            "size": self.size,
            "statements": self.statements,
            "samples": self.samples,
            "median": {name: self.median(name) for name in self.samples},
            "minimum": {name: min(samples) for name, samples in self.samples.items()},
            "ratio": {peer: vars(self.ratio(peer)) for peer in self.peers},
        }


def size_text(size: int) -> str:
    for unit, bytes_of_unit in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= bytes_of_unit and size % bytes_of_unit == 0:
            return f"{size // bytes_of_unit}{unit}"
    return f"{size}B"


def time_text(nanoseconds: float) -> str:
    unit, scale = ("ns", 1.0) if nanoseconds < 1e3 else ("us", 1e3) if nanoseconds < 1e6 else ("ms", 1e6)
    value = nanoseconds / scale
    return f"{value:.{1 if value < 100 else 0}f} {unit}"


# ---- The loop ------------------------------------------------------------------------------------


def make_loop(contender: Contender, unrolled: int) -> Loop:
    """loop(n): the seconds that n passes of `unrolled` calls take."""
    names = ", ".join(f"{name}={name}" for name in contender.names)
    body = "\n        ".join([contender.statement] * unrolled)
    source = f"""
def loop(_passes, {names}{", " if names else ""}_clock=_clock, _repeat=_repeat):
    _start = _clock()
    for _ in _repeat(None, _passes):
        {body}
    return _clock() - _start
"""
    scope: dict[str, Any] = {**contender.names, "_clock": getattr(time, CLOCK), "_repeat": repeat}
    exec(source, scope)
    loop: Loop = scope["loop"]
    return loop


@dataclass(frozen=True)
class Timer:
    """One contender's loop and how many passes make a sample."""

    loop: Loop
    passes: int
    calls: int

    def sample(self) -> float:
        return self.loop(self.passes) / self.calls * 1e9


def prepare(contender: Contender, seconds: float) -> Timer:
    """Warm up, and find how many calls take about `seconds`."""
    single = make_loop(contender, 1)
    if single(1) < seconds / 10:
        single(20)  # the interpreter specialises the code it has seen a few times
    calls, taken = 1, single(1)
    while taken < seconds / 10 and calls < 1 << 20:
        calls *= 4
        taken = single(calls)
    a_call = taken / calls
    if a_call > LONG:
        passes = max(1, round(seconds / a_call))
        return Timer(single, passes, passes)
    loop = make_loop(contender, UNROLLED)
    loop(20)
    passes = max(1, round(seconds / a_call / UNROLLED))
    return Timer(loop, passes, passes * UNROLLED)


@contextmanager
def undisturbed(pin: int | None = None) -> Iterator[None]:
    """No garbage collection; on one CPU if that is wanted."""
    collecting = gc.isenabled()
    before = os.sched_getaffinity(0) if pin is not None else None
    gc.collect()
    gc.disable()
    try:
        if pin is not None:
            os.sched_setaffinity(0, {pin})
        yield
    finally:
        if before is not None:
            os.sched_setaffinity(0, before)
        if collecting:
            gc.enable()


def check_answers(case: Case) -> None:
    expected = case.contenders[0].run()
    for contender in case.contenders[1:]:
        if contender.run() != expected:
            raise Disagreement(f"{case.name}: {case.contenders[0].name} and {contender.name}")


def measure(case: Case, effort: Effort) -> Result:
    if case.same_answers:
        check_answers(case)
    timers = {c.name: prepare(c, effort.sample) for c in case.contenders}
    samples: dict[str, list[float]] = {name: [] for name in timers}
    order = list(timers)
    for _ in range(effort.rounds):
        for name in order:
            samples[name].append(timers[name].sample())
        order.append(order.pop(0))  # nobody always follows the same one
    statements = {c.name: c.statement for c in case.contenders}
    return Result(case.operation, case.size, statements, samples)


# ---- On its own ----------------------------------------------------------------------------------


def lines(result: Result) -> Iterator[str]:
    yield result.name
    for name, samples in result.samples.items():
        text = f"  {name:<24} {time_text(result.median(name)):>10}  min {time_text(min(samples)):>10}"
        if name != result.ours:
            ratio = result.ratio(name)
            text += f"  {ratio.median:6.2f}x  ({ratio.low:.2f} to {ratio.high:.2f})"
        yield text


def main() -> None:
    from bench.cases import all_cases

    parser = argparse.ArgumentParser(prog="python -m bench.interleaved")
    parser.add_argument("texts", nargs="*", metavar="TEXT", help="cases with TEXT in their name")
    parser.add_argument("--rounds", type=int, default=Effort.rounds)
    parser.add_argument("--pin", type=int, metavar="CPU", help="stay on this CPU")
    args = parser.parse_args()
    effort = Effort(rounds=args.rounds)
    with undisturbed(args.pin):
        for case in all_cases():
            if not args.texts or any(text in case.name for text in args.texts):
                print("\n".join(lines(measure(case, effort))), flush=True)


if __name__ == "__main__":
    main()
