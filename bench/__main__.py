# SPDX-License-Identifier: Apache-2.0
"""python -m bench: measure everything, write build/bench/report.json, report.md and two plots.

python -m bench [--quick] [--parts PART,...] [--only TEXT] [--rounds N] [--pin CPU] [--output DIR]
python -m bench compare A.json B.json
python -m bench readme [REPORT.json] [--readme FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import cases, chain, compare, import_time, latency, machine, records, report, targets
from bench.interleaved import Effort, lines, measure, undisturbed

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "build/bench"


@dataclass(frozen=True)
class Plan:
    """How much of everything."""

    effort: Effort
    only: str
    pin: int | None
    quick: bool
    output: Path


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# ---- Parts: each adds what it measured to the report ---------------------------------------------


def python_part(found: dict[str, Any], plan: Plan) -> None:
    results = found["results"]
    for case in cases.all_cases():
        if plan.only in case.name:
            result = measure(case, plan.effort)
            results.append(result.as_dict())
            say("\n".join(lines(result)))


def native_part(found: dict[str, Any], plan: Plan) -> None:
    from bench import native_programs as programs

    native = found["native"]
    native["sha256_blocks"] = programs.sha256_blocks()
    native["timingsafe_bcmp"] = programs.timingsafe_bcmp(max(plan.effort.rounds, 1))
    native["aes_modes"] = programs.aes_modes()
    try:
        native["openssl_sha256"] = programs.openssl_sha256()
        if "avx2" in cases.runnable_rows("sha256_blocks"):
            native["openssl_sha256_without_sha"] = programs.openssl_sha256("avx2", programs.WITHOUT_SHA)
    except subprocess.CalledProcessError as error:
        say(f"no libcrypto to compare with: {error.stderr.strip()}")


def chain_part(found: dict[str, Any], plan: Plan) -> None:
    from bench import native_programs as programs

    hashes = 100_000 if plan.quick else 10_000_000
    in_c = [programs.chain(threads, hashes) for threads in (1, 2)]
    for run in in_c:
        if run["digest"] != chain.expected(hashes):
            raise chain.WrongDigest(f"the C driver: {run['digest']}")
    found["native"]["chain"] = in_c
    found["native"]["chain_instructions"] = programs.chain_instructions()
    found["chain"] = [chain.measure(threads, min(hashes, 2_000_000)) for threads in (1, 2)]


def import_part(found: dict[str, Any], plan: Plan) -> None:
    found["import"] = import_time.measure(plan.effort.rounds)


def latency_part(found: dict[str, Any], plan: Plan) -> None:
    found["latency"] = latency.measure(0.1 if plan.quick else 1.0)


def record_part(found: dict[str, Any], plan: Plan) -> None:
    """Only where valgrind is; it takes half a minute."""
    if not plan.quick and (counted := records.instructions()):
        found["record_instructions"] = counted


def pytest_part(found: dict[str, Any], plan: Plan) -> None:
    """The pytest-benchmark suites, into a JSON of their own."""
    output = plan.output / "pytest-benchmark.json"
    command = [sys.executable, "-m", "pytest", "bench", "-q", "--benchmark-quiet",
               f"--benchmark-json={output}"]  # fmt: skip
    done = subprocess.run([*command, "-k", plan.only] if plan.only else command, cwd=ROOT, check=False)
    if done.returncode != 0:
        raise SystemExit(done.returncode)


PARTS: dict[str, Callable[[dict[str, Any], Plan], None]] = {
    "python": python_part,
    "native": native_part,
    "chain": chain_part,
    "import": import_part,
    "latency": latency_part,
    "record": record_part,
    "pytest": pytest_part,
}


def measure_all(plan: Plan, parts: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "format": 1,
        "command": "make bench" if sys.argv[1:] == [] else f"python -m bench {' '.join(sys.argv[1:])}",
        "machine": machine.facts(),
        "settings": {
            "rounds": plan.effort.rounds,
            "sample_seconds": plan.effort.sample,
            "pin": plan.pin,
            "quick": plan.quick,
            "parts": list(parts),
        },
        "results": [],
        "native": {},
    }
    seconds = {}
    for name in parts:
        say(f"== {name}")
        start = time.monotonic()
        with undisturbed(None if name == "chain" else plan.pin):  # two threads want two CPUs
            PARTS[name](found, plan)
        seconds[name] = round(time.monotonic() - start, 1)
    found["seconds"] = seconds
    found["machine"]["load_after"] = machine.load()
    found["targets"] = [target.as_dict() for target in targets.judge(found)]
    return found


# ---- Commands ------------------------------------------------------------------------------------


def run_command(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure, and write a report.")
    parser.add_argument("--quick", action="store_true", help="5 short rounds, without pytest and callgrind")
    parser.add_argument("--parts", default="", help=f"some of {','.join(PARTS)}; default: all")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with TEXT in their name")
    parser.add_argument("--rounds", type=int, metavar="N", help="interleaved rounds (25; quick: 5)")
    parser.add_argument("--pin", type=int, metavar="CPU", help="stay on this CPU")
    parser.add_argument("--output", type=Path, default=OUTPUT, metavar="DIR")
    args = parser.parse_args(arguments)
    quick = [part for part in PARTS if part not in ("record", "pytest")]
    parts = args.parts.split(",") if args.parts else (quick if args.quick else list(PARTS))
    if unknown := set(parts) - PARTS.keys():
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    rounds = args.rounds or (5 if args.quick else Effort.rounds)
    effort = Effort(rounds, 0.002 if args.quick else Effort.sample)
    args.output.mkdir(parents=True, exist_ok=True)
    found = measure_all(Plan(effort, args.only, args.pin, args.quick, args.output), parts)
    report.write(found, args.output)
    print("\n".join(report.target_section(found)))
    print(f"{os.path.relpath(args.output)}/report.md and report.json; "
          f"{sum(found['seconds'].values()):.0f} seconds")  # fmt: skip
    return 0


def compare_command(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench compare", description=compare.__doc__)
    parser.add_argument("a", type=Path, metavar="A.json")
    parser.add_argument("b", type=Path, metavar="B.json")
    args = parser.parse_args(arguments)
    print("\n".join(compare.compare(args.a, args.b)))
    return 0


def readme_command(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench readme")
    parser.add_argument("report", type=Path, nargs="?", default=OUTPUT / "report.json")
    parser.add_argument("--readme", type=Path, default=ROOT / "README.md")
    args = parser.parse_args(arguments)
    try:
        report.rewrite_readme(args.readme, json.loads(args.report.read_text()))
    except (OSError, report.NoMarkers) as error:
        parser.error(str(error))
    return 0


COMMANDS = {"compare": compare_command, "readme": readme_command}


def main(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        return COMMANDS[arguments[0]](arguments[1:])
    return run_command(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
