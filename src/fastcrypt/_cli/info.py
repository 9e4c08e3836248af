# SPDX-License-Identifier: Apache-2.0
"""`fastcrypt info`: what runs here, and why nothing better."""

from __future__ import annotations

import json
import os
import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import fastcrypt
from fastcrypt import _core

from . import machine
from .errors import Parser

DESCRIPTION = """\
The CPU's features, the kernel that runs for each operation and why no better one does, and how this
build was compiled."""


# ---- Collect ---------------------------------------------------------------------------------------


def why_not(row: Mapping[str, Any], detected: frozenset[str], usable: frozenset[str]) -> str:
    """Why a row does not run."""
    if not row["built"]:
        return "not in this build"
    if missing := row["features"] - detected:
        return f"the CPU lacks {', '.join(sorted(missing))}"
    if removed := row["features"] - usable:
        return f"FASTCRYPT_CPU removed {', '.join(sorted(removed))}"
    return "a better row runs"


def describe_row(row: Mapping[str, Any], detected: frozenset[str], usable: frozenset[str]) -> dict[str, Any]:
    return {
        "name": row["name"],
        "features": sorted(row["features"]),
        "built": row["built"],
        "runnable": row["runnable"],
        "chosen": row["chosen"],
        "why_not": None if row["chosen"] else why_not(row, detected, usable),
    }


def ops() -> dict[str, Any]:
    """Op -> the kernel that runs, and all its rows, best first."""
    detected, usable = _core.detected_features(), fastcrypt.cpu_features()
    found: dict[str, Any] = {op: {"kernel": name, "rows": []} for op, name in fastcrypt.kernels().items()}
    for row in _core.rows():
        found[row["op"]]["rows"].append(describe_row(row, detected, usable))
    return found


def collect() -> dict[str, Any]:
    build = fastcrypt.build_info()
    usable = fastcrypt.cpu_features()
    return {
        "version": fastcrypt.__version__,
        "machine": machine.facts(),
        "module": _core.__file__,
        "table_is_read_only": build["table_is_read_only"],
        "FASTCRYPT_CPU": os.environ.get("FASTCRYPT_CPU"),
        "features": sorted(usable),
        "removed_features": sorted(_core.detected_features() - usable),
        "ops": ops(),
        "build": {name: build[name] for name in ("compiler", "common_flags", "flags", "assembly")},
    }


# ---- Show ------------------------------------------------------------------------------------------


def item(label: str, text: str, width: int) -> str:
    return textwrap.fill(
        text or "none",
        width,
        initial_indent=f"{label:<18}",
        subsequent_indent=" " * 18,
        break_long_words=False,
        break_on_hyphens=False,
    )


def better_rows(op: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows above the one that runs."""
    names = [row["name"] for row in op["rows"]]
    above: list[dict[str, Any]] = op["rows"][: names.index(op["kernel"])]
    return above


def op_lines(found: Mapping[str, Any], width: int) -> Iterable[str]:
    for name, op in found.items():
        yield f"  {name:<20}{op['kernel']}"
        for row in better_rows(op):
            yield textwrap.fill(
                f"not {row['name']}: {row['why_not']}",
                width,
                initial_indent=" " * 22,
                subsequent_indent=" " * 26,
            )


def common_flags(flags: Mapping[str, str]) -> list[str]:
    """The flags that every file has, in order."""
    lists = [text.split() for text in flags.values()]
    return [flag for flag in lists[0] if all(flag in other for other in lists)]


def flag_lines(build: Mapping[str, Any], width: int) -> Iterable[str]:
    common = common_flags(build["flags"])
    yield item("Flags, every file", build["common_flags"], width)
    yield item("Flags, C", " ".join(common), width)
    for name, text in build["flags"].items():
        if name.startswith("csrc/portable/"):
            own = [flag for flag in text.split() if flag not in common]
            yield f"  {name:<34}{' '.join(own)}".rstrip()


def lines(data: Mapping[str, Any], width: int) -> Iterable[str]:
    host = data["machine"]
    yield f"fastcrypt {data['version']}"
    yield item("Python", f"{host['python']}, GIL {host['gil']}", width)
    yield item("CPU", f"{host['cpu']} ({host['cpus']} logical, {host['machine']}), {host['system']}", width)
    yield item("Features", " ".join(data["features"]), width)
    if data["FASTCRYPT_CPU"]:
        yield item("FASTCRYPT_CPU", data["FASTCRYPT_CPU"], width)
        yield item("  has removed", " ".join(data["removed_features"]), width)
    sealed = "read-only memory" if data["table_is_read_only"] else "writable: this system's page is too large"
    yield item("Kernel table", sealed, width)
    yield ""
    yield "Kernels that run"
    yield from op_lines(data["ops"], width)
    yield ""
    yield item("Compiler", data["build"]["compiler"], width)
    yield from flag_lines(data["build"], width)
    yield item("Assembly", " ".join(data["build"]["assembly"]), width)


def parse(arguments: Sequence[str]) -> bool:
    parser = Parser(prog="fastcrypt info", description=DESCRIPTION)
    parser.add_argument("--json", action="store_true", help="everything, with all rows, as JSON")
    return bool(parser.parse_args(arguments).json)


def run(arguments: Sequence[str]) -> int:
    as_json = parse(arguments)
    data = collect()
    if as_json:
        print(json.dumps(data, indent=2))
        return 0
    width = max(60, min(110, shutil.get_terminal_size((100, 24)).columns))
    for line in lines(data, width):
        print(line)
    return 0
