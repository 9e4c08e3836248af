# SPDX-License-Identifier: Apache-2.0
"""AESXTS and the kernels xts_encrypt and xts_decrypt: NIST CAVP, Wycheproof, cryptography."""

from __future__ import annotations

import copy
import pickle
import random
import re
from typing import Any

import pytest
from aes_suites import RowSuite, each_row, message, reference, reference_ecb
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from guarded import Guarded, zeros
from vectors import nist, wycheproof

from fastcrypt import AES, AESXTS

KEY, KEY64, TWEAK = message(32, seed=51), message(64, seed=52), message(16, seed=53)
LONGEST = 2**24


def reference_xts(key: bytes, tweak: bytes, data: bytes, decrypt: bool = False) -> bytes:
    return reference(key, modes.XTS(tweak), data, decrypt)


# ---- Vectors --------------------------------------------------------------------------------------


def cavp(bits: int, tweaks: str) -> list[tuple[bytes, bytes, bytes, bytes]]:
    """Key, tweak, plaintext, ciphertext; without data units that are no whole bytes."""
    found = []
    for case in nist(f"ciphers/AES/XTS/tweak-{tweaks}/XTSGenAES{bits}.rsp", 1000):
        if int(case["DataUnitLen"]) % 8 != 0:
            continue
        number = case.get("DataUnitSeqNumber")
        tweak = bytes.fromhex(case["i"]) if number is None else int(number).to_bytes(16, "little")
        found.append(
            (bytes.fromhex(case["Key"]), tweak, bytes.fromhex(case["PT"]), bytes.fromhex(case["CT"]))
        )
    return found


@pytest.mark.parametrize("tweaks", ["128hexstr", "dataunitseqno"])
@pytest.mark.parametrize(("bits", "count"), [(128, 800), (256, 600)])
def test_cavp(bits: int, count: int, tweaks: str) -> None:
    cases = cavp(bits, tweaks)
    assert len(cases) == count
    for key, tweak, plain, cipher in cases:
        xts = AESXTS(key)
        assert xts.encrypt(tweak, plain) == cipher
        assert xts.decrypt(tweak, cipher) == plain


@pytest.mark.parametrize("bits", [128, 256])
@each_row
def test_cavp_on_every_row(suite: RowSuite, bits: int) -> None:
    """Whole blocks: the kernels know nothing else."""
    whole = [case for case in cavp(bits, "128hexstr") if len(case[2]) % 16 == 0]
    assert len(whole) == 600
    for key, number, plain, cipher in whole[::3]:
        first, second = key[: len(key) // 2], key[len(key) // 2 :]
        for function, source, wanted in (("xts_encrypt", plain, cipher), ("xts_decrypt", cipher, plain)):
            tweak = bytearray(suite.ecb_encrypt(second, number))
            suite.call(function, first, tweak, source, out := bytearray(len(source)))
            assert out == wanted, key


def test_wycheproof() -> None:
    """Data unit numbers of 1 to 16 bytes, little-endian. A key of 48 bytes is none of IEEE 1619's."""
    right = 0
    for _, test in wycheproof("aes_xts_test.json", 123):
        key, number, plain, cipher = (bytes.fromhex(test[k]) for k in ("key", "iv", "msg", "ct"))
        assert test["result"] == "valid"
        if len(key) == 48:
            with pytest.raises(ValueError, match="32 or 64 bytes, received 48"):
                AESXTS(key)
            continue
        tweak = number.ljust(16, b"\0")
        assert AESXTS(key).encrypt(tweak, plain) == cipher
        assert AESXTS(key).decrypt(tweak, cipher) == plain
        right += 1
    assert right == 82


# ---- Every length ---------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [KEY, KEY64], ids=["32", "64"])
def test_every_length(key: bytes) -> None:
    """Stealing included; into a new object, into `out`, and in place."""
    xts = AESXTS(key)
    for size in [*range(16, 601), 4095, 4096, 4097, 20_001]:
        data = message(size, seed=size)
        sealed = reference_xts(key, TWEAK, data)
        assert xts.encrypt(TWEAK, data) == sealed, size
        assert xts.decrypt(TWEAK, sealed) == data, size
        buffer = bytearray(data)
        assert xts.encrypt(TWEAK, buffer, out=buffer) == size
        assert buffer == sealed, size
        assert xts.decrypt(TWEAK, buffer, out=buffer) == size
        assert buffer == data, size


@each_row
def test_every_number_of_blocks_on_every_row(suite: RowSuite) -> None:
    """Where the tweak stands afterwards, too: a data unit in two calls is the whole."""
    rng = random.Random(54)
    for blocks in [*range(1, 70), 128, 129]:
        key, tweak, data = rng.randbytes(rng.choice([32, 64])), rng.randbytes(16), rng.randbytes(16 * blocks)
        first, second = key[: len(key) // 2], key[len(key) // 2 :]
        start = reference_ecb(second, tweak)
        cut = 16 * rng.randrange(blocks + 1)
        for decrypt, function in ((False, "xts_encrypt"), (True, "xts_decrypt")):
            running, out = bytearray(start), bytearray(data)
            view = memoryview(out)
            suite.call(function, first, running, view[:cut], view[:cut])
            suite.call(function, first, running, data[cut:], view[cut:])
            assert out == reference_xts(key, tweak, data, decrypt), blocks
            number = int.from_bytes(start, "little")
            for _ in range(blocks):
                number = (number << 1) ^ ((number >> 127) * (2**128 | 0x87))
            assert running == number.to_bytes(16, "little"), blocks


def test_the_longest_data_unit_and_no_longer() -> None:
    data = message(LONGEST, seed=55)
    encryptor = Cipher(algorithms.AES(KEY), modes.XTS(TWEAK)).encryptor()
    sealed = bytearray(LONGEST + 15)
    assert encryptor.update_into(data, sealed) == LONGEST
    assert AESXTS(KEY).encrypt(TWEAK, data) == sealed[:LONGEST]
    for call in (AESXTS(KEY).encrypt, AESXTS(KEY).decrypt):
        with pytest.raises(OverflowError, match=r"longer than XTS allows \(2\*\*24 bytes\)"):
            call(TWEAK, zeros(LONGEST + 1))


def test_guard_pages() -> None:
    areas = {name: Guarded() for name in ("key", "tweak", "data", "out")}
    for size in range(16, 200):
        data = message(size, seed=size)
        sealed = reference_xts(KEY, TWEAK, data)
        for place in (Guarded.at_start, Guarded.at_end):
            values = {"key": KEY, "tweak": TWEAK, "data": data, "out": bytes(size)}
            v = {name: place(areas[name], value) for name, value in values.items()}
            assert AESXTS(v["key"]).encrypt(v["tweak"], v["data"], out=v["out"]) == size
            assert v["out"] == sealed, size
            assert AESXTS(v["key"]).decrypt(v["tweak"], v["out"], out=v["out"]) == size
            assert v["out"] == data, size


# ---- Arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 16, 24, 31, 33, 48, 63, 65, 128])
def test_other_key_sizes(size: int) -> None:
    with pytest.raises(ValueError, match=f"AESXTS key must be 32 or 64 bytes, received {size}"):
        AESXTS(message(size))


def test_equal_halves_are_refused() -> None:
    """FIPS 140 wants it, SP 800-38E's guidance too, and cryptography refuses them."""
    for size in (16, 32):
        half = message(size, seed=size)
        with pytest.raises(ValueError, match="two halves of an AESXTS key must differ"):
            AESXTS(half + half)
        for bit in range(8 * size):
            other = (int.from_bytes(half, "little") ^ 1 << bit).to_bytes(size, "little")
            AESXTS(half + other)


def test_wrong_arguments() -> None:
    xts: Any = AESXTS(KEY)
    for call in (xts.encrypt, xts.decrypt):
        for size in (0, 1, 15, 17, 32):
            with pytest.raises(ValueError, match=f"tweak must be 16 bytes, received {size}"):
                call(bytes(size), bytes(16))
        for size in (0, 1, 15):
            with pytest.raises(ValueError, match=f"data must be 16 bytes or more, received {size}"):
                call(TWEAK, bytes(size))
        with pytest.raises(ValueError, match="out must be 20 bytes, received 32"):
            call(TWEAK, bytes(20), out=bytearray(32))
        area = memoryview(bytearray(40))
        with pytest.raises(ValueError, match="out overlaps data"):
            call(TWEAK, area[:20], out=area[1:21])
        for wrong in ("text", None, 5):
            with pytest.raises(TypeError):
                call(TWEAK, wrong)
            with pytest.raises(TypeError):
                call(wrong, bytes(16))
        with pytest.raises(TypeError, match="out is not writable"):
            call(TWEAK, bytes(16), out=bytes(16))
        with pytest.raises(BufferError):
            call(TWEAK, memoryview(bytes(32))[::2])
        with pytest.raises(TypeError, match="missing required argument 'data'"):
            call(TWEAK)
    with pytest.raises(TypeError):
        AESXTS("k" * 32)  # type: ignore[arg-type]
    assert xts.encrypt(data=bytes(16), tweak=TWEAK) == reference_xts(KEY, TWEAK, bytes(16))


def test_the_tweak_inside_out_is_read_first() -> None:
    for at in range(48 - 15):
        out = bytearray(message(48, seed=at))
        tweak = bytes(out[at : at + 16])
        AESXTS(KEY).encrypt(memoryview(out)[at : at + 16], bytes(48), out=out)
        assert out == reference_xts(KEY, tweak, bytes(48))


def test_object() -> None:
    xts: Any = AESXTS(KEY64)
    assert (xts.key_size, AESXTS(KEY).key_size) == (64, 32)
    assert repr(xts) == "<fastcrypt.AESXTS object, 512-bit key>"
    assert not re.search(KEY64[:4].hex(), repr(xts))
    for refuse in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle"):
            refuse(xts)
    with pytest.raises(TypeError):
        type("Sub", (AESXTS,), {})
    with pytest.raises(AttributeError):
        xts.attribute = 1
    assert AES(KEY64[:32]).ecb_encrypt(bytes(16)) != xts.encrypt(bytes(16), bytes(16))
