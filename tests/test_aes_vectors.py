# SPDX-License-Identifier: Apache-2.0
"""AES against vectors of NIST, RFC 3686 and Project Wycheproof, on every suite row and the public API."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import vectors
from aes_suites import KEY_SIZES, PublicSuite, RowSuite, Suite, each_row, each_suite

import fastcrypt
from fastcrypt import AES, AESGCM, InvalidTag

# ---- ECB and CBC: CAVP ----------------------------------------------------------------------------

#: Cases per key of 128, 192 and 256 bits; encryption and decryption in every file: 2138 a mode.
CAVP = {
    "GFSbox": (14, 12, 10),
    "KeySbox": (42, 48, 32),
    "MMT": (20, 20, 20),
    "VarKey": (256, 384, 512),
    "VarTxt": (256, 256, 256),
}
FILES = [
    (f"{group}{8 * key_size}.rsp", count)
    for group, counts in CAVP.items()
    for key_size, count in zip(KEY_SIZES, counts, strict=True)
]


@functools.cache
def cavp(mode: str) -> list[tuple[str, bytes, bytes, bytes, bytes]]:
    """(section, key, iv, plaintext, ciphertext) of all files of a mode; MMT counts each direction apart."""
    cases = [
        case for name, count in FILES for case in vectors.nist(f"ciphers/AES/{mode}/{mode}{name}", count)
    ]
    assert len(cases) == 2138
    return [
        (
            case["section"],
            bytes.fromhex(case["KEY"]),
            bytes.fromhex(case.get("IV", "")),
            bytes.fromhex(case["PLAINTEXT"]),
            bytes.fromhex(case["CIPHERTEXT"]),
        )
        for case in cases
    ]


@each_suite
def test_cavp_ecb(suite: Suite) -> None:
    for _, key, _, plaintext, ciphertext in cavp("ECB"):
        assert suite.ecb_encrypt(key, plaintext) == ciphertext, (key, plaintext)
        assert suite.ecb_decrypt(key, ciphertext) == plaintext, (key, ciphertext)


@each_suite
def test_cavp_cbc(suite: Suite) -> None:
    for _, key, iv, plaintext, ciphertext in cavp("CBC"):
        assert suite.cbc_encrypt(key, iv, plaintext) == ciphertext, (key, iv, plaintext)
        assert suite.cbc_decrypt(key, iv, ciphertext) == plaintext, (key, iv, ciphertext)


# ---- CBC: Monte Carlo -----------------------------------------------------------------------------


def monte_carlo_step(run: Any, encrypts: bool, iv: bytes, data: bytes) -> tuple[bytes, bytes]:
    """The inner loop of AESAVS section 6.4.2: the last two results of 1000 operations, each of which
    works on the result before the last."""
    chain, before, last = iv, b"", iv
    for _ in range(1000):
        result = run(chain, data)
        chain = result if encrypts else data
        data, before, last = last, last, result
    return before, last


def one_block_operation(suite: Suite, key: bytes, encrypts: bool) -> Any:
    if isinstance(suite, PublicSuite):
        return AES(key).cbc_encrypt if encrypts else AES(key).cbc_decrypt
    return functools.partial(suite.cbc_encrypt if encrypts else suite.cbc_decrypt, key)


def xor(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("bits", [128, 192, 256])
@each_suite
def test_cbc_monte_carlo(suite: Suite, bits: int) -> None:
    """100 keys in each direction; the next case of the file follows from the last results."""
    cases = vectors.pycryptodome(f"Cipher/AES/CBCMCT{bits}.rsp", 200)
    for case, following in zip(cases, [*cases[1:], {}], strict=True):
        encrypts = case["section"] == "ENCRYPT"
        source, target = ("PLAINTEXT", "CIPHERTEXT") if encrypts else ("CIPHERTEXT", "PLAINTEXT")
        key, iv, data = (bytes.fromhex(case[name]) for name in ("KEY", "IV", source))
        before, last = monte_carlo_step(one_block_operation(suite, key, encrypts), encrypts, iv, data)
        assert last.hex() == case[target], case
        if following.get("section") == case["section"]:
            next_key = xor(key, (before + last)[-len(key) :])
            expected = [following[name] for name in ("KEY", "IV", source)]
            assert [next_key.hex(), last.hex(), before.hex()] == expected


# ---- CTR: RFC 3686 --------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [128, 192, 256])
@each_suite
def test_ctr_rfc_3686(suite: Suite, bits: int) -> None:
    for case in vectors.nist(f"ciphers/AES/CTR/aes-{bits}-ctr.txt", 3):
        key, iv = bytes.fromhex(case["KEY"]), bytes.fromhex(case["IV"])
        plaintext, ciphertext = bytes.fromhex(case["PLAINTEXT"]), bytes.fromhex(case["CIPHERTEXT"])
        assert suite.ctr(key, iv, plaintext) == ciphertext
        assert suite.ctr(key, iv, ciphertext) == plaintext


# ---- GCM: CAVP ------------------------------------------------------------------------------------

GcmCase = tuple[bytes, bytes, bytes, bytes, bytes, bytes | None]


@functools.cache
def gcm_cases(name: str) -> list[GcmCase]:
    """(key, nonce, aad, ciphertext, tag, plaintext); the plaintext is None if the tag is wrong."""
    cases = vectors.nist(f"ciphers/AES/GCM/{name}.rsp", 7875)
    return [
        (
            bytes.fromhex(case["Key"]),
            bytes.fromhex(case["IV"]),
            bytes.fromhex(case["AAD"]),
            bytes.fromhex(case["CT"]),
            bytes.fromhex(case["Tag"]),
            None if "FAIL" in case else bytes.fromhex(case["PT"]),
        )
        for case in cases
    ]


GCM_ENCRYPT = [f"gcmEncryptExtIV{bits}" for bits in (128, 192, 256)]
#: The files of decryption, and how many cases must fail.
GCM_DECRYPT = {"gcmDecrypt128": 4011, "gcmDecrypt192": 3978, "gcmDecrypt256": 3919}


@pytest.mark.parametrize("name", GCM_ENCRYPT)
@each_row
def test_cavp_gcm_encrypt_on_every_row(suite: RowSuite, name: str) -> None:
    for key, nonce, aad, ciphertext, tag, plaintext in gcm_cases(name):
        assert plaintext is not None
        sealed, full_tag = suite.seal(key, nonce, aad, plaintext)
        assert sealed == ciphertext, (key, nonce)
        assert full_tag[: len(tag)] == tag, (key, nonce)


@pytest.mark.parametrize(("name", "failures"), GCM_DECRYPT.items())
@each_row
def test_cavp_gcm_decrypt_on_every_row(suite: RowSuite, name: str, failures: int) -> None:
    failed = 0
    for key, nonce, aad, ciphertext, tag, plaintext in gcm_cases(name):
        opened, full_tag = suite.open(key, nonce, aad, ciphertext)
        good = full_tag[: len(tag)] == tag
        assert good == (plaintext is not None), (key, nonce)
        assert plaintext is None or opened == plaintext, (key, nonce)
        failed += not good
    assert failed == failures


def short_nonce_is_refused(aead: AESGCM, nonce: bytes) -> bool:
    if len(nonce) >= 8:
        return False
    with pytest.raises(ValueError, match="Nonce must be between 8 and 128 bytes"):
        aead.encrypt(nonce, b"", None)
    return True


@pytest.mark.parametrize("name", GCM_ENCRYPT)
def test_cavp_gcm_encrypt(name: str) -> None:
    refused = 0
    for key, nonce, aad, ciphertext, tag, plaintext in gcm_cases(name):
        assert plaintext is not None
        aead = AESGCM(key, tag_length=len(tag), allow_short_tag=True)
        if short_nonce_is_refused(aead, nonce):
            refused += 1
            continue
        assert aead.encrypt(nonce, plaintext, aad) == ciphertext + tag, (key, nonce)
        if len(tag) == 16:
            function = fastcrypt.aes_encrypt(key, plaintext, mode="gcm", iv=nonce, aad=aad)
            assert function == ciphertext + tag
    assert refused == 2625


@pytest.mark.parametrize(("name", "failures"), GCM_DECRYPT.items())
def test_cavp_gcm_decrypt(name: str, failures: int) -> None:
    refused = failed = 0
    for key, nonce, aad, ciphertext, tag, plaintext in gcm_cases(name):
        aead = AESGCM(key, tag_length=len(tag), allow_short_tag=True)
        if short_nonce_is_refused(aead, nonce):
            refused += 1
            failed += plaintext is None
        elif plaintext is None:
            failed += 1
            with pytest.raises(InvalidTag):
                aead.decrypt(nonce, ciphertext + tag, aad)
        else:
            assert aead.decrypt(nonce, ciphertext + tag, aad) == plaintext, (key, nonce)
            assert aead.decrypt_detached(nonce, ciphertext, tag, aad) == plaintext
    assert (refused, failed) == (2625, failures)


# ---- Wycheproof -----------------------------------------------------------------------------------


def fields(test: dict[str, Any], *names: str) -> list[bytes]:
    return [bytes.fromhex(test[name]) for name in names]


@each_row
def test_wycheproof_gcm_on_every_row(suite: RowSuite) -> None:
    for group, test in vectors.wycheproof("aes_gcm_test.json", 316):
        key, nonce, aad, plaintext, ciphertext, tag = fields(test, "key", "iv", "aad", "msg", "ct", "tag")
        assert group["tagSize"] == 128
        if not nonce:
            assert test["result"] == "invalid"
            continue
        opened, full_tag = suite.open(key, nonce, aad, ciphertext)
        assert (full_tag == tag) == (test["result"] == "valid"), test
        if test["result"] == "valid":
            assert opened == plaintext
            assert suite.seal(key, nonce, aad, plaintext) == (ciphertext, tag), test


def open_or_none(key: bytes, nonce: bytes, aad: bytes, sealed: bytes) -> bytes | None:
    """The plaintext, or None for what must be refused, the same for the class and the function."""
    try:
        plaintext = AESGCM(key).decrypt(nonce, sealed, aad)
    except (InvalidTag, ValueError) as error:
        with pytest.raises(type(error)):
            fastcrypt.aes_decrypt(key, sealed, mode="gcm", iv=nonce, aad=aad)
        return None
    assert fastcrypt.aes_decrypt(key, sealed, mode="gcm", iv=nonce, aad=aad) == plaintext
    return plaintext


def test_wycheproof_gcm() -> None:
    """All valid cases pass and all invalid ones raise; nonces beyond 8 to 128 bytes are refused."""
    passed = refused = 0
    for _, test in vectors.wycheproof("aes_gcm_test.json", 316):
        key, nonce, aad, plaintext, ciphertext, tag = fields(test, "key", "iv", "aad", "msg", "ct", "tag")
        opened = open_or_none(key, nonce, aad, ciphertext + tag)
        if test["result"] == "invalid":
            assert opened is None, test
        elif 8 <= len(nonce) <= 128:
            assert opened == plaintext, test
            assert AESGCM(key).encrypt(nonce, plaintext, aad) == ciphertext + tag
            passed += 1
        else:
            assert opened is None
            refused += 1
    assert (passed, refused) == (202, 27)


def test_wycheproof_gmac() -> None:
    """GMAC is GCM without a message."""
    for group, test in vectors.wycheproof("aes_gmac_test.json", 414):
        key, nonce, aad, tag = fields(test, "key", "iv", "msg", "tag")
        assert group["tagSize"] == 128
        good = open_or_none(key, nonce, aad, tag) == b""
        if test["result"] == "invalid" or 8 <= len(nonce) <= 128:
            assert good == (test["result"] == "valid"), test


def test_wycheproof_cbc_pkcs5() -> None:
    """72 valid cases, and 144 with wrong padding, which all get one ValueError text."""
    texts = set()
    for _, test in vectors.wycheproof("aes_cbc_pkcs5_test.json", 216):
        key, iv, plaintext, ciphertext = fields(test, "key", "iv", "msg", "ct")
        if test["result"] == "valid":
            assert AES(key).cbc_encrypt(iv, plaintext, padding="pkcs7") == ciphertext, test
            assert AES(key).cbc_decrypt(iv, ciphertext, padding="pkcs7") == plaintext, test
            continue
        with pytest.raises(ValueError) as error:  # noqa: PT011
            AES(key).cbc_decrypt(iv, ciphertext, padding="pkcs7")
        if ciphertext and len(ciphertext) % 16 == 0:
            texts.add(str(error.value))
    assert texts == {"Invalid padding bytes."}


@each_row
def test_wycheproof_cbc_pkcs5_on_every_row(suite: RowSuite) -> None:
    """The kernels see whole blocks: pad here, and look at the padding of what they decrypt."""
    for _, test in vectors.wycheproof("aes_cbc_pkcs5_test.json", 216):
        key, iv, plaintext, ciphertext = fields(test, "key", "iv", "msg", "ct")
        if test["result"] == "valid":
            pad = 16 - len(plaintext) % 16
            padded = plaintext + bytes([pad]) * pad
            assert suite.cbc_encrypt(key, iv, padded) == ciphertext, test
            assert suite.cbc_decrypt(key, iv, ciphertext) == padded, test
