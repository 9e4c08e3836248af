# SPDX-License-Identifier: Apache-2.0
"""AES-GCM: the kernels against cryptography, forgeries, and class AESGCM as a drop-in (rows AG)."""

from __future__ import annotations

import copy
import functools
import hashlib
import itertools
import mmap
import pickle
import random
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import buffers
import cryptography.exceptions
import pytest
from aes_suites import (
    RowSuite,
    Suite,
    each_key_size,
    each_row,
    each_suite,
    message,
    reference_ecb,
)
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM as Reference

import fastcrypt
from fastcrypt import InvalidTag

# Called in every wrong way below, so without its types.
AESGCM: Any = fastcrypt.AESGCM

KEY, NONCE, AAD, IV = message(32, seed=1), message(12, seed=2), message(20, seed=3), bytes(16)
LENGTHS = [*range(601), *range(1023, 1041), *range(4095, 4201, 5)]

# ---- Kernels against cryptography -----------------------------------------------------------------


@each_key_size
@each_suite
def test_every_length(suite: Suite, key_size: int) -> None:
    rng = random.Random(key_size)
    key = rng.randbytes(key_size)
    peer = Reference(key)
    for size in LENGTHS:
        nonce, aad, data = rng.randbytes(12), rng.randbytes(size % 81), rng.randbytes(size)
        sealed = peer.encrypt(nonce, data, aad)
        assert suite.seal(key, nonce, aad, data) == (sealed[:size], sealed[size:]), size
        if isinstance(suite, RowSuite):
            assert suite.open(key, nonce, aad, sealed[:size]) == (data, sealed[size:]), size
        else:
            assert AESGCM(key).decrypt(nonce, sealed, aad) == data, size
            assert fastcrypt.aes_decrypt(key, sealed, mode="gcm", iv=nonce, aad=aad) == data


@functools.cache
def message_of_length(size: int) -> tuple[bytes, bytes, bytes]:
    """Nonce, text, and what cryptography makes of them."""
    nonce, data = size.to_bytes(12, "little"), message(size, seed=size)
    return nonce, data, Reference(KEY).encrypt(nonce, data, AAD)


@each_row
def test_every_length_up_to_4200_on_every_row(suite: RowSuite) -> None:
    """No powers of two and their neighbours only; every row gives what the portable row gives, too."""
    for size in range(4201):
        nonce, data, sealed = message_of_length(size)
        assert suite.seal(KEY, nonce, AAD, data) == (sealed[:size], sealed[size:]), size
        assert suite.open(KEY, nonce, AAD, sealed[:size]) == (data, sealed[size:]), size


def test_associated_data_of_more_than_2_to_the_32_bits() -> None:
    """Its length in bits has to be counted in 64 bits. The peer has it in pieces."""
    size = (1 << 29) + 16
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as zeros:
        peer = Cipher(algorithms.AES(KEY), modes.GCM(NONCE)).encryptor()
        piece = bytes(1 << 20)
        for _ in range(size >> 20):
            peer.authenticate_additional_data(piece)
        peer.authenticate_additional_data(bytes(16))
        text = peer.update(DATA) + peer.finalize()
        assert AESGCM(KEY).encrypt(NONCE, DATA, zeros) == text + peer.tag


@each_suite
def test_every_length_of_associated_data(suite: Suite) -> None:
    rng = random.Random(4)
    key = rng.randbytes(16)
    peer = Reference(key)
    for size in [*range(81), 127, 128, 129, 255, 256, 257, 1000, 5000]:
        aad = rng.randbytes(size)
        for data in (b"", b"a", rng.randbytes(16), rng.randbytes(33), rng.randbytes(160)):
            nonce = rng.randbytes(12)
            sealed = peer.encrypt(nonce, data, aad)
            assert suite.seal(key, nonce, aad, data) == (sealed[:-16], sealed[-16:]), (size, len(data))


@each_suite
def test_every_length_of_nonce(suite: Suite) -> None:
    """8 to 128 bytes, which is what cryptography takes; the CAVP files have shorter ones."""
    rng = random.Random(5)
    key = rng.randbytes(24)
    peer = Reference(key)
    for size in range(8, 129):
        nonce, aad, data = rng.randbytes(size), rng.randbytes(7), rng.randbytes(50)
        sealed = peer.encrypt(nonce, data, aad)
        assert suite.seal(key, nonce, aad, data) == (sealed[:-16], sealed[-16:]), size


@each_row
def test_message_in_pieces_on_every_row(suite: RowSuite) -> None:
    """gcm_encrypt and gcm_decrypt leave counter and GHASH value ready for the next piece."""
    rng = random.Random(6)
    for _ in range(60):
        key, nonce = rng.randbytes(rng.choice([16, 24, 32])), rng.randbytes(12)
        aad, data = rng.randbytes(rng.randrange(40)), rng.randbytes(rng.randrange(1, 900))
        sealed = Reference(key).encrypt(nonce, data, aad)
        inner = sorted(16 * rng.randrange(len(data) // 16 + 1) for _ in range(4))
        pieces = list(itertools.pairwise([0, *inner, len(data)]))
        for function, source, target in (
            ("gcm_encrypt", data, sealed[:-16]),
            ("gcm_decrypt", sealed[:-16], data),
        ):
            counter, y, out = bytearray(nonce + bytes([0, 0, 0, 2])), bytearray(16), bytearray(len(data))
            suite.call("ghash", key, y, aad)
            for start, stop in pieces:
                suite.call(function, key, counter, y, source[start:stop], memoryview(out)[start:stop])
            assert out == target, function
            assert counter == nonce + (2 + -(-len(data) // 16)).to_bytes(4, "big")
            suite.call(
                "ghash", key, y, (8 * len(aad)).to_bytes(8, "big") + (8 * len(data)).to_bytes(8, "big")
            )
            mask = reference_ecb(key, nonce + bytes([0, 0, 0, 1]))
            assert bytes(a ^ b for a, b in zip(y, mask, strict=True)) == sealed[-16:]


@each_row
def test_in_place_and_nothing_else_written_on_every_row(suite: RowSuite) -> None:
    rng = random.Random(7)
    for size in [*range(300), 1024, 4095, 4096, 4097]:
        data = rng.randbytes(size)
        sealed = Reference(KEY).encrypt(NONCE, data, AAD)
        for function, source, target in (
            ("gcm_seal", data, sealed[:size]),
            ("gcm_open", sealed[:size], data),
        ):
            area = bytearray(b"\xa5" * 64 + source + b"\x5a" * 64)
            view = memoryview(area)[64 : 64 + size]
            assert suite.call(function, KEY, suite.j0(KEY, NONCE), AAD, view, view) == sealed[size:]
            assert area == b"\xa5" * 64 + target + b"\x5a" * 64, (function, size)


# ---- The counter's low 32 bits wrap ---------------------------------------------------------------


def gf_multiply(x: int, y: int) -> int:
    """SP 800-38D section 6.3, on numbers whose most significant bit is x^0."""
    z = 0
    for i in range(127, -1, -1):
        if x >> i & 1:
            z ^= y
        y = y >> 1 ^ (0xE1 << 120 if y & 1 else 0)
    return z


def gf_invert(x: int) -> int:
    """x^(2^128 - 2)"""
    result, power = 1 << 127, x
    for _ in range(127):
        power = gf_multiply(power, power)
        result = gf_multiply(result, power)
    return result


def nonce_for(key: bytes, j0: int) -> bytes:
    """The 16-byte nonce whose pre-counter block is j0: GHASH of one block and its length, undone."""
    inverse = gf_invert(int.from_bytes(reference_ecb(key, bytes(16)), "big"))
    return gf_multiply(gf_multiply(j0, inverse) ^ 128, inverse).to_bytes(16, "big")


@each_suite
def test_low_32_bits_wrap(suite: Suite) -> None:
    """inc32 must not carry into the nonce: every distance up to 40 blocks before the wrap."""
    rng = random.Random(8)
    key = rng.randbytes(32)
    peer = Reference(key)
    high = rng.getrandbits(96) << 32
    data, aad = rng.randbytes(16 * 50 + 5), rng.randbytes(13)
    for below in range(1, 41):
        j0 = high | 2**32 - below
        nonce = nonce_for(key, j0)
        if isinstance(suite, RowSuite):
            assert suite.j0(key, nonce) == j0.to_bytes(16, "big")
        for size in (16 * below, 16 * below + 16, len(data)):
            sealed = peer.encrypt(nonce, data[:size], aad)
            assert suite.seal(key, nonce, aad, data[:size]) == (sealed[:-16], sealed[-16:]), below
            if isinstance(suite, RowSuite):
                assert suite.open(key, nonce, aad, sealed[:-16]) == (data[:size], sealed[-16:]), below
            else:
                assert AESGCM(key).decrypt(nonce, sealed, aad) == data[:size]


@each_row
def test_counter_after_the_wrap_on_every_row(suite: RowSuite) -> None:
    for size in (16, 17, 160, 1000):
        for function in ("gcm_encrypt", "gcm_decrypt"):
            counter = bytearray(b"\x77" * 12 + b"\xff\xff\xff\xfe")
            suite.call(function, KEY, counter, bytearray(16), bytes(size), bytearray(size))
            low = (2**32 - 2 + -(-size // 16)) % 2**32
            assert counter == b"\x77" * 12 + low.to_bytes(4, "big")


# ---- Forgeries ------------------------------------------------------------------------------------


def flips(data: bytes) -> list[bytes]:
    """data with each of its bits flipped in turn."""
    value = int.from_bytes(data, "big")
    return [(value ^ 1 << bit).to_bytes(len(data), "big") for bit in range(8 * len(data))]


DATA = message(33, seed=9)
SEALED = Reference(KEY).encrypt(NONCE, DATA, AAD)
Forgery = tuple[bytes, bytes, bytes | None]
FORGERIES: dict[str, list[Forgery]] = {
    "tag": [(NONCE, SEALED[:-16] + tag, AAD) for tag in flips(SEALED[-16:])],
    "ciphertext": [(NONCE, text + SEALED[-16:], AAD) for text in flips(SEALED[:-16])],
    "aad": [(NONCE, SEALED, aad) for aad in flips(AAD)],
    "nonce": [(nonce, SEALED, AAD) for nonce in flips(NONCE)],
    "lengths": [
        (NONCE, SEALED, AAD[:-1]),
        (NONCE, SEALED, AAD + b"\0"),
        (NONCE, SEALED, b""),
        (NONCE, SEALED, None),
        (NONCE, SEALED[1:], AAD),
        (NONCE, SEALED[:-17] + SEALED[-16:], AAD),
        (NONCE, SEALED[:-16] + b"\0" + SEALED[-16:], AAD),
        (NONCE[:-1], SEALED, AAD),
        (NONCE + b"\0", SEALED, AAD),
        # What moves between associated data and ciphertext changes the length block.
        (NONCE, SEALED[1:], AAD + SEALED[:1]),
    ],
    "cut tag": [(NONCE, SEALED[: -16 + n], AAD) for n in range(16)],
    "long tag": [(NONCE, SEALED + bytes(n), AAD) for n in range(1, 20)],
    "zero tag": [(NONCE, SEALED[:-16] + bytes(16), AAD), (NONCE, bytes(16), None)],
}
each_forgery = pytest.mark.parametrize("forgeries", FORGERIES.values(), ids=FORGERIES)


def test_the_message_that_forgeries_change_is_right() -> None:
    assert AESGCM(KEY).decrypt(NONCE, SEALED, AAD) == DATA
    assert [len(FORGERIES[part]) for part in ("tag", "ciphertext", "aad", "nonce")] == [128, 264, 160, 96]


def ways_to_decrypt(nonce: bytes, sealed: Any, aad: Any) -> list[Callable[[], Any]]:
    aead = AESGCM(KEY)
    return [
        lambda: aead.decrypt(nonce, sealed, aad),
        lambda: fastcrypt.aes_decrypt(KEY, sealed, mode="gcm", iv=nonce, aad=aad),
        lambda: aead.decrypt_detached(nonce, sealed[:-16], sealed[-16:], aad),
    ]


def ways_to_decrypt_into(nonce: bytes, sealed: Any, aad: Any, out: memoryview) -> list[Callable[[], Any]]:
    aead = AESGCM(KEY)
    return [
        lambda: aead.decrypt_into(nonce, sealed, aad, out),
        lambda: fastcrypt.aes_decrypt(KEY, sealed, mode="gcm", iv=nonce, aad=aad, out=out),
        lambda: aead.decrypt_detached(nonce, sealed[:-16], sealed[-16:], aad, out=out),
    ]


@each_forgery
def test_ag_5_forgeries(forgeries: list[Forgery]) -> None:
    for forgery in forgeries:
        for call in ways_to_decrypt(*forgery):
            with pytest.raises(InvalidTag) as error:
                call()
            assert error.value.args == ()
            assert error.value.index is None


@each_forgery
def test_ag_6_forgeries(forgeries: list[Forgery]) -> None:
    """`out` is all zeros afterwards and nothing around it is written."""
    for nonce, sealed, aad in forgeries:
        size = len(sealed) - 16
        area = bytearray(size + 16)
        for call in ways_to_decrypt_into(nonce, sealed, aad, memoryview(area)[8:-8]):
            area[:] = b"\xa5" * 8 + b"\xee" * size + b"\x5a" * 8
            with pytest.raises(InvalidTag):
                call()
            assert area == b"\xa5" * 8 + bytes(size) + b"\x5a" * 8


@each_forgery
def test_ag_6_forgeries_in_place(forgeries: list[Forgery]) -> None:
    """The ciphertext is zeroed too; the tag behind it, which is no part of `out`, stays."""
    for nonce, sealed, aad in forgeries:
        size, tag = len(sealed) - 16, sealed[-16:]
        area = bytearray(size + 32)
        data = memoryview(area)[8:-8]
        for call in ways_to_decrypt_into(nonce, data, aad, data[:size]):
            area[:] = b"\xa5" * 8 + sealed + b"\x5a" * 8
            with pytest.raises(InvalidTag):
                call()
            assert area == b"\xa5" * 8 + bytes(size) + tag + b"\x5a" * 8


@pytest.mark.parametrize("size", [*range(50), 255, 256, 1000, 20000])
def test_out_is_zeroed_at_every_length(size: int) -> None:
    sealed = bytearray(AESGCM(KEY).encrypt(NONCE, message(size), AAD))
    sealed[-1] ^= 1
    out = bytearray(b"\xee" * size)
    with pytest.raises(InvalidTag):
        AESGCM(KEY).decrypt_into(NONCE, sealed, AAD, out)
    assert out == bytes(size)
    with pytest.raises(InvalidTag):
        AESGCM(KEY).decrypt_into(NONCE, sealed, AAD, memoryview(sealed)[:size])
    assert sealed[:size] == bytes(size)


@pytest.mark.parametrize("size", range(16))
def test_ag_5_decrypt_of_less_than_a_tag(size: int) -> None:
    for call in (
        lambda: AESGCM(KEY).decrypt(NONCE, bytes(size), None),
        lambda: fastcrypt.aes_decrypt(KEY, bytes(size), mode="gcm", iv=NONCE),
        lambda: AESGCM(KEY).decrypt_into(NONCE, bytes(size), None, bytearray(size)),
    ):
        with pytest.raises(InvalidTag):
            call()


def test_detached_tag_of_another_length() -> None:
    """A cut or longer tag never verifies, not even an empty one; `out` is zeroed then, too."""
    sealed, tag = AESGCM(KEY).encrypt_detached(NONCE, DATA, AAD)
    tags = [tag[:n] for n in range(16)] + [tag + b"\0", tag + tag]
    for wrong in tags:
        out = bytearray(sealed)
        with pytest.raises(InvalidTag):
            AESGCM(KEY).decrypt_detached(NONCE, out, wrong, AAD, out=out)
        assert out == bytes(len(sealed))
        with pytest.raises(InvalidTag):
            AESGCM(KEY).decrypt_detached(NONCE, sealed, wrong, AAD)


@each_row
def test_every_change_changes_the_tag_on_every_row(suite: RowSuite) -> None:
    """gcm_open computes the tag that the ciphertext should have: no flip may keep it."""
    tags = [suite.open(KEY, NONCE, AAD, SEALED[:-16])[1]]
    assert tags == [SEALED[-16:]]
    for nonce, sealed, aad in FORGERIES["ciphertext"] + FORGERIES["aad"] + FORGERIES["nonce"]:
        tags.append(suite.open(KEY, nonce, aad or b"", sealed[:-16])[1])
    assert len(set(tags)) == 1 + 264 + 160 + 96


def test_invalid_tag_is_no_value_error() -> None:
    """`except ValueError` around a decryption must not swallow forgeries."""
    assert InvalidTag.__mro__ == (InvalidTag, Exception, BaseException, object)
    assert str(InvalidTag()) == ""
    assert InvalidTag.index is None


# ---- Tag lengths ----------------------------------------------------------------------------------


@pytest.mark.parametrize("tag_length", [4, 8, 12, 13, 14, 15, 16])
def test_tag_length(tag_length: int) -> None:
    """A shorter tag is the start of the full one, and only that length verifies."""
    aead = AESGCM(KEY, tag_length=tag_length, allow_short_tag=tag_length < 12)
    assert aead.tag_length == tag_length
    sealed = aead.encrypt(NONCE, DATA, AAD)
    assert sealed == SEALED[: 33 + tag_length]
    assert aead.encrypt_detached(NONCE, DATA, AAD) == (SEALED[:33], SEALED[33 : 33 + tag_length])
    assert aead.decrypt(NONCE, sealed, AAD) == DATA
    assert aead.encrypt_into(NONCE, DATA, AAD, out := bytearray(len(sealed))) == len(sealed)
    assert out == sealed
    assert aead.decrypt_into(NONCE, sealed, AAD, out := bytearray(33)) == 33
    assert out == DATA
    for cut in range(tag_length):
        with pytest.raises(InvalidTag):
            aead.decrypt(NONCE, sealed[: len(sealed) - tag_length + cut], AAD)
    for longer in range(tag_length + 1, 17):
        with pytest.raises(InvalidTag):
            aead.decrypt(NONCE, SEALED[: 33 + longer], AAD)
    for tag in flips(sealed[33:]):
        with pytest.raises(InvalidTag):
            aead.decrypt_detached(NONCE, sealed[:33], tag, AAD)


@pytest.mark.parametrize("allow", [False, True])
@pytest.mark.parametrize(
    "tag_length", [-(2**70), -16, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 17, 32, 2**70]
)
def test_tag_length_refused(tag_length: int, allow: bool) -> None:
    if allow and tag_length in (4, 8):
        assert AESGCM(KEY, tag_length=tag_length, allow_short_tag=allow).tag_length == tag_length
        return
    with pytest.raises(ValueError, match=r"tag_length must be 12 to 16 .*, received -?\d+\Z"):
        AESGCM(KEY, tag_length=tag_length, allow_short_tag=allow)


@pytest.mark.parametrize("tag_length", [None, "16", 16.0, b"\x10"])
def test_tag_length_of_a_wrong_kind(tag_length: object) -> None:
    with pytest.raises(TypeError):
        AESGCM(KEY, tag_length=tag_length)
    with pytest.raises(TypeError):
        AESGCM(KEY, 16)


# ---- AG rows --------------------------------------------------------------------------------------


def outcomes(call: Callable[[Any], Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """What a call gives with cryptography's class and with ours; of objects only the class."""
    ours, theirs = buffers.outcome(call, AESGCM), buffers.outcome(call, Reference)
    if isinstance(ours[0], type) and issubclass(ours[0], InvalidTag):  # or that of fastcrypt.aead
        ours = (cryptography.exceptions.InvalidTag, ours[1])
    return ours, theirs


SAME_CLASS_AND_TEXT: dict[str, Callable[[Any], Any]] = {
    "key of 0": lambda c: c(b""),
    "key of 15": lambda c: c(bytes(15)),
    "key of 17": lambda c: c(bytes(17)),
    "key of 33": lambda c: c(bytearray(33)),
    "key of 64": lambda c: c(bytes(64)),
    "bits 0": lambda c: c.generate_key(0),
    "bits 16": lambda c: c.generate_key(16),
    "bits 129": lambda c: c.generate_key(129),
    "bits str": lambda c: c.generate_key("128"),
    "bits float": lambda c: c.generate_key(128.0),
    "bits None": lambda c: c.generate_key(None),
    "short data": lambda c: c(KEY).decrypt(NONCE, bytes(15), None),
    "wrong tag": lambda c: c(KEY).decrypt(NONCE, bytes(16), None),
    "wrong aad": lambda c: c(KEY).decrypt(NONCE, SEALED, b""),
    "short data into": lambda c: c(KEY).decrypt_into(NONCE, bytes(15), None, bytearray(2)),
    "good": lambda c: c(KEY).decrypt(NONCE, SEALED, AAD),
    "good by name": lambda c: c(key=KEY).decrypt(nonce=NONCE, data=SEALED, associated_data=AAD),
    "aad None": lambda c: c(KEY).encrypt(NONCE, DATA, None),
    "nonce of 8": lambda c: c(KEY).encrypt(bytes(8), DATA, None),
    "nonce of 128": lambda c: c(KEY).encrypt(bytes(128), DATA, None),
    "into": lambda c: (c(KEY).encrypt_into(NONCE, DATA, AAD, b := bytearray(49)), b),
    "into by name": lambda c: c(KEY).encrypt_into(
        nonce=NONCE, data=DATA, associated_data=AAD, buf=bytearray(49)
    ),
    "init again": lambda c: c(KEY).__init__(bytes(16)),
}
SAME_START: dict[str, Callable[[Any], Any]] = {
    # Ours go on with the size received.
    "nonce of 0": lambda c: c(KEY).encrypt(b"", DATA, None),
    "nonce of 7": lambda c: c(KEY).encrypt(bytes(7), DATA, None),
    "nonce of 129": lambda c: c(KEY).encrypt(bytes(129), DATA, None),
    "nonce of 7, decrypt": lambda c: c(KEY).decrypt(bytes(7), bytes(3), None),
    "buf short": lambda c: c(KEY).encrypt_into(NONCE, DATA, None, bytearray(48)),
    "buf long": lambda c: c(KEY).encrypt_into(NONCE, DATA, None, bytearray(50)),
    "buf short, decrypt": lambda c: c(KEY).decrypt_into(NONCE, SEALED, AAD, bytearray(32)),
    "buf long, decrypt": lambda c: c(KEY).decrypt_into(NONCE, SEALED, AAD, bytearray(34)),
    "buf empty, decrypt": lambda c: c(KEY).decrypt_into(NONCE, SEALED, AAD, bytearray()),
}
SAME_CLASS: dict[str, Callable[[Any], Any]] = {
    "no key": lambda c: c(),
    "two keys": lambda c: c(KEY, KEY),
    "unknown keyword": lambda c: c(KEY, size=3),
    "key str": lambda c: c("a" * 16),
    "key int": lambda c: c(16),
    "key None": lambda c: c(None),
    "key list": lambda c: c([1] * 16),
    "key strided": lambda c: c(memoryview(bytes(32))[::2]),
    "no bits": lambda c: c.generate_key(),
    "no aad": lambda c: c(KEY).encrypt(NONCE, DATA),
    "no aad, decrypt": lambda c: c(KEY).decrypt(NONCE, SEALED),
    "no buf": lambda c: c(KEY).encrypt_into(NONCE, DATA, None),
    "surplus": lambda c: c(KEY).encrypt(NONCE, DATA, None, b""),
    "doubled": lambda c: c(KEY).encrypt(NONCE, DATA, None, nonce=NONCE),
    "unknown": lambda c: c(KEY).encrypt(NONCE, DATA, aad=None),
    "nonce str": lambda c: c(KEY).encrypt("a" * 12, DATA, None),
    "nonce None": lambda c: c(KEY).encrypt(None, DATA, None),
    "data str": lambda c: c(KEY).encrypt(NONCE, "abc", None),
    "data None": lambda c: c(KEY).encrypt(NONCE, None, None),
    "data int": lambda c: c(KEY).decrypt(NONCE, 33, None),
    "data strided": lambda c: c(KEY).encrypt(NONCE, memoryview(DATA)[::2], None),
    "aad str": lambda c: c(KEY).encrypt(NONCE, DATA, "abc"),
    "aad int": lambda c: c(KEY).encrypt(NONCE, DATA, 0),
    "aad strided": lambda c: c(KEY).encrypt(NONCE, DATA, memoryview(DATA)[::2]),
    "buf bytes": lambda c: c(KEY).encrypt_into(NONCE, DATA, None, bytes(49)),
    "buf None": lambda c: c(KEY).encrypt_into(NONCE, DATA, None, None),
    "buf None, decrypt": lambda c: c(KEY).decrypt_into(NONCE, SEALED, AAD, None),
    "buf str": lambda c: c(KEY).encrypt_into(NONCE, DATA, None, "a" * 49),
    "buf strided": lambda c: c(KEY).encrypt_into(NONCE, DATA, None, memoryview(bytearray(98))[::2]),
    "subclass": lambda c: type("Sub", (c,), {}),
    "attribute": lambda c: setattr(c(KEY), "extra", 1),
    "pickle": lambda c: pickle.dumps(c(KEY)),
    "copy": lambda c: copy.copy(c(KEY)),
    "deepcopy": lambda c: copy.deepcopy(c(KEY)),
}


@pytest.mark.parametrize("call", SAME_CLASS_AND_TEXT.values(), ids=SAME_CLASS_AND_TEXT)
def test_ag_1_to_7_as_cryptography_does(call: Callable[[Any], Any]) -> None:
    ours, theirs = outcomes(call)
    assert ours == theirs


@pytest.mark.parametrize("call", SAME_START.values(), ids=SAME_START)
def test_ag_4_and_6_text_goes_on_with_the_size_received(call: Callable[[Any], Any]) -> None:
    ours, theirs = outcomes(call)
    assert ours[0] is theirs[0] is ValueError
    assert ours[1].startswith(theirs[1] + ", received "), ours


@pytest.mark.parametrize("call", SAME_CLASS.values(), ids=SAME_CLASS)
def test_ag_1_to_7_same_exception(call: Callable[[Any], Any]) -> None:
    ours, theirs = outcomes(call)
    assert ours[0] is theirs[0], (ours, theirs)
    assert issubclass(ours[0], Exception)


def test_ag_1_any_contiguous_buffer() -> None:
    """A superset of what cryptography takes: every kind of buffer in every place."""
    key, nonce, data, aad = (
        message(32, seed=10),
        message(16, seed=11),
        message(48, seed=12),
        message(64, seed=13),
    )
    sealed = Reference(key).encrypt(nonce, data, aad)
    places = {"key": key, "nonce": nonce, "data": data, "aad": aad, "sealed": sealed}
    for place, value in places.items():
        for kind, converted in buffers.contiguous(value).items():
            a = {**places, place: converted}
            aead = AESGCM(a["key"])
            assert aead.encrypt(a["nonce"], a["data"], a["aad"]) == sealed, (place, kind)
            assert aead.decrypt(a["nonce"], a["sealed"], a["aad"]) == data, (place, kind)


@pytest.mark.parametrize("object_", [*buffers.no_buffers().values(), "text"], ids=repr)
def test_ag_1_no_buffers(object_: Any) -> None:
    aead = AESGCM(KEY)
    calls: list[Callable[[], Any]] = [
        lambda: AESGCM(object_),
        lambda: aead.encrypt(object_, DATA, None),
        lambda: aead.encrypt(NONCE, object_, None),
        lambda: aead.decrypt_detached(NONCE, DATA, object_, None),
        lambda: aead.encrypt_into(NONCE, DATA, None, object_),
    ]
    if object_ is not None:
        calls.append(lambda: aead.decrypt(NONCE, SEALED, object_))
        calls.append(lambda: aead.encrypt_detached(NONCE, DATA, None, out=object_))
    for call in calls:
        with pytest.raises(TypeError, match="bytes-like object"):
            call()


@pytest.mark.parametrize("object_", buffers.not_contiguous().values(), ids=buffers.not_contiguous())
def test_ag_1_strided_buffers_keep_their_own_exception(object_: Any) -> None:
    own = buffers.outcome(hashlib.sha256, object_)
    calls: list[Callable[[], Any]] = [
        lambda: AESGCM(object_),
        lambda: AESGCM(KEY).encrypt(object_, b"", None),
        lambda: AESGCM(KEY).encrypt(NONCE, object_, None),
        lambda: AESGCM(KEY).encrypt(NONCE, b"", object_),
    ]
    for call in calls:
        assert buffers.outcome(call) == own


def test_ag_2_generate_key() -> None:
    for bits in (128, 192, 256):
        keys = {AESGCM.generate_key(bits) for _ in range(20)} | {AESGCM.generate_key(bit_length=bits)}
        assert len(keys) == 21
        assert {type(key) for key in keys} == {bytes}
        assert {len(key) for key in keys} == {bits // 8}
        assert AESGCM(keys.pop()).encrypt(NONCE, b"", None)
    for bits in (-1, 2**70, True):
        with pytest.raises(ValueError, match=r"\Abit_length must be 128, 192, or 256\Z"):
            AESGCM.generate_key(bits)


def test_ag_2_generate_key_is_the_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.urandom", lambda n: bytes(range(n)))
    assert AESGCM.generate_key(192) == bytes(range(24))


def test_ag_3_none_is_no_associated_data() -> None:
    """The tags of empty messages are well known (field reports 68 and 69)."""
    for aad in (None, b"", bytearray(), memoryview(b"")):
        assert AESGCM(bytes(16)).encrypt(bytes(12), b"", aad).hex() == "58e2fccefa7e3061367f1d57a4e7455a"
        assert AESGCM(bytes(32)).encrypt(bytes(12), b"", aad).hex() == "530f8afbc74536b9a963b4f1c4cb738b"


def test_ag_4_nonce_lengths_on_one_object() -> None:
    """A length used before does not matter for the next call."""
    aead = AESGCM(bytes(16))
    tags = {
        8: "0712703b4d409545c62ad2b3d7a53873",
        16: "e823b7f1a1d3f1a0462ebdb2cae3b350",
        128: "ff044715f07ec7cd7c530535dde8f398",
        12: "58e2fccefa7e3061367f1d57a4e7455a",
    }
    for _ in range(2):
        for size, tag in tags.items():
            assert aead.encrypt(bytes(size), b"", None).hex() == tag
        for size in (0, 1, 7, 129, 1000):
            with pytest.raises(ValueError, match=rf"between 8 and 128 bytes, received {size}\Z"):
                aead.encrypt(bytes(size), b"", None)


def test_ag_6_into_returns_the_count() -> None:
    aead = AESGCM(KEY)
    for size in (0, 1, 16, 33, 300, 5000):
        data = message(size)
        sealed = Reference(KEY).encrypt(NONCE, data, AAD)
        area = bytearray(b"\xa5" * 4 + bytes(size + 16) + b"\x5a" * 4)
        view = memoryview(area)
        assert aead.encrypt_into(NONCE, data, AAD, view[4:-4]) == size + 16
        assert area == b"\xa5" * 4 + sealed + b"\x5a" * 4
        assert aead.decrypt_into(NONCE, sealed, AAD, view[4:-20]) == size
        assert area == b"\xa5" * 4 + data + sealed[-16:] + b"\x5a" * 4


def test_ag_6_in_place() -> None:
    aead = AESGCM(KEY)
    for size in [*range(70), 255, 256, 1000, 4096, 20000]:
        data = message(size)
        sealed = Reference(KEY).encrypt(NONCE, data, AAD)
        area = memoryview(bytearray(data + b"\xee" * 16))
        assert aead.encrypt_into(NONCE, area[:size], AAD, area) == size + 16
        assert area == sealed
        assert aead.decrypt_into(NONCE, area, AAD, area[:size]) == size
        assert area == data + sealed[-16:]
        body = area[:size]
        assert aead.encrypt_detached(NONCE, body, AAD, out=body) == (size, sealed[-16:])
        assert body == sealed[:-16]
        assert aead.decrypt_detached(NONCE, body, sealed[-16:], AAD, out=body) == size
        assert body == data


def test_ag_7_final_class_without_state_to_see() -> None:
    aead = AESGCM(KEY, tag_length=12)
    assert not [name for name in dir(aead) if "key" in name and name != "generate_key"]
    assert aead != AESGCM(KEY, tag_length=12)
    assert len({aead, AESGCM(KEY)}) == 2
    assert repr(aead) == "<fastcrypt.AESGCM object, 256-bit key, 12-byte tag>"
    for name in ("tag_length", "key", "encrypt"):
        with pytest.raises(AttributeError):
            setattr(aead, name, 16)
        with pytest.raises(AttributeError):
            delattr(aead, name)
    with pytest.raises(TypeError):
        AESGCM.encrypt = None
    assert not hasattr(aead, "__dict__")


@pytest.mark.parametrize("make", [fastcrypt.AES, fastcrypt.AESGCM])
def test_no_attribute_shows_the_key(make: Callable[[bytes], Any]) -> None:
    """Nor any text: no run of four bytes of the key, raw or in hexadecimal."""
    for key in (message(16, seed=14), message(24, seed=15), message(32, seed=16)):
        object_ = make(key)
        seen = [repr(object_), str(object_), object_.__doc__]
        for name in dir(object_):
            value = getattr(object_, name)
            seen += [repr(value)]
            assert not isinstance(value, bytes | bytearray | memoryview), name
        for i in range(len(key) - 3):
            assert not any(key[i : i + 4].hex() in text.lower() for text in seen)
            assert not any(repr(key[i : i + 4])[2:-1] in text for text in seen)
        with pytest.raises(TypeError):
            bytes(object_)
        with pytest.raises(TypeError):
            memoryview(object_)


@pytest.mark.parametrize("make", [fastcrypt.AES, fastcrypt.AESGCM])
def test_init_again_changes_nothing(make: Any) -> None:
    object_ = make(KEY)

    def result() -> bytes:
        if make is fastcrypt.AES:
            return object_.ctr(bytes(16), DATA)  # type: ignore[no-any-return]
        return object_.encrypt(NONCE, DATA, AAD)  # type: ignore[no-any-return]

    before = result()
    object_.__init__()
    object_.__init__(bytes(16))
    assert result() == before
    other = type(object_).__new__(type(object_), KEY)
    assert type(other) is make
    news: list[Any] = [make.__new__, object.__new__]
    for new in news:
        with pytest.raises(TypeError):
            new(make)


@pytest.mark.parametrize("make", [fastcrypt.AES, fastcrypt.AESGCM])
def test_not_copied_not_pickled(make: Callable[[bytes], Any]) -> None:
    object_ = make(KEY)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(
            TypeError, match=rf"\Acannot pickle 'fastcrypt.{type(object_).__name__}' object\Z"
        ):
            pickle.dumps(object_, protocol)
    for copier in (copy.copy, copy.deepcopy, lambda o: o.__reduce__(), lambda o: object.__reduce_ex__(o, 2)):
        with pytest.raises(TypeError, match="cannot pickle"):
            copier(object_)
    with pytest.raises(TypeError):
        object_.__class__ = int
    with pytest.raises(TypeError):
        type("Sub", (type(object_),), {})


# ---- Keys that are kept ---------------------------------------------------------------------------


def test_t_b_a_kept_key_is_worth_it() -> None:
    """16 bytes under a kept key take at most half of what they take with a key object of their own."""
    aead = AESGCM(KEY)

    def kept() -> None:
        for _ in range(200):
            aead.encrypt(NONCE, IV, None)

    def new() -> None:
        for _ in range(200):
            AESGCM(KEY).encrypt(NONCE, IV, None)

    best = dict.fromkeys((kept, new), float("inf"))
    for _ in range(25):
        for run in best:
            start = time.thread_time_ns()
            run()
            best[run] = min(best[run], time.thread_time_ns() - start)
    print(f"a new key object for each message: {best[new] / best[kept]:.2f} times as long")
    assert best[new] >= 2 * best[kept]


# ---- Threads --------------------------------------------------------------------------------------


def test_one_object_in_eight_threads() -> None:
    """5,000 messages each, some long enough that the GIL is released (field report 28)."""
    aead, peer = AESGCM(KEY), Reference(KEY)
    failures: list[object] = []
    start = threading.Barrier(8)

    def work(seed: int) -> None:
        rng = random.Random(seed)
        pool = rng.randbytes(1 << 16)
        start.wait()
        try:
            for i in range(5000):
                size = rng.randrange(16384, 24000) if i % 8 == 0 else rng.randrange(300)
                at = rng.randrange(len(pool) - size)
                data, nonce, aad = pool[at : at + size], i.to_bytes(8, "big") + bytes([seed] * 4), pool[:seed]
                sealed = aead.encrypt(nonce, data, aad)
                if sealed != peer.encrypt(nonce, data, aad) or aead.decrypt(nonce, sealed, aad) != data:
                    failures.append((seed, i))
        except Exception as error:
            failures.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not failures
