# SPDX-License-Identifier: Apache-2.0
"""Which mutants are tried, what became of them, kernel by kernel, and the survivors' reasons."""

from __future__ import annotations

import platform
import random
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from . import mutants, runner
from .mutants import Mutant
from .runner import KILLED, SAME, STILLBORN, SURVIVED, Outcome

EQUIVALENTS = Path(__file__).with_name("equivalents.txt")


@dataclass
class Result:
    outcomes: list[Outcome]
    #: Kernels that this CPU cannot run, and why.
    idle: dict[str, str]
    complete: bool
    total: int


def equivalents() -> dict[str, str]:
    """Identity of a mutant -> why it does what the original does."""
    found = {}
    for line in EQUIVALENTS.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            identity, reason = line.rsplit(" | ", 1)
            found[identity] = reason
    return found


def idle_kernels() -> dict[str, str]:
    import checks  # tests/native, found as build.py is

    return {name: why for name, why in checks.targets().items() if why != "runnable"}


def chosen(seed: int, row: str | None, idle: dict[str, str]) -> list[Mutant]:
    """In an order in which every kernel has its share of any beginning."""
    by_unit: dict[str, list[Mutant]] = {}
    for m in mutants.all_mutants():
        kernels = [k for k in m.kernels if k not in idle]
        if kernels and (row is None or row in m.unit or row in m.kernels):
            by_unit.setdefault(m.unit, []).append(m)
    generator = random.Random(seed)
    ranked: list[tuple[float, Mutant]] = []
    for unit in sorted(by_unit):
        generator.shuffle(by_unit[unit])
        ranked += [((i + 0.5) / len(by_unit[unit]), m) for i, m in enumerate(by_unit[unit])]
    return [m for _, m in sorted(ranked, key=lambda pair: pair[0])]


def at_least(todo: list[Mutant]) -> set[tuple[str, str]]:
    """The first mutants of each kernel: they are tried however short the time."""
    count: dict[str, int] = {}
    found = set()
    for m in todo:
        if any(count.get(k, 0) < 3 for k in m.kernels):
            found.add((m.unit, m.identity))
            for k in m.kernels:
                count[k] = count.get(k, 0) + 1
    return found


def run(seed: int, budget: float | None, row: str | None, jobs: int) -> Result:
    idle = idle_kernels()
    todo = chosen(seed, row, idle)
    units = {name: runner.Unit(name) for name in sorted({m.unit for m in todo})}
    always = at_least(todo)
    deadline = time.monotonic() + budget if budget is not None else None
    places: SimpleQueue[Path] = SimpleQueue()

    def judge(mutant: Mutant) -> Outcome | None:
        late = deadline is not None and time.monotonic() > deadline
        if late and (mutant.unit, mutant.identity) not in always:
            return None
        place = places.get()
        try:
            return units[mutant.unit].judge(mutant, place)
        finally:
            places.put(place)

    with tempfile.TemporaryDirectory(dir=runner.OUTPUT) as scratch:
        for n in range(jobs):
            place = Path(scratch) / str(n)
            place.mkdir()
            places.put(place)
        with ThreadPoolExecutor(jobs) as pool:
            outcomes = [o for o in pool.map(judge, todo) if o is not None]
    return Result(outcomes, idle, row is None and len(outcomes) == len(todo), len(todo))


# ---- The report ----------------------------------------------------------------------------------


def unexplained(result: Result) -> list[Outcome]:
    known = equivalents()
    return [o for o in result.outcomes if o.status == SURVIVED and o.mutant.identity not in known]


def stale(result: Result) -> list[str]:
    """Reasons for mutants that were tried and killed, or that the sources no longer have."""
    # A line that two kernels share may be equivalent in one of them: only all mutants can tell.
    own = [o for o in result.outcomes if result.complete or o.mutant.file == o.mutant.unit]
    killed = {o.mutant.identity for o in own if o.status == KILLED}
    survived = {o.mutant.identity for o in result.outcomes if o.status == SURVIVED}
    found = [i for i in equivalents() if i in killed - survived]
    if platform.machine() == "x86_64":
        existing = {m.identity for m in mutants.all_mutants()}
        found += [i for i in equivalents() if i not in existing]
    return found


def counts(result: Result) -> dict[str, dict[str, int]]:
    """Kernel -> how many of the mutants that are part of it ended how."""
    known = equivalents()
    found: dict[str, dict[str, int]] = {}
    for o in result.outcomes:
        status = o.status
        if status == SURVIVED and o.mutant.identity in known:
            status = "equivalent"
        for kernel in o.mutant.kernels:
            row = found.setdefault(kernel, {})
            row[status] = row.get(status, 0) + 1
    return found


def describe(row: dict[str, int]) -> str:
    tried = sum(n for status, n in row.items() if status not in (STILLBORN, SAME))
    text = f"{row.get(KILLED, 0)} of {tried} mutants killed, {row.get('equivalent', 0)} equivalent"
    if row.get(SURVIVED):
        text += f", {row[SURVIVED]} SURVIVED"
    return text


def report(result: Result) -> Iterator[str]:
    for kernel, row in sorted(counts(result).items()):
        if kernel not in result.idle:
            yield f"{kernel}: {describe(row)}"
    for kernel, why in result.idle.items():
        yield f"{kernel}: not decidable: {why}"
    for outcome in unexplained(result):
        yield f"SURVIVED {outcome.mutant.identity}   [{outcome.mutant.line.strip()}]"
    for identity in stale(result):
        yield f"NOT EQUIVALENT {identity}"
    total: dict[str, int] = {}
    for outcome in result.outcomes:
        total[outcome.status] = total.get(outcome.status, 0) + 1
    yield ", ".join(f"{n} {status}" for status, n in sorted(total.items())) + f" of {result.total} mutants"


def as_json(result: Result) -> dict[str, object]:
    known = equivalents()
    return {
        "complete": result.complete,
        "kernels": counts(result),
        "mutants": [
            {"identity": o.mutant.identity, "unit": o.mutant.unit, "line": o.mutant.line.strip(),
             "status": o.status, "detail": o.detail, "reason": known.get(o.mutant.identity, "")}
            for o in result.outcomes
        ],
    }  # fmt: skip


def cells(budget: float | None, seed: int = 1) -> Iterator[tuple[str, str, str, str]]:
    """One cell per kernel for the table of the proof."""
    result = run(seed, budget, None, 2)
    survivors = unexplained(result)
    wrong = stale(result)
    for kernel, row in counts(result).items():
        if kernel in result.idle:
            continue
        ours = [o.mutant.identity for o in survivors if kernel in o.mutant.kernels]
        status = "fail" if ours else "pass"
        yield kernel, "mutation", status, "; ".join([describe(row), *ours[:3]])
    for kernel, why in result.idle.items():
        yield kernel, "mutation", "undecidable", why
    for identity in wrong:
        yield "equivalents.txt", "mutation", "fail", f"not equivalent, or gone: {identity}"
