# SPDX-License-Identifier: Apache-2.0
"""Key wrap: RFC 3394 and 5649, CAVP, Wycheproof, cryptography; every bit flipped."""

from __future__ import annotations

import mmap
import random
from collections.abc import Callable
from typing import Any

import buffers
import pytest
import vectors
from cryptography.hazmat.primitives import keywrap

import fastcrypt
from fastcrypt import (
    AES,
    InvalidUnwrap,
    aes_key_unwrap,
    aes_key_unwrap_with_padding,
    aes_key_wrap,
    aes_key_wrap_with_padding,
)

KEY = bytes(range(32))
PLAIN, PADDED = (aes_key_wrap, aes_key_unwrap), (aes_key_wrap_with_padding, aes_key_unwrap_with_padding)
#: Names of CAVP's files -> the functions.
KINDS = {"KW": PLAIN, "KWP": PADDED}
each_kind = pytest.mark.parametrize("kind", KINDS)


def unwrap_or_none(unwrap: Callable[[bytes, bytes], bytes], key: bytes, wrapped: bytes) -> bytes | None:
    try:
        return unwrap(key, wrapped)
    except InvalidUnwrap:
        return None


# ---- Vectors --------------------------------------------------------------------------------------


def check_rfcs() -> None:
    """RFC 3394 sections 4.1 to 4.6 (key sizes and lengths of data), RFC 5649 section 6."""
    whole = bytes.fromhex("00112233445566778899AABBCCDDEEFF000102030405060708090A0B0C0D0E0F")
    for key_size, size, expected in (
        (16, 16, "1FA68B0A8112B447AEF34BD8FB5A7B829D3E862371D2CFE5"),
        (24, 16, "96778B25AE6CA435F92B5B97C050AED2468AB8A17AD84E5D"),
        (32, 16, "64E8C3F9CE0F5BA263E9777905818A2A93C8191E7D6E8AE7"),
        (24, 24, "031D33264E15D33268F24EC260743EDCE1C6C7DDEE725A936BA814915C6762D2"),
        (32, 24, "A8F9BC1612C68B3FF6E6F4FBE30E71E4769C8B80A32CB8958CD5D17D6B254DA1"),
        (32, 32, "28C9F404C4B810F4CBCCB35CFB87F8263F5786E2D80ED326CBC7F0E71A99F43BFB988B9B7A02DD21"),
    ):
        key, data = bytes(range(key_size)), whole[:16] + whole[16:size]
        assert aes_key_wrap(key, data).hex().upper() == expected
        assert aes_key_unwrap(key, bytes.fromhex(expected)) == data
    key = bytes.fromhex("5840df6e29b02af1ab493b705bf16ea1ae8338f4dcc176a8")
    for data_hex, expected in (
        (
            "c37b7e6492584340bed12207808941155068f738",
            "138bdeaa9b8fa7fc61f97742e72248ee5ae6ae5360d1ae6a5f54f373fa543b6a",
        ),
        ("466f7250617369", "afbeb0f07dfbf5419200f2ccb50bb24f"),
    ):
        assert aes_key_wrap_with_padding(key, bytes.fromhex(data_hex)).hex() == expected
        assert aes_key_unwrap_with_padding(key, bytes.fromhex(expected)).hex() == data_hex


def check_cavp() -> None:
    """CAVP's KW and KWP with the forward cipher: 3000 to wrap and 3000 to unwrap, of which 600 must fail."""
    failed = 0
    for kind, (wrap, unwrap) in KINDS.items():
        for bits in (128, 192, 256):
            for case in vectors.nist(f"keywrap/kwtestvectors/{kind}_AE_{bits}.txt", 500):
                assert wrap(bytes.fromhex(case["K"]), bytes.fromhex(case["P"])).hex() == case["C"]
            for case in vectors.nist(f"keywrap/kwtestvectors/{kind}_AD_{bits}.txt", 500):
                found = unwrap_or_none(unwrap, bytes.fromhex(case["K"]), bytes.fromhex(case["C"]))
                assert found == (None if "FAIL" in case else bytes.fromhex(case["P"])), case
                failed += found is None
    assert failed == 600
    for case in vectors.nist("keywrap/kwp_botan.txt", 129):
        key, data = bytes.fromhex(case["Key"]), bytes.fromhex(case["Input"])
        assert aes_key_wrap_with_padding(key, data).hex() == case["Output"].lower()


def check_wycheproof() -> None:
    """Keys of 8 bytes ("acceptable") are outside RFC 3394: refused as cryptography does."""
    for name, count, (wrap, unwrap) in (
        ("aes_wrap_test.json", 165, PLAIN),
        ("aes_kwp_test.json", 254, PADDED),
    ):
        for _, test in vectors.wycheproof(name, count):
            key, data, wrapped = (bytes.fromhex(test[part]) for part in ("key", "msg", "ct"))
            valid = test["result"] == "valid"
            assert unwrap_or_none(unwrap, key, wrapped) == (data if valid else None), test
            if valid:
                assert wrap(key, data) == wrapped


@pytest.mark.parametrize("check", [check_rfcs, check_cavp, check_wycheproof], ids=lambda f: f.__name__)
def test_vectors(check: Callable[[], None]) -> None:
    check()


# ---- Beside cryptography --------------------------------------------------------------------------


@each_kind
def test_same_as_cryptography(kind: str) -> None:
    """The same results, or an exception of the same kind, at every size to 200 and some long ones."""
    rng = random.Random(3394)
    suffix = "" if kind == "KW" else "_with_padding"
    ours_wrap, ours_unwrap = KINDS[kind]
    theirs_wrap = getattr(keywrap, f"aes_key_wrap{suffix}")
    theirs_unwrap = getattr(keywrap, f"aes_key_unwrap{suffix}")
    for size in (*range(201), 1000, 1024, 40_000):
        for key in (rng.randbytes(rng.choice((16, 24, 32))), bytes(15)):
            data = rng.randbytes(size)
            wrapped = buffers.outcome(ours_wrap, key, data)
            theirs = buffers.outcome(theirs_wrap, key, data)
            assert wrapped[0] == theirs[0], (size, wrapped, theirs)
            if wrapped[0] == "result":
                assert wrapped == theirs
                assert ours_unwrap(key, wrapped[1]) == data
            if len(key) != 15:
                got, want = (buffers.outcome(f, key, data) for f in (ours_unwrap, theirs_unwrap))
                assert (got[0].__name__, want[0].__name__) == ("InvalidUnwrap",) * 2, size


# ---- Forgeries ------------------------------------------------------------------------------------


@each_kind
@pytest.mark.parametrize("size", [16, 24, 40])
def test_every_flipped_bit_is_refused(kind: str, size: int) -> None:
    wrap, unwrap = KINDS[kind]
    wrapped = wrap(KEY, random.Random(size).randbytes(size))
    for bit in range(8 * len(wrapped)):
        forged = bytearray(wrapped)
        forged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(InvalidUnwrap):
            unwrap(KEY, forged)


def wrapped_raw(block: bytes) -> bytes:
    """RFC 5649's single block, or RFC 3394's steps, on a first semiblock of the caller's choice."""
    if len(block) == 16:
        return AES(KEY).ecb_encrypt(block)
    a, r = block[:8], [block[i : i + 8] for i in range(8, len(block), 8)]
    for t in range(1, 6 * len(r) + 1):
        i = (t - 1) % len(r)
        result = AES(KEY).ecb_encrypt(a + r[i])
        a, r[i] = (int.from_bytes(result[:8], "big") ^ t).to_bytes(8, "big"), result[8:]
    return a + b"".join(r)


@pytest.mark.parametrize("semiblocks", [1, 2, 3])
def test_every_padding(semiblocks: int) -> None:
    """What section 3 of RFC 5649 allows, and nothing else: each length, each byte of padding."""
    size = 8 * semiblocks
    for length in (*range(2 * size + 1), 2**16, 2**31, 2**32 - 1, 2**32 - size, 2**32 - 8):
        head = b"\xa6\x59\x59\xa6" + length.to_bytes(4, "big")
        right = size - 8 < length <= size
        data = bytes(range(1, size + 1))
        text = data[:length] + bytes(size - length) if right else bytes(size)
        found = unwrap_or_none(aes_key_unwrap_with_padding, KEY, wrapped_raw(head + text))
        assert found == (text[:length] if right else None), length
        for at in range(length if right else size, size):
            wrong = text[:at] + b"\x01" + text[at + 1 :]
            assert unwrap_or_none(aes_key_unwrap_with_padding, KEY, wrapped_raw(head + wrong)) is None
    for bit in range(32):
        head = (0xA65959A6 ^ 1 << bit).to_bytes(4, "big") + size.to_bytes(4, "big")
        wrapped = wrapped_raw(head + bytes(size))
        assert unwrap_or_none(aes_key_unwrap_with_padding, KEY, wrapped) is None


def test_one_form_does_not_open_the_other() -> None:
    data = bytes(range(24))
    for wrap, unwrap in ((PLAIN[0], PADDED[1]), (PADDED[0], PLAIN[1])):
        with pytest.raises(InvalidUnwrap):
            unwrap(KEY, wrap(KEY, data))


# ---- Arguments ------------------------------------------------------------------------------------


def test_sizes() -> None:
    for size in (0, 8, 15, 17, 23):
        with pytest.raises(ValueError, match=rf"multiple of 8 bytes, at least 16, received {size}$"):
            aes_key_wrap(KEY, bytes(size))
    with pytest.raises(ValueError, match="key_to_wrap must be at least 1 byte, received 0"):
        aes_key_wrap_with_padding(KEY, b"")
    for size in (0, 8, 15, 16, 25):
        with pytest.raises(InvalidUnwrap):
            aes_key_unwrap(KEY, bytes(size))
    for function in (*PLAIN, *PADDED):
        with pytest.raises(ValueError, match=r"The wrapping key must be 128, 192, or 256 bits\."):
            function(bytes(20), bytes(24))


def test_padded_lengths_beyond_the_limit() -> None:
    """OverflowError, and InvalidUnwrap, before anything is read or allocated."""
    try:
        area = mmap.mmap(-1, (1 << 32) + 16, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
    except (OSError, MemoryError):
        pytest.skip("no address space for 4 GiB")
    with memoryview(area) as view:
        with pytest.raises(OverflowError, match=r"longer than RFC 5649 allows"):
            aes_key_wrap_with_padding(KEY, view[: 1 << 32])
        with pytest.raises(InvalidUnwrap):
            aes_key_unwrap_with_padding(KEY, view)
    area.close()


def test_kinds() -> None:
    data = random.Random(5649).randbytes(48)
    for wrap, unwrap in KINDS.values():
        wrapped = wrap(KEY, data)
        anything: Any = wrap
        for kind, operand in buffers.contiguous(data).items():
            assert wrap(KEY, operand) == wrapped, kind
        assert unwrap(bytearray(KEY), bytearray(wrapped)) == data
        assert anything(wrapping_key=KEY, key_to_wrap=data) == wrapped
        for wrong in (None, 5, "text"):
            with pytest.raises(TypeError, match="a bytes-like object is required"):
                anything(KEY, wrong)
        with pytest.raises(BufferError):
            wrap(KEY, memoryview(data)[::2])
        with pytest.raises(TypeError):
            anything(KEY)


def test_invalid_unwrap_is_a_plain_exception() -> None:
    assert InvalidUnwrap.__mro__[1] is Exception
    assert fastcrypt.InvalidUnwrap.__module__ == "fastcrypt"
