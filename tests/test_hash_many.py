# SPDX-License-Identifier: Apache-2.0
"""Many messages at once: sha256_many, sha256_rows, sha256_ragged, and the multi-lane rows."""

from __future__ import annotations

import array
import ctypes
import gc
import hashlib
import itertools
import os
import random
import signal
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from guarded import Guarded
from rows import Row

import fastcrypt
from fastcrypt import sha256_many, sha256_ragged, sha256_rows

INITIAL = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
LENGTHS = [*range(301), 447, 448, 449, 511, 512, 513, 575, 576, 640]
SETTINGS = ("scalar", "x86-64", "-sha_ni", "-sha_ni,-avx512", "")


def digest(message: Any) -> bytes:
    return hashlib.sha256(message).digest()


def messages(count: int, seed: int, longest: int = 2000) -> list[bytes]:
    """Random lengths, those on both sides of each block boundary more often, and empty ones."""
    source = random.Random(seed)
    sizes = (0, 1, 55, 56, 63, 64, 65, 111, 112, 119, 120, 127, 128)
    return [
        source.randbytes(source.choice(sizes) if source.random() < 0.5 else source.randrange(longest))
        for _ in range(count)
    ]


# ---- The rows ------------------------------------------------------------------------------------


def padded(message: bytes) -> bytes:
    """FIPS 180-4 section 5.1.1."""
    zeros = -(len(message) + 9) % 64
    return message + b"\x80" + bytes(zeros) + struct.pack(">Q", 8 * len(message))


def lane_states(state: bytes, lanes: int) -> list[bytes]:
    words = struct.unpack(f"={8 * lanes}I", state)
    return [struct.pack(">8I", *words[j::lanes]) for j in range(lanes)]


def lanes_of(row: Row) -> int:
    (found,) = [r["lanes"] for r in fastcrypt._core.rows() if (r["op"], r["name"]) == (row.op, row.name)]
    return int(found)


def run_row(row: Row, batch: list[bytes]) -> list[bytes]:
    """Messages with as many padded blocks, one to a lane."""
    lanes = len(batch)
    state = bytearray(struct.pack(f"={8 * lanes}I", *(word for word in INITIAL for _ in batch)))
    row(state, b"".join(map(padded, batch)))
    return lane_states(bytes(state), lanes)


def test_every_length_in_every_lane_on_every_row(sha256_lanes_row: Row) -> None:
    lanes = lanes_of(sha256_lanes_row)
    for size in LENGTHS:
        batch = [random.Random(size * 16 + j).randbytes(size) for j in range(lanes)]
        assert run_row(sha256_lanes_row, batch) == [digest(m) for m in batch], size


def test_lanes_do_not_mix_on_every_row(sha256_lanes_row: Row) -> None:
    """One lane differs from all others, in turn."""
    lanes = lanes_of(sha256_lanes_row)
    for j in range(lanes):
        batch = [bytes(64)] * lanes
        batch[j] = b"\xff" * 64
        assert run_row(sha256_lanes_row, batch) == [digest(m) for m in batch]


def test_call_kernel_checks_the_sizes_of_lanes(sha256_lanes_row: Row) -> None:
    lanes = lanes_of(sha256_lanes_row)
    state = bytearray(32 * lanes)
    for size in (32 * lanes - 1, 32 * lanes + 4):
        with pytest.raises(ValueError, match="state"):
            sha256_lanes_row(bytearray(size), bytes(64 * lanes))
    for size in (1, 64 * lanes - 1, 64 * lanes + 1):
        with pytest.raises(ValueError, match="data"):
            sha256_lanes_row(state, bytes(size))
    sha256_lanes_row(state, b"")
    assert state == bytes(32 * lanes)


# ---- Against one by one --------------------------------------------------------------------------


@pytest.mark.parametrize("count", [*range(41), 1000, 4095, 4096, 4097, 9001])
def test_many_is_one_by_one(count: int) -> None:
    items = messages(count, count, 2000 if count < 100 else 200)
    assert sha256_many(items) == [digest(m) for m in items]


@pytest.mark.parametrize("size", LENGTHS)
def test_many_of_every_length(size: int) -> None:
    items = [random.Random(size + j).randbytes(size) for j in range(19)]
    expected = [digest(m) for m in items]
    assert sha256_many(items) == expected
    ends = array.array("i", [size * i for i in range(20)])
    assert sha256_ragged(b"".join(items), ends) == b"".join(expected)


@pytest.mark.parametrize("where", [0, 7, 39])
@pytest.mark.parametrize("threads", [1, 3])
def test_one_huge_among_many_small(where: int, threads: int) -> None:
    items = messages(40, where, 100)
    items[where] = random.Random(1).randbytes(3_000_001)
    assert sha256_many(items, threads=threads) == [digest(m) for m in items]


def test_two_huge_ones_end_alone() -> None:
    items = [bytes(1_000_000), b"", b"x" * 700_001, b"y"]
    assert sha256_many(items) == [digest(m) for m in items]


@pytest.mark.parametrize("setting", SETTINGS)
def test_many_on_every_level(setting: str) -> None:
    """What the scheduler does with each lane count and minimum fill."""
    code = """
import hashlib, random, array, fastcrypt
r = random.Random(3)
for count in [*range(40), 333]:
    items = [r.randbytes(r.choice((0, 1, 55, 56, 64, 119, 120, r.randrange(1500)))) for _ in range(count)]
    expected = [hashlib.sha256(m).digest() for m in items]
    assert fastcrypt.sha256_many(items) == expected, count
    ends = array.array("q", [0, *(sum(map(len, items[: i + 1])) for i in range(count))])
    assert fastcrypt.sha256_ragged(b"".join(items), ends) == b"".join(expected), count
for size in (1, 32, 55, 56, 64, 65, 128):
    data = r.randbytes(size * 37)
    expected = b"".join(hashlib.sha256(data[i * size : (i + 1) * size]).digest() for i in range(37))
    assert fastcrypt.sha256_rows(data, size) == expected, size
"""
    environment = dict(os.environ, FASTCRYPT_CPU=setting)
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# ---- Items ---------------------------------------------------------------------------------------


def test_all_kinds_of_buffers() -> None:
    text = b"0123456789abcdef" * 8
    items: list[Any] = [
        text,
        bytearray(text),
        memoryview(text)[3:77],
        array.array("H", [1, 2, 3]),
        type("Bytes", (bytes,), {})(text),
        memoryview(text).cast("B", (8, 16)),
    ]
    assert sha256_many(items) == [digest(m) for m in items]
    assert sha256_many(tuple(items)) == sha256_many(iter(items)) == sha256_many(items)


def test_other_iterables() -> None:
    items = messages(50, 5)
    expected = [digest(m) for m in items]
    assert sha256_many(m for m in items) == expected
    assert sha256_many(dict.fromkeys(items)) == list(dict.fromkeys(expected))

    class Old:
        def __getitem__(self, i: int) -> bytes:
            return items[i]

    assert sha256_many(Old()) == expected  # type: ignore[call-overload]


@pytest.mark.parametrize("items", [b"abc", "abc", None, 5, object(), [b"a", "b"], [b"a", 1], (None,)])
def test_sgx_3_wrong_items(items: Any) -> None:
    with pytest.raises(TypeError):
        sha256_many(items)


@pytest.mark.parametrize("items", [b"abc", "abc"])
def test_bytes_and_str_are_no_items(items: Any) -> None:
    with pytest.raises(TypeError, match="items must be an iterable of bytes-like objects"):
        sha256_many(items)


class Failure(Exception):
    pass


class Tracked(bytearray):
    """Can be weakly referenced."""


@pytest.mark.parametrize("at", [0, 1, 5, 4096, 5000])
def test_an_iterable_that_raises(at: int) -> None:
    alive: list[weakref.ref[Tracked]] = []

    def items() -> Iterator[Tracked]:
        for i in itertools.count():
            if i == at:
                raise Failure
            item = Tracked(b"%d" % i)
            alive.append(weakref.ref(item))
            yield item

    with pytest.raises(Failure):
        sha256_many(items())
    gc.collect()
    assert not any(ref() for ref in alive)


def test_an_item_that_is_no_buffer_releases_the_others() -> None:
    first = bytearray(100)
    strided: Any = memoryview(bytes(20))[::2]
    for wrong, error in ((object(), TypeError), (strided, BufferError)):
        with pytest.raises(error):
            sha256_many([first, wrong])  # type: ignore[list-item]
    first += b"not exported any more"


def test_the_call_holds_its_items() -> None:
    """The list forgets them while the next one is made."""
    held = [bytearray(b"%d" % i * 50) for i in range(200)]
    expected = [digest(m) for m in held]

    def items() -> Iterator[bytearray]:
        while held:
            yield held.pop(0)

    assert sha256_many(items()) == expected


def test_a_list_that_shrinks_and_grows_meanwhile() -> None:
    items: list[Any] = [bytearray(b"x")] * 3000
    running = True

    def change() -> None:
        while running:
            items[:] = [bytes(100)] * 3000
            del items[10:]
            items.extend([bytearray(70)] * 5000)

    thread = threading.Thread(target=change)
    thread.start()
    known = {digest(b"x"), digest(bytes(100)), digest(bytes(70))}
    try:
        for _ in range(20):
            assert set(sha256_many(items, threads=2)) <= known
    finally:
        running = False
        thread.join()


def test_the_same_from_several_threads() -> None:
    items = messages(3000, 9, 300)
    expected = [digest(m) for m in items]
    wrong: list[int] = []

    def work(i: int) -> None:
        if sha256_many(items, threads=1 + i % 2) != expected:
            wrong.append(i)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


# ---- out and threads -----------------------------------------------------------------------------


def test_out_of_many() -> None:
    items = messages(300, 11)
    out = bytearray(300 * 32 + 2)
    view = memoryview(out)[1:-1]
    assert sha256_many(items, out=view) == sha256_many(iter(items), out=view, threads=4) == 9600
    assert bytes(out) == b"\0" + b"".join(map(digest, items)) + b"\0"
    assert sha256_many([], out=bytearray()) == 0


@pytest.mark.parametrize("size", [0, 31, 33, 63, 65, 96])
def test_out_of_the_wrong_size(size: int) -> None:
    items = [b"a", b"b"]
    out = bytearray(b"\xaa" * size)
    for given in (items, tuple(items)):
        with pytest.raises(ValueError, match=rf"out must be 64 bytes for 2 items, received {size}"):
            sha256_many(given, out=out)
        assert out == b"\xaa" * size
    with pytest.raises(ValueError, match="out must be"):
        sha256_many(iter(items), out=out)
    with pytest.raises(ValueError, match=rf"out must be 64 bytes, received {size}"):
        sha256_rows(b"ab", 1, out=out)
    with pytest.raises(ValueError, match=rf"out must be 64 bytes, received {size}"):
        sha256_ragged(b"ab", array.array("i", [0, 1, 2]), out=out)
    assert sha256_rows(b"ab", 1, out=None) == digest(b"a") + digest(b"b")


def test_out_must_be_writable() -> None:
    calls: list[Callable[[Any], Any]] = [
        lambda out: sha256_many([b"a"], out=out),
        lambda out: sha256_rows(b"a", 1, out=out),
        lambda out: sha256_ragged(b"a", array.array("i", [0, 1]), out=out),
    ]
    for call in calls:
        for wrong in (bytes(32), "x" * 32, 5):
            with pytest.raises(TypeError):
                call(wrong)


def test_overlapping_out() -> None:
    area = bytearray(256)
    view = memoryview(area)
    with pytest.raises(ValueError, match="out overlaps an item"):
        sha256_many([view[40:50]], out=view[18:50])
    with pytest.raises(ValueError, match="out overlaps data"):
        sha256_rows(view[:128], 32, out=view[1:129])
    with pytest.raises(ValueError, match="out overlaps data"):
        sha256_rows(view[:8], 2, out=view[:128])  # rows shorter than a digest
    with pytest.raises(ValueError, match="out overlaps data"):
        sha256_ragged(view[:64], array.array("i", [0, 32, 64]), out=view[:64])
    offsets = array.array("i", [0] * 17)
    with pytest.raises(ValueError, match="out overlaps offsets"):
        sha256_ragged(b"", memoryview(offsets)[:2], out=memoryview(offsets).cast("B")[4:36])
    assert area == bytes(256)


@pytest.mark.parametrize("size", [32, 33, 55, 56, 63, 64, 65, 100, 128])
@pytest.mark.parametrize("threads", [1, 4])
def test_rows_in_place(size: int, threads: int) -> None:
    data = random.Random(size).randbytes(size * 2003)
    expected = b"".join(digest(data[i : i + size]) for i in range(0, len(data), size))
    area = bytearray(data)
    assert sha256_rows(area, size, out=memoryview(area)[: len(expected)], threads=threads) == len(expected)
    assert area == expected + data[len(expected) :]


@pytest.mark.parametrize("threads", [2, 3, 64, 1000])
def test_threads_give_the_same(threads: int) -> None:
    items = messages(4000, threads, 500)
    expected = [digest(m) for m in items]
    assert sha256_many(items, threads=threads) == expected
    ends = array.array("q", [0, *itertools.accumulate(map(len, items))])
    assert sha256_ragged(b"".join(items), ends, threads=threads) == b"".join(expected)
    rows = random.Random(1).randbytes(64 * 5000)
    assert sha256_rows(rows, 64, threads=threads) == sha256_rows(rows, 64)


def test_threads_run_at_the_same_time() -> None:
    """The native threads are there, and gone afterwards."""
    most = 0
    rows = bytes(32 << 20)
    done = threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.is_set():
            most = max(most, len(os.listdir("/proc/self/task")))

    watcher = threading.Thread(target=watch)
    watcher.start()
    before = len(os.listdir("/proc/self/task"))
    for _ in range(3):
        sha256_rows(rows, 1 << 20, threads=4)
    done.set()
    watcher.join()
    assert most >= before + 3
    deadline = time.monotonic() + 10  # a thread has told that it is done before it is gone
    while len(os.listdir("/proc/self/task")) >= before:
        assert time.monotonic() < deadline


@pytest.mark.parametrize("threads", [0, -1])
def test_threads_below_one(threads: int) -> None:
    for call in (
        lambda: sha256_many([], threads=threads),
        lambda: sha256_rows(b"", 1, threads=threads),
        lambda: sha256_ragged(b"", array.array("i", [0]), threads=threads),
    ):
        with pytest.raises(ValueError, match=f"threads must be at least 1, received {threads}"):
            call()


def test_threads_of_another_kind() -> None:
    wrong: Any = "2"
    with pytest.raises(TypeError):
        sha256_many([], threads=wrong)
    with pytest.raises(OverflowError):
        sha256_many([], threads=1 << 70)


def test_other_threads_run_meanwhile() -> None:
    """The GIL is released: a thread counts while one call hashes."""
    count, running = 0, True

    def tick() -> None:
        nonlocal count
        while running:
            count += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    time.sleep(0.01)
    before = count
    sha256_rows(bytes(64 << 20), 64 << 20)
    assert count - before >= 5
    running = False
    thread.join()


@pytest.mark.parametrize("call", ["many", "rows", "ragged"])
def test_signals_between_chunks(call: str) -> None:
    """Ctrl-C during a long call: the handler's exception comes within a chunk."""
    data = bytes(96 << 20)
    ends = array.array("q", range(0, len(data) + 1, 64))
    start = time.perf_counter()

    def interrupt(*_: Any) -> None:
        raise Failure

    old = signal.signal(signal.SIGALRM, interrupt)
    calls: dict[str, Callable[[], Any]] = {
        "many": lambda: [sha256_many([data] * 4) for _ in range(30)],
        "rows": lambda: [sha256_rows(data, 64) for _ in range(30)],
        "ragged": lambda: [sha256_ragged(data, ends) for _ in range(30)],
    }
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        with pytest.raises(Failure):
            calls[call]()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert time.perf_counter() - start < 5


# ---- Rows and ragged slices ----------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 31, 32, 55, 56, 63, 64, 65, 119, 120, 127, 128, 129, 1000])
def test_rows_of_every_size(size: int) -> None:
    for count in (0, 1, 2, 3, 15, 16, 17, 70):
        data = random.Random(size * count).randbytes(size * count)
        expected = b"".join(digest(data[i : i + size]) for i in range(0, len(data), size))
        assert sha256_rows(data, size) == expected
        assert sha256_rows(memoryview(bytearray(data)), size) == expected


def test_rows_of_wrong_sizes() -> None:
    with pytest.raises(ValueError, match=r"data must be a multiple of row_size \(64\) bytes, received 65"):
        sha256_rows(bytes(65), 64)
    for size in (0, -64):
        with pytest.raises(ValueError, match=f"row_size must be at least 1, received {size}"):
            sha256_rows(bytes(64), size)
    with pytest.raises(OverflowError):
        sha256_rows(b"", 1 << 64)
    wrong: Any = 1.5
    with pytest.raises(TypeError):
        sha256_rows(b"", wrong)
    with pytest.raises(TypeError):
        sha256_rows("text", 1)  # type: ignore[call-overload]
    with pytest.raises(BufferError):
        sha256_rows(memoryview(bytes(64))[::2], 1)


@pytest.mark.parametrize("kind", ["i", "l", "q", "@i", "@l", "@q"])
def test_kinds_of_offsets(kind: str) -> None:
    packed: Any = memoryview(struct.pack(f"@4{kind[-1]}", 0, 3, 3, 8))
    view = packed.cast(kind)
    assert sha256_ragged(b"abcdefgh", view) == digest(b"abc") + digest(b"") + digest(b"defgh")


@pytest.mark.parametrize("kind", ["<i4", "<i8", "=i4", "=i8"])
def test_kinds_of_numpy_offsets(kind: str) -> None:
    numpy = pytest.importorskip("numpy")
    assert sha256_ragged(b"abcdefgh", numpy.array([0, 3, 8], kind)) == digest(b"abc") + digest(b"defgh")
    with pytest.raises(TypeError, match="offsets must be"):
        sha256_ragged(b"abcdefgh", numpy.array([0, 3, 8], ">i4"))


def test_offsets_of_ctypes() -> None:
    """Their format has a byte order: <i, <l or <q."""
    for number in (ctypes.c_int32, ctypes.c_int64):
        offsets = (number * 3)(0, 3, 8)
        assert sha256_ragged(b"abcdefgh", offsets) == digest(b"abc") + digest(b"defgh")
    with pytest.raises(TypeError, match="offsets must be"):
        sha256_ragged(b"", (ctypes.c_uint32 * 1)(0))


def test_offsets_need_not_begin_at_zero_or_end_at_the_end() -> None:
    assert sha256_ragged(b"abcdefgh", array.array("i", [2, 4])) == digest(b"cd")
    assert sha256_ragged(b"", array.array("i", [0])) == b""
    assert sha256_ragged(b"abc", array.array("i", [3])) == b""
    assert sha256_ragged(b"", array.array("q", [0, 0, 0])) == 2 * digest(b"")


@pytest.mark.parametrize(
    "offsets", [[-1, 0], [0, 9], [4, 3], [0, 8, 7, 8], [9], [-(2**31), 0], [0, 2**31 - 1]]
)
@pytest.mark.parametrize("kind", ["i", "q"])
def test_wrong_offsets(offsets: list[int], kind: str) -> None:
    out = bytearray(b"\xaa" * 32 * (len(offsets) - 1))
    with pytest.raises(ValueError, match=r"offsets\[\d\] must be \d to 8, received"):
        sha256_ragged(bytes(8), array.array(kind, offsets), out=out)
    assert set(out) <= {0xAA}


def test_offsets_beyond_64_bits_cannot_wrap() -> None:
    for last in (2**63 - 1, -(2**63)):
        with pytest.raises(ValueError, match="offsets"):
            sha256_ragged(bytes(8), array.array("q", [0, last]))


def test_wrong_kinds_of_offsets() -> None:
    kinds: list[Any] = [b"12345678", *(array.array(kind, [0]) for kind in "IhHQdf"), [0], None]
    for wrong in kinds:
        with pytest.raises(TypeError, match="offsets must be"):
            sha256_ragged(b"", wrong)
    with pytest.raises(TypeError, match="offsets must be a one-dimensional array"):
        sha256_ragged(b"", memoryview(bytes(16)).cast("i", (2, 2)))
    with pytest.raises(ValueError, match="at least one"):
        sha256_ragged(b"", array.array("i"))
    with pytest.raises(BufferError):
        sha256_ragged(b"", memoryview(array.array("i", [0, 1, 2, 3]))[::2])


def test_offsets_that_change_meanwhile() -> None:
    """Another thread writes nonsense into them: an error or some digests, but never a crash."""
    data = bytes(1 << 20)
    right = array.array("q", range(0, len(data) + 1, 64))
    offsets = array.array("q", right)
    running = True

    def change() -> None:
        source = random.Random(1)
        while running:
            offsets[source.randrange(len(offsets))] = source.choice((-1, 2**62, 0, len(data)))
            offsets[:] = right

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(100):
            try:
                sha256_ragged(data, offsets, threads=2)
            except ValueError:
                continue
    finally:
        running = False
        thread.join()


def test_many_messages_ragged_over_several_slices() -> None:
    source = random.Random(8)
    sizes = [source.choice((0, 10, 64, 70000, 900)) for _ in range(1500)]
    ends = array.array("q", [0, *itertools.accumulate(sizes)])
    data = source.randbytes(ends[-1])
    expected = b"".join(digest(data[a:b]) for a, b in itertools.pairwise(ends))
    assert sha256_ragged(data, ends) == expected


def test_numpy_arrays() -> None:
    numpy = pytest.importorskip("numpy")
    table = numpy.arange(640, dtype=numpy.uint8).reshape(10, 64)
    out = numpy.zeros((10, 32), numpy.uint8)
    assert sha256_rows(table, 64, out=out) == 320
    assert [bytes(row) for row in out] == sha256_many(list(table)) == [digest(row.tobytes()) for row in table]
    with pytest.raises((BufferError, ValueError)):
        sha256_rows(table[:, ::2], 32)


@pytest.mark.parametrize("size", [1, 55, 64, 100])
def test_guard_pages(size: int) -> None:
    """Data against unmapped pages on both sides, so does the output."""
    data = random.Random(size).randbytes(size * 33)
    expected = b"".join(digest(data[i : i + size]) for i in range(0, len(data), size))
    pages = Guarded()
    for place in (pages.at_end, pages.at_start):
        view = place(data)
        assert sha256_rows(view, size) == expected
        assert sha256_ragged(view, array.array("i", range(0, len(data) + 1, size))) == expected
        assert b"".join(sha256_many([view[i : i + size] for i in range(0, len(data), size)])) == expected


# ---- Arguments -----------------------------------------------------------------------------------


def test_sgx_3_arguments() -> None:
    anything: Any = fastcrypt
    with pytest.raises(TypeError, match="missing required argument 'items'"):
        anything.sha256_many()
    with pytest.raises(TypeError, match="at most 1 positional"):
        anything.sha256_many([], None)
    with pytest.raises(TypeError, match="unexpected keyword argument 'thread'"):
        anything.sha256_many([], thread=1)
    with pytest.raises(TypeError, match="missing required argument 'row_size'"):
        anything.sha256_rows(b"")
    with pytest.raises(TypeError, match="missing required argument 'offsets'"):
        anything.sha256_ragged(b"")
    assert sha256_many(items=[b"a"]) == [digest(b"a")]
    assert sha256_rows(data=b"a", row_size=1) == digest(b"a")
    assert sha256_ragged(data=b"a", offsets=array.array("i", [0, 1])) == digest(b"a")
