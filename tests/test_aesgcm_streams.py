# SPDX-License-Identifier: Apache-2.0
"""AESGCM.encryptor and .decryptor: any chunking gives what cryptography's one shot gives."""

from __future__ import annotations

import copy
import pickle
import random
import threading
from collections.abc import Iterator

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM as Reference

from fastcrypt import AESGCM, InvalidTag

NONCE = bytes(range(12))


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def pattern(size: int) -> bytes:
    return random.Random(size).randbytes(size)


@pytest.mark.parametrize("key_size", [16, 24, 32])
@pytest.mark.parametrize("chunk", range(1, 41))
def test_any_chunking_is_the_one_shot(key_size: int, chunk: int) -> None:
    key, data, aad = pattern(key_size), pattern(700), pattern(21)
    sealed = Reference(key).encrypt(NONCE, data, aad)
    encryptor = AESGCM(key).encryptor(NONCE, aad)
    assert b"".join(map(encryptor.update, pieces(data, chunk))) == sealed[:-16]
    assert encryptor.finalize() == sealed[-16:]
    decryptor = AESGCM(key).decryptor(NONCE, associated_data=aad)
    assert b"".join(map(decryptor.update, pieces(sealed[:-16], chunk))) == data
    decryptor.finalize(sealed[-16:])


@pytest.mark.parametrize("seed", range(100))
def test_random_splits_nonces_and_lengths(seed: int) -> None:
    rng = random.Random(seed)
    key, nonce = rng.randbytes(rng.choice((16, 24, 32))), rng.randbytes(rng.randrange(8, 129))
    data, aad = rng.randbytes(rng.randrange(20_000)), rng.randbytes(rng.randrange(80))
    sealed = Reference(key).encrypt(nonce, data, aad)
    encryptor, at, out = AESGCM(key).encryptor(nonce, aad), 0, b""
    while at < len(data):
        size = rng.choice((0, 1, 15, 16, 17, 128, 1000, 17_000))
        out += encryptor.update(data[at : at + size])
        at += size
    assert out + encryptor.finalize() == sealed


@pytest.mark.parametrize("size", [0, 1, 16, 100, 20_000])
def test_update_into_in_place(size: int) -> None:
    key, data = pattern(32), pattern(size)
    sealed = Reference(key).encrypt(NONCE, data, None)
    buffer = bytearray(data)
    encryptor = AESGCM(key).encryptor(NONCE)
    assert encryptor.update_into(buffer, buffer) == size
    assert bytes(buffer) + encryptor.finalize() == sealed
    decryptor = AESGCM(key).decryptor(NONCE)
    assert decryptor.update_into(data=buffer, buf=buffer) == size
    decryptor.finalize(sealed[size:])
    assert buffer == data


def test_empty_updates_change_nothing() -> None:
    encryptor = AESGCM(pattern(16)).encryptor(NONCE)
    parts = [encryptor.update(b""), encryptor.update(b"abc"), encryptor.update(b""), encryptor.finalize()]
    assert b"".join(parts) == Reference(pattern(16)).encrypt(NONCE, b"abc", None)


@pytest.mark.parametrize("bit", range(128))
def test_a_flipped_tag_bit_is_refused(bit: int) -> None:
    sealed = Reference(pattern(32)).encrypt(NONCE, b"text", b"aad")
    tag = bytearray(sealed[-16:])
    tag[bit // 8] ^= 1 << bit % 8
    decryptor = AESGCM(pattern(32)).decryptor(NONCE, b"aad")
    decryptor.update(sealed[:-16])
    with pytest.raises(InvalidTag):
        decryptor.finalize(tag)


@pytest.mark.parametrize("tag", [b"", b"x", bytes(12), bytes(15), bytes(17)])
def test_a_tag_of_another_length_is_refused(tag: bytes) -> None:
    decryptor = AESGCM(pattern(32)).decryptor(NONCE)
    with pytest.raises(InvalidTag):
        decryptor.finalize(tag)


def test_short_tags() -> None:
    encryptor = AESGCM(pattern(32), tag_length=12).encryptor(NONCE)
    tag = Reference(pattern(32)).encrypt(NONCE, b"", None)[:12]
    assert encryptor.finalize() == tag
    AESGCM(pattern(32), tag_length=12).decryptor(NONCE).finalize(tag)


def test_after_finalize_everything_is_an_error() -> None:
    encryptor = AESGCM(pattern(32)).encryptor(NONCE)
    tag = encryptor.finalize()
    decryptor = AESGCM(pattern(32)).decryptor(NONCE)
    decryptor.finalize(tag)
    failed = AESGCM(pattern(32)).decryptor(NONCE)
    with pytest.raises(InvalidTag):
        failed.finalize(bytes(16))
    buffer = bytearray(b"untouched")
    for call in (
        encryptor.finalize,
        lambda: encryptor.update(b"x"),
        lambda: encryptor.update_into(buffer, buffer),
        lambda: decryptor.finalize(tag),
        lambda: decryptor.update(b"x"),
        lambda: failed.finalize(tag),
        lambda: failed.update(b"x"),
    ):
        with pytest.raises(ValueError, match="already finalized"):
            call()
    assert buffer == b"untouched"


def test_state_is_unchanged_after_an_error() -> None:
    encryptor = AESGCM(pattern(32)).encryptor(NONCE)
    first = encryptor.update(b"abc")
    for bad in ("text", None, 5, memoryview(b"abcd")[::2]):
        with pytest.raises((TypeError, BufferError)):
            encryptor.update(bad)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="buffer must be 4 bytes, received 5"):
        encryptor.update_into(b"abcd", bytearray(5))
    with pytest.raises(TypeError, match="not writable"):
        encryptor.update_into(b"abcd", bytes(4))
    shared = bytearray(32)
    with pytest.raises(ValueError, match="overlaps"):
        encryptor.update_into(memoryview(shared)[:16], memoryview(shared)[1:17])
    assert first + encryptor.update(b"def") + encryptor.finalize() == Reference(pattern(32)).encrypt(
        NONCE, b"abcdef", None
    )


def test_arguments() -> None:
    gcm = AESGCM(pattern(16))
    for nonce in (b"", bytes(7), bytes(129)):
        with pytest.raises(ValueError, match="between 8 and 128"):
            gcm.encryptor(nonce)
    with pytest.raises(TypeError):
        gcm.encryptor("n" * 12)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        gcm.encryptor()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        type(gcm.encryptor(NONCE))()
    for refuse in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            refuse(gcm.encryptor(NONCE))


def test_the_stream_keeps_the_key_alive() -> None:
    encryptor = AESGCM(pattern(32)).encryptor(NONCE)
    assert encryptor.update(b"abc") + encryptor.finalize() == Reference(pattern(32)).encrypt(
        NONCE, b"abc", None
    )


def test_threads_on_one_stream_make_some_order_of_whole_updates() -> None:
    """Equal pieces of zeros: whatever the order, the key stream is cut at the same places."""
    piece, count, threads = bytes(20_000), 20, 4
    encryptor = AESGCM(pattern(32)).encryptor(NONCE)
    parts: list[bytes] = []

    def run() -> None:
        for _ in range(count):
            parts.append(encryptor.update(piece))

    workers = [threading.Thread(target=run) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    sealed = Reference(pattern(32)).encrypt(NONCE, piece * count * threads, None)
    assert sorted(parts) == sorted(pieces(sealed[:-16], len(piece)))
    assert encryptor.finalize() == sealed[-16:]
