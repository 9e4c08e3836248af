# SPDX-License-Identifier: Apache-2.0
"""Wins and losses between two runs: two reports of `python -m bench`, or two of pytest --benchmark-json.

What is compared is the ratio to the first rival, since machines and their moods differ from run to
run; times a call are shown beside it. A change counts as a win or a loss if it is more than 2% and
more than the spread of both runs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.interleaved import time_text

NOISE = 0.02


@dataclass(frozen=True)
class Figure:
    """Nanoseconds a call; the ratio to the rival with its quartiles, where there is a rival."""

    nanoseconds: float
    rival: str | None = None
    ratio: float = 0.0
    low: float = 0.0
    high: float = 0.0


def from_report(report: dict[str, Any]) -> dict[str, Figure]:
    """fastcrypt beside its rivals; what is compared with itself is neither won nor lost."""
    found = {}
    ours = "fastcrypt"
    for result in report["results"]:
        if ours not in result["samples"]:
            continue
        rival = next(iter(result["ratio"]), None)
        spread = result["ratio"][rival] if rival else {"median": 0.0, "low": 0.0, "high": 0.0}
        found[result["name"]] = Figure(
            result["median"][ours], rival, spread["median"], spread["low"], spread["high"]
        )
    return found


def from_pytest(report: dict[str, Any]) -> dict[str, Figure]:
    """Group -> fastcrypt's median beside the first rival's; quartiles as if they fell together."""
    groups: dict[str, dict[str, Any]] = {}
    for benchmark in report["benchmarks"]:
        name = str(benchmark["extra_info"]["implementation"])
        groups.setdefault(benchmark["group"], {})[name] = benchmark["stats"]
    found = {}
    for group, stats in groups.items():
        ours = stats.pop("fastcrypt", None)
        if ours is None:
            continue
        rival = next((name for name in stats if not name.startswith("row ")), None)
        figure = Figure(ours["median"] * 1e9)
        if rival:
            theirs = stats[rival]
            figure = Figure(ours["median"] * 1e9, rival, theirs["median"] / ours["median"],
                            theirs["q1"] / ours["q3"], theirs["q3"] / ours["q1"])  # fmt: skip
        found[group] = figure
    return found


def load(path: Path) -> dict[str, Figure]:
    report = json.loads(path.read_text())
    return from_pytest(report) if "benchmarks" in report else from_report(report)


def verdict(before: Figure, after: Figure) -> str:
    if before.rival is None or before.rival != after.rival:
        return "no common rival"
    change = after.ratio / before.ratio - 1
    if change > NOISE and after.low > before.high:
        return "WIN"
    if change < -NOISE and after.high < before.low:
        return "LOSS"
    return "same"


def lines(before: dict[str, Figure], after: dict[str, Figure]) -> list[str]:
    head = f"{'':<24} {'rival':<14} {'A':>10} {'B':>10} {'A ratio':>9} {'B ratio':>9} {'change':>8}"
    rows, seen = [head], {"WIN": 0, "LOSS": 0, "same": 0, "no common rival": 0}
    for name, a in before.items():
        b = after.get(name)
        if b is None:
            continue
        word = verdict(a, b)
        seen[word] += 1
        change = f"{100 * (b.ratio / a.ratio - 1):+.1f}%" if a.ratio else ""
        rows.append(
            f"{name:<24} {a.rival or '':<14} {time_text(a.nanoseconds):>10} {time_text(b.nanoseconds):>10}"
            f" {a.ratio:>8.2f}x {b.ratio:>8.2f}x {change:>8}  {word if word != 'same' else ''}".rstrip()
        )
    for what, only in (("A", before.keys() - after.keys()), ("B", after.keys() - before.keys())):
        if only:
            rows.append(f"only in {what}: {', '.join(sorted(only))}")
    rows.append(", ".join(f"{count} {word}" for word, count in seen.items() if count))
    return rows


def compare(a: Path, b: Path) -> list[str]:
    return lines(load(a), load(b))
