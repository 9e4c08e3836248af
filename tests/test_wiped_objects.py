# SPDX-License-Identifier: Apache-2.0
"""T-f: what fastcrypt frees, leaves on the stack or has anywhere in the process holds no secret.

Twice: a hook in CPython's allocators looks at each block as it is freed, and the memory of a stopped child
is searched from outside. Expected secrets (round keys, H and its powers, hash states) come from
scan/expected.py and not from fastcrypt.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import random
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scan import expected, freed

from fastcrypt import _core

TESTS = Path(__file__).resolve().parent
SETTINGS = ("native", "scalar")

on_linux = pytest.mark.skipif(
    not sys.platform.startswith("linux") or platform.libc_ver()[0] != "glibc", reason="needs glibc and /proc"
)
has_malloc = pytest.mark.skipif(
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="a free-threaded Python has its own malloc"
)


def test_the_expected_secrets_are_right() -> None:
    """FIPS 197 appendix A.1 and 180-4's initial state; an independent SHA-256 of one block."""
    key = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
    assert expected.round_keys(key)[-1].hex() == "d014f9a8c9ee2589e13f0cc8b6630ca6"
    padded = b"abc" + b"\x80" + bytes(59) + b"\x18"
    state = b"".join(word.to_bytes(4, "big") for word in expected.sha256_state(padded))
    assert state == hashlib.sha256(b"abc").digest()
    state = b"".join(word.to_bytes(4, "big") for word in expected.sha1_state(padded))
    assert state == hashlib.sha1(b"abc").digest()
    h = expected.ghash_secrets(key)[0]
    assert expected.ghash_times(int.from_bytes(h, "big"), 1 << 127) == int.from_bytes(h, "big")


def secret_of(case: str, rng: random.Random) -> tuple[bytes, list[bytes]]:
    """A secret for a case, and the pieces that memory must not hold."""
    if freed.kind_of(case) == "message":
        message = rng.randbytes(freed.MESSAGE_BYTES)
        return message, expected.windows([*expected.sha256_secrets(message), *expected.sha1_secrets(message)])
    key = rng.randbytes(freed.KEY_BYTES)
    stream = expected.key_stream(key, freed.NONCE, 7)
    siv = expected.siv_secrets(key, freed.NONCE)
    aes = [*expected.aes_secrets(key), *expected.ghash_secrets(key), stream, *siv]
    return key, expected.windows([*aes, *expected.hmac_secrets(key)])


def environment(setting: str) -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "FASTCRYPT_CPU": setting, "PYTHONPATH": path}


# ---- As it is freed -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("scan") / "freed.so"
    command = ["cc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Wno-unused-parameter"]
    include = f"-I{sysconfig.get_path('include')}"
    source = str(TESTS / "scan/freed.c")
    subprocess.run([*command, "-shared", "-fPIC", include, source, "-o", str(output)], check=True)
    return output


@functools.cache
def answers(library: Path, setting: str) -> dict[str, dict[str, Any]]:
    rng = random.Random(20)
    sent = bytearray()
    for case in freed.CASES:
        secret, pieces = secret_of(case, rng)
        for part in (secret, b"".join(pieces)):
            sent += len(part).to_bytes(8, "little") + part
    command = [sys.executable, "-m", "scan.freed", str(library), *freed.CASES]
    environ = environment(setting) | {"PYTHONMALLOC": "malloc"}
    done = subprocess.run(command, input=bytes(sent), capture_output=True, check=False, env=environ)
    assert done.returncode == 0, done.stderr.decode()
    return {line["case"]: line for line in map(json.loads, done.stdout.splitlines())}


@on_linux
@has_malloc
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("case", freed.CALLS)
def test_a_call_leaves_nothing(library: Path, setting: str, case: str) -> None:
    """No piece of a key, round key, H, hash state or message in a freed block or on the dead stack."""
    answer = answers(library, setting)[case]
    assert (answer["in_freed"], answer["on_stack"]) == (0, 0)


@on_linux
@has_malloc
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("case", freed.OBJECTS)
def test_a_dead_object_is_all_zeros(library: Path, setting: str, case: str) -> None:
    """All that is not public in it, in whatever form the suite keeps its keys there."""
    answer = answers(library, setting)[case]
    assert answer["watched"] >= answer["size"] > 100, "the block was not seen being freed"
    secret = answer["size"] - freed.OBJECTS[case].secret_bytes
    assert secret >= freed.HEADER
    assert [at for at in answer["nonzero"] if at >= secret] == []
    assert (answer["in_freed"], answer["on_stack"]) == (0, 0)


@on_linux
@has_malloc
def test_the_hook_sees_what_is_left(library: Path) -> None:
    found = answers(library, "native")
    assert found["planted stack"]["on_stack"] > 0
    assert found["planted stack"]["in_freed"] == 0
    assert found["planted free"]["in_freed"] > 0


# ---- From outside ---------------------------------------------------------------------------------


def writable_memory(pid: int) -> Iterator[bytes]:
    """Every mapping of the process that can be written."""
    with Path(f"/proc/{pid}/maps").open() as maps, Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for line in maps:
            addresses, permissions, *_ = line.split()
            if not permissions.startswith("rw"):
                continue
            start, end = (int(part, 16) for part in addresses.split("-"))
            memory.seek(start)
            yield memory.read(end - start)


def found_in_stopped(setting: str, *plant: str) -> tuple[set[str], int]:
    """Which secrets a stopped child has in its memory, and how many bytes were searched."""
    key, message = os.urandom(freed.KEY_BYTES), os.urandom(freed.MESSAGE_BYTES)
    secrets = {
        "key": expected.windows([key]),
        "round keys": expected.windows(expected.aes_secrets(key)[3:]),
        "H": expected.windows(expected.ghash_secrets(key)),
        "state": expected.windows(expected.sha256_secrets(message)[:3]),
        "message": expected.windows([message]),
    }
    command = [sys.executable, "-m", "scan.stopped", *plant]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment(setting), bufsize=0)
    assert child.stdin is not None
    try:
        child.stdin.write(key + message)
        child.stdin.close()
        _, status = os.waitpid(child.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status), status
        found, size = set(), 0
        for area in writable_memory(child.pid):
            size += len(area)
            found |= {name for name, pieces in secrets.items() if any(piece in area for piece in pieces)}
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    return found, size


@on_linux
@pytest.mark.parametrize("setting", SETTINGS)
def test_nothing_is_left_in_the_process(setting: str) -> None:
    found, size = found_in_stopped(setting)
    assert found == set()
    assert size > 1 << 20


@on_linux
@pytest.mark.parametrize("plant", ["key", "message"])
def test_the_search_sees_a_copy(plant: str) -> None:
    found, _ = found_in_stopped("native", plant)
    assert found == {plant}


def test_every_type_is_in_the_table() -> None:
    """So that a new one cannot be forgotten."""
    types = {v for v in vars(_core).values() if isinstance(v, type) and not issubclass(v, Exception)}
    secrets = {"key": bytearray(freed.KEY_BYTES), "message": bytearray(freed.MESSAGE_BYTES)}
    assert {type(held.make(secrets[held.kind])) for held in freed.OBJECTS.values()} == types
