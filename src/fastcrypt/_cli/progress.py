# SPDX-License-Identifier: Apache-2.0
"""A progress bar on stderr: on a terminal, after a second, and only where rich is installed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

PATIENCE = 1.0  # seconds without a bar

T = TypeVar("T")


def on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def rich_bar(*, data: bool) -> Progress | None:
    try:
        from rich import progress
        from rich.console import Console
    except ImportError:
        return None
    amounts: list[ProgressColumn] = [progress.MofNCompleteColumn()]
    if data:
        amounts = [progress.DownloadColumn(binary_units=True), progress.TransferSpeedColumn()]
    return progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        *amounts,
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )


class Bar:
    """Counts work, and shows it once it has taken long enough."""

    def __init__(self, total: float | None, *, data: bool = True) -> None:
        self._total = total
        self._data = data
        self._done = 0
        self._label = ""
        self._wanted = on_terminal()
        self._start = time.monotonic()
        self._rich: Progress | None = None

    def label(self, text: str) -> None:
        self._label = text

    def advance(self, amount: int) -> None:
        self._done += amount
        if self._rich is None:
            if not self._wanted or time.monotonic() - self._start < PATIENCE:
                return
            self._begin()
        if self._rich is not None:
            self._rich.update(self._rich.task_ids[0], completed=self._done, description=self._label)

    def _begin(self) -> None:
        self._wanted = False  # asked once; without rich there is no bar
        self._rich = rich_bar(data=self._data)
        if self._rich is not None:
            self._rich.add_task(self._label, total=self._total, completed=self._done)
            self._rich.start()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """While lines go to the same terminal."""
        if self._rich is None:
            yield
            return
        self._rich.stop()
        try:
            yield
        finally:
            self._rich.start()

    def close(self) -> None:
        self._wanted = False
        if self._rich is not None:
            self._rich.stop()
            self._rich = None


def steps(items: Sequence[T], label: str) -> Iterator[T]:
    """The items, with a bar that counts them."""
    bar = Bar(len(items), data=False)
    bar.label(label)
    try:
        for item in items:
            yield item
            bar.advance(1)
    finally:
        bar.close()
