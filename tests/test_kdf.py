# SPDX-License-Identifier: Apache-2.0
"""PBKDF2 (rows KD-1 to KD-3), HKDF and TLS 1.3's expand-label: vectors of the RFCs and of Wycheproof."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from typing import Any

import pytest
import vectors

import fastcrypt.hashlib
from fastcrypt import hkdf, hkdf_expand, hkdf_expand_label, hkdf_extract, pbkdf2_hmac

HASHES = ["sha1", "sha224", "sha256", "sha384", "sha512", "sha512_224", "sha512_256"]
H = bytes.fromhex

# ---- PBKDF2 ---------------------------------------------------------------------------------------


def test_pbkdf2_rfc_6070() -> None:
    cases = vectors.nist("KDF/rfc-6070-PBKDF2-SHA1.txt", 6)
    for case in cases:
        password, salt = (case[key].replace("\\0", "\0").encode() for key in ("PASSWORD", "SALT"))
        iterations, length = int(case["ITERATIONS"]), int(case["LENGTH"])
        if iterations < 100_000:
            assert pbkdf2_hmac("sha1", password, salt, iterations, length).hex() == case["DERIVED_KEY"]


@pytest.mark.parametrize(("name", "count"), [("sha1", 64), ("sha256", 60), ("sha512", 58)])
def test_pbkdf2_wycheproof(name: str, count: int) -> None:
    for _, test in vectors.wycheproof(f"pbkdf2_hmac{name}_test.json", count):
        iterations, size = test["iterationCount"], test["dkLen"]
        if iterations > 20_000 or (size > 4096 and iterations > 10):
            continue
        key = pbkdf2_hmac(name, H(test["password"]), H(test["salt"]), iterations, size)
        assert (key.hex() == test["dk"]) == (test["result"] == "valid"), test["tcId"]


@pytest.mark.parametrize("name", HASHES)
def test_pbkdf2_as_hashlib(name: str) -> None:
    for size in (None, 1, 19, 20, 21, 28, 32, 33, 48, 64, 65, 128, 200, 500):
        for iterations in (1, 2, 3, 17):
            for password, salt in ((b"", b""), (b"p" * 64, b"s" * 51), (b"q" * 129, b"t" * 300)):
                expected = hashlib.pbkdf2_hmac(name, password, salt, iterations, size)
                assert pbkdf2_hmac(name, password, salt, iterations, size) == expected


def outcome(function: Any, *args: Any, **kwargs: Any) -> Any:
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        pytest.param((b"sha256", b"p", b"s", 1), {}, id="KD-1-bytes-name"),
        pytest.param(
            (), {"hash_name": "sha1", "password": b"p", "salt": b"s", "iterations": 2}, id="KD-1-names"
        ),
        pytest.param(("md5", b"p", b"s", 5), {}, id="KD-1-theirs"),
        pytest.param(("spam", b"p", b"s", 5), {}, id="KD-1-unknown"),
        pytest.param(("sha256", "p", b"s", 1), {}, id="KD-2-str-password"),
        pytest.param(("sha256", b"p", "s", 1), {}, id="KD-2-str-salt"),
        pytest.param(("sha256", b"p", b"s", 1.5), {}, id="KD-2-float"),
        pytest.param(("sha256", b"p", b"s", 0), {}, id="KD-3-no-iteration"),
        pytest.param(("sha256", b"p", b"s", -1), {}, id="KD-3-negative"),
        pytest.param(("sha256", b"p", b"s", 2**31), {}, id="KD-3-iterations"),
        pytest.param(("sha256", b"p", b"s", 1, 0), {}, id="KD-3-no-length"),
        pytest.param(("sha256", b"p", b"s", 1, -1), {}, id="KD-3-negative-length"),
        pytest.param(("sha256", b"p", b"s", 1, 2**31), {}, id="KD-3-length"),
        pytest.param(("sha256", b"p", b"s", 1, None), {}, id="KD-3-none"),
        pytest.param(("sha256", b"p", b"s", 1, 2**70), {}, id="KD-3-huge-length"),
    ],
)
def test_pbkdf2_arguments_as_hashlib(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    expected = outcome(hashlib.pbkdf2_hmac, *args, **kwargs)
    got = outcome(fastcrypt.hashlib.pbkdf2_hmac, *args, **kwargs)
    if isinstance(expected, tuple):
        assert got[0] is expected[0]
    else:
        assert got == expected


def test_pbkdf2_lets_other_threads_run() -> None:
    """KD-3: the GIL is released: this thread goes on counting while another derives a key."""
    done = threading.Event()

    def derive() -> None:
        pbkdf2_hmac("sha512", b"password", b"salt", 100_000)
        done.set()

    thread = threading.Thread(target=derive)
    thread.start()
    turns, last, longest = 0, time.monotonic(), 0.0
    while not done.is_set():
        turns += 1
        now = time.monotonic()
        longest, last = max(longest, now - last), now
    thread.join()
    assert turns > 100


# ---- HKDF -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "count"), [("SHA1", 4), ("SHA256", 3)])
def test_hkdf_rfc_5869(name: str, count: int) -> None:
    """The file has empty lines inside its cases: one begins at COUNT."""
    text = (vectors.package_folder("cryptography_vectors") / f"KDF/rfc-5869-HKDF-{name}.txt").read_text()
    cases = [dict(re.findall(r"^(\w+) *= *(\w*)", part, re.M)) for part in text.split("COUNT")[1:]]
    assert len(cases) == count
    digest = name.lower()
    for case in cases:
        ikm, salt, info = (H(case.get(key, "")) for key in ("IKM", "salt", "info"))
        length = int(case["L"])
        prk = hkdf_extract(salt, ikm, digest)
        assert prk.hex() == case["PRK"]
        assert hkdf_expand(prk, info, length, digest).hex() == case["OKM"]
        assert hkdf(ikm, length, salt=salt, info=info, digest=digest).hex() == case["OKM"]


@pytest.mark.parametrize(("name", "count"), [("sha1", 87), ("sha256", 86), ("sha384", 83), ("sha512", 83)])
def test_hkdf_wycheproof(name: str, count: int) -> None:
    for _, test in vectors.wycheproof(f"hkdf_{name}_test.json", count):
        ikm, salt, info = H(test["ikm"]), H(test["salt"]), H(test["info"])
        if test["result"] == "valid":
            assert hkdf(ikm, test["size"], salt=salt, info=info, digest=name).hex() == test["okm"]
        else:
            with pytest.raises(ValueError, match=r"^length must be 0 to \d+ bytes, received \d+$"):
                hkdf(ikm, test["size"], salt=salt, info=info, digest=name)


def test_hkdf_expand_label_rfc_8448() -> None:
    """Section 3: from the early secret to the handshake's."""
    early = hkdf_extract(b"", bytes(32), "sha256")
    assert early.hex() == "33ad0a1c607ec03b09e6cd9893680ce210adf300aa1f2660e1b22e10f170f92a"
    derived = hkdf_expand_label(early, b"derived", hashlib.sha256().digest(), 32, "sha256")
    assert derived.hex() == "6f2615a108c702c5678f54fc9dbab69716c076189c48250cebeac3576c3611ba"


def test_hkdf_expand_label_rfc_9001() -> None:
    """Appendix A.1: the client's first keys of QUIC."""
    initial = hkdf_extract(H("38762cf7f55934b34d179ae6a4c80cadccbb7f0a"), H("8394c8f03e515708"), "sha256")
    client = hkdf_expand_label(initial, b"client in", b"", 32, "sha256")
    assert client.hex() == "c00cf151ca5be075ed0ebfb5c80323c42d6b7db67881289af4008f1f6c357aea"
    assert (
        hkdf_expand_label(client, b"quic key", b"", 16, "sha256").hex() == "1f369613dd76d5467730efcbe3b1a22d"
    )
    assert hkdf_expand_label(client, b"quic iv", b"", 12, "sha256").hex() == "fa044b2f42a3fd3b46fb255c"
    assert (
        hkdf_expand_label(client, b"quic hp", b"", 16, "sha256").hex() == "9f50449e04a0e810283a1e9933adedd2"
    )


@pytest.mark.parametrize("name", HASHES)
def test_hkdf_lengths(name: str) -> None:
    most = 255 * hashlib.new(name).digest_size
    whole = hkdf_expand(b"prk", b"info", most, name)
    for length in (0, 1, 31, 32, 33, 64, 1000, most):
        assert hkdf_expand(b"prk", b"info", length, name) == whole[:length]
        assert len(hkdf(b"ikm", length, digest=name)) == length
    for length in (-1, most + 1):
        with pytest.raises(ValueError, match=f"length must be 0 to {most} bytes, received {length}"):
            hkdf_expand(b"prk", b"info", length, name)
    with pytest.raises(ValueError, match="cannot fit"):
        hkdf_expand(b"prk", b"info", 2**70, name)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: hkdf("ikm", 32), TypeError),  # type: ignore[arg-type]
        (lambda: hkdf(b"ikm", "32"), TypeError),  # type: ignore[arg-type]
        (lambda: hkdf(b"ikm", 32, digest="md5"), ValueError),
        (lambda: hkdf(b"ikm", 32, digest=None), TypeError),  # type: ignore[arg-type]
        (lambda: hkdf(b"ikm", 32, b"salt"), TypeError),  # type: ignore[call-arg]
        (lambda: hkdf_extract("salt", b"ikm", "sha256"), TypeError),  # type: ignore[arg-type]
        (lambda: hkdf_expand_label(b"s", b"", b"", 32, "sha256"), ValueError),
        (lambda: hkdf_expand_label(b"s", b"l" * 250, b"", 32, "sha256"), ValueError),
        (lambda: hkdf_expand_label(b"s", b"l", b"c" * 256, 32, "sha256"), ValueError),
        (lambda: hkdf_expand_label(b"s", "label", b"", 32, "sha256"), TypeError),  # type: ignore[arg-type]
    ],
)
def test_hkdf_arguments(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_hkdf_none_is_empty() -> None:
    assert hkdf(b"ikm", 32, salt=None, info=None) == hkdf(b"ikm", 32)
    assert hkdf_extract(None, b"ikm", "sha256") == hkdf_extract(bytes(32), b"ikm", "sha256")
