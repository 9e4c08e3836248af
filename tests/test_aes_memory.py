# SPDX-License-Identifier: Apache-2.0
"""AES and memory: guard pages, alignment, allocations (T-c, T-d), leaks, the GIL, sizes beyond 32 bits."""

from __future__ import annotations

import ctypes
import functools
import hmac
import mmap
import os
import platform
import random
import subprocess
import sys
import sysconfig
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aes_suites import RowSuite, each_row, message, reference_cbc, reference_ctr, reference_ecb
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM as Reference
from guarded import PAGE, Guarded, unreadable

import fastcrypt
from fastcrypt import AES, AESGCM, InvalidTag, RecordCipher, aes_decrypt, aes_encrypt

KEY, IV, NONCE, AAD = message(32, seed=1), message(16, seed=2), message(12, seed=3), message(21, seed=4)
LONGEST = 2 * PAGE
SIZES = [*range(601), PAGE - 1, PAGE, PAGE + 1, PAGE + 17, LONGEST - 16]
Place = Callable[[Guarded, bytes], memoryview]

# ---- Guard pages ----------------------------------------------------------------------------------


class Pages:
    """A guarded area for each argument; in a layout each is at its area's start or at its end."""

    NAMES = ("key", "iv", "nonce", "aad", "tag", "data", "out")

    def __init__(self) -> None:
        self.areas = {name: Guarded(pages=2) for name in self.NAMES}

    def layouts(self, rng: random.Random) -> Iterator[dict[str, Place]]:
        yield dict.fromkeys(self.NAMES, Guarded.at_start)
        yield dict.fromkeys(self.NAMES, Guarded.at_end)
        yield {name: rng.choice([Guarded.at_start, Guarded.at_end]) for name in self.NAMES}

    def put(self, layout: dict[str, Place], **values: bytes) -> dict[str, memoryview]:
        return {name: layout[name](self.areas[name], value) for name, value in values.items()}


@pytest.fixture(scope="module")
def pages() -> Pages:
    return Pages()


@functools.cache
def expected(size: int) -> dict[str, bytes]:
    """What cryptography makes of the first `size` bytes of one long message."""
    data = message(LONGEST, seed=5)[:size]
    whole = data[: size // 16 * 16]
    sealed = Reference(KEY).encrypt(NONCE, data, AAD)
    pad = 16 - size % 16
    return {
        "data": data,
        "whole": whole,
        "ecb_encrypt": reference_ecb(KEY, whole),
        "ecb_decrypt": reference_ecb(KEY, whole, decrypt=True),
        "cbc_encrypt": reference_cbc(KEY, IV, whole),
        "cbc_decrypt": reference_cbc(KEY, IV, whole, decrypt=True),
        "padded": reference_cbc(KEY, IV, data + bytes([pad]) * pad),
        "unpadded": data + bytes(pad),
        "ctr": reference_ctr(KEY, int.from_bytes(IV, "big"), data),
        "ctr at 3": reference_ctr(KEY, int.from_bytes(IV, "big"), bytes(3) + data)[3:],
        "text": sealed[:size],
        "tag": sealed[size:],
        "sealed": sealed,
    }


def test_guard_pages_blocks(pages: Pages) -> None:
    rng = random.Random(6)
    for size in SIZES:
        e = expected(size)
        for layout in pages.layouts(rng):
            v = pages.put(layout, key=KEY, iv=IV, data=e["whole"], out=bytes(len(e["whole"])))
            key, iv, data, out = v["key"], v["iv"], v["data"], v["out"]
            cipher = AES(key)
            for name, count in (
                ("ecb_encrypt", cipher.ecb_encrypt(data, out=out)),
                ("ecb_decrypt", aes_decrypt(key, data, mode="ecb", out=out)),
                ("cbc_encrypt", aes_encrypt(key, data, mode="cbc", iv=iv, out=out)),
                ("cbc_decrypt", cipher.cbc_decrypt(iv, data, out=out)),
            ):
                assert count == len(e[name])
            assert out == e["cbc_decrypt"], size
            assert cipher.ecb_encrypt(data) == e["ecb_encrypt"], size
            assert cipher.ecb_decrypt(data) == e["ecb_decrypt"], size
            assert cipher.cbc_encrypt(iv, data) == e["cbc_encrypt"], size


def test_guard_pages_padding(pages: Pages) -> None:
    rng = random.Random(7)
    for size in SIZES[:-1]:
        e = expected(size)
        for layout in pages.layouts(rng):
            room = bytes(len(e["padded"]))
            v = pages.put(layout, iv=IV, data=e["data"], out=room)
            assert AES(KEY).cbc_encrypt(v["iv"], v["data"], padding="pkcs7", out=v["out"]) == len(room)
            assert v["out"] == e["padded"], size
            v = pages.put(layout, iv=IV, data=e["padded"], out=room)
            assert AES(KEY).cbc_decrypt(v["iv"], v["data"], padding="pkcs7", out=v["out"]) == size
            assert v["out"] == e["unpadded"], size


def test_guard_pages_ctr(pages: Pages) -> None:
    rng = random.Random(8)
    for size in SIZES:
        e = expected(size)
        for layout in pages.layouts(rng):
            v = pages.put(layout, iv=IV, data=e["data"], out=bytes(size))
            assert AES(KEY).ctr(v["iv"], v["data"], out=v["out"]) == size
            assert v["out"] == e["ctr"], size
            assert AES(KEY).ctr(v["iv"], v["data"], offset=3, out=v["out"]) == size
            assert v["out"] == e["ctr at 3"], size


def test_guard_pages_gcm(pages: Pages) -> None:
    rng = random.Random(9)
    for size in SIZES:
        e = expected(size)
        for layout in pages.layouts(rng):
            common = pages.put(layout, key=KEY, nonce=NONCE, aad=AAD)
            key, nonce, aad = common["key"], common["nonce"], common["aad"]
            aead = AESGCM(key)
            v = pages.put(layout, data=e["data"], out=bytes(size + 16))
            assert aead.encrypt_into(nonce, v["data"], aad, v["out"]) == size + 16
            assert v["out"] == e["sealed"], size
            v = pages.put(layout, data=e["sealed"], out=bytes(size))
            assert aead.decrypt_into(nonce, v["data"], aad, v["out"]) == size
            assert v["out"] == e["data"], size
            v = pages.put(layout, data=e["text"], tag=e["tag"], out=bytes(size))
            assert aead.decrypt_detached(nonce, v["data"], v["tag"], aad, out=v["out"]) == size
            assert v["out"] == e["data"], size
            assert aead.encrypt(nonce, v["out"], aad) == e["sealed"], size


def test_guard_pages_nonces_and_associated_data(pages: Pages) -> None:
    rng = random.Random(10)
    for size in [*range(8, 129), 200, 255, 256, 600, PAGE]:
        nonce, aad = rng.randbytes(min(size, 128)), rng.randbytes(size)
        sealed = Reference(KEY).encrypt(nonce, b"data", aad)
        for layout in pages.layouts(rng):
            v = pages.put(layout, nonce=nonce, aad=aad)
            assert AESGCM(KEY).encrypt(v["nonce"], b"data", v["aad"]) == sealed
            assert aes_decrypt(KEY, sealed, mode="gcm", iv=v["nonce"], aad=v["aad"]) == b"data"


@each_row
def test_guard_pages_on_every_row(suite: RowSuite, pages: Pages) -> None:
    rng = random.Random(11)
    j0 = NONCE + bytes([0, 0, 0, 1])
    for size in SIZES:
        e = expected(size)
        for layout in pages.layouts(rng):
            v = pages.put(layout, key=KEY, iv=IV, data=e["whole"], out=bytes(len(e["whole"])))
            for name in ("ecb_encrypt", "ecb_decrypt"):
                suite.call(name, v["key"], v["data"], v["out"])
                assert v["out"] == e[name], (name, size)
            for name in ("cbc_encrypt", "cbc_decrypt"):
                v["iv"][:] = IV
                suite.call(name, v["key"], v["iv"], v["data"], v["out"])
                assert v["out"] == e[name], (name, size)
            v = pages.put(layout, key=KEY, iv=IV, aad=AAD, data=e["data"], out=bytes(size))
            suite.call("ctr", v["key"], v["iv"], v["data"], v["out"])
            assert v["out"] == e["ctr"], size
            v["iv"][:] = j0
            assert suite.call("gcm_seal", v["key"], v["iv"], v["aad"], v["data"], v["out"]) == e["tag"]
            assert v["out"] == e["text"], size
            v["data"][:] = e["text"]
            assert suite.call("gcm_open", v["key"], v["iv"], v["aad"], v["data"], v["out"]) == e["tag"]
            assert v["out"] == e["data"], size


@each_row
def test_guard_pages_pieces_on_every_row(suite: RowSuite, pages: Pages) -> None:
    """gcm_encrypt, gcm_decrypt and ghash, which take what is left of a message."""
    rng = random.Random(12)
    for size in SIZES:
        e = expected(size)
        lengths = (8 * len(AAD)).to_bytes(8, "big") + (8 * size).to_bytes(8, "big")
        mask = reference_ecb(KEY, NONCE + bytes([0, 0, 0, 1]))
        for layout in pages.layouts(rng):
            for name, source, target in (("gcm_encrypt", "data", "text"), ("gcm_decrypt", "text", "data")):
                v = pages.put(layout, iv=NONCE + bytes([0, 0, 0, 2]), tag=bytes(16), aad=AAD)
                v |= pages.put(layout, data=e[source], out=bytes(size))
                suite.call("ghash", KEY, v["tag"], v["aad"])
                suite.call(name, KEY, v["iv"], v["tag"], v["data"], v["out"])
                assert v["out"] == e[target], (name, size)
                suite.call("ghash", KEY, v["tag"], lengths)
                assert bytes(a ^ b for a, b in zip(v["tag"], mask, strict=True)) == e["tag"], (name, size)


# ---- Alignment ------------------------------------------------------------------------------------


def placements(rng: random.Random, count: int) -> Iterator[list[int]]:
    """Each of `count` arguments alone at offsets 0 to 63, then 1,000 seeded combinations."""
    for argument in range(count):
        for offset in range(64):
            yield [offset if i == argument else 0 for i in range(count)]
    for _ in range(1000):
        yield [rng.randrange(64) for _ in range(count)]


@each_row
def test_alignment_on_every_row(suite: RowSuite, pages: Pages) -> None:
    rng = random.Random(13)
    areas = [pages.areas[name] for name in ("key", "iv", "aad", "data", "out")]
    j0 = NONCE + bytes([0, 0, 0, 1])
    for offsets in placements(rng, 5):
        size = rng.randrange(300)
        e = expected(size)
        values = (KEY, j0, AAD, e["data"], bytes(size))
        key, start, aad, data, out = (
            area.at(offset, value) for area, offset, value in zip(areas, offsets, values, strict=True)
        )
        assert suite.call("gcm_seal", key, start, aad, data, out) == e["tag"], offsets
        assert out == e["text"], offsets
        n = len(e["whole"])
        start[:] = IV
        suite.call("cbc_decrypt", key, start, data[:n], out[:n])
        assert out[:n] == e["cbc_decrypt"], offsets
        suite.call("ecb_encrypt", key, data[:n], out[:n])
        assert out[:n] == e["ecb_encrypt"], offsets


def test_alignment(pages: Pages) -> None:
    rng = random.Random(14)
    areas = [pages.areas[name] for name in ("key", "iv", "data", "out")]
    for offsets in placements(rng, 4):
        size = rng.randrange(300)
        e = expected(size)
        values = (KEY, IV, e["data"], bytes(size))
        key, iv, data, out = (
            area.at(offset, value) for area, offset, value in zip(areas, offsets, values, strict=True)
        )
        assert aes_encrypt(key, data, mode="ctr", iv=iv, out=out) == size
        assert out == e["ctr"], offsets
        n = len(e["whole"])
        assert AES(key).cbc_encrypt(iv, data[:n], out=out[:n]) == n
        assert out[:n] == e["cbc_encrypt"], offsets


# ---- Allocations (T-c, T-d) -----------------------------------------------------------------------

needs_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="counts glibc's malloc")


@pytest.fixture(scope="module")
def allocations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """allocations.c as a shared object."""
    source = Path(__file__).with_name("allocations.c")
    library = tmp_path_factory.mktemp("allocations") / "allocations.so"
    include = sysconfig.get_path("include")
    compiler = os.environ.get("CC", "cc").split()
    command = [*compiler, "-O1", "-shared", "-fPIC", f"-I{include}", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return library


#: Run with allocations.so preloaded: mallocs per call, for what this prints a line about.
MALLOC_CHILD = """
import ctypes, sys
from fastcrypt import AES, AESGCM, aes_encrypt, sha256, sha256_digest

malloc_calls = ctypes.CDLL(sys.argv[1]).malloc_calls
malloc_calls.restype = ctypes.c_long
key, iv, nonce, aad = bytes(32), bytes(16), bytes(12), bytes(20)
cipher, aead = AES(key), AESGCM(key)

def report(name, call, rounds):
    for _ in range(3):
        call()
    before = malloc_calls()
    for _ in range(rounds):
        call()
    print(name, (malloc_calls() - before) / rounds)

for size, rounds in ((64, 1000), (1024, 1000), (1 << 14, 300), (1 << 16, 100), (1 << 24, 3)):
    data, buf = bytes(size), bytearray(size + 16)
    view, body = memoryview(buf), memoryview(buf)[:size]
    sealed = aead.encrypt(nonce, data, aad)
    report("into", lambda: aead.encrypt_into(nonce, data, aad, buf), rounds)
    report("into", lambda: aead.decrypt_into(nonce, sealed, aad, body), rounds)
    report("into", lambda: aead.encrypt_into(nonce, body, aad, view), rounds)
    report("into", lambda: aes_encrypt(key, data, mode="gcm", iv=nonce, aad=aad, out=buf), rounds)
    report("into", lambda: cipher.cbc_encrypt(iv, body, out=body), rounds)
    report("into", lambda: cipher.ctr(iv, data, offset=5, out=body), rounds)
    report("into", lambda: cipher.cbc_encrypt(iv, data, padding="pkcs7", out=view), rounds)
    if size > 512:  # objects up to that size come from CPython's own pools
        report("new", lambda: aead.encrypt(nonce, data, aad), rounds)
        report("new", lambda: aead.decrypt(nonce, sealed, aad), rounds)
        report("new", lambda: cipher.ctr(iv, data), rounds)
        report("new", lambda: cipher.cbc_encrypt(iv, data), rounds)
report("new", lambda: AESGCM(key), 1000)
report("new", lambda: AES(key), 1000)
report("into", lambda: sha256(key), 1000)
report("into", lambda: sha256_digest(key), 1000)
"""


@needs_glibc
def test_t_c_and_t_d_malloc_per_call(allocations: Path) -> None:
    """No hidden buffer: no call of malloc with a caller's buffer, and one where an object is returned."""
    environment = {**os.environ, "LD_PRELOAD": str(allocations)}
    child = subprocess.run(
        [sys.executable, "-c", MALLOC_CHILD, str(allocations)],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    lines = [line.split() for line in child.stdout.splitlines()]
    assert len(lines) == 5 * 7 + 4 * 4 + 4
    assert [line for line in lines if float(line[1]) != (line[0] == "new")] == []


@pytest.mark.parametrize("in_place", [False, True])
def test_t_c_16_mib_into_a_buffer(in_place: bool) -> None:
    """encrypt_into and decrypt_into of 16 MiB: a tracemalloc peak below 4 KiB; in place the same bytes."""
    size = 16 << 20
    data = bytearray(random.Random(15).randbytes(1 << 16) * (size >> 16))
    sealed = Reference(KEY).encrypt(NONCE, bytes(data), AAD)
    buf = memoryview(data + bytearray(16)) if in_place else memoryview(bytearray(size + 16))
    body = buf[:size]
    source: Any = body if in_place else data
    aead = AESGCM(KEY)
    tracemalloc.start()
    try:
        count = aead.encrypt_into(NONCE, source, AAD, buf)
        peak = tracemalloc.get_traced_memory()[1]
        assert count == size + 16
        assert buf == sealed
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        aead.decrypt_into(NONCE, buf if in_place else sealed, AAD, body)
        peak = max(peak, tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
    assert peak < 4096
    assert body == data


Counted = tuple[Callable[..., Any], tuple[Any, ...], tuple[str, ...], int]


def counted_calls() -> dict[str, Counted]:
    """By name: a callable, its arguments, the names of the last of them, the objects it may take."""
    cipher, aead = AES(KEY), AESGCM(KEY)
    data, long = message(160, seed=16), message(1 << 16, seed=17)
    sealed, padded = aead.encrypt(NONCE, data, AAD), cipher.cbc_encrypt(IV, data, padding="pkcs7")
    out = bytearray(160)
    hash_ = fastcrypt.sha256(data)
    return {
        "encrypt": (aead.encrypt, (NONCE, data, AAD), (), 1),
        "encrypt long": (aead.encrypt, (NONCE, long, AAD), (), 1),
        "encrypt None": (aead.encrypt, (NONCE, data, None), (), 1),
        "encrypt by name": (aead.encrypt, (NONCE, data, AAD), ("nonce", "data", "associated_data"), 1),
        "decrypt": (aead.decrypt, (NONCE, sealed, AAD), (), 1),
        "encrypt_into": (aead.encrypt_into, (NONCE, data, AAD, bytearray(176)), (), 0),
        "decrypt_into": (aead.decrypt_into, (NONCE, sealed, AAD, out), (), 0),
        "decrypt_detached": (aead.decrypt_detached, (NONCE, sealed[:-16], sealed[-16:], AAD), (), 1),
        "encrypt_detached": (aead.encrypt_detached, (NONCE, data, AAD), (), 3),  # a tuple of two
        "ecb_encrypt": (cipher.ecb_encrypt, (data,), (), 1),
        "ecb_decrypt": (cipher.ecb_decrypt, (data, out), ("out",), 0),
        "cbc_encrypt": (cipher.cbc_encrypt, (IV, data), (), 1),
        "cbc_encrypt padded": (cipher.cbc_encrypt, (IV, data, "pkcs7"), ("padding",), 1),
        "cbc_decrypt padded": (cipher.cbc_decrypt, (IV, padded, "pkcs7"), ("padding",), 1),
        "ctr": (cipher.ctr, (IV, data), (), 1),
        "ctr long": (cipher.ctr, (IV, long, 5), ("offset",), 1),
        "aes_encrypt gcm": (aes_encrypt, (KEY, data, "gcm", NONCE, AAD), ("mode", "iv", "aad"), 1),
        "aes_decrypt gcm": (aes_decrypt, (KEY, sealed, "gcm", NONCE, AAD), ("mode", "iv", "aad"), 1),
        "aes_encrypt cbc": (aes_encrypt, (KEY, data, "cbc", IV), ("mode", "iv"), 1),
        "aes_encrypt bytearray": (aes_encrypt, (bytearray(KEY), bytearray(data), "ecb"), ("mode",), 1),
        "AES": (AES, (KEY,), (), 1),
        "AESGCM": (AESGCM, (KEY,), (), 1),
        "AESGCM tag_length": (AESGCM, (KEY, 12), ("tag_length",), 1),
        "sha256": (fastcrypt.sha256, (data,), (), 1),
        "sha256 nothing": (fastcrypt.sha256, (), (), 1),
        "digest": (hash_.digest, (), (), 1),
        "hexdigest": (hash_.hexdigest, (), (), 1),
        "copy": (hash_.copy, (), (), 1),
        "update": (hash_.update, (data,), (), 0),
        "sha256_digest": (fastcrypt.sha256_digest, (data,), (), 1),
        "sha256_hexdigest": (fastcrypt.sha256_hexdigest, (data,), (), 1),
        "compare_digest": (fastcrypt.compare_digest, (data, bytearray(data)), (), 0),
    }


@needs_glibc
@pytest.mark.parametrize("name", counted_calls())
def test_t_d_one_object_per_call(allocations: Path, name: str) -> None:
    """At most one object from CPython's allocators per call, and nothing from PyMem or PyMem_Raw."""
    count_call = ctypes.PyDLL(str(allocations)).count_call
    count_call.restype = ctypes.py_object
    count_call.argtypes = [ctypes.py_object, ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p]
    callable_, arguments, names, objects = counted_calls()[name]
    counts = (ctypes.c_long * 3)()
    seen = []
    for _ in range(4):  # one for what CPython caches on the way
        result = count_call(callable_, arguments, id(names) if names else None, counts)
        seen.append(list(counts))
        del result
    least = min(seen)
    assert least[0] <= objects, seen
    assert least[1:] == [0, 0], seen


@needs_glibc
def test_the_counter_counts(allocations: Path) -> None:
    count_call = ctypes.PyDLL(str(allocations)).count_call
    count_call.restype = ctypes.py_object
    count_call.argtypes = [ctypes.py_object, ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p]
    counts = (ctypes.c_long * 3)()
    assert len(count_call(lambda: [bytes(100 + i) for i in range(50)], (), None, counts)) == 50
    assert counts[0] >= 50


# ---- Leaks ----------------------------------------------------------------------------------------


def leak_calls() -> dict[str, tuple[Callable[[], Any], type[Exception] | None]]:
    cipher, aead = AES(KEY), AESGCM(KEY)
    data, area = message(48, seed=18), bytearray(64)
    sealed = aead.encrypt(NONCE, data, AAD)
    anything: Any = "no buffer"
    strided: Any = memoryview(bytearray(96))[::2]
    mode: Any = "xyz"
    return {
        "AES": (lambda: AES(KEY), None),
        "AES bytearray": (lambda: AES(bytearray(KEY)), None),
        "AES bad key": (lambda: AES(bytearray(17)), ValueError),
        "AES no key": (lambda: AES(anything), TypeError),
        "AESGCM": (lambda: AESGCM(KEY, tag_length=13), None),
        "AESGCM bad key": (lambda: AESGCM(b"short"), ValueError),
        "AESGCM bad tag_length": (lambda: AESGCM(KEY, tag_length=11), ValueError),
        "generate_key": (lambda: AESGCM.generate_key(256), None),
        "generate_key bad": (lambda: AESGCM.generate_key(2**70), ValueError),
        "ecb": (lambda: cipher.ecb_decrypt(cipher.ecb_encrypt(data)), None),
        "ecb bad size": (lambda: cipher.ecb_encrypt(bytearray(15)), ValueError),
        "cbc": (lambda: cipher.cbc_decrypt(IV, cipher.cbc_encrypt(IV, data)), None),
        "cbc padded": (lambda: cipher.cbc_encrypt(IV, data, padding="pkcs7"), None),
        "cbc bad padding": (lambda: cipher.cbc_decrypt(IV, data, padding="pkcs7"), ValueError),
        "ctr": (lambda: cipher.ctr(IV, data, offset=2**40), None),
        "ctr bad offset": (lambda: cipher.ctr(IV, data, offset=-1), ValueError),
        "ctr bad out": (lambda: cipher.ctr(IV, data, out=strided), BufferError),
        "encrypt": (lambda: aead.encrypt(NONCE, data, AAD), None),
        "encrypt bad nonce": (lambda: aead.encrypt(bytearray(7), data, AAD), ValueError),
        "encrypt bad aad": (lambda: aead.encrypt(NONCE, bytearray(data), anything), TypeError),
        "decrypt": (lambda: aead.decrypt(NONCE, sealed, AAD), None),
        "decrypt bad tag": (lambda: aead.decrypt(NONCE, sealed, None), InvalidTag),
        "decrypt short": (lambda: aead.decrypt(NONCE, bytearray(3), None), InvalidTag),
        "encrypt_into": (lambda: aead.encrypt_into(NONCE, data, AAD, area), None),
        "encrypt_into read-only": (lambda: aead.encrypt_into(NONCE, data, AAD, bytes(64)), TypeError),
        "encrypt_into overlap": (
            lambda: aead.encrypt_into(NONCE, memoryview(area)[1:49], AAD, area),
            ValueError,
        ),
        "encrypt_detached": (lambda: aead.encrypt_detached(NONCE, data, AAD), None),
        "decrypt_detached": (lambda: aead.decrypt_detached(NONCE, sealed[:-16], sealed[-16:], AAD), None),
        "decrypt_detached bad": (lambda: aead.decrypt_detached(NONCE, data, b"tag", AAD), InvalidTag),
        "aes_encrypt": (lambda: aes_encrypt(bytearray(KEY), data, mode="gcm", iv=NONCE, aad=AAD), None),
        "aes_encrypt bad mode": (lambda: aes_encrypt(KEY, data, mode=mode), ValueError),
        "aes_encrypt bad name": (lambda: aes_encrypt(KEY, data, mode="ecb", tag=1), TypeError),  # type: ignore[call-overload]
        "aes_decrypt bad tag": (lambda: aes_decrypt(KEY, data, mode="gcm", iv=NONCE), InvalidTag),
        "repr": (lambda: repr(aead) + repr(cipher), None),
        "pickle": (aead.__reduce__, TypeError),
    }


def resident_bytes() -> int:
    """Without /proc it is 0 and only CPython's own counts are looked at."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * PAGE if statm.exists() else 0


@pytest.mark.parametrize("name", leak_calls())
def test_no_leak(name: str) -> None:
    """10,000 calls (a million with FASTCRYPT_BIG=1): as many blocks, references and pages as before."""
    call, error = leak_calls()[name]
    rounds = 1_000_000 if os.environ.get("FASTCRYPT_BIG") == "1" else 10_000
    shared: list[Any] = [AES, AESGCM, InvalidTag, KEY, IV, NONCE, AAD, "pkcs7", "gcm"]

    def repeat(count: int) -> None:
        for _ in range(count):
            if error is None:
                call()
                continue
            try:
                call()
            except error:
                continue
            raise AssertionError("no error")

    repeat(1000)
    blocks, references = sys.getallocatedblocks(), [sys.getrefcount(o) for o in shared]
    resident = resident_bytes()
    repeat(rounds)
    assert sys.getallocatedblocks() - blocks < 100
    assert all(abs(sys.getrefcount(o) - r) < 100 for o, r in zip(shared, references, strict=True))
    assert resident_bytes() - resident < 4 << 20


# ---- The GIL --------------------------------------------------------------------------------------


class Counter:
    """A thread that counts on whenever it gets to run, which it does only when the GIL is released."""

    def __enter__(self) -> Counter:
        self.count, self.stop = 0, False
        self.interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self) -> None:
        while not self.stop:
            self.count += 1
            time.sleep(2e-5)

    def __exit__(self, *_: object) -> None:
        self.stop = True
        self.thread.join()
        sys.setswitchinterval(self.interval)

    def runs_during(self, call: Callable[[], Any]) -> bool:
        before = self.count
        call()
        return self.count > before


LONG = 8 << 20
long_data, long_area = bytes(LONG), bytearray(LONG + 16)
long_body = memoryview(long_area)[:LONG]
has_gil = not hasattr(sys, "_is_gil_enabled") or sys._is_gil_enabled()


def long_calls(size: int) -> dict[str, Callable[[], Any]]:
    cipher, aead = AES(KEY), AESGCM(KEY)
    data, out, sealed = long_data[:size], long_body[:size], memoryview(long_area)[: size + 16]

    def refused() -> None:
        with pytest.raises(InvalidTag):
            aead.decrypt_detached(NONCE, data, bytes(16), None, out=out)

    return {
        "ecb_encrypt": lambda: cipher.ecb_encrypt(data, out=out),
        "ecb_decrypt": lambda: cipher.ecb_decrypt(data, out=out),
        "cbc_encrypt": lambda: cipher.cbc_encrypt(IV, data, out=out),
        "cbc_decrypt": lambda: cipher.cbc_decrypt(IV, data, out=out),
        "cbc_encrypt padded": lambda: cipher.cbc_encrypt(IV, data, padding="pkcs7", out=sealed),
        "ctr": lambda: cipher.ctr(IV, data, out=out),
        "encrypt_into": lambda: aead.encrypt_into(NONCE, data, None, sealed),
        "associated data": lambda: aead.encrypt_into(NONCE, b"", data, bytearray(16)),
        "decrypt refused": refused,
        "encrypt_many": lambda: aead.encrypt_many(bytes(12 * 4), data, record_size=-(-size // 4)),
        "decrypt_many": lambda: aead.decrypt_many(bytes(12), data, record_size=size, errors="none"),
        "RecordCipher.seal": lambda: RecordCipher(KEY, NONCE).seal(data),
        "aes_encrypt": lambda: aes_encrypt(KEY, data, mode="ctr", iv=IV, out=out),
    }


@pytest.mark.parametrize("name", long_calls(16))
def test_the_gil_is_released_for_long_data(name: str) -> None:
    call = long_calls(LONG)[name]
    with Counter() as counter:
        assert any(counter.runs_during(call) for _ in range(50))


@pytest.mark.skipif(not has_gil, reason="this interpreter has no GIL")
@pytest.mark.parametrize("name", long_calls(16))
def test_the_gil_is_held_for_short_data(name: str) -> None:
    """Releasing it costs more than 1 KiB takes."""
    call = long_calls(1024)[name]
    with Counter() as counter:
        assert not any(counter.runs_during(call) for _ in range(5000))
        # The counter would not run in a long call that holds the GIL:
        twin = bytearray(long_data)
        assert not counter.runs_during(lambda: hmac.compare_digest(long_data, twin))


# ---- Sizes beyond 32 bits -------------------------------------------------------------------------

GCM_LIMIT = 2**36 - 32


@pytest.fixture(scope="module")
def endless() -> Iterator[mmap.mmap]:
    """More than GCM can encrypt, every byte of it fatal to touch."""
    try:
        area = unreadable(GCM_LIMIT + PAGE)
    except OSError as error:
        pytest.skip(f"no address space for 64 GiB: {error}")
    yield area
    area.close()


def test_data_beyond_the_limit_is_not_touched(endless: mmap.mmap) -> None:
    """OverflowError for more than 2^36 - 32 bytes; at the limit the size of `buf` is looked at."""
    aead = AESGCM(KEY)
    view = memoryview(endless)
    data, sealed = view[: GCM_LIMIT + 1], view[: GCM_LIMIT + 17]
    small = bytearray(3)
    beyond = r"(data|datas\[1\]) is longer than GCM allows \(2\*\*36 - 32 bytes\)"
    calls: list[Callable[[], Any]] = [
        lambda: aead.encrypt(NONCE, data, None),
        lambda: aead.encrypt(NONCE, view, None),
        lambda: aead.encrypt_into(NONCE, data, None, small),
        lambda: aead.encrypt_detached(NONCE, data, None),
        lambda: aead.decrypt(NONCE, sealed, None),
        lambda: aead.decrypt_into(NONCE, sealed, None, small),
        lambda: aead.decrypt_detached(NONCE, data, bytes(16), None),
        lambda: aead.encrypt_many([NONCE] * 2, [b"", data]),
        lambda: aead.decrypt_many([NONCE] * 2, [b"", sealed], out=small),
        lambda: RecordCipher(KEY, NONCE).seal(data),
        lambda: RecordCipher(KEY, NONCE).seal_into(data, b"", small),
        lambda: RecordCipher(KEY, NONCE).open(0, sealed),
        lambda: aes_encrypt(KEY, data, mode="gcm", iv=NONCE),
        lambda: aes_decrypt(KEY, sealed, mode="gcm", iv=NONCE),
    ]
    for call in calls:
        with pytest.raises(OverflowError, match=beyond):
            call()
    for stream in (aead.encryptor(NONCE), aead.decryptor(NONCE)):
        with pytest.raises(OverflowError, match="the message is longer than GCM allows"):
            stream.update(data)
        assert len(stream.update(b"goes on")) == 7
    with pytest.raises(ValueError, match=rf"buffer must be {GCM_LIMIT + 16} bytes, received 3"):
        aead.encrypt_into(NONCE, view[:GCM_LIMIT], None, small)
    with pytest.raises(ValueError, match=rf"buffer must be {GCM_LIMIT} bytes, received 3"):
        aead.decrypt_into(NONCE, view[: GCM_LIMIT + 16], None, small)
    with pytest.raises(ValueError, match="Nonce must be between 8 and 128 bytes, received 68719476705"):
        aead.encrypt(data, b"", None)
    with pytest.raises(ValueError, match="iv must be 16 bytes, received 68719476705"):
        AES(KEY).ctr(data, b"")
    with pytest.raises(ValueError, match="AES key must be"):
        AES(data)
    with pytest.raises(ValueError, match=r"out must be 68719476705 bytes, received 3"):
        AES(KEY).ctr(IV, data, out=small)


def free_memory() -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


@pytest.mark.big
@pytest.mark.parametrize("size", [2**31, 2**32 + 16])
@pytest.mark.parametrize(
    "mode",
    [modes.CTR(IV), modes.CBC(IV), pytest.param(modes.GCM(NONCE), marks=pytest.mark.big_in_ci)],
    ids=lambda mode: mode.name,
)
def test_big_data_in_place(mode: Any, size: int) -> None:
    """Field report 64: no size is cut to 32 bits. The peer works in pieces."""
    if free_memory() < 10 << 30:
        pytest.skip("less than 10 GiB of memory are free")
    area = mmap.mmap(-1, size + 16, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        area.madvise(mmap.MADV_HUGEPAGE)  # a million page faults take longer than the encryption
    view = memoryview(area)
    body, step = view[:size], 1 << 20
    if mode.name == "GCM":
        assert AESGCM(KEY).encrypt_into(NONCE, body, None, view) == size + 16
    else:
        run = AES(KEY).ctr if mode.name == "CTR" else AES(KEY).cbc_encrypt
        assert run(IV, body, out=body) == size
    peer: Any = Cipher(algorithms.AES(KEY), mode).encryptor()
    for at in range(0, size, step):
        n = min(step, size - at)
        assert bytes(body[at : at + n]) == peer.update(bytes(n)), at
    peer.finalize()
    if mode.name == "GCM":
        assert view[size:] == peer.tag
        assert AESGCM(KEY).decrypt_into(NONCE, view, None, body) == size
        zeros = bytes(step)
        assert all(bytes(body[at : at + step]) == zeros[: size - at] for at in range(0, size, step))
