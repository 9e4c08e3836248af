# SPDX-License-Identifier: Apache-2.0
"""ECB, CBC and CTR against cryptography: lengths, chaining over calls, counters that wrap, seeking."""

from __future__ import annotations

import itertools
import random

import pytest
from aes_suites import (
    RowSuite,
    Suite,
    each_key_size,
    each_row,
    each_suite,
    message,
    reference_cbc,
    reference_ctr,
    reference_ecb,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrypt import AES, aes_decrypt, aes_encrypt

LENGTHS = [*range(601), *range(1023, 1041), *range(4095, 4201, 5)]
WHOLE = [size for size in range(0, 4209, 16) if size <= 1040 or size >= 4080]
LONGEST = 4208

# ---- Every length ---------------------------------------------------------------------------------


@each_key_size
@each_suite
def test_ecb_every_length(suite: Suite, key_size: int) -> None:
    key, data = message(key_size, seed=1), message(LONGEST, seed=2)
    sealed, opened = reference_ecb(key, data), reference_ecb(key, data, decrypt=True)
    for size in WHOLE:
        assert suite.ecb_encrypt(key, data[:size]) == sealed[:size], size
        assert suite.ecb_decrypt(key, data[:size]) == opened[:size], size


@each_key_size
@each_suite
def test_cbc_every_length(suite: Suite, key_size: int) -> None:
    key, data, iv = message(key_size, seed=3), message(LONGEST, seed=4), message(16, seed=5)
    sealed, opened = reference_cbc(key, iv, data), reference_cbc(key, iv, data, decrypt=True)
    for size in WHOLE:
        assert suite.cbc_encrypt(key, iv, data[:size]) == sealed[:size], size
        assert suite.cbc_decrypt(key, iv, data[:size]) == opened[:size], size


@each_key_size
@each_suite
def test_ctr_every_length(suite: Suite, key_size: int) -> None:
    key, data, iv = message(key_size, seed=6), message(LONGEST, seed=7), message(16, seed=8)
    expected = reference_ctr(key, int.from_bytes(iv, "big"), data)
    for size in LENGTHS:
        assert suite.ctr(key, iv, data[:size]) == expected[:size], size


@each_row
def test_in_place_and_nothing_else_written_on_every_row(suite: RowSuite) -> None:
    key, data, iv = message(32, seed=9), message(LONGEST, seed=10), message(16, seed=11)
    expected = {
        "ecb_encrypt": reference_ecb(key, data),
        "ecb_decrypt": reference_ecb(key, data, decrypt=True),
        "cbc_encrypt": reference_cbc(key, iv, data),
        "cbc_decrypt": reference_cbc(key, iv, data, decrypt=True),
        "ctr": reference_ctr(key, int.from_bytes(iv, "big"), data),
    }
    for function, whole in expected.items():
        for size in LENGTHS if function == "ctr" else WHOLE:
            area = bytearray(b"\xa5" * 64 + data[:size] + b"\x5a" * 64)
            view = memoryview(area)[64 : 64 + size]
            suite.call(function, key, *([] if "ecb" in function else [bytearray(iv)]), view, view)
            assert area == b"\xa5" * 64 + whole[:size] + b"\x5a" * 64, (function, size)


def cuts(rng: random.Random, size: int, unit: int) -> list[tuple[int, int]]:
    """[0, size) in pieces that end at multiples of `unit`."""
    at = sorted({0, size, *(unit * rng.randrange(size // unit) for _ in range(rng.randrange(1, 9)))})
    return list(itertools.pairwise(at))


@each_row
def test_state_advances_over_calls_on_every_row(suite: RowSuite) -> None:
    """The iv and the counter come back ready for the next call."""
    rng = random.Random(12)
    for key_size in (16, 24, 32):
        for _ in range(40):
            key, iv = rng.randbytes(key_size), rng.randbytes(16)
            data = rng.randbytes(16 * rng.randrange(1, 70))
            expected = {
                "cbc_encrypt": reference_cbc(key, iv, data),
                "cbc_decrypt": reference_cbc(key, iv, data, decrypt=True),
                "ctr": reference_ctr(key, int.from_bytes(iv, "big"), data),
            }
            for function, whole in expected.items():
                state, out = bytearray(iv), bytearray(len(data))
                for start, stop in cuts(rng, len(data), 16):
                    suite.call(function, key, state, data[start:stop], memoryview(out)[start:stop])
                assert out == whole, function
                after = (int.from_bytes(iv, "big") + len(data) // 16) % 2**128
                last = {"cbc_encrypt": out, "cbc_decrypt": data, "ctr": after.to_bytes(16, "big")}
                assert state == last[function][-16:], function


@each_row
def test_state_stays_after_no_data_on_every_row(suite: RowSuite) -> None:
    for function in ("cbc_encrypt", "cbc_decrypt", "ctr"):
        state = bytearray(message(16))
        suite.call(function, bytes(16), state, b"", bytearray())
        assert state == message(16)


# ---- Counters -------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [32, 64, 128])
@each_suite
def test_ctr_counters_near_a_carry(suite: Suite, bits: int) -> None:
    """Every counter within 70 blocks of 2^32, 2^64 and 2^128, on messages that pass it or end there."""
    rng = random.Random(bits)
    key, data = rng.randbytes(32), rng.randbytes(16 * 75)
    for below in range(-2, 71):
        counter = ((rng.getrandbits(128) >> bits << bits) - below) % 2**128
        for size in (len(data), 16 * max(below, 1), 16 * max(below, 1) + 7):
            expected = reference_ctr(key, counter, data[:size])
            assert suite.ctr(key, counter.to_bytes(16, "big"), data[:size]) == expected, (below, size)


@pytest.mark.parametrize("bits", [8, 16, 32, 64, 96, 128])
@each_row
def test_counter_after_a_carry_on_every_row(suite: RowSuite, bits: int) -> None:
    """The blocks begun are counted modulo 2^128."""
    rng = random.Random(bits)
    for size in [*range(0, 290, 7), 1000, 1120, 1200]:
        below = rng.randrange(1, 70)
        start = ((rng.getrandbits(128) >> bits << bits) - below) % 2**128
        counter = bytearray(start.to_bytes(16, "big"))
        suite.call("ctr", bytes(16), counter, bytes(size), bytearray(size))
        assert int.from_bytes(counter, "big") == (start + -(-size // 16)) % 2**128, (start, size)


def seek_reference(key: bytes, iv: int, offset: int, data: bytes) -> bytes:
    skip = offset % 16
    return reference_ctr(key, iv + offset // 16, bytes(skip) + data)[skip:]


OFFSETS = [
    *range(50),
    *(
        16 * blocks + d
        for blocks in (8, 64, 2**12, 2**28, 2**31, 2**32, 2**40, 2**59)
        for d in (-1, 0, 1, 15)
    ),
    2**31 - 1,
    2**32 + 5,
    2**63 - 1,
    2**63,
    2**64 - 16,
    2**64 - 2,
    2**64 - 1,
]


@pytest.mark.parametrize("iv", [0, 5, 2**32 - 3, 2**64 - 3, 2**128 - 3, 2**128 - 2**60, 2**127 + 12345])
def test_ctr_offset(iv: int) -> None:
    """Every place inside a block, with data that end in that block, with it and behind it; far seeks."""
    key, data = message(24, seed=13), message(200, seed=14)
    cipher, counter = AES(key), iv.to_bytes(16, "big")
    for offset in OFFSETS:
        expected = seek_reference(key, iv, offset, data)
        for size in (0, 1, 15 - offset % 16, 16 - offset % 16, 17 - offset % 16, 33, 200):
            assert cipher.ctr(counter, data[:size], offset=offset) == expected[:size], (offset, size)


def test_ctr_offset_pieces_join() -> None:
    """A stream cut anywhere is the stream: in place, too."""
    rng = random.Random(15)
    for _ in range(100):
        key, iv = rng.randbytes(16), rng.randbytes(16)
        data = bytearray(rng.randbytes(rng.randrange(1, 400)))
        expected = reference_ctr(key, int.from_bytes(iv, "big"), bytes(data))
        cipher = AES(key)
        for start, stop in cuts(rng, len(data), 1):
            view = memoryview(data)[start:stop]
            assert cipher.ctr(iv, view, offset=start, out=view) == stop - start
        assert data == expected


# ---- Padding --------------------------------------------------------------------------------------


def pkcs7(data: bytes) -> bytes:
    """RFC 5652 section 6.3."""
    pad = 16 - len(data) % 16
    return data + bytes([pad]) * pad


@each_key_size
def test_pkcs7_every_length(key_size: int) -> None:
    key, iv, data = message(key_size, seed=16), message(16, seed=17), message(LONGEST, seed=18)
    cipher = AES(key)
    for size in LENGTHS:
        padded = pkcs7(data[:size])
        sealed = reference_cbc(key, iv, padded)
        assert cipher.cbc_encrypt(iv, data[:size], padding="pkcs7") == sealed, size
        assert cipher.cbc_decrypt(iv, sealed, padding="pkcs7") == data[:size], size
        assert aes_encrypt(key, data[:size], mode="cbc", iv=iv, padding="pkcs7") == sealed
        assert aes_decrypt(key, sealed, mode="cbc", iv=iv, padding="pkcs7") == data[:size]
        sealed = reference_ecb(key, padded)
        assert aes_encrypt(key, data[:size], mode="ecb", padding="pkcs7") == sealed
        assert aes_decrypt(key, sealed, mode="ecb", padding="pkcs7") == data[:size]


def test_pkcs7_every_pad() -> None:
    """out has the size of the ciphertext; behind the plaintext it is zeroed. In place as well."""
    key, iv = message(16, seed=19), message(16, seed=20)
    cipher = AES(key)
    for size in range(49):
        data = message(size, seed=size)
        sealed = reference_cbc(key, iv, pkcs7(data))
        for in_place in (False, True):
            out = bytearray(sealed) if in_place else bytearray(b"\xee" * len(sealed))
            source: bytes | bytearray | memoryview = out if in_place else sealed
            assert cipher.cbc_decrypt(iv, source, padding="pkcs7", out=out) == size
            assert out == data + bytes(len(sealed) - size)
            room = bytearray(data + b"\xee" * (len(sealed) - size))
            source = memoryview(room)[:size] if in_place else data
            assert cipher.cbc_encrypt(iv, source, padding="pkcs7", out=room) == len(sealed)
            assert room == sealed


def good_padding(block: bytes | bytearray) -> int:
    """How many bytes of padding a last block has, or 0: straight from RFC 5652."""
    pad = block[-1]
    return pad if 1 <= pad <= 16 and block[-pad:] == bytes([pad]) * pad else 0


def check_last_block(cipher: AES, key: bytes, iv: bytes, block: bytes) -> bool:
    """Decrypt data that end in `block`; whether its padding is right."""
    data = b"first block, 16b" + block
    sealed = reference_cbc(key, iv, data)
    out = bytearray(b"\xee" * 32)
    if pad := good_padding(block):
        assert cipher.cbc_decrypt(iv, sealed, padding="pkcs7") == data[:-pad]
        assert cipher.cbc_decrypt(iv, sealed, padding="pkcs7", out=out) == 32 - pad
        assert out == data[:-pad] + bytes(pad)
        return True
    for target in (None, out):
        with pytest.raises(ValueError, match=r"\AInvalid padding bytes\.\Z"):
            cipher.cbc_decrypt(iv, sealed, padding="pkcs7", out=target)
    assert out == bytes(32), "plaintext of a message with wrong padding"
    return False


def test_pkcs7_every_last_byte() -> None:
    """All 256 last bytes over blocks that are otherwise right for 16, for 8, for 1 or for nothing."""
    key, iv = message(32, seed=21), message(16, seed=22)
    cipher = AES(key)
    for fill in (b"\x10", b"\x08", b"\x01", b"\x00", b"\xff"):
        right = [check_last_block(cipher, key, iv, fill * 15 + bytes([last])) for last in range(256)]
        assert sum(right) in (1, 2)
        assert right[1]


def test_pkcs7_every_wrong_byte() -> None:
    """For each pad, each of its bytes wrong by one bit; and bytes before it, which do not matter."""
    key, iv = message(16, seed=23), message(16, seed=24)
    cipher = AES(key)
    for pad in range(1, 17):
        block = message(16 - pad, seed=pad) + bytes([pad]) * pad
        assert check_last_block(cipher, key, iv, block)
        for at in range(16):
            for bit in (1, 0x10, 0x80):
                changed = bytearray(block)
                changed[at] ^= bit
                assert check_last_block(cipher, key, iv, bytes(changed)) == bool(good_padding(changed))
                if at < 15:
                    assert bool(good_padding(changed)) == (at < 16 - pad)


@given(st.binary(min_size=16, max_size=16).filter(lambda block: not good_padding(block)))
@settings(deadline=None, max_examples=200)
def test_pkcs7_random_last_blocks(block: bytes) -> None:
    key = bytes(16)
    assert not check_last_block(AES(key), key, bytes(16), block)


@pytest.mark.parametrize("mode", ["ecb", "cbc"])
def test_pkcs7_nothing_to_decrypt(mode: str) -> None:
    """b"" has no padding, so it is wrong: the same text as for any other wrong padding."""
    iv = {"iv": bytes(16)} if mode == "cbc" else {}
    with pytest.raises(ValueError, match=r"\AInvalid padding bytes\.\Z"):
        aes_decrypt(bytes(16), b"", mode=mode, padding="pkcs7", **iv)  # type: ignore[call-overload]
    assert aes_decrypt(bytes(16), b"", mode=mode, **iv) == b""  # type: ignore[call-overload]
