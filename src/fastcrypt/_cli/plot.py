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
    """Bars begin at 1 on a logarithmic scale: to the right fastcrypt is faster, to the left slower."""
    for place, result in enumerate(results):
        for index, peer in enumerate(result.peers):
            ratio = result.ratio(peer)
            at = place + (index - (len(result.peers) - 1) / 2) * BAR
            hatch = "////" if is_loss(ratio) else None
            axes.barh(at, ratio - 1, BAR * 0.9, left=1, color=COLOURS[peer], hatch=hatch)
            axes.text(max(ratio, 1), at, f" {ratio_text(ratio)}", va="center", fontsize=7)
    ratios = [result.ratio(peer) for result in results for peer in result.peers]
    axes.set_xscale("log")
    axes.set_xlim(min(0.5, 0.8 * min(ratios)), 3 * max(1.0, *ratios))
    axes.set_yticks(range(len(results)), [size_text(result.size) for result in results])
    axes.invert_yaxis()
    axes.axvline(1, color="black", linewidth=1)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}x")
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
    heights = [max(len(group) for _, group in panels[at : at + 2]) + 2 for at in range(0, len(panels), 2)]
    figure, grid = pyplot.subplots(
        len(heights), 2, figsize=(12, 1 + 0.5 * sum(heights)), squeeze=False, height_ratios=heights
    )
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
