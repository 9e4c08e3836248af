# SPDX-License-Identifier: Apache-2.0
"""AES.cbc_encryptor and its like: any chunking gives what cryptography gives in one piece."""

from __future__ import annotations

import copy
import gc
import pickle
import random
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from aes_suites import each_key_size, message, reference_cbc, reference_ctr

from fastcrypt import AES

KEY, IV = message(32, seed=71), message(16, seed=72)


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def pkcs7(data: bytes) -> bytes:
    pad = 16 - len(data) % 16
    return data + bytes([pad]) * pad


def streams(key: bytes, data: bytes) -> Iterator[tuple[Any, bytes, bytes]]:
    """Each kind of stream, what goes in and what must come out; data has whole blocks."""
    cipher, odd = AES(key), data[: len(data) - 5]
    sealed, padded = reference_cbc(key, IV, data), reference_cbc(key, IV, pkcs7(odd))
    keyed = reference_ctr(key, int.from_bytes(IV, "big"), odd)
    yield cipher.cbc_encryptor(IV), data, sealed
    yield cipher.cbc_decryptor(IV, padding=None), sealed, data
    yield cipher.cbc_encryptor(IV, "pkcs7"), odd, padded
    yield cipher.cbc_decryptor(IV, padding="pkcs7"), padded, odd
    yield cipher.cbc_encryptor(IV, "pkcs7"), data, reference_cbc(key, IV, pkcs7(data))
    yield cipher.cbc_decryptor(IV, "pkcs7"), reference_cbc(key, IV, pkcs7(data)), data
    yield cipher.ctr_encryptor(IV), odd, keyed
    yield cipher.ctr_decryptor(iv=IV), keyed, odd


@each_key_size
@pytest.mark.parametrize("chunk", range(1, 41))
def test_any_chunking_is_the_one_shot(key_size: int, chunk: int) -> None:
    for stream, data, wanted in streams(message(key_size), message(400, seed=73)):
        assert b"".join(map(stream.update, pieces(data, chunk))) + stream.finalize() == wanted


@pytest.mark.parametrize("seed", range(40))
def test_random_splits_into_buffers(seed: int) -> None:
    rng = random.Random(seed)
    blocks = rng.choice([1, 2, 3, 50, 3000])
    for stream, data, wanted in streams(rng.randbytes(rng.choice([16, 24, 32])), rng.randbytes(16 * blocks)):
        at, out = 0, b""
        while at < len(data):
            piece = data[at : at + rng.choice([0, 1, 15, 16, 17, 100, 20_000])]
            buffer = bytearray(b"\x77" * (len(piece) + 15))
            written = stream.update_into(piece, buffer)
            assert buffer[written:] == b"\x77" * (len(buffer) - written)
            out += buffer[:written]
            at += len(piece)
        assert out + stream.finalize() == wanted


def test_updates_write_whole_blocks_as_soon_as_they_can() -> None:
    """What is held back: part of a block, and with padding the block that may end in it."""
    for size in range(70):
        data = bytes(size)
        assert len(AES(KEY).cbc_encryptor(IV).update(data)) == size // 16 * 16
        assert len(AES(KEY).cbc_encryptor(IV, "pkcs7").update(data)) == size // 16 * 16
        assert len(AES(KEY).cbc_decryptor(IV).update(data)) == size // 16 * 16
        assert len(AES(KEY).cbc_decryptor(IV, "pkcs7").update(data)) == max(size - 1, 0) // 16 * 16
        assert len(AES(KEY).ctr_encryptor(IV).update(data)) == size


def test_counters_carry_between_pieces() -> None:
    data = message(200, seed=74)
    for bits in (32, 64, 128):
        start = 2**bits - 5
        stream = AES(KEY).ctr_encryptor(start.to_bytes(16, "big"))
        assert b"".join(map(stream.update, pieces(data, 23))) == reference_ctr(KEY, start, data)


# ---- Buffers --------------------------------------------------------------------------------------


def test_in_place_where_nothing_is_held() -> None:
    data = message(320, seed=75)
    for make, wanted in (
        (AES(KEY).cbc_encryptor, reference_cbc(KEY, IV, data)),
        (AES(KEY).cbc_decryptor, reference_cbc(KEY, IV, data, decrypt=True)),
        (AES(KEY).ctr_encryptor, reference_ctr(KEY, int.from_bytes(IV, "big"), data)),
    ):
        stream, buffer = make(IV), bytearray(data)
        view = memoryview(buffer)
        assert stream.update_into(view[:160], view[:160]) == 160
        assert stream.update_into(view[160:], view[160:]) == 160
        assert buffer == wanted


def test_every_overlap_is_right_or_refused() -> None:
    """Shifts of -20 to 20 at pieces of 1 to 50 bytes, with 0 to 16 bytes held before."""
    for kind, held in [(kind, held) for kind in range(3) for held in (0, 1, 8, 15, 16)]:
        for size in range(1, 50, 3):
            for shift in range(-20, 21):
                cipher = AES(KEY)
                make = (
                    cipher.cbc_encryptor,
                    lambda iv: AES(KEY).cbc_decryptor(iv, "pkcs7"),
                    cipher.ctr_encryptor,
                )
                one, two = make[kind](IV), make[kind](IV)
                for stream in (one, two):
                    stream.update(bytes(held))
                area = bytearray(message(130, seed=size))
                data, before = bytes(area[40 : 40 + size]), bytes(area)
                expected = two.update(data)
                view = memoryview(area)
                out = view[40 + shift : 40 + shift + size + 15]
                try:
                    written = one.update_into(view[40 : 40 + size], out)
                except ValueError as error:
                    assert str(error) == "buffer overlaps data"  # noqa: PT017
                    assert area == before
                    written = one.update_into(data, bytearray(size + 15))
                else:
                    assert area[40 + shift : 40 + shift + written] == expected, (kind, held, size, shift)
                    assert area[: 40 + shift] == before[: 40 + shift]
                    assert area[40 + shift + written :] == before[40 + shift + written :]
                assert written == len(expected)
                assert one.update(bytes(33)) == two.update(bytes(33))


def test_a_small_buffer_is_refused_and_changes_nothing() -> None:
    stream: Any = AES(KEY).cbc_encryptor(IV)
    first = stream.update(bytes(7))
    with pytest.raises(ValueError, match="buffer must be 16 bytes or more, received 15"):
        stream.update_into(bytes(9), bytearray(15))
    with pytest.raises(TypeError, match="buffer is not writable"):
        stream.update_into(bytes(9), bytes(16))
    with pytest.raises(TypeError, match="buffer must be a writable bytes-like object, not 'NoneType'"):
        stream.update_into(bytes(9), None)
    for wrong in ("text", None, 5, memoryview(bytes(8))[::2]):
        with pytest.raises((TypeError, BufferError)):
            stream.update(wrong)
    assert stream.update_into(b"", bytearray()) == 0
    assert first + stream.update(bytes(9)) + stream.finalize() == reference_cbc(KEY, IV, bytes(16))


# ---- The end --------------------------------------------------------------------------------------


def ended(stream: Any, data: bytes) -> bytes:
    return bytes(stream.update(data) + stream.finalize())


def test_wrong_ends() -> None:
    cipher = AES(KEY)
    makes: list[Callable[[], Any]] = [
        lambda: cipher.cbc_encryptor(IV),
        lambda: cipher.cbc_decryptor(IV),
        lambda: cipher.cbc_decryptor(IV, "pkcs7"),
    ]
    for size in (1, 15, 17, 31):
        for make in makes:
            with pytest.raises(ValueError, match="all data together must be a multiple of 16 bytes"):
                ended(make(), bytes(size))
    with pytest.raises(ValueError, match=r"^Invalid padding bytes\.$"):
        ended(cipher.cbc_decryptor(IV, "pkcs7"), b"")


def test_wrong_padding_is_one_error() -> None:
    """Every last byte, and every byte of a right padding changed: the text of the one-shot method."""
    blocks = [bytes(15) + bytes([last]) for last in range(256) if last != 1]
    for pad in range(1, 17):
        right = bytearray(bytes([0xEE]) * (16 - pad) + bytes([pad]) * pad)
        for at in range(16 - pad, 16):
            wrong = bytearray(right)
            wrong[at] ^= 0x80
            blocks.append(bytes(wrong))
    for block in blocks:
        sealed = reference_cbc(KEY, IV, bytes(32) + block)
        stream = AES(KEY).cbc_decryptor(IV, "pkcs7")
        assert stream.update(sealed) == bytes(32)
        with pytest.raises(ValueError, match=r"^Invalid padding bytes\.$"):
            stream.finalize()


def test_after_finalize_everything_is_an_error() -> None:
    cipher, buffer = AES(KEY), bytearray(32)
    failed = cipher.cbc_decryptor(IV, "pkcs7")
    with pytest.raises(ValueError, match="Invalid padding"):
        failed.finalize()
    makes: list[Callable[[], Any]] = [
        lambda: cipher.cbc_encryptor(IV),
        lambda: cipher.cbc_encryptor(IV, "pkcs7"),
        lambda: cipher.cbc_decryptor(IV),
        lambda: cipher.ctr_encryptor(IV),
    ]
    done = [make() for make in makes]
    for stream in done:
        stream.finalize()
    for stream in [*done, failed]:
        calls: list[Callable[[], Any]] = [
            stream.finalize,
            partial(stream.update, b""),
            partial(stream.update_into, bytes(16), buffer),
        ]
        for call in calls:
            with pytest.raises(ValueError, match="the stream is already finalized"):
                call()
    assert buffer == bytes(32)


# ---- Objects --------------------------------------------------------------------------------------


def test_arguments() -> None:
    cipher: Any = AES(KEY)
    for make in (cipher.cbc_encryptor, cipher.cbc_decryptor, cipher.ctr_encryptor, cipher.ctr_decryptor):
        for size in (0, 12, 15, 17):
            with pytest.raises(ValueError, match=f"iv must be 16 bytes, received {size}"):
                make(bytes(size))
        for wrong in ("i" * 16, None, 16):
            with pytest.raises(TypeError):
                make(wrong)
        with pytest.raises(TypeError):
            make()
    for make in (cipher.cbc_encryptor, cipher.cbc_decryptor):
        with pytest.raises(ValueError, match="padding must be None or 'pkcs7', received 'x'"):
            make(IV, "x")
        with pytest.raises(TypeError, match="padding must be None or a str"):
            make(IV, padding=7)
    stream = cipher.cbc_encryptor(IV)
    with pytest.raises(TypeError):
        type(stream)()
    for refuse in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle"):
            refuse(stream)


def test_the_stream_keeps_the_key_alive() -> None:
    stream = AES(KEY).cbc_encryptor(IV)
    gc.collect()
    blocker = [AES(bytes(32)) for _ in range(10)]
    assert stream.update(bytes(32)) == reference_cbc(KEY, IV, bytes(32))
    assert len(blocker) == 10


def test_threads_on_one_stream_make_some_order_of_whole_updates() -> None:
    """Equal pieces of zeros: whatever the order, the key stream is cut at the same places."""
    piece, count, threads = bytes(20_001), 20, 4
    stream = AES(KEY).ctr_encryptor(IV)
    parts: list[bytes] = []

    def run() -> None:
        for _ in range(count):
            parts.append(stream.update(piece))

    workers = [threading.Thread(target=run) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    whole = reference_ctr(KEY, int.from_bytes(IV, "big"), piece * count * threads)
    assert sorted(parts) == sorted(pieces(whole, len(piece)))
