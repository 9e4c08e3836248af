# SPDX-License-Identifier: Apache-2.0
"""AES.cbc_encrypt_many and the kernel cbc_encrypt_many: many chains, expected values from cryptography."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aes_suites import RowSuite, each_key_size, each_row, message, reference_cbc
from guarded import Guarded

from fastcrypt import AES

KEY, CIPHER = message(32, seed=61), AES(message(32, seed=61))


def reference_many(key: bytes, ivs: list[bytes], datas: list[bytes]) -> list[bytes]:
    return [reference_cbc(key, iv, data) for iv, data in zip(ivs, datas, strict=True)]


def messages(rng: random.Random, blocks: list[int]) -> tuple[list[bytes], list[bytes]]:
    return [rng.randbytes(16) for _ in blocks], [rng.randbytes(16 * n) for n in blocks]


# ---- Rows -----------------------------------------------------------------------------------------


@each_key_size
@each_row
def test_every_number_of_chains_on_every_row(suite: RowSuite, key_size: int) -> None:
    """1 to 40 chains, of 0 to 5 blocks, apart and in place; each iv is its last block afterwards."""
    rng = random.Random(key_size)
    for count in range(1, 41):
        key, blocks = rng.randbytes(key_size), count % 6
        starts, datas = messages(rng, [blocks] * count)
        expected = reference_many(key, starts, datas)
        last = [e[-16:] or iv for e, iv in zip(expected, starts, strict=True)]
        ivs, out, buffer = (
            bytearray(b"".join(starts)),
            bytearray(16 * blocks * count),
            bytearray(b"".join(datas)),
        )
        suite.call("cbc_encrypt_many", key, ivs, b"".join(datas), out)
        assert out == b"".join(expected), count
        assert ivs == b"".join(last), count
        suite.call("cbc_encrypt_many", key, bytearray(b"".join(starts)), buffer, buffer)
        assert buffer == out, count


@each_row
def test_no_chain_on_every_row(suite: RowSuite) -> None:
    suite.call("cbc_encrypt_many", KEY, bytearray(), b"", bytearray())


# ---- The method -----------------------------------------------------------------------------------


def mixes(rng: random.Random) -> Iterator[list[int]]:
    """Numbers of blocks: all alike, rising, falling, many short and one long, any."""
    yield []
    yield [0, 0, 0]
    for count in (1, 2, 7, 8, 9, 31, 32, 33, 64, 100):
        yield [3] * count
        yield [*range(count)]
        yield [*range(count, 0, -1)]
        yield [1] * count + [50] + [1] * count
        yield [rng.choice([0, 1, 2, 3, 20, rng.randrange(200)]) for _ in range(count)]


@each_key_size
def test_any_mix_of_lengths(key_size: int) -> None:
    rng = random.Random(key_size)
    for blocks in mixes(rng):
        key = rng.randbytes(key_size)
        ivs, datas = messages(rng, blocks)
        expected = reference_many(key, ivs, datas)
        cipher, out = AES(key), bytearray(16 * sum(blocks))
        assert cipher.cbc_encrypt_many(ivs, datas) == expected, blocks
        assert cipher.cbc_encrypt_many(b"".join(ivs), datas, out=out) == len(out)
        assert out == b"".join(expected), blocks


def test_any_kind_of_argument() -> None:
    ivs, datas = messages(random.Random(62), [1, 5, 2])
    expected = reference_many(KEY, ivs, datas)
    kinds: list[Callable[[list[bytes]], Any]] = [
        tuple,
        iter,
        lambda items: [bytearray(i) for i in items],
        lambda items: (memoryview(b"x" + i)[1:] for i in items),
    ]
    for kind in kinds:
        assert CIPHER.cbc_encrypt_many(kind(ivs), kind(datas)) == expected
    assert CIPHER.cbc_encrypt_many(bytearray(b"".join(ivs)), datas) == expected
    assert CIPHER.cbc_encrypt_many(ivs=ivs, datas=datas, out=None) == expected
    same = CIPHER.cbc_encrypt_many(ivs, [datas[1]] * 3)
    assert same == reference_many(KEY, ivs, [datas[1]] * 3)


def test_in_place() -> None:
    """Each message where its result goes; the ivs may lie in `out`, they are read first."""
    ivs, datas = messages(random.Random(63), [1, 5, 0, 2, 40, 7])
    expected = b"".join(reference_many(KEY, ivs, datas))
    area = bytearray(b"".join(datas))
    view, at, places = memoryview(area), 0, []
    for data in datas:
        places.append(view[at : at + len(data)])
        at += len(data)
    assert CIPHER.cbc_encrypt_many(ivs, places, out=area) == len(area)
    assert area == expected
    start = bytes(area[16:112])
    CIPHER.cbc_encrypt_many(view[16:112], datas, out=area)
    assert area == b"".join(reference_many(KEY, [start[i : i + 16] for i in range(0, 96, 16)], datas))


def test_guard_pages() -> None:
    names = ("ivs", "a", "b", "c", "out")
    areas = {name: Guarded() for name in names}
    for blocks in ([1, 1, 1], [1, 2, 3], [9, 1, 4], [0, 7, 7]):
        ivs, datas = messages(random.Random(64), blocks)
        for place in (Guarded.at_start, Guarded.at_end):
            values = [b"".join(ivs), *datas, bytes(16 * sum(blocks))]
            v = {name: place(areas[name], value) for name, value in zip(names, values, strict=True)}
            CIPHER.cbc_encrypt_many(v["ivs"], [v["a"], v["b"], v["c"]], out=v["out"])
            assert v["out"] == b"".join(reference_many(KEY, ivs, datas))


def test_long_messages_while_other_threads_run() -> None:
    """Beyond the size from which the GIL is released; a list that is emptied meanwhile is held."""
    rng = random.Random(65)
    ivs, datas = messages(rng, [rng.randrange(500, 3000) for _ in range(40)])
    expected = reference_many(KEY, ivs, datas)
    stop = threading.Event()
    shared: list[Any] = []

    def empty() -> None:
        while not stop.is_set():
            shared.clear()

    thread = threading.Thread(target=empty)
    thread.start()
    try:
        for _ in range(5):
            held = [bytearray(data) for data in datas]
            shared.extend(held)
            assert CIPHER.cbc_encrypt_many(ivs, held) == expected
    finally:
        stop.set()
        thread.join()


IV2, TWO = [bytes(16)] * 2, [bytes(32), bytes(16)]
WRONG: dict[str, tuple[type[Exception], str, Callable[[Any], Any]]] = {
    "fewer ivs": (
        ValueError,
        "ivs must have 2 items, one for each record, received 1",
        lambda f: f(IV2[:1], TWO),
    ),
    "more ivs": (ValueError, "received 3", lambda f: f([bytes(16)] * 3, TWO)),
    "short iv": (
        ValueError,
        r"ivs\[1\] must be 16 bytes, received 15",
        lambda f: f([bytes(16), bytes(15)], TWO),
    ),
    "packed ivs": (
        ValueError,
        "ivs in one buffer must be 16 bytes for each of 2 records, received 31",
        lambda f: f(bytes(31), TWO),
    ),
    "partial block": (
        ValueError,
        r"datas\[1\] must be a multiple of 16 bytes, received 17",
        lambda f: f(IV2, [b"", bytes(17)]),
    ),
    "small out": (ValueError, "out must be 48 bytes, received 47", lambda f: f(IV2, TWO, out=bytearray(47))),
    "read-only out": (TypeError, "out is not writable", lambda f: f(IV2, TWO, out=bytes(48))),
    "str": (TypeError, "datas must be a list of bytes-like objects, not 'str'", lambda f: f(IV2, "text")),
    "no iterable": (TypeError, "not iterable", lambda f: f(IV2, 5)),
    "item": (TypeError, r"datas\[0\] must be a bytes-like object, not 'str'", lambda f: f(IV2, ["a", b""])),
    "iv item": (
        TypeError,
        r"ivs\[1\] must be a bytes-like object, not 'int'",
        lambda f: f([bytes(16), 1], TWO),
    ),
    "strided": (BufferError, "contiguous", lambda f: f(IV2, [b"", memoryview(bytes(64))[::2]])),
    "missing": (TypeError, "missing required argument 'datas'", lambda f: f(IV2)),
    "position": (TypeError, "at most 2 positional", lambda f: f(IV2, TWO, bytearray(48))),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name: str) -> None:
    kind, text, call = WRONG[name]
    with pytest.raises(kind, match=text):
        call(CIPHER.cbc_encrypt_many)


def test_overlaps_are_refused_and_write_nothing() -> None:
    area = bytearray(message(96, seed=66))
    before, view = bytes(area), memoryview(area)
    cases: list[tuple[list[Any], int]] = [
        ([view[16:32], view[32:48]], 0),
        ([view[:16], view[:16]], 1),
        ([view[16:32], view[:16]], 0),
        ([b"", view[1:33]], 1),
    ]
    for datas, index in cases:
        size = sum(map(len, datas))
        with pytest.raises(ValueError, match=rf"out overlaps datas\[{index}\]"):
            CIPHER.cbc_encrypt_many([bytes(16)] * len(datas), datas, out=view[:size])
        assert area == before
