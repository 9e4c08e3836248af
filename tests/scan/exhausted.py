# SPDX-License-Identifier: Apache-2.0
"""In a child: every call with CPython's allocations failing from the first, second, ... one on.

    python -m scan.exhausted

Prints the name of each call before it runs, then how often it raised MemoryError, what was wrong and how
many blocks another sweep left behind, as JSON. The import itself is not swept: pybind11 ends the process
when it cannot make its own types.
"""

from __future__ import annotations

import _testcapi
import gc
import json
import sys
from collections.abc import Callable
from typing import Any

#: How many allocations are looked at: more than any hot call makes, and than most cold ones.
HOT, COLD = 40, 150

#: A block lost per sweep is told from what CPython caches by losing it so often.
SWEEPS = 4


def attempt(run: Callable[[], Any], first: int, last: int) -> tuple[Any, BaseException | None]:
    """run() with allocations `first` to `last` (0: all later ones) failing."""
    error = None
    result = None
    _testcapi.set_nomemory(first, last)
    try:
        result = run()
    except BaseException as caught:
        error = caught
    finally:
        _testcapi.remove_mem_hooks()
    return result, error


def outcome(run: Callable[[], Any]) -> Any:
    """What it returns, or the class of what it raises."""
    try:
        return run()
    except Exception as error:
        return type(error)


#: Other exceptions that mean no memory. CPython loses an exception when it cannot allocate the frame for its
#: traceback (len(5) does so too); pybind11 has words of its own.
INTERPRETERS_OWN = ("without exception set", "without setting an exception")
PYBIND11S_OWN = ("Could not allocate", "REPLACED BY MemoryError", "incompatible function arguments")


def means_no_memory(error: BaseException | None, wanted: Any, cold: bool) -> bool:
    if isinstance(error, SystemError):
        return isinstance(wanted, type) and str(error).endswith(INTERPRETERS_OWN)
    if cold and isinstance(error, RuntimeError | TypeError):
        return any(words in str(error) for words in PYBIND11S_OWN)
    return isinstance(error, MemoryError)


def sweep(run: Callable[[], Any], most: int) -> tuple[int, list[str]]:
    """Let each allocation fail alone, with the seven behind it, and with all behind it.

    The last not for calls that raise, and not through pybind11: CPython 3.11 ends the process when it can
    never normalise an exception.
    """
    wanted = outcome(run)
    refused, wrong = 0, []
    for first in range(most):
        for last in (first + 1, first + 8) + (() if isinstance(wanted, type) or most > HOT else (0,)):
            result, error = attempt(run, first, last)
            got = result if error is None else type(error)
            if means_no_memory(error, wanted, most > HOT):
                refused += 1
            elif got != wanted:
                wrong.append(f"{first} to {last}: {got!r} ({error}) instead of {wanted!r}")
            del result, error, got
    if outcome(run) != wanted:
        wrong.append("another answer afterwards")
    return refused, wrong


def live_blocks() -> int:
    """Without those that CPython's cache of attribute names keeps."""
    gc.collect()
    sys._clear_type_cache()
    return sys.getallocatedblocks()


def grown_by(run: Callable[[], Any], most: int) -> int:
    before = live_blocks()
    for _ in range(SWEEPS):
        sweep(run, most)
    return live_blocks() - before


def sweep_calls() -> None:
    from .calls import facts, hot_calls

    for most, calls in ((HOT, hot_calls()), (COLD, facts())):
        for name, call in calls.items():
            print(json.dumps({"begin": name}), flush=True)
            refused, wrong = sweep(call.run, most)
            grown = min(grown_by(call.run, most) for _ in range(2))
            print(json.dumps({"name": name, "refused": refused, "wrong": wrong, "grown": grown}), flush=True)


if __name__ == "__main__":
    sweep_calls()
