# SPDX-License-Identifier: Apache-2.0
"""AES as one shape of functions, for every suite of the table and for the public API.

`@each_suite` runs a test once per suite row, called directly, and once on the public classes and
functions; `@each_row` on the rows alone. Expected values come from the package cryptography.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
import rows
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from rows import Row

import fastcrypt
from fastcrypt import _core

KEY_SIZES = (16, 24, 32)
each_key_size = pytest.mark.parametrize("key_size", KEY_SIZES)


class RowSuite:
    """One row's functions. Every call expands the key by the row's own key schedule."""

    def __init__(self, row: Row) -> None:
        self.name = row.name

    def call(self, function: str, *buffers: Any) -> Any:
        return _core.call_kernel(f"aes_{function}", self.name, *buffers)

    def ecb_encrypt(self, key: bytes, data: bytes) -> bytes:
        self.call("ecb_encrypt", key, data, out := bytearray(len(data)))
        return bytes(out)

    def ecb_decrypt(self, key: bytes, data: bytes) -> bytes:
        self.call("ecb_decrypt", key, data, out := bytearray(len(data)))
        return bytes(out)

    def cbc_encrypt(self, key: bytes, iv: bytes, data: bytes) -> bytes:
        self.call("cbc_encrypt", key, bytearray(iv), data, out := bytearray(len(data)))
        return bytes(out)

    def cbc_decrypt(self, key: bytes, iv: bytes, data: bytes) -> bytes:
        self.call("cbc_decrypt", key, bytearray(iv), data, out := bytearray(len(data)))
        return bytes(out)

    def ctr(self, key: bytes, iv: bytes, data: bytes) -> bytes:
        self.call("ctr", key, bytearray(iv), data, out := bytearray(len(data)))
        return bytes(out)

    def j0(self, key: bytes, nonce: bytes) -> bytes:
        """SP 800-38D section 7.1 step 2."""
        if len(nonce) == 12:
            return nonce + bytes([0, 0, 0, 1])
        y = bytearray(16)
        padding = bytes(-len(nonce) % 16)
        self.call("ghash", key, y, nonce + padding + (8 * len(nonce)).to_bytes(16, "big"))
        return bytes(y)

    def seal(self, key: bytes, nonce: bytes, aad: bytes, data: bytes) -> tuple[bytes, bytes]:
        """(ciphertext, 16-byte tag)"""
        tag = self.call("gcm_seal", key, self.j0(key, nonce), aad, data, out := bytearray(len(data)))
        return bytes(out), tag

    def open(self, key: bytes, nonce: bytes, aad: bytes, data: bytes) -> tuple[bytes, bytes]:
        """(plaintext, the tag that data should have)"""
        tag = self.call("gcm_open", key, self.j0(key, nonce), aad, data, out := bytearray(len(data)))
        return bytes(out), tag


class PublicSuite:
    """The functions aes_encrypt and aes_decrypt, whose results must be those of the key classes."""

    name = "public"

    def both(self, by_function: Any, by_class: Any) -> bytes:
        assert type(by_function) is type(by_class) is bytes
        assert by_function == by_class
        return by_function

    def ecb_encrypt(self, key: bytes, data: bytes) -> bytes:
        one = fastcrypt.aes_encrypt(key, data, mode="ecb")
        return self.both(one, fastcrypt.AES(key).ecb_encrypt(data))

    def ecb_decrypt(self, key: bytes, data: bytes) -> bytes:
        one = fastcrypt.aes_decrypt(key, data, mode="ecb")
        return self.both(one, fastcrypt.AES(key).ecb_decrypt(data))

    def cbc_encrypt(self, key: bytes, iv: bytes, data: bytes) -> bytes:
        one = fastcrypt.aes_encrypt(key, data, mode="cbc", iv=iv)
        return self.both(one, fastcrypt.AES(key).cbc_encrypt(iv, data))

    def cbc_decrypt(self, key: bytes, iv: bytes, data: bytes) -> bytes:
        one = fastcrypt.aes_decrypt(key, data, mode="cbc", iv=iv)
        return self.both(one, fastcrypt.AES(key).cbc_decrypt(iv, data))

    def ctr(self, key: bytes, iv: bytes, data: bytes) -> bytes:
        one = fastcrypt.aes_encrypt(key, data, mode="ctr", iv=iv)
        assert fastcrypt.aes_decrypt(key, data, mode="ctr", iv=iv) == one
        return self.both(one, fastcrypt.AES(key).ctr(iv, data))

    def seal(self, key: bytes, nonce: bytes, aad: bytes, data: bytes) -> tuple[bytes, bytes]:
        one = fastcrypt.aes_encrypt(key, data, mode="gcm", iv=nonce, aad=aad)
        sealed = self.both(one, fastcrypt.AESGCM(key).encrypt(nonce, data, aad))
        detached = fastcrypt.AESGCM(key).encrypt_detached(nonce, data, aad)
        assert detached == (sealed[:-16], sealed[-16:])
        return detached


Suite = RowSuite | PublicSuite

_rows = [
    pytest.param(RowSuite(param.values[0]), id=param.values[0].name, marks=param.marks)
    for param in rows.parameters("aes")
]
each_row = pytest.mark.parametrize("suite", _rows)
each_suite = pytest.mark.parametrize("suite", [*_rows, pytest.param(PublicSuite(), id="public")])


def message(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


def reference(key: bytes, mode: Any, data: bytes, decrypt: bool = False) -> bytes:
    """What cryptography makes of whole blocks, or of any data in CTR."""
    cipher = Cipher(algorithms.AES(key), mode)
    context = cipher.decryptor() if decrypt else cipher.encryptor()
    return context.update(data) + context.finalize()


def reference_ecb(key: bytes, data: bytes, decrypt: bool = False) -> bytes:
    return reference(key, modes.ECB(), data, decrypt)


def reference_cbc(key: bytes, iv: bytes, data: bytes, decrypt: bool = False) -> bytes:
    return reference(key, modes.CBC(iv), data, decrypt)


def reference_ctr(key: bytes, counter: int, data: bytes) -> bytes:
    return reference(key, modes.CTR((counter % 2**128).to_bytes(16, "big")), data)
