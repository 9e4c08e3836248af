# SPDX-License-Identifier: Apache-2.0
"""Processes that are forked or spawned: no lock is left held, and nothing has to be set again."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from fastcrypt import AESGCM, compare_digest, sha256, sha256_digest

LONG = bytes(range(256)) * 512


def exit_status(child: int) -> int:
    """The child's status, or that of its death if it hangs."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


@contextmanager
def busy_threads(work: Callable[[], object], count: int) -> Iterator[None]:
    stop = threading.Event()

    def loop() -> None:
        while not stop.is_set():
            work()

    threads = [threading.Thread(target=loop) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def in_child(work: Callable[[], bool]) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            os._exit(0 if work() else 1)
        finally:
            os._exit(2)
    return exit_status(child)


def test_two_hundred_forks_while_four_threads_hash() -> None:
    """There is no process-wide lock that a child could inherit held."""
    key = AESGCM(bytes(32))
    sealed = key.encrypt(bytes(12), b"record", None)

    def work() -> bool:
        return (
            sha256(b"abc").digest().startswith(b"\xba\x78\x16\xbf")
            and sha256_digest(LONG) == digest
            and key.decrypt(bytes(12), sealed, None) == b"record"
            and compare_digest(b"a", b"a")
        )

    digest = hashlib.sha256(LONG).digest()
    with busy_threads(lambda: sha256(LONG).update(b"tail"), 4):
        for _ in range(200):
            assert in_child(work) == 0


def test_an_object_goes_on_in_the_child() -> None:
    h = sha256(b"a")

    def work() -> bool:
        h.update(b"b")
        return h.digest() == hashlib.sha256(b"ab").digest()

    assert in_child(work) == 0
    assert h.digest() == hashlib.sha256(b"a").digest()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pools(method: str) -> None:
    messages = [bytes([i]) * i for i in range(40)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context(method).Pool(2) as pool:
            digests = pool.map(sha256_digest, messages)
    assert digests == [hashlib.sha256(message).digest() for message in messages]
