# SPDX-License-Identifier: Apache-2.0
"""Rate and latency of one-shots in the shape of TLS benchmarks, fastcrypt beside OpenSSL.

    python -m bench.latency [SECONDS]

Each call is timed on its own, in bursts; the implementations take turns.
    OPS/sec:      MAX; AVG; 95P; MIN     of the bursts, in CPU time; 95 of 100 reach 95P
    LATENCY (ns): MIN; AVG; 95P; MAX     of the calls, by the wall clock, whose own time (about 40 ns)
                                         is included, as is whatever else the machine did
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench import cases
from bench.interleaved import CLOCK, Case, undisturbed

BURST = 64
BURST_CLOCK: Callable[[], float] = getattr(time, CLOCK)
SIZES = (16, 64, 256, 1024, 16384)


@dataclass
class Series:
    """What one implementation did: seconds a burst, and nanoseconds of each call."""

    name: str
    call: Callable[[], object]
    bursts: list[float] = field(default_factory=list)
    latencies: list[int] = field(default_factory=list)

    def burst(self) -> None:
        clock, call, seen = time.perf_counter_ns, self.call, self.latencies.append
        begin = BURST_CLOCK()
        for _ in range(BURST):
            start = clock()
            call()
            seen(clock() - start)
        self.bursts.append(BURST_CLOCK() - begin)

    def ops(self) -> dict[str, float]:
        rates = sorted(BURST / seconds for seconds in self.bursts)
        return {
            "max": rates[-1],
            "avg": BURST * len(self.bursts) / sum(self.bursts),
            "95p": rates[len(rates) // 20],
            "min": rates[0],
        }

    def latency(self) -> dict[str, float]:
        taken = sorted(self.latencies)
        p95 = taken[len(taken) * 95 // 100]
        return {"min": taken[0], "avg": statistics.fmean(taken), "95p": p95, "max": taken[-1]}


def callable_of(case: Case, contender: str) -> Callable[[], object]:
    """A function without arguments that runs the contender's statement, its names as closure cells."""
    found = next(c for c in case.contenders if c.name == contender)
    scope: dict[str, Any] = {}
    names = ", ".join(found.names)
    source = f"def make({names}):\n  def call():\n    {found.statement}\n  return call\n"
    exec(source, scope)
    made: Callable[[], object] = scope["make"](**found.names)
    return made


def pairs() -> list[tuple[Case, str]]:
    """One-shots with OpenSSL behind the rival."""
    found = []
    for case in cases.all_cases():
        rival = {"sha256": "hashlib", "gcm_encrypt": "cryptography"}.get(case.operation)
        names = [contender.name for contender in case.contenders]
        if rival in names and case.size in SIZES:
            found.append((case, str(rival)))
    return found


def measure_pair(case: Case, rival: str, seconds: float) -> dict[str, Any]:
    series = [Series(name, callable_of(case, name)) for name in ("fastcrypt", rival)]
    for one in series:  # warm up, not counted
        one.burst()
        one.bursts.clear()
        one.latencies.clear()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for one in series:
            one.burst()
        series.reverse()
    ours, theirs = sorted(series, key=lambda one: one.name != "fastcrypt")
    return {
        "name": case.name,
        "rival": rival,
        "fastcrypt": {"ops": ours.ops(), "latency_ns": ours.latency(), "calls": len(ours.latencies)},
        rival: {"ops": theirs.ops(), "latency_ns": theirs.latency(), "calls": len(theirs.latencies)},
        "met": ours.ops()["avg"] >= theirs.ops()["avg"] and ours.latency()["95p"] <= theirs.latency()["95p"],
    }


def measure(seconds: float = 1.0) -> list[dict[str, Any]]:
    with undisturbed():
        return [measure_pair(case, rival, seconds) for case, rival in pairs()]


def lines(found: Sequence[dict[str, Any]]) -> list[str]:
    text = []
    for pair in found:
        for name in ("fastcrypt", pair["rival"]):
            one = pair[name]
            ops, latency = one["ops"], one["latency_ns"]
            text.append(f"{pair['name']}, {name}: {one['calls']} calls")
            text.append(f"  OPS/sec:      {'; '.join(f'{k.upper()} {v:.0f}' for k, v in ops.items())}")
            text.append(f"  LATENCY (ns): {'; '.join(f'{k.upper()} {v:.0f}' for k, v in latency.items())}")
        if not pair["met"]:
            text.append("  MISSED: the rate or the 95P latency is worse than the rival's")
    return text


if __name__ == "__main__":
    from bench import machine

    print(machine.one_line(machine.facts()))
    print("; ".join(f"{name}: {version}" for name, version in cases.versions().items()))
    print("\n".join(lines(measure(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0))))
