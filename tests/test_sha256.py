# SPDX-License-Identifier: Apache-2.0
"""SHA-256: every kernel row, the class in hashlib's shape (rows HL-1 to HL-23), the one-shots."""

from __future__ import annotations

import contextlib
import copy
import gc
import hashlib
import hmac
import io
import os
import pickle
import random
import re
import signal
import struct
import subprocess
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import buffers
import numpy as np
import pytest
import vectors
from buffers import hostile, outcome
from guarded import PAGE, Guarded, zeros
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import Row

import fastcrypt
from fastcrypt import _core

# They are called in every wrong way below, so without their types.
sha256: Any = fastcrypt.sha256
sha256_digest: Any = fastcrypt.sha256_digest
sha256_hexdigest: Any = fastcrypt.sha256_hexdigest

H0 = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
BLOCK = 64
BOUNDARY_LENGTH = 929_271  # 55 mod 64: where one library's repair for long files broke

#: Every way in for data; each must treat it alike.
WAYS: dict[str, Callable[[Any], bytes]] = {
    "sha256(x)": lambda x: sha256(x).digest(),
    "sha256(data=x)": lambda x: sha256(data=x).digest(),
    "sha256(string=x)": lambda x: sha256(string=x).digest(),
    "update(x)": lambda x: updated(sha256(), x).digest(),
    "sha256_digest(x)": sha256_digest,
    "sha256_hexdigest(x)": lambda x: bytes.fromhex(sha256_hexdigest(x)),
}
each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


@pytest.fixture(autouse=True)
def _quiet_string_keyword() -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*'string' keyword", category=DeprecationWarning)
        yield


def updated(h: Any, data: Any) -> Any:
    assert h.update(data) is None
    return h


def message(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


def padding(size: int) -> bytes:
    """FIPS 180-4 section 5.1.1."""
    return b"\x80" + bytes(-(size + 9) % BLOCK) + (8 * size).to_bytes(8, "big")


def words(state: bytearray) -> bytes:
    return struct.pack(">8I", *struct.unpack("=8I", state))


def new_state() -> bytearray:
    return bytearray(struct.pack("=8I", *H0))


def row_digest(row: Row, data: bytes) -> bytes:
    state = new_state()
    row(state, data + padding(len(data)))
    return words(state)


# ---- NIST CAVP ------------------------------------------------------------------------------------


def cavp(name: str, count: int) -> list[tuple[bytes, bytes]]:
    cases = vectors.nist(f"hashes/SHA2/SHA256{name}.rsp", count)
    return [(bytes.fromhex(c["Msg"])[: int(c["Len"]) // 8], bytes.fromhex(c["MD"])) for c in cases]


def monte_carlo(digest: Callable[[bytes], bytes]) -> None:
    """SHAVS section 6.4: a chain of 100,000 digests, every 1,000th of which is given."""
    first, *checkpoints = vectors.nist("hashes/SHA2/SHA256Monte.rsp", 101)
    seed = bytes.fromhex(first["Seed"])
    for checkpoint in checkpoints:
        a = b = c = seed
        for _ in range(1000):
            a, b, c = b, c, digest(a + b + c)
        assert c.hex() == checkpoint["MD"], checkpoint["COUNT"]
        seed = c


@pytest.mark.parametrize(("name", "count"), [("ShortMsg", 65), ("LongMsg", 64)])
def test_cavp_on_every_row(sha256_blocks_row: Row, name: str, count: int) -> None:
    for data, expected in cavp(name, count):
        assert row_digest(sha256_blocks_row, data) == expected, len(data)


@pytest.mark.parametrize(("name", "count"), [("ShortMsg", 65), ("LongMsg", 64)])
@each_way
def test_cavp(way: Callable[[Any], bytes], name: str, count: int) -> None:
    for data, expected in cavp(name, count):
        assert way(data) == expected, len(data)


def test_cavp_monte_carlo_on_every_row(sha256_blocks_row: Row) -> None:
    monte_carlo(lambda data: row_digest(sha256_blocks_row, data))


def test_cavp_monte_carlo() -> None:
    monte_carlo(lambda data: sha256(data).digest())
    monte_carlo(sha256_digest)


# ---- Lengths and splits, against hashlib ----------------------------------------------------------


def random_cuts(size: int, rng: random.Random) -> list[tuple[int, int]]:
    """[0, size) cut into one to nine pieces, some of them perhaps empty."""
    marks = sorted(rng.randint(0, size) for _ in range(rng.randint(0, 8)))
    return list(zip([0, *marks], [*marks, size], strict=True))


def test_every_length_on_every_row(sha256_blocks_row: Row) -> None:
    data = message(BOUNDARY_LENGTH)
    for size in [*range(301), BOUNDARY_LENGTH]:
        assert row_digest(sha256_blocks_row, data[:size]) == hashlib.sha256(data[:size]).digest(), size


def test_any_number_of_blocks_per_call_on_every_row(sha256_blocks_row: Row) -> None:
    """One call of n blocks, n calls of one block, and random groups end in one state."""
    rng = random.Random(2)
    for blocks in range(70):
        data = message(blocks * BLOCK, seed=blocks)
        whole = data + padding(len(data))
        one_by_one, groups = new_state(), new_state()
        for start in range(0, len(whole), BLOCK):
            sha256_blocks_row(one_by_one, whole[start : start + BLOCK])
        for start, stop in random_cuts(blocks + 1, rng):
            sha256_blocks_row(groups, whole[start * BLOCK : stop * BLOCK])
        assert words(one_by_one) == words(groups) == hashlib.sha256(data).digest()


def test_all_lengths_to_4096_in_one_digest_on_every_row(sha256_blocks_row: Row) -> None:
    data = message(4096)
    expected, received = hashlib.sha256(), b""
    for size in range(4097):
        expected.update(hashlib.sha256(data[:size]).digest())
        received += row_digest(sha256_blocks_row, data[:size])
    assert row_digest(sha256_blocks_row, received) == expected.digest()


@each_way
def test_every_length(way: Callable[[Any], bytes]) -> None:
    data = message(BOUNDARY_LENGTH)
    for size in [*range(301), BOUNDARY_LENGTH]:
        assert way(data[:size]) == hashlib.sha256(data[:size]).digest(), size


def test_all_lengths_to_4096_in_one_digest() -> None:
    data = message(4096)
    expected, h = hashlib.sha256(), sha256()
    for size in range(4097):
        expected.update(hashlib.sha256(data[:size]).digest())
        h.update(sha256_digest(data[:size]))
    assert h.digest() == expected.digest()


def test_byte_by_byte() -> None:
    data = message(BOUNDARY_LENGTH)
    for size in range(301):
        h = sha256()
        for i in range(size):
            h.update(data[i : i + 1])
        assert h.digest() == hashlib.sha256(data[:size]).digest(), size
    h = sha256()
    for i in range(BOUNDARY_LENGTH):
        h.update(data[i : i + 1])
    assert h.digest() == hashlib.sha256(data).digest()


def test_a_digest_after_every_byte() -> None:
    data, h = message(300), sha256()
    for size in range(300):
        assert h.digest() == hashlib.sha256(data[:size]).digest()
        h.update(data[size : size + 1])


def test_one_thousand_random_splits() -> None:
    rng, data = random.Random(3), message(16_384)
    for _ in range(1000):
        size = rng.randint(0, len(data))
        h = sha256()
        for start, stop in random_cuts(size, rng):
            h.update(data[start:stop])
        assert h.digest() == hashlib.sha256(data[:size]).digest()


def test_splits_of_the_boundary_length() -> None:
    rng, data = random.Random(4), message(BOUNDARY_LENGTH)
    expected = hashlib.sha256(data).digest()
    for _ in range(20):
        h = sha256()
        for start, stop in random_cuts(len(data), rng):
            h.update(data[start:stop])
        assert h.digest() == expected


@given(st.lists(st.binary(max_size=200), max_size=12))
@settings(deadline=None)
def test_any_pieces(pieces: list[bytes]) -> None:
    h = sha256()
    for piece in pieces:
        h.update(piece)
    assert h.digest() == hashlib.sha256(b"".join(pieces)).digest()


def test_padding_boundary_values_on_every_row(sha256_blocks_row: Row) -> None:
    """As published with the reports that lengths 55, 56 and 64 broke."""
    for size, digest in {
        55: "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318",
        56: "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a",
        64: "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb",
    }.items():
        assert row_digest(sha256_blocks_row, b"a" * size).hex() == digest
        assert sha256(b"a" * size).hexdigest() == sha256_hexdigest(b"a" * size) == digest


def test_ipp_3_chain() -> None:
    """32 zero bytes hashed again and again; the 10,000,000th link is the benchmark's."""
    link = expected = bytes(32)
    for _ in range(100_000):
        link = sha256_digest(link)
        expected = hashlib.sha256(expected).digest()
    assert link == expected


@pytest.mark.big
def test_big_ipp_3_chain() -> None:
    link = bytes(32)
    for _ in range(10_000_000):
        link = sha256_digest(link)
    assert link.hex() == "6b4ab10d92373474a97d10639e667f6b734af012f9be29997f1befd1c7166199"


# ---- Where the message lies -----------------------------------------------------------------------


def test_guard_pages_on_every_row(sha256_blocks_row: Row) -> None:
    area, state_area = Guarded(), Guarded()
    for blocks in range(12):
        data = message(blocks * BLOCK, seed=blocks)
        whole = data + padding(len(data))
        for place in (area.at_start, area.at_end):
            for state_place in (state_area.at_start, state_area.at_end):
                state = state_place(bytes(new_state()))
                sha256_blocks_row(state, place(whole))
                assert words(bytearray(state)) == hashlib.sha256(data).digest()


@each_way
def test_guard_pages(way: Callable[[Any], bytes]) -> None:
    area = Guarded()
    for size in [*range(321), 1000, 4095, 4096]:
        data = message(size, seed=size)
        for place in (area.at_start, area.at_end):
            assert way(place(data)) == hashlib.sha256(data).digest(), size


def test_guard_pages_with_a_filled_block() -> None:
    """update() after 1 to 63 buffered bytes, of bytes that end at an unmapped page."""
    area = Guarded()
    for held in range(1, BLOCK):
        for size in (1, BLOCK - held - 1, BLOCK - held, BLOCK - held + 1, 2 * BLOCK, 200):
            first, second = message(held, seed=held), message(size, seed=size)
            for place in (area.at_start, area.at_end):
                h = updated(sha256(first), place(second))
                assert h.digest() == hashlib.sha256(first + second).digest()


def test_alignment_on_every_row(sha256_blocks_row: Row) -> None:
    area, state_area, rng = Guarded(), Guarded(), random.Random(5)
    data = message(5 * BLOCK)
    whole, expected = data + padding(len(data)), hashlib.sha256(data).digest()
    places = [(i, 0) for i in range(64)] + [(0, i) for i in range(64)]
    places += [(rng.randrange(64), rng.randrange(64)) for _ in range(1000)]
    for data_offset, state_offset in places:
        state = state_area.at(state_offset, bytes(new_state()))
        sha256_blocks_row(state, area.at(data_offset, whole))
        assert words(bytearray(state)) == expected


def test_alignment() -> None:
    area, data = Guarded(), message(300)
    expected = hashlib.sha256(data).digest()
    for offset in range(64):
        view = area.at(offset, data)
        assert sha256_digest(view) == sha256(view).digest() == expected


@pytest.mark.parametrize("kind", buffers.contiguous(bytes(16)))
@each_way
def test_hl_11_every_contiguous_buffer_by_its_bytes(way: Callable[[Any], bytes], kind: str) -> None:
    data = message(48)
    assert way(buffers.contiguous(data)[kind]) == hashlib.sha256(data).digest()


@each_way
def test_hl_11_superset_two_dimensional_ctypes(way: Callable[[Any], bytes]) -> None:
    data = message(64)
    assert way(buffers.ctypes_2d(data)) == hashlib.sha256(data).digest()


@each_way
def test_hl_11_zero_dimensions_and_zero_bytes(way: Callable[[Any], bytes]) -> None:
    empty = hashlib.sha256().digest()
    for nothing in (b"", bytearray(), memoryview(b""), np.zeros((0, 5)), np.zeros(0, "u1")):
        assert way(nothing) == empty
    scalar = memoryview(b"\x07").cast("B", [])
    assert way(scalar) == way(np.array(7, "u1")) == hashlib.sha256(b"\x07").digest()


@each_way
def test_object_arrays_hash_as_in_hashlib(way: Callable[[Any], bytes]) -> None:
    """Pointer values; unkind, but hashlib takes them and a drop-in must agree."""
    array: Any = np.array(["a"], dtype=object)
    assert way(array) == hashlib.sha256(array).digest()


NO_COPY = """
import mmap, resource, sys
import fastcrypt, numpy
size = 256 << 20
area = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
kind = {"mmap": area, "memoryview": memoryview(area), "numpy": numpy.frombuffer(area, "f8")}[sys.argv[1]]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
fastcrypt.sha256(kind).digest()
fastcrypt.timingsafe_bcmp(kind, kind)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("kind", ["mmap", "memoryview", "numpy"])
def test_no_buffer_is_copied(kind: str) -> None:
    """Untouched private pages are one shared page of zeros: only a copy would cost memory."""
    child = subprocess.run([sys.executable, "-c", NO_COPY, kind], capture_output=True, text=True, check=True)
    assert int(child.stdout) < 32 * 1024, "KiB of memory that hashing 256 MiB took"


# ---- The constructor ------------------------------------------------------------------------------


def test_hl_01_new_object_each_time() -> None:
    assert sha256() is not sha256()
    assert sha256().digest() == sha256(b"").digest() == hashlib.sha256().digest()
    assert sha256(b"abc").hexdigest() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_hl_02_one_positional_at_most() -> None:
    with pytest.raises(TypeError, match=r"takes at most 1 positional argument \(2 given\)"):
        sha256(b"", b"")
    with pytest.raises(TypeError, match=r"takes at most 1 positional argument \(3 given\)"):
        sha256(b"", True, b"")
    for one_shot in (sha256_digest, sha256_hexdigest):
        for args in ((), (b"", b"")):
            with pytest.raises(TypeError, match="takes exactly one argument"):
                one_shot(*args)
        with pytest.raises(TypeError, match="no keyword arguments"):
            one_shot(data=b"")


DATA_TWICE = [
    ((b"",), {"data": b""}),
    ((b"",), {"string": b""}),
    ((), {"data": b"", "string": b""}),
    ((b"m",), {"data": b"", "string": b""}),
]


@pytest.mark.parametrize(("args", "kwargs"), DATA_TWICE)
def test_hl_03_data_twice(args: tuple[bytes, ...], kwargs: dict[str, bytes]) -> None:
    with pytest.raises(TypeError) as caught:
        sha256(*args, **kwargs)
    by_name_too = args and ("data" in kwargs or sys.version_info < (3, 14))
    text = r"given by name \('(data|string)'\) and position" if by_name_too else "'data'.*'string'"
    assert re.search(text, str(caught.value))


def test_hl_03_order_of_the_checks() -> None:
    """As Argument Clinic: data twice, then unknown keywords, then the conflict of the two names."""
    with pytest.raises(TypeError, match="given by name"):
        sha256(b"", data=b"", _=b"")
    with pytest.raises(TypeError, match="'_'"):
        sha256(data=b"", string=b"", _=b"")
    if sys.version_info >= (3, 14):
        with pytest.raises(TypeError, match="'_'"):
            sha256(b"", string=b"", _=b"")


@pytest.mark.parametrize("keyword", ["data", "string"])
def test_hl_04_both_names_of_data(keyword: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert sha256(**{keyword: b"abc"}).digest() == hashlib.sha256(b"abc").digest()
    expected = keyword == "string" and sys.version_info >= (3, 15)
    assert len(caught) == expected
    if expected:
        assert caught[0].category is DeprecationWarning
        assert "slated for removal in Python 3.19" in str(caught[0].message)


def test_hl_05_unknown_keyword() -> None:
    text = (
        "unexpected keyword argument 'foo'" if sys.version_info >= (3, 13) else "'foo' is an invalid keyword"
    )
    for args in ((), (b"",)):
        with pytest.raises(TypeError, match=text):
            sha256(*args, foo=1)
    with pytest.raises(TypeError, match="foo"):
        sha256(data=b"", usedforsecurity=True, foo=1)


class Unsure:
    def __bool__(self) -> bool:
        raise KeyError("asked")


@pytest.mark.parametrize("value", [True, False, None, [], "no", 0, object()])
def test_hl_06_usedforsecurity_by_truth(value: Any) -> None:
    for h in (sha256(usedforsecurity=value), sha256(b"abc", usedforsecurity=value)):
        assert h.name == "sha256"
    assert h.digest() == hashlib.sha256(b"abc").digest()


def test_hl_06_exception_of_bool_propagates() -> None:
    with pytest.raises(KeyError, match="asked"):
        sha256(b"", usedforsecurity=Unsure())


@pytest.mark.parametrize(
    "text", ["abc", "", "\u00e9", buffers.HostileStr("abc")], ids=["ascii", "empty", "latin", "hostile"]
)
@each_way
def test_hl_07_str_is_refused(way: Callable[[Any], bytes], text: str) -> None:
    with pytest.raises(TypeError, match=r"\AStrings must be encoded before hashing\Z"):
        way(text)


@pytest.mark.parametrize("kind", buffers.no_buffers())
@each_way
def test_hl_08_no_buffer(way: Callable[[Any], bytes], kind: str) -> None:
    if kind == "None" and way is WAYS["sha256(string=x)"] and sys.version_info >= (3, 14):
        assert way(None) == hashlib.sha256().digest()
        return
    with pytest.raises(TypeError, match=r"\Aobject supporting the buffer API required\Z"):
        way(buffers.no_buffers()[kind])


@pytest.mark.parametrize("kind", buffers.not_contiguous())
@each_way
def test_hl_09_not_contiguous(way: Callable[[Any], bytes], kind: str) -> None:
    """The exporter's exception, the same as hashlib lets through; never a read of strided memory."""
    with pytest.raises((BufferError, ValueError)) as theirs:
        hashlib.sha256(buffers.not_contiguous()[kind])
    with pytest.raises(theirs.type, match=re.escape(str(theirs.value))):
        way(buffers.not_contiguous()[kind])


@each_way
def test_hl_09_strided_view_at_a_page_end(way: Callable[[Any], bytes]) -> None:
    view = Guarded().at_end(bytes(64))
    for strided in (view[::2], view[::-1], view[1::3]):
        with pytest.raises(BufferError, match=buffers.STRIDED_ERROR):
            way(strided)


@each_way
def test_hl_10_released_memoryview(way: Callable[[Any], bytes]) -> None:
    with pytest.raises(ValueError, match="operation forbidden on released memoryview object"):
        way(buffers.released())


def test_hl_12_constructor_describes_itself() -> None:
    assert sha256.__name__ == "sha256"
    assert sha256.__doc__
    assert sha256.__text_signature__ == "(data=b'', *, usedforsecurity=True, string=None)"
    assert callable(sha256)
    for function in (sha256_digest, sha256_hexdigest):
        assert function.__doc__
        assert function.__text_signature__ == "($module, data, /)"


# ---- The object -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "value"), [("name", "sha256"), ("digest_size", 32), ("block_size", 64)])
def test_hl_13_attributes(name: str, value: Any) -> None:
    h = sha256()
    assert getattr(h, name) == value == getattr(hashlib.sha256(), name)
    with pytest.raises(AttributeError):
        setattr(h, name, value)
    with pytest.raises(AttributeError):
        delattr(h, name)


def test_hl_14_no_new_attributes_and_no_weak_references() -> None:
    h = sha256()
    with pytest.raises(AttributeError):
        h.extra = 1
    assert not hasattr(h, "__dict__")
    with pytest.raises(TypeError, match="cannot create weak reference to"):
        weakref.ref(h)


def test_hl_15_type_is_immutable() -> None:
    with pytest.raises(TypeError, match="cannot set 'foo' attribute of immutable type"):
        sha256.foo = 1
    with pytest.raises(TypeError, match="immutable type"):
        sha256.update = None
    assert type(sha256()) is sha256
    assert type.__call__(sha256, b"abc").digest() == sha256(b"abc").digest()


def test_hl_15_init_again_changes_nothing() -> None:
    h = sha256(b"abc")
    with contextlib.suppress(TypeError):
        h.__init__(b"other")
    assert h.digest() == hashlib.sha256(b"abc").digest()


def test_hl_16_final() -> None:
    with pytest.raises(TypeError, match="is not an acceptable base type"):
        type("Sub", (sha256,), {})


@pytest.mark.parametrize(
    "bad", ["abc", None, 5, memoryview(b"abcd")[::2]], ids=["str", "None", "int", "strided"]
)
def test_hl_17_update_leaves_the_state_after_an_error(bad: Any) -> None:
    h = sha256(b"abc")
    with pytest.raises((TypeError, BufferError)):
        h.update(bad)
    assert h.digest() == hashlib.sha256(b"abc").digest()
    assert updated(h, b"d").digest() == hashlib.sha256(b"abcd").digest()


def test_hl_17_update_arguments() -> None:
    h = sha256()
    for args in ((), (b"", b"")):
        with pytest.raises(TypeError, match=rf"takes exactly one argument \({len(args)} given\)"):
            h.update(*args)
    with pytest.raises(TypeError, match="takes no keyword arguments"):
        h.update(data=b"")
    assert h.digest() == hashlib.sha256().digest()


def test_hl_18_digest_is_idempotent() -> None:
    h = sha256(b"abc")
    expected = hashlib.sha256(b"abc")
    for _ in range(2):
        assert h.digest() == expected.digest()
        assert h.hexdigest() == expected.hexdigest()
    assert type(h.digest()) is type(sha256_digest(b"")) is bytes
    assert type(h.hexdigest()) is type(sha256_hexdigest(b"")) is str
    h.update(b"d")
    assert h.hexdigest() == hashlib.sha256(b"abcd").hexdigest()
    for method in (h.digest, h.hexdigest, h.copy):
        with pytest.raises(TypeError):
            method(1)


def test_hl_19_copies_are_independent() -> None:
    for held in (0, 1, 55, 56, 63, 64, 65, 1000):
        data = message(held)
        h = sha256(data)
        twin = h.copy()
        assert type(twin) is type(h)
        h.update(b"left")
        twin.update(b"right")
        assert h.digest() == hashlib.sha256(data + b"left").digest()
        assert twin.digest() == hashlib.sha256(data + b"right").digest()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_hl_20_no_pickling(protocol: int) -> None:
    with pytest.raises(TypeError, match=r"cannot pickle '.*' object"):
        pickle.dumps(sha256(), protocol)


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy])
def test_hl_20_no_copy_module(copier: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"cannot pickle '.*' object"):
        copier(sha256())


def test_hl_21_identity_and_repr() -> None:
    h, other = sha256(b"abc"), sha256(b"abc")
    assert h == h  # noqa: PLR0124
    assert h != other
    assert len({h, other}) == 2
    with pytest.raises(TypeError):
        bytes(h)
    assert re.fullmatch(r"<sha256 fastcrypt\.HASH object @ 0x[0-9a-f]+>", repr(h))


# ---- Threads --------------------------------------------------------------------------------------


class Ticker:
    """A thread that counts and gives the GIL away by itself after every count.

    With a switch interval of minutes nobody else makes a thread give up the GIL. So a count that rises
    during one C call shows that the call had released the GIL, and not that a switch came in between.
    """

    def __enter__(self) -> Ticker:
        self.count = 0
        self.stop = False
        self.interval = sys.getswitchinterval()
        sys.setswitchinterval(100)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self) -> None:
        while not self.stop:
            self.count += 1
            time.sleep(1e-5)

    def __exit__(self, *_: object) -> None:
        self.stop = True
        self.thread.join()
        sys.setswitchinterval(self.interval)

    def during(self, call: Callable[[], Any]) -> int:
        before = self.count
        call()
        return self.count - before


LONG = message(1 << 20) * 32
LONG_CALLS: dict[str, Callable[[], Any]] = {
    "constructor": lambda: sha256(LONG),
    "update": lambda: sha256().update(LONG),
    "sha256_digest": lambda: sha256_digest(LONG),
    "sha256_hexdigest": lambda: sha256_hexdigest(LONG),
}


@pytest.mark.parametrize("call", LONG_CALLS.values(), ids=LONG_CALLS)
def test_hl_22_other_threads_run_during_long_calls(call: Callable[[], Any]) -> None:
    with Ticker() as ticker:
        assert max(ticker.during(call) for _ in range(5)) > 3


def test_hl_22_gil_minsize() -> None:
    minsize = _core._GIL_MINSIZE
    assert minsize >= 2048
    for size in range(minsize - 2, minsize + 3):
        data = message(size)
        assert sha256(data).digest() == sha256_digest(data) == hashlib.sha256(data).digest()
        assert updated(sha256(b"x"), data).digest() == hashlib.sha256(b"x" + data).digest()


def run_threads(work: Callable[[int], None], count: int = 8) -> None:
    """work(i) in `count` threads that start together; the first exception is raised here."""
    barrier, failures = threading.Barrier(count), []

    def run(i: int) -> None:
        barrier.wait()
        try:
            work(i)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.mark.parametrize("sizes", [(1,), (20_000,), (1, 20_000, 63, 8192)], ids=["short", "long", "mixed"])
def test_hl_23_updates_of_one_object_add_up(sizes: tuple[int, ...]) -> None:
    h, rounds = sha256(), 10_000 if sizes == (1,) else 300

    def update(_: int) -> None:
        for _ in range(rounds):
            for size in sizes:
                h.update(b"a" * size)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        run_threads(update)
    finally:
        sys.setswitchinterval(interval)
    assert h.digest() == hashlib.sha256(b"a" * (8 * rounds * sum(sizes))).digest()


def test_hl_19_copy_and_digest_during_updates() -> None:
    """Whatever a copy or a digest catches is the state between two updates."""
    piece, updates = b"a" * 10_000, 400
    h, stop = sha256(), threading.Event()
    whole = hashlib.sha256()
    states = {whole.digest()}
    for _ in range(2 * updates):
        whole.update(piece)
        states.add(whole.digest())
    seen: list[bytes] = []

    def work(i: int) -> None:
        if i < 2:
            for _ in range(updates):
                h.update(piece)
            stop.set()
        while not stop.is_set():
            seen.extend((h.copy().digest(), h.digest(), bytes.fromhex(h.hexdigest())))

    run_threads(work, 4)
    assert len(seen) > 10
    strangers = len(set(seen) - states)
    assert strangers == 0
    assert h.digest() == whole.digest()


def test_distinct_objects_in_threads() -> None:
    def work(i: int) -> None:
        for size in range(0, 3000, 7):
            data = message(size, seed=i)
            assert sha256(data).digest() == hashlib.sha256(data).digest()

    run_threads(work)


def test_a_buffer_in_use_cannot_be_resized() -> None:
    """While update() runs without the GIL, the bytearray is exported: its owner gets BufferError."""
    area, h, stop, refused = bytearray(1 << 25), sha256(), threading.Event(), 0

    def hash_on() -> None:
        while not stop.is_set():
            h.update(area)

    thread = threading.Thread(target=hash_on)
    thread.start()
    deadline = time.monotonic() + 30
    while not refused and time.monotonic() < deadline:
        try:
            area.append(0)
            area.pop()
        except BufferError:
            refused += 1
        time.sleep(0.001)
    stop.set()
    thread.join()
    assert refused
    area.append(0)


def test_small_stack() -> None:
    """A thread with 64 KiB of stack (the least that Python allows is 32)."""
    size = threading.stack_size(256 << 10 if os.environ.get("LD_PRELOAD") else 64 << 10)
    try:
        result: list[bytes] = []
        thread = threading.Thread(target=lambda: result.append(sha256_digest(LONG[:100_000])))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
    assert result == [hashlib.sha256(LONG[:100_000]).digest()]


def exit_status(child: int) -> int:
    """The child's status, or that of its death if it hangs."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def test_fork_while_threads_hash() -> None:
    """There is no process-wide lock that a child could inherit held."""
    stop = threading.Event()

    def hash_on() -> None:
        while not stop.is_set():
            sha256_digest(LONG)

    threads = [threading.Thread(target=hash_on) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
            if child == 0:
                os._exit(0 if sha256(b"abc").digest().startswith(b"\xba\x78") else 1)
            assert exit_status(child) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


# ---- As user code meets it ------------------------------------------------------------------------


def test_in_hmac() -> None:
    for size in (0, 1, 63, 64, 65, 200):
        key, data = message(size, 1), message(size, 2)
        expected = hmac.new(key, data, "sha256").digest()
        assert hmac.new(key, data, sha256).digest() == expected
        assert hmac.digest(key, data, sha256) == expected


def test_in_file_digest() -> None:
    data = message(500_000)
    assert hashlib.file_digest(io.BytesIO(data), sha256).digest() == hashlib.sha256(data).digest()


def test_no_reference_is_leaked() -> None:
    """Counts of references after calls that succeed and that fail, on objects that are not immortal."""
    values: list[Any] = [bytearray(9), object(), "".join(["a", "b"]), memoryview(bytearray(8))[::2]]
    each = range(len(values))
    counts = [sys.getrefcount(values[i]) for i in each]
    for _ in range(50):
        for way in WAYS.values():
            for i in each:
                outcome(way, values[i])
    gc.collect()
    assert [sys.getrefcount(values[i]) for i in each] == counts
    values[0].append(1)


# ---- Hostile operands -----------------------------------------------------------------------------


@given(hostile)
@settings(deadline=None, max_examples=150)
def test_hostile_data_as_hashlib(value: Any) -> None:
    expected = outcome(lambda: hashlib.sha256(value).digest())
    for name, way in WAYS.items():
        if name == "sha256(string=x)" and value is None:
            continue
        assert outcome(way, value) == expected, name


@given(
    st.lists(hostile, max_size=3),
    st.dictionaries(st.sampled_from(["data", "string", "usedforsecurity", "x"]), hostile),
)
@settings(deadline=None, max_examples=150)
def test_hostile_arguments_never_crash(args: list[Any], kwargs: dict[str, Any]) -> None:
    """Any call ends in a digest or in one of the exceptions that the rows allow."""
    if isinstance(
        kwargs.get("usedforsecurity"), (buffers.HostileBytes, buffers.HostileBytearray, buffers.HostileStr)
    ):
        del kwargs["usedforsecurity"]  # its truth value is asked for, and that is its __len__
    kind, _ = outcome(lambda: sha256(*args, **kwargs).digest())
    assert kind in ("result", TypeError, ValueError, BufferError, ZeroDivisionError)


# ---- Lengths beyond 32 bits -----------------------------------------------------------------------


@pytest.mark.big
@pytest.mark.parametrize("size", [(1 << 31) + 1, (1 << 32) - 1, (1 << 32) + 64])
def test_big_lengths(size: int) -> None:
    area = zeros(size)
    expected = hashlib.sha256(area).digest()
    assert sha256_digest(area) == expected
    with memoryview(area) as view:
        h = sha256(view[: 1 << 31])
        h.update(view[1 << 31 :])
        assert h.digest() == expected


@pytest.mark.big
def test_big_cpython_over_4gb() -> None:
    """CPython's own case: b'a' * 4295032832 (its test_case_sha256_over_4gb)."""
    h = sha256()
    piece = b"a" * (1 << 16)
    for _ in range(4_295_032_832 >> 16):
        h.update(piece)
    assert h.hexdigest() == "a5364f7a52ebe2e25f1838a4ca715a893b6fd7a23f2a0d9e9762120da8b1bf53"


def test_public_names_are_the_modules() -> None:
    for name in ("sha256", "sha256_digest", "sha256_hexdigest"):
        assert getattr(fastcrypt, name) is getattr(_core, name)
    assert PAGE % BLOCK == 0
