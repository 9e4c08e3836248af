#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Single-step equality on an emulated CPU: for rows that this machine cannot run.

    tests/emulated/bochs/traces.py [--quick] timingsafe_bcmp-avx512 ...

Bochs' own debugger prints every instruction of a call and every address that it reads or writes, as the
emulated CPU accesses it. All calls of a kernel with the same lengths must print the same, whatever the
secrets. The planted leaks must not, or nothing is decided. A line per kernel: `pass|fail SYMBOL trace ...`.
Exit status: 0 passed, 1 failed, 2 not built, or no Bochs with its debugger.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from emulated.bochs import run

NATIVE, TRACE = run.ROOT / "tests/native", run.ROOT / "tests/proof/trace"
SOURCES = [
    *(run.HERE / name for name in ("traces.c", "hosted.c")),
    *(NATIVE / name for name in ("harness.c", "leaks/leaks.c", "leaks/table_aes.c", "leaks/leak_jump.S")),
    *(TRACE / name for name in ("patterns.c", "trace.S")),
]
LEAKS = {"leak_early_exit", "leak_jump", "leak_table_expand_key@table", "leak_table_ecb_encrypt@table"}

#: For the debugger, once a call: to the mark before it, through it, and on.
ONE_CALL = "trace on\ntrace-mem on\ncontinue\ntrace off\ntrace-mem off\ncontinue\n"
CALLS = 60_000


class Symbols(Protocol):
    """What is asked of an image: symbol+offset."""

    def locate(self, address: int) -> str: ...


@dataclass
class Target:
    """What the traces of one kernel came to."""

    lengths: int = 0
    traces: int = 0
    steps: int = 0
    difference: str = ""


@dataclass
class Comparer:
    """Takes the emulator's lines; the first call with some lengths is what the others must equal."""

    image: Symbols
    targets: dict[str, Target] = field(default_factory=dict)
    lengths: str = ""
    pattern: str = ""
    first_pattern: str = ""
    reference: list[str] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)
    ended: str = "no verdict: see bochs.log"

    def begin(self, line: str) -> None:
        """fc: call SYMBOL n=N aad=N key=N PATTERN"""
        _, _, symbol, n, aad, key, self.pattern = line.split(" ", 6)
        lengths = f"{symbol} {n} {aad} {key}"
        target = self.targets.setdefault(symbol, Target())
        if lengths != self.lengths:
            self.lengths, self.reference, self.first_pattern = lengths, [], self.pattern
            target.lengths += 1
        self.trace = []

    def end(self) -> None:
        """At the mark after a call."""
        symbol = self.lengths.split()[0]
        target = self.targets[symbol]
        target.traces += 1
        target.steps += sum(" " not in item for item in self.trace)
        if not self.reference:
            self.reference = self.trace
        elif self.trace != self.reference and not target.difference:
            target.difference = self.describe()
        self.trace = []

    def describe(self) -> str:
        pairs = zip(self.trace, self.reference, strict=False)
        at = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(self.trace), len(self.reference)))
        here, there = (self.place(t[at]) if at < len(t) else "the end" for t in (self.trace, self.reference))
        lengths = self.lengths.split(" ", 1)[1]
        return f"step {at}: {here}, not {there} [{lengths}; {self.pattern} against {self.first_pattern}]"

    def place(self, item: str) -> str:
        return f"{item})" if " " in item else self.image.locate(int(item, 16))

    def take(self, line: str) -> None:
        if line.startswith("(0).["):  # (0).[ticks] [physical address] selector:rip ...
            self.trace.append(line.split(" ", 3)[2].partition(":")[2])
        elif line.startswith("[CPU0 "):  # [CPU0 RD]: LIN address PHY address (len=n, ...): data
            words = line.split(" ", 7)
            if words[2] == "LIN":  # else the CPU reads a page table
                self.trace.append(f"{words[1][:2]} {words[3]} {words[6]}".rstrip(","))
        elif line.startswith("fc: call "):
            self.begin(line)
        elif line.startswith("Tracing disabled"):
            self.end()
        elif line.startswith("fc: FAIL") or line.startswith("fc: end"):
            self.ended = "" if line.startswith("fc: end pass") else line[4:]


def verdicts(comparer: Comparer) -> Iterator[tuple[str, str, str, str]]:
    for symbol, target in comparer.targets.items():
        what = f"{target.lengths} lengths, {target.traces} traces, {target.steps} steps under Bochs"
        if symbol in LEAKS:
            seen = "pass" if target.difference else "fail"
            yield seen, symbol, "trace-bochs-catches", target.difference or "a planted leak was not seen"
        elif target.difference:
            yield "fail", symbol, "trace", target.difference
        else:
            yield "pass", symbol, "trace", what
    for symbol in LEAKS - set(comparer.targets):
        yield "fail", symbol, "trace-bochs-catches", "was not called"
    if comparer.ended:
        yield "fail", "bochs", "trace", comparer.ended


def build(directory: Path, rows: Iterable[str], quick: bool) -> tuple[run.Image, Path, Path]:
    image = run.Image(directory.resolve(), os.environ.get("CC", "cc").split())
    own = [run.HERE / name for name in ("start.S", "runtime.c")]
    text = "".join(f"{row} " for row in rows)
    macros = [f'-DFC_TRACED_ROWS="{text}"', f"-DFC_QUICK={int(quick)}", "-DFC_BOCHS=1"]
    macros += [f"-I{d}" for d in (NATIVE, TRACE)]
    image.add([*(run.ROOT / name for name in run.CORE), *own, *SOURCES], [*image.add_kernels(), *macros])
    return (image, *image.link())


def compare(directory: Path, rows: Iterable[str], quick: bool, cpu: str, timeout: float) -> Comparer:
    image, rom, binary = build(directory, rows, quick)
    process = run.start(image.build, rom, binary, cpu, "continue\n" + ONE_CALL * CALLS)
    limit = threading.Timer(timeout, lambda: os.killpg(process.pid, signal.SIGKILL))
    limit.start()
    comparer = Comparer(image)
    assert process.stdout is not None
    for line in process.stdout:
        comparer.take(line.decode(errors="replace").rstrip("\n"))
    limit.cancel()
    process.wait()
    return comparer


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", nargs="+", metavar="ROW", help="op-name, as kernels.def has them")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--cpu", default="tigerlake", help="Bochs CPU model (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=1200.0, help="seconds (%(default)s)")
    parser.add_argument("--build", type=Path, default=run.ROOT / "build/bochs-traces")
    options = parser.parse_args()
    try:
        comparer = compare(options.build, options.rows, options.quick, options.cpu, options.timeout)
    except run.BuildError as error:
        print(error, file=sys.stderr)
        return 2
    failed = False
    for status, symbol, check, detail in verdicts(comparer):
        failed |= status == "fail"
        print(status, symbol, check, detail)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
