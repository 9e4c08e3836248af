# SPDX-License-Identifier: Apache-2.0
"""export_state and from_state of every hash, and digest_parts."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

import fastcrypt
from fastcrypt import digest_parts

HASHES = ["sha1", "sha224", "sha256", "sha384", "sha512", "sha512_224", "sha512_256"]
MESSAGE = bytes(range(256)) * 5


@pytest.mark.parametrize("name", HASHES)
def test_a_hash_goes_on_from_its_exported_state(name: str) -> None:
    make: Any = getattr(fastcrypt, name)
    for size in (0, 1, 55, 63, 64, 65, 111, 127, 128, 129, 700):
        blob = make(MESSAGE[:size]).export_state()
        h = make.from_state(memoryview(blob))
        assert type(h) is make
        h.update(MESSAGE[size:])
        assert h.digest() == hashlib.new(name, MESSAGE).digest()
        assert h.copy().export_state() == h.export_state()


def test_the_form_of_an_exported_state() -> None:
    """What was exported once must be read for ever: the form is pinned, and the state is FIPS 180-4's."""
    blob = fastcrypt.sha256(b"abc").export_state()
    initial = "6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19"
    assert blob.hex() == b"FCHS".hex() + "01020000" + "0000000000000003" + initial + b"abc".hex()
    long = bytes.fromhex(b"FCHS".hex() + "01020000" + "%016x" % (2**40) + initial)
    assert fastcrypt.sha256.from_state(long).export_state() == long


@pytest.mark.parametrize("name", HASHES)
def test_garbage_is_refused(name: str) -> None:
    make: Any = getattr(fastcrypt, name)
    blob = make(b"some bytes").export_state()
    others = [getattr(fastcrypt, other)(b"some bytes").export_state() for other in HASHES if other != name]
    cut = [blob[:size] for size in range(len(blob))]
    changed = [blob[:at] + bytes([blob[at] ^ 1]) + blob[at + 1 :] for at in (*range(8), 15)]
    for garbage in (*cut, *others, *changed, blob + b"\0", bytes(100), b"\xff" * 200):
        with pytest.raises(ValueError, match=f"not an exported state of {name}"):
            make.from_state(garbage)
    for kind in (None, "text", 5):
        with pytest.raises(TypeError):
            make.from_state(kind)


@pytest.mark.parametrize("name", HASHES)
def test_digest_parts(name: str) -> None:
    expected = hashlib.new(name, MESSAGE).digest()
    parts: list[Any] = [MESSAGE[:1], bytearray(MESSAGE[1:70]), b"", memoryview(MESSAGE)[70:]]
    assert digest_parts(parts, name) == digest_parts(iter(parts), name) == expected
    assert digest_parts(tuple(parts), name=name.upper()) == expected
    assert digest_parts([], name) == hashlib.new(name).digest()
    assert digest_parts([MESSAGE * 100] * 3, name) == hashlib.new(name, MESSAGE * 300).digest()


def test_digest_parts_arguments() -> None:
    def failing() -> Any:
        yield b"a"
        raise LookupError

    wrong: list[tuple[Any, Any, type[Exception]]] = [
        (b"bytes", "sha256", TypeError),
        ("text", "sha256", TypeError),
        (5, "sha256", TypeError),
        ([b"a", "b"], "sha256", TypeError),
        ([b"a", None], "sha256", TypeError),
        ([b"a"], "md5", ValueError),
        ([b"a"], 5, TypeError),
        (failing(), "sha256", LookupError),
        ([memoryview(b"abcd")[::2]], "sha256", BufferError),
    ]
    for parts, name, error in wrong:
        with pytest.raises(error):
            digest_parts(parts, name)
