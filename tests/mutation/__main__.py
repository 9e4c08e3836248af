# SPDX-License-Identifier: Apache-2.0
"""Make mutants of the kernels and hold the kernel tests against them.

    python -m tests.mutation [--seed N] [--budget SECONDS] [--row NAME] [--json FILE]

Without a budget every mutant is tried; with one, as many as fit, chosen by the seed, of all kernels
alike. Every survivor must be in equivalents.txt with its reason; any other fails the run.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

from . import campaign


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, metavar="SECONDS")
    parser.add_argument("--row", metavar="NAME", help="a kernel, or part of the name of its source")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def main() -> int:
    options = arguments()
    started = time.monotonic()
    result = campaign.run(options.seed, options.budget, options.row, options.jobs)
    for line in campaign.report(result):
        print(line)
    print(f"{len(result.outcomes)} mutants in {time.monotonic() - started:.0f} s")
    if options.json:
        options.json.write_text(json.dumps(campaign.as_json(result), indent=1) + "\n")
    return bool(campaign.unexplained(result) or campaign.stale(result))


if __name__ == "__main__":
    sys.exit(main())
