# SPDX-License-Identifier: Apache-2.0
"""pytest-benchmark: records under one key, of the sizes that packets, cookies and TLS have (row T-i).

With the key object kept and made anew, one thread and two, fastcrypt beside cryptography. extra_info has
records a second, allocations a record, the shares of time, and the share of what AES throughput allows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from bench import cases, records
from bench.conftest import Clock, Run, parameters
from bench.interleaved import Case, Contender, Effort

QUICK = Effort(rounds=15, sample=0.001)


@pytest.mark.parametrize(
    ("case", "contender", "clock"), parameters((case, []) for case in cases.record_cases())
)
def test_records(case: Case, contender: Contender, clock: Clock, run: Run, benchmark: Any) -> None:
    run(case, contender, clock)
    bits = 128 if "128" in case.operation else 256
    median = benchmark.stats.stats.median  # of a call, in seconds
    benchmark.extra_info["records_per_second"] = 1 / median
    benchmark.extra_info["share_of_limit"] = records.limit_ns(case.size, bits) / (median * 1e9)
    if "new" not in case.operation:
        counted = records.allocations().get(f"{case.size} {contender.name}")
        benchmark.extra_info["allocations_per_record"] = counted


def threaded() -> Iterator[Any]:
    for size in cases.RECORD_SIZES:
        case = cases.record_case(size, 256, "kept")
        for contender in case.contenders:
            group = pytest.mark.benchmark(group=f"two threads-{case.name}")
            yield pytest.param(case, contender, marks=group, id=f"{case.name}-{contender.name}")


@pytest.mark.parametrize(("case", "contender"), threaded())
def test_two_threads(case: Case, contender: Contender, benchmark: Any) -> None:
    """By the wall clock: two threads want two idle CPUs."""
    start = time.perf_counter_ns()
    contender.run()
    count = max(16, round(4e6 / (time.perf_counter_ns() - start + 200)))
    benchmark.pedantic(records.two_threads, args=(contender, count), rounds=15, warmup_rounds=1)
    benchmark.extra_info["records_per_second"] = 2 * count / benchmark.stats.stats.median


@pytest.mark.parametrize("bits", [128, 256])
@pytest.mark.parametrize("size", cases.RECORD_SIZES)
def test_t_i_shares_of_time(size: int, bits: int, benchmark: Any) -> None:
    """Bulk, set-up and copying; timed is the record itself, the parts are in extra_info."""
    contender = records.parts_case(size, bits).contenders[0]
    benchmark.extra_info.update(records.shares(size, bits, QUICK))
    benchmark.pedantic(contender.run, rounds=15, warmup_rounds=1)
