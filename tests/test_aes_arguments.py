# SPDX-License-Identifier: Apache-2.0
"""aes_encrypt, aes_decrypt and class AES: which arguments go together, sizes, kinds, `out`, overlap."""

from __future__ import annotations

import itertools
import mmap
import random
from collections.abc import Callable, Sequence
from typing import Any

import buffers
import numpy as np
import pytest
from aes_suites import message, reference_cbc, reference_ctr, reference_ecb
from cryptography.hazmat.primitives.ciphers.aead import AESGCM as Reference

import fastcrypt
from fastcrypt import InvalidTag, RecordCipher

# Called in every wrong way below, so without their types.
AES: Any = fastcrypt.AES
AESGCM: Any = fastcrypt.AESGCM
aes_encrypt: Any = fastcrypt.aes_encrypt
aes_decrypt: Any = fastcrypt.aes_decrypt

KEY, IV, NONCE, AAD = message(16, seed=1), message(16, seed=2), message(12, seed=3), message(20, seed=4)
BLOCKS = message(48, seed=5)
FUNCTIONS = {"aes_encrypt": aes_encrypt, "aes_decrypt": aes_decrypt}
each_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)

# ---- Which arguments go together ------------------------------------------------------------------

MODES = ("ecb", "cbc", "ctr", "gcm")
NEEDS_IV = {"ecb": False, "cbc": True, "ctr": True, "gcm": True}
TAKES_AAD, TAKES_PADDING = {"gcm"}, {"ecb", "cbc"}


def right_combination(mode: str, iv: object, aad: object, padding: object) -> bool:
    return (
        (iv is not None) == NEEDS_IV[mode]
        and (aad is None or mode in TAKES_AAD)
        and (padding is None or mode in TAKES_PADDING)
    )


def complaint(mode: str, iv: object, aad: object, padding: object) -> str:
    """The first thing that is wrong with a combination, as the error says it."""
    if NEEDS_IV[mode] and iv is None:
        return f"mode '{mode}' needs an iv"
    if not NEEDS_IV[mode] and iv is not None:
        return f"mode '{mode}' takes no iv"
    if aad is not None and mode not in TAKES_AAD:
        return f"mode '{mode}' takes no aad"
    return f"mode '{mode}' takes no padding"


MATRIX = list(itertools.product(MODES, (None, IV), (None, b"", AAD), (None, "pkcs7"), (False, True)))


def name_of(value: object) -> str:
    names = {repr(IV): "iv", repr(AAD): "aad", "b''": "empty aad", "True": "out", "False": "no out"}
    return names.get(repr(value), str(value))


@pytest.mark.parametrize(("mode", "iv", "aad", "padding", "with_out"), MATRIX, ids=name_of)
def test_matrix(mode: str, iv: Any, aad: Any, padding: Any, with_out: bool) -> None:
    options = {"mode": mode, "iv": iv, "aad": aad, "padding": padding}
    size = 48 + (16 if padding or mode == "gcm" else 0)
    out = bytearray(b"\xee" * size) if with_out else None
    if right_combination(mode, iv, aad, padding):
        sealed = aes_encrypt(KEY, BLOCKS, **options)
        assert len(sealed) == size
        if out is not None:
            assert aes_encrypt(KEY, BLOCKS, **options, out=out) == size
            assert out == sealed
        opened = bytearray(size - (16 if mode == "gcm" else 0)) if with_out else None
        result = aes_decrypt(KEY, sealed, **options, out=opened)
        assert (result, opened) == ((48, BLOCKS + bytes(len(opened) - 48)) if opened else (BLOCKS, None))
        return
    for function in (aes_encrypt, aes_decrypt):
        with pytest.raises(ValueError) as error:  # noqa: PT011
            function(KEY, BLOCKS, **options, out=out)
        assert str(error.value) == complaint(mode, iv, aad, padding)
        assert out is None or out == b"\xee" * size


@each_function
def test_mode_is_required(function: Any) -> None:
    for args, kwargs in (((KEY, BLOCKS), {}), ((KEY, BLOCKS), {"iv": IV})):
        with pytest.raises(TypeError, match=rf"{function.__name__}\(\) missing required argument 'mode'"):
            function(*args, **kwargs)
    with pytest.raises(TypeError, match="at most 2 positional arguments"):
        function(KEY, BLOCKS, "ecb")


@each_function
@pytest.mark.parametrize("mode", ["", "ECB", "Cbc", "gcm ", "xts", "ctr\0", "é", "aes-128-gcm", "e" * 1000])
def test_unknown_mode(function: Any, mode: str) -> None:
    with pytest.raises(ValueError, match=r"\Amode must be 'ecb', 'cbc', 'ctr' or 'gcm', received ") as error:
        function(KEY, BLOCKS, mode=mode, iv=IV)
    assert str(error.value).endswith(repr(mode))


@each_function
@pytest.mark.parametrize("mode", [None, b"ecb", 1, ["ecb"], object()], ids=repr)
def test_mode_of_a_wrong_kind(function: Any, mode: Any) -> None:
    with pytest.raises(TypeError, match="mode must be a str, not "):
        function(KEY, BLOCKS, mode=mode)


@each_function
def test_padding(function: Any) -> None:
    for padding in ("", "PKCS7", "pkcs5", "none", "ansix923", "pkcs7\0"):
        with pytest.raises(ValueError, match="padding must be None or 'pkcs7', received "):
            function(KEY, BLOCKS, mode="cbc", iv=IV, padding=padding)
        with pytest.raises(ValueError, match="padding must be None or 'pkcs7', received "):
            AES(KEY).cbc_encrypt(IV, BLOCKS, padding=padding)
    for wrong in (b"pkcs7", 7, True, False, 0):
        with pytest.raises(TypeError, match="padding must be None or a str, not "):
            function(KEY, BLOCKS, mode="ecb", padding=wrong)
        with pytest.raises(TypeError, match="padding must be None or a str, not "):
            AES(KEY).cbc_decrypt(IV, BLOCKS, padding=wrong)


@each_function
def test_arguments_by_name(function: Any) -> None:
    assert function(data=BLOCKS, mode="ecb", key=KEY) == function(KEY, BLOCKS, mode="ecb")
    for kwargs, text in (
        ({"mode": "ecb", "nonce": IV}, "unexpected keyword argument 'nonce'"),
        ({"mode": "ecb", "key": KEY}, r"given by name \('key'\) and position \(1\)"),
    ):
        with pytest.raises(TypeError, match=text):
            function(KEY, BLOCKS, **kwargs)
    with pytest.raises(TypeError, match="missing required argument 'key'"):
        function(mode="ecb")
    with pytest.raises(TypeError, match="missing required argument 'data'"):
        function(KEY, mode="ecb")


def test_methods_by_name() -> None:
    cipher = AES(key=KEY)
    assert cipher.ecb_decrypt(data=cipher.ecb_encrypt(data=BLOCKS)) == BLOCKS
    assert cipher.cbc_decrypt(data=cipher.cbc_encrypt(data=BLOCKS, iv=IV), iv=IV) == BLOCKS
    assert cipher.ctr(data=cipher.ctr(iv=IV, data=BLOCKS, offset=0), iv=IV) == BLOCKS
    calls: dict[str, Callable[[], Any]] = {
        r"AES\(\) missing required argument 'key'": AES,
        r"AES\(\) takes at most 1 positional argument": lambda: AES(KEY, KEY),
        r"ecb_encrypt\(\) takes at most 1 positional argument": lambda: cipher.ecb_encrypt(BLOCKS, None),
        r"ecb_encrypt\(\) missing required argument 'data'": cipher.ecb_encrypt,
        r"ecb_decrypt\(\) got an unexpected keyword argument 'iv'": lambda: cipher.ecb_decrypt(BLOCKS, iv=IV),
        r"cbc_encrypt\(\) missing required argument 'data'": lambda: cipher.cbc_encrypt(IV),
        r"cbc_decrypt\(\) takes at most 2 positional arguments": lambda: cipher.cbc_decrypt(IV, BLOCKS, None),
        r"ctr\(\) missing required argument 'iv'": lambda: cipher.ctr(data=BLOCKS),
        r"ctr\(\) takes at most 2 positional arguments": lambda: cipher.ctr(IV, BLOCKS, 0),
    }
    for text, call in calls.items():
        with pytest.raises(TypeError, match=text):
            call()


# ---- Sizes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 8, 15, 17, 20, 23, 25, 31, 33, 48, 64, 128, 1000])
def test_key_sizes(size: int) -> None:
    for kind in (bytes, bytearray, lambda n: memoryview(bytes(n))):
        key = kind(size)
        with pytest.raises(ValueError, match=r"\AAES key must be 128, 192, or 256 bits\.\Z"):
            AES(key)
        with pytest.raises(ValueError, match=r"\AAESGCM key must be 128, 192, or 256 bits\.\Z"):
            AESGCM(key)
        for function in (aes_encrypt, aes_decrypt):
            with pytest.raises(ValueError, match=r"\AAES key must be 128, 192, or 256 bits\.\Z"):
                function(key, BLOCKS, mode="ecb")


@pytest.mark.parametrize("size", [0, 1, 8, 12, 15, 17, 26, 32, 128])
def test_iv_sizes(size: int) -> None:
    """Exactly 16 bytes for CBC and CTR: none is cut and none is filled up."""
    iv, cipher, text = bytes(size), AES(KEY), rf"\Aiv must be 16 bytes, received {size}\Z"
    for method in (cipher.cbc_encrypt, cipher.cbc_decrypt, cipher.ctr):
        with pytest.raises(ValueError, match=text):
            method(iv, BLOCKS)
    for function, mode in itertools.product((aes_encrypt, aes_decrypt), ("cbc", "ctr")):
        with pytest.raises(ValueError, match=text):
            function(KEY, BLOCKS, mode=mode, iv=iv)


@pytest.mark.parametrize("size", [0, 1, 7, 129, 1000])
def test_gcm_iv_sizes(size: int) -> None:
    for function in (aes_encrypt, aes_decrypt):
        with pytest.raises(ValueError, match=rf"\Aiv must be between 8 and 128 bytes, received {size}\Z"):
            function(KEY, BLOCKS, mode="gcm", iv=bytes(size))


@pytest.mark.parametrize("size", [1, 5, 15, 17, 31, 33, 47, 1000, 4095])
def test_partial_blocks(size: int) -> None:
    """ECB and CBC without padding, and any decryption, take whole blocks (field report 75)."""
    cipher, data, text = AES(KEY), bytes(size), rf"\Adata must be a multiple of 16 bytes, received {size}\Z"
    calls: list[Callable[[], Any]] = [
        lambda: cipher.ecb_encrypt(data),
        lambda: cipher.ecb_decrypt(data),
        lambda: cipher.cbc_encrypt(IV, data),
        lambda: cipher.cbc_decrypt(IV, data),
        lambda: cipher.cbc_decrypt(IV, data, padding="pkcs7"),
        lambda: aes_encrypt(KEY, data, mode="ecb"),
        lambda: aes_decrypt(KEY, data, mode="ecb"),
        lambda: aes_decrypt(KEY, data, mode="ecb", padding="pkcs7"),
        lambda: aes_encrypt(KEY, data, mode="cbc", iv=IV),
        lambda: aes_decrypt(KEY, data, mode="cbc", iv=IV, padding="pkcs7"),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=text):
            call()


def test_nothing_is_nothing() -> None:
    cipher = AES(KEY)
    assert cipher.ecb_encrypt(b"") == cipher.ecb_decrypt(b"") == b""
    assert cipher.cbc_encrypt(IV, b"") == cipher.cbc_decrypt(IV, b"") == cipher.ctr(IV, b"") == b""
    assert cipher.ctr(IV, b"", offset=7, out=bytearray()) == 0
    assert cipher.ecb_encrypt(memoryview(b""), out=bytearray()) == 0
    assert aes_encrypt(KEY, b"", mode="gcm", iv=NONCE) == Reference(KEY).encrypt(NONCE, b"", None)


def test_key_size_and_block_size() -> None:
    for size in (16, 24, 32):
        cipher = AES(bytes(size))
        assert (cipher.key_size, cipher.block_size) == (size, 16)
        assert repr(cipher) == f"<fastcrypt.AES object, {8 * size}-bit key>"


@pytest.mark.parametrize("offset", [-1, -(2**70), 2**64, 2**100])
def test_ctr_offset_beyond_64_bits(offset: int) -> None:
    with pytest.raises(ValueError, match=r"\Aoffset must be from 0 to 2\*\*64 - 1\Z"):
        AES(KEY).ctr(IV, BLOCKS, offset=offset)


@pytest.mark.parametrize("offset", [None, 1.0, "1", b"1"])
def test_ctr_offset_of_a_wrong_kind(offset: Any) -> None:
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        AES(KEY).ctr(IV, BLOCKS, offset=offset)


def test_ctr_offset_of_other_integers() -> None:
    class Index:
        def __index__(self) -> int:
            return 5

    expected = AES(KEY).ctr(IV, BLOCKS, offset=5)
    assert AES(KEY).ctr(IV, BLOCKS, offset=Index()) == expected
    assert AES(KEY).ctr(IV, BLOCKS, offset=np.int64(5)) == expected


# ---- Kinds ----------------------------------------------------------------------------------------


def test_any_contiguous_buffer() -> None:
    places = {"key": message(32, seed=6), "iv": IV, "data": BLOCKS}
    expected = {
        "ecb": reference_ecb(places["key"], BLOCKS),
        "cbc": reference_cbc(places["key"], IV, BLOCKS),
        "ctr": reference_ctr(places["key"], int.from_bytes(IV, "big"), BLOCKS),
    }
    for place, value in places.items():
        for kind, converted in buffers.contiguous(value).items():
            a = {**places, place: converted}
            cipher = AES(a["key"])
            assert cipher.ecb_encrypt(a["data"]) == expected["ecb"], (place, kind)
            assert cipher.cbc_encrypt(a["iv"], a["data"]) == expected["cbc"], (place, kind)
            assert cipher.ctr(a["iv"], a["data"]) == expected["ctr"], (place, kind)
            assert aes_encrypt(a["key"], a["data"], mode="ctr", iv=a["iv"]) == expected["ctr"], (place, kind)


@pytest.mark.parametrize("object_", [*buffers.no_buffers().values(), "text"], ids=repr)
def test_no_buffers(object_: Any) -> None:
    cipher = AES(KEY)
    calls: list[Callable[[], Any]] = [
        lambda: AES(object_),
        lambda: cipher.ecb_encrypt(object_),
        lambda: cipher.cbc_decrypt(object_, BLOCKS),
        lambda: cipher.ctr(IV, object_),
        lambda: aes_encrypt(object_, BLOCKS, mode="ecb"),
        lambda: aes_decrypt(KEY, object_, mode="ecb"),
    ]
    if object_ is not None:
        calls.append(lambda: aes_decrypt(KEY, BLOCKS, mode="cbc", iv=object_))
        calls.append(lambda: aes_encrypt(KEY, BLOCKS, mode="gcm", iv=NONCE, aad=object_))
        calls.append(lambda: aes_encrypt(KEY, BLOCKS, mode="ecb", out=object_))
        calls.append(lambda: cipher.ctr(IV, BLOCKS, out=object_))
    for call in calls:
        with pytest.raises(TypeError, match=r"bytes-like object"):
            call()


# ---- out ------------------------------------------------------------------------------------------


def operations(out: Any) -> dict[str, tuple[Callable[[], Any], int]]:
    """Every operation that takes an output buffer, and the size it wants for 48 bytes of data."""
    cipher, aead = AES(KEY), AESGCM(KEY)
    padded = reference_cbc(KEY, IV, BLOCKS[:40] + b"\x08" * 8)
    sealed = Reference(KEY).encrypt(NONCE, BLOCKS, AAD)
    return {
        "ecb_encrypt": (lambda: cipher.ecb_encrypt(BLOCKS, out=out), 48),
        "ecb_decrypt": (lambda: cipher.ecb_decrypt(BLOCKS, out=out), 48),
        "cbc_encrypt": (lambda: cipher.cbc_encrypt(IV, BLOCKS, out=out), 48),
        "cbc_encrypt padded": (lambda: cipher.cbc_encrypt(IV, BLOCKS, padding="pkcs7", out=out), 64),
        "cbc_decrypt": (lambda: cipher.cbc_decrypt(IV, BLOCKS, out=out), 48),
        "cbc_decrypt padded": (lambda: cipher.cbc_decrypt(IV, padded, padding="pkcs7", out=out), 48),
        "ctr": (lambda: cipher.ctr(IV, BLOCKS, out=out), 48),
        "ctr offset": (lambda: cipher.ctr(IV, BLOCKS, offset=3, out=out), 48),
        "encrypt_into": (lambda: aead.encrypt_into(NONCE, BLOCKS, AAD, out), 64),
        "decrypt_into": (lambda: aead.decrypt_into(NONCE, sealed, AAD, out), 48),
        "encrypt_detached": (lambda: aead.encrypt_detached(NONCE, BLOCKS, AAD, out=out), 48),
        "decrypt_detached": (
            lambda: aead.decrypt_detached(NONCE, sealed[:-16], sealed[-16:], AAD, out=out),
            48,
        ),
        "aes_encrypt ecb": (lambda: aes_encrypt(KEY, BLOCKS, mode="ecb", padding="pkcs7", out=out), 64),
        "aes_encrypt gcm": (lambda: aes_encrypt(KEY, BLOCKS, mode="gcm", iv=NONCE, out=out), 64),
        "aes_decrypt gcm": (lambda: aes_decrypt(KEY, sealed, mode="gcm", iv=NONCE, aad=AAD, out=out), 48),
        "aes_decrypt ctr": (lambda: aes_decrypt(KEY, BLOCKS, mode="ctr", iv=IV, out=out), 48),
    }


each_operation = pytest.mark.parametrize("operation", operations(None))


def role(operation: str) -> str:
    return "buffer" if operation.endswith("_into") else "out"


@each_operation
def test_out_has_the_exact_size(operation: str) -> None:
    _, wanted = operations(None)[operation]
    for size in (0, 1, wanted - 16, wanted - 1, wanted + 1, wanted + 16, 1000):
        out = bytearray(b"\xee" * size)
        text = rf"\A{role(operation)} must be {wanted} bytes, received {size}\Z"
        with pytest.raises(ValueError, match=text):
            operations(out)[operation][0]()
        assert out == b"\xee" * size


def read_only(size: int) -> dict[str, Any]:
    array = np.full(size, 0xEE, "u1")
    array.flags.writeable = False
    area = mmap.mmap(-1, size, access=mmap.ACCESS_READ)
    return {
        "bytes": b"\xee" * size,
        "memoryview of bytes": memoryview(b"\xee" * size),
        "read-only memoryview": memoryview(bytearray(b"\xee" * size)).toreadonly(),
        "mmap": area,
        "numpy": array,
    }


@pytest.mark.parametrize("kind", read_only(1))
@each_operation
def test_out_is_read_only(operation: str, kind: str) -> None:
    """A TypeError, and not a byte is written (field report 63, CVE-2023-23931)."""
    out = read_only(operations(None)[operation][1])[kind]
    before = bytes(out)
    with pytest.raises(TypeError, match=rf"\A{role(operation)} is not writable\Z"):
        operations(out)[operation][0]()
    assert bytes(out) == before


@each_operation
def test_out_is_not_contiguous(operation: str) -> None:
    size = operations(None)[operation][1]
    area = bytearray(b"\xee" * 2 * size)
    for out in (memoryview(area)[::2], memoryview(area)[size - 1 :: -1]):
        with pytest.raises(BufferError, match="not C-contiguous"):
            operations(out)[operation][0]()
    matrix = np.full((size, 2), 0xEE, "u1")
    for strided in (matrix[:, 0], np.full((8, size // 8), 0xEE, "u1").T):
        with pytest.raises((BufferError, ValueError), match="not C-contiguous"):
            operations(strided)[operation][0]()
        assert (strided == 0xEE).all()
    assert area == b"\xee" * 2 * size


@each_operation
def test_out_is_any_writable_buffer(operation: str) -> None:
    size = operations(None)[operation][1]
    results = []
    for out in (
        bytearray(size),
        memoryview(bytearray(size)),
        mmap.mmap(-1, size),
        np.zeros(size, "u1"),
        np.zeros((4, size // 16), "u4"),
        memoryview(bytearray(size)).cast("B", [4, size // 4]),
    ):
        operations(out)[operation][0]()
        results.append(out.tobytes() if isinstance(out, np.ndarray | memoryview) else bytes(out))
    assert len(set(results)) == 1
    assert results[0] != bytes(size)


@each_operation
def test_out_is_released(operation: str) -> None:
    """No export is left behind, neither after success nor after an error."""
    size = operations(None)[operation][1]
    out = bytearray(size)
    operations(out)[operation][0]()
    out.append(0)
    with pytest.raises(ValueError, match="bytes, received"):
        operations(out)[operation][0]()
    out.clear()


def test_inputs_are_released() -> None:
    """After success, after a bad size, after InvalidTag: the caller's buffers can be resized again."""
    key, iv, data, aad = bytearray(KEY), bytearray(NONCE), bytearray(BLOCKS), bytearray(AAD)
    for out in (None, bytearray(64), bytearray(3), bytes(64)):
        buffers.outcome(lambda out=out: aes_encrypt(key, data, mode="gcm", iv=iv, aad=aad, out=out))
        buffers.outcome(lambda out=out: aes_decrypt(key, data, mode="gcm", iv=iv, aad=aad, out=out))
        for buffer in (key, iv, data, aad):
            buffer.append(0)
            del buffer[-1]
    with pytest.raises(InvalidTag):
        aes_decrypt(key, data, mode="gcm", iv=iv, aad=aad)


# ---- Overlap --------------------------------------------------------------------------------------

ENTRY = 80
Shifted = Callable[[memoryview, memoryview], Any]
CIPHER, AEAD, XTS = AES(KEY), AESGCM(KEY), fastcrypt.AESXTS(KEY + IV)

SIZES = range(1, 201)
WHOLE, STEALING = range(16, 208, 16), [size for size in SIZES if size >= 16]

#: By name: the operation on (data, out), sizes of data, bytes that out has more than data.
OVERLAPS: dict[str, tuple[Shifted, Sequence[int], int]] = {
    "ecb_encrypt": (lambda data, out: CIPHER.ecb_encrypt(data, out=out), WHOLE, 0),
    "ecb_decrypt": (lambda data, out: CIPHER.ecb_decrypt(data, out=out), WHOLE, 0),
    "cbc_encrypt": (lambda data, out: CIPHER.cbc_encrypt(IV, data, out=out), WHOLE, 0),
    "cbc_decrypt": (lambda data, out: CIPHER.cbc_decrypt(IV, data, out=out), WHOLE, 0),
    "cbc_encrypt_many": (lambda data, out: CIPHER.cbc_encrypt_many(IV, [data], out=out), WHOLE, 0),
    "cbc_encryptor": (lambda data, out: CIPHER.cbc_encryptor(IV).update_into(data, out), WHOLE, 0),
    "cbc_decryptor": (lambda data, out: CIPHER.cbc_decryptor(IV).update_into(data, out), WHOLE, 0),
    "ctr": (lambda data, out: CIPHER.ctr(IV, data, out=out), SIZES, 0),
    "ctr offset": (lambda data, out: CIPHER.ctr(IV, data, offset=5, out=out), SIZES, 0),
    "ctr_encryptor": (lambda data, out: CIPHER.ctr_encryptor(IV).update_into(data, out), SIZES, 0),
    "xts encrypt": (lambda data, out: XTS.encrypt(IV, data, out=out), STEALING, 0),
    "xts decrypt": (lambda data, out: XTS.decrypt(IV, data, out=out), STEALING, 0),
    "encrypt_into": (lambda data, out: AEAD.encrypt_into(NONCE, data, AAD, out), SIZES, 16),
    "encrypt_detached": (lambda data, out: AEAD.encrypt_detached(NONCE, data, AAD, out=out), SIZES, 0),
    "gcm encryptor": (lambda data, out: AEAD.encryptor(NONCE, AAD).update_into(data, out), SIZES, 0),
    "gcm decryptor": (lambda data, out: AEAD.decryptor(NONCE, AAD).update_into(data, out), SIZES, 0),
    "seal_into": (
        lambda data, out: RecordCipher(KEY, NONCE).seal_into(data, AAD, out) or len(out),
        SIZES,
        16,
    ),
    "aes_encrypt cbc": (lambda data, out: aes_encrypt(KEY, data, mode="cbc", iv=IV, out=out), WHOLE, 0),
    "aes_encrypt gcm": (lambda data, out: aes_encrypt(KEY, data, mode="gcm", iv=NONCE, out=out), SIZES, 16),
    "cbc_encrypt padded": (
        lambda data, out: CIPHER.cbc_encrypt(IV, data, padding="pkcs7", out=out[: len(data) // 16 * 16 + 16]),
        SIZES,
        16,
    ),
}
SHIFTS = [*range(-64, 65)]


def disjoint(a: int, a_size: int, b: int, b_size: int) -> bool:
    return a + a_size <= b or b + b_size <= a


@pytest.mark.parametrize("name", OVERLAPS)
def test_overlap_of_data_and_out(name: str) -> None:
    """In place and apart are right; anything between is right or a ValueError that changes nothing."""
    run, sizes, more = OVERLAPS[name]
    for size in sizes:
        data = message(size, seed=size)
        wanted = bytearray(size + more)
        written = run(memoryview(data), memoryview(wanted))
        for shift in SHIFTS:
            area = bytearray(b"\x77" * (2 * ENTRY + size + more))
            area[ENTRY : ENTRY + size] = data
            before = bytes(area)
            at = ENTRY + shift
            view = memoryview(area)
            expected = bytearray(before)
            result = buffers.outcome(run, view[ENTRY : ENTRY + size], view[at : at + size + more])
            if result[0] is ValueError:
                assert "overlaps data" in result[1], result
                assert shift != 0
                assert not disjoint(ENTRY, size, at, size + more), (size, shift)
            else:
                assert result == ("result", written)
                count = written if isinstance(written, int) else written[0]
                expected[at : at + count] = wanted[:count]
            assert area == expected, (size, shift)


def open_into(data: memoryview, out: memoryview) -> Any:
    return AEAD.decrypt_into(NONCE, data, AAD, out)


def unpad_into(data: memoryview, out: memoryview) -> Any:
    return CIPHER.cbc_decrypt(IV, data, padding="pkcs7", out=out)


def test_overlap_of_sealed_data_and_out() -> None:
    """decrypt_into and padded decryption, where out is shorter than the data or holds less."""
    for size in SIZES:
        data = message(size, seed=size)
        sealed = Reference(KEY).encrypt(NONCE, data, AAD)
        padded = CIPHER.cbc_encrypt(IV, data, padding="pkcs7")
        zeros = bytes(len(padded) - size)
        for source, run, result in ((sealed, open_into, data), (padded, unpad_into, data + zeros)):
            for shift in SHIFTS:
                area = bytearray(b"\x77" * (2 * ENTRY + len(source) + 16))
                area[ENTRY : ENTRY + len(source)] = source
                before = bytes(area)
                at = ENTRY + shift
                view = memoryview(area)
                expected = bytearray(before)
                try:
                    count = run(view[ENTRY : ENTRY + len(source)], view[at : at + len(result)])
                except ValueError:
                    assert shift != 0
                    assert not disjoint(ENTRY, len(source), at, len(result)), (size, shift)
                else:
                    assert count == size
                    expected[at : at + len(result)] = result
                assert area == expected, (size, shift)


def over_aad(aad: memoryview, out: memoryview) -> list[tuple[str, Callable[[], Any]]]:
    """What takes associated data and an out of 64 bytes, with the text of the refusal."""
    return [
        ("out overlaps aad", lambda: aes_encrypt(KEY, BLOCKS, mode="gcm", iv=NONCE, aad=aad, out=out)),
        ("buffer overlaps associated_data", lambda: AEAD.encrypt_into(NONCE, BLOCKS, aad, out)),
        ("out overlaps associated_data", lambda: AEAD.encrypt_detached(NONCE, bytes(64), aad, out=out)),
    ]


def over_aad_decrypting(aad: memoryview, out: memoryview) -> list[tuple[str, Callable[[], Any]]]:
    sealed, tag = bytes(80), bytes(16)
    return [
        ("out overlaps aad", lambda: aes_decrypt(KEY, sealed, mode="gcm", iv=NONCE, aad=aad, out=out)),
        ("buffer overlaps associated_data", lambda: AEAD.decrypt_into(NONCE, sealed, aad, out)),
        ("out overlaps associated_data", lambda: AEAD.decrypt_detached(NONCE, bytes(64), tag, aad, out=out)),
    ]


def over_key(key: memoryview, out: memoryview) -> list[tuple[str, Callable[[], Any]]]:
    key, data, text = key[:16], bytes(64), "out overlaps key"
    return [
        (text, lambda: aes_encrypt(key, BLOCKS, mode="gcm", iv=NONCE, out=out)),
        (text, lambda: aes_encrypt(key, data, mode="ctr", iv=IV, out=out)),
        (text, lambda: aes_decrypt(key, data, mode="cbc", iv=IV, out=out)),
        (text, lambda: aes_decrypt(key, data, mode="ecb", out=out)),
    ]


@pytest.mark.parametrize(("calls", "size"), [(over_aad, 20), (over_aad_decrypting, 20), (over_key, 16)])
def test_out_over_what_is_read_later(calls: Any, size: int) -> None:
    """Any common byte of out with the associated data or the key: ValueError, nothing changed."""
    for at in range(160):
        area = bytearray(message(260, seed=at))
        before = bytes(area)
        out, other = memoryview(area)[80:144], memoryview(area)[at : at + size]
        for text, call in calls(other, out):
            kind, result = buffers.outcome(call)
            if disjoint(80, 64, at, size):
                assert kind == "result" or issubclass(kind, InvalidTag), result
                assert area[:80] + area[144:] == before[:80] + before[144:]
                area[:] = before
            else:
                assert (kind, result) == (ValueError, text)
                assert area == before


def test_iv_and_tag_inside_out_are_read_first() -> None:
    rng = random.Random(7)
    for size in (16, 32, 48, 80, 160, 320):
        data = rng.randbytes(size)
        for at in range(0, size - 15):
            fresh = bytearray(rng.randbytes(size))
            iv = bytes(fresh[at : at + 16])
            for run, expected in (
                (CIPHER.cbc_encrypt, reference_cbc(KEY, iv, data)),
                (CIPHER.cbc_decrypt, reference_cbc(KEY, iv, data, decrypt=True)),
                (CIPHER.ctr, reference_ctr(KEY, int.from_bytes(iv, "big"), data)),
            ):
                out = bytearray(fresh)
                run(memoryview(out)[at : at + 16], data, out=out)
                assert out == expected, (size, at)
            out = bytearray(fresh)
            sealed = Reference(KEY).encrypt(iv, data, AAD)
            assert AEAD.encrypt_detached(memoryview(out)[at : at + 16], data, AAD, out=out)[1] == sealed[-16:]
            assert out == sealed[:-16]
            out[:] = data
            out[at : at + 16] = sealed[-16:]
            tag = memoryview(out)[at : at + 16]
            assert AEAD.decrypt_detached(iv, sealed[:-16], tag, AAD, out=out) == size
            assert out == data


def test_iv_data_and_out_in_one_record() -> None:
    """A record of iv and data, encrypted in place; and with data that begin in the iv."""
    record = bytearray(IV + BLOCKS)
    view = memoryview(record)
    CIPHER.cbc_encrypt(view[:16], view[16:], out=view[16:])
    assert record == IV + reference_cbc(KEY, IV, BLOCKS)
    record[:] = IV + BLOCKS
    CIPHER.cbc_encrypt(view[:16], view, out=view)
    assert record == reference_cbc(KEY, IV, IV + BLOCKS)
    record[:] = IV + BLOCKS
    CIPHER.cbc_decrypt(view[48:], view, out=view)
    assert record == reference_cbc(KEY, BLOCKS[32:], IV + BLOCKS, decrypt=True)


def test_inputs_may_overlap() -> None:
    """Key, iv, data and associated data may be one and the same memory."""
    area = memoryview(bytearray(message(32, seed=8)))
    same = bytes(area)
    assert aes_encrypt(area, area, mode="gcm", iv=area, aad=area) == Reference(same).encrypt(same, same, same)
    assert aes_encrypt(area, area, mode="cbc", iv=area[8:24]) == reference_cbc(same, same[8:24], same)


# ---- State ----------------------------------------------------------------------------------------


def test_state_is_unchanged_after_errors() -> None:
    """Key objects answer as before, whatever went wrong between."""
    cipher, aead = AES(KEY), AESGCM(KEY)
    expected = cipher.ctr(IV, BLOCKS), cipher.cbc_encrypt(IV, BLOCKS), aead.encrypt(NONCE, BLOCKS, AAD)
    wrong: list[Callable[[], Any]] = [
        lambda: cipher.ecb_encrypt(bytes(15)),
        lambda: cipher.cbc_encrypt(bytes(15), BLOCKS),
        lambda: cipher.cbc_decrypt(IV, BLOCKS, padding="pkcs7"),
        lambda: cipher.cbc_decrypt(IV, BLOCKS, padding="pkcs7", out=bytearray(48)),
        lambda: cipher.ctr(IV, BLOCKS, offset=-1),
        lambda: cipher.ctr(IV, BLOCKS, out=bytearray(3)),
        lambda: cipher.ctr("iv", BLOCKS),
        lambda: aead.encrypt(bytes(7), BLOCKS, None),
        lambda: aead.decrypt(NONCE, BLOCKS, None),
        lambda: aead.decrypt(NONCE, bytes(3), None),
        lambda: aead.encrypt_into(NONCE, BLOCKS, None, bytes(64)),
        lambda: aead.encrypt(NONCE, "text", None),
    ]
    for call in wrong:
        assert buffers.outcome(call)[0] != "result"
        assert (
            cipher.ctr(IV, BLOCKS),
            cipher.cbc_encrypt(IV, BLOCKS),
            aead.encrypt(NONCE, BLOCKS, AAD),
        ) == expected


def calls_that_fail(secret: bytes) -> list[Callable[[], Any]]:
    return [
        lambda: AES(secret),
        lambda: AESGCM(secret),
        lambda: AES(KEY).ecb_encrypt(secret),
        lambda: AES(KEY).cbc_encrypt(secret, b""),
        lambda: AESGCM(KEY).encrypt_into(NONCE, secret, secret, bytearray(3)),
        lambda: AESGCM(KEY).decrypt(NONCE, secret, secret),
    ]


def test_errors_show_no_data() -> None:
    """No text of an exception contains bytes of key, iv or data."""
    for secret in [message(n, seed=n) for n in (15, 17, 31)]:
        for call in calls_that_fail(secret):
            kind, text = buffers.outcome(call)
            assert kind != "result"
            assert repr(secret)[2:8] not in text
            assert secret[:3].hex() not in text
