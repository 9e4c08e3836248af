# SPDX-License-Identifier: Apache-2.0
"""The plots of a report, as SVG: ratios as bars, nanoseconds a call over the sizes as lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.interleaved import size_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Results = Sequence[dict[str, Any]]

PARITY = 0.98
WIN, LOSS, EVEN = "#2a7f62", "#b3412e", "#8a8a8a"
LINES = {"fastcrypt": "#2a7f62", "hashlib": "#4c72b0", "hmac": "#4c72b0", "cryptography": "#dd8452",
         "PyCryptodome": "#8172b3", "_sha2": "#937860", "_sha256": "#937860"}  # fmt: skip


def by_operation(results: Results) -> list[tuple[str, list[dict[str, Any]]]]:
    """The operations that stand beside a rival at several sizes."""
    ordered = sorted(results, key=lambda result: (result["operation"], result["size"]))
    groups = [(name, list(group)) for name, group in groupby(ordered, lambda r: str(r["operation"]))]
    return [(name, group) for name, group in groups if "fastcrypt" in group[0]["samples"]]


def colour(ratio: float) -> str:
    if ratio < PARITY:
        return LOSS
    return EVEN if ratio < 1 / PARITY else WIN


def label_of(name: str) -> str:
    """Legends leave out what begins with an underscore, as CPython's own modules do."""
    return f"CPython's {name}" if name.startswith("_") else name


def ratio_panel(axes: Axes, operation: str, group: Results) -> None:
    """Bars begin at 1 on a logarithmic scale; the line over a bar's end joins the quartiles."""
    rival = next(iter(group[0]["ratio"]))
    for place, result in enumerate(group):
        ratio = result["ratio"][rival]
        middle = ratio["median"]
        axes.barh(place, middle - 1, 0.7, left=1, color=colour(middle))
        axes.plot([ratio["low"], ratio["high"]], [place, place], color="black", linewidth=1)
        axes.text(max(ratio["high"], 1) * 1.05, place, f"{middle:.2f}x", va="center", fontsize=7)
    ratios = [result["ratio"][rival]["median"] for result in group]
    axes.set_xscale("log")
    axes.set_xlim(min(0.4, *ratios), 3 * max(1, *ratios))
    axes.set_yticks(range(len(group)), [size_text(result["size"]) for result in group])
    axes.invert_yaxis()
    axes.axvline(1, color="black", linewidth=1)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}x")
    axes.xaxis.set_minor_formatter(lambda value, _: "")
    axes.set_title(f"{operation} against {rival}", fontsize=9, loc="left")


def time_panel(axes: Axes, operation: str, group: Results) -> None:
    """Size 0 stands where 8 bytes would: a logarithmic axis has no place for it."""
    for name in group[0]["samples"]:
        measured = [result for result in group if name in result["samples"]]
        sizes = [max(8, result["size"]) for result in measured]
        axes.plot(sizes, [result["median"][name] for result in measured], marker=".", linewidth=1.2,
                  label=label_of(name), color=LINES.get(name))  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ticks = [max(8, result["size"]) for result in group]
    axes.set_xticks(ticks, [size_text(result["size"]) for result in group], fontsize=6, rotation=45)
    axes.set_ylabel("ns a call", fontsize=7)
    axes.set_title(operation, fontsize=9, loc="left")
    axes.legend(fontsize=6, frameon=False)


def grid(results: Results, title: str, file: Path, panel: Any) -> None:
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "fastcrypt"  # the same plot is the same file
    from matplotlib import pyplot

    groups = [(name, group) for name, group in by_operation(results) if len(group) > 1]
    if not groups:
        groups = by_operation(results)
    rows = (len(groups) + 1) // 2
    figure, places = pyplot.subplots(rows, 2, figsize=(11, 0.6 + 2.6 * rows), squeeze=False)
    for axes, (operation, group) in zip(places.flat, groups, strict=False):
        panel(axes, operation, group)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    for axes in list(places.flat)[len(groups) :]:
        axes.axis("off")
    figure.suptitle(title, fontsize=10)
    figure.tight_layout(rect=(0, 0, 1, 0.99))
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


def draw(results: Results, machine: str, directory: Path) -> list[str]:
    """Write ratios.svg and times.svg."""
    if not by_operation(results):
        return []
    grid(results, f"Times as fast as the rival (green: win, red: loss)\n{machine}",
         directory / "ratios.svg", ratio_panel)  # fmt: skip
    grid(results, f"Time a call, medians\n{machine}", directory / "times.svg", time_panel)
    return ["ratios.svg", "times.svg"]
