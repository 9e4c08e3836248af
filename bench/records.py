# SPDX-License-Identifier: Apache-2.0
"""Records under one key, as a TLS connection encrypts them: rates, allocations, where the time goes.

    python -m bench.records           # tables: every size, 128 and 256 bits, kept and new keys, two threads
    python -m bench.records callgrind # which functions the instructions of a 19,456-byte record go to

callgrind counts instructions, not time, and its CPU has AES-NI and AVX2; the shares of time are from
parts that are timed on their own. The limit is that of AES rounds alone, ten or fourteen a block, at the
widest that the CPU has: calibrated in the same run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import fastcrypt
from bench import cases
from bench.cases import NONCE, RECORD, RECORD_SIZES, message
from bench.interleaved import Case, Contender, Effort, make_loop, measure, undisturbed
from bench.native_programs import OUTPUT, ROOT, aes_rounds, run_compiler

# ---- Instructions ---------------------------------------------------------------------------------

RECORDS = 10
PROGRAM = f"""\
import sys
sys.path.insert(0, {str(Path(fastcrypt.__file__).parents[1])!r})
from fastcrypt import AESGCM
into = AESGCM(bytes(16)).encrypt_into
record, out = bytes({RECORD}), bytearray({RECORD} + 16)
for i in range({RECORDS}):
    into(bytes(12), record, None, out)
"""
COPYING = re.compile(r"mem(cpy|move|pcpy)|strcpy")


def functions(profile: str) -> dict[str, int]:
    """Function -> instructions of its own, from a callgrind file without compressed names or positions."""
    found: dict[str, int] = {}
    name, is_call = "", False
    for line in profile.splitlines():
        if line.startswith("fn="):
            name = line.removeprefix("fn=")
        elif line.startswith("calls="):
            is_call = True  # the next line is what the callee took
        elif match := re.match(r"[\d+*-]\S* (\d+)$", line):
            if not is_call:
                found[name] = found.get(name, 0) + int(match[1])
            is_call = False
    return found


def instructions() -> dict[str, Any] | None:
    """Below encrypt_into: the share of each function, and the instructions a record of those that copy.

    None without valgrind.
    """
    if shutil.which("valgrind") is None:
        return None
    OUTPUT.mkdir(parents=True, exist_ok=True)
    profile = OUTPUT / "record.callgrind"
    command = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={profile}",
               "--compress-strings=no", "--compress-pos=no",
               "--toggle-collect=fc::(anonymous namespace)::encrypt_into*",
               sys.executable, "-I", "-S", "-c", PROGRAM]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    counted = functions(profile.read_text())
    total = sum(counted.values())
    largest = sorted(counted.items(), key=lambda pair: -pair[1])
    return {
        "instructions_a_record": total / RECORDS,
        "shares": {name: count / total for name, count in largest if count >= total / 1000},
        "copying": {name: count / RECORDS for name, count in largest if COPYING.search(name)},
    }


# ---- Allocations ----------------------------------------------------------------------------------

ALLOCATIONS = f"""\
import ctypes, json, sys
sys.path[:0] = [{str(Path(fastcrypt.__file__).parents[1])!r}, {str(ROOT)!r}]
from bench import cases
from bench.interleaved import make_loop
counted = ctypes.CDLL(sys.argv[1]).malloc_calls
counted.restype = ctypes.c_long
found = {{}}
def calls(loop, passes):
    before = counted()
    loop(passes)
    return counted() - before
for size in cases.RECORD_SIZES:
    for contender in cases.record_case(size, 256, "kept").contenders:
        loop = make_loop(contender, 1)
        calls(loop, 10)
        found[f"{{size}} {{contender.name}}"] = (calls(loop, 1010) - calls(loop, 10)) / 1000
print(json.dumps(found))
"""


@cache
def allocations() -> dict[str, float]:
    """ "SIZE CONTENDER" -> calls of malloc a record, all objects included: CPython's pools are off."""
    if not sys.platform.startswith("linux"):
        return {}
    OUTPUT.mkdir(parents=True, exist_ok=True)
    library = OUTPUT / "allocations.so"
    include = f"-I{sysconfig.get_path('include')}"
    run_compiler(["-O1", "-shared", "-fPIC", include, "tests/allocations.c", "-o", str(library)])
    environment = {**os.environ, "LD_PRELOAD": str(library), "PYTHONMALLOC": "malloc"}
    command = [sys.executable, "-c", ALLOCATIONS, str(library)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


# ---- The limit ------------------------------------------------------------------------------------


@cache
def round_ns_a_byte() -> float:
    """What one AES round takes at the widest, for each byte."""
    width, nanoseconds = max(aes_rounds().items())
    return nanoseconds / width


def limit_ns(size: int, bits: int) -> float:
    """A record's AES rounds alone, at full throughput."""
    return size * {128: 10, 256: 14}[bits] * round_ns_a_byte()


# ---- Threads --------------------------------------------------------------------------------------


def two_threads(contender: Contender, records: int, threads: int = 2) -> float:
    """Nanoseconds of the wall a record, when threads of their own buffers share one key."""
    start = threading.Barrier(threads + 1)

    def work() -> None:
        names = dict(contender.names)
        if "out" in names:
            names["out"] = bytearray(names["out"])
        loop = make_loop(replace(contender, names=names), 1)
        start.wait()
        loop(records)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    start.wait()
    begin = time.perf_counter_ns()
    for worker in workers:
        worker.join()
    return (time.perf_counter_ns() - begin) / records / threads


# ---- Where the time goes (T-i) --------------------------------------------------------------------


def parts_case(size: int, bits: int) -> Case:
    """A record, and what it would be without its bytes; a key's set-up; a copy, were there one."""
    key = cases.KEY[: bits // 8]
    aead = fastcrypt.AESGCM(key)
    names: dict[str, Any] = {"into": aead.encrypt_into, "AESGCM": fastcrypt.AESGCM, "k": key, "n": NONCE}
    names |= {"m": message(size), "out": bytearray(size + 16), "tag": bytearray(16)}
    contenders = [
        Contender("encrypt_into", "into(n, m, None, out)", names),
        Contender("empty message", "into(n, b'', None, tag)", names),
        Contender("key set-up", "AESGCM(k)", names),
        Contender("one copy", f"out[:{size}] = m", names),
    ]
    return Case(f"parts of a record, {bits} bits", size, contenders, same_answers=False)


def shares(size: int, bits: int, effort: Effort) -> dict[str, float]:
    """Shares of encrypt_into's time, and of the limit."""
    result = measure(parts_case(size, bits), effort)
    whole, call, set_up, copy = (result.median(c) for c in result.statements)
    return {
        "bulk": (whole - call) / whole,
        "call": call / whole,
        "copying": 0.0,  # callgrind shows it
        "a copy would be": copy / whole,
        "key set-up, were it for one record": set_up / (whole + set_up),
        "of the limit": limit_ns(size, bits) / whole,
    }


# ---- Tables ---------------------------------------------------------------------------------------


def rates(effort: Effort) -> Iterator[str]:
    libraries = "fastcrypt | into | two threads | cryptography | into | two threads"
    yield f"| records | {libraries} | ratio | into | allocations |"
    yield "| --- |" + " ---: |" * 9
    for case in cases.record_cases():
        result = measure(case, effort)
        cells = []
        for library in ("fastcrypt", "cryptography"):
            of_library = [c for c in case.contenders if c.name.startswith(library)]
            cells += [f"{1e9 / result.median(c.name):,.0f}" for c in of_library]
            both = min(two_threads(of_library[-1], round(2e7 / result.median(library))) for _ in range(5))
            cells.append(f"{1e9 / both:,.0f}")
        ratios = [
            f"{result.median('cryptography' + w) / result.median('fastcrypt' + w):.2f}x"
            for w in ("", " into")
        ]
        counts = [f"{allocations()[f'{case.size} {c.name}']:.0f}" for c in case.contenders]
        yield f"| {case.name} | " + " | ".join([*cells, *ratios, ", ".join(counts)]) + " |"


def time_shares(effort: Effort) -> Iterator[str]:
    yield "| record | bulk | call, nonce, tag | copying | key set-up, were it for one | of the limit |"
    yield "| --- |" + " ---: |" * 5
    for bits in (128, 256):
        for size in RECORD_SIZES:
            part = shares(size, bits, effort)
            shown = [
                part[k]
                for k in ("bulk", "call", "copying", "key set-up, were it for one record", "of the limit")
            ]
            yield f"| {size} B, {bits} bits | " + " | ".join(f"{100 * s:.1f}%" for s in shown) + " |"


def tables(effort: Effort) -> Iterator[str]:
    width, nanoseconds = max(aes_rounds().items())
    yield "Records a second. Allocations are those of fastcrypt, into, cryptography, into, every object of"
    yield "CPython's included: that of `encrypt_into` is the int it returns, where that is above 256.\n"
    yield from rates(effort)
    yield f"\nThe limit: one AES round of {width} bytes in {nanoseconds:.4f} ns.\n"
    yield from time_shares(effort)


def show_instructions() -> None:
    result = instructions()
    if result is None:
        sys.exit("no valgrind")
    print(f"{result['instructions_a_record']:.0f} instructions a record")
    for function, share in result["shares"].items():
        print(f"{100 * share:6.2f}%  {function}")
    print("instructions a record in functions that copy:", result["copying"] or "none")


if __name__ == "__main__":
    if sys.argv[1:] == ["callgrind"]:
        show_instructions()
    else:
        with undisturbed():
            for line in tables(Effort(rounds=15, sample=0.002)):
                print(line, flush=True)
