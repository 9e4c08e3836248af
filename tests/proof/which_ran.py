# SPDX-License-Identifier: Apache-2.0
"""Which kernel ran: single-step the public functions of the shipped module under every FASTCRYPT_CPU.

A row's cell passes if it ran whenever, and only when, the oracle says that it is the best one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

from . import module, native, oracle
from .disassembly import ROOT
from .module import Row
from .public_calls import CALLS, Call
from .result import PASS, UNDECIDABLE, Cell, verdict

CHECKS = ("which-ran",)

LEVELS = (None, "scalar", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")
QUICK_SETTINGS = (None, "scalar", "x86-64")


def settings() -> list[str | None]:
    """Every level, and every feature that a row requires taken away."""
    wanted = sorted({f for row in module.rows() for f in row.features})
    return [*LEVELS, "-avx", "-avx512", *(f"-{f}" for f in wanted)]


def expected(op: str, setting: str | None) -> Row | None:
    """The first row of an op that is built and whose features are all usable."""
    features = oracle.usable(setting)
    for row in module.rows():
        if row.op == op and row.built and row.features <= features:
            return row
    return None


class TracingFailed(Exception):
    """The traced process or the tracer ended early."""


@dataclass(frozen=True)
class Steps:
    """One call: its instructions in all, those in the module, and the kernels among them."""

    total: int
    inside: int
    kernels: frozenset[str]


def step(setting: str | None, *expressions: str) -> list[Steps]:
    """Single-step the expressions, or every call of CALLS, in a new process."""
    tracer = native.tool("steps.c")
    environment = {k: v for k, v in os.environ.items() if k != "FASTCRYPT_CPU"}
    if setting is not None:
        environment["FASTCRYPT_CPU"] = setting
    command = [str(tracer), str(module.path()), sys.executable, "-m", "tests.proof.call_runner", *expressions]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("ran ")]
    if done.returncode != 0 or len(lines) != len(expressions or CALLS):
        raise TracingFailed(f"FASTCRYPT_CPU={setting}: {done.stderr.strip()[-300:]}")
    return [Steps(int(w[1]), int(w[2]), _kernels(int(offset, 16) for offset in w[3:])) for w in lines]


def _kernels(addresses: Iterable[int]) -> frozenset[str]:
    image, known = module.image(), set(module.symbols())
    return frozenset(name for a in addresses if (name := image.name_at(a)) is not None and name in known)


@cache
def reached_from(row: Row) -> frozenset[str]:
    """The kernels of a row, and those of other rows to which they hand over."""
    image, known = module.image(), set(module.symbols())
    built = [symbol for symbol in row.symbols if symbol in image.symbols]
    reached = {f.name for symbol in built for f in image.reached_from(symbol)[0]}
    return frozenset(row.symbols) | (reached & known)


def problems_of(call: Call, ran: frozenset[str], setting: str | None) -> Iterator[tuple[str, str]]:
    """(symbol, what is wrong) of one call under one setting."""
    where = f"FASTCRYPT_CPU={setting or ''} {call.expression}"
    allowed: set[str] = set()
    for op in call.ops:
        row = expected(op, setting)
        if row is None:
            yield op, f"{where}: no row can run"
            continue
        allowed |= reached_from(row)
        if not ran & set(row.symbols):
            yield row.symbols[0], f"{where}: did not run, but {', '.join(sorted(ran)) or 'nothing'}"
    for op in call.maybe:
        row = expected(op, setting)
        allowed |= reached_from(row) if row is not None else frozenset()
    for symbol in sorted(ran - allowed):
        yield symbol, f"{where}: ran, but is not the best"


def cells(quick: bool = False) -> Iterator[Cell]:
    chosen = list(QUICK_SETTINGS if quick else settings())
    ran_in: dict[str, int] = {}
    problems: dict[str, list[str]] = {}
    native.tool("steps.c")  # once, before several threads want it
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for setting, calls in zip(chosen, pool.map(step, chosen), strict=True):
            for call, steps in zip(CALLS, calls, strict=True):
                ran = steps.kernels
                for symbol in ran:
                    ran_in[symbol] = ran_in.get(symbol, 0) + 1
                for symbol, problem in problems_of(call, ran, setting):
                    problems.setdefault(symbol, []).append(problem)
    for symbol in dict.fromkeys([*module.symbols(), *problems]):
        if problems.get(symbol) or symbol in ran_in:
            detail = f"{ran_in.get(symbol, 0)} calls, {len(chosen)} settings"
            yield verdict(symbol, "which-ran", problems.get(symbol, []), detail)
        else:
            yield never_ran(symbol, chosen)


def never_ran(symbol: str, chosen: list[str | None]) -> Cell:
    """The cell of a kernel that no call ran although nothing is wrong with that."""
    rows = [row for row in module.rows() if symbol in row.symbols]
    missing = frozenset.intersection(*(row.features - oracle.usable(None) for row in rows))
    if not any(row.built for row in rows):
        return Cell(symbol, "which-ran", UNDECIDABLE, "not built")
    if missing:
        return Cell(symbol, "which-ran", UNDECIDABLE, f"this CPU lacks {', '.join(sorted(missing))}")
    if not any(expected(row.op, setting) == row for row in rows for setting in chosen):
        return Cell(symbol, "which-ran", PASS, f"never the best in {len(chosen)} settings, and never ran")
    return Cell(symbol, "which-ran", UNDECIDABLE, "no public call runs it")
