# SPDX-License-Identifier: Apache-2.0
"""The results as one table: in colour on a terminal where rich is installed, else as plain text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby

from .measure import Result

#: One column a peer; hashlib and hmac never meet in one row.
PEERS = (("hashlib / hmac", ("hashlib", "hmac")), ("cryptography",) * 2, ("PyCryptodome",) * 2)


def size_text(size: int) -> str:
    for unit, name in ((1024 * 1024, "MiB"), (1024, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def time_text(seconds: float) -> str:
    for scale, unit in ((1e-3, "ms"), (1e-6, "us")):
        if seconds >= scale:
            return f"{seconds / scale:.{2 if seconds < 100 * scale else 0}f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def is_loss(ratio: float) -> bool:
    return round(ratio, 2) < 1


def ratio_text(ratio: float) -> str:
    """'4.1x', or '0.93x slower' where the peer is faster."""
    decimals = 2 if ratio < 9.95 else 1 if ratio < 99.5 else 0
    return f"{ratio:.{decimals}f}x{' slower' if is_loss(ratio) else ''}"


def peer_cell(result: Result, names: Sequence[str] | str) -> tuple[str, str, bool]:
    """Time, ratio, and whether it is a loss."""
    for name in (names,) if isinstance(names, str) else names:
        if name in result.samples:
            ratio = result.ratio(name)
            return time_text(result.median(name)), ratio_text(ratio), is_loss(ratio)
    return "-", "", False


def columns(results: Sequence[Result]) -> list[tuple[str, Sequence[str] | str]]:
    """The peers that are in some result."""
    seen = {name for result in results for name in result.samples}
    return [
        (title, names)
        for title, names in PEERS
        if seen.intersection((names,) if isinstance(names, str) else names)
    ]


def plain(results: Sequence[Result]) -> list[str]:
    peers = columns(results)
    head = f"{'':<24}{'':>8}{'fastcrypt':>11}" + "".join(f"{title:>27}" for title, _ in peers)
    lines = [head]
    for operation, group in groupby(results, lambda result: result.operation):
        for index, result in enumerate(group):
            line = f"{operation if index == 0 else '':<24}{size_text(result.size):>8}"
            line += f"{time_text(result.median('fastcrypt')):>11}"
            for _, names in peers:
                time, ratio, _ = peer_cell(result, names)
                line += f"{time:>13} {ratio:<13}"
            lines.append(line.rstrip())
    return lines


def coloured(results: Sequence[Result]) -> bool:
    """Print with rich, if it is there."""
    try:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        return False
    table = Table(pad_edge=False, box=None, header_style="bold")
    table.add_column("")
    for title in ("size", "fastcrypt"):
        table.add_column(title, justify="right")
    peers = columns(results)
    for title, _ in peers:
        table.add_column(title, justify="right")
        table.add_column("")
    for operation, group in groupby(results, lambda result: result.operation):
        for index, result in enumerate(group):
            cells = [Text(operation if index == 0 else ""), Text(size_text(result.size))]
            cells.append(Text(time_text(result.median("fastcrypt"))))
            for _, names in peers:
                time, ratio, loss = peer_cell(result, names)
                cells += [Text(time), Text(ratio, style="red" if loss else "green")]
            table.add_row(*cells)
    Console().print(table)
    return True


def show(results: Sequence[Result]) -> None:
    if sys.stdout.isatty() and coloured(results):
        return
    for line in plain(results):
        print(line)
