# SPDX-License-Identifier: Apache-2.0
"""The Python API under hostile arguments, against hashlib, hmac and cryptography.

One rule for every call: it gives what the other library gives for the bytes that the arguments held,
or it raises an exception of the kinds that the API documents, or the very exception that an argument's
own method raised. It never crashes, and memory around `out` stays as it was.
"""

from __future__ import annotations

import array
import ctypes
import hashlib
import hmac
import mmap
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, cast

from cryptography.exceptions import InvalidTag as OtherInvalidTag
from cryptography.hazmat.primitives import keywrap
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM as OtherAESGCM
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV as OtherAESGCMSIV
from cryptography.hazmat.primitives.cmac import CMAC
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import fastcrypt
from fastcrypt import AES, AESGCM, AESGCMSIV, InvalidTag, InvalidUnwrap

EXPECTED = (TypeError, ValueError, BufferError, OverflowError, InvalidTag, InvalidUnwrap)


class Boom(Exception):
    """What a hostile method raises: it must come out as it went in."""


# ---- Hostile types -------------------------------------------------------------------------------


def boom(*_: Any, **__: Any) -> Any:
    raise Boom


class EvilBytes(bytes):
    """Bytes whose every method lies or raises; the buffer is what counts."""

    __len__ = __iter__ = __getitem__ = __bytes__ = __eq__ = __contains__ = boom
    __hash__ = None  # type: ignore[assignment]


class EvilByteArray(bytearray):
    __len__ = __iter__ = __getitem__ = __eq__ = boom
    __hash__ = None


class EvilArray(array.array):  # type: ignore[type-arg]
    __len__ = __iter__ = __getitem__ = boom


class EvilStr(str):
    """A mode or a padding that equals everything."""

    __slots__ = ()
    __eq__ = lambda self, other: True  # noqa: E731
    __hash__ = str.__hash__
    __len__ = boom


class EvilInt:
    """An offset that does something to the other arguments while it is read."""

    def __init__(self, value: int, action: Callable[[], None]) -> None:
        self.value, self.action = value, action

    def __index__(self) -> int:
        self.action()
        return self.value


class Changing:
    """A buffer that holds something else each time it is asked for (Python 3.12 and later)."""

    def __init__(self, data: bytes) -> None:
        self.data, self.asked = bytearray(data), 0

    def __buffer__(self, flags: int) -> memoryview:
        self.asked += 1
        if self.asked > 1:
            self.data = bytearray(b"\xff" * (len(self.data) + 7))
        return memoryview(self.data)


class Raising:
    """A buffer that cannot be had."""

    def __buffer__(self, flags: int) -> memoryview:
        raise Boom


class NotABuffer:
    """Sequence, iterator and number all at once, but no buffer."""

    __len__ = __iter__ = __getitem__ = __int__ = __index__ = __bytes__ = boom


def ctypes_array(data: bytes) -> Any:
    class Evil(ctypes.c_uint8 * len(data)):  # type: ignore[misc]
        __len__ = __getitem__ = boom
        _hidden: ClassVar[int] = 0

    return Evil.from_buffer_copy(data) if data else Evil()


def mapped(data: bytes) -> Any:
    area = mmap.mmap(-1, max(1, len(data)))
    area[: len(data)] = data
    return memoryview(area)[: len(data)]


def misaligned(data: bytes) -> memoryview:
    return memoryview(bytearray(b"\x5a" * 3 + data + b"\x5a" * 5))[3 : 3 + len(data)]


def strided(data: bytes) -> memoryview:
    return memoryview(bytes(x for b in data for x in (b, 0)))[::2]


def wide(data: bytes) -> memoryview:
    """Elements of more than a byte, where the length allows."""
    return memoryview(data).cast("I") if len(data) % 4 == 0 else memoryview(data)


def released(data: bytes) -> memoryview:
    view = memoryview(bytearray(data))
    view.release()
    return view


#: A huge buffer: nothing of it is ever touched but by a mistake.
NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)
HUGE = mmap.mmap(-1, 1 << 36, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE)

HONEST: tuple[Callable[[bytes], Any], ...] = (
    bytes, bytearray, memoryview, EvilBytes, EvilByteArray, lambda d: EvilArray("B", d),
    ctypes_array, mapped, misaligned, wide,
)  # fmt: skip
HOSTILE: tuple[Callable[[bytes], Any], ...] = (
    strided, released, lambda _: NotABuffer(), lambda _: None, lambda _: "text", lambda _: 7,
    lambda _: [1, 2], lambda _: Raising(), Changing,
)  # fmt: skip

contents = st.binary(max_size=600) | st.integers(0, 5000).map(lambda n: bytes(i * 7 & 255 for i in range(n)))


@st.composite
def arguments(draw: st.DrawFn, data: st.SearchStrategy[bytes] = contents) -> tuple[bytes, Any]:
    """(what it holds, an object): nine in ten of them fair."""
    held = draw(data)
    makers = HOSTILE if draw(st.integers(0, 9)) == 0 else HONEST
    return held, draw(st.sampled_from(makers))(held)


keys = st.sampled_from([16, 24, 32]).flatmap(lambda n: st.binary(min_size=n, max_size=n))
any_keys = keys | st.binary(max_size=40)
ivs = st.binary(min_size=16, max_size=16)
any_ivs = st.one_of(ivs, ivs, ivs, st.binary(max_size=20))
good_nonces = st.binary(min_size=12, max_size=12)
nonces = st.one_of(good_nonces, st.binary(min_size=8, max_size=128), st.binary(max_size=7))


def attempt(function: Callable[[], Any]) -> Any:
    """The result, or the exception if it is one that may come."""
    try:
        return function()
    except EXPECTED as error:
        return error
    except Boom as error:
        return error


def failed(result: Any) -> bool:
    return isinstance(result, Exception)


def fair(*objects: Any) -> bool:
    return not any(isinstance(o, (Changing, Raising, NotABuffer)) for o in objects)


# ---- Other libraries' answers --------------------------------------------------------------------


def other_cipher(key: bytes, mode: Any, data: bytes, encrypt: bool) -> bytes:
    cipher = Cipher(algorithms.AES(key), mode)
    context = cipher.encryptor() if encrypt else cipher.decryptor()
    return context.update(data) + context.finalize()


def other_ctr(key: bytes, iv: bytes, data: bytes, offset: int) -> bytes:
    counter = (int.from_bytes(iv, "big") + offset // 16) % (1 << 128)
    skip = offset % 16
    mode = modes.CTR(counter.to_bytes(16, "big"))
    return other_cipher(key, mode, bytes(skip) + data, True)[skip:]


@dataclass(frozen=True)
class Property:
    """A function that must not fail for any arguments from its strategies."""

    function: Callable[..., None]
    strategies: tuple[st.SearchStrategy[Any], ...]

    @property
    def name(self) -> str:
        return self.function.__name__

    def run(self, examples: int, number: int) -> None:
        profile = settings(max_examples=examples, deadline=None, database=None,
                           suppress_health_check=list(HealthCheck))  # fmt: skip
        seed(number)(profile(given(*self.strategies)(self.function)))()


def holds_for(*strategies: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Property]:
    return lambda function: Property(function, strategies)


# ---- The properties ------------------------------------------------------------------------------


@holds_for(st.lists(arguments(), max_size=6), arguments())
def hashes(pieces: list[tuple[bytes, Any]], one: tuple[bytes, Any]) -> None:
    held, given_object = one
    for function, convert in ((fastcrypt.sha256_digest, bytes.hex), (fastcrypt.sha256_hexdigest, str)):
        result = attempt(partial(function, given_object))
        if not failed(result) and fair(given_object):
            assert convert(result) == hashlib.sha256(held).hexdigest()
    context, right = fastcrypt.sha256(), hashlib.sha256()
    for piece, buffer in pieces:
        before = context.digest()
        if failed(attempt(partial(context.update, buffer))):
            assert context.digest() == before, "an error changed the state"
        elif fair(buffer):
            right.update(piece)
        else:
            return
        assert context.copy().hexdigest() == right.hexdigest()


@holds_for(arguments(), arguments(), st.booleans())
def compares(one: tuple[bytes, Any], two: tuple[bytes, Any], same: bool) -> None:
    a, b = one[0], one[0] if same else two[0]
    first, second = one[1], memoryview(b) if same else two[1]
    answers = {
        fastcrypt.timingsafe_bcmp: int(a != b),
        fastcrypt.timingsafe_memcmp: (a > b) - (a < b),
        fastcrypt.timingsafe_equal: a == b,
        fastcrypt.compare_digest: hmac.compare_digest(a, b),
    }
    for function, right in answers.items():
        result = attempt(partial(function, first, second))
        texts = isinstance(first, str) or isinstance(second, str)
        if not failed(result) and fair(first, second) and not texts:
            assert result == right, function


@holds_for(arguments(any_keys), arguments(any_ivs), arguments(), st.integers(0, 5), st.integers(0, 1 << 70))
def ciphers(key: Any, iv: Any, data: Any, which: int, offset: int) -> None:
    aes = attempt(lambda: AES(key[1]))
    if failed(aes):
        assert len(key[0]) not in (16, 24, 32) or key[1] is not key[0]
        return
    if not fair(key[1]):
        return
    offset = offset if which == 5 else offset % 5000
    ecb, cbc = modes.ECB(), modes.CBC(iv[0]) if len(iv[0]) == 16 else modes.ECB()

    def other(mode: Any, encrypt: bool) -> bytes:
        return other_cipher(key[0], mode, data[0], encrypt)

    def ctr() -> bytes:
        return other_ctr(key[0], iv[0], data[0], offset)

    calls: tuple[tuple[Callable[[], Any], Callable[[], bytes]], ...] = (
        (lambda: aes.ecb_encrypt(data[1]), lambda: other(ecb, True)),
        (lambda: aes.ecb_decrypt(data[1]), lambda: other(ecb, False)),
        (lambda: aes.cbc_encrypt(iv[1], data[1]), lambda: other(cbc, True)),
        (lambda: aes.cbc_decrypt(iv[1], data[1]), lambda: other(cbc, False)),
        *[(lambda: aes.ctr(iv[1], data[1], offset=offset), ctr)] * 2,
    )  # fmt: skip
    result = attempt(calls[which][0])
    if not failed(result) and fair(iv[1], data[1]):
        assert result == calls[which][1]()


@holds_for(keys, ivs, st.binary(max_size=400), st.tuples(*[st.integers(0, 500)] * 2), st.integers(0, 4))
def overlaps(key: bytes, iv: bytes, data: bytes, places: tuple[int, int], which: int) -> None:
    """Input and output anywhere in one memory: the right answer or ValueError, and nothing beside it."""
    data, (read_at, write_at) = data if which == 4 else data[: len(data) // 16 * 16], places
    aes, memory = AES(key), bytearray(b"\xa7" * 1000)
    memory[read_at : read_at + len(data)] = data
    before = bytes(memory)
    source = memoryview(memory)[read_at : read_at + len(data)]
    out = memoryview(memory)[write_at : write_at + len(data)]
    call = (
        lambda: aes.ecb_encrypt(source, out=out), lambda: aes.ecb_decrypt(source, out=out),
        lambda: aes.cbc_encrypt(iv, source, out=out), lambda: aes.cbc_decrypt(iv, source, out=out),
        lambda: aes.ctr(iv, source, out=out),
    )[which]  # fmt: skip
    mode = (modes.ECB(), modes.ECB(), modes.CBC(iv), modes.CBC(iv), modes.CTR(iv))[which]
    result = attempt(call)
    if failed(result):
        assert isinstance(result, ValueError), result
        assert memory == before, "an error wrote"
        return
    right = bytearray(before)
    right[write_at : write_at + len(data)] = other_cipher(key, mode, data, which not in (1, 3))
    assert result == len(data)
    assert memory == right


@holds_for(arguments(any_keys), arguments(nonces), arguments(), arguments(st.binary(max_size=100)), st.data())
def aead(key: Any, nonce: Any, data: Any, aad: Any, more: st.DataObject) -> None:
    box = attempt(lambda: AESGCM(key[1]))
    if failed(box):
        return
    result = attempt(lambda: box.encrypt(nonce[1], data[1], aad[1]))
    if failed(result) or not fair(key[1], nonce[1], data[1], aad[1]):
        return
    held_aad = None if aad[1] is None else aad[0]
    assert result == OtherAESGCM(key[0]).encrypt(nonce[0], data[0], held_aad)
    assert box.decrypt(nonce[0], result, held_aad) == data[0]
    forged = bytearray(result)
    forged[more.draw(st.integers(0, len(forged) - 1))] ^= more.draw(st.integers(1, 255))
    out = bytearray(b"\x5a" * len(data[0]))
    forgeries: tuple[Callable[[], Any], ...] = (
        lambda: box.decrypt(nonce[0], forged, held_aad),
        lambda: box.decrypt_into(nonce[0], forged, held_aad, out),
    )
    for call in forgeries:
        try:
            call()
        except InvalidTag:
            continue
        raise AssertionError("a forgery was opened")
    assert out == bytes(len(out)), "a forgery left something in out"
    try:
        OtherAESGCM(key[0]).decrypt(nonce[0], bytes(forged), held_aad)
    except OtherInvalidTag:
        return
    raise AssertionError("the other library opened it")


records = st.lists(
    st.tuples(arguments(good_nonces), arguments(), arguments(st.binary(max_size=40))), max_size=6
)


@holds_for(keys, records, st.data())
def many(key: bytes, given: list[Any], more: st.DataObject) -> None:
    """Lists of hostile items; then forgeries among what came out."""
    box, other = AESGCM(key), OtherAESGCM(key)
    columns: list[list[tuple[bytes, Any]]] = [[record[i] for record in given] for i in range(3)]
    nonces, datas, aads = ([given_object for _, given_object in column] for column in columns)
    result = attempt(lambda: box.encrypt_many(nonces, datas, aads))
    if failed(result) or not fair(*nonces, *datas, *aads):
        return
    held_aads = [held if given_object is not None else b"" for held, given_object in columns[2]]
    held_nonces, held_datas = [held for held, _ in columns[0]], [held for held, _ in columns[1]]
    assert result == [other.encrypt(*held) for held in zip(held_nonces, held_datas, held_aads, strict=True)]
    bad = {i for i in range(len(result)) if more.draw(st.booleans())}
    forged = [bytearray(record) for record in result]
    for i in bad:
        forged[i][more.draw(st.integers(0, len(forged[i]) - 1))] ^= more.draw(st.integers(1, 255))
    out = bytearray(b"\x5a" * sum(map(len, held_datas)))
    opened = box.decrypt_many(held_nonces, forged, held_aads, errors="none")
    assert opened == [None if i in bad else data for i, data in enumerate(held_datas)]
    result = attempt(lambda: box.decrypt_many(held_nonces, forged, held_aads, out=out))
    if bad:
        assert isinstance(result, InvalidTag)
        assert result.index == min(bad)
        assert out == bytes(len(out)), "a forgery left something in out"
    else:
        assert result == len(out)
        assert out == b"".join(held_datas)


@holds_for(
    arguments(any_keys), arguments(good_nonces), arguments(), arguments(st.binary(max_size=100)), st.data()
)
def siv(key: Any, nonce: Any, data: Any, aad: Any, more: st.DataObject) -> None:
    box = attempt(lambda: AESGCMSIV(key[1]))
    if failed(box):
        return
    result = attempt(lambda: box.encrypt(nonce[1], data[1], aad[1]))
    if failed(result) or not fair(key[1], nonce[1], data[1], aad[1]):
        return
    held_aad = None if aad[1] is None else aad[0]
    assert result == OtherAESGCMSIV(key[0]).encrypt(nonce[0], data[0], held_aad)
    assert box.decrypt(nonce[0], result, held_aad) == data[0]
    forged = bytearray(result)
    forged[more.draw(st.integers(0, len(forged) - 1))] ^= more.draw(st.integers(1, 255))
    out = bytearray(b"\x5a" * len(data[0]))
    assert isinstance(attempt(lambda: box.decrypt_into(nonce[0], forged, held_aad, out)), InvalidTag)
    assert out == bytes(len(out)), "a forgery left something in out"


@holds_for(arguments(any_keys), arguments(), st.booleans(), st.data())
def macs_and_wraps(key: Any, data: Any, padded: bool, more: st.DataObject) -> None:
    wrap, unwrap, other = (
        (fastcrypt.aes_key_wrap_with_padding, fastcrypt.aes_key_unwrap_with_padding,
         keywrap.aes_key_wrap_with_padding)
        if padded else (fastcrypt.aes_key_wrap, fastcrypt.aes_key_unwrap, keywrap.aes_key_wrap)
    )  # fmt: skip
    mac = attempt(lambda: fastcrypt.aes_cmac(key[1], data[1]))
    wrapped = attempt(lambda: wrap(key[1], data[1]))
    if not fair(key[1], data[1]):
        return
    if not failed(mac):
        right = CMAC(algorithms.AES(key[0]))
        right.update(data[0])
        assert mac == right.finalize()
    if not failed(wrapped):
        assert wrapped == other(key[0], data[0])
        assert unwrap(key[0], wrapped) == data[0]
        forged = bytearray(wrapped)
        forged[more.draw(st.integers(0, len(forged) - 1))] ^= more.draw(st.integers(1, 255))
        assert isinstance(attempt(lambda: unwrap(key[0], forged)), InvalidUnwrap)


@holds_for(keys, ivs, st.binary(min_size=1, max_size=300), st.integers(0, 3))
def offsets_that_act(key: bytes, iv: bytes, data: bytes, what: int) -> None:
    """An offset whose __index__ resizes, releases or overwrites the other arguments."""
    buffer, out = bytearray(data), bytearray(len(data))
    view = memoryview(buffer)

    def act() -> None:
        if what == 0:
            buffer[:] = bytes(len(buffer))
        elif what == 1:
            view.release()
            buffer.clear()
        elif what == 2:
            out.clear()
        else:
            raise Boom

    evil: Any = EvilInt(3, act)
    result = attempt(lambda: AES(key).ctr(iv, view, offset=evil, out=out))
    assert what != 3 or isinstance(result, Boom)
    if not failed(result):
        assert result == len(data)
        assert bytes(out) in [other_ctr(key, iv, d, 3) for d in (data, bytes(len(data)))]


@holds_for(st.integers(0, 11), st.sampled_from([1 << 31, (1 << 32) + 16, (1 << 36) - 1]))
def huge(which: int, size: int) -> None:
    """Lengths beyond 32 bits, where the answer needs no look at the data: an error, at once."""
    big: Any = memoryview(HUGE)[:size]
    key, evil = bytes(16), cast(Any, EvilStr("ecb"))
    aes, box = AES(key), AESGCM(key)
    calls: tuple[Callable[[], Any], ...] = (
        lambda: AES(big), lambda: AESGCM(big), lambda: aes.cbc_encrypt(big, b""), lambda: aes.ctr(big, b"x"),
        lambda: aes.ecb_encrypt(bytes(16), out=big), lambda: aes.ctr(bytes(16), b"x", out=big),
        lambda: aes.ecb_encrypt(big[:-1] if size % 16 == 0 else big),
        lambda: aes.cbc_decrypt(bytes(16), big[:-1] if size % 16 == 0 else big),
        lambda: box.encrypt_into(bytes(12), b"x", None, big),
        lambda: fastcrypt.aes_encrypt(big, b"", mode="ecb"),
        lambda: fastcrypt.aes_encrypt(key, big, mode=evil, out=bytearray(1)),
        lambda: box.decrypt_detached(bytes(12), b"x", big, None),
    )  # fmt: skip
    assert failed(attempt(calls[which])), which
    assert fastcrypt.timingsafe_bcmp(big, b"x") == 1
    assert not fastcrypt.compare_digest(big, b"x")


PROPERTIES = (hashes, compares, ciphers, overlaps, aead, many, siv, macs_and_wraps, offsets_that_act, huge)


def fuzz(seconds: int, number: int) -> int:
    """Every property by turns until the time is over; how many examples that made."""
    deadline, examples = time.monotonic() + seconds, 0
    while True:
        for prop in PROPERTIES:
            prop.run(50, number)
            examples += 50
            if time.monotonic() > deadline:
                return examples
        number += 1


if __name__ == "__main__":
    print(fuzz(int(sys.argv[1]), 1))
