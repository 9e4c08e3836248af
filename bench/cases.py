# SPDX-License-Identifier: Apache-2.0
"""What is measured from Python: every operation at every size, as fastcrypt and its rivals do it.

Each rival is used in the fastest way that its documentation shows. A kernel row reached through
call_kernel is a contender only where the five microseconds of that call do not show.
"""

from __future__ import annotations

import hashlib
import hmac
import operator
import ssl
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import fastcrypt
from bench.interleaved import Case, Contender
from fastcrypt import _core

KIB, MIB = 1024, 1024 * 1024

SIZES = (0, 16, 32, 64, 256, KIB, 16 * KIB, MIB)
COMPARE_SIZES = (*SIZES[:-1], 64 * KIB, MIB)
BLOCK_SIZES = SIZES[1:]
RECORD = 19456
#: What is encrypted record by record under one key: a cookie to a packet, and what TLS sends.
RECORD_SIZES = (64, 256, 1350, 4 * KIB, 16 * KIB, RECORD)
#: From here on call_kernel's own time is below a hundredth.
ROWS_FROM = {"sha256": 16 * KIB, "compare": MIB, "aes": MIB}


def message(size: int) -> bytes:
    return (bytes(range(256)) * (size // 256 + 1))[:size]


KEY, NONCE, IV = message(32), message(12), message(16)
#: Two keys, which must differ.
XTS_KEY = message(64)


# ---- Rivals that may not be there ----------------------------------------------------------------


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
        cmac=import_module(f"{hazmat}.cmac"),
        ciphers=import_module(f"{hazmat}.ciphers"),
        constant_time=import_module(f"{hazmat}.constant_time"),
    )


@cache
def pycryptodome() -> SimpleNamespace | None:
    if optional("Crypto.Cipher.AES") is None:
        return None
    return SimpleNamespace(AES=import_module("Crypto.Cipher.AES"), SHA256=import_module("Crypto.Hash.SHA256"))


def versions() -> dict[str, str]:
    """Rival -> its version, and that of the OpenSSL in it."""
    found = {"hashlib": ssl.OPENSSL_VERSION}
    if pyca():
        backend: Any = import_module("cryptography.hazmat.backends.openssl.backend").backend
        version = import_module("cryptography").__version__
        found["cryptography"] = f"{version} ({backend.openssl_version_text()})"
    if pycryptodome():
        found["PyCryptodome"] = str(import_module("Crypto").__version__)
    return found


def runnable_rows(op: str) -> list[str]:
    return [row["name"] for row in _core.rows() if row["op"] == op and row["runnable"]]


# ---- Hashes --------------------------------------------------------------------------------------


def sha256_rivals(data: bytes) -> Iterator[Contender]:
    yield Contender("hashlib", "sha256(m).digest()", {"sha256": hashlib.sha256, "m": data})
    # CPython's own C: HACL* from 3.12 on. It has no use for SHA-NI.
    for name in ("_sha2", "_sha256"):
        if builtin := optional(name):
            yield Contender(name, "sha256(m).digest()", {"sha256": builtin.sha256, "m": data})
            break
    if found := pyca():
        names = {"Hash": found.hashes.Hash, "SHA256": found.hashes.SHA256, "m": data}
        if hasattr(found.hashes.Hash, "hash"):
            yield Contender("cryptography", "Hash.hash(SHA256(), m)", names)
        else:
            statement = "h = Hash(SHA256()); h.update(m); r = h.finalize()"
            yield Contender("cryptography", statement, names, "r")
    if found := pycryptodome():
        yield Contender("PyCryptodome", "new(m).digest()", {"new": found.SHA256.new, "m": data})


def sha256_rows(data: bytes) -> Iterator[Contender]:
    for row in runnable_rows("sha256_blocks"):
        names = {"f": _core.call_kernel, "op": "sha256_blocks", "s": bytearray(32), "m": data}
        yield Contender(f"row {row}", f"f(op, {row!r}, s, m)", names)


def sha256_cases() -> Iterator[Case]:
    for size in SIZES:
        data = message(size)
        rivals = list(sha256_rivals(data))
        one = Contender("fastcrypt", "sha256(m).digest()", {"sha256": fastcrypt.sha256, "m": data})
        yield Case("sha256", size, [one, *rivals])
        shot = Contender("fastcrypt", "f(m)", {"f": fastcrypt.sha256_digest, "m": data})
        yield Case("sha256_digest", size, [shot, *rivals[:1]])


#: The hashes beside SHA-256, each at a size that shows the call and at one that shows the kernel.
FAMILY = ("sha1", "sha224", "sha384", "sha512", "sha512_224", "sha512_256")


def family_cases() -> Iterator[Case]:
    for name in FAMILY:
        for size in (32, MIB):
            data = message(size)
            ours = Contender("fastcrypt", "h(m).digest()", {"h": getattr(fastcrypt, name), "m": data})
            if hasattr(hashlib, name):
                theirs = Contender("hashlib", "h(m).digest()", {"h": getattr(hashlib, name), "m": data})
            else:
                names = {"new": hashlib.new, "name": name, "m": data}
                theirs = Contender("hashlib", "new(name, m).digest()", names)
            yield Case(name, size, [ours, theirs])


# ---- Compare -------------------------------------------------------------------------------------


def compare_rivals(a: bytes, b: bytes) -> Iterator[Contender]:
    yield Contender("hmac", "f(a, b)", {"f": hmac.compare_digest, "a": a, "b": b})
    if found := pyca():
        equal = found.constant_time.bytes_eq
        yield Contender("cryptography", "f(a, b)", {"f": equal, "a": a, "b": b})


def compare_rows(a: bytes, b: bytes) -> Iterator[Contender]:
    for row in runnable_rows("timingsafe_bcmp"):
        names = {"f": _core.call_kernel, "op": "timingsafe_bcmp", "a": a, "b": b}
        yield Contender(f"row {row}", f"f(op, {row!r}, a, b)", names)


def compare_cases() -> Iterator[Case]:
    for size in COMPARE_SIZES:
        a, b = message(size), bytes(bytearray(message(size)))  # equal, and not the same object
        ours = Contender("fastcrypt", "f(a, b)", {"f": fastcrypt.compare_digest, "a": a, "b": b})
        yield Case("compare_digest", size, [ours, *compare_rivals(a, b)])


#: FreeBSD's mixes of lengths: mean, and the seed of erand48.
MIXES = {"Short": (16, (123, 456, 789)), "Mid": (64, (234, 567, 890)), "Long": (1 << 30, (345, 678, 910))}
MIX_BYTES = 1 << 17


def erand48(seed: tuple[int, int, int]) -> Iterator[float]:
    state = seed[0] | seed[1] << 16 | seed[2] << 32
    while True:
        state = (state * 0x5DEECE66D + 0xB) % (1 << 48)
        yield state / (1 << 48)


@cache
def mix_lengths(name: str) -> list[int]:
    """bench/native/timingsafe_bcmp.c says where strings end and when a number is thrown away."""
    mean, seed = MIXES[name]
    numbers = erand48(seed)
    lengths, length = [], 0
    for index in range(MIX_BYTES):
        length += 1
        if index < MIX_BYTES - 1 and next(numbers) > 1 / (mean + 1):
            next(numbers)
        else:
            lengths.append(length)
            length = 0
    return lengths


def mix_cases() -> Iterator[Case]:
    """A pass over the strings of a mix, as bytes objects; the kernels alone are measured in C."""
    for name in MIXES:
        pairs = [(bytes(length), bytes(length)) for length in mix_lengths(name)]
        names = {"pairs": pairs}
        contenders = [
            Contender(which, "for a, b in pairs: f(a, b)", {**names, "f": f}, answer="0")
            for which, f in (("fastcrypt", fastcrypt.compare_digest), ("hmac", hmac.compare_digest))
        ]
        yield Case(f"compare_digest {name}", MIX_BYTES, contenders)


# ---- AES-GCM -------------------------------------------------------------------------------------


def gcm_seal(size: int, key: bytes = KEY) -> Case:
    names = {"n": NONCE, "m": message(size)}
    ours = Contender("fastcrypt", "e(n, m, None)", {"e": fastcrypt.AESGCM(key).encrypt, **names})
    contenders = [ours]
    if found := pyca():
        theirs = found.aead.AESGCM(key).encrypt
        contenders.append(Contender("cryptography", "e(n, m, None)", {"e": theirs, **names}))
    if found := pycryptodome():
        more = {"new": found.AES.new, "k": key, "GCM": found.AES.MODE_GCM}
        statement = "c, t = new(k, GCM, nonce=n).encrypt_and_digest(m)"
        contenders.append(Contender("PyCryptodome", statement, {**names, **more}, "c + t"))
    return Case("gcm_encrypt", size, contenders)


def gcm_open(size: int) -> Case:
    cipher = fastcrypt.AESGCM(KEY)
    sealed = cipher.encrypt(NONCE, message(size), None)
    names = {"n": NONCE, "c": sealed}
    contenders = [Contender("fastcrypt", "d(n, c, None)", {"d": cipher.decrypt, **names})]
    if found := pyca():
        theirs = found.aead.AESGCM(KEY).decrypt
        contenders.append(Contender("cryptography", "d(n, c, None)", {"d": theirs, **names}))
    if found := pycryptodome():
        more = {"new": found.AES.new, "k": KEY, "GCM": found.AES.MODE_GCM, "n": NONCE}
        parts = {"body": sealed[:-16], "tag": sealed[-16:]}
        statement = "new(k, GCM, nonce=n).decrypt_and_verify(body, tag)"
        contenders.append(Contender("PyCryptodome", statement, {**more, **parts}))
    return Case("gcm_decrypt", size, contenders)


def gcm_into(size: int) -> Case:
    def names(encrypt_into: object) -> dict[str, object]:
        return {"e": encrypt_into, "n": NONCE, "m": message(size), "out": bytearray(size + 16)}

    statement, answer = "e(n, m, None, out)", "bytes(out)"
    ours = fastcrypt.AESGCM(KEY).encrypt_into
    contenders = [Contender("fastcrypt", statement, names(ours), answer)]
    found = pyca()
    if found and hasattr(found.aead.AESGCM, "encrypt_into"):
        theirs = found.aead.AESGCM(KEY).encrypt_into
        contenders.append(Contender("cryptography", statement, names(theirs), answer))
    return Case("gcm_encrypt_into", size, contenders)


def gcm_cases() -> Iterator[Case]:
    for size in SIZES:
        yield gcm_seal(size)
        yield gcm_open(size)
        yield gcm_into(size)


# ---- GCM-SIV, CMAC -------------------------------------------------------------------------------


def siv_case(size: int, method: str) -> Case:
    """GCM-SIV, which cryptography has where its OpenSSL is 3.2 or newer."""
    data = message(size)
    if method == "decrypt":
        data = fastcrypt.AESGCMSIV(KEY).encrypt(NONCE, data, None)
    kinds = {"fastcrypt": fastcrypt.AESGCMSIV}
    if found := pyca():
        kinds["cryptography"] = found.aead.AESGCMSIV
    contenders = [
        Contender(name, "f(n, m, None)", {"f": getattr(kind(KEY), method), "n": NONCE, "m": data})
        for name, kind in kinds.items()
    ]
    return Case(f"gcm_siv_{method}", size, contenders)


def cmac_case(size: int) -> Case:
    names = {"m": message(size), "k": KEY}
    contenders = [Contender("fastcrypt", "f(k, m)", {"f": fastcrypt.aes_cmac, **names})]
    if found := pyca():
        more = {"CMAC": found.cmac.CMAC, "alg": found.ciphers.algorithms.AES(KEY), "m": names["m"]}
        statement = "c = CMAC(alg); c.update(m); t = c.finalize()"
        contenders.append(Contender("cryptography", statement, more, "t"))
    return Case("cmac", size, contenders)


def siv_and_mac_cases() -> Iterator[Case]:
    for size in (16, KIB, 16 * KIB):
        yield siv_case(size, "encrypt")
        yield siv_case(size, "decrypt")
        yield cmac_case(size)


# ---- Block modes ---------------------------------------------------------------------------------


def pyca_mode(size: int, mode: str, turn: str, key: bytes = KEY) -> Iterator[Contender]:
    found = pyca()
    if not found:
        return
    room = 0 if mode == "CTR" else 15  # what its block modes want beyond the data
    mode_of = getattr(found.ciphers.modes, mode)
    names = {
        "Cipher": found.ciphers.Cipher,
        "alg": found.ciphers.algorithms.AES(key),
        "mode": mode_of,
        "iv": IV,
        "m": message(size),
        "out": bytearray(size + room),
    }
    made = "mode()" if mode == "ECB" else "mode(iv)"
    statement = f"c = Cipher(alg, {made}).{turn}or(); c.update_into(m, out); c.finalize()"
    yield Contender("cryptography", statement, names, f"bytes(out[:{size}])")


def pycryptodome_mode(size: int, mode: str, turn: str) -> Iterator[Contender]:
    found = pycryptodome()
    if not found:
        return
    how = {"CTR": ", nonce=b'', initial_value=iv", "ECB": ""}.get(mode, ", iv")
    names = {
        "new": found.AES.new,
        "mode": getattr(found.AES, f"MODE_{mode}"),
        "k": KEY,
        "iv": IV,
        "m": message(size),
        "out": bytearray(size),
    }
    yield Contender("PyCryptodome", f"new(k, mode{how}).{turn}(m, output=out)", names, "bytes(out)")


def mode_rows(size: int, method: str) -> Iterator[Contender]:
    """The suites; the chaining value runs on, so their answer is not the others'."""
    ecb = method.startswith("ecb")
    arguments = "k, m, out" if ecb else "k, iv, m, out"
    for row in runnable_rows("aes"):
        names = {
            "f": _core.call_kernel,
            "k": KEY,
            "iv": bytearray(IV),
            "m": message(size),
            "out": bytearray(size),
        }
        statement = f"f('aes_{method}', {row!r}, {arguments})"
        yield Contender(f"row {row}", statement, names, "bytes(out)")


MODES = (
    ("ecb_encrypt", "ECB", "encrypt"),
    ("ecb_decrypt", "ECB", "decrypt"),
    ("cbc_encrypt", "CBC", "encrypt"),
    ("cbc_decrypt", "CBC", "decrypt"),
    ("ctr", "CTR", "encrypt"),
)


def mode_case(size: int, method: str, mode: str, turn: str) -> Case:
    """One block mode into a buffer, under a key that is kept."""
    f = getattr(fastcrypt.AES(KEY), method)
    names = {"f": f, "iv": IV, "m": message(size), "out": bytearray(size)}
    statement = "f(m, out=out)" if mode == "ECB" else "f(iv, m, out=out)"
    ours = Contender("fastcrypt", statement, names, "bytes(out)")
    rivals = [*pyca_mode(size, mode, turn), *pycryptodome_mode(size, mode, turn)]
    return Case(method, size, [ours, *rivals])


def mode_cases() -> Iterator[Case]:
    for size in BLOCK_SIZES:
        for method, mode, turn in MODES:
            yield mode_case(size, method, mode, turn)


# ---- Block modes as a protocol uses them ---------------------------------------------------------

KEPT_SIZES = (KIB, 16 * KIB, MIB)
#: Chains of CBC side by side, and bytes in each.
CHAINS, CHAIN = 64, 16 * KIB


def kept_case(size: int, method: str, mode: str, turn: str) -> Case:
    """Against a context that is kept: it goes on with the stream, so the answers differ."""
    case = mode_case(size, method, mode, turn)
    contenders = [case.contenders[0]]
    if found := pyca():
        made = getattr(found.ciphers.modes, mode)
        mode_object = made() if mode == "ECB" else made(IV)
        cipher = found.ciphers.Cipher(found.ciphers.algorithms.AES(KEY), mode_object)
        context = getattr(cipher, f"{turn}or")()
        names = {"update_into": context.update_into, "m": message(size), "out": bytearray(size + 15)}
        contenders.append(Contender("cryptography", "update_into(m, out)", names))
    return Case(f"{method} kept", size, contenders, same_answers=False)


def many_chains() -> Case:
    """Independent chains in one call, and one after another."""
    cipher, ivs = fastcrypt.AES(KEY), [message(16)] * CHAINS
    ms = [message(CHAIN + 16 * i)[16 * i :] for i in range(CHAINS)]
    outs = [bytearray(CHAIN) for _ in ms]
    names = {"f": cipher.cbc_encrypt_many, "ivs": ivs, "ms": ms, "out": bytearray(CHAINS * CHAIN)}
    jobs = {"g": cipher.cbc_encrypt, "jobs": list(zip(ivs, ms, outs, strict=True)), "outs": outs}
    contenders = [
        Contender("fastcrypt", "f(ivs, ms, out=out)", names, "bytes(out)"),
        Contender("one by one", "[g(iv, m, out=o) for iv, m, o in jobs]", jobs, "b''.join(outs)"),
    ]
    return Case("cbc_encrypt_many", CHAINS * CHAIN, contenders)


def xts_case(size: int, turn: str) -> Case:
    """A data unit: the tweak is another for each, so cryptography makes a context."""
    names = {
        "f": getattr(fastcrypt.AESXTS(XTS_KEY), turn),
        "t": IV,
        "m": message(size),
        "out": bytearray(size),
    }
    ours = Contender("fastcrypt", "f(t, m, out=out)", names, "bytes(out)")
    return Case(f"xts_{turn}", size, [ours, *pyca_mode(size, "XTS", turn, XTS_KEY)])


def protocol_cases() -> Iterator[Case]:
    for size in KEPT_SIZES:
        for method, mode, turn in MODES:
            if method != "cbc_encrypt":
                yield kept_case(size, method, mode, turn)
        for turn in ("encrypt", "decrypt"):
            yield xts_case(size, turn)
    yield many_chains()


# ---- Questions of their own ----------------------------------------------------------------------


def key_kept() -> Case:
    """What a key object that is kept saves, at 16 bytes."""
    names = {"AESGCM": fastcrypt.AESGCM, "e": fastcrypt.AESGCM(KEY).encrypt, "k": KEY, "n": NONCE}
    names |= {"m": message(16)}
    kept = Contender("key kept", "e(n, m, None)", names)
    return Case("key object", 16, [kept, Contender("key new", "AESGCM(k).encrypt(n, m, None)", names)])


def looked_up() -> Case:
    """Whether a caller has to take the function out of the loop: fastcrypt.f(d) against f(d)."""
    names = {"fastcrypt": fastcrypt, "f": fastcrypt.sha256_digest, "d": bytes(32)}
    hoisted = Contender("hoisted", "f(d)", names)
    inside = Contender("looked up", "fastcrypt.sha256_digest(d)", names)
    attribute = Contender("attribute alone", "fastcrypt.sha256_digest", names)
    return Case("look-up", 32, [hoisted, inside, attribute], same_answers=False)


def call_floor() -> Case:
    """What of a short compare is the interpreter's: a call of two arguments that does nothing."""
    data = message(16)
    names = {"f": fastcrypt.compare_digest, "a": data, "b": bytes(bytearray(data)), "short": b"0"}
    names |= {"h": hmac.compare_digest, "nothing": operator.is_}
    contenders = [
        Contender("compare_digest", "f(a, b)", names),
        Contender("lengths differ", "f(a, short)", names),
        Contender("empty call", "nothing(a, b)", names),
        Contender("hmac", "h(a, b)", names),
        Contender("no call", "a", names),
    ]
    return Case("call floor", 16, contenders, same_answers=False)


def record() -> Case:
    """A TLS record of 19,456 bytes under a 128-bit key: what is bulk work, what is not."""
    key = KEY[:16]
    cipher = fastcrypt.AESGCM(key)
    names: dict[str, Any] = {"n": NONCE, "m": message(RECORD), "empty": b"", "into": cipher.encrypt_into}
    names |= {"e": cipher.encrypt, "AESGCM": fastcrypt.AESGCM, "k": key}
    names |= {"out": bytearray(RECORD + 16), "tag": bytearray(16)}
    contenders = [
        Contender("encrypt_into", "into(n, m, None, out)", names),
        Contender("encrypt", "e(n, m, None)", names),
        Contender("empty message", "into(n, empty, None, tag)", names),
        Contender("key set-up", "AESGCM(k)", names),
        Contender("one copy", "out[:19456] = m", names),
    ]
    if found := pyca():
        theirs = {"e": found.aead.AESGCM(key).encrypt, "n": NONCE, "m": message(RECORD)}
        contenders.append(Contender("cryptography's encrypt", "e(n, m, None)", theirs))
    return Case("19 KB record", RECORD, contenders, same_answers=False)


# ---- Records under one key -----------------------------------------------------------------------

#: How the records of a connection are encrypted: with the key object made once, or for each of them.
KEYS = {"kept": ("aead.{}", "AES-{}-GCM records"), "new": ("AESGCM(k).{}", "AES-{}-GCM records, new keys")}


def record_case(size: int, bits: int, keys: str) -> Case:
    """A record by encrypt and by encrypt_into, of fastcrypt and of cryptography."""
    method, operation = KEYS[keys]
    key = KEY[: bits // 8]
    contenders = []
    libraries: list[tuple[str, Any]] = [("fastcrypt", fastcrypt.AESGCM)]
    if found := pyca():
        libraries.append(("cryptography", found.aead.AESGCM))
    for library, AESGCM in libraries:
        names = {"AESGCM": AESGCM, "aead": AESGCM(key), "k": key, "n": NONCE, "m": message(size)}
        statement = method.format("encrypt(n, m, None)")
        contenders.append(Contender(library, statement, names))
        if hasattr(AESGCM, "encrypt_into"):
            statement = method.format("encrypt_into(n, m, None, out)")
            into = {**names, "out": bytearray(size + 16)}
            contenders.append(Contender(f"{library} into", statement, into, "bytes(out)"))
    return Case(operation.format(bits), size, contenders)


def record_cases() -> Iterator[Case]:
    for size in RECORD_SIZES:
        for bits in (128, 256):
            for keys in KEYS:
                yield record_case(size, bits, keys)


def many_cases() -> Iterator[Case]:
    """A thousand records of 64 bytes in one call, and in a loop of calls."""
    datas = [bytes([i % 256]) * 64 for i in range(1000)]
    names = {"ns": [i.to_bytes(12, "big") for i in range(1000)], "m": datas}
    ours = fastcrypt.AESGCM(KEY)
    sealed = ours.encrypt_many(names["ns"], datas)
    for operation, m in (("encrypt", datas), ("decrypt", sealed)):
        loop = "[f(n, d, None) for n, d in zip(ns, m)]"
        given = {"ns": names["ns"], "m": m}
        contenders = [
            Contender("fastcrypt", "f(ns, m)", {"f": getattr(ours, f"{operation}_many"), **given}),
            Contender("fastcrypt, a loop", loop, {"f": getattr(ours, operation), **given}),
        ]
        if found := pyca():
            theirs = found.aead.AESGCM(KEY)
            contenders.append(Contender("cryptography", loop, {"f": getattr(theirs, operation), **given}))
        yield Case(f"gcm_{operation}_many", 64, contenders)


def gcm_stream(size: int) -> Case:
    """A message in pieces: one piece into a buffer, on a stream that goes on."""
    data = {"m": message(size), "out": bytearray(size)}
    statement = "f(m, out)"
    ours = fastcrypt.AESGCM(KEY).encryptor(NONCE)
    contenders = [Contender("fastcrypt", statement, {"f": ours.update_into, **data})]
    if found := pyca():
        ciphers = found.ciphers
        theirs = ciphers.Cipher(ciphers.algorithms.AES(KEY), ciphers.modes.GCM(NONCE)).encryptor()
        contenders.append(Contender("cryptography", statement, {"f": theirs.update_into, **data}))
    return Case("gcm_stream_update_into", size, contenders, same_answers=False)


def all_cases() -> list[Case]:
    groups = (
        sha256_cases(),
        family_cases(),
        compare_cases(),
        mix_cases(),
        gcm_cases(),
        mode_cases(),
        siv_and_mac_cases(),
        protocol_cases(),
        many_cases(),
        [gcm_stream(KIB)],
    )
    return [case for group in groups for case in group] + [key_kept(), looked_up(), call_floor(), record()]
