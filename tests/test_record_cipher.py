# SPDX-License-Identifier: Apache-2.0
"""RecordCipher: nonces as TLS 1.3 and QUIC make them, each sequence number used once."""

from __future__ import annotations

import copy
import ctypes
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import buffers
import pytest
from aes_suites import each_key_size, message
from cryptography.hazmat.primitives.ciphers.aead import AESGCM as Reference

import fastcrypt
from fastcrypt import InvalidTag

# Called in every wrong way below, so without its types.
RecordCipher: Any = fastcrypt.RecordCipher

KEY, IV = message(32, seed=1), message(12, seed=2)
ROOT = Path(__file__).resolve().parents[1]


def nonce_of(number: int, iv: bytes = IV) -> bytes:
    """RFC 8446 section 5.3: the number, padded on the left to the IV's length, XOR the IV."""
    return bytes(a ^ b for a, b in zip(iv, number.to_bytes(12, "big"), strict=True))


# ---- Published records ----------------------------------------------------------------------------


def test_rfc_9001_appendix_a_2_client_initial() -> None:
    """A QUIC packet: packet number 2, its header as associated data, 1,162 bytes of payload."""
    key, iv = bytes.fromhex("1f369613dd76d5467730efcbe3b1a22d"), bytes.fromhex("fa044b2f42a3fd3b46fb255c")
    header = bytes.fromhex("c300000001088394c8f03e5157080000449e00000002")
    crypto = bytes.fromhex(
        "060040f1010000ed0303ebf8fa56f12939b9584a3896472ec40bb863cfd3e868"
        "04fe3a47f06a2b69484c00000413011302010000c000000010000e00000b6578"
        "616d706c652e636f6dff01000100000a00080006001d00170018001000070005"
        "04616c706e000500050100000000003300260024001d00209370b2c9caa47fba"
        "baf4559fedba753de171fa71f50f1ce15d43e994ec74d748002b000302030400"
        "0d0010000e0403050306030203080408050806002d00020101001c0002400100"
        "3900320408ffffffffffffffff05048000ffff07048000ffff08011001048000"
        "75300901100f088394c8f03e51570806048000ffff"
    )
    cipher = RecordCipher(key, iv)
    payload = crypto + bytes(1162 - len(crypto))
    for _ in range(2):
        cipher.seal(b"")
    number, packet = cipher.seal(payload, header)
    assert number == 2
    assert packet[:16].hex() == "d1b1c98dd7689fb8ec11d242b123dc9b"
    assert packet[-16:].hex() == "e221af44860018ab0856972e194cd934"
    assert cipher.open(2, packet, header) == payload


def test_rfc_8448_section_3_client_application_data() -> None:
    """TLS 1.3 by RFC 8446 section 5.2: the record's header is the associated data."""
    key, iv = bytes.fromhex("17422dda596ed5d9acd890e3c63f5051"), bytes.fromhex("5b78923dee08579033e523d9")
    record = bytes.fromhex(
        "1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b9819a8a5b46b395bd54a9a20441e2b"
        "62974e1f5a6292a2977014bd1e3deae63aeebb21694915e4"
    )
    content = bytes(range(50)) + b"\x17"
    assert RecordCipher(key, iv).seal(content, record[:5]) == (0, record[5:])
    assert RecordCipher(key, iv).open(0, record[5:], record[:5]) == content


# ---- Against cryptography -------------------------------------------------------------------------


@each_key_size
def test_every_number_and_length(key_size: int) -> None:
    key = message(key_size, seed=3)
    cipher, opener, peer = RecordCipher(key, IV), RecordCipher(key, IV), Reference(key)
    for number in range(600):
        data, aad = message(number, seed=number), message(number % 40, seed=4)
        record = peer.encrypt(nonce_of(number), data, aad)
        if number % 2:
            assert cipher.seal(data, aad) == (number, record)
        else:
            out = bytearray(b"\xa5" * 4 + bytes(number + 16) + b"\x5a" * 4)
            assert cipher.seal_into(data, aad, memoryview(out)[4:-4]) == number
            assert out == b"\xa5" * 4 + record + b"\x5a" * 4
        assert opener.open(number, record, aad) == data


@pytest.mark.parametrize("iv", [bytes(12), b"\xff" * 12, IV], ids=["zeros", "ones", "random"])
def test_numbers_of_64_bits(iv: bytes) -> None:
    """Each bit of the number meets its bit of the IV; the first four bytes stay."""
    cipher, peer = RecordCipher(KEY, iv), Reference(KEY)
    for number in [0, *(1 << bit for bit in range(64)), 2**64 - 2, 2**64 - 1]:
        assert cipher.open(number, peer.encrypt(nonce_of(number, iv), b"text", b"aad"), b"aad") == b"text"


def test_without_associated_data() -> None:
    cipher, record = RecordCipher(KEY, IV), Reference(KEY).encrypt(IV, b"text", None)
    ways: list[Callable[[], bytes]] = [
        lambda: RecordCipher(KEY, IV).seal(b"text")[1],
        lambda: RecordCipher(KEY, IV).seal(data=b"text", aad=b"")[1],
        lambda: RecordCipher(key=KEY, iv=IV).seal(b"text", None)[1],
    ]
    assert [seal() for seal in ways] == [record] * 3
    assert cipher.open(0, record) == cipher.open(seq=0, record=record, aad=None) == b"text"


def test_in_place_and_long() -> None:
    for size in (0, 1, 64, 20_000):
        data = message(size)
        area = memoryview(bytearray(data + bytes(16)))
        assert RecordCipher(KEY, IV).seal_into(area[:size], b"", area) == 0
        assert area == Reference(KEY).encrypt(IV, data, None)
        assert RecordCipher(KEY, IV).open(0, area) == data


# ---- Forgeries ------------------------------------------------------------------------------------


def test_every_change_is_refused() -> None:
    cipher = RecordCipher(KEY, IV)
    number, record = cipher.seal(b"some text", b"aad")

    def refused(*arguments: Any) -> None:
        with pytest.raises(InvalidTag) as error:
            cipher.open(*arguments)
        assert error.value.index is None

    for bit in range(8 * len(record)):
        flipped = bytearray(record)
        flipped[bit // 8] ^= 1 << bit % 8
        refused(number, flipped, b"aad")
    for bit in range(64):
        refused(number ^ 1 << bit, record, b"aad")
    for aad in (b"", b"aae", b"aad\0", None):
        refused(number, record, aad)
    for size in range(len(record)):
        refused(number, record[:size], b"aad")
    refused(number, record + b"\0", b"aad")
    assert cipher.open(number, record, b"aad") == b"some text"


# ---- Numbers are used once ------------------------------------------------------------------------


def test_an_error_uses_no_number() -> None:
    cipher = RecordCipher(KEY, IV)
    shared = bytearray(64)
    view = memoryview(shared)
    wrong: list[tuple[type[Exception], str, Callable[[], Any]]] = [
        (TypeError, "bytes-like", lambda: cipher.seal("text")),
        (TypeError, "bytes-like", lambda: cipher.seal(b"", 5)),
        (TypeError, "missing", cipher.seal),
        (TypeError, "missing", lambda: cipher.seal_into(b"", b"")),
        (TypeError, "unexpected", lambda: cipher.seal(b"", out=shared)),
        (BufferError, "", lambda: cipher.seal(memoryview(b"abcd")[::2])),
        (TypeError, "writable", lambda: cipher.seal_into(b"", b"", bytes(16))),
        (TypeError, "writable", lambda: cipher.seal_into(b"", b"", None)),
        (ValueError, "buffer must be 20 bytes, received 64", lambda: cipher.seal_into(b"text", b"", shared)),
        (ValueError, "overlaps data", lambda: cipher.seal_into(view[1:5], b"", view[:20])),
        (ValueError, "overlaps aad", lambda: cipher.seal_into(b"text", view[:3], view[:20])),
    ]
    for number in range(3):
        for kind, text, call in wrong:
            with pytest.raises(kind, match=text or None):
                call()
        assert shared == bytes(64)
        assert cipher.seal(b"")[0] == number


def test_huge_data_uses_no_number() -> None:
    """Buffers that say so of themselves: nothing there is read."""
    cipher, limit = RecordCipher(KEY, IV), 2**36 - 32
    anywhere = ctypes.addressof(ctypes.c_char())
    text = (ctypes.c_char * (limit + 1)).from_address(anywhere)
    sealed = (ctypes.c_char * (limit + 17)).from_address(anywhere)
    aad = (ctypes.c_char * 2**61).from_address(anywhere)
    calls: list[Callable[[], Any]] = [
        lambda: cipher.seal(text),
        lambda: cipher.seal_into(text, b"", bytearray(3)),
        lambda: cipher.open(0, sealed),
        lambda: cipher.seal(b"", aad),
        lambda: cipher.open(0, bytes(16), aad),
    ]
    for call in calls:
        with pytest.raises(OverflowError, match="longer than GCM allows"):
            call()
    assert cipher.seal(b"")[0] == 0


def test_threads_get_every_number_once() -> None:
    """Some records are long enough that the GIL is released while they are sealed."""
    cipher, threads, count = RecordCipher(KEY, IV), 8, 1500
    sealed: list[list[tuple[int, bytes]]] = [[] for _ in range(threads)]
    start = threading.Barrier(threads)

    def work(records: list[tuple[int, bytes]], name: bytes) -> None:
        out = bytearray(17)
        start.wait()
        for i in range(count):
            if i % 3 == 0:
                number = cipher.seal_into(name, b"", out)
                records.append((number, bytes(out)))
            else:
                records.append(cipher.seal(name * (1 if i % 50 else 20_000)))

    workers = [
        threading.Thread(target=work, args=(records, bytes([65 + i]))) for i, records in enumerate(sealed)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    numbers = sorted(number for records in sealed for number, _ in records)
    assert numbers == list(range(threads * count))
    for i, records in enumerate(sealed):
        assert [number for number, _ in records] == sorted(number for number, _ in records)
        for number, record in records:
            assert set(cipher.open(number, record)) == {65 + i}


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


def in_child(run: Callable[[], None]) -> int:
    """The exit status of a forked child that runs this: 0 if nothing was raised."""
    child = os.fork()
    if child == 0:
        try:
            run()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_seal() -> None:
    """It opens, and seals with objects of its own; the parent goes on with its numbers."""
    cipher = RecordCipher(KEY, IV)
    _, record = cipher.seal(b"text")

    def child() -> None:
        out = bytearray(b"\xee" * 20)
        calls: list[Callable[[], Any]] = [
            lambda: cipher.seal(b"text"),
            lambda: cipher.seal_into(b"text", b"", out),
        ]
        for call in calls:
            with pytest.raises(RuntimeError, match="has forked since this RecordCipher was made"):
                call()
        assert out == b"\xee" * 20
        assert cipher.open(0, record) == b"text"
        own = RecordCipher(KEY, IV)
        assert own.seal(b"text") == (0, record)

        def grandchild() -> None:
            for inherited in (cipher, own):
                with pytest.raises(RuntimeError, match="has forked"):
                    inherited.seal(b"")
            assert RecordCipher(KEY, IV).seal(b"text")[0] == 0

        assert in_child(grandchild) == 0

    assert in_child(child) == 0
    assert cipher.seal(b"")[0] == 1


@pytest.mark.slow
def test_the_ends_of_numbers_and_lengths(tmp_path: Path) -> None:
    """In C: numbers up to the last one, in threads and over forks; GCM's lengths up to 2^61 - 1 bytes."""
    program = tmp_path / "records"
    names = (
        "tests/native/records.c",
        *(f"csrc/aes/{name}.c" for name in ("gcm", "gcm_stream", "record_number")),
    )
    command = [
        "cc",
        "-std=c11",
        "-D_GNU_SOURCE",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Wconversion",
        "-Wshadow",
        "-Werror",
    ]
    sources = [str(ROOT / name) for name in names]
    subprocess.run([*command, f"-I{ROOT / 'csrc'}", *sources, "-pthread", "-o", str(program)], check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "passed\n")


# ---- The class ------------------------------------------------------------------------------------


def test_wrong_arguments_of_the_constructor() -> None:
    for size in (0, 15, 17, 33):
        with pytest.raises(ValueError, match=r"\ARecordCipher key must be 128, 192, or 256 bits"):
            RecordCipher(bytes(size), IV)
    for size in (0, 8, 11, 13, 16):
        with pytest.raises(ValueError, match=rf"\Aiv must be 12 bytes, received {size}\Z"):
            RecordCipher(KEY, bytes(size))
    for arguments in ((), (KEY,), (KEY, IV, 0), (KEY, None), ("k" * 16, IV), (KEY, "i" * 12)):
        with pytest.raises(TypeError):
            RecordCipher(*arguments)
    assert RecordCipher(bytearray(KEY), memoryview(IV)).seal(b"") == RecordCipher(KEY, IV).seal(b"")


def test_wrong_numbers() -> None:
    cipher = RecordCipher(KEY, IV)
    _, record = cipher.seal(b"text")
    for number in (-1, 2**64, 2**70, -(2**70)):
        with pytest.raises(ValueError, match=r"\Aseq must be from 0 to 2\*\*64 - 1\Z"):
            cipher.open(number, record)
    for kind in ("0", 0.0, None, b"\0"):
        with pytest.raises(TypeError):
            cipher.open(kind, record)
    for buffer in buffers.no_buffers().values():
        with pytest.raises(TypeError):
            cipher.open(0, buffer)
    assert cipher.open(False, record) == b"text"


def test_final_class_without_state_to_see() -> None:
    cipher = RecordCipher(KEY, IV)
    assert repr(cipher) == str(cipher) == "<fastcrypt.RecordCipher object, 256-bit key>"
    assert [name for name in dir(cipher) if name[0] != "_"] == ["open", "seal", "seal_into"]
    assert not hasattr(cipher, "__dict__")
    cipher.__init__()
    cipher.__init__(bytes(16), bytes(12))
    assert cipher.seal(b"") == (0, Reference(KEY).encrypt(IV, b"", None))
    for name in ("seal", "iv"):
        with pytest.raises(AttributeError):
            setattr(cipher, name, None)
    with pytest.raises(TypeError):
        RecordCipher.seal = None
    with pytest.raises(TypeError):
        type("Sub", (RecordCipher,), {})
    for buffer in (bytes, memoryview):
        with pytest.raises(TypeError):
            buffer(cipher)


def test_not_copied_not_pickled() -> None:
    """A copy would use the numbers again."""
    cipher = RecordCipher(KEY, IV)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match=r"\Acannot pickle 'fastcrypt.RecordCipher' object\Z"):
            pickle.dumps(cipher, protocol)
    for copier in (copy.copy, copy.deepcopy, lambda o: o.__reduce__(), lambda o: object.__reduce_ex__(o, 2)):
        with pytest.raises(TypeError, match="cannot pickle"):
            copier(cipher)


def test_the_result_is_a_pair_of_its_own() -> None:
    pair = RecordCipher(KEY, IV).seal(b"text")
    references = sys.getrefcount(pair[1])
    assert (type(pair), type(pair[0]), type(pair[1]), references) == (tuple, int, bytes, 2)
