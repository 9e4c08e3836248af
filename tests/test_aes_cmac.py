# SPDX-License-Identifier: Apache-2.0
"""aes_cmac against SP 800-38B, RFC 4493, Wycheproof and cryptography, at every length."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import buffers
import pytest
import vectors
from cryptography.hazmat.primitives.ciphers import algorithms
from cryptography.hazmat.primitives.cmac import CMAC

import fastcrypt
from fastcrypt import aes_cmac

# Called in wrong ways too, so without its type.
anything: Any = aes_cmac

KEY = bytes(range(16))


def reference(key: bytes, data: bytes) -> bytes:
    mac = CMAC(algorithms.AES(key))
    mac.update(data)
    return mac.finalize()


def check_nist_and_wycheproof() -> None:
    """SP 800-38B appendix D, whose AES-128 cases are those of RFC 4493; and all of Wycheproof's."""
    for bits in (128, 192, 256):
        for case in vectors.nist(f"CMAC/nist-800-38b-aes{bits}.txt", 4):
            key, data = bytes.fromhex(case["KEY"]), bytes.fromhex(case["MESSAGE"])
            assert aes_cmac(key, data).hex() == case["OUTPUT"]
    valid = refused = 0
    for _, test in vectors.wycheproof("aes_cmac_test.json", 311):
        key, data = bytes.fromhex(test["key"]), bytes.fromhex(test["msg"])
        if "InvalidKeySize" in test["flags"]:
            with pytest.raises(ValueError, match="AES key must be 128, 192, or 256 bits"):
                aes_cmac(key, data)
            refused += 1
            continue
        good = fastcrypt.compare_digest(aes_cmac(key, data), bytes.fromhex(test["tag"]))
        assert good == (test["result"] == "valid"), test
        valid += good
    assert (valid, refused) == (63, 5)


def check_lengths() -> None:
    """Every length to 300, and around the pieces of 1 KiB that go through the scratch."""
    rng = random.Random(38)
    near = [n for k in (1024, 2048, 16384) for n in range(k - 17, k + 18)]
    for size in (*range(301), *near, 100_001):
        key, data = rng.randbytes(rng.choice((16, 24, 32))), rng.randbytes(size)
        assert aes_cmac(key, data) == reference(key, data), size


@pytest.mark.parametrize("check", [check_nist_and_wycheproof, check_lengths], ids=lambda f: f.__name__)
def test_vectors(check: Callable[[], None]) -> None:
    check()


def test_arguments() -> None:
    data = random.Random(4493).randbytes(48)
    for kind, operand in buffers.contiguous(data).items():
        assert aes_cmac(KEY, operand) == reference(KEY, data), kind
    assert aes_cmac(bytearray(KEY), data) == aes_cmac(memoryview(KEY), data) == reference(KEY, data)
    assert aes_cmac(key=KEY, data=data) == reference(KEY, data)
    for size in (0, 15, 17, 33):
        with pytest.raises(ValueError, match=r"AES key must be 128, 192, or 256 bits\."):
            aes_cmac(bytes(size), data)
    for wrong in (None, 5, "text", [1]):
        for arguments in ((KEY, wrong), (wrong, data)):
            with pytest.raises(TypeError, match="a bytes-like object is required"):
                anything(*arguments)
    with pytest.raises(BufferError):
        aes_cmac(KEY, memoryview(data)[::2])
    for wrong_count in ((), (KEY,), (KEY, data, data)):
        with pytest.raises(TypeError):
            anything(*wrong_count)
