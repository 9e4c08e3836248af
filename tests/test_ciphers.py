# SPDX-License-Identifier: Apache-2.0
"""fastcrypt.ciphers beside cryptography.hazmat.primitives.ciphers (rows CI-1 to CI-6).

The same calls on both: the same results, or exceptions of the same kind.
"""

from __future__ import annotations

import copy
import gc
import pickle
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import cryptography.exceptions
import pytest
from cryptography.hazmat.primitives import ciphers as other_ciphers
from cryptography.hazmat.primitives.ciphers import algorithms as other_algorithms
from cryptography.hazmat.primitives.ciphers import modes as other_modes

import fastcrypt.ciphers as our_ciphers
from fastcrypt import aead


class Library:
    """One of the two, called in every wrong way below, so without its types."""

    def __init__(self, ciphers: Any, algorithms: Any, modes: Any) -> None:
        self.Cipher: Any = ciphers.Cipher
        self.algorithms: Any = algorithms
        self.modes: Any = modes

    def context(self, mode: str, *arguments: Any, key: Any = None, decrypts: bool = False) -> Any:
        cipher = self.Cipher(self.algorithms.AES(key or KEY), getattr(self.modes, mode)(*arguments))
        return cipher.decryptor() if decrypts else cipher.encryptor()


OURS = Library(our_ciphers, our_ciphers.algorithms, our_ciphers.modes)
THEIRS = Library(other_ciphers, other_algorithms, other_modes)
KEY, IV, NONCE, TWEAK = bytes(range(32)), bytes(range(16)), bytes(range(12)), bytes(range(50, 66))
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "ECB": (),
    "CBC": (IV,),
    "CTR": (IV,),
    "GCM": (NONCE,),
    "XTS": (TWEAK,),
}
BLOCK_MODES, STREAM_MODES = ("ECB", "CBC"), ("CTR", "GCM")
each_mode = pytest.mark.parametrize("mode", ARGUMENTS)
each_chunked_mode = pytest.mark.parametrize("mode", [*BLOCK_MODES, *STREAM_MODES])

#: What is told apart; of others (BufferError, AttributeError, ...) the class itself.
KINDS = (
    cryptography.exceptions.InvalidTag,
    cryptography.exceptions.AlreadyFinalized,
    cryptography.exceptions.AlreadyUpdated,
    cryptography.exceptions.NotYetFinalized,
    cryptography.exceptions.UnsupportedAlgorithm,
)


def outcome(call: Callable[[Any], Any], library: Library) -> Any:
    try:
        return call(library)
    except Exception as error:
        return next((kind for kind in KINDS if isinstance(error, kind)), type(error))


def both(call: Any) -> Any:
    ours, theirs = outcome(call, OURS), outcome(call, THEIRS)
    assert ours == theirs
    return ours


# ---- CI-1, CI-2: keys and modes -------------------------------------------------------------------


def test_ci_1_keys() -> None:
    for name in ("AES", "AES128", "AES256"):
        for size in (0, 8, 15, 16, 17, 24, 31, 32, 33, 48, 64, 65):
            for kind in (bytes, bytearray, lambda n: memoryview(bytes(n))):
                both(lambda lib, n=name, k=kind, s=size: facts(getattr(lib.algorithms, n)(k(s))))
        wrong: tuple[Any, ...] = (None, 5, "k" * 16, [1] * 16)
        for key in wrong:
            assert both(lambda lib, n=name, k=key: getattr(lib.algorithms, n)(k)) is TypeError
    with pytest.raises(ValueError, match=r"^Invalid key size \(120\) for AES\.$"):
        OURS.algorithms.AES(bytes(15))
    assert both(lambda lib: facts(lib.algorithms.AES(key=KEY)))[0] == "AES"


def facts(algorithm: Any) -> tuple[Any, ...]:
    return algorithm.name, algorithm.key_size, algorithm.block_size, algorithm.key_sizes


def test_ci_1_the_key_stays_hidden() -> None:
    algorithm = OURS.algorithms.AES(KEY)
    assert [name for name in dir(algorithm) if not name.startswith("_")] == [
        *("block_size", "key_size", "key_sizes", "name")
    ]
    assert repr(KEY) not in repr(algorithm)
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot pickle 'AES' object"):
            copied(algorithm)


@each_mode
def test_ci_2_sizes_of_what_modes_take(mode: str) -> None:
    for size in (0, 1, 7, 8, 12, 15, 16, 17, 32, 128, 129):
        arguments = (bytes(size),) if mode != "ECB" else ()
        both(lambda lib, a=arguments: lib.Cipher(lib.algorithms.AES(KEY), getattr(lib.modes, mode)(*a)) and 1)
    wrong: tuple[Any, ...] = (None, 5, "i" * 16)
    for value in wrong:
        assert both(lambda lib, v=value: getattr(lib.modes, mode)(v)) is TypeError


@each_mode
@pytest.mark.parametrize("name", ["AES", "AES128", "AES256"])
def test_ci_2_keys_that_a_mode_takes(mode: str, name: str) -> None:
    for size in (16, 24, 32, 64):

        def made(library: Library, n: int = size) -> Any:
            key = bytes(range(n))
            library.Cipher(
                getattr(library.algorithms, name)(key), getattr(library.modes, mode)(*ARGUMENTS[mode])
            )
            return "made"

        both(made)


def test_ci_2_wrong_kinds_and_combinations() -> None:
    assert both(lambda lib: lib.Cipher(5, lib.modes.ECB())) is TypeError
    assert both(lambda lib: lib.Cipher(lib.algorithms.AES(KEY), None) and 1) == 1
    unsupported = cryptography.exceptions.UnsupportedAlgorithm
    assert both(lambda lib: lib.Cipher(lib.algorithms.AES(KEY), None).encryptor()) is unsupported
    assert both(lambda lib: lib.context("XTS", TWEAK, key=bytes(32))) is ValueError  # equal halves
    with pytest.raises(TypeError, match="Mode"):  # AssertionError there
        OURS.Cipher(OURS.algorithms.AES(KEY), 5)
    assert OURS.modes.CBC(IV).initialization_vector is IV
    assert OURS.modes.CTR(IV).nonce is IV
    assert OURS.modes.XTS(TWEAK).tweak is TWEAK
    assert (OURS.modes.GCM(NONCE).tag, OURS.modes.GCM(NONCE).initialization_vector) == (None, NONCE)
    cipher = OURS.Cipher(algorithm := OURS.algorithms.AES(KEY), OURS.modes.ECB(), backend=None)
    assert cipher.algorithm is algorithm


# ---- CI-3: GCM ------------------------------------------------------------------------------------


def sealed(size: int, aad: bytes = b"") -> tuple[bytes, bytes]:
    text = aead.AESGCM(KEY).encrypt(NONCE, bytes(size), aad)
    return text[:-16], text[-16:]


def test_ci_3_tags_given_to_the_mode() -> None:
    tag = sealed(0)[1]
    for size in range(19):
        for minimum in (None, 3, 4, 12, 15, 16, 17):
            limits = () if minimum is None else (minimum,)

            def made(library: Library, n: int = size, more: Any = limits) -> Any:
                context = library.context("GCM", NONCE, (tag + b"xyz")[:n], *more, decrypts=True)
                return context.finalize()

            both(made)
    wrong: tuple[Any, ...] = (5, "t" * 16, bytearray(16))
    for value in wrong:
        assert both(lambda lib, v=value: lib.modes.GCM(NONCE, v)) is TypeError
    assert both(lambda lib: lib.context("GCM", NONCE, tag)) is ValueError  # an encryptor needs none


@pytest.mark.parametrize("minimum", [4, 5, 11, 12, 15, 16])
def test_ci_3_tags_given_in_the_end(minimum: int) -> None:
    """Each length, right and with its last bit flipped; the text comes out the same."""
    text, tag = sealed(100, b"aad")
    for size in range(18):
        for flip in (0, 1) if size else (0,):
            given = (tag + b"xy")[:size]
            given = given[:-1] + bytes([given[-1] ^ flip]) if flip else given

            def opened(library: Library, given: bytes = given) -> Any:
                context = library.context("GCM", NONCE, None, minimum, decrypts=True)
                context.authenticate_additional_data(b"a")
                context.authenticate_additional_data(bytearray(b"ad"))
                out = bytearray(70)
                assert context.update(text[:30]) == bytes(30)
                assert context.update_into(text[30:], out) == 70
                assert out == bytes(70)
                return context.finalize_with_tag(given)

            both(opened)


def test_ci_3_order_of_calls() -> None:
    """Every sequence of up to three calls on an encryptor and on decryptors: the same results and errors."""
    text, tag = sealed(5)
    calls: dict[str, Callable[[Any], Any]] = {
        "aad": lambda c: c.authenticate_additional_data(b"x"),
        "update": lambda c: c.update(text),
        "empty": lambda c: c.update(b""),
        "into": lambda c: c.update_into(text, bytearray(5)),
        "finalize": lambda c: c.finalize(),
        "with tag": lambda c: c.finalize_with_tag(tag),
        "short tag": lambda c: c.finalize_with_tag(tag[:15]),
        "tag": lambda c: c.tag,
        "reset": lambda c: c.reset_nonce(NONCE),
    }
    for arguments, decrypts in (((NONCE,), False), ((NONCE,), True), ((NONCE, tag), True)):
        for names in sequences(calls, 3):
            results = []
            for library in (OURS, THEIRS):
                context = library.context("GCM", *arguments, decrypts=decrypts)
                made: list[Any] = []
                for name in names:
                    made.append(outcome(partial(on, context, calls[name]), library))
                    if made[-1] is cryptography.exceptions.InvalidTag:
                        break  # ours is finalized then, theirs says it again
                results.append(made)
            assert results[0] == results[1], names


def on(context: Any, call: Callable[[Any], Any], _: Library) -> Any:
    return call(context)


def sequences(names: Any, length: int) -> Iterator[tuple[str, ...]]:
    if length == 0:
        yield ()
        return
    for rest in sequences(names, length - 1):
        for name in names:
            yield (*rest, name)


def test_ci_3_a_forgery_ends_the_context() -> None:
    context = OURS.context("GCM", NONCE, bytes(16), decrypts=True)
    with pytest.raises(aead.InvalidTag):
        context.finalize()
    with pytest.raises(our_ciphers.AlreadyFinalized):
        context.finalize()


# ---- CI-4, CI-5: pieces ---------------------------------------------------------------------------


def in_pieces(library: Library, mode: str, data: bytes, sizes: list[int], decrypts: bool) -> list[bytes]:
    context = library.context(mode, *ARGUMENTS[mode], decrypts=decrypts)
    results, at = [], 0
    for n, size in enumerate(sizes):
        piece, out = data[at : at + size], bytearray(size + 15)
        results.append(bytes(out[: context.update_into(piece, out)]) if n % 3 == 1 else context.update(piece))
        at += size
    if not (mode == "GCM" and decrypts):
        results.append(context.finalize())
    if mode == "GCM" and not decrypts:
        results.append(context.tag)
    return results


@each_chunked_mode
@pytest.mark.parametrize("decrypts", [False, True], ids=["encrypt", "decrypt"])
def test_ci_4_what_each_update_returns(mode: str, decrypts: bool) -> None:
    """Piece by piece: chunks of every size to 40, then 60 random ones of any sizes."""
    rng = random.Random(4)
    for n in (*range(1, 41), *[0] * 60):
        total = 16 * rng.randrange(1, 9)
        data = rng.randbytes(total)
        sizes: list[int] = []
        while sum(sizes) < total:
            sizes.append(min(n or rng.randrange(40), total - sum(sizes)))
        both(lambda lib, d=data, s=sizes: in_pieces(lib, mode, d, s, decrypts))


@each_chunked_mode
def test_ci_4_a_partial_block_at_the_end(mode: str) -> None:
    for size in range(33):
        whole = both(lambda lib, n=size: in_pieces(lib, mode, bytes(n), [n], False))
        assert (whole is ValueError) == (mode in BLOCK_MODES and size % 16 != 0)


@each_mode
def test_ci_4_after_finalize(mode: str) -> None:
    calls: tuple[Callable[[Any], Any], ...] = (
        lambda c: c.update(bytes(16)),
        lambda c: c.update(b""),
        lambda c: c.update_into(bytes(16), bytearray(31)),
        lambda c: c.finalize(),
        lambda c: c.reset_nonce(IV),
    )
    for call in calls:

        def after(library: Library, call: Any = call) -> Any:
            context = library.context(mode, *ARGUMENTS[mode])
            context.update(bytes(32))
            assert context.finalize() == b""
            return call(context)

        assert both(after) is cryptography.exceptions.AlreadyFinalized


@each_mode
def test_ci_5_update_into(mode: str) -> None:
    """cryptography's sizes work: len(data), for blocks 15 more; here as much room as is used is enough."""
    for size in (0, 1, 15, 16, 17, 31, 32, 100, 1000):
        if mode == "XTS" and size % 16:
            continue
        room = size + (15 if mode in BLOCK_MODES else 0)
        for extra in (0, 1, 50):

            def written(library: Library, n: int = size, total: int = room + extra) -> Any:
                buf = bytearray(b"\xa5" * total)
                context = library.context(mode, *ARGUMENTS[mode])
                count = context.update_into(bytes(n), buf)
                return count, bytes(buf[:count])

            count, _ = both(written)
            assert count == (size & -16 if mode in BLOCK_MODES else size)
        context = OURS.context(mode, *ARGUMENTS[mode])
        assert context.update_into(bytes(size), bytearray(count)) == count
        if count:
            for library in (OURS, THEIRS):
                small = library.context(mode, *ARGUMENTS[mode])
                with pytest.raises(ValueError, match="buffer must be"):
                    small.update_into(bytes(size), bytearray(count - 1))


@each_mode
def test_ci_5_kinds_of_arguments(mode: str) -> None:
    def call(method: str, *arguments: Any) -> Any:
        return lambda lib: getattr(lib.context(mode, *ARGUMENTS[mode]), method)(*arguments)

    data = bytes(range(32))
    expected = both(call("update", data))
    for operand in (bytearray(data), memoryview(data)):
        assert both(call("update", operand)) == expected
    wrong: tuple[Any, ...] = (None, 5, "text", [1])
    for operand in wrong:
        assert both(call("update", operand)) is TypeError
        assert both(call("update_into", operand, bytearray(99))) is TypeError
        assert both(call("update_into", data, operand)) is TypeError
    assert both(call("update_into", data, bytes(99))) is TypeError
    assert both(call("update", memoryview(data)[::2])) is BufferError
    assert both(call("update")) is TypeError
    with_array = OURS.context(mode, *ARGUMENTS[mode])
    assert with_array.update(memoryview(data).cast("I")) == expected


@each_mode
def test_ci_5_in_place(mode: str) -> None:
    data = bytes(range(64))
    expected = THEIRS.context(mode, *ARGUMENTS[mode]).update(data)
    area = bytearray(data + bytes(15))
    assert OURS.context(mode, *ARGUMENTS[mode]).update_into(memoryview(area)[:64], area) == 64
    assert area[:64] == expected
    back = OURS.context(mode, *ARGUMENTS[mode], decrypts=True)
    assert back.update_into(memoryview(area)[:64], area) == 64
    assert area[:64] == data


@pytest.mark.parametrize("key_size", [16, 24, 32, 64])
@each_mode
def test_round_trips_under_every_key_size(mode: str, key_size: int) -> None:
    if (mode == "XTS") != (key_size == 64) and not (mode == "XTS" and key_size == 32):
        return
    key, data = bytes(range(key_size)), random.Random(key_size).randbytes(4096)
    arguments = ARGUMENTS[mode]
    text = both(lambda lib: lib.context(mode, *arguments, key=key).update(data))
    assert text != data
    assert both(lambda lib: lib.context(mode, *arguments, key=key, decrypts=True).update(text)) == data


def test_xts_units_with_stealing() -> None:
    for size in range(16, 81):
        data = random.Random(size).randbytes(size)
        text = both(lambda lib, d=data: lib.context("XTS", TWEAK).update(d))
        assert both(lambda lib, t=text: lib.context("XTS", TWEAK, decrypts=True).update(t)) == data
    for size in range(1, 16):
        assert both(lambda lib, n=size: lib.context("XTS", TWEAK).update(bytes(n))) is ValueError

    def units(library: Library) -> list[bytes]:
        context = library.context("XTS", TWEAK)
        return [context.update(bytes(32)), context.update(b""), context.update(bytes(32)), context.finalize()]

    assert both(units)[0] == both(units)[2]


# ---- CI-6: reset_nonce ----------------------------------------------------------------------------


@each_mode
def test_ci_6_reset_nonce(mode: str) -> None:
    for size in (0, 12, 15, 16, 17):

        def reset(library: Library, n: int = size) -> Any:
            context = library.context(mode, *ARGUMENTS[mode])
            context.update(bytes(21) if mode in STREAM_MODES else bytes(16))
            context.reset_nonce(bytes(range(n)))
            return context.update(bytes(40))

        result = both(reset)
        if mode == "CTR" and size == 16:
            assert result == THEIRS.context("CTR", bytes(range(16))).update(bytes(40))
        else:
            unsupported = cryptography.exceptions.UnsupportedAlgorithm
            assert result is (ValueError if mode == "CTR" else unsupported)


# ---- Exceptions -----------------------------------------------------------------------------------


def test_exceptions_are_cryptographys() -> None:
    for name in ("AlreadyFinalized", "AlreadyUpdated", "NotYetFinalized", "UnsupportedAlgorithm"):
        assert getattr(our_ciphers, name) is getattr(cryptography.exceptions, name)
    assert our_ciphers.InvalidTag is aead.InvalidTag


def test_without_cryptography() -> None:
    code = """
import sys; sys.modules["cryptography"] = None
from fastcrypt.ciphers import AlreadyFinalized, Cipher, InvalidTag, NotYetFinalized, algorithms, modes
context = Cipher(algorithms.AES(bytes(16)), modes.GCM(bytes(12))).encryptor()
for error, call in ((NotYetFinalized, lambda: context.tag), (None, context.finalize),
                    (AlreadyFinalized, context.finalize)):
    try:
        call()
    except Exception as raised:
        print(type(raised) is error)
try:
    Cipher(algorithms.AES(bytes(16)), modes.GCM(bytes(12), bytes(16))).decryptor().finalize()
except InvalidTag as raised:
    print(type(raised).__module__)
from fastcrypt.ciphers.modes import CBC
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "True\nTrue\nfastcrypt\n"), done.stderr


@each_mode
def test_a_context_that_is_dropped_goes_at_once(mode: str) -> None:
    """And its key schedule with it: nothing refers to it in a circle."""
    gone: list[str] = []

    class Told(bytes):
        def __del__(self) -> None:
            gone.append(mode)

    key = Told(KEY)
    context = OURS.context(mode, *ARGUMENTS[mode], key=key)
    del key
    gc.disable()
    try:
        del context
        assert gone == [mode]
    finally:
        gc.enable()


def test_a_gcm_context_begins_once() -> None:
    """Two threads with the first piece: the key stream of each is another part of the one stream."""
    for _ in range(40):
        context = our_ciphers.Cipher(
            our_ciphers.algorithms.AES(bytes(32)), our_ciphers.modes.GCM(bytes(12))
        ).encryptor()
        context.authenticate_additional_data(bytes(1 << 18))
        barrier = threading.Barrier(2)
        out: list[bytes] = []

        def work(context: Any = context, barrier: Any = barrier, out: Any = out) -> None:
            barrier.wait()
            out.append(context.update(bytes(64)))

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert out[0] != out[1]


def test_a_tag_length_that_is_no_int() -> None:
    for wrong in (float("nan"), 16.0, "16", None):
        with pytest.raises(TypeError):
            our_ciphers.modes.GCM(bytes(12), b"", wrong)  # type: ignore[arg-type]
