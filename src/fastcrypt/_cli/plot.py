# SPDX-License-Identifier: Apache-2.0
"""A bar chart of the ratios: one panel an operation, one bar a peer and size. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import Failure, missing_extra
from .measure import Result
from .table import is_loss, ratio_text, size_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".svg", ".png")
COLOURS = {"hashlib": "#4c72b0", "hmac": "#4c72b0", "cryptography": "#dd8452", "PyCryptodome": "#8172b3"}
BAR = 0.27


def require() -> Any:
    """matplotlib, or one line that says how to get it. Asked before anything is measured."""
    try:
        import matplotlib
    except ImportError:
        raise missing_extra("matplotlib", "--plot") from None
    return matplotlib


def check_name(file: str) -> None:
    if Path(file).suffix.lower() not in FORMATS:
        raise Failure(f"--plot {file}: the name must end in .svg or .png", 2)


def panel(axes: Axes, operation: str, results: Sequence[Result]) -> None:
    for place, result in enumerate(results):
        for index, peer in enumerate(result.peers):
            ratio = result.ratio(peer)
            at = place + (index - (len(result.peers) - 1) / 2) * BAR
            axes.barh(at, ratio, BAR * 0.9, color=COLOURS[peer], hatch="///" if is_loss(ratio) else None)
            axes.text(ratio, at, f" {ratio_text(ratio)}", va="center", fontsize=7)
    axes.set_yticks(range(len(results)), [size_text(result.size) for result in results])
    axes.invert_yaxis()
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xlim(0, 1.25 * max(1.0, *(r.ratio(p) for r in results for p in r.peers)))
    axes.set_title(operation, fontsize=10, loc="left")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def draw(results: Sequence[Result], title: str, file: str) -> None:
    matplotlib = require()
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "fastcrypt"  # the same chart is the same file
    from matplotlib import pyplot
    from matplotlib.patches import Patch

    with_peers = [result for result in results if result.peers]
    panels = [(name, list(group)) for name, group in groupby(with_peers, lambda r: r.operation)]
    rows = -(-len(panels) // 2)
    figure, grid = pyplot.subplots(rows, 2, figsize=(12, 3.1 * rows), squeeze=False)
    for axes, (operation, group) in zip(grid.flat, panels, strict=False):
        panel(axes, operation, group)
    for axes in list(grid.flat)[len(panels) :]:
        axes.axis("off")
    seen = {peer for result in results for peer in result.peers} - {"hmac"}
    handles = [
        Patch(color=colour, label="hashlib / hmac" if peer == "hashlib" else peer)
        for peer, colour in COLOURS.items()
        if peer in seen
    ]
    figure.suptitle(f"Time of the peer divided by the time of fastcrypt\n{title}", fontsize=11)
    figure.legend(handles=handles, loc="lower center", ncols=3, frameon=False)
    figure.tight_layout(rect=(0, 0.03, 1, 0.98))
    try:
        figure.savefig(file, metadata={"Date": None} if file.lower().endswith(".svg") else None)
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}") from None
    finally:
        pyplot.close(figure)
