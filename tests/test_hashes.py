# SPDX-License-Identifier: Apache-2.0
"""SHA-1 and SHA-2: every kernel row, the classes in hashlib's shape (rows HL-1 to HL-23), one-shots, new."""

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
import subprocess
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import buffers
import numpy as np
import pytest
import rows
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

BOUNDARY_LENGTH = 929_271  # 55 mod 64: where one library's repair for long files broke


@dataclass(frozen=True)
class Algorithm:
    """A hash, as FIPS 180-4 describes it."""

    name: str
    op: str
    digest_size: int
    block: int
    word: int
    #: Section 5.3: H0 and on, in hexadecimal.
    initial: str
    #: NIST's folder and name.
    file: str

    @property
    def new(self) -> Any:
        return getattr(fastcrypt, self.name)

    @property
    def digest(self) -> Any:
        return getattr(fastcrypt, f"{self.name}_digest")

    @property
    def hexdigest(self) -> Any:
        return getattr(fastcrypt, f"{self.name}_hexdigest")

    def theirs(self, data: Any = b"") -> bytes:
        return hashlib.new(self.name, data).digest()

    def padding(self, size: int) -> bytes:
        """Section 5.1."""
        length = (8 * size).to_bytes(2 * self.word, "big")
        return b"\x80" + bytes(-(size + 1 + len(length)) % self.block) + length

    def new_state(self) -> bytearray:
        return self.swapped(bytes.fromhex(self.initial))

    def swapped(self, words: bytes | bytearray) -> bytearray:
        """Between big-endian words and the machine's."""
        if sys.byteorder == "big":
            return bytearray(words)
        parts = (words[i : i + self.word] for i in range(0, len(words), self.word))
        return bytearray(b"".join(part[::-1] for part in parts))

    def row_digest(self, row: Row, data: bytes) -> bytes:
        state = self.new_state()
        row(state, data + self.padding(len(data)))
        return bytes(self.swapped(state)[: self.digest_size])


ALGORITHMS = {
    a.name: a
    for a in (
        Algorithm(
            "sha1", "sha1_blocks", 20, 64, 4, "67452301efcdab8998badcfe10325476c3d2e1f0", "SHA1/SHA1"
        ),
        Algorithm(
            "sha224", "sha256_blocks", 28, 64, 4,
            "c1059ed8367cd5073070dd17f70e5939ffc00b316858151164f98fa7befa4fa4",
            "SHA2/SHA224",
        ),
        Algorithm(
            "sha256", "sha256_blocks", 32, 64, 4,
            "6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19",
            "SHA2/SHA256",
        ),
        Algorithm(
            "sha384", "sha512_blocks", 48, 128, 8,
            "cbbb9d5dc1059ed8629a292a367cd5079159015a3070dd17152fecd8f70e5939"
            "67332667ffc00b318eb44a8768581511db0c2e0d64f98fa747b5481dbefa4fa4",
            "SHA2/SHA384",
        ),
        Algorithm(
            "sha512", "sha512_blocks", 64, 128, 8,
            "6a09e667f3bcc908bb67ae8584caa73b3c6ef372fe94f82ba54ff53a5f1d36f1"
            "510e527fade682d19b05688c2b3e6c1f1f83d9abfb41bd6b5be0cd19137e2179",
            "SHA2/SHA512",
        ),
        Algorithm(
            "sha512_224", "sha512_blocks", 28, 128, 8,
            "8c3d37c819544da273e1996689dcd4d61dfab7ae32ff9c82679dd514582f9fcf"
            "0f6d2b697bd44da877e36f7304c489423f9d85a86a1d36c81112e6ad91d692a1",
            "SHA2/SHA512_224",
        ),
        Algorithm(
            "sha512_256", "sha512_blocks", 32, 128, 8,
            "22312194fc2bf72c9f555fa3c84c64c22393b86b6f53b151963877195940eabd"
            "96283ee2a88effe3be5e1e25538639922b0199fc2c85b8aa0eb72ddc81c52ca2",
            "SHA2/SHA512_256",
        ),
    )
}  # fmt: skip
SHA256 = ALGORITHMS["sha256"]
each_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
#: One for each engine, the names of which they share with an algorithm.
ENGINES = {name: ALGORITHMS[name] for name in ("sha1", "sha256", "sha512")}
each_engine = pytest.mark.parametrize("algorithm", ENGINES.values(), ids=ENGINES)


def row_parameters(algorithms: dict[str, Algorithm]) -> list[Any]:
    """(algorithm, row) for each row that runs one of them."""
    return [
        pytest.param(algorithm, *row.values, id=f"{algorithm.name}-{row.id}", marks=row.marks)
        for algorithm in algorithms.values()
        for row in rows.parameters(algorithm.op)
    ]


on_every_row = pytest.mark.parametrize(("algorithm", "kernel"), row_parameters(ENGINES))
on_every_row_and_algorithm = pytest.mark.parametrize(("algorithm", "kernel"), row_parameters(ALGORITHMS))


@dataclass(frozen=True)
class Way:
    """A way in for data; each must treat it alike."""

    algorithm: Algorithm
    name: str
    call: Callable[[Any], bytes]

    def __call__(self, data: Any) -> bytes:
        return self.call(data)


def ways(algorithm: Algorithm) -> Iterator[Way]:
    """All of SHA-256's; of the others, whose classes come from the same template, two."""
    name, new = algorithm.name, algorithm.new
    yield Way(algorithm, f"{name}(x)", lambda x: new(x).digest())
    yield Way(algorithm, f"{name}_digest(x)", algorithm.digest)
    if algorithm is SHA256:
        yield Way(algorithm, "sha256(data=x)", lambda x: new(data=x).digest())
        yield Way(algorithm, "sha256(string=x)", lambda x: new(string=x).digest())
        yield Way(algorithm, "update(x)", lambda x: updated(new(), x).digest())
        yield Way(algorithm, "sha256_hexdigest(x)", lambda x: bytes.fromhex(sha256_hexdigest(x)))


WAYS = {way.name: way for algorithm in ALGORITHMS.values() for way in ways(algorithm)}
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


# ---- NIST CAVP ------------------------------------------------------------------------------------


def cavp(algorithm: Algorithm, name: str) -> Iterator[tuple[bytes, bytes]]:
    count = {("Short", 64): 65, ("Long", 64): 64, ("Short", 128): 129, ("Long", 128): 128}
    file = f"hashes/{algorithm.file}{name}Msg.rsp"
    for case in vectors.nist(file, count[name, algorithm.block]):
        yield bytes.fromhex(case["Msg"])[: int(case["Len"]) // 8], bytes.fromhex(case["MD"])


def monte_carlo(algorithm: Algorithm, digest: Callable[[bytes], bytes], count: int = 100) -> None:
    """SHAVS section 6.4: a chain of digests, every 1,000th of which is given."""
    first, *checkpoints = vectors.nist(f"hashes/{algorithm.file}Monte.rsp", 101)
    seed = bytes.fromhex(first["Seed"])
    for checkpoint in checkpoints[:count]:
        a = b = c = seed
        for _ in range(1000):
            a, b, c = b, c, digest(a + b + c)
        assert c.hex() == checkpoint["MD"], checkpoint["COUNT"]
        seed = c


@pytest.mark.parametrize("name", ["Short", "Long"])
@on_every_row_and_algorithm
def test_cavp_on_every_row(algorithm: Algorithm, kernel: Row, name: str) -> None:
    for data, expected in cavp(algorithm, name):
        assert algorithm.row_digest(kernel, data) == expected, len(data)


@pytest.mark.parametrize("name", ["Short", "Long"])
@each_way
def test_cavp(way: Way, name: str) -> None:
    for data, expected in cavp(way.algorithm, name):
        assert way(data) == expected, len(data)


@on_every_row
def test_cavp_monte_carlo_on_every_row(algorithm: Algorithm, kernel: Row) -> None:
    monte_carlo(algorithm, lambda data: algorithm.row_digest(kernel, data), 10)


@each_algorithm
def test_cavp_monte_carlo(algorithm: Algorithm) -> None:
    monte_carlo(algorithm, lambda data: bytes(algorithm.new(data).digest()), 10)
    monte_carlo(algorithm, algorithm.digest)


# ---- Lengths and splits, against hashlib ----------------------------------------------------------


def random_cuts(size: int, rng: random.Random) -> list[tuple[int, int]]:
    """[0, size) cut into one to nine pieces, some of them perhaps empty."""
    marks = sorted(rng.randint(0, size) for _ in range(rng.randint(0, 8)))
    return list(zip([0, *marks], [*marks, size], strict=True))


@on_every_row
def test_every_length_on_every_row(algorithm: Algorithm, kernel: Row) -> None:
    data = message(BOUNDARY_LENGTH)
    for size in [*range(301), BOUNDARY_LENGTH]:
        assert algorithm.row_digest(kernel, data[:size]) == algorithm.theirs(data[:size]), size


@on_every_row
def test_any_number_of_blocks_per_call_on_every_row(algorithm: Algorithm, kernel: Row) -> None:
    """One call of n blocks, n calls of one block, and random groups end in one state."""
    rng, block = random.Random(2), algorithm.block
    for blocks in range(70):
        data = message(blocks * block, seed=blocks)
        whole = data + algorithm.padding(len(data))
        one_by_one, groups = algorithm.new_state(), algorithm.new_state()
        for start in range(0, len(whole), block):
            kernel(one_by_one, whole[start : start + block])
        for start, stop in random_cuts(blocks + 1, rng):
            kernel(groups, whole[start * block : stop * block])
        assert one_by_one == groups
        assert bytes(algorithm.swapped(groups)) == algorithm.theirs(data)


@on_every_row
def test_all_lengths_to_4096_in_one_digest_on_every_row(algorithm: Algorithm, kernel: Row) -> None:
    data = message(4096)
    expected, received = b"", b""
    for size in range(4097):
        expected += algorithm.theirs(data[:size])
        received += algorithm.row_digest(kernel, data[:size])
    assert algorithm.row_digest(kernel, received) == algorithm.theirs(expected)


@each_way
def test_every_length(way: Way) -> None:
    data = message(BOUNDARY_LENGTH)
    for size in [*range(301), BOUNDARY_LENGTH]:
        assert way(data[:size]) == way.algorithm.theirs(data[:size]), size


@each_algorithm
def test_all_lengths_to_4096_in_one_digest(algorithm: Algorithm) -> None:
    data = message(4096)
    expected, h = b"", algorithm.new()
    for size in range(4097):
        expected += algorithm.theirs(data[:size])
        h.update(algorithm.digest(data[:size]))
    assert h.digest() == algorithm.theirs(expected)


@each_algorithm
def test_byte_by_byte(algorithm: Algorithm) -> None:
    data = message(300)
    for size in range(301):
        h = algorithm.new()
        for i in range(size):
            h.update(data[i : i + 1])
        assert h.digest() == algorithm.theirs(data[:size]), size


@each_engine
def test_the_boundary_length_byte_by_byte(algorithm: Algorithm) -> None:
    data, h = message(BOUNDARY_LENGTH), algorithm.new()
    for i in range(BOUNDARY_LENGTH):
        h.update(data[i : i + 1])
    assert h.digest() == algorithm.theirs(data)


@each_algorithm
def test_a_digest_after_every_byte(algorithm: Algorithm) -> None:
    data, h = message(300), algorithm.new()
    for size in range(300):
        assert h.digest() == algorithm.theirs(data[:size])
        h.update(data[size : size + 1])


@each_algorithm
def test_random_splits(algorithm: Algorithm) -> None:
    rng, data = random.Random(3), message(16_384)
    for _ in range(1000 if algorithm is SHA256 else 300):
        size = rng.randint(0, len(data))
        h = algorithm.new()
        for start, stop in random_cuts(size, rng):
            h.update(data[start:stop])
        assert h.digest() == algorithm.theirs(data[:size])


@each_engine
def test_splits_of_the_boundary_length(algorithm: Algorithm) -> None:
    rng, data = random.Random(4), message(BOUNDARY_LENGTH)
    expected = algorithm.theirs(data)
    for _ in range(20):
        h = algorithm.new()
        for start, stop in random_cuts(len(data), rng):
            h.update(data[start:stop])
        assert h.digest() == expected


@given(st.sampled_from(list(ENGINES.values())), st.lists(st.binary(max_size=200), max_size=12))
@settings(deadline=None)
def test_any_pieces(algorithm: Algorithm, pieces: list[bytes]) -> None:
    h = algorithm.new()
    for piece in pieces:
        h.update(piece)
    assert h.digest() == algorithm.theirs(b"".join(pieces))


def test_padding_boundary_values_on_every_row(sha256_blocks_row: Row) -> None:
    """As published with the reports that lengths 55, 56 and 64 broke."""
    for size, digest in {
        55: "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318",
        56: "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a",
        64: "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb",
    }.items():
        assert SHA256.row_digest(sha256_blocks_row, b"a" * size).hex() == digest
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


@on_every_row
def test_guard_pages_on_every_row(algorithm: Algorithm, kernel: Row) -> None:
    area, state_area = Guarded(), Guarded()
    for blocks in range(12):
        data = message(blocks * algorithm.block, seed=blocks)
        whole = data + algorithm.padding(len(data))
        for place in (area.at_start, area.at_end):
            for state_place in (state_area.at_start, state_area.at_end):
                state = state_place(bytes(algorithm.new_state()))
                kernel(state, place(whole))
                assert bytes(algorithm.swapped(bytes(state))) == algorithm.theirs(data)


@each_way
def test_guard_pages(way: Way) -> None:
    area = Guarded()
    for size in [*range(321), 1000, 4095, 4096]:
        data = message(size, seed=size)
        for place in (area.at_start, area.at_end):
            assert way(place(data)) == way.algorithm.theirs(data), size


@each_engine
def test_guard_pages_with_a_filled_block(algorithm: Algorithm) -> None:
    """update() after a part of a block is buffered, of bytes that end at an unmapped page."""
    area, block = Guarded(), algorithm.block
    for held in range(1, block):
        for size in (1, block - held - 1, block - held, block - held + 1, 2 * block, 3 * block + 8):
            first, second = message(held, seed=held), message(size, seed=size)
            for place in (area.at_start, area.at_end):
                h = updated(algorithm.new(first), place(second))
                assert h.digest() == algorithm.theirs(first + second)


@on_every_row
def test_alignment_on_every_row(algorithm: Algorithm, kernel: Row) -> None:
    area, state_area, rng = Guarded(), Guarded(), random.Random(5)
    data = message(5 * algorithm.block)
    whole, expected = data + algorithm.padding(len(data)), algorithm.theirs(data)
    places = [(i, 0) for i in range(64)] + [(0, i) for i in range(64)]
    places += [(rng.randrange(64), rng.randrange(64)) for _ in range(1000)]
    for data_offset, state_offset in places:
        state = state_area.at(state_offset, bytes(algorithm.new_state()))
        kernel(state, area.at(data_offset, whole))
        assert bytes(algorithm.swapped(bytes(state))) == expected


@each_engine
def test_alignment(algorithm: Algorithm) -> None:
    area, data = Guarded(), message(300)
    expected = algorithm.theirs(data)
    for offset in range(64):
        view = area.at(offset, data)
        assert algorithm.digest(view) == algorithm.new(view).digest() == expected


@pytest.mark.parametrize("kind", buffers.contiguous(bytes(16)))
@each_way
def test_hl_11_every_contiguous_buffer_by_its_bytes(way: Way, kind: str) -> None:
    data = message(48)
    assert way(buffers.contiguous(data)[kind]) == way.algorithm.theirs(data)


@each_way
def test_hl_11_superset_two_dimensional_ctypes(way: Way) -> None:
    data = message(64)
    assert way(buffers.ctypes_2d(data)) == way.algorithm.theirs(data)


@each_way
def test_hl_11_zero_dimensions_and_zero_bytes(way: Way) -> None:
    empty = way.algorithm.theirs()
    for nothing in (b"", bytearray(), memoryview(b""), np.zeros((0, 5)), np.zeros(0, "u1")):
        assert way(nothing) == empty
    scalar = memoryview(b"\x07").cast("B", [])
    assert way(scalar) == way(np.array(7, "u1")) == way.algorithm.theirs(b"\x07")


@each_way
def test_object_arrays_hash_as_in_hashlib(way: Way) -> None:
    """Pointer values; unkind, but hashlib takes them and a drop-in must agree."""
    array: Any = np.array(["a"], dtype=object)
    assert way(array) == way.algorithm.theirs(array)


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


@each_algorithm
def test_hl_01_new_object_each_time(algorithm: Algorithm) -> None:
    new = algorithm.new
    assert new() is not new()
    assert new().digest() == new(b"").digest() == algorithm.theirs()


def test_hl_01_the_example_of_the_standard() -> None:
    assert sha256(b"abc").hexdigest() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@each_algorithm
def test_hl_02_one_positional_at_most(algorithm: Algorithm) -> None:
    start = rf"\A{algorithm.name}\(\) takes at most 1 positional argument"
    with pytest.raises(TypeError, match=rf"{start} \(2 given\)"):
        algorithm.new(b"", b"")
    with pytest.raises(TypeError, match=rf"{start} \(3 given\)"):
        algorithm.new(b"", True, b"")
    for one_shot in (algorithm.digest, algorithm.hexdigest):
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
def test_hl_07_str_is_refused(way: Way, text: str) -> None:
    with pytest.raises(TypeError, match=r"\AStrings must be encoded before hashing\Z"):
        way(text)


@pytest.mark.parametrize("kind", buffers.no_buffers())
@each_way
def test_hl_08_no_buffer(way: Way, kind: str) -> None:
    if kind == "None" and way.name == "sha256(string=x)" and sys.version_info >= (3, 14):
        assert way(None) == hashlib.sha256().digest()
        return
    with pytest.raises(TypeError, match=r"\Aobject supporting the buffer API required\Z"):
        way(buffers.no_buffers()[kind])


@pytest.mark.parametrize("kind", buffers.not_contiguous())
@each_way
def test_hl_09_not_contiguous(way: Way, kind: str) -> None:
    """The exporter's exception, the same as hashlib lets through; never a read of strided memory."""
    with pytest.raises((BufferError, ValueError)) as theirs:
        hashlib.sha256(buffers.not_contiguous()[kind])
    with pytest.raises(theirs.type, match=re.escape(str(theirs.value))):
        way(buffers.not_contiguous()[kind])


@each_way
def test_hl_09_strided_view_at_a_page_end(way: Way) -> None:
    view = Guarded().at_end(bytes(64))
    for strided in (view[::2], view[::-1], view[1::3]):
        with pytest.raises(BufferError, match=buffers.STRIDED_ERROR):
            way(strided)


@each_way
def test_hl_10_released_memoryview(way: Way) -> None:
    with pytest.raises(ValueError, match="operation forbidden on released memoryview object"):
        way(buffers.released())


@each_algorithm
def test_hl_12_constructor_describes_itself(algorithm: Algorithm) -> None:
    new = algorithm.new
    assert new.__name__ == algorithm.name
    assert new.__text_signature__ == "(data=b'', *, usedforsecurity=True, string=None)"
    assert callable(new)
    title = algorithm.name.upper().replace("SHA", "SHA-").replace("_", "/")
    assert new.__doc__.startswith(f"{title} (FIPS 180-4)")
    assert f"{algorithm.digest_size} bytes" in algorithm.digest.__doc__
    for function in (algorithm.digest, algorithm.hexdigest):
        assert function.__doc__.startswith(f"{title} (FIPS 180-4)")
        assert function.__text_signature__ == "($module, data, /)"


# ---- The object -----------------------------------------------------------------------------------


@each_algorithm
def test_hl_13_attributes(algorithm: Algorithm) -> None:
    h, theirs = algorithm.new(), hashlib.new(algorithm.name)
    assert (h.name, h.digest_size, h.block_size) == (algorithm.name, algorithm.digest_size, algorithm.block)
    assert (h.name, h.digest_size, h.block_size) == (theirs.name, theirs.digest_size, theirs.block_size)
    for name in ("name", "digest_size", "block_size"):
        with pytest.raises(AttributeError):
            setattr(h, name, getattr(h, name))
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


@each_algorithm
def test_hl_16_final(algorithm: Algorithm) -> None:
    with pytest.raises(TypeError, match="is not an acceptable base type"):
        type("Sub", (algorithm.new,), {})


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


@each_algorithm
def test_hl_18_digest_is_idempotent(algorithm: Algorithm) -> None:
    h = algorithm.new(b"abc")
    for _ in range(2):
        assert h.digest() == algorithm.theirs(b"abc")
        assert h.hexdigest() == algorithm.theirs(b"abc").hex() == algorithm.hexdigest(b"abc")
    assert type(h.digest()) is type(algorithm.digest(b"")) is bytes
    assert type(h.hexdigest()) is type(algorithm.hexdigest(b"")) is str
    h.update(b"d")
    assert h.hexdigest() == algorithm.theirs(b"abcd").hex()
    for method in (h.digest, h.hexdigest, h.copy):
        with pytest.raises(TypeError):
            method(1)


@each_algorithm
def test_hl_19_copies_are_independent(algorithm: Algorithm) -> None:
    for held in (0, 1, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 1000):
        data = message(held)
        h = algorithm.new(data)
        twin = h.copy()
        assert type(twin) is type(h)
        h.update(b"left")
        twin.update(b"right")
        assert h.digest() == algorithm.theirs(data + b"left")
        assert twin.digest() == algorithm.theirs(data + b"right")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_hl_20_no_pickling(protocol: int) -> None:
    with pytest.raises(TypeError, match=r"cannot pickle '.*' object"):
        pickle.dumps(sha256(), protocol)


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy])
def test_hl_20_no_copy_module(copier: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"cannot pickle '.*' object"):
        copier(sha256())


@each_algorithm
def test_hl_21_identity_and_repr(algorithm: Algorithm) -> None:
    h, other = algorithm.new(b"abc"), algorithm.new(b"abc")
    assert h == h  # noqa: PLR0124
    assert h != other
    assert len({h, other}) == 2
    with pytest.raises(TypeError):
        bytes(h)
    assert re.fullmatch(rf"<{algorithm.name} fastcrypt\.HASH object @ 0x[0-9a-f]+>", repr(h))


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


# ---- As user code meets it ------------------------------------------------------------------------


@each_algorithm
def test_in_hmac(algorithm: Algorithm) -> None:
    for size in (0, 1, 63, 64, 65, 127, 128, 129, 200):
        key, data = message(size, 1), message(size, 2)
        expected = hmac.new(key, data, algorithm.name).digest()
        assert hmac.new(key, data, algorithm.new).digest() == expected
        assert hmac.digest(key, data, algorithm.new) == expected


@each_algorithm
def test_in_file_digest(algorithm: Algorithm) -> None:
    data = message(500_000)
    assert hashlib.file_digest(io.BytesIO(data), algorithm.new).digest() == algorithm.theirs(data)


# ---- new ------------------------------------------------------------------------------------------


def spellings(name: str) -> list[str]:
    """NW-3: what OpenSSL calls it, and hashlib's own name."""
    number = name[3:].replace("_", "/")
    found = [name, name.replace("_", "-"), f"SHA-{number}"]
    found += [] if name == "sha1" else [f"SHA2-{number}"]
    return [case(text) for text in found for case in (str.lower, str.upper, str.title)]


@each_algorithm
def test_nw_3_every_spelling(algorithm: Algorithm) -> None:
    for spelling in spellings(algorithm.name):
        for h in (fastcrypt.new(spelling, b"abc"), fastcrypt.new(name=spelling, data=b"abc")):
            assert h.name == algorithm.name == hashlib.new(algorithm.name).name
            assert type(h) is algorithm.new
            assert h.digest() == algorithm.theirs(b"abc")


def test_nw_1_arguments() -> None:
    new: Any = fastcrypt.new
    assert new("sha1").digest() == hashlib.sha1().digest()
    assert new("sha1", bytearray(b"abc"), usedforsecurity=False).digest() == hashlib.sha1(b"abc").digest()
    assert new(data=b"abc", name="sha1").digest() == hashlib.sha1(b"abc").digest()
    assert new.__doc__
    assert new.__text_signature__ == "($module, /, name, data=b'', *, usedforsecurity=True)"
    for args, kwargs in (((), {}), ((), {"data": b""}), (("sha1",), {"name": "sha1"})):
        with pytest.raises(TypeError, match="name"):
            new(*args, **kwargs)


@pytest.mark.parametrize(
    "name", [None, 5, b"sha256", object(), "sha\x00256", "sha256\x00", "\ud800"], ids=range(7)
)
def test_nw_2_name_is_no_string(name: Any) -> None:
    for args, kwargs in (((name,), {}), ((name, b""), {}), ((), {"name": name})):
        with pytest.raises(TypeError, match=r"\Aname must be a string\Z"):
            fastcrypt.new(*args, **kwargs)


@pytest.mark.parametrize(
    "name",
    [
        "spam", "md5", "sha", "sha2", "sha-2", "sha3_256", "sha2256", "sha2-1", "sha_1", "sha512/256",
        "sha512256", "sha2-512_256", "", " sha256", "sha256 ", "x" * 500, "sha\u00e9",
    ],
)  # fmt: skip
def test_nw_4_unknown_name(name: str) -> None:
    with pytest.raises(ValueError, match=r"\Aunsupported hash type ") as caught:
        fastcrypt.new(name)
    assert name[:50] in str(caught.value)


def test_nw_5_what_is_refused() -> None:
    new: Any = fastcrypt.new
    for args, kwargs in (
        (("sha256", b"", b""), {}),
        (("sha256", b""), {"data": b""}),
        (("sha256",), {"foo": 1}),
        (("sha256", "text"), {}),
        (("sha256", 5), {}),
    ):
        with pytest.raises(TypeError):
            new(*args, **kwargs)
    with pytest.raises(TypeError, match=r"new\(\) takes at most 2 positional arguments \(3 given\)"):
        new("sha256", b"", b"")
    if sys.version_info < (3, 14):
        with pytest.raises(TypeError, match="'string'"):
            new("sha256", string=b"")
    else:
        assert new("sha256", string=b"abc").digest() == sha256(b"abc").digest()


def test_nw_6_what_it_knows_is_what_has_a_class() -> None:
    for name in hashlib.algorithms_available:
        if name in ALGORITHMS:
            assert type(fastcrypt.new(name)) is ALGORITHMS[name].new
        elif name not in {s.lower() for known in ALGORITHMS for s in spellings(known)}:
            with pytest.raises(ValueError, match="unsupported"):
                fastcrypt.new(name)


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
    for way in ways(SHA256):
        if way.name == "sha256(string=x)" and value is None:
            continue
        assert outcome(way, value) == expected, way.name


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
@pytest.mark.parametrize("size", [1 << 29, (1 << 31) + 1, (1 << 32) - 1, (1 << 32) + 64])
@each_engine
def test_big_lengths(algorithm: Algorithm, size: int) -> None:
    """From 2^29 bytes on the length in bits has more than 32 of them."""
    area = zeros(size)
    expected = algorithm.theirs(area)
    assert algorithm.digest(area) == expected
    with memoryview(area) as view:
        h = algorithm.new(view[: size // 2 + 1])
        h.update(view[size // 2 + 1 :])
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
    for algorithm in ALGORITHMS:
        for name in (algorithm, f"{algorithm}_digest", f"{algorithm}_hexdigest"):
            assert getattr(fastcrypt, name) is getattr(_core, name)
    assert fastcrypt.new is _core.new
    assert all(PAGE % algorithm.block == 0 for algorithm in ALGORITHMS.values())
