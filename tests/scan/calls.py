# SPDX-License-Identifier: Apache-2.0
"""Calls of every public function and method, those that raise included, for checks that repeat them."""

from __future__ import annotations

import array
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import fastcrypt
from fastcrypt import (
    AES,
    AESGCM,
    AESGCMSIV,
    AESXTS,
    InvalidTag,
    InvalidUnwrap,
    RecordCipher,
    _core,
    aes_decrypt,
    aes_encrypt,
    sha256,
)


class Call(NamedTuple):
    run: Callable[[], Any]
    error: type[Exception] | None = None


class Unhelpful:
    """Raises wherever it is asked for a value."""

    def __index__(self) -> int:
        raise ZeroDivisionError

    def __bool__(self) -> bool:
        raise ZeroDivisionError


KEY, IV, NONCE, AAD = bytes(range(32)), bytes(range(16)), bytes(range(12)), bytes(range(20))
DATA = bytes(i * 7 & 0xFF for i in range(96))
OTHER = DATA[:-1] + b"\0"
LONG = bytes(32768)
AREA = bytearray(112)
WRONG: Any = "no buffer"
UNHELPFUL: Any = Unhelpful()
STRIDED: Any = memoryview(bytearray(192))[::2]
READ_ONLY: Any = bytes(96)


def hashes() -> dict[str, Call]:
    h = sha256(DATA)
    fixed = sha256(DATA[:70])
    anything: Any = sha256
    return {
        "sha256": Call(lambda: anything(bytearray(DATA)).digest()),
        "sha256 string=": Call(lambda: anything(string=DATA, usedforsecurity=False).digest()),
        "sha256 of str": Call(lambda: anything(WRONG), TypeError),
        "sha256 of two": Call(lambda: anything(DATA, string=DATA), TypeError),
        "sha256 strided": Call(lambda: anything(STRIDED), BufferError),
        "sha256 __new__": Call(lambda: sha256.__new__(sha256, DATA).digest()),
        "sha256.update": Call(lambda: h.update(memoryview(DATA))),
        "sha256.update long": Call(lambda: h.update(LONG)),
        "sha256.update new lock": Call(lambda: sha256().update(LONG)),
        "sha256.update of str": Call(lambda: h.update(WRONG), TypeError),
        "sha256.digest": Call(fixed.digest),
        "sha256.hexdigest": Call(fixed.hexdigest),
        "sha256.copy": Call(lambda: fixed.copy().digest()),
        "sha256 attributes": Call(lambda: (fixed.name, fixed.digest_size, fixed.block_size)),
        "sha256 repr": Call(lambda: len(repr(fixed)) > 0),
        "sha256 pickle": Call(lambda: fixed.__reduce_ex__(2), TypeError),
        "sha256_digest": Call(lambda: fastcrypt.sha256_digest(DATA)),
        "sha256_digest of None": Call(lambda: fastcrypt.sha256_digest(None), TypeError),  # type: ignore[arg-type]
        "sha256_hexdigest": Call(lambda: fastcrypt.sha256_hexdigest(bytearray(DATA))),
        "sha256_hexdigest of str": Call(lambda: fastcrypt.sha256_hexdigest(WRONG), TypeError),
        "new": Call(lambda: fastcrypt.new("sha-512/224", bytearray(DATA)).digest()),
        "new name=": Call(lambda: fastcrypt.new(name="sha1", data=DATA, usedforsecurity=False).digest()),
        "new of no name": Call(lambda: fastcrypt.new(5, DATA), TypeError),  # type: ignore[arg-type]
        "new of another name": Call(lambda: fastcrypt.new("md5", DATA), ValueError),
        "new of str": Call(lambda: fastcrypt.new("sha512", WRONG), TypeError),
        **family(),
    }


def macs() -> dict[str, Call]:
    key = fastcrypt.HMACKey(KEY, "sha256")
    state = key.new()
    tag = key.digest(DATA)
    blob = sha256(DATA).export_state()
    anything: Any = fastcrypt
    return {
        "HMACKey": Call(lambda: fastcrypt.HMACKey(bytearray(KEY), "sha512").name),
        "HMACKey of str": Call(lambda: fastcrypt.HMACKey(WRONG, "sha512"), TypeError),
        "HMACKey of no hash": Call(lambda: fastcrypt.HMACKey(KEY, "md5"), ValueError),
        "HMACKey.digest": Call(lambda: key.digest(memoryview(DATA))),
        "HMACKey.digest of str": Call(lambda: key.digest(WRONG), TypeError),
        "HMACKey.hexdigest": Call(lambda: key.hexdigest(DATA)),
        "HMACKey.verify": Call(lambda: key.verify(DATA, tag)),
        "HMACKey.verify of str": Call(lambda: key.verify(DATA, WRONG), TypeError),
        "HMACKey.digest_many": Call(lambda: key.digest_many([DATA, OTHER])),
        "HMACKey.digest_many of str": Call(lambda: key.digest_many([DATA, WRONG]), TypeError),
        "HMACKey.verify_many": Call(lambda: key.verify_many([DATA, OTHER], [tag, tag])),
        "HMACKey.verify_many of few": Call(lambda: key.verify_many([DATA, OTHER], [tag]), ValueError),
        "HMACKey attributes": Call(lambda: (key.name, key.digest_size, key.block_size, repr(key))),
        "HMACKey.new": Call(lambda: key.new().digest()),
        "HMACState.update": Call(lambda: state.update(DATA)),
        "HMACState.update of str": Call(lambda: state.update(WRONG), TypeError),
        "HMACState.copy": Call(lambda: len(state.copy().hexdigest())),
        "hmac_digest": Call(lambda: fastcrypt.hmac_digest(KEY, DATA, "sha1")),
        "hmac_digest of str": Call(lambda: fastcrypt.hmac_digest(KEY, WRONG, "sha1"), TypeError),
        "pbkdf2_hmac": Call(lambda: fastcrypt.pbkdf2_hmac("sha256", KEY, IV, 2, 50)),
        "pbkdf2_hmac of none": Call(lambda: fastcrypt.pbkdf2_hmac("sha256", KEY, IV, 0), ValueError),
        "hkdf": Call(lambda: fastcrypt.hkdf(KEY, 50, salt=IV, info=AAD)),
        "hkdf of too many": Call(lambda: fastcrypt.hkdf(KEY, 9000), ValueError),
        "hkdf unhelpful": Call(lambda: fastcrypt.hkdf(KEY, UNHELPFUL), ZeroDivisionError),
        "hkdf_extract": Call(lambda: fastcrypt.hkdf_extract(IV, KEY, "sha512")),
        "hkdf_expand": Call(lambda: fastcrypt.hkdf_expand(KEY, AAD, 50, "sha512")),
        "hkdf_expand_label": Call(lambda: fastcrypt.hkdf_expand_label(KEY, b"key", b"", 16, "sha256")),
        "hkdf_expand_label of none": Call(
            lambda: fastcrypt.hkdf_expand_label(KEY, b"", b"", 16, "sha256"), ValueError
        ),
        "digest_parts": Call(lambda: fastcrypt.digest_parts([DATA, AREA, DATA], "sha256")),
        "digest_parts of str": Call(lambda: fastcrypt.digest_parts([DATA, WRONG], "sha256"), TypeError),
        "digest_parts of bytes": Call(lambda: anything.digest_parts(DATA, "sha256"), TypeError),
        "sha256.export_state": Call(lambda: sha256.from_state(blob).export_state()),
        "sha256.from_state of garbage": Call(lambda: sha256.from_state(blob[:-1]), ValueError),
    }


def family() -> dict[str, Call]:
    """The hashes beside SHA-256: one template, so the rarer paths are its alone."""
    found: dict[str, Call] = {}
    for name in ("sha1", "sha224", "sha384", "sha512", "sha512_224", "sha512_256"):
        new: Any = getattr(fastcrypt, name)
        found[name] = Call(partial(lambda new: new(DATA).copy().digest(), new))
        found[f"{name} of str"] = Call(partial(new, WRONG), TypeError)
        found[f"{name}.update long"] = Call(partial(new().update, LONG))
        fixed = new(DATA)
        for method in ("digest", "hexdigest"):
            found[f"{name}.{method}"] = Call(getattr(fixed, method))
        found[f"{name}.copy"] = Call(partial(lambda h: h.copy().digest(), fixed))
        state = fixed.export_state()
        found[f"{name}.export_state"] = Call(fixed.export_state)
        found[f"{name}.from_state"] = Call(
            partial(lambda new, state: new.from_state(state).digest(), new, state)
        )
        for one_shot in (f"{name}_digest", f"{name}_hexdigest"):
            found[one_shot] = Call(partial(getattr(fastcrypt, one_shot), bytearray(DATA)))
    return found


def raising() -> Iterator[bytes]:
    yield DATA
    yield OTHER
    raise ZeroDivisionError


def many() -> dict[str, Call]:
    anything: Any = fastcrypt
    items = [DATA[:n] for n in (0, 1, 55, 64, 96)] * 8
    mixed: list[Any] = [DATA, bytearray(OTHER), memoryview(DATA)]
    offsets = array.array("q", [0, 5, 5, 96])
    area = bytearray(DATA)
    found = {
        "sha256_many": Call(lambda: fastcrypt.sha256_many(items)),
        "sha256_many threads": Call(lambda: fastcrypt.sha256_many([LONG] * 5, threads=2)),
        "sha256_many out": Call(lambda: fastcrypt.sha256_many(iter(mixed), out=area)),
        "sha256_many of bytes": Call(lambda: anything.sha256_many(DATA), TypeError),
        "sha256_many of numbers": Call(lambda: anything.sha256_many([*mixed, 1]), TypeError),
        "sha256_many strided": Call(lambda: fastcrypt.sha256_many([*mixed, STRIDED]), BufferError),
        "sha256_many raising": Call(lambda: fastcrypt.sha256_many(raising()), ZeroDivisionError),
        "sha256_many small out": Call(
            lambda: fastcrypt.sha256_many(iter(mixed), out=memoryview(area)[:64]), ValueError
        ),
        "sha256_many over an item": Call(lambda: fastcrypt.sha256_many([area], out=part), ValueError),
        "sha256_many bad threads": Call(lambda: fastcrypt.sha256_many([], threads=0), ValueError),
        "sha256_rows": Call(lambda: fastcrypt.sha256_rows(DATA, 32)),
        "sha256_rows in place": Call(lambda: fastcrypt.sha256_rows(area, 32, out=area)),
        "sha256_rows bad size": Call(lambda: fastcrypt.sha256_rows(DATA, 7), ValueError),
        "sha256_rows over data": Call(lambda: fastcrypt.sha256_rows(area, 96, out=part), ValueError),
        "sha256_ragged": Call(lambda: fastcrypt.sha256_ragged(bytearray(DATA), offsets)),
        "sha256_ragged bad offsets": Call(lambda: fastcrypt.sha256_ragged(DATA[:9], offsets), ValueError),
        "sha256_ragged of bytes": Call(lambda: fastcrypt.sha256_ragged(DATA, b"12345678"), TypeError),
        "merkle_root": Call(lambda: fastcrypt.merkle_root(items)),
        "merkle_root plain": Call(lambda: fastcrypt.merkle_root(iter(items), scheme="plain")),
        "merkle_root long": Call(lambda: fastcrypt.merkle_root([LONG, DATA])),
        "merkle_root of nodes": Call(lambda: fastcrypt.merkle_root([DATA[:32]] * 7, hash_leaves=False)),
        "merkle_root no node": Call(lambda: fastcrypt.merkle_root([DATA], hash_leaves=False), ValueError),
        "merkle_root empty": Call(lambda: fastcrypt.merkle_root([], scheme="plain"), ValueError),
        "merkle_root raising": Call(lambda: fastcrypt.merkle_root(raising()), ZeroDivisionError),
        "merkle_root bad scheme": Call(lambda: anything.merkle_root([], scheme="x"), ValueError),
    }
    part = memoryview(area)[64:]
    return found


def compares() -> dict[str, Call]:
    pair: Any = (memoryview(DATA), bytearray(OTHER))
    found = {}
    for name in ("compare_digest", "timingsafe_equal", "timingsafe_bcmp", "timingsafe_memcmp"):
        f: Any = getattr(fastcrypt, name)
        found[name] = Call(partial(f, DATA, OTHER))
        found[name + " buffers"] = Call(partial(f, *pair))
        found[name + " unequal sizes"] = Call(partial(f, DATA, b""))
        found[name + " of None"] = Call(partial(f, bytearray(3), None), TypeError)
        found[name + " of one"] = Call(partial(f, DATA), TypeError)
    text: Any = ("ab\xe9", "ab\u1234")
    found["compare_digest of str"] = Call(lambda: fastcrypt.compare_digest("abc", "abd"))
    found["compare_digest not ASCII"] = Call(lambda: fastcrypt.compare_digest(*text), TypeError)
    found["timingsafe_equal of str"] = Call(lambda: fastcrypt.timingsafe_equal(*text))
    return found


def blocks() -> dict[str, Call]:
    cipher: Any = AES(KEY)
    anything: Any = AES
    padded = cipher.cbc_encrypt(IV, DATA, padding="pkcs7")
    return {
        "AES": Call(lambda: AES(KEY).key_size),
        "AES bytearray": Call(lambda: AES(bytearray(16)).block_size),
        "AES bad key": Call(lambda: AES(bytearray(17)), ValueError),
        "AES no buffer": Call(lambda: anything(WRONG), TypeError),
        "AES no argument": Call(anything, TypeError),
        "AES repr": Call(lambda: repr(cipher)),
        "AES pickle": Call(lambda: cipher.__reduce_ex__(2), TypeError),
        "AES.ecb_encrypt": Call(lambda: cipher.ecb_encrypt(DATA)),
        "AES.ecb_encrypt out": Call(lambda: cipher.ecb_encrypt(DATA, out=memoryview(AREA)[:96])),
        "AES.ecb_encrypt bad size": Call(lambda: cipher.ecb_encrypt(bytearray(15)), ValueError),
        "AES.ecb_decrypt": Call(lambda: cipher.ecb_decrypt(bytearray(DATA))),
        "AES.ecb_decrypt bad name": Call(lambda: cipher.ecb_decrypt(DATA, outs=AREA), TypeError),
        "AES.cbc_encrypt": Call(lambda: cipher.cbc_encrypt(IV, DATA, padding="pkcs7")),
        "AES.cbc_encrypt bad padding": Call(lambda: cipher.cbc_encrypt(IV, DATA, padding="x"), ValueError),
        "AES.cbc_encrypt padding 1": Call(lambda: cipher.cbc_encrypt(IV, DATA, padding=1), TypeError),
        "AES.cbc_decrypt": Call(lambda: cipher.cbc_decrypt(IV, padded, padding="pkcs7")),
        "AES.cbc_decrypt wrong": Call(lambda: cipher.cbc_decrypt(IV, DATA, padding="pkcs7"), ValueError),
        "AES.cbc_decrypt bad iv": Call(lambda: cipher.cbc_decrypt(bytearray(7), DATA), ValueError),
        "AES.ctr": Call(lambda: cipher.ctr(IV, DATA, offset=2**40)),
        "AES.ctr long": Call(lambda: cipher.ctr(IV, LONG)),
        "AES.ctr bad offset": Call(lambda: cipher.ctr(IV, DATA, offset=-1), ValueError),
        "AES.ctr unhelpful offset": Call(lambda: cipher.ctr(IV, DATA, offset=UNHELPFUL), ZeroDivisionError),
        "AES.ctr strided out": Call(lambda: cipher.ctr(IV, DATA, out=STRIDED), BufferError),
        "AES.ctr read-only out": Call(lambda: cipher.ctr(IV, DATA, out=READ_ONLY), TypeError),
        "AES.ctr small out": Call(lambda: cipher.ctr(IV, DATA, out=AREA), ValueError),
    }


def block_streams() -> dict[str, Call]:
    cipher: Any = AES(KEY)
    ended, open_ended = cipher.cbc_encryptor(IV), cipher.ctr_encryptor(IV)
    ended.finalize()

    def in_pieces(stream: Any) -> bytes:
        return bytes(stream.update(DATA[:7]) + stream.update(bytearray(DATA[7:])) + stream.finalize())

    return {
        "AES.cbc_encryptor": Call(lambda: in_pieces(cipher.cbc_encryptor(IV, "pkcs7"))),
        "AES.cbc_encryptor bad iv": Call(lambda: cipher.cbc_encryptor(bytearray(7)), ValueError),
        "AES.cbc_encryptor ended": Call(lambda: ended.update(bytearray(3)), ValueError),
        "AES.cbc_encryptor finalize again": Call(ended.finalize, ValueError),
        "AES.cbc_decryptor": Call(lambda: in_pieces(cipher.cbc_decryptor(IV))),
        "AES.cbc_decryptor wrong": Call(lambda: in_pieces(cipher.cbc_decryptor(IV, "pkcs7")), ValueError),
        "AES.ctr_encryptor": Call(lambda: in_pieces(cipher.ctr_encryptor(IV))),
        "AES.ctr_encryptor long": Call(lambda: cipher.ctr_encryptor(IV).update(LONG)),
        "AES.ctr_encryptor update_into": Call(lambda: open_ended.update_into(AREA, AREA)),
        "AES.ctr_encryptor small": Call(lambda: open_ended.update_into(DATA, bytearray(3)), ValueError),
        "AES.ctr_encryptor pickle": Call(lambda: open_ended.__reduce_ex__(2), TypeError),
        "AES.ctr_decryptor": Call(lambda: in_pieces(cipher.ctr_decryptor(IV))),
    }


def many_chains() -> dict[str, Call]:
    cipher: Any = AES(KEY)
    two, part = [DATA, bytearray(16)], memoryview(AREA)[:112]
    return {
        "AES.cbc_encrypt_many": Call(lambda: cipher.cbc_encrypt_many([IV, bytearray(IV)], two)),
        "AES.cbc_encrypt_many out": Call(lambda: cipher.cbc_encrypt_many(IV * 2, two, out=part)),
        "AES.cbc_encrypt_many long": Call(lambda: cipher.cbc_encrypt_many(IV, [LONG])),
        "AES.cbc_encrypt_many bad count": Call(lambda: cipher.cbc_encrypt_many([IV], two), ValueError),
        "AES.cbc_encrypt_many bad item": Call(lambda: cipher.cbc_encrypt_many(IV, [WRONG]), TypeError),
        "AES.cbc_encrypt_many small out": Call(
            lambda: cipher.cbc_encrypt_many(IV, [bytearray(DATA)], out=part), ValueError
        ),
    }


def storage() -> dict[str, Call]:
    xts: Any = AESXTS(KEY)
    part = memoryview(AREA)[:96]
    return {
        "AESXTS": Call(lambda: AESXTS(bytearray(KEY)).key_size),
        "AESXTS bad key": Call(lambda: AESXTS(bytearray(33)), ValueError),
        "AESXTS equal halves": Call(lambda: AESXTS(bytes(64)), ValueError),
        "AESXTS repr": Call(lambda: repr(xts)),
        "AESXTS pickle": Call(lambda: xts.__reduce_ex__(2), TypeError),
        "AESXTS.encrypt": Call(lambda: xts.encrypt(IV, bytearray(DATA[:77]))),
        "AESXTS.encrypt out": Call(lambda: xts.encrypt(IV, DATA, out=part)),
        "AESXTS.encrypt short": Call(lambda: xts.encrypt(IV, bytearray(15)), ValueError),
        "AESXTS.encrypt bad tweak": Call(lambda: xts.encrypt(bytearray(7), DATA), ValueError),
        "AESXTS.decrypt": Call(lambda: xts.decrypt(IV, DATA)),
        "AESXTS.decrypt long": Call(lambda: xts.decrypt(IV, LONG)),
        "AESXTS.decrypt small out": Call(lambda: xts.decrypt(IV, DATA, out=AREA), ValueError),
    }


def records() -> dict[str, Call]:
    aead: Any = AESGCM(KEY)
    anything: Any = AESGCM
    sealed = aead.encrypt(NONCE, DATA, AAD)
    part = memoryview(AREA)[:96]
    shifted = memoryview(AREA)[1:97]
    return {
        "AESGCM": Call(lambda: AESGCM(KEY, tag_length=13).tag_length),
        "AESGCM bad key": Call(lambda: AESGCM(b"short"), ValueError),
        "AESGCM bad tag_length": Call(lambda: AESGCM(KEY, tag_length=11), ValueError),
        "AESGCM unhelpful": Call(
            lambda: anything(KEY, tag_length=4, allow_short_tag=UNHELPFUL), ZeroDivisionError
        ),
        "AESGCM repr": Call(lambda: repr(aead)),
        "AESGCM pickle": Call(lambda: aead.__reduce_ex__(2), TypeError),
        "AESGCM.generate_key": Call(lambda: len(AESGCM.generate_key(256))),
        "AESGCM.generate_key bad": Call(lambda: AESGCM.generate_key(2**70), ValueError),
        "AESGCM.encrypt": Call(lambda: aead.encrypt(NONCE, DATA, AAD)),
        "AESGCM.encrypt bad nonce": Call(lambda: aead.encrypt(bytearray(7), DATA, AAD), ValueError),
        "AESGCM.encrypt bad aad": Call(lambda: aead.encrypt(NONCE, bytearray(9), WRONG), TypeError),
        "AESGCM.decrypt": Call(lambda: aead.decrypt(NONCE, sealed, AAD)),
        "AESGCM.decrypt forged": Call(lambda: aead.decrypt(NONCE, sealed, None), InvalidTag),
        "AESGCM.decrypt short": Call(lambda: aead.decrypt(NONCE, bytearray(3), None), InvalidTag),
        "AESGCM.encrypt_into": Call(lambda: aead.encrypt_into(NONCE, DATA, AAD, AREA)),
        "AESGCM.encrypt_into overlap": Call(lambda: aead.encrypt_into(NONCE, shifted, AAD, AREA), ValueError),
        "AESGCM.decrypt_into": Call(lambda: aead.decrypt_into(NONCE, sealed, AAD, part)),
        "AESGCM.decrypt_into forged": Call(lambda: aead.decrypt_into(NONCE, sealed, None, part), InvalidTag),
        "AESGCM.encrypt_detached": Call(lambda: aead.encrypt_detached(NONCE, DATA, AAD)),
        "AESGCM.decrypt_detached": Call(
            lambda: aead.decrypt_detached(NONCE, sealed[:-16], sealed[-16:], AAD)
        ),
        "AESGCM.decrypt_detached forged": Call(
            lambda: aead.decrypt_detached(NONCE, DATA, b"tag", AAD), InvalidTag
        ),
    }


def many_records() -> dict[str, Call]:
    aead: Any = AESGCM(KEY)
    nonces, packed = [NONCE] * 3, NONCE * 3
    sealed = aead.encrypt_many(nonces, [DATA, DATA[:5], b""], AAD)
    forged = [sealed[0], bytearray(21), sealed[2]]
    part = memoryview(AREA)[:101]
    sizes = {"record_size": 32, "out": bytearray(144)}
    return {
        "AESGCM.encrypt_many": Call(lambda: aead.encrypt_many(nonces, [DATA, bytearray(5), b""], AAD)),
        "AESGCM.encrypt_many packed": Call(lambda: aead.encrypt_many(packed, bytearray(DATA), **sizes)),
        "AESGCM.encrypt_many long": Call(lambda: aead.encrypt_many(packed[12:], LONG, record_size=20000)),
        "AESGCM.encrypt_many bad count": Call(lambda: aead.encrypt_many(nonces, [bytearray(3)]), ValueError),
        "AESGCM.encrypt_many bad item": Call(
            lambda: aead.encrypt_many(nonces, [bytearray(3), memoryview(DATA), WRONG]), TypeError
        ),
        "AESGCM.encrypt_many unhelpful": Call(
            lambda: aead.encrypt_many(nonces, bytearray(3), record_size=UNHELPFUL), ZeroDivisionError
        ),
        "AESGCM.encrypt_many small out": Call(
            lambda: aead.encrypt_many(nonces, sealed, out=part), ValueError
        ),
        "AESGCM.decrypt_many": Call(lambda: aead.decrypt_many(nonces, sealed, [bytearray(AAD)] * 3)),
        "AESGCM.decrypt_many out": Call(lambda: aead.decrypt_many(packed, sealed, AAD, out=part)),
        "AESGCM.decrypt_many forged": Call(lambda: aead.decrypt_many(nonces, forged, AAD), InvalidTag),
        "AESGCM.decrypt_many none": Call(lambda: aead.decrypt_many(nonces, forged, AAD, errors="none")),
        "AESGCM.decrypt_many none out": Call(
            lambda: aead.decrypt_many(nonces, forged, AAD, errors="none", out=part)
        ),
        "AESGCM.decrypt_many bad errors": Call(lambda: aead.decrypt_many([], [], errors="x"), ValueError),
    }


def record_ciphers() -> dict[str, Call]:
    cipher: Any = RecordCipher(KEY, NONCE)
    anything: Any = RecordCipher
    number, record = cipher.seal(DATA, AAD)
    return {
        "RecordCipher": Call(lambda: repr(RecordCipher(bytearray(KEY), NONCE))),
        "RecordCipher bad iv": Call(lambda: RecordCipher(KEY, bytearray(13)), ValueError),
        "RecordCipher no iv": Call(lambda: anything(KEY), TypeError),
        "RecordCipher pickle": Call(lambda: cipher.__reduce_ex__(2), TypeError),
        "RecordCipher.seal": Call(lambda: len(cipher.seal(DATA, bytearray(AAD))[1])),
        "RecordCipher.seal long": Call(lambda: len(cipher.seal(LONG)[1])),
        "RecordCipher.seal bad aad": Call(lambda: cipher.seal(bytearray(3), WRONG), TypeError),
        "RecordCipher.seal_into": Call(lambda: cipher.seal_into(DATA, AAD, AREA) > 0),
        "RecordCipher.seal_into small": Call(lambda: cipher.seal_into(DATA, AAD, bytearray(3)), ValueError),
        "RecordCipher.open": Call(lambda: cipher.open(number, memoryview(record), AAD)),
        "RecordCipher.open forged": Call(lambda: cipher.open(number + 1, record, AAD), InvalidTag),
        "RecordCipher.open bad seq": Call(lambda: cipher.open(2**64, record, AAD), ValueError),
        "RecordCipher.open unhelpful": Call(lambda: cipher.open(UNHELPFUL, record), ZeroDivisionError),
    }


def streams() -> dict[str, Call]:
    aead: Any = AESGCM(KEY)
    text, tag = aead.encrypt_detached(NONCE, DATA, AAD)
    ended, open_ended = aead.encryptor(NONCE), aead.encryptor(NONCE)
    ended.finalize()

    def encrypted() -> bytes:
        stream = aead.encryptor(NONCE, AAD)
        return bytes(stream.update(DATA[:7]) + stream.update(bytearray(DATA[7:])) + stream.finalize())

    def decrypted(tag: bytes) -> bytes:
        stream = aead.decryptor(NONCE, AAD)
        result = stream.update(text)
        stream.finalize(tag)
        return bytes(result)

    return {
        "AESGCM.encryptor": Call(encrypted),
        "AESGCM.encryptor long": Call(lambda: aead.encryptor(NONCE, LONG).update(LONG)),
        "AESGCM.encryptor bad nonce": Call(lambda: aead.encryptor(b""), ValueError),
        "AESGCM.encryptor.update_into": Call(lambda: open_ended.update_into(AREA, AREA)),
        "AESGCM.encryptor.update_into small": Call(
            lambda: open_ended.update_into(DATA, bytearray(3)), ValueError
        ),
        "AESGCM.encryptor.update ended": Call(lambda: ended.update(bytearray(3)), ValueError),
        "AESGCM.encryptor.finalize again": Call(ended.finalize, ValueError),
        "AESGCM.encryptor pickle": Call(lambda: open_ended.__reduce_ex__(2), TypeError),
        "AESGCM.decryptor": Call(lambda: decrypted(tag)),
        "AESGCM.decryptor forged": Call(lambda: decrypted(tag[:-1] + b"\0\0"), InvalidTag),
        "AESGCM.decryptor bad aad": Call(lambda: aead.decryptor(NONCE, WRONG), TypeError),
    }


def functions() -> dict[str, Call]:
    encrypt: Any = aes_encrypt
    decrypt: Any = aes_decrypt
    sealed = encrypt(KEY, DATA, mode="gcm", iv=NONCE)
    given: dict[str, dict[str, Any]] = {
        "ecb": {"padding": "pkcs7"},
        "cbc": {"iv": IV, "padding": "pkcs7"},
        "ctr": {"iv": bytearray(IV)},
        "gcm": {"iv": NONCE, "aad": bytearray(AAD)},
    }
    found = {
        f"aes_encrypt {mode}": Call(partial(encrypt, bytearray(KEY), DATA, mode=mode, **o))
        for mode, o in given.items()
    }
    both = {"mode": "cbc", "iv": IV}
    return found | {
        "aes_encrypt bad mode": Call(lambda: encrypt(KEY, DATA, mode="xyz"), ValueError),
        "aes_encrypt bad name": Call(lambda: encrypt(KEY, DATA, mode="ecb", tag=1), TypeError),
        "aes_encrypt over its key": Call(lambda: encrypt(part_key, DATA, out=AREA, **both), ValueError),
        "aes_decrypt": Call(lambda: decrypt(KEY, DATA, **both)),
        "aes_decrypt gcm": Call(lambda: decrypt(KEY, sealed, mode="gcm", iv=NONCE)),
        "aes_decrypt forged": Call(lambda: decrypt(KEY, DATA, mode="gcm", iv=NONCE), InvalidTag),
        "aes_decrypt bad padding": Call(lambda: decrypt(KEY, DATA, padding="pkcs7", **both), ValueError),
    }


part_key = memoryview(AREA)[:32]


def siv_records() -> dict[str, Call]:
    aead: Any = AESGCMSIV(KEY)
    anything: Any = AESGCMSIV
    sealed = aead.encrypt(NONCE, DATA, AAD)
    part, shifted = memoryview(AREA)[:96], memoryview(AREA)[1:97]
    return {
        "AESGCMSIV": Call(lambda: repr(AESGCMSIV(bytearray(KEY)))),
        "AESGCMSIV bad key": Call(lambda: AESGCMSIV(bytearray(24)), ValueError),
        "AESGCMSIV no buffer": Call(lambda: anything(WRONG), TypeError),
        "AESGCMSIV pickle": Call(lambda: aead.__reduce_ex__(2), TypeError),
        "AESGCMSIV.generate_key": Call(lambda: len(AESGCMSIV.generate_key(128))),
        "AESGCMSIV.generate_key bad": Call(lambda: AESGCMSIV.generate_key(192), ValueError),
        "AESGCMSIV.encrypt": Call(lambda: aead.encrypt(NONCE, DATA, AAD)),
        "AESGCMSIV.encrypt long": Call(lambda: aead.encrypt(NONCE, LONG, AAD)),
        "AESGCMSIV.encrypt bad nonce": Call(lambda: aead.encrypt(bytearray(16), DATA, AAD), ValueError),
        "AESGCMSIV.encrypt bad aad": Call(lambda: aead.encrypt(NONCE, bytearray(9), WRONG), TypeError),
        "AESGCMSIV.decrypt": Call(lambda: aead.decrypt(NONCE, bytearray(sealed), AAD)),
        "AESGCMSIV.decrypt forged": Call(lambda: aead.decrypt(NONCE, sealed, None), InvalidTag),
        "AESGCMSIV.decrypt short": Call(lambda: aead.decrypt(NONCE, bytearray(3), None), InvalidTag),
        "AESGCMSIV.encrypt_into": Call(lambda: aead.encrypt_into(NONCE, DATA, AAD, AREA)),
        "AESGCMSIV.encrypt_into overlap": Call(
            lambda: aead.encrypt_into(NONCE, shifted, AAD, AREA), ValueError
        ),
        "AESGCMSIV.decrypt_into": Call(lambda: aead.decrypt_into(NONCE, sealed, AAD, part)),
        "AESGCMSIV.decrypt_into forged": Call(
            lambda: aead.decrypt_into(NONCE, sealed, None, part), InvalidTag
        ),
    }


def macs_and_wraps() -> dict[str, Call]:
    mac: Any = fastcrypt.aes_cmac
    found = {
        "aes_cmac": Call(lambda: mac(KEY, bytearray(DATA))),
        "aes_cmac long": Call(lambda: mac(KEY, LONG)),
        "aes_cmac bad key": Call(lambda: mac(bytearray(7), DATA), ValueError),
        "aes_cmac of str": Call(lambda: mac(bytearray(KEY), WRONG), TypeError),
    }
    for suffix in ("", "_with_padding"):
        wrap: Any = getattr(fastcrypt, f"aes_key_wrap{suffix}")
        unwrap: Any = getattr(fastcrypt, f"aes_key_unwrap{suffix}")
        wrapped = wrap(KEY, DATA)
        found |= {
            f"aes_key_wrap{suffix}": Call(partial(wrap, bytearray(KEY), bytearray(DATA))),
            f"aes_key_wrap{suffix} of nothing": Call(partial(wrap, KEY, bytearray()), ValueError),
            f"aes_key_wrap{suffix} bad key": Call(partial(wrap, b"", bytearray(DATA)), ValueError),
            f"aes_key_unwrap{suffix}": Call(partial(unwrap, KEY, bytearray(wrapped))),
            f"aes_key_unwrap{suffix} forged": Call(partial(unwrap, KEY, DATA), InvalidUnwrap),
            f"aes_key_unwrap{suffix} short": Call(partial(unwrap, KEY, bytearray(9)), InvalidUnwrap),
            f"aes_key_unwrap{suffix} of str": Call(partial(unwrap, bytearray(KEY), WRONG), TypeError),
        }
    return found


def facts() -> dict[str, Call]:
    """Cold functions, which go through pybind11."""
    inner: Any = _core
    return {
        "cpu_features": Call(fastcrypt.cpu_features),
        "kernels": Call(fastcrypt.kernels),
        "build_info": Call(fastcrypt.build_info),
        "self_test": Call(fastcrypt.self_test),
        "InvalidTag": Call(lambda: InvalidTag("x").index),
        "InvalidUnwrap": Call(lambda: str(InvalidUnwrap("x"))),
        "rows": Call(inner.rows),
        "resolve": Call(lambda: inner.resolve(["sse2"])),
        "resolve unknown": Call(lambda: inner.resolve(["no feature"]), ValueError),
        "narrow": Call(lambda: inner.narrow(["sse2"], "scalar")),
        "narrow unknown": Call(lambda: inner.narrow([], "no level"), ValueError),
        "call_kernel": Call(lambda: inner.call_kernel("timingsafe_bcmp", "portable", DATA, OTHER)),
        "call_kernel no buffer": Call(
            lambda: inner.call_kernel("timingsafe_bcmp", "portable", DATA, WRONG), TypeError
        ),
        "call_kernel unknown": Call(lambda: inner.call_kernel("no op", "portable"), ValueError),
    }


def hot_calls() -> dict[str, Call]:
    blocks_of_aes = blocks() | block_streams() | many_chains() | storage()
    messages = records() | many_records() | record_ciphers() | streams() | siv_records() | macs_and_wraps()
    return hashes() | many() | macs() | compares() | blocks_of_aes | messages | functions()


def in_python() -> dict[str, Call]:
    """Functions in Python, which CPython itself may not survive without memory."""
    return {
        "sha256_file": Call(lambda: fastcrypt.sha256_file(__file__, length=100)),
        "sha256_file of none": Call(lambda: fastcrypt.sha256_file("/nonexistent"), FileNotFoundError),
        "get_include": Call(fastcrypt.get_include),
    }


def in_c() -> dict[str, Call]:
    return hot_calls() | facts()


def all_calls() -> dict[str, Call]:
    return in_c() | in_python()


def not_covered() -> list[str]:
    """Public functions, and methods of public types, of which there is no call."""
    names = [name for name in fastcrypt.__all__ if not name.startswith("__")]
    for name in list(names):
        kind = getattr(fastcrypt, name)
        if isinstance(kind, type) and not issubclass(kind, Exception):
            names += [f"{name}.{m}" for m, v in vars(kind).items() if m[0] != "_" and callable(v)]
    covered = {name.split()[0] for name in all_calls()}
    return [name for name in names if name not in covered]
