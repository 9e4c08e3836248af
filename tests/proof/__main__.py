# SPDX-License-Identifier: Apache-2.0
"""Run every check over every kernel and print one table.

    python -m tests.proof [--quick] [--only CHECK ...] [--report]

Exit status 1 if any cell failed. build/proof.json holds every cell with its detail. --report adds a
measurement of timing (fixed against random secrets); it is a report and never fails.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from string import ascii_letters

from . import emulated, instructions, module, programs, sanitizers, shared_writes, timing, traces, which_ran
from .disassembly import ROOT
from .result import FAIL, PASS, UNDECIDABLE, Cell

OUTPUT = ROOT / "build/proof.json"

MARKS = {PASS: "+", FAIL: "F", UNDECIDABLE: "?"}


def sources(quick: bool) -> dict[str, Callable[[], Iterator[Cell]]]:
    """Everything that yields cells, the quick ones first."""
    options = ("--quick",) if quick else ()
    found: dict[str, Callable[[], Iterator[Cell]]] = {
        "instructions": instructions.cells,
        "shared-writes": shared_writes.cells,
        "which-ran": lambda: which_ran.cells(quick),
    }
    for name in programs.PROGRAMS:
        found[name] = lambda name=name: programs.cells(name, *options)  # type: ignore[misc]
    found["further"] = lambda: programs.further_cells(quick)
    found["processors"] = lambda: emulated.processor_cells(quick)
    found["architectures"] = lambda: emulated.architecture_cells(quick)
    found["bochs"] = emulated.bochs_cells
    found["traces"] = lambda: traces.cells(*options)
    found["sanitizers"] = lambda: sanitizers.cells(quick)
    found["fuzz"] = lambda: programs.fuzz_cells(quick)
    found["mutation"] = lambda: programs.mutation_cells(quick)
    return found


def collect(wanted: dict[str, Callable[[], Iterator[Cell]]]) -> list[Cell]:
    """The cells of all sources; one that breaks is a failed cell of its own."""
    cells: list[Cell] = []
    for name, source in wanted.items():
        started = time.monotonic()
        try:
            cells += source()
        except Exception as error:
            cells.append(Cell(name, name, FAIL, f"{type(error).__name__}: {error}"))
        print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return cells


def worst(cells: list[Cell]) -> Cell:
    """Of several cells for one place in the table, the one to show."""
    return min(cells, key=lambda c: (FAIL, UNDECIDABLE, PASS).index(c.status))


def table(cells: list[Cell], kernels: list[str]) -> Iterator[str]:
    """The table: a line per kernel, a column per check."""
    ours = [c for c in cells if c.symbol in kernels]
    checks = list(dict.fromkeys(c.check for c in ours))
    for number, check in enumerate(checks):
        yield f"  {ascii_letters[number]}  {check}"
    width = max(map(len, kernels), default=0)
    yield ""
    yield " " * (width + 2) + " ".join(chr(ord("a") + n) for n in range(len(checks)))
    for kernel in kernels:
        marks = []
        for check in checks:
            here = [c for c in ours if c.symbol == kernel and c.check == check]
            marks.append(MARKS[worst(here).status] if here else ".")
        yield f"{kernel:<{width}}  {' '.join(marks)}"
    yield ""
    yield "+ passed   F failed   ? not decidable, see below   . does not apply"


def reasons(cells: list[Cell]) -> Iterator[str]:
    """What is not decidable, by reason."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for c in cells:
        if c.status == UNDECIDABLE:
            grouped.setdefault((c.check, c.detail), []).append(c.symbol)
    for (check, detail), symbols in grouped.items():
        more = f" and {len(symbols) - 2} more" if len(symbols) > 2 else ""
        yield f"not decidable: {check} of {', '.join(symbols[:2])}{more}: {detail}"


def report(cells: list[Cell], kernels: list[str]) -> None:
    for line in table(cells, kernels):
        print(line)
    for line in reasons(cells):
        print(line)
    others = [c for c in cells if c.symbol not in kernels and c.status == PASS]
    planted = [c for c in others if c.check.endswith(("-catches", "-sees-leak")) or "planted" in c.symbol]
    print(f"{len(planted)} planted faults were caught, so the checks see")
    print(f"{len(others) - len(planted)} other checks passed (public functions, entries, helpers)")
    for cell in cells:
        if cell.status == FAIL:
            print(cell)
    counts = {status: sum(c.status == status for c in cells) for status in MARKS}
    print(f"{counts[PASS]} passed, {counts[FAIL]} failed, {counts[UNDECIDABLE]} not decidable")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.proof")
    parser.add_argument("--quick", action="store_true", help="fewer secrets and lengths")
    parser.add_argument("--only", nargs="+", metavar="CHECK", choices=list(sources(False)))
    parser.add_argument("--report", action="store_true", help="add the timing report")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    wanted = sources(options.quick)
    if options.only:
        wanted = {name: wanted[name] for name in options.only}
    cells = list(emulated.decided(collect(wanted)))
    targets = [c.symbol for c in cells if c.symbol.split("@")[0] in module.symbols()]
    kernels = list(dict.fromkeys([*module.symbols(), *targets]))
    report(cells, kernels)
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps([vars(c) for c in cells], indent=1) + "\n")
    if options.report:
        timing.report()
    return any(c.status == FAIL for c in cells)


if __name__ == "__main__":
    sys.exit(main())
