# SPDX-License-Identifier: Apache-2.0
"""Run by an interpreter on an emulated processor: some of the vectors through the public functions.

    qemu-x86_64 -cpu MODEL python module_vectors.py FILE

Prints one JSON object: kernels, features, passed (by kind), failed (texts). Imports fastcrypt and little
else, so that nothing but the library meets the processor.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import fastcrypt
from fastcrypt import AES, AESGCM, InvalidTag

#: One in so many: emulated interpreters are slow.
STRIDE = 11

#: The nonces that AESGCM takes; the kernels, and NIST's vectors, know others.
NONCE_BYTES = range(8, 129)


Check = Callable[..., bool]


def hashed(name: str) -> Check:
    """Of the class and the one-shot of this name."""
    new: Any = getattr(fastcrypt, name)
    one_shot: Any = getattr(fastcrypt, f"{name}_digest")

    def check(message: bytes, digest: bytes) -> bool:
        streamed = new(message[:7])
        streamed.update(message[7:])
        return bool(one_shot(message) == digest == streamed.digest())

    return check


def ecb(key: bytes, plain: bytes, cipher: bytes) -> bool:
    aes = AES(key)
    return aes.ecb_encrypt(plain) == cipher and aes.ecb_decrypt(cipher) == plain


def cbc(key: bytes, iv: bytes, plain: bytes, cipher: bytes) -> bool:
    aes = AES(key)
    return aes.cbc_encrypt(iv, plain) == cipher and aes.cbc_decrypt(iv, cipher) == plain


def ctr(key: bytes, iv: bytes, plain: bytes, cipher: bytes) -> bool:
    aes = AES(key)
    return aes.ctr(iv, plain) == cipher and aes.ctr(iv, cipher) == plain


def gcm(*fields: bytes) -> bool:
    key, nonce, aad, plain, cipher, tag = fields
    aes = AESGCM(key)
    sealed = aes.encrypt(nonce, plain, aad)
    if sealed != cipher + sealed[len(cipher) :] or not sealed[len(cipher) :].startswith(tag):
        return False
    return aes.decrypt(nonce, sealed, aad) == plain


def forged(key: bytes, nonce: bytes, aad: bytes, cipher: bytes, tag: bytes) -> bool:
    try:
        AESGCM(key).decrypt(nonce, cipher + tag.ljust(16, b"\0"), aad)
    except InvalidTag:
        return True
    return False


def compare(a: bytes, b: bytes, order: bytes) -> bool:
    wanted = int.from_bytes(order, "big", signed=True)
    equal = fastcrypt.timingsafe_bcmp(a, b) == 0
    return fastcrypt.timingsafe_memcmp(a, b) == wanted and equal == (wanted == 0)


CHECKS: dict[str, Check] = {f.__name__: f for f in (ecb, cbc, ctr, gcm, forged, compare)}
CHECKS |= {
    name: hashed(name)
    for name in ("sha1", "sha224", "sha256", "sha384", "sha512", "sha512_224", "sha512_256")
}


def main() -> None:
    passed = dict.fromkeys(CHECKS, 0)
    failed: list[str] = []
    seen = dict.fromkeys(CHECKS, 0)
    with open(sys.argv[1]) as file:
        for number, line in enumerate(file, 1):
            kind, *fields = line.split()
            if kind not in CHECKS:
                continue
            seen[kind] += 1
            if seen[kind] % STRIDE != 1 and kind != "ctr":
                continue
            data = [b"" if field == "-" else bytes.fromhex(field) for field in fields]
            if kind in ("gcm", "forged") and len(data[1]) not in NONCE_BYTES:
                continue
            if CHECKS[kind](*data):
                passed[kind] += 1
            else:
                failed.append(f"{kind}, line {number}")
    print(
        json.dumps(
            {
                "kernels": fastcrypt.kernels(),
                "features": sorted(fastcrypt.cpu_features()),
                "passed": passed,
                "failed": failed,
            }
        )
    )


if __name__ == "__main__":
    main()
