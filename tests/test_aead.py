# SPDX-License-Identifier: Apache-2.0
"""fastcrypt.aead beside cryptography.hazmat.primitives.ciphers.aead: the same calls, results and errors."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import cryptography.exceptions
import pytest
from cryptography.hazmat.primitives.ciphers import aead as theirs

import fastcrypt
from fastcrypt import _core, aead

KEY, NONCE, DATA, AAD = bytes(range(32)), bytes(range(12)), bytes(range(100)), b"header"
CLASSES = ("AESGCM", "AESGCMSIV")
each_class = pytest.mark.parametrize("name", CLASSES)


def outcome(function: Any, *args: Any, **kwargs: Any) -> Any:
    """The result, or the kind of the exception as cryptography's caller would catch it."""
    try:
        return function(*args, **kwargs)
    except cryptography.exceptions.InvalidTag:
        return cryptography.exceptions.InvalidTag
    except (TypeError, ValueError, BufferError) as error:
        return type(error)


def both(name: str, call: Any) -> Any:
    """The outcome of a call that takes one library's class, which must be that of the other's."""
    ours, other = outcome(call, getattr(aead, name)), outcome(call, getattr(theirs, name))
    assert ours == other
    return ours


# ---- Side by side ---------------------------------------------------------------------------------


@each_class
def test_keys(name: str) -> None:
    sealed = [both(name, lambda kind, n=n: kind(KEY[:n]).encrypt(NONCE, DATA, AAD)) for n in (16, 32)]
    assert all(isinstance(result, bytes) for result in sealed)
    assert both(name, lambda kind: kind(key=bytearray(KEY)).encrypt(NONCE, DATA, AAD)) == sealed[1]
    for size in (0, 1, 15, 17, 31, 33, 64):
        assert both(name, lambda kind, n=size: kind(bytes(n))) is ValueError
    wrong: tuple[Any, ...] = (None, 5, "k" * 16, [1] * 16)
    for key in wrong:
        assert both(name, lambda kind, k=key: kind(k)) is TypeError
    assert both(name, lambda kind: kind()) is TypeError


@each_class
def test_generate_key(name: str) -> None:
    for bits in (128, 256):
        assert both(name, lambda kind, b=bits: len(kind.generate_key(bit_length=b))) == bits // 8
    for wrong in (0, 127, 512):
        assert both(name, lambda kind, b=wrong: kind.generate_key(b)) is ValueError
    assert both(name, lambda kind: kind.generate_key("128")) is TypeError
    assert both(name, lambda kind: kind.generate_key()) is TypeError


@each_class
@pytest.mark.parametrize("size", [*range(20), 64, 127, 128, 129, 200])
def test_nonce_lengths(name: str, size: int) -> None:
    result = both(name, lambda kind: kind(KEY).encrypt(bytes(size), DATA, AAD))
    right = 8 <= size <= 128 if name == "AESGCM" else size == 12
    assert (result is not ValueError) == right
    assert both(name, lambda kind: kind(KEY).decrypt(bytes(size), bytes(20), None)) is (
        cryptography.exceptions.InvalidTag if right else ValueError
    )


@each_class
def test_messages(name: str) -> None:
    for size in (0, 1, 16, 33, 1000, 20_000):
        data = bytes(i % 251 for i in range(size))
        for aad in (None, b"", AAD, bytearray(AAD), memoryview(AAD)):
            sealed = both(name, lambda kind, d=data, a=aad: kind(KEY).encrypt(NONCE, d, a))
            assert both(name, lambda kind, s=sealed, a=aad: kind(KEY).decrypt(NONCE, s, a)) == data
            forged = sealed[:-1] + bytes([sealed[-1] ^ 1])
            refused = both(name, lambda kind, s=forged, a=aad: kind(KEY).decrypt(NONCE, s, a))
            assert refused is cryptography.exceptions.InvalidTag
    for size in range(16):
        short = both(name, lambda kind, n=size: kind(KEY).decrypt(NONCE, bytes(n), None))
        assert short is cryptography.exceptions.InvalidTag


@each_class
def test_argument_names_and_kinds(name: str) -> None:
    names = {"nonce": NONCE, "data": DATA, "associated_data": AAD}
    sealed = both(name, lambda kind: kind(KEY).encrypt(**names))
    assert both(name, lambda kind: kind(KEY).decrypt(nonce=NONCE, data=sealed, associated_data=AAD)) == DATA
    for missing in names:
        rest = {key: value for key, value in names.items() if key != missing}
        assert both(name, lambda kind, r=rest: kind(KEY).encrypt(**r)) is TypeError
    for arguments in ((), (NONCE,), (NONCE, DATA), (NONCE, DATA, AAD, AAD)):
        assert both(name, lambda kind, a=arguments: kind(KEY).encrypt(*a)) is TypeError
    for at in range(3):
        for wrong in (5, "text", [1]) if at == 2 else (None, 5, "text", [1]):
            given: list[Any] = [NONCE, DATA, AAD]
            given[at] = wrong
            assert both(name, lambda kind, g=given: kind(KEY).encrypt(*g)) is TypeError
    strided = memoryview(DATA)[::2]
    assert both(name, lambda kind: kind(KEY).encrypt(NONCE, strided, None)) is BufferError


@each_class
def test_into_buffers(name: str) -> None:
    if not hasattr(getattr(theirs, name), "encrypt_into"):
        pytest.skip("this version of cryptography has no encrypt_into")

    def into(kind: Any, method: str, data: Any, size: int) -> Any:
        out = bytearray(size)
        return getattr(kind(KEY), method)(NONCE, data, AAD, out), bytes(out)

    written, sealed = both(name, lambda kind: into(kind, "encrypt_into", DATA, 116))
    assert written == 116
    assert both(name, lambda kind: into(kind, "decrypt_into", sealed, 100)) == (100, DATA)
    for size in (0, 99, 115, 117):
        assert both(name, lambda kind, n=size: into(kind, "encrypt_into", DATA, n)) is ValueError
        assert both(name, lambda kind, n=size: into(kind, "decrypt_into", sealed, n)) is ValueError
    for buf in (bytes(116), None, 5):
        assert both(name, lambda kind, b=buf: kind(KEY).encrypt_into(NONCE, DATA, AAD, b)) is TypeError
    assert both(name, lambda kind: kind(KEY).encrypt_into(nonce=NONCE, data=DATA, associated_data=AAD,
                                                          buf=bytearray(116))) == 116  # fmt: skip


@each_class
def test_objects(name: str) -> None:
    for call in (
        lambda kind: pickle.dumps(kind(KEY)),
        lambda kind: type("Derived", (kind,), {}),
        lambda kind: setattr(kind(KEY), "key", KEY),
    ):
        assert both(name, lambda kind, f=call: attribute_error_is_type_error(f, kind)) is TypeError
    assert both(name, lambda kind: kind(KEY) == kind(KEY)) is False


def attribute_error_is_type_error(call: Any, kind: Any) -> Any:
    try:
        return call(kind)
    except AttributeError:
        raise TypeError from None


# ---- InvalidTag -----------------------------------------------------------------------------------


def test_the_classes_are_those_of_fastcrypt() -> None:
    """No wrapper: a call costs what it costs."""
    assert aead.AESGCM is fastcrypt.AESGCM
    assert aead.AESGCMSIV is fastcrypt.AESGCMSIV


def forgery(name: str) -> Exception:
    with pytest.raises(fastcrypt.InvalidTag) as caught:
        getattr(aead, name)(KEY).decrypt(NONCE, bytes(20), None)
    return caught.value


@each_class
def test_invalid_tag_is_of_both_libraries(name: str) -> None:
    assert aead.InvalidTag.__mro__[1:3] == (fastcrypt.InvalidTag, cryptography.exceptions.InvalidTag)
    error: Any = forgery(name)
    assert type(error) is aead.InvalidTag
    assert isinstance(error, cryptography.exceptions.InvalidTag)
    assert not isinstance(error, ValueError)
    assert (str(error), error.index) == ("", None)
    assert type(pickle.loads(pickle.dumps(error))) is aead.InvalidTag
    assert _core.InvalidTag is aead.InvalidTag


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


REFUSED = """
try:
    fastcrypt.AESGCM(bytes(16)).decrypt(bytes(12), bytes(20), None)
except fastcrypt.InvalidTag as error:
    print(type(error).__module__, [c.__module__ for c in type(error).__bases__])
"""


def test_without_the_import_invalid_tag_is_plain() -> None:
    code = "import sys, fastcrypt" + REFUSED + "print('cryptography' in sys.modules)"
    assert run(code) == "fastcrypt ['builtins']\nFalse"


def test_without_cryptography_invalid_tag_is_plain() -> None:
    code = "import sys; sys.modules['cryptography'] = None\nimport fastcrypt, fastcrypt.aead" + REFUSED
    assert run(code + "print(fastcrypt.aead.InvalidTag is fastcrypt.InvalidTag)") == "\n".join(
        ["fastcrypt ['builtins']", "True"]
    )


def test_a_second_import_changes_nothing_for_who_imported_before() -> None:
    code = "import importlib, fastcrypt, fastcrypt.aead as a; importlib.reload(a)" + REFUSED
    assert run(code) == "fastcrypt.aead ['fastcrypt', 'cryptography.exceptions']"
