# SPDX-License-Identifier: Apache-2.0
"""Nothing shared is written: the hot functions run with all of the module's data read-only."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator

from .disassembly import ROOT
from .public_calls import CALLS
from .result import FAIL, PASS, Cell

CHECKS = ("no-shared-write",)
CALLS_EACH = 1000


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.proof.read_only_runner", str(CALLS_EACH), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def cells() -> Iterator[Cell]:
    planted = _run("plant")
    status = PASS if planted.returncode == -signal.SIGSEGV else FAIL
    yield Cell("planted-write", "no-shared-write", status, f"status {planted.returncode}")
    done = _run()
    began = done.stdout.splitlines()
    for call in CALLS:
        if not call.hot:
            continue
        name = call.expression.replace(" ", "")
        if call.expression not in began:
            yield Cell(name, "no-shared-write", FAIL, "not reached: an earlier call ended the process")
        elif began[-1] == call.expression and began[-1] != "done":
            yield Cell(name, "no-shared-write", FAIL, f"status {done.returncode} {done.stderr[-200:]}")
        else:
            yield Cell(name, "no-shared-write", PASS, f"{CALLS_EACH} calls")
