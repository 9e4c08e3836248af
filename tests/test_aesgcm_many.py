# SPDX-License-Identifier: Apache-2.0
"""AESGCM.encrypt_many and .decrypt_many: what a loop of cryptography's calls gives, or nothing at all."""

from __future__ import annotations

import array
import gc
import random
import re
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import buffers
import pytest
from aes_suites import message
from cryptography.hazmat.primitives.ciphers.aead import AESGCM as Reference

import fastcrypt
from fastcrypt import InvalidTag

# Called in every wrong way below, so without its types.
AESGCM: Any = fastcrypt.AESGCM

KEY = message(32, seed=1)
MIXED = [0, 1, 15, 16, 17, 64, 255, 256, 257, 1350, 4097]
RECORDS = {
    "none": [],
    "one": [64],
    "one empty": [0],
    "two": [16, 3],
    "mixed": MIXED,
    "64 B": [64] * 40,
    "longer than the threshold": [64] * 300,
    "large": [20000, 5, 40000],
}
each_batch = pytest.mark.parametrize("sizes", RECORDS.values(), ids=RECORDS)
each_tag_length = pytest.mark.parametrize("tag_length", [4, 8, 12, 13, 14, 15, 16])


class Batch:
    """Records of these sizes and what cryptography makes of them."""

    def __init__(self, sizes: list[int], tag_length: int = 16, seed: int = 0) -> None:
        rng = random.Random(f"{sizes} {seed}")
        self.aead = AESGCM(KEY, tag_length=tag_length, allow_short_tag=tag_length < 12)
        self.tag_length = tag_length
        self.nonces = [rng.randbytes(12) for _ in sizes]
        self.datas = [rng.randbytes(size) for size in sizes]
        self.aads = [rng.randbytes(rng.randrange(40)) for _ in sizes]
        self.peer = Reference(KEY)
        self.sealed = self.with_aads(self.aads)

    def seal(self, nonce: bytes, data: bytes, aad: bytes) -> bytes:
        return self.peer.encrypt(nonce, data, aad)[: len(data) + self.tag_length]

    def with_aads(self, aads: list[bytes]) -> list[bytes]:
        return list(map(self.seal, self.nonces, self.datas, aads))

    def forged(self, *which: int) -> list[bytes]:
        """The sealed records, some with a flipped bit: the tag's, the text's, in turn."""
        records = list(self.sealed)
        for i in which:
            at = -1 if i % 2 else 0
            record = bytearray(records[i])
            record[at] ^= 1 << i % 8
            records[i] = bytes(record)
        return records


def framed(size: int) -> tuple[bytearray, memoryview]:
    """An `out` of this size in the middle of memory that must stay as it is."""
    area = bytearray(b"\xa5" * 8 + b"\xee" * size + b"\x5a" * 8)
    return area, memoryview(area)[8 : 8 + size]


def frame(content: bytes) -> bytes:
    return b"\xa5" * 8 + content + b"\x5a" * 8


# ---- Right answers --------------------------------------------------------------------------------


@each_batch
def test_every_form_of_arguments(sizes: list[int]) -> None:
    batch = Batch(sizes)
    aead = batch.aead
    one_aad = b"one for all"
    aads: list[tuple[Any, list[bytes]]] = [
        (None, [b""] * len(sizes)),
        (b"", [b""] * len(sizes)),
        (one_aad, [one_aad] * len(sizes)),
        (memoryview(one_aad), [one_aad] * len(sizes)),
        (batch.aads, batch.aads),
        (tuple(map(bytearray, batch.aads)), batch.aads),
        ([None] * len(sizes), [b""] * len(sizes)),
    ]
    nonces = [batch.nonces, tuple(batch.nonces), b"".join(batch.nonces), bytearray().join(batch.nonces)]
    for given, meant in aads:
        sealed = batch.with_aads(meant)
        for nonce in nonces:
            assert aead.encrypt_many(nonce, batch.datas, given) == sealed
            assert aead.decrypt_many(nonce, sealed, given) == batch.datas
        area, out = framed(sum(map(len, sealed)))
        assert aead.encrypt_many(nonces[2], tuple(batch.datas), aads=given, out=out) == len(out)
        assert area == frame(b"".join(sealed))
        for errors in ({}, {"errors": "raise"}):
            area, out = framed(sum(sizes))
            assert aead.decrypt_many(batch.nonces, map(bytearray, sealed), given, out=out, **errors) == len(
                out
            )
            assert area == frame(b"".join(batch.datas))
        assert aead.decrypt_many(batch.nonces, sealed, given, errors="none") == batch.datas
        assert aead.decrypt_many(batch.nonces, sealed, given, errors="none", out=out) == sizes


@pytest.mark.parametrize("total", [0, 1, 39, 40, 100, 4096])
def test_one_buffer_cut_into_records(total: int) -> None:
    """record_size of 1 to 41: the last record may be short. When decrypting it counts the tag."""
    data = message(total, seed=2)
    for size in [*range(1, 42), 1350, 4096, 2**70]:
        datas = [data[at : at + size] for at in range(0, total, size)]
        batch = Batch([])
        nonces = [i.to_bytes(12, "big") for i in range(len(datas))]
        sealed = [batch.seal(n, d, b"aad") for n, d in zip(nonces, datas, strict=True)]
        aead, packed = batch.aead, b"".join(nonces)
        assert aead.encrypt_many(packed, data, b"aad", record_size=size) == sealed
        out = bytearray(total + 16 * len(datas))
        assert aead.encrypt_many(nonces, bytearray(data), b"aad", record_size=size, out=out) == len(out)
        assert out == b"".join(sealed)
        assert aead.decrypt_many(packed, out, b"aad", record_size=min(size, 2**60) + 16) == datas
        back = bytearray(total)
        assert aead.decrypt_many(packed, out, b"aad", record_size=min(size, 2**60) + 16, out=back) == total
        assert back == data


@each_tag_length
def test_tag_length(tag_length: int) -> None:
    batch = Batch(MIXED, tag_length)
    assert batch.aead.encrypt_many(batch.nonces, batch.datas, batch.aads) == batch.sealed
    assert batch.aead.decrypt_many(batch.nonces, batch.sealed, batch.aads) == batch.datas
    out = bytearray(sum(map(len, batch.sealed)))
    batch.aead.encrypt_many(batch.nonces, batch.datas, batch.aads, out=out)
    assert out == b"".join(batch.sealed)
    for bit in range(8 * tag_length):
        sealed = [bytearray(record) for record in batch.sealed[:2]]
        sealed[1][len(sealed[1]) - 1 - bit // 8] ^= 1 << bit % 8
        with pytest.raises(InvalidTag) as error:
            batch.aead.decrypt_many(batch.nonces[:2], sealed, batch.aads[:2])
        assert error.value.index == 1
    for cut in range(tag_length):
        assert batch.aead.decrypt_many(batch.nonces[:1], [bytes(cut)], errors="none") == [None], cut


def test_nonces_in_a_list_have_8_to_128_bytes() -> None:
    rng = random.Random(3)
    nonces = [rng.randbytes(size) for size in range(8, 129)]
    batch = Batch([33] * len(nonces))
    batch.nonces = nonces
    sealed = batch.with_aads(batch.aads)
    assert batch.aead.encrypt_many(nonces, batch.datas, batch.aads) == sealed
    assert batch.aead.decrypt_many(map(bytearray, nonces), sealed, batch.aads) == batch.datas


def test_every_kind_of_buffer() -> None:
    batch = Batch([64] * 2)
    kinds = list(buffers.contiguous(batch.datas[0]).values())
    nonces, sealed = [bytes(12)] * len(kinds), [batch.seal(bytes(12), batch.datas[0], b"")] * len(kinds)
    assert batch.aead.encrypt_many(nonces, kinds) == sealed
    for kind in buffers.contiguous(batch.datas[0]).values():
        assert batch.aead.encrypt_many(bytes(24), kind, record_size=32) == [
            batch.seal(bytes(12), batch.datas[0][:32], b""),
            batch.seal(bytes(12), batch.datas[0][32:], b""),
        ]
    words = array.array("Q", [0] * 3)  # 24 bytes
    assert (
        batch.aead.encrypt_many(words, words, words, record_size=12)
        == [batch.seal(bytes(12), bytes(12), bytes(24))] * 2
    )


def test_the_result_is_an_ordinary_list() -> None:
    batch = Batch([64, 64])
    for result in (
        batch.aead.encrypt_many(batch.nonces, batch.datas, batch.aads),
        batch.aead.decrypt_many(batch.nonces, batch.forged(1), batch.aads, errors="none"),
    ):
        assert type(result) is list
        assert gc.is_tracked(result)
        references = sys.getrefcount(result[0])
        assert references == 2
        result.append(result)  # collected, since it is tracked


# ---- Forgeries ------------------------------------------------------------------------------------


@pytest.mark.parametrize("into", [False, True], ids=["new", "out"])
@pytest.mark.parametrize("sizes", [MIXED, [64] * 300, [20000, 5, 40000]], ids=["mixed", "64 B", "large"])
def test_ag_5_and_6_all_or_nothing(sizes: list[int], into: bool) -> None:
    """InvalidTag with the index of the first bad record; `out` is all zeros, and nothing around it."""
    batch = Batch(sizes)
    last = len(sizes) - 1
    for which in [(0,), (last,), (last // 2, last), (0, 1), tuple(range(len(sizes)))]:
        area, out = framed(sum(sizes))
        with pytest.raises(InvalidTag) as error:
            batch.aead.decrypt_many(
                batch.nonces, batch.forged(*which), batch.aads, **({"out": out} if into else {})
            )
        assert (error.value.index, error.value.args) == (min(which), ())
        if into:
            assert area == frame(bytes(len(out)))
    assert InvalidTag.index is None


@pytest.mark.parametrize("sizes", [MIXED, [64] * 300], ids=["mixed", "64 B"])
def test_ag_5_and_6_bad_records_are_none(sizes: list[int]) -> None:
    """The others stand; a bad one is None in the list and zeros in `out`."""
    batch = Batch(sizes)
    rng = random.Random(4)
    for count in (0, 1, 2, len(sizes) - 1, len(sizes)):
        which = rng.sample(range(len(sizes)), count)
        forged = batch.forged(*which)
        expected = [None if i in which else data for i, data in enumerate(batch.datas)]
        assert batch.aead.decrypt_many(batch.nonces, forged, batch.aads, errors="none") == expected
        area, out = framed(sum(sizes))
        result = batch.aead.decrypt_many(batch.nonces, forged, batch.aads, errors="none", out=out)
        assert result == [None if data is None else len(data) for data in expected]
        texts = (bytes(size) if text is None else text for size, text in zip(sizes, expected, strict=True))
        assert area == frame(b"".join(texts))


def test_every_bit_of_one_record_counts() -> None:
    batch = Batch([40, 33, 40])
    nonce, sealed, aad = batch.nonces[1], batch.sealed[1], batch.aads[1]
    for part, forgeries in (("nonce", nonce), ("data", sealed), ("aad", aad)):
        for bit in range(8 * len(forgeries)):
            flipped = bytearray(forgeries)
            flipped[bit // 8] ^= 1 << bit % 8
            a = {"nonce": batch.nonces, "data": batch.sealed, "aad": batch.aads}
            a[part] = [a[part][0], bytes(flipped), a[part][2]]
            out = bytearray(b"\xee" * 113)
            with pytest.raises(InvalidTag) as error:
                batch.aead.decrypt_many(a["nonce"], a["data"], a["aad"], out=out)
            assert error.value.index == 1, (part, bit)
            assert out == bytes(113), (part, bit)
            opened = batch.aead.decrypt_many(a["nonce"], a["data"], a["aad"], errors="none")
            assert opened == [batch.datas[0], None, batch.datas[2]]


@pytest.mark.parametrize("size", range(16))
def test_records_shorter_than_a_tag_are_bad(size: int) -> None:
    """In their turn: an earlier bad tag is the first. They have no bytes in `out`."""
    batch = Batch([20, 20, 20])
    sealed = [batch.sealed[0], bytes(size), batch.sealed[2]]
    call = batch.aead.decrypt_many
    with pytest.raises(InvalidTag) as error:
        call(batch.nonces, sealed, batch.aads)
    assert error.value.index == 1
    with pytest.raises(InvalidTag) as error:
        call(batch.nonces, [bytes(20), *sealed[1:]], batch.aads)
    assert error.value.index == 0
    out = bytearray(40)
    assert call(batch.nonces, sealed, batch.aads, out=out, errors="none") == [20, None, 20]
    assert out == batch.datas[0] + batch.datas[2]
    nonces = bytes(12 if size else 0)  # an empty buffer has no records
    assert call(nonces, bytes(size), record_size=99, errors="none") == [None] * (size > 0)


# ---- In place and overlapping ---------------------------------------------------------------------


def test_in_place_at_the_same_start_address() -> None:
    """Records that lie where their results go, with room for a tag behind each."""
    for sizes in ([64], [0], [16, 3], MIXED, [64] * 300):
        batch = Batch(sizes)
        area, out = framed(sum(sizes) + 16 * len(sizes))
        datas, at = [], 0
        for data in batch.datas:
            out[at : at + len(data)] = data
            datas.append(out[at : at + len(data)])
            at += len(data) + 16
        assert batch.aead.encrypt_many(batch.nonces, datas, batch.aads, out=out) == len(out)
        assert area == frame(b"".join(batch.sealed))


@pytest.mark.parametrize("bad", [False, True])
def test_decryption_in_place(bad: bool) -> None:
    """One record, or records that do not touch one another's places."""
    batch = Batch([50])
    area, view = framed(66)
    view[:] = batch.forged(0)[0] if bad else batch.sealed[0]
    tag = bytes(view[50:])
    if bad:
        with pytest.raises(InvalidTag):
            batch.aead.decrypt_many(batch.nonces, [view], batch.aads, out=view[:50])
        assert area == frame(bytes(50) + tag)
    else:
        assert batch.aead.decrypt_many(batch.nonces, view, batch.aads[0], record_size=66, out=view[:50]) == 50
        assert area == frame(batch.datas[0] + tag)


def overlaps(a: int, a_size: int, b: int, b_size: int) -> bool:
    return max(a, b) < min(a + a_size, b + b_size)


def batches_with_overlap() -> Iterator[tuple[list[int], int, int]]:
    """Sizes, which record lies in the buffer of `out`, and where."""
    for sizes in ([1], [40], [17, 40, 5], [100, 200, 64]):
        for which in range(len(sizes)):
            yield from ((sizes, which, shift) for shift in range(-64, 65))


@pytest.mark.parametrize("decrypt", [False, True], ids=["encrypt", "decrypt"])
def test_any_other_overlap_is_refused_or_right(decrypt: bool) -> None:
    """One record at each distance of -64 to 64 from where its result goes."""
    for sizes, which, shift in batches_with_overlap():
        batch = Batch(sizes)
        inputs, results = (batch.sealed, batch.datas) if decrypt else (batch.datas, batch.sealed)
        total = sum(map(len, results))
        place = sum(map(len, results[:which]))
        area = memoryview(bytearray(b"\xee" * (total + 600)))
        out = area[300 : 300 + total]
        start, size = 300 + place + shift, len(inputs[which])
        area[start : start + size] = inputs[which]
        datas = [*inputs]
        datas[which] = area[start : start + size]  # type: ignore[call-overload]
        before = bytes(area)
        into_next = start + size > 300 + place + len(results[which]) and which < len(sizes) - 1
        allowed = not overlaps(start, size, 300, total) or (shift == 0 and not into_next)
        run = batch.aead.decrypt_many if decrypt else batch.aead.encrypt_many
        if allowed:
            assert run(batch.nonces, datas, batch.aads, out=out) == total, (sizes, which, shift)
            assert out == b"".join(results), (sizes, which, shift)
        else:
            with pytest.raises(ValueError, match=rf"\Aout overlaps datas\[{which}\]\Z"):
                run(batch.nonces, datas, batch.aads, out=out)
            assert area == before


def test_out_over_associated_data_and_nonces() -> None:
    """Nonces are copied first, so that they may lie in `out`; associated data may not."""
    batch = Batch([40, 40])
    area = bytearray(200)
    view = memoryview(area)
    for aads in (view[100:110], [b"", view[100:110]], [view[100:110], None]):
        with pytest.raises(ValueError, match=r"\Aout overlaps aads\[[01]\]\Z"):
            batch.aead.encrypt_many(batch.nonces, batch.datas, aads, out=view[:112])
        assert area == bytes(200)
    view[20:44] = b"".join(batch.nonces)
    assert batch.aead.encrypt_many(view[20:44], batch.datas, batch.aads, out=view[:112]) == 112
    assert view[:112] == b"".join(batch.sealed)
    view[12:24] = batch.nonces[1]
    nonces = [batch.nonces[0], view[12:24]]
    assert batch.aead.encrypt_many(nonces, batch.datas, batch.aads, out=view[:112]) == 112
    assert view[:112] == b"".join(batch.sealed)


# ---- Wrong arguments ------------------------------------------------------------------------------

A = AESGCM(KEY)
TWO = [b"one", b"two"]
N2 = [bytes(12)] * 2
VALUE_ERRORS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "fewer nonces": ("nonces must have 2 items, one for each record, received 1", lambda f: f(N2[:1], TWO)),
    "more nonces": (
        "nonces must have 2 items, one for each record, received 3",
        lambda f: f(N2 + N2[1:], TWO),
    ),
    "short nonce": (
        "nonces[1] must be between 8 and 128 bytes, received 7",
        lambda f: f([bytes(12), bytes(7)], TWO),
    ),
    "long nonce": (
        "nonces[0] must be between 8 and 128 bytes, received 129",
        lambda f: f([bytes(129), bytes(8)], TWO),
    ),
    "packed nonces short": (
        "nonces in one buffer must be 12 bytes for each of 2 records, received 12",
        lambda f: f(bytes(12), TWO),
    ),
    "packed nonces uneven": (
        "nonces in one buffer must be 12 bytes for each of 2 records, received 25",
        lambda f: f(bytes(25), TWO),
    ),
    "packed nonces long": (
        "nonces in one buffer must be 12 bytes for each of 2 records, received 36",
        lambda f: f(bytes(36), TWO),
    ),
    "fewer aads": ("aads must have 2 items, one for each record, received 1", lambda f: f(N2, TWO, [b""])),
    "more aads": (
        "aads must have 2 items, one for each record, received 3",
        lambda f: f(N2, TWO, [None] * 3),
    ),
    "no record_size": (
        "datas in one buffer need record_size, received none",
        lambda f: f(N2, b"onetwo"),
    ),
    "record_size of a list": (
        "record_size is for datas in one buffer, not for a list",
        lambda f: f(N2, TWO, record_size=3),
    ),
    "record_size 0": (
        "record_size must be 1 or more bytes, received 0",
        lambda f: f(N2, b"onetwo", record_size=0),
    ),
    "record_size -1": (
        "record_size must be 1 or more bytes, received -1",
        lambda f: f(N2, b"onetwo", record_size=-1),
    ),
    "nonces for cut records": (
        "nonces must have 3 items, one for each record, received 2",
        lambda f: f(N2, b"onetwo!", record_size=3),
    ),
}
TYPE_ERRORS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "nonces str": ("nonces must be a list of bytes-like objects, not 'str'", lambda f: f("nonce", TWO)),
    "nonces None": ("'NoneType' object is not iterable", lambda f: f(None, TWO)),
    "nonce str": (
        "nonces[1] must be a bytes-like object, not 'str'",
        lambda f: f([bytes(12), "n" * 12], TWO),
    ),
    "nonce None": ("nonces[0] must be a bytes-like object, not 'NoneType'", lambda f: f([None] * 2, TWO)),
    "datas str": ("datas must be a list of bytes-like objects, not 'str'", lambda f: f(N2, "ab")),
    "datas dict": ("datas must be a list of bytes-like objects, not 'dict'", lambda f: f(N2, {b"a": b"b"})),
    "datas int": ("'int' object is not iterable", lambda f: f(N2, 5)),
    "data str": ("datas[1] must be a bytes-like object, not 'str'", lambda f: f(N2, [b"one", "two"])),
    "data int": ("datas[0] must be a bytes-like object, not 'int'", lambda f: f(N2, [3, b"two"])),
    "aads str": ("aads must be a list of bytes-like objects, not 'str'", lambda f: f(N2, TWO, "ab")),
    "aad int": ("aads[1] must be a bytes-like object, not 'int'", lambda f: f(N2, TWO, [b"", 0])),
    "record_size str": (
        "object cannot be interpreted as an integer",
        lambda f: f(N2, b"onetwo", record_size="3"),
    ),
    "record_size float": (
        "object cannot be interpreted as an integer",
        lambda f: f(N2, b"onetwo", record_size=3.0),
    ),
    "out bytes": ("out is not writable", lambda f: f(N2, TWO, out=bytes(38))),
    "out int": ("out must be a writable bytes-like object, not 'int'", lambda f: f(N2, TWO, out=38)),
    "no datas": ("missing required argument 'datas'", lambda f: f(N2)),
    "positional": ("takes at most 3 positional arguments", lambda f: f(N2, TWO, None, 3)),
    "unknown": ("unexpected keyword argument 'size'", lambda f: f(N2, TWO, size=3)),
}
each_method = pytest.mark.parametrize("method", [A.encrypt_many, A.decrypt_many], ids=["encrypt", "decrypt"])


@each_method
@pytest.mark.parametrize("name", VALUE_ERRORS)
def test_wrong_counts_and_sizes(method: Any, name: str) -> None:
    text, call = VALUE_ERRORS[name]
    with pytest.raises(ValueError, match=rf"\A{re.escape(text)}\Z"):
        call(method)


@each_method
@pytest.mark.parametrize("name", TYPE_ERRORS)
def test_wrong_kinds(method: Any, name: str) -> None:
    text, call = TYPE_ERRORS[name]
    with pytest.raises(TypeError, match=re.escape(text)):
        call(method)


def test_wrong_size_of_out() -> None:
    batch = Batch([16, 3])
    for size in (0, 18, 50, 52, 66):
        out = bytearray(b"\xee" * size)
        with pytest.raises(ValueError, match=rf"\Aout must be 51 bytes, received {size}\Z"):
            batch.aead.encrypt_many(batch.nonces, batch.datas, batch.aads, out=out)
        with pytest.raises(ValueError, match=rf"\Aout must be 19 bytes, received {size}\Z"):
            batch.aead.decrypt_many(batch.nonces, batch.sealed, batch.aads, out=out)
        assert out == b"\xee" * size


def test_errors_argument() -> None:
    with pytest.raises(ValueError, match=r'\Aerrors must be "raise" or "none"\Z'):
        A.decrypt_many([], [], errors="strict")
    for wrong in (None, b"raise", 0):
        with pytest.raises(TypeError, match="errors must be a str"):
            A.decrypt_many([], [], errors=wrong)
    with pytest.raises(TypeError, match="unexpected keyword"):
        A.encrypt_many([], [], errors="raise")


@pytest.mark.parametrize("object_", buffers.not_contiguous().values(), ids=buffers.not_contiguous())
def test_strided_buffers_keep_their_own_exception(object_: Any) -> None:
    own = buffers.outcome(fastcrypt.sha256, object_)
    calls: list[Callable[[], Any]] = [
        lambda: A.encrypt_many([object_], [b""]),
        lambda: A.encrypt_many([bytes(12)] * 3, [b"", bytearray(3), object_]),
        lambda: A.encrypt_many([bytes(12)], [b""], [object_]),
        lambda: A.encrypt_many([bytes(12)], object_, record_size=2),
    ]
    for call in calls:
        assert buffers.outcome(call) == own


def test_exports_end_with_the_call() -> None:
    """After an error, too: a bytearray that is still exported could not be resized."""
    batch = Batch([40, 41, 42])
    areas = [bytearray(record) for record in batch.sealed]
    aads, nonces = [bytearray(aad) for aad in batch.aads], [bytearray(nonce) for nonce in batch.nonces]
    out = bytearray(sum(map(len, batch.datas)))
    batch.aead.decrypt_many(nonces, areas, aads, out=out)
    areas[1][0] ^= 1
    with pytest.raises(InvalidTag):
        batch.aead.decrypt_many(nonces, areas, aads, out=out)
    for wrong in ([*areas[:2], "text"], areas[:2]):
        with pytest.raises((TypeError, ValueError)):
            batch.aead.decrypt_many(nonces, wrong, aads, out=out)
    for buffer in (*areas, *aads, *nonces, out):
        buffer.append(0)


# ---- Lists that change, threads -------------------------------------------------------------------


def test_arguments_that_change_the_lists() -> None:
    """Python code that runs while a later argument is read; from 3.12 on that can be an export, too."""
    batch = Batch([64] * 3)
    nonces, datas = list(batch.nonces), list(map(bytearray, batch.datas))

    def clearing() -> Iterator[bytes]:
        yield batch.aads[0]
        nonces.clear()
        datas.clear()
        gc.collect()
        yield from batch.aads[1:]

    assert batch.aead.encrypt_many(nonces, datas, clearing()) == batch.sealed
    assert datas == nonces == []

    class Export:
        def __buffer__(self, flags: int) -> memoryview:
            datas.clear()
            gc.collect()
            return memoryview(batch.datas[1])

    if sys.version_info >= (3, 12):
        changing: list[Any] = [bytearray(batch.datas[0]), Export(), bytearray(batch.datas[2])]
        datas = changing
        assert batch.aead.encrypt_many(batch.nonces, datas, batch.aads) == batch.sealed
        assert datas == []


def test_lists_and_buffers_that_other_threads_change() -> None:
    """While the GIL is released every item is held: lists may be cleared, buffers cannot be resized."""
    size, count = 1 << 20, 8
    batch = Batch([size] * count)
    datas: list[Any] = [bytearray(data) for data in batch.datas]
    again = list(datas)
    results: list[Any] = []
    refused = 0
    for _ in range(20):
        nonces, aads = list(batch.nonces), list(batch.aads)
        datas[:] = again
        worker = threading.Thread(
            target=lambda n=nonces, a=aads: results.append(batch.aead.encrypt_many(n, datas, a))
        )
        started = threading.Event()
        del results[:]
        started.set()
        worker.start()
        while worker.is_alive():
            try:
                again[0].append(0)
                again[0].pop()
            except BufferError:
                refused += 1
                nonces.clear(), datas.clear(), aads.clear()  # type: ignore[func-returns-value]
                break
        worker.join()
        assert results == [batch.sealed]
        if refused:
            break
    assert refused, "the buffers were never seen exported"


def test_one_key_in_four_threads() -> None:
    batch = Batch([64] * 300)
    wrong: list[object] = []

    def work() -> None:
        for _ in range(50):
            if batch.aead.encrypt_many(batch.nonces, batch.datas, batch.aads) != batch.sealed:
                wrong.append("encrypt")
            if batch.aead.decrypt_many(batch.nonces, batch.sealed, batch.aads) != batch.datas:
                wrong.append("decrypt")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
