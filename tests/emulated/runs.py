# SPDX-License-Identifier: Apache-2.0
"""Run the vectors on an emulated processor and say what is wrong with what happened."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from . import build, vector_file
from .machines import Architecture, Model, emulator, other_emulator, rows

MODULE_SCRIPT = Path(__file__).with_name("module_vectors.py")
TIMEOUT = 600


@dataclass
class Outcome:
    """What a run of the vectors' program said."""

    status: int
    stderr: str = ""
    features: frozenset[str] = frozenset()
    chosen: dict[str, str] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    #: (status, symbol, detail)
    results: list[tuple[str, str, str]] = field(default_factory=list)
    ended: bool = False

    def death(self) -> str | None:
        """How the program died, if it did."""
        if self.status < 0:
            where = self.ran[-1] if self.ran else "the beginning"
            return f"died of {signal.Signals(-self.status).name} in {where}"
        if self.status > 1 or not self.ended:
            return f"ended with status {self.status}: {self.stderr[-200:]}"
        return None

    def first_rows(self) -> dict[str, str]:
        """Of each op, the first row of the table that this CPU could run."""
        first: dict[str, str] = {}
        for name in self.ran:
            op, dash, row = name.rpartition("-")
            if dash:
                first.setdefault(op, row)
        return first

    def failures(self) -> list[str]:
        return [f"{symbol}: {detail}" for status, symbol, detail in self.results if status == "fail"]


def no_core() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def execute(command: list[str], setting: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run with FASTCRYPT_CPU=setting; an emulator leaves no core file behind."""
    environment = {k: v for k, v in os.environ.items() if k != "FASTCRYPT_CPU"}
    if setting is not None:
        environment["FASTCRYPT_CPU"] = setting
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=TIMEOUT,
        preexec_fn=no_core,
    )


def read(done: subprocess.CompletedProcess[str]) -> Outcome:
    outcome = Outcome(done.returncode, done.stderr.strip())
    for line in done.stdout.splitlines():
        word, _, rest = line.partition(" ")
        if word == "features":
            outcome.features = frozenset(rest.split())
        elif word == "chosen":
            op, _, row = rest.partition(" ")
            outcome.chosen[op] = row
        elif word == "row":
            outcome.ran.append(rest)
        elif word == "end":
            outcome.ended = True
        elif word in ("pass", "fail", "undecidable"):
            symbol, _, detail = rest.split(" ", 2)
            outcome.results.append((word, symbol, detail))
    return outcome


@cache
def vectors() -> str:
    file = vector_file.default_output()
    vector_file.write(file)
    return str(file)


def on_model(model: Model, *options: str, setting: str | None = None, program: Path | None = None) -> Outcome:
    program = program or build.build("x86_64")
    command = [emulator(model.qemu), "-cpu", model.cpu, str(program), vectors(), *options]
    return read(execute(command, setting))


def on_architecture(architecture: Architecture, program: Path | None = None) -> Outcome:
    program = program or build.build(architecture.arch)
    return read(execute([other_emulator(architecture), *architecture.options, str(program), vectors()]))


def in_module(model: Model, setting: str | None = None) -> dict[str, Any]:
    """What module_vectors.py says of the Python module; {"death": ...} if it died."""
    command = [emulator(model.qemu), "-cpu", model.cpu, sys.executable, str(MODULE_SCRIPT), vectors()]
    done = execute(command, setting)
    if done.returncode != 0:
        number = -done.returncode
        how = f"died of {signal.Signals(number).name}" if number > 0 else f"status {done.returncode}"
        return {"death": f"{how}: {done.stderr.strip()[-200:]}"}
    said: dict[str, Any] = json.loads(done.stdout)
    return said


# ---- What is wrong -------------------------------------------------------------------------------


def difference(what: str, found: set[str], expected: set[str]) -> Iterator[str]:
    if found != expected:
        yield f"{what}: {sorted(found - expected)} unexpected, {sorted(expected - found)} missing"


def pairs(chosen: dict[str, str]) -> set[str]:
    return {f"{op}={row}" for op, row in chosen.items()}


def expected_of(chosen: dict[str, str], stated: dict[str, str]) -> dict[str, str]:
    """The hand-written rows; an op that they do not mention is not judged by them."""
    return {op: stated.get(op, row) for op, row in chosen.items()}


def problems_on_model(outcome: Outcome, model: Model) -> Iterator[str]:
    """What is wrong with a run but for wrong answers, which are cells of their own."""
    death = outcome.death()
    if death is not None:
        yield death
        return
    yield from difference("features", set(outcome.features), set(model.features.split()))
    stated = rows(model.chosen)
    yield from difference("ops", set(stated) - set(outcome.chosen), set())
    yield from difference("chosen", pairs(outcome.chosen), pairs(expected_of(outcome.chosen, stated)))
    yield from difference("chosen, by the table", pairs(outcome.chosen), pairs(outcome.first_rows()))


def problems_on_architecture(outcome: Outcome) -> Iterator[str]:
    death = outcome.death()
    if death is not None:
        yield death
        return
    yield from difference("features", set(outcome.features), set())
    yield from difference("rows but the portable ones", {r for r in outcome.ran if not portable(r)}, set())
    if len(outcome.ran) < 2:
        yield "no row ran"
    for status, symbol, detail in outcome.results:
        if status == "undecidable" and not symbol.startswith("sealed"):
            yield f"{symbol}: {detail}"


def portable(row: str) -> bool:
    return row == "sealed" or row.endswith("-portable")


def problems_in_module(said: dict[str, Any], chosen: str) -> Iterator[str]:
    if "death" in said:
        yield str(said["death"])
        return
    stated = rows(chosen)
    yield from difference("kernels", pairs(said["kernels"]), pairs(expected_of(said["kernels"], stated)))
    yield from said["failed"][:5]
    if sum(said["passed"].values()) < 100 or not all(said["passed"].values()):
        yield f"too few vectors: {said['passed']}"
