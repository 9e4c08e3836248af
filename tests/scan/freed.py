# SPDX-License-Identifier: Apache-2.0
"""In a child with PYTHONMALLOC=malloc: run cases on secrets that the parent sends, and say what they leave.

    python -m scan.freed LIBRARY CASE ...

For each case standard input has the secret (a key of 32 bytes, or a message of 127) and the pieces to look
for, each preceded by its size as 8 bytes; they go into memory that stays allocated. A line of JSON per case
answers. The names of the cases are in CASES.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import fastcrypt
import fastcrypt.hmac
from fastcrypt import (
    AES,
    AESGCM,
    AESGCMSIV,
    AESXTS,
    InvalidTag,
    InvalidUnwrap,
    RecordCipher,
    aes_decrypt,
    aes_encrypt,
    sha256,
)

NONCE, IV, DATA = bytes(12), bytes(16), bytes(range(96))
KEY_BYTES, MESSAGE_BYTES = 32, 127
HEADER = object.__basicsize__


def read(size: int) -> bytearray:
    """Straight from the kernel into the place where it stays."""
    target = bytearray(size)
    at = 0
    while at < size:
        got = os.readv(0, [memoryview(target)[at:]])
        if got == 0:
            raise EOFError
        at += got
    return target


def read_sized() -> bytearray:
    return read(int.from_bytes(read(8), "little"))


def refused(call: Callable[[], Any], error: type[Exception]) -> None:
    try:
        call()
    except error:
        return
    raise AssertionError("not refused")


class Dying:
    """The last reference to an object, which goes when `die` is called."""

    def __init__(self, held: Any) -> None:
        self.held = [held]
        self.address, self.size = id(held), type(held).__basicsize__

    def die(self) -> None:
        self.held.clear()


def used_aes(key: bytearray) -> AES:
    cipher = AES(key)
    cipher.cbc_decrypt(IV, cipher.cbc_encrypt(IV, DATA))
    return cipher


def used_aesgcm(key: bytearray) -> AESGCM:
    aead = AESGCM(key)
    aead.decrypt(NONCE, aead.encrypt(NONCE, DATA, b"aad"), b"aad")
    return aead


def used_record_cipher(key: bytearray) -> RecordCipher:
    cipher = RecordCipher(key, NONCE)
    number, record = cipher.seal(DATA, b"aad")
    cipher.open(number, record, b"aad")
    cipher.seal_into(DATA, None, bytearray(len(DATA) + 16))
    refused(lambda: cipher.open(number + 1, record), InvalidTag)
    return cipher


def many_records(key: bytearray) -> None:
    aead, nonces = AESGCM(key), [NONCE, bytes(16)]
    sealed = aead.encrypt_many(nonces, [DATA, DATA], b"aad")
    aead.decrypt_many(nonces, sealed, b"aad", out=bytearray(2 * len(DATA)))
    sealed[1] = bytes(len(DATA))
    refused(lambda: aead.decrypt_many(nonces, sealed, b"aad"), InvalidTag)
    aead.decrypt_many(nonces, sealed, b"aad", errors="none")


def begun(key: bytearray, decrypting: bool = False) -> Any:
    """A message in pieces that stands inside a block."""
    aead = AESGCM(key)
    stream = (aead.decryptor if decrypting else aead.encryptor)(NONCE, b"aad")
    stream.update(DATA[:40])
    return stream


def used_xts(key: bytearray) -> AESXTS:
    """The other half of the key is its complement: the search knows what the first leaves."""
    both = bytearray(64)
    both[:32] = key
    for i in range(32):
        both[32 + i] = key[i] ^ 0xFF
    xts = AESXTS(both)
    both[:] = bytes(64)
    xts.decrypt(IV, xts.encrypt(IV, DATA[:77]))
    return xts


def begun_block(key: bytearray, mode: str) -> Any:
    """CBC or CTR in pieces, inside a block."""
    stream = getattr(AES(key), mode)(IV)
    stream.update(DATA[:40])
    return stream


def pieces_of_blocks(key: bytearray) -> None:
    for mode in ("cbc_encryptor", "cbc_decryptor", "ctr_encryptor"):
        stream = begun_block(key, mode)
        stream.update_into(DATA[40:], bytearray(96))
        refused(stream.finalize, ValueError) if len(DATA) % 16 else stream.finalize()
    AES(key).cbc_encrypt_many([IV, IV], [DATA, DATA[:16]])


def pieces_of_gcm(key: bytearray) -> None:
    tag = begun(key).finalize()
    refused(lambda: begun(key, decrypting=True).finalize(tag), InvalidTag)
    begun(key).update_into(DATA[:7], bytearray(7))


def buffered(message: bytearray, size: int, new: Any = sha256) -> Any:
    """A hash that holds a midstate and `size` bytes; SHA-512's blocks are longer, and it holds all."""
    with memoryview(message) as view:
        h = new(view[:64])
        h.update(view[64 : 64 + size])
    h.digest()
    return h


def gcm_refused(key: bytearray) -> None:
    aead = AESGCM(key)
    refused(lambda: aead.decrypt(NONCE, DATA, None), InvalidTag)
    refused(lambda: aes_decrypt(key, DATA, mode="gcm", iv=NONCE), InvalidTag)
    refused(lambda: aes_decrypt(key, DATA, mode="cbc", iv=IV, padding="pkcs7"), ValueError)
    refused(lambda: AESGCM(key, tag_length=99), ValueError)


def modes_of_objects(key: bytearray) -> None:
    cipher, aead = AES(key), AESGCM(key)
    cipher.ecb_decrypt(cipher.ecb_encrypt(DATA))
    cipher.cbc_decrypt(IV, cipher.cbc_encrypt(IV, DATA, padding="pkcs7"), padding="pkcs7")
    cipher.ctr(IV, DATA, offset=5)
    text, tag = aead.encrypt_detached(bytes(16), DATA, DATA)
    aead.decrypt_detached(bytes(16), text, tag, DATA)


def used_siv(key: bytearray) -> AESGCMSIV:
    aead = AESGCMSIV(key)
    aead.decrypt(NONCE, aead.encrypt(NONCE, DATA, b"aad"), b"aad")
    return aead


def siv_messages(key: bytearray) -> None:
    aead = used_siv(key)
    refused(lambda: aead.decrypt(NONCE, DATA, None), InvalidTag)
    aead.encrypt_into(NONCE, DATA, DATA, bytearray(len(DATA) + 16))


class Subclass(fastcrypt.hmac.HMAC):
    """What users make of it: the secret is in an object that it cannot change."""


def used_hmac(key: bytearray) -> fastcrypt.HMACKey:
    mac = fastcrypt.HMACKey(key, "sha256")
    assert mac.verify(DATA, mac.digest(DATA))
    return mac


def hmac_messages(key: bytearray) -> None:
    tag = used_hmac(key).digest_many([DATA, DATA])[1]
    assert fastcrypt.hmac_digest(key, DATA, "sha256") == tag
    for make in (fastcrypt.hmac.HMAC, Subclass):
        mac = make(key, DATA[:50], "sha256")
        twin = mac.copy()
        twin.update(DATA[50:])
        assert twin.digest() == tag


def derived_keys(key: bytearray) -> None:
    fastcrypt.pbkdf2_hmac("sha256", key, IV, 3, 40)
    fastcrypt.hkdf_expand(key, b"info", 70, "sha256")
    fastcrypt.hkdf_expand_label(key, b"label", b"", 32, "sha256")
    fastcrypt.hkdf_extract(key, DATA, "sha256")


def mac_and_wrap(key: bytearray) -> None:
    """The key that wraps is the secret, and the key that is wrapped too, which no block may keep."""
    fastcrypt.aes_cmac(key, DATA)
    wrapped, padded = fastcrypt.aes_key_wrap(key, key), fastcrypt.aes_key_wrap_with_padding(key, DATA[:31])
    refused(lambda: fastcrypt.aes_key_unwrap(key, wrapped[:-1] + b"\0"), InvalidUnwrap)
    refused(lambda: fastcrypt.aes_key_unwrap_with_padding(key, wrapped), InvalidUnwrap)
    fastcrypt.aes_key_unwrap_with_padding(key, padded)


def function(mode: str, **options: Any) -> Callable[[bytearray], Any]:
    def both(key: bytearray) -> None:
        aes_decrypt(key, aes_encrypt(key, DATA, mode=mode, **options), mode=mode, **options)  # type: ignore[call-overload]

    return both


#: The hashes beside SHA-256, whose type comes from the same template.
HASHES: dict[str, Any] = {
    name: getattr(fastcrypt, name)
    for name in ("sha1", "sha224", "sha384", "sha512", "sha512_224", "sha512_256")
}

#: Cases of calls: what they free and leave on the stack.
CALLS: dict[str, Callable[[bytearray], Any]] = {
    "AES()": AES,
    "AESGCM()": AESGCM,
    "methods of AES and AESGCM": modes_of_objects,
    "gcm in pieces": pieces_of_gcm,
    "many records": many_records,
    "RecordCipher": used_record_cipher,
    "cbc and ctr in pieces, and many": pieces_of_blocks,
    "AESXTS()": used_xts,
    "aes_encrypt ecb": function("ecb"),
    "aes_encrypt cbc": function("cbc", iv=IV, padding="pkcs7"),
    "aes_encrypt ctr": function("ctr", iv=IV),
    "aes_encrypt gcm": function("gcm", iv=NONCE, aad=b"aad"),
    "refused": gcm_refused,
    "cmac and key wrap": mac_and_wrap,
    "gcm-siv": siv_messages,
    "hmac": hmac_messages,
    "derived keys": derived_keys,
    "sha256 digest": lambda message: buffered(message, 63).digest(),
    "sha256 hexdigest": lambda message: buffered(message, 63).hexdigest(),
    "sha256 copy": lambda message: buffered(message, 63).copy(),
    "sha256_digest": fastcrypt.sha256_digest,
    "sha256_hexdigest": fastcrypt.sha256_hexdigest,
    **{f"{name}_digest": getattr(fastcrypt, f"{name}_digest") for name in HASHES},
    **{
        f"{name} digest": partial(lambda new, m: buffered(m, 63, new).digest(), new)
        for name, new in HASHES.items()
    },
}


class Held(NamedTuple):
    """An object made of a secret: how, how many bytes at its end are secret, and what kind of secret."""

    make: Callable[[bytearray], Any]
    secret_bytes: int
    kind: str = "key"


#: A key schedule (with the number of rounds); the powers of H; a hash's state, length and buffer; what a
#: message in pieces keeps beside its copy of the key, in GCM and in CBC or CTR; the states of an HMAC key.
SCHEDULE, POWERS, STREAM, BLOCK_STREAM = 976, 1024, 96, 48
SHA1, SHA256, SHA512 = 96, 104, 200
HMAC_KEY = 128

#: Cases of objects: the block that held them, at the moment when it is freed. A new type is a line here.
OBJECTS: dict[str, Held] = {
    "AES": Held(used_aes, SCHEDULE),
    "AESGCM": Held(used_aesgcm, SCHEDULE + POWERS),
    "AESGCMSIV": Held(used_siv, SCHEDULE),
    "RecordCipher": Held(used_record_cipher, SCHEDULE + POWERS + len(NONCE)),
    "AESXTS": Held(used_xts, 2 * SCHEDULE),
    "AESStream of cbc": Held(lambda key: begun_block(key, "cbc_encryptor"), BLOCK_STREAM),
    "AESStream of ctr": Held(lambda key: begun_block(key, "ctr_encryptor"), BLOCK_STREAM),
    "HMACKey": Held(used_hmac, HMAC_KEY),
    "HMACState": Held(lambda key: used_hmac(key).new(), HMAC_KEY + 208),
    "encryptor": Held(begun, STREAM),
    "decryptor": Held(lambda key: begun(key, decrypting=True), STREAM),
    "a copy of sha256": Held(lambda message: buffered(message, 63).copy(), SHA256, "message"),
    **{
        f"sha256 of {n}": Held(lambda message, n=n: buffered(message, n), SHA256, "message")  # type: ignore[misc]
        for n in range(1, 64)
    },
    **{
        name: Held(partial(lambda new, message: buffered(message, 63, new), new), size, "message")
        for (name, new), size in zip(
            HASHES.items(), (SHA1, SHA256, SHA512, SHA512, SHA512, SHA512), strict=True
        )
    },
}

#: The same with a secret left behind on purpose: the search must see it.
PLANTED: dict[str, Callable[[bytearray], Any]] = {
    "planted free": lambda secret: len(bytes(secret)),
    "planted stack": lambda _: LIBRARY.leave_on_stack(),
}

CASES = [*CALLS, *OBJECTS, *PLANTED]


def kind_of(case: str) -> str:
    """What the secret of a case is: a key or a message. Calls on messages have the hash's name in theirs."""
    if case in OBJECTS:
        return OBJECTS[case].kind
    return "message" if "sha" in case else "key"


LIBRARY: Any = None


def load(path: str) -> Any:
    library = ctypes.PyDLL(path)
    library.search_call.restype = library.leave_on_stack.restype = ctypes.py_object
    library.search_call.argtypes = [ctypes.py_object, ctypes.py_object, ctypes.c_void_p]
    library.set_windows.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    library.watched_bytes.restype = ctypes.c_size_t
    return library


def run(case: str, secret: bytearray) -> dict[str, Any]:
    dying = Dying(OBJECTS[case].make(secret)) if case in OBJECTS else None
    if dying is not None:
        LIBRARY.search_call(dying.die, (), dying.address)
    else:
        LIBRARY.search_call((CALLS | PLANTED)[case], (secret,), None)
    numbers, block = (ctypes.c_long * 3)(), (ctypes.c_uint8 * 4096)()
    LIBRARY.search_results(numbers)
    size = LIBRARY.watched_bytes(block)
    answer: dict[str, Any] = dict(zip(("blocks", "in_freed", "on_stack"), numbers, strict=True))
    if dying is not None:
        answer |= {"watched": size, "size": dying.size}
        answer["nonzero"] = [i for i in range(HEADER, min(size, dying.size)) if block[i]]
    return answer


def main() -> None:
    global LIBRARY  # noqa: PLW0603
    LIBRARY = load(sys.argv[1])
    for case in sys.argv[2:]:
        secret, pieces = read_sized(), read_sized()
        address = ctypes.addressof(ctypes.c_char.from_buffer(pieces))
        LIBRARY.set_windows(address, len(pieces) // 8)
        print(json.dumps({"case": case, **run(case, secret)}), flush=True)


if __name__ == "__main__":
    main()
