# SPDX-License-Identifier: Apache-2.0
"""AESGCMSIV: RFC 8452 with its counter wraps, Wycheproof, cryptography; forgeries, buffers, overlap, limits.

test_aes_on_suites.py runs the checks on every suite.
"""

from __future__ import annotations

import copy
import mmap
import pickle
import random
from collections.abc import Callable, Iterator
from typing import Any

import buffers
import pytest
import vectors
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV as Reference

import fastcrypt
from fastcrypt import InvalidTag

# Called in every wrong way below, so without its types.
AESGCMSIV: Any = fastcrypt.AESGCMSIV

KEY, NONCE, AAD = bytes(range(32)), bytes(range(12)), bytes(range(20))
each_key_size = pytest.mark.parametrize("key_size", [16, 32])


def data_of(size: int, seed: int = 8452) -> bytes:
    return random.Random(seed).randbytes(size)


# ---- Vectors --------------------------------------------------------------------------------------


def check_rfc_8452() -> None:
    """Appendix C as OpenSSL has it, those of C.3, where the counter wraps, included."""
    wraps = 0
    for case in vectors.nist("ciphers/AES/GCM-SIV/openssl.txt", 46):
        names = ("Key", "IV", "Plaintext", "Ciphertext", "Tag")
        key, nonce, plaintext, ciphertext, tag = (bytes.fromhex(case[name]) for name in names)
        aad = bytes.fromhex(case.get("AAD", ""))
        assert AESGCMSIV(key).encrypt(nonce, plaintext, aad) == ciphertext + tag
        assert AESGCMSIV(key).decrypt(nonce, ciphertext + tag, aad) == plaintext
        wraps += tag.startswith(b"\xff\xff\xff\xff") and len(plaintext) > 16
    assert wraps == 2


def check_wycheproof() -> None:
    valid = 0
    for _, test in vectors.wycheproof("aes_gcm_siv_test.json", 202):
        names = ("key", "iv", "aad", "msg", "ct", "tag")
        key, nonce, aad, plaintext, ciphertext, tag = (bytes.fromhex(test[name]) for name in names)
        try:
            opened = AESGCMSIV(key).decrypt(nonce, ciphertext + tag, aad)
        except InvalidTag:
            opened = None
        assert opened == (plaintext if test["result"] == "valid" else None), test
        if opened is not None:
            assert AESGCMSIV(key).encrypt(nonce, plaintext, aad) == ciphertext + tag
            valid += 1
    assert valid == 136


def check_lengths() -> None:
    """Every length to 300, and around the pieces of 1 KiB; AAD of 0 to 80 bytes and some long."""
    rng = random.Random(1)
    for size in (*range(301), *(n for k in (1024, 2048, 4096) for n in range(k - 17, k + 18)), 70_000):
        key, nonce = rng.randbytes(rng.choice((16, 32))), rng.randbytes(12)
        data, aad = rng.randbytes(size), rng.randbytes(size % 81 if size != 300 else 5000)
        sealed = Reference(key).encrypt(nonce, data, aad)
        assert AESGCMSIV(key).encrypt(nonce, data, aad) == sealed, size
        assert AESGCMSIV(key).decrypt(nonce, sealed, aad) == data, size


@pytest.mark.parametrize("check", [check_rfc_8452, check_wycheproof, check_lengths], ids=lambda f: f.__name__)
def test_vectors(check: Callable[[], None]) -> None:
    check()


# ---- Forgeries ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 16, 33])
def test_every_flipped_bit_is_refused_and_leaves_nothing(size: int) -> None:
    aead = AESGCMSIV(KEY)
    sealed = aead.encrypt(NONCE, data_of(size), AAD)
    for bit in range(8 * len(sealed)):
        forged = bytearray(sealed)
        forged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(InvalidTag):
            aead.decrypt(NONCE, forged, AAD)
        out = bytearray(b"\xa5" * size)
        with pytest.raises(InvalidTag):
            aead.decrypt_into(NONCE, forged, AAD, out)
        assert out == bytes(size)


def test_flipped_nonce_aad_key_and_short_data() -> None:
    aead, sealed = AESGCMSIV(KEY), AESGCMSIV(KEY).encrypt(NONCE, data_of(48), AAD)
    other = bytes([NONCE[0] ^ 1]) + NONCE[1:]
    for arguments in ((other, sealed, AAD), (NONCE, sealed, AAD + b"\0"), (NONCE, sealed, None)):
        with pytest.raises(InvalidTag):
            aead.decrypt(*arguments)
    with pytest.raises(InvalidTag):
        AESGCMSIV(KEY[:16]).decrypt(NONCE, sealed, AAD)
    for size in range(len(sealed)):
        with pytest.raises(InvalidTag):
            aead.decrypt(NONCE, sealed[:size], AAD)


def test_forgery_in_place_is_zeroed() -> None:
    aead, area = AESGCMSIV(KEY), bytearray(AESGCMSIV(KEY).encrypt(NONCE, data_of(5000), AAD))
    area[-1] ^= 1
    tag = bytes(area[5000:])
    with pytest.raises(InvalidTag):
        aead.decrypt_into(NONCE, area, AAD, memoryview(area)[:5000])
    assert area == bytes(5000) + tag


# ---- Buffers --------------------------------------------------------------------------------------


def test_kinds_of_buffers() -> None:
    data = data_of(48)
    aead, sealed = AESGCMSIV(KEY), Reference(KEY).encrypt(NONCE, data, data)
    for kind, operand in buffers.contiguous(data).items():
        assert aead.encrypt(NONCE, operand, operand) == sealed, kind
    assert aead.encrypt(bytearray(NONCE), data, memoryview(data)) == sealed
    assert AESGCMSIV(bytearray(KEY)).decrypt(NONCE, bytearray(sealed), data) == data
    assert aead.encrypt(NONCE, data, None) == aead.encrypt(NONCE, data, b"")
    assert aead.encrypt(nonce=NONCE, data=data, associated_data=data) == sealed
    out = bytearray(len(sealed))
    assert aead.encrypt_into(NONCE, data, data, out) == len(sealed)
    assert out == sealed
    opened = bytearray(48)
    assert aead.decrypt_into(nonce=NONCE, data=sealed, associated_data=data, buf=opened) == 48
    assert opened == data


def overlapping(size: int, shift: int) -> tuple[bytearray, memoryview, memoryview]:
    """Memory with data of `size` bytes in the middle, a view of it, and a view shifted, for the result."""
    area = bytearray(b"\xa5" * 400)
    area[100 : 100 + size] = data_of(size)
    view = memoryview(area)
    return area, view[100 : 100 + size], view[100 + shift : 100 + shift + size + 16]


@pytest.mark.parametrize("size", [1, 15, 16, 17, 64, 130])
def test_every_overlap_is_right_or_refused(size: int) -> None:
    """Shifts from -64 to 64 bytes, encrypting; then the nonce and the AAD under the result."""
    aead, data = AESGCMSIV(KEY), data_of(size)
    sealed = Reference(KEY).encrypt(NONCE, data, AAD)
    for shift in range(-64, 65):
        area, source, out = overlapping(size, shift)
        before = bytes(area)
        apart = shift >= size or -shift >= size + 16
        if shift == 0 or apart:
            assert aead.encrypt_into(NONCE, source, AAD, out) == size + 16
            assert out == sealed
        else:
            with pytest.raises(ValueError, match="buffer overlaps data"):
                aead.encrypt_into(NONCE, source, AAD, out)
            assert area == before
    area = bytearray(NONCE + bytes(size + 16))
    sealed_at = memoryview(area)[: size + 16]
    aead.encrypt_into(memoryview(area)[:12], data, AAD, sealed_at)
    assert sealed_at == sealed
    area[:12] = NONCE
    with pytest.raises(ValueError, match="buffer overlaps associated_data"):
        aead.encrypt_into(NONCE, data, memoryview(area)[:1], sealed_at)
    assert area[:12] == NONCE


@pytest.mark.parametrize("size", [1, 16, 130])
def test_decryption_over_its_own_nonce_and_in_place(size: int) -> None:
    aead, data = AESGCMSIV(KEY), data_of(size)
    sealed = Reference(KEY).encrypt(NONCE, data, AAD)
    area = bytearray(NONCE + bytes(size))
    out = memoryview(area)[:size]
    assert aead.decrypt_into(memoryview(area)[:12], sealed, AAD, out) == size
    assert out == data
    area = bytearray(sealed)
    assert aead.decrypt_into(NONCE, area, AAD, memoryview(area)[:size]) == size
    assert area[:size] == data


# ---- The class ------------------------------------------------------------------------------------


def test_sizes() -> None:
    for size in (0, 15, 17, 24, 33, 64):
        with pytest.raises(ValueError, match=rf"AES-GCM-SIV key must be 128 or 256 bits, received {size}"):
            AESGCMSIV(bytes(size))
    aead = AESGCMSIV(key=KEY)
    for size in (0, 11, 13, 16):
        for call in (aead.encrypt, aead.decrypt):
            with pytest.raises(ValueError, match=rf"Nonce must be 12 bytes long, received {size}"):
                call(bytes(size), bytes(20), None)
    for size in (0, 19, 21):
        with pytest.raises(ValueError, match=f"buffer must be 20 bytes, received {size}"):
            aead.encrypt_into(NONCE, b"data", None, bytearray(size))
    with pytest.raises(TypeError, match="buffer is not writable"):
        aead.encrypt_into(NONCE, b"data", None, bytes(20))
    with pytest.raises(TypeError, match="buffer must be a writable bytes-like object"):
        aead.encrypt_into(NONCE, b"data", None, None)
    for wrong in (None, 5, "text"):
        with pytest.raises(TypeError, match="a bytes-like object is required"):
            aead.encrypt(NONCE, wrong, None)
        with pytest.raises(TypeError, match="a bytes-like object is required"):
            AESGCMSIV(wrong)
    for count in range(3):
        with pytest.raises(TypeError):
            aead.encrypt(*[NONCE] * count)


def test_generate_key() -> None:
    for bits in (128, 256):
        first, second = AESGCMSIV.generate_key(bits), AESGCMSIV.generate_key(bit_length=bits)
        assert len(first) == len(second) == bits // 8
        assert first != second
    for wrong in (0, 192, 512, -1, 2**70):
        with pytest.raises(ValueError, match="bit_length must be 128 or 256"):
            AESGCMSIV.generate_key(wrong)
    with pytest.raises(TypeError):
        AESGCMSIV.generate_key("128")


def test_final_opaque_and_immutable() -> None:
    aead = AESGCMSIV(KEY)
    assert repr(aead) == "<fastcrypt.AESGCMSIV object, 256-bit key>"
    assert repr(AESGCMSIV(KEY[:16])) == "<fastcrypt.AESGCMSIV object, 128-bit key>"
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot pickle"):
            copied(aead)
    with pytest.raises(TypeError):
        type("Sub", (AESGCMSIV,), {})
    with pytest.raises((TypeError, AttributeError)):
        AESGCMSIV.encrypt = None
    with pytest.raises(AttributeError):
        aead.key = b""
    assert aead != AESGCMSIV(KEY)


@pytest.fixture(scope="module")
def endless() -> Iterator[mmap.mmap]:
    """64 GiB and 32 bytes of address space that take no memory."""
    norereserve = getattr(mmap, "MAP_NORESERVE", 0x4000)
    try:
        area = mmap.mmap(-1, (1 << 36) + 32, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | norereserve)
    except (OSError, MemoryError):
        pytest.skip("no address space for 64 GiB")
    with area:
        yield area


def test_lengths_beyond_the_limit(endless: mmap.mmap) -> None:
    """RFC 8452 section 6: OverflowError before anything is read."""
    aead = AESGCMSIV(KEY)
    with memoryview(endless) as view:
        too_long, sealed = view[: (1 << 36) + 1], view[: (1 << 36) + 17]
        for arguments in ((NONCE, too_long, None), (NONCE, b"", too_long)):
            with pytest.raises(OverflowError, match=r"longer than GCM-SIV allows \(2\*\*36 bytes\)"):
                aead.encrypt(*arguments)
        with pytest.raises(OverflowError, match="data is longer"):
            aead.decrypt(NONCE, sealed, None)
        with pytest.raises(OverflowError, match="associated_data is longer"):
            aead.decrypt(NONCE, bytes(16), too_long)
        too_long.release()
        sealed.release()
