# SPDX-License-Identifier: Apache-2.0
"""HMACKey, HMACState, hmac_digest and the module fastcrypt.hmac (rows HM-1 to HM-13)."""

from __future__ import annotations

import copy
import hashlib
import hmac
import pickle
import threading
import warnings
from typing import Any

import pytest
import vectors

import fastcrypt
import fastcrypt.hashlib
import fastcrypt.hmac as ours
from fastcrypt import HMACKey, hmac_digest
from fastcrypt._core import HMACState

HASHES = {
    "sha1": 64,
    "sha224": 64,
    "sha256": 64,
    "sha384": 128,
    "sha512": 128,
    "sha512_224": 128,
    "sha512_256": 128,
}
H = bytes.fromhex


def ways(key: bytes, message: bytes, name: str) -> dict[str, bytes]:
    """The tag by everything that makes one."""
    pieces = HMACKey(key, name).new()
    half = len(message) // 2
    pieces.update(message[:half])
    twin = pieces.copy()
    pieces.update(message[half:])
    twin.update(message[half:])
    module = ours.new(key, message[:half], name)
    module.update(message[half:])
    return {
        "HMACKey": HMACKey(key, name).digest(message),
        "HMACKey hex": H(HMACKey(key, name).hexdigest(message)),
        "HMACKey many": HMACKey(key, name).digest_many([message, message])[1],
        "HMACKey.new": pieces.digest(),
        "copy": twin.digest(),
        "HMACState": HMACState(key, name, message).digest(),
        "hmac_digest": hmac_digest(key, message, name),
        "hmac.new": module.digest(),
        "hmac.new hex": H(module.copy().hexdigest()),
        "hmac.digest": ours.digest(key, message, name),
        "hmac.HMAC with a type": ours.HMAC(key, message, getattr(fastcrypt, name)).digest(),
    }


@pytest.mark.parametrize("name", ["sha1", "sha224", "sha256", "sha384", "sha512"])
def test_rfc_vectors(name: str) -> None:
    """RFC 2202 and RFC 4231."""
    file, count = ("rfc-2202-sha1", 7) if name == "sha1" else (f"rfc-4231-{name}", 6)
    cases = vectors.nist(f"HMAC/{file}.txt", count)
    for case in cases:
        key, message = H(case["Key"]), H(case["Msg"])
        for way, tag in ways(key, message, name).items():
            assert tag.hex() == case["MD"], way
        assert HMACKey(key, name).verify(message, H(case["MD"]))


@pytest.mark.parametrize(
    ("name", "count"), [("sha1", 170), ("sha224", 172), ("sha256", 174), ("sha384", 174), ("sha512", 174)]
)
def test_wycheproof(name: str, count: int) -> None:
    for group, test in vectors.wycheproof(f"hmac_{name}_test.json", count):
        key, message, tag = H(test["key"]), H(test["msg"]), H(test["tag"])
        whole = HMACKey(key, name)
        assert (whole.digest(message)[: group["tagSize"] // 8] == tag) == (test["result"] == "valid")
        full = group["tagSize"] == 8 * whole.digest_size
        assert whole.verify(message, tag) == (full and test["result"] == "valid")
        assert whole.verify_many([message], [tag]) == [full and test["result"] == "valid"]


@pytest.mark.parametrize("name", HASHES)
def test_hm_12_key_and_message_lengths(name: str) -> None:
    block = HASHES[name]
    for key_size in (0, 1, 20, block - 1, block, block + 1, 2 * block, 1000):
        key = bytes(range(256))[:key_size] if key_size <= 256 else b"k" * key_size
        for size in (0, 1, 54, 55, 56, 63, 64, 65, 110, 111, 112, 127, 128, 129, 300, 20_000):
            message = b"m" * size
            expected = hmac.digest(key, message, name)
            for way, tag in ways(key, message, name).items():
                assert tag == expected, (way, key_size, size)


def test_verify_sees_every_bit() -> None:
    key = HMACKey(b"key", "sha256")
    tag = key.digest(b"message")
    assert key.verify(b"message", tag) is True
    assert key.verify(b"message", bytearray(tag)) is True
    for bit in range(256):
        wrong = bytearray(tag)
        wrong[bit // 8] ^= 1 << bit % 8
        assert key.verify(b"message", wrong) is False
    for wrong_size in (b"", tag[:-1], tag + b"\0", tag[:16]):
        assert key.verify(b"message", wrong_size) is False
    assert key.verify(b"other", tag) is False


def test_many() -> None:
    key = HMACKey(b"key", "sha512")
    messages: list[Any] = [b"m" * size for size in range(300)]
    tags = [hmac.digest(b"key", message, "sha512") for message in messages]
    assert key.digest_many(messages) == tags
    assert key.digest_many(iter(messages)) == tags
    assert key.digest_many([]) == []
    wrong = [*tags]
    wrong[7] = wrong[8]
    assert key.verify_many(messages, iter(wrong)) == [i != 7 for i in range(300)]
    for short, long in ((messages, tags[:-1]), (messages[:-1], tags)):
        with pytest.raises(ValueError, match="differ in number"):
            key.verify_many(short, long)
    not_items: list[Any] = [b"bytes", "text", bytearray(3), 5]
    for items in not_items:
        with pytest.raises(TypeError):
            key.digest_many(items)

    def failing() -> Any:
        yield b"a"
        raise LookupError

    with pytest.raises(LookupError):
        key.digest_many(failing())


def test_hm_1_keys_are_any_buffer() -> None:
    expected = hmac.digest(b"key", b"m", "sha256")
    for key in (b"key", bytearray(b"key"), memoryview(b"key"), memoryview(b"k_e_y")[:0].tobytes() + b"key"):
        assert HMACKey(key, "sha256").digest(b"m") == expected
        assert ours.new(key, b"m", "sha256").digest() == expected
        assert ours.digest(key, memoryview(b"m"), "sha256") == expected
        assert ours.new(key, b"m", "md5").digest() == hmac.digest(b"key", b"m", "md5")
    for wrong in ("key", None, 5):
        with pytest.raises(TypeError, match="key: expected bytes or bytearray, but got"):
            ours.new(wrong, b"m", "sha256")  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            HMACKey(wrong, "sha256")  # type: ignore[arg-type]


@pytest.mark.parametrize("digestmod", [None, "", 0])
def test_hm_2_digestmod_is_needed(digestmod: Any) -> None:
    with pytest.raises(TypeError, match="Missing required argument 'digestmod'"):
        ours.new(b"key", b"m", digestmod)
    with pytest.raises(TypeError, match="Missing required argument 'digestmod'"):
        ours.new(b"key")


def test_hm_3_digestmods() -> None:
    expected = hmac.digest(b"key", b"m", "sha256")
    for digestmod in (
        "sha256",
        "SHA256",
        "sha-256",
        fastcrypt.sha256,
        hashlib.sha256,
        lambda d=b"": hashlib.sha256(d),
    ):
        assert ours.new(b"key", b"m", digestmod).digest() == expected
        assert ours.digest(b"key", b"m", digestmod) == expected
    odds: list[Any] = [5, [], {}]
    for odd in odds:
        with pytest.raises((AttributeError, TypeError)):
            ours.new(b"key", b"m", odd)
    for call in (ours.new, ours.digest):
        with pytest.raises(ValueError, match="unsupported hash type spam"):
            call(b"key", b"m", "spam")
    with pytest.raises(TypeError):
        ours.new(b"key", b"m", hashlib)
    assert ours.new(b"key", b"m", "sha3_256").digest() == hmac.digest(b"key", b"m", "sha3_256")
    with pytest.raises(ValueError):  # noqa: PT011  (HM-4: the words differ)
        ours.new(b"key", b"m", "shake_128").digest()


def test_hm_5_messages() -> None:
    empty = hmac.digest(b"key", b"", "sha256")
    assert ours.new(b"key", None, "sha256").digest() == ours.new(b"key", digestmod="sha256").digest() == empty
    text: Any = "text"
    with pytest.raises(TypeError, match="Strings must be encoded before hashing"):
        ours.new(b"key", text, "sha256")
    with pytest.raises(TypeError, match="Strings must be encoded before hashing"):
        ours.new(b"key", digestmod="sha256").update(text)


def test_hm_6_odd_block_sizes_warn() -> None:
    class Odd:
        digest_size = 32

        def __init__(self, data: bytes = b"") -> None:
            self.inside = hashlib.sha256(data)

        def update(self, data: bytes) -> None:
            self.inside.update(data)

        def digest(self) -> bytes:
            return self.inside.digest()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="No block_size"):
            ours.new(b"key", b"m", Odd)
        Odd.block_size = 8  # type: ignore[attr-defined]
        with pytest.raises(RuntimeWarning, match="block_size of 8 seems too small"):
            ours.new(b"key", b"m", Odd)


@pytest.mark.parametrize("name", HASHES)
def test_hm_7_attributes(name: str) -> None:
    size = hashlib.new(name).digest_size
    objects: list[Any] = [HMACKey(b"k", name), HMACKey(b"k", name).new(), ours.new(b"k", b"", name)]
    objects.append(ours.new(b"k", b"", name).copy())  # HM-9
    for h in objects:
        assert (h.name, h.digest_size, h.block_size) == (f"hmac-{name}", size, HASHES[name])
        with pytest.raises(AttributeError):
            h.name = "other"
    assert objects[2].digest() == objects[2].digest() == H(objects[2].hexdigest())


def test_hm_8_update() -> None:
    h = ours.new(b"key", digestmod="sha256")
    h.update(msg=b"m")
    assert h.digest() == hmac.digest(b"key", b"m", "sha256")
    with pytest.raises(TypeError):
        h.update()  # type: ignore[call-arg]


def test_hm_10_subclasses() -> None:
    class Mine(ours.HMAC):
        note = "kept"

    h = Mine(b"key", b"m", "sha256")
    h.extra = 1  # type: ignore[attr-defined]
    twin = h.copy()
    assert type(twin) is Mine
    assert twin.digest() == hmac.digest(b"key", b"m", "sha256")
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(ours.new(b"key", b"m", "sha256"))


def test_hm_11_digest_by_keyword() -> None:
    expected = hmac.digest(b"key", b"m", "sha256")
    assert ours.digest(key=b"key", msg=b"m", digest="sha256") == expected
    assert hmac_digest(key=b"key", msg=b"m", name="sha256") == expected
    with pytest.raises(TypeError):
        ours.digest(b"key", "m", "sha256")  # type: ignore[arg-type]
    with pytest.raises((AttributeError, TypeError)):
        ours.digest(b"key", b"m", None)


def test_module_attributes() -> None:
    assert (ours.trans_5C, ours.trans_36) == (hmac.trans_5C, hmac.trans_36)
    assert ours.digest_size is None
    assert ours.compare_digest is fastcrypt.compare_digest


@pytest.mark.parametrize("kind", [HMACKey, HMACState])
def test_key_objects_keep_their_key(kind: Any) -> None:
    """Final, not copied, not pickled, silent, and the same after __init__."""
    key = kind(b"a secret key", "sha256")
    for refused in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot pickle"):
            refused(key)
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Sub", (kind,), {})
    assert b"secret" not in repr(key).encode()
    before = key.digest(b"m") if kind is HMACKey else key.digest()
    key.__init__(b"another", "sha1")
    assert (key.digest(b"m") if kind is HMACKey else key.digest()) == before
    for name, error in (("md5", ValueError), (5, TypeError), ("spam", ValueError)):
        with pytest.raises(error):
            kind(b"key", name)
    with pytest.raises(TypeError):
        kind(b"key")


def test_hm_13_long_messages_and_threads() -> None:
    """One key object, four threads, messages on both sides of where the GIL is released."""
    key = HMACKey(b"key", "sha256")
    failures: list[int] = []

    def work(seed: int) -> None:
        for size in (10, 5000, 9000, 300_000):
            message = bytes([seed]) * size
            if key.digest(message) != hmac.digest(b"key", message, "sha256"):
                failures.append(size)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_one_state_and_many_threads() -> None:
    """Updates happen whole: pieces that are all alike give the digest of their sum."""
    h = ours.new(b"key", digestmod="sha256")
    piece = b"x" * 9000

    def work() -> None:
        for _ in range(50):
            h.update(piece)
            h.copy().digest()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert h.digest() == hmac.digest(b"key", piece * 200, "sha256")
