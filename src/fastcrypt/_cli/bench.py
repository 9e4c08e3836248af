# SPDX-License-Identifier: Apache-2.0
"""`fastcrypt bench`: fastcrypt beside what it replaces, on this machine."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

import fastcrypt

from . import cases, machine, plot, table
from .errors import Failure, Parser
from .measure import CLOCK, FULL, QUICK, Effort, Result, measure
from .progress import steps

DESCRIPTION = """\
Time fastcrypt beside hashlib, hmac and, where they are installed, cryptography and PyCryptodome. A
ratio is the time of the peer divided by the time of fastcrypt; below 1 fastcrypt is slower, and the
table says so."""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="fastcrypt bench", description=DESCRIPTION)
    parser.add_argument("--quick", action="store_true", help="a few seconds, with more noise")
    parser.add_argument("--only", metavar="TEXT", default="", help="operations with TEXT in their name")
    parser.add_argument("--json", metavar="FILE", help="write every sample to FILE (- for stdout)")
    parser.add_argument("--plot", metavar="FILE", help="write a bar chart to FILE (.svg or .png)")
    return parser.parse_args(arguments)


def report(results: Sequence[Result], effort: Effort) -> dict[str, Any]:
    """What --json writes. Times are in seconds a call."""
    build = fastcrypt.build_info()
    return {
        "machine": machine.facts(),
        "versions": cases.versions(),
        "kernels": fastcrypt.kernels(),
        "features": sorted(fastcrypt.cpu_features()),
        "FASTCRYPT_CPU": os.environ.get("FASTCRYPT_CPU"),
        "compiler": build["compiler"],
        "flags": build["flags"],
        "rounds": effort.rounds,
        "clock": CLOCK,
        "sample_seconds": effort.sample,
        "results": [result.as_dict() for result in results],
    }


def head(data: dict[str, Any]) -> list[str]:
    host = data["machine"]
    lines = [
        f"{host['cpu']}, {host['cpus']} logical CPUs, {host['system']}, {host['python']}, GIL {host['gil']}",
        "; ".join(f"{name} {version}" for name, version in data["versions"].items()),
        "kernels: " + ", ".join(f"{op} {kernel}" for op, kernel in data["kernels"].items()),
    ]
    absent = [name for name in cases.PACKAGES if name not in data["versions"]]
    if absent:
        packages = " ".join(cases.PACKAGES[name] for name in absent)
        lines.append(f"without {' and '.join(absent)}, which would be measured too: pip install {packages}")
    if data["FASTCRYPT_CPU"]:
        lines.append(f"FASTCRYPT_CPU={data['FASTCRYPT_CPU']}")
    clock = "CPU time" if data["clock"] == "thread_time" else "time"
    lines.append(
        f"{clock} a call, medians of {data['rounds']} interleaved rounds; Nx: fastcrypt is N times as fast"
    )
    return lines


def write_json(data: dict[str, Any], file: str) -> None:
    text = json.dumps(data, indent=1) + "\n"
    if file == "-":
        sys.stdout.write(text)
        return
    try:
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}") from None


def run(arguments: Sequence[str]) -> int:
    args = parse(arguments)
    if args.plot:
        plot.check_name(args.plot)
        plot.require()
    chosen = [case for case in cases.all_cases() if args.only in case.operation]
    if not chosen:
        raise Failure(f"--only {args.only}: no operation has that in its name", 2)
    effort = QUICK if args.quick else FULL
    results = [measure(case, effort) for case in steps(chosen, "measuring")]
    data = report(results, effort)
    if args.json != "-":
        print("\n".join(head(data)), end="\n\n")
        table.show(results)
    if args.json:
        write_json(data, args.json)
    if args.plot:
        host = data["machine"]
        plot.draw(results, f"{host['cpu']}, {host['python']}", args.plot)
    return 0
