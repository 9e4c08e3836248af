# SPDX-License-Identifier: Apache-2.0
"""The constant-time compares: every kernel row, and the functions on them (rows CD, FB, BC)."""

from __future__ import annotations

import array
import hmac
import itertools
import random
import re
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import buffers
import numpy as np
import pytest
from buffers import hostile, outcome
from guarded import PAGE, Guarded, zeros
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import Row

import fastcrypt

# They are called in every wrong way below, so without their types.
compare_digest: Any = fastcrypt.compare_digest
timingsafe_bcmp: Any = fastcrypt.timingsafe_bcmp
timingsafe_equal: Any = fastcrypt.timingsafe_equal
timingsafe_memcmp: Any = fastcrypt.timingsafe_memcmp

#: The functions by what they say of equal and of unequal operands.
EQUALITIES: dict[str, tuple[Callable[[Any, Any], Any], Any, Any]] = {
    "compare_digest": (compare_digest, True, False),
    "timingsafe_equal": (timingsafe_equal, True, False),
    "timingsafe_bcmp": (timingsafe_bcmp, 0, 1),
}
each_equality = pytest.mark.parametrize(("function", "equal", "unequal"), EQUALITIES.values(), ids=EQUALITIES)

FUNCTIONS = {f.__name__: f for f in (compare_digest, timingsafe_equal, timingsafe_bcmp, timingsafe_memcmp)}
each_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
on_buffers_only = pytest.mark.parametrize("function", [timingsafe_bcmp, timingsafe_memcmp])

LENGTHS = [*range(301), 511, 512, 513, 1023, 1024, 1025, 4095, 4096, 4097]


def message(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def order(a: bytes, b: bytes) -> int:
    return (a > b) - (a < b)


def some_bits(size: int, rng: random.Random) -> list[int]:
    """One bit of each of: the first and last bytes, both sides of each 16, and some in between."""
    positions = {0, 1, size - 1, size - 2, size // 2, *(rng.randrange(size) for _ in range(4))}
    positions |= {p + d for p in range(16, size, 16) for d in (-1, 0)} if size <= 300 else set()
    return [8 * p + rng.randrange(8) for p in sorted(positions) if 0 <= p < size]


# ---- Kernels --------------------------------------------------------------------------------------


def test_fb_3_bcmp_every_length_on_every_row(timingsafe_bcmp_row: Row) -> None:
    """Every length, single bits; tests/native/bitflip.c flips each bit of each byte."""
    rng = random.Random(2)
    for size in LENGTHS:
        a = message(size, seed=size)
        assert timingsafe_bcmp_row(a, bytes(bytearray(a))) == 0, size
        if size:
            for bit in some_bits(size, rng):
                assert timingsafe_bcmp_row(a, flipped(a, bit)) == 1, (size, bit)


def test_fb_3_every_bit_of_every_byte_on_every_row(timingsafe_bcmp_row: Row) -> None:
    for size in (1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 128, 130):
        a = message(size, seed=size)
        for bit in range(8 * size):
            assert timingsafe_bcmp_row(a, flipped(a, bit)) == 1, (size, bit)


def test_fb_3_differences_that_cancel_on_every_row(timingsafe_bcmp_row: Row) -> None:
    """The same mask at two places: a sum or an XOR over the bytes would see nothing."""
    rng = random.Random(3)
    for size in range(2, 301):
        a = message(size, seed=size)
        for _ in range(6):
            i, j = rng.sample(range(size), 2)
            bit = rng.randrange(8)
            b = flipped(flipped(a, 8 * i + bit), 8 * j + bit)
            assert timingsafe_bcmp_row(a, b) == 1, (size, i, j)


def test_memcmp_every_length_on_every_row(timingsafe_memcmp_row: Row) -> None:
    rng = random.Random(4)
    for size in LENGTHS:
        a = message(size, seed=size)
        assert timingsafe_memcmp_row(a, bytes(bytearray(a))) == 0, size
        if not size:
            continue
        for bit in some_bits(size, rng):
            b = bytearray(flipped(a, bit))
            b[bit // 8 + 1 :] = rng.randbytes(size - bit // 8 - 1)  # what follows must not count
            assert timingsafe_memcmp_row(a, b) == order(a, bytes(b)), (size, bit)
            assert timingsafe_memcmp_row(b, a) == order(bytes(b), a), (size, bit)


def test_memcmp_every_pair_of_bytes_on_every_row(timingsafe_memcmp_row: Row) -> None:
    """Unsigned order of all 65,536 pairs, in the first and in the last byte."""
    for x in range(256):
        for y in range(256):
            expected = (x > y) - (x < y)
            assert timingsafe_memcmp_row(bytes([x]), bytes([y])) == expected
            if x % 16 == 0:
                assert timingsafe_memcmp_row(bytes(20) + bytes([x]), bytes(20) + bytes([y])) == expected


def test_bcmp_every_pair_of_bytes_on_every_row(timingsafe_bcmp_row: Row) -> None:
    for x in range(256):
        for y in range(256):
            assert timingsafe_bcmp_row(bytes([x]), bytes([y])) == (x != y)


def check_at_guards(call: Callable[[Any, Any], int], expect: Callable[[bytes, bytes], int]) -> None:
    left, right = Guarded(), Guarded()
    for size in [*range(321), 1000, 4095, PAGE]:
        a = message(size, seed=size)
        b = flipped(a, 8 * size - 1) if size else a
        for place_a in (left.at_start, left.at_end):
            for place_b in (right.at_start, right.at_end):
                assert call(place_a(a), place_b(a)) == 0, size
                assert call(place_a(a), place_b(b)) == expect(a, b), size


def test_fb_3_guard_pages_bcmp_on_every_row(timingsafe_bcmp_row: Row) -> None:
    check_at_guards(timingsafe_bcmp_row, lambda a, b: a != b)


def test_guard_pages_memcmp_on_every_row(timingsafe_memcmp_row: Row) -> None:
    check_at_guards(timingsafe_memcmp_row, order)


def check_alignments(call: Callable[[Any, Any], int], expect: Callable[[bytes, bytes], int]) -> None:
    """Each operand alone at offsets 0 to 63, then seeded pairs; bytes outside differ throughout."""
    left, right, rng = Guarded(), Guarded(), random.Random(5)
    places = [(i, 0) for i in range(64)] + [(0, i) for i in range(64)]
    places += [(rng.randrange(64), rng.randrange(64)) for _ in range(1000)]
    for i, j in places:
        size = rng.randrange(1, 300)
        a = rng.randbytes(size)
        b = flipped(a, rng.randrange(8 * size))
        left.at_start(b"\x55" * (size + 192))
        right.at_start(b"\xaa" * (size + 192))
        assert call(left.at(64 + i, a), right.at(64 + j, a)) == 0
        assert call(left.at(64 + i, a), right.at(64 + j, b)) == expect(a, b)


def test_alignment_bcmp_on_every_row(timingsafe_bcmp_row: Row) -> None:
    check_alignments(timingsafe_bcmp_row, lambda a, b: a != b)


def test_alignment_memcmp_on_every_row(timingsafe_memcmp_row: Row) -> None:
    check_alignments(timingsafe_memcmp_row, order)


def overlapping() -> list[tuple[memoryview, memoryview]]:
    area = memoryview(message(600))
    shifts, sizes = (0, 1, 8, 16, 31, 64), (1, 16, 33, 200, 500)
    return [(area[:size], area[shift : shift + size]) for shift in shifts for size in sizes]


def test_overlapping_operands_bcmp_on_every_row(timingsafe_bcmp_row: Row) -> None:
    for a, b in overlapping():
        assert timingsafe_bcmp_row(a, b) == (bytes(a) != bytes(b))


def test_overlapping_operands_memcmp_on_every_row(timingsafe_memcmp_row: Row) -> None:
    for a, b in overlapping():
        assert timingsafe_memcmp_row(a, b) == order(bytes(a), bytes(b))


# ---- Functions ------------------------------------------------------------------------------------


def as_kinds(data: bytes) -> list[Any]:
    return [data, bytearray(data), memoryview(data)]


@each_equality
def test_every_length(function: Callable[[Any, Any], Any], equal: Any, unequal: Any) -> None:
    rng = random.Random(6)
    for size in LENGTHS:
        data = message(size, seed=size)
        for a in as_kinds(data):
            assert function(a, bytes(bytearray(data))) is equal or equal == 0
            if size:
                other = flipped(data, rng.randrange(8 * size))
                assert function(a, other) == unequal, size
                assert function(other, a) == unequal, size


@each_equality
def test_guard_pages(function: Callable[[Any, Any], Any], equal: Any, unequal: Any) -> None:
    check_at_guards(lambda a, b: int(function(a, b) != equal), lambda a, b: a != b)


def test_guard_pages_memcmp() -> None:
    check_at_guards(timingsafe_memcmp, order)


@each_equality
def test_unequal_lengths(function: Callable[[Any, Any], Any], equal: Any, unequal: Any) -> None:
    """Field reports: a loop over the longer length runs off the shorter, here at a page's end."""
    area, secret = Guarded(), message(32)
    for size in range(65):
        guess = (secret * 3)[:size]
        view = area.at_end(guess)
        assert function(secret, view) == (equal if size == 32 else unequal)
        assert function(view, secret) == (equal if size == 32 else unequal)
    assert function(b"", b"") == equal
    assert function(b"", b"a") == function(b"abc", b"ab") == unequal


def test_bc_1_memcmp_orders_as_bytes() -> None:
    samples = [b"", b"\0", b"a", b"ab", b"abc", b"abd", b"b", b"\xff", b"\x7f\xff", b"\x80", b"a\0", b"a\xff"]
    samples += [message(n, seed=n) for n in (15, 16, 17, 64, 300)]
    samples += [s[:-1] for s in samples[-5:]] + [s + b"\0" for s in samples[-5:]]
    for a in samples:
        for b in samples:
            for kind in as_kinds(a):
                assert timingsafe_memcmp(kind, b) == order(a, b), (a, b)


@given(st.binary(max_size=80), st.binary(max_size=80), st.binary(max_size=80))
@settings(deadline=None, max_examples=300)
def test_bc_1_memcmp_of_a_common_start(start: bytes, a: bytes, b: bytes) -> None:
    a, b = start + a, start + b
    assert timingsafe_memcmp(a, b) == order(a, b)
    assert timingsafe_bcmp(a, b) == (a != b)


def test_result_types() -> None:
    assert compare_digest(b"a", b"a") is True
    assert compare_digest("a", "b") is False
    assert timingsafe_equal("\u00e9", "\u00e9") is True
    assert type(timingsafe_bcmp(b"a", b"b")) is type(timingsafe_memcmp(b"a", b"b")) is int
    assert {timingsafe_bcmp(b"a", b"a"), timingsafe_bcmp(b"a", b"b")} == {0, 1}


# ---- CD rows --------------------------------------------------------------------------------------


@each_function
def test_cd_01_two_positional_arguments(function: Callable[..., Any]) -> None:
    for args in ((), (b"",), (b"", b"", b"")):
        with pytest.raises(TypeError, match=rf"{function.__name__} expected 2 arguments, got {len(args)}"):
            function(*args)
    for kwargs in ({"a": b"", "b": b""}, {"b": b""}):
        with pytest.raises(TypeError, match="no keyword arguments"):
            function(*[b""][: 2 - len(kwargs)], **kwargs)
    assert function.__text_signature__ == "($module, a, b, /)"  # type: ignore[attr-defined]
    assert function.__doc__


NON_ASCII = [
    ("\u00e9", "\u00e9"),
    ("\uff11\uff12", "12"),
    ("a", "\u00e9"),
    ("\u00e9", "a"),
    ("\ud800", "\ud800"),
    ("\U0001f511", "\U0001f511"),
]


@pytest.mark.parametrize(("a", "b"), NON_ASCII)
def test_cd_02_non_ascii_text(a: str, b: str) -> None:
    with pytest.raises(TypeError, match=r"\Acomparing strings with non-ASCII characters is not supported\Z"):
        compare_digest(a, b)


@pytest.mark.parametrize(("a", "b"), NON_ASCII)
def test_timingsafe_equal_takes_any_text(a: str, b: str) -> None:
    assert timingsafe_equal(a, b) is (a == b)


@given(st.text(), st.text())
@settings(deadline=None, max_examples=300)
def test_timingsafe_equal_of_text(a: str, b: str) -> None:
    assert timingsafe_equal(a, b) is (a == b)
    assert timingsafe_equal(a, "".join(list(a))) is True
    assert timingsafe_equal(a + "x", b + "x") is (a == b)


@pytest.mark.parametrize(
    "letter", ["a", "\u00e9", "\u0416", "\U0001f511"], ids=["ascii", "latin", "bmp", "wide"]
)
def test_timingsafe_equal_sees_every_character(letter: str) -> None:
    """In strings of each width, also behind the place where a count of characters would stop."""
    other = chr(ord(letter) ^ 1)
    for size in range(1, 70):
        text = letter * size
        assert timingsafe_equal(text, "".join([letter] * size)) is True
        for i in range(size):
            assert timingsafe_equal(text, text[:i] + other + text[i + 1 :]) is False


@pytest.mark.parametrize(
    ("text", "data"), [("a", b"a"), ("", b""), ("\u00e9", b"\xe9"), ("a", bytearray(b"a"))]
)
def test_cd_03_text_with_bytes(text: str, data: bytes) -> None:
    for a, b in ((text, data), (data, text)):
        with pytest.raises(TypeError, match=r"\Aa bytes-like object is required, not 'str'\Z"):
            compare_digest(a, b)
        assert timingsafe_equal(a, b) is False


@on_buffers_only
def test_bc_1_no_text(function: Callable[[Any, Any], int]) -> None:
    for a, b in (("a", b"a"), (b"a", "a"), ("a", "a"), ("\u00e9", "\u00e9")):
        with pytest.raises(TypeError, match=r"\Aa bytes-like object is required, not 'str'\Z"):
            function(a, b)


@pytest.mark.parametrize("function", [compare_digest, timingsafe_bcmp, timingsafe_memcmp])
def test_cd_04_neither_text_nor_buffer(function: Callable[[Any, Any], Any]) -> None:
    for a, b in ((1, 1), (None, None), ([], []), (1, None), ("a", None), (None, "a"), (1.5, object())):
        text = f"combination of types: '{type(a).__name__}' and '{type(b).__name__}'"
        with pytest.raises(TypeError, match=re.escape("unsupported operand types(s) or " + text)):
            function(a, b)
    pairs: list[tuple[Any, Any]] = [(b"a", None), (None, b"a"), (bytearray(b"a"), None)]
    for a, b in pairs:
        with pytest.raises(TypeError, match=r"\Aa bytes-like object is required, not 'NoneType'\Z"):
            function(a, b)


def test_timingsafe_equal_kinds() -> None:
    for bad in buffers.no_buffers().values():
        for other in (b"a", "a", bad):
            for a, b in ((bad, other), (other, bad)):
                with pytest.raises(TypeError, match="a str or a bytes-like object is required, not"):
                    timingsafe_equal(a, b)


@each_equality
def test_cd_05_every_pair_of_contiguous_kinds(
    function: Callable[[Any, Any], Any], equal: Any, unequal: Any
) -> None:
    data = message(48)
    other = flipped(data, 383)
    lefts, rights = buffers.contiguous(data), buffers.contiguous(data)
    wrongs = buffers.contiguous(other)
    for left in lefts.values():
        for right in rights.values():
            assert function(left, right) == equal
        for wrong in wrongs.values():
            assert function(left, wrong) == unequal


def test_cd_05_length_is_in_bytes() -> None:
    items = array.array("I", [1, 2])
    assert compare_digest(items, items.tobytes()) is True
    assert compare_digest(items, items.tobytes()[:2]) is False
    assert compare_digest(np.arange(6.0).reshape(2, 3), np.arange(6.0).tobytes()) is True


def test_cd_06_superset_two_dimensional_ctypes() -> None:
    data = message(32)
    assert compare_digest(buffers.ctypes_2d(data), data) is True
    assert compare_digest(buffers.ctypes_2d(data), flipped(data, 255)) is False


@each_function
def test_cd_07_not_contiguous_and_released(function: Callable[[Any, Any], Any]) -> None:
    for bad in buffers.not_contiguous().values():
        for a, b in ((bad, b"abcd"), (b"abcd", bad), (bad, bad)):
            with pytest.raises((BufferError, ValueError), match="not C-contiguous"):
                function(a, b)
    for a, b in ((buffers.released(), b"a"), (b"a", buffers.released())):
        with pytest.raises(ValueError, match="operation forbidden on released memoryview"):
            function(a, b)


@each_function
def test_cd_07_strided_view_at_a_page_end(function: Callable[[Any, Any], Any]) -> None:
    view = Guarded().at_end(bytes(64))
    for strided in (view[::2], view[::-1]):
        with pytest.raises(BufferError, match=buffers.STRIDED_ERROR):
            function(strided, bytes(32))


@each_function
def test_cd_07_first_buffer_is_released_after_an_error(function: Callable[[Any, Any], Any]) -> None:
    first = bytearray(b"abc")
    for bad in (None, "text", memoryview(b"abcd")[::2], buffers.released()):
        outcome(function, first, bad)
        outcome(function, bad, first)
        first.append(0)  # BufferError if an export were left
    function(first, bytearray(3))
    first.append(0)


@each_function
def test_no_reference_is_leaked(function: Callable[[Any, Any], Any]) -> None:
    values: list[Any] = [bytearray(9), object(), "".join(["a", "\u00e9"]), memoryview(bytearray(8))[::2]]
    each = range(len(values))
    counts = [sys.getrefcount(values[i]) for i in each]
    for _ in range(50):
        for i in each:
            for j in each:
                outcome(function, values[i], values[j])
    assert [sys.getrefcount(values[i]) for i in each] == counts


def test_cd_09_methods_of_subclasses_are_not_called() -> None:
    for cls in (buffers.HostileBytes, buffers.HostileBytearray):
        for function, equal, unequal in EQUALITIES.values():
            assert function(cls(b"foo"), b"foo") == function(b"foo", cls(b"foo")) == equal
            assert function(cls(b"foo"), cls(b"fox")) == unequal
        assert timingsafe_memcmp(cls(b"foo"), cls(b"fox")) == -1
    for function in (compare_digest, timingsafe_equal):
        assert function(buffers.HostileStr("foo"), "foo") is True
        assert function("foo", buffers.HostileStr("fox")) is False


if sys.version_info >= (3, 12):

    @each_function
    def test_exception_of_an_export_passes_through(function: Callable[[Any, Any], Any]) -> None:
        class Refusing:
            def __buffer__(self, flags: int) -> memoryview:
                raise ZeroDivisionError("no")

        for a, b in ((Refusing(), b""), (b"", Refusing())):
            with pytest.raises(ZeroDivisionError, match="no"):
                function(a, b)


# ---- FB-7: against hmac.compare_digest ------------------------------------------------------------


def operands(data: bytes) -> dict[str, Any]:
    """Every kind of operand, contiguous buffers with the bytes `data`."""
    return {
        **buffers.contiguous(data),
        **{f"not contiguous: {name}": value for name, value in buffers.not_contiguous().items()},
        **buffers.no_buffers(),
        "released": buffers.released(),
        "ascii text": "a" * len(data),
        "other text": "b" * len(data),
        "latin text": "\u00e9" * len(data),
        "wide text": "\U0001f511",
        "surrogate": "\ud800",
        "empty text": "",
        "hostile text": buffers.HostileStr("a" * len(data)),
        "empty": b"",
        "longer": data + b"x",
    }


def test_fb_7_every_pair_of_kinds_as_hmac() -> None:
    """The same result, or the same exception class with the same text, for about 1,900 pairs."""
    same, other = operands(b"a" * 16), operands(b"a" * 15 + b"b")
    assert len(same) >= 40
    for left_name, left in same.items():
        for rights in (same, other):
            for right_name, right in rights.items():
                expected = outcome(hmac.compare_digest, left, right)
                assert outcome(compare_digest, left, right) == expected, (left_name, right_name)


@given(hostile, hostile)
@settings(deadline=None, max_examples=400)
def test_hostile_operands_as_hmac(a: Any, b: Any) -> None:
    expected = outcome(hmac.compare_digest, a, b)
    assert outcome(compare_digest, a, b) == expected
    if expected[0] == "result":
        assert timingsafe_equal(a, b) is expected[1]
        if not isinstance(a, str):
            assert timingsafe_bcmp(a, b) == (not expected[1])


@given(hostile, hostile)
@settings(deadline=None, max_examples=300)
def test_no_exception_depends_on_content(a: Any, b: Any) -> None:
    """timingsafe_equal raises for kinds that have no bytes to give, never for what the bytes are."""
    kind, _ = outcome(timingsafe_equal, a, b)
    texts_or_bytes = all(isinstance(x, str | bytes | bytearray) for x in (a, b))
    assert (
        kind == "result"
        if texts_or_bytes
        else kind in ("result", TypeError, ValueError, BufferError, ZeroDivisionError)
    )


# ---- The GIL --------------------------------------------------------------------------------------


class Pulse:
    """A thread that notes the time whenever it gets to run."""

    def __enter__(self) -> Pulse:
        self.beats: list[float] = []
        self.stop = False
        self.interval = sys.getswitchinterval()
        sys.setswitchinterval(100)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self) -> None:
        while not self.stop:
            self.beats.append(time.perf_counter())
            time.sleep(5e-5)

    def __exit__(self, *_: object) -> None:
        self.stop = True
        self.thread.join()
        sys.setswitchinterval(self.interval)

    def stall(self, call: Callable[[], Any]) -> float:
        """The longest time without a beat during the call, as a part of the call's time."""
        start = time.perf_counter()
        call()
        stop = time.perf_counter()
        beats = [start, *(beat for beat in self.beats if start < beat < stop), stop]
        self.beats.clear()
        return max(later - earlier for earlier, later in itertools.pairwise(beats)) / (stop - start)


LONG = bytes(96 << 20)
LONG_TWIN = bytearray(LONG)


@each_function
def test_cd_10_fb_7_no_long_stall_of_other_threads(function: Callable[[Any, Any], Any]) -> None:
    """While 96 MB are compared, others run all the time. With the GIL held the part would be 1."""
    with Pulse() as pulse:
        stalls = [pulse.stall(lambda: function(LONG, LONG_TWIN)) for _ in range(10)]
    assert min(stalls) < 0.4, stalls


def test_the_stall_is_seen_where_there_is_one() -> None:
    """hmac.compare_digest holds the GIL: the measure above must see that."""
    if hasattr(sys, "_is_gil_enabled") and not sys._is_gil_enabled():
        pytest.skip("without a GIL nothing stalls")
    with Pulse() as pulse:
        stalls = [
            pulse.stall(lambda: hmac.compare_digest(LONG[: 24 << 20], LONG_TWIN[: 24 << 20]))
            for _ in range(2)
        ]
    assert min(stalls) > 0.5, stalls


def test_cd_10_resize_during_a_compare_is_refused() -> None:
    area, twin, stop = bytearray(64 << 20), bytes(64 << 20), threading.Event()
    refused = 0

    def compare_on() -> None:
        while not stop.is_set():
            compare_digest(area, twin)

    thread = threading.Thread(target=compare_on)
    thread.start()
    deadline = time.monotonic() + 30
    while not refused and time.monotonic() < deadline:
        try:
            area.append(0)
            area.pop()
        except BufferError:
            refused += 1
        time.sleep(0.001)
    stop.set()
    thread.join()
    assert refused
    area.append(0)


@each_equality
def test_around_the_threshold_of_releasing(
    function: Callable[[Any, Any], Any], equal: Any, unequal: Any
) -> None:
    for size in range((128 << 10) - 2, (128 << 10) + 3):
        a = message(size)
        assert function(a, bytearray(a)) == equal
        assert function(a, flipped(a, 8 * size - 1)) == unequal
        assert timingsafe_memcmp(a, flipped(a, 8 * size - 1)) == order(a, flipped(a, 8 * size - 1))


@pytest.mark.big
@each_function
def test_big_lengths(function: Callable[[Any, Any], Any]) -> None:
    """A difference beyond 4 GiB is seen; lengths that agree modulo 2^32 differ."""
    size = (1 << 32) + 100
    a, b = zeros(size), zeros(size)
    same = function(a, b)
    b[size - 1] = 1
    assert same != function(a, b)
    assert function(zeros(100), zeros(size)) != function(zeros(100), zeros(100))
