# SPDX-License-Identifier: Apache-2.0
"""merkle_root against RFC 6962's recursive definition, and the Certificate Transparency project's tree."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from typing import Any

import pytest

from fastcrypt import merkle_root

#: The leaves and the root of the Certificate Transparency project's test of its Merkle tree.
CT_LEAVES = [
    bytes.fromhex(leaf)
    for leaf in (
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"
    )
]  # fmt: skip
CT_ROOT = "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"
#: The same project's roots of the first leaves alone.
CT_ROOTS = {
    0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    4: "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    5: "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    6: "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    7: "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    8: CT_ROOT,
}
COUNTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 33, 100, 255, 256, 257, 511, 514, 1025, 4096, 4097, 8200]


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def root_of(nodes: list[bytes], prefix: bytes) -> bytes:
    """RFC 6962 section 2.1: the left subtree has the largest power of two of the leaves below n."""
    if len(nodes) == 1:
        return nodes[0]
    k = 1 << (len(nodes) - 1).bit_length() - 1
    return sha256(prefix + root_of(nodes[:k], prefix) + root_of(nodes[k:], prefix))


def leaves_of(count: int) -> list[bytes]:
    source = random.Random(count)
    return [source.randbytes(source.choice((0, 1, 31, 32, 54, 55, 63, 64, 65, 200))) for _ in range(count)]


@pytest.mark.parametrize("count", CT_ROOTS)
def test_certificate_transparency(count: int) -> None:
    assert merkle_root(CT_LEAVES[:count]).hex() == CT_ROOTS[count]


@pytest.mark.parametrize("count", COUNTS)
def test_rfc6962(count: int) -> None:
    leaves = leaves_of(count)
    hashes = [sha256(b"\0" + leaf) for leaf in leaves]
    expected = root_of(hashes, b"\1")
    assert merkle_root(leaves) == merkle_root(iter(leaves), scheme="rfc6962") == expected
    assert merkle_root(hashes, hash_leaves=False) == expected


@pytest.mark.parametrize("count", COUNTS)
def test_plain(count: int) -> None:
    leaves = leaves_of(count)
    hashes = [sha256(leaf) for leaf in leaves]
    expected = root_of(hashes, b"")
    assert merkle_root(leaves, scheme="plain") == expected
    assert merkle_root(tuple(map(bytearray, hashes)), scheme="plain", hash_leaves=False) == expected


@pytest.mark.parametrize("scheme", ["rfc6962", "plain"])
def test_long_leaves(scheme: Any) -> None:
    leaves = [random.Random(n).randbytes(n) for n in (4095, 4096, 4097, 5, 100_000, 0, 8192)]
    leaf_prefix, prefix = (b"\0", b"\1") if scheme == "rfc6962" else (b"", b"")
    expected = root_of([sha256(leaf_prefix + leaf) for leaf in leaves], prefix)
    assert merkle_root(leaves, scheme=scheme) == expected


def test_an_odd_node_is_never_duplicated() -> None:
    """CVE-2012-2459: with duplication [a, b, c] and [a, b, c, c] have one root."""
    for scheme in ("rfc6962", "plain"):
        for count in (1, 3, 5, 6, 7):
            leaves = leaves_of(count)
            for doubled in (leaves[-1:], leaves[-2:]):
                assert merkle_root(leaves, scheme=scheme) != merkle_root(leaves + doubled, scheme=scheme)


def test_no_leaves() -> None:
    assert merkle_root([]) == merkle_root([], hash_leaves=False) == sha256(b"")
    for hash_leaves in (True, False):
        with pytest.raises(ValueError, match="leaves must not be empty with scheme='plain'"):
            merkle_root(iter([]), scheme="plain", hash_leaves=hash_leaves)


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_hashes_of_the_wrong_size(size: int) -> None:
    with pytest.raises(ValueError, match=rf"leaves\[2\] must be 32 bytes, received {size}"):
        merkle_root([bytes(32), bytes(32), bytes(size)], hash_leaves=False)


def test_wrong_arguments() -> None:
    anything: Any = merkle_root
    for wrong in (b"abc", "abc", None, 3, ["a"], [1]):
        with pytest.raises(TypeError):
            anything(wrong)
    with pytest.raises(ValueError, match="scheme must be 'rfc6962' or 'plain', received 'bitcoin'"):
        anything([], scheme="bitcoin")
    with pytest.raises(TypeError, match="scheme must be a str"):
        anything([], scheme=b"plain")
    with pytest.raises(TypeError):
        anything([], "plain")


def test_an_iterable_that_raises() -> None:
    def leaves() -> Iterator[bytes]:
        yield b"a"
        raise LookupError

    with pytest.raises(LookupError):
        merkle_root(leaves())
