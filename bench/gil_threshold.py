# SPDX-License-Identifier: Apache-2.0
"""From which size on it pays to release the GIL: the measurement behind csrc/python/thresholds.h.

    python -m bench.gil_threshold [--rounds N] [--only OPERATION] [--keep]

Builds the module twice, with thresholds that always and that never release (into build/bench/gil), and
times both at every size, in child processes that take turns:
    alone      one thread, CPU time: what releasing and taking back costs when nobody waits
    two        two threads doing the same, wall clock: calls of both together in the time; wants two
               CPUs that are idle
    beside     one thread beside another that runs Python: what a hand-over costs, and how much of the
               other's work is left
A threshold is right where `alone` loses little and `two` begins to gain. `beside` tells what the
interpreter's switch interval (5 ms) does to a thread that gives the GIL away in small steps.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.interleaved import size_text, time_text
from bench.native_programs import OUTPUT, ROOT

HEADER = ROOT / "csrc/python/thresholds.h"
VARIANTS = {"always": "0", "never": "PTRDIFF_MAX"}
KIB = 1024
SIZES = {
    "sha256": [n * KIB for n in (1, 2, 4, 8, 16, 32, 64)],
    "compare": [n * KIB for n in (4, 16, 32, 64, 128, 256, 512)],
    "gcm": [n * KIB for n in (1, 2, 4, 8, 16, 32, 64)],
}
CONSTANTS = {"sha256": "FC_HASH_DETACH_BYTES", "compare": "FC_COMPARE_DETACH_BYTES",
             "gcm": "FC_AES_DETACH_BYTES"}  # fmt: skip
SECONDS = 0.06

#: Run in a child on one variant: prints JSON, shape -> size -> nanoseconds a call (and the other's rate).
CHILD = """
import sys, json, threading, time
sys.path.insert(0, sys.argv[1])
operation, sizes, seconds = sys.argv[2], json.loads(sys.argv[3]), float(sys.argv[4])
import fastcrypt
def make(size):
    data = bytes(size)
    if operation == "sha256":
        return lambda f=fastcrypt.sha256_digest: f(data)
    if operation == "compare":
        other = bytes(bytearray(data))
        return lambda f=fastcrypt.compare_digest: f(data, other)
    into, out = fastcrypt.AESGCM(bytes(32)).encrypt_into, bytearray(size + 16)
    return lambda: into(bytes(12), data, None, out)
class Worker(threading.Thread):
    def __init__(self, call, line):
        super().__init__()
        self.call, self.line, self.calls, self.taken, self.cpu = call, line, 0, 0.0, 0.0
    def run(self):
        call, calls, clock = self.call, 0, time.perf_counter
        self.line.wait()
        cpu = time.thread_time()
        start = clock()
        end = start + seconds
        while clock() < end:
            for _ in range(8):
                call()
            calls += 8
        self.calls, self.taken, self.cpu = calls, clock() - start, time.thread_time() - cpu
def together(*calls):
    line = threading.Barrier(len(calls))
    workers = [Worker(call, line) for call in calls]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    wall = [worker.taken / worker.calls * 1e9 for worker in workers]
    return wall, [worker.cpu / worker.calls * 1e9 for worker in workers]
def python_work():
    for _ in range(100):
        pass
idle = together(python_work)[0][0]
found = {}
for size in sizes:
    call = make(size)
    call()
    alone = together(call)[1][0]
    two = together(make(size), make(size))[0]
    beside, other = together(call, python_work)[0]
    found[size] = {"alone": alone, "two": 1 / sum(1 / t for t in two), "beside": beside,
                   "other": idle / other}
print(json.dumps(found))
"""


def build(variant: str, keep: bool) -> Path:
    """The directory to import a fastcrypt from whose thresholds are all `variant`."""
    base = OUTPUT / "gil" / variant
    if keep and (base / "lib/fastcrypt").exists():
        return base / "lib"
    include = base / "include/python"
    include.mkdir(parents=True, exist_ok=True)
    text, replaced = re.subn(r"(DETACH_BYTES) = \w+;", rf"\1 = {VARIANTS[variant]};", HEADER.read_text())
    if replaced != len(CONSTANTS):
        raise SystemExit(f"{HEADER} does not look as this script expects")
    header = include / HEADER.name
    if not header.exists() or header.read_text() != text:
        header.write_text(text)
    # Ours comes first on the include path. setuptools compiles again what is older than its sources.
    environment = {**os.environ, "CFLAGS": f"-I{base / 'include'}", "CPPFLAGS": f"-I{base / 'include'}"}
    command = [sys.executable, "setup.py", "-q", "build", "--build-base", str(base / "build"),
               "--build-lib", str(base / "lib")]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return base / "lib"


def run_child(directory: Path, operation: str, sizes: list[int], seconds: float) -> dict[str, Any]:
    command = [sys.executable, "-I", "-S", "-c", CHILD, str(directory), operation, json.dumps(sizes)]
    done = subprocess.run([*command, str(seconds)], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measure(
    places: dict[str, Path], operation: str, rounds: int, seconds: float = SECONDS
) -> dict[int, dict[str, Any]]:
    """Size -> shape -> variant -> median over the rounds."""
    taken: dict[str, list[dict[str, Any]]] = {variant: [] for variant in VARIANTS}
    for _ in range(rounds):
        for variant, directory in places.items():
            taken[variant].append(run_child(directory, operation, SIZES[operation], seconds))
    shapes = ("alone", "two", "beside", "other")
    return {
        size: {
            shape: {v: statistics.median(one[str(size)][shape] for one in taken[v]) for v in VARIANTS}
            for shape in shapes
        }
        for size in SIZES[operation]
    }


def current(operation: str) -> int:
    found = re.search(rf"{CONSTANTS[operation]} = (\d+);", HEADER.read_text())
    if found is None:
        raise SystemExit(f"{HEADER} has no {CONSTANTS[operation]}")
    return int(found[1])


def table(operation: str, measured: dict[int, dict[str, Any]]) -> Iterable[str]:
    threshold = current(operation)
    yield f"{operation}: released from {size_text(threshold)} on ({CONSTANTS[operation]})"
    yield (
        f"{'':>8} | {'alone: held':>12} {'released':>10} {'loss':>7} | {'two: held':>10} {'released':>10} "
        f"{'gain':>6} | {'beside: held':>12} {'released':>10} {'other':>6} {'other':>6}"
    )
    for size, shapes in measured.items():
        alone, two, beside, other = (shapes[shape] for shape in ("alone", "two", "beside", "other"))
        yield (
            f"{size_text(size):>8} | {time_text(alone['never']):>12} {time_text(alone['always']):>10} "
            f"{100 * (alone['always'] / alone['never'] - 1):>+6.1f}% | {time_text(two['never']):>10} "
            f"{time_text(two['always']):>10} {two['never'] / two['always']:>5.2f}x | "
            f"{time_text(beside['never']):>12} {time_text(beside['always']):>10} "
            f"{100 * other['never']:>5.0f}% {100 * other['always']:>5.0f}%"
            f"{'   <- threshold' if size == threshold else ''}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.gil_threshold")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=SIZES, help="one operation")
    parser.add_argument("--keep", action="store_true", help="use the modules of the last run")
    args = parser.parse_args()
    places = {variant: build(variant, args.keep) for variant in VARIANTS}
    for operation in [args.only] if args.only else SIZES:
        print("\n".join(table(operation, measure(places, operation, args.rounds))), flush=True)
    print(
        "two: nanoseconds a call of both threads together; other: how much of a Python thread's work is left"
    )


if __name__ == "__main__":
    main()
