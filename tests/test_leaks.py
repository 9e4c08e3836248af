# SPDX-License-Identifier: Apache-2.0
"""Every public function and method, error paths included, called over and over: nothing is left behind.

5,000 calls; a million with FASTCRYPT_LEAK_CALLS=1000000 (make leaks), where lost memory that CPython does
not count shows in the size of the process. A debug interpreter also counts references to everything.
"""

from __future__ import annotations

import gc
import mmap
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from scan import calls

import fastcrypt

ROUNDS = int(os.environ.get("FASTCRYPT_LEAK_CALLS", "5000"))
WARM_UP = 500

#: Calls that take long, and how much.
SLOW = {"long": 16, "new lock": 16, "sha256_file": 16, "merkle_root": 8, "threads": 50}
COLD = 50

total_references: Callable[[], int] = getattr(sys, "gettotalrefcount", lambda: 0)


def resident_bytes() -> int:
    """Without /proc, or with a sanitizer that keeps what is freed, it is 0: CPython's own counts remain."""
    statm = Path("/proc/self/statm")
    if os.environ.get("FASTCRYPT_SANITIZED"):
        return 0
    return int(statm.read_text().split()[1]) * mmap.PAGESIZE if statm.exists() else 0


def repeat(call: calls.Call, rounds: int) -> None:
    run, error = call
    if error is None:
        for _ in range(rounds):
            run()
        return
    for _ in range(rounds):
        try:
            run()
        except error:
            continue
        raise AssertionError("no error")


def growth(call: calls.Call, rounds: int) -> dict[str, int]:
    """What `rounds` calls leave: blocks, references to shared objects, references in all, memory."""
    shared: list[Any] = [
        *(getattr(fastcrypt, name) for name in fastcrypt.__all__),
        *(calls.KEY, calls.IV, calls.NONCE, calls.AAD, calls.DATA, calls.LONG, calls.AREA, "pkcs7", "gcm"),
    ]
    repeat(call, WARM_UP)
    gc.collect()
    references = [sys.getrefcount(o) for o in shared]
    blocks, total, resident = sys.getallocatedblocks(), total_references(), resident_bytes()
    repeat(call, rounds)
    gc.collect()
    return {
        "resident": resident_bytes() - resident,
        "total": total_references() - total,
        "blocks": sys.getallocatedblocks() - blocks,
        "references": max(abs(sys.getrefcount(o) - r) for o, r in zip(shared, references, strict=True)),
    }


def problems(found: dict[str, int], rounds: int) -> list[str]:
    """A leak in every call, or in every tenth, is far beyond these."""
    limits = {"resident": 4 << 20, "total": 100, "blocks": 100, "references": 20}
    assert rounds >= 200
    return [f"{name} grew by {found[name]}" for name, limit in limits.items() if found[name] > limit]


@pytest.fixture(scope="module", autouse=True)
def earlier_objects_set_aside() -> Iterator[None]:
    """A collection looks at what the calls make, and not at all that the tests before have left."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("name", calls.all_calls())
def test_no_leak(name: str) -> None:
    call = calls.all_calls()[name]
    slower = max((factor for word, factor in SLOW.items() if word in name), default=1)
    rounds = max(ROUNDS // (COLD if name in calls.facts() else slower), 200)
    assert problems(growth(call, rounds), rounds) == []


def test_a_leak_is_seen() -> None:
    """An object kept per call, a reference, and memory that CPython does not count."""
    kept: list[Any] = []
    assert problems(growth(calls.Call(lambda: kept.append(bytes(40))), 1000), 1000)
    kept.clear()
    assert problems(growth(calls.Call(lambda: kept.append(calls.KEY)), 1000), 1000)
    kept.clear()
    assert problems(growth(calls.Call(lambda: kept.append(os.urandom(9000))), 1000), 1000)
