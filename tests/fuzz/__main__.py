# SPDX-License-Identifier: Apache-2.0
"""Fuzz everything for a while.

    python -m tests.fuzz [--seconds 60] [--seed N] [--only TARGET ...] [--planted]

The time is split over the targets. A failing input is left in build/fuzz/failures: copy it to
tests/fuzz/corpus/<target>, where the tests replay it for good. --planted shows that each target finds
mistakes put into copies of the sources.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import time

from . import api, targets

#: Shares of the time.
SHARES = {"kernels": 4, "streams": 2, "gcm": 2, "settings": 1, "api": 3}


def run_target(name: str, seconds: int, seed: int) -> bool:
    done = targets.fuzz(name, seconds, seed)
    runs = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    new = re.search(r"new_units_added: +(\d+)", done.stderr)
    print(f"{name}: {runs[1] if runs else '?'} inputs, {new[1] if new else '?'} of them new, "
          f"{'no failure' if done.returncode == 0 else 'FAILED'}", flush=True)  # fmt: skip
    if done.returncode != 0:
        print(done.stderr[-4000:])
    return done.returncode == 0


def run_api(seconds: int, seed: int) -> bool:
    calls = api.fuzz(seconds, seed)
    print(f"api: {calls} calls, no failure", flush=True)
    return True


def planted(seconds: int, seed: int) -> bool:
    """Whether each mistake is found within its time."""
    all_found = True
    for plant in targets.PLANTS:
        started = time.monotonic()
        shutil.rmtree(targets.ROOT / "build/fuzz/with-plants", ignore_errors=True)
        done = targets.fuzz(plant.target, seconds, seed, plant)
        found = done.returncode != 0
        all_found &= found
        lines = [t for t in done.stderr.splitlines() if not t.startswith(("INFO", "==", "\t", "stat"))]
        print(f"{'found' if found else 'MISSED'} by {plant.target} in {time.monotonic() - started:.0f} s: "
              f"{plant.source}: {plant.right.strip()!r} -> {plant.wrong.strip()!r}"
              f" ({lines[0] if found and lines else ''})", flush=True)  # fmt: skip
    return all_found


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=list(SHARES), default=list(SHARES))
    parser.add_argument("--planted", action="store_true")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    if shutil.which(targets.CLANG) is None:
        print("libFuzzer needs clang: apt-get install clang-19 libclang-rt-19-dev", file=sys.stderr)
        return 2
    if options.planted:
        return not planted(options.seconds, options.seed)
    whole = sum(SHARES[name] for name in options.only)
    good = True
    for name in options.only:
        seconds = max(1, options.seconds * SHARES[name] // whole)
        good &= run_api(seconds, options.seed) if name == "api" else run_target(name, seconds, options.seed)
    return not good


if __name__ == "__main__":
    sys.exit(main())
