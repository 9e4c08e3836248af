# SPDX-License-Identifier: Apache-2.0
"""Chained 32-byte hashes in threads, from Python and from C.

    python -m bench.chain [--threads T] [--hashes N]

Every thread begins with 32 zero bytes and hashes its last digest N times, each time through the public
look-up: `fastcrypt.sha256_digest` is an attribute of the module, the kernel an entry of the sealed
table. `hoisted` is the same loop with the function in a local variable, as users of libraries with a
costly look-up write it. The C driver is bench/native/chain.c.
"""

from __future__ import annotations

import argparse
import hashlib
import threading
import time
from collections.abc import Callable
from itertools import repeat
from typing import Any

import fastcrypt

#: N -> the last digest; those below ten millions are hashlib's.
PINNED = {
    1_000: "36c1cb4f826ae42ceba848227e0c5f786178ca9dceca6772e5d728d09c30a2f6",
    100_000: "b422bc9c0646a432433c2410991c95e2d89758e3b4f540aca863389f28a11379",
    10_000_000: "6b4ab10d92373474a97d10639e667f6b734af012f9be29997f1befd1c7166199",
}


class WrongDigest(Exception):
    """The chain did not end where it must."""


def with_look_up(n: int) -> bytes:
    digest = bytes(32)
    for _ in repeat(None, n):
        digest = fastcrypt.sha256_digest(digest)
    return digest


def hoisted(n: int) -> bytes:
    digest, f = bytes(32), fastcrypt.sha256_digest
    for _ in repeat(None, n):
        digest = f(digest)
    return digest


def with_objects(n: int) -> bytes:
    digest = bytes(32)
    for _ in repeat(None, n):
        digest = fastcrypt.sha256(digest).digest()
    return digest


def with_hashlib(n: int) -> bytes:
    digest = bytes(32)
    for _ in repeat(None, n):
        digest = hashlib.sha256(digest).digest()
    return digest


LOOPS: dict[str, Callable[[int], bytes]] = {
    "sha256_digest": with_look_up,
    "sha256_digest, hoisted": hoisted,
    "sha256().digest()": with_objects,
    "hashlib": with_hashlib,
}


def expected(n: int) -> str:
    return PINNED.get(n) or with_hashlib(n).hex()


def run(loop: Callable[[int], bytes], threads: int, n: int, last: str) -> dict[str, Any]:
    """Seconds by the wall clock and of CPU time for `threads` chains of n hashes at once."""
    digests: list[bytes] = []
    cpu: list[float] = []
    start_line = threading.Barrier(threads + 1)

    def work() -> None:
        start_line.wait()
        start = time.thread_time()
        digests.append(loop(n))
        cpu.append(time.thread_time() - start)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    start_line.wait()
    start = time.perf_counter()
    for worker in workers:
        worker.join()
    wall = time.perf_counter() - start
    if {digest.hex() for digest in digests} != {last} or len(digests) != threads:
        raise WrongDigest(f"{loop.__name__}: not {last} after {n} hashes")
    return {"threads": threads, "hashes": n, "ns_wall": wall / n * 1e9, "ns_cpu": max(cpu) / n * 1e9}


def measure(threads: int, n: int) -> dict[str, Any]:
    last = expected(n)
    return {name: run(loop, threads, n, last) for name, loop in LOOPS.items()}


def main() -> None:
    from bench import native_programs

    parser = argparse.ArgumentParser(prog="python -m bench.chain")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--hashes", type=int, default=10_000_000)
    args = parser.parse_args()
    in_c = native_programs.chain(args.threads, args.hashes)
    if in_c["digest"] != expected(args.hashes):
        raise WrongDigest("the C driver")
    print(f"{args.threads} threads, {args.hashes} hashes each; ns a hash by the wall clock and of CPU time")
    print(f"  {'C driver':<24} {max(in_c['ns_wall']):8.1f} {max(in_c['ns_cpu']):8.1f}")
    for name, taken in measure(args.threads, args.hashes).items():
        print(f"  {name:<24} {taken['ns_wall']:8.1f} {taken['ns_cpu']:8.1f}")
    print(f"digest {in_c['digest']}; instructions a hash in C: {native_programs.chain_instructions():.0f}")


if __name__ == "__main__":
    main()
