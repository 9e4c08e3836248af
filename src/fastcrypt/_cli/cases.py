# SPDX-License-Identifier: Apache-2.0
"""What `fastcrypt bench` measures: each operation, at each size, as fastcrypt and its peers do it.

A contender is Python source. The timer puts it into a loop of its own, so that no call but the one
measured is in the figure. Each peer is used in the fastest way that its documentation shows.
"""

from __future__ import annotations

import hashlib
import hmac
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import fastcrypt

KIB, MIB = 1024, 1024 * 1024

#: Peers outside the standard library, and the packages they come in.
PACKAGES = {"cryptography": "cryptography", "PyCryptodome": "pycryptodome"}

HASH_SIZES = (0, 16, 32, 64, 256, KIB, 16 * KIB, MIB)
COMPARE_SIZES = (16, 32, KIB, 64 * KIB)
GCM_SIZES = (16, 64, KIB, 16 * KIB)
MODE_SIZES = (16, KIB, 16 * KIB, MIB)


@dataclass(frozen=True)
class Contender:
    """A statement, and what must be equal for all contenders once it has run."""

    name: str
    statement: str
    names: Mapping[str, Any]
    answer: str = "r"

    def run(self) -> object:
        scope = dict(self.names)
        exec(self.statement, scope)
        return eval(self.answer, scope)


@dataclass(frozen=True)
class Case:
    operation: str
    size: int
    ours: Contender
    peers: list[Contender] = field(default_factory=list)

    @property
    def contenders(self) -> list[Contender]:
        return [self.ours, *self.peers]


# ---- Peers that may not be there -------------------------------------------------------------------


def optional(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ImportError:
        return None


@cache
def pyca() -> SimpleNamespace | None:
    """The parts of cryptography that are used."""
    if optional("cryptography") is None:
        return None
    hazmat = "cryptography.hazmat.primitives"
    return SimpleNamespace(
        hashes=import_module(f"{hazmat}.hashes"),
        aead=import_module(f"{hazmat}.ciphers.aead"),
        ciphers=import_module(f"{hazmat}.ciphers"),
        constant_time=import_module(f"{hazmat}.constant_time"),
    )


@cache
def pycryptodome() -> SimpleNamespace | None:
    if optional("Crypto.Cipher.AES") is None:
        return None
    return SimpleNamespace(AES=import_module("Crypto.Cipher.AES"), SHA256=import_module("Crypto.Hash.SHA256"))


def versions() -> dict[str, str]:
    """Implementation -> its version."""
    found = {"fastcrypt": fastcrypt.__version__, "hashlib": ssl.OPENSSL_VERSION}
    if pyca():
        backend: Any = import_module("cryptography.hazmat.backends.openssl.backend").backend
        found["cryptography"] = (
            f"{import_module('cryptography').__version__} ({backend.openssl_version_text()})"
        )
    if pycryptodome():
        found["PyCryptodome"] = import_module("Crypto").__version__
    return found


# ---- The operations --------------------------------------------------------------------------------


def message(size: int) -> bytes:
    return (bytes(range(256)) * (size // 256 + 1))[:size]


def hash_peers(data: bytes) -> Iterator[Contender]:
    yield Contender("hashlib", "r = sha256(m).digest()", {"sha256": hashlib.sha256, "m": data})
    if found := pyca():
        names = {"Hash": found.hashes.Hash, "SHA256": found.hashes.SHA256, "m": data}
        one_shot = hasattr(found.hashes.Hash, "hash")
        yield Contender(
            "cryptography",
            "r = Hash.hash(SHA256(), m)" if one_shot else "h = Hash(SHA256()); h.update(m); r = h.finalize()",
            names,
        )
    if found := pycryptodome():
        yield Contender("PyCryptodome", "r = new(m).digest()", {"new": found.SHA256.new, "m": data})


def hashes() -> Iterator[Case]:
    for statement, name in (("sha256(m).digest()", "sha256"), ("sha256_digest(m)", "sha256_digest")):
        for size in HASH_SIZES:
            data = message(size)
            ours = Contender("fastcrypt", f"r = {statement}", {name: getattr(fastcrypt, name), "m": data})
            yield Case(statement, size, ours, list(hash_peers(data)))


def compares() -> Iterator[Case]:
    for size in COMPARE_SIZES:
        data = message(size)
        names = {"a": data, "b": bytes(bytearray(data))}  # equal, and not the same object
        ours = Contender("fastcrypt", "r = f(a, b)", {"f": fastcrypt.compare_digest, **names})
        peers = [Contender("hmac", "r = f(a, b)", {"f": hmac.compare_digest, **names})]
        if found := pyca():
            equal = found.constant_time.bytes_eq
            peers.append(Contender("cryptography", "r = f(a, b)", {"f": equal, **names}))
        yield Case("compare_digest(a, b)", size, ours, peers)


def gcm_encrypt(size: int, key: bytes, nonce: bytes) -> Case:
    names = {"n": nonce, "m": message(size), "k": key}
    statement = "r = e(n, m, None)"
    ours = Contender("fastcrypt", statement, {"e": fastcrypt.AESGCM(key).encrypt, **names})
    peers = []
    if found := pyca():
        peers.append(Contender("cryptography", statement, {"e": found.aead.AESGCM(key).encrypt, **names}))
    if found := pycryptodome():
        statement = "c, t = new(k, GCM, nonce=n).encrypt_and_digest(m)"
        names = {"new": found.AES.new, "GCM": found.AES.MODE_GCM, **names}
        peers.append(Contender("PyCryptodome", statement, names, answer="c + t"))
    return Case("AESGCM.encrypt", size, ours, peers)


def gcm_decrypt(size: int, key: bytes, nonce: bytes) -> Case:
    ours = fastcrypt.AESGCM(key)
    sealed = ours.encrypt(nonce, message(size), None)
    names = {"n": nonce, "c": sealed, "k": key}
    statement = "r = d(n, c, None)"
    peers = []
    if found := pyca():
        peers.append(Contender("cryptography", statement, {"d": found.aead.AESGCM(key).decrypt, **names}))
    if found := pycryptodome():
        parts = {"body": sealed[:-16], "tag": sealed[-16:]}
        names_of_peer = {"new": found.AES.new, "GCM": found.AES.MODE_GCM, **names, **parts}
        statement_of_peer = "r = new(k, GCM, nonce=n).decrypt_and_verify(body, tag)"
        peers.append(Contender("PyCryptodome", statement_of_peer, names_of_peer))
    return Case(
        "AESGCM.decrypt", size, Contender("fastcrypt", statement, {"d": ours.decrypt, **names}), peers
    )


def gcm_into(size: int, key: bytes, nonce: bytes) -> Case:
    statement, answer = "e(n, m, None, out)", "bytes(out)"

    def names(encrypt_into: object) -> dict[str, object]:
        return {"e": encrypt_into, "n": nonce, "m": message(size), "out": bytearray(size + 16)}

    ours = Contender("fastcrypt", statement, names(fastcrypt.AESGCM(key).encrypt_into), answer)
    peers = []
    found = pyca()
    if found and hasattr(found.aead.AESGCM, "encrypt_into"):
        into = found.aead.AESGCM(key).encrypt_into
        peers.append(Contender("cryptography", statement, names(into), answer))
    return Case("AESGCM.encrypt_into", size, ours, peers)


def gcm() -> Iterator[Case]:
    key, nonce = message(32), message(12)
    for make in (gcm_encrypt, gcm_decrypt, gcm_into):
        for size in GCM_SIZES:
            yield make(size, key, nonce)


def pyca_mode(size: int, key: bytes, iv: bytes, mode: str, turn: str) -> Iterator[Contender]:
    found = pyca()
    if not found:
        return
    room = 15 if mode == "CBC" else 0  # what its block modes want beyond the data
    names = {
        "Cipher": found.ciphers.Cipher,
        "alg": found.ciphers.algorithms.AES(key),
        "Mode": getattr(found.ciphers.modes, mode),
        "iv": iv,
        "m": message(size),
        "out": bytearray(size + room),
    }
    statement = f"c = Cipher(alg, Mode(iv)).{turn}or(); c.update_into(m, out); c.finalize()"
    yield Contender("cryptography", statement, names, f"bytes(out[:{size}])")


def pycryptodome_mode(size: int, key: bytes, iv: bytes, mode: str, turn: str) -> Iterator[Contender]:
    found = pycryptodome()
    if not found:
        return
    how = "nonce=b'', initial_value=iv" if mode == "CTR" else "iv"
    names = {
        "new": found.AES.new,
        "mode": getattr(found.AES, f"MODE_{mode}"),
        "k": key,
        "iv": iv,
        "m": message(size),
        "out": bytearray(size),
    }
    statement = f"new(k, mode, {how}).{turn}(m, output=out)"
    yield Contender("PyCryptodome", statement, names, "bytes(out)")


def modes() -> Iterator[Case]:
    """CBC and CTR into a buffer, under a key that is kept."""
    key, iv = message(32), message(16)
    cipher = fastcrypt.AES(key)
    for method, mode, turn in (
        ("cbc_encrypt", "CBC", "encrypt"),
        ("cbc_decrypt", "CBC", "decrypt"),
        ("ctr", "CTR", "encrypt"),
    ):
        for size in MODE_SIZES:
            names = {"f": getattr(cipher, method), "iv": iv, "m": message(size), "out": bytearray(size)}
            ours = Contender("fastcrypt", "f(iv, m, out=out)", names, "bytes(out)")
            peers = [
                *pyca_mode(size, key, iv, mode, turn),
                *pycryptodome_mode(size, key, iv, mode, turn),
            ]
            yield Case(f"AES.{method}(out=)", size, ours, peers)


def all_cases() -> list[Case]:
    return [*hashes(), *compares(), *gcm(), *modes()]
