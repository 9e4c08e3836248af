# SPDX-License-Identifier: Apache-2.0
"""What memory must not hold: everything derived from a key or a message, computed from the standards."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from math import isqrt

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

WINDOW = 8

# ---- AES (FIPS 197) -------------------------------------------------------------------------------


def times(a: int, b: int) -> int:
    """Section 4.2: the product in GF(2^8)."""
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = (a << 1) ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def substitute(byte: int) -> int:
    """Section 5.1.1: the inverse, then the affine map."""
    inverse = next((x for x in range(256) if times(byte, x) == 1), 0)
    turned = [(inverse << n | inverse >> 8 - n) & 0xFF for n in range(5)]
    return turned[0] ^ turned[1] ^ turned[2] ^ turned[3] ^ turned[4] ^ 0x63


SBOX = bytes(map(substitute, range(256)))


def exclusive_or(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def round_keys(key: bytes) -> list[bytes]:
    """Section 5.2."""
    nk = len(key) // 4
    words = [key[4 * i : 4 * i + 4] for i in range(nk)]
    constant = 1
    for i in range(nk, 4 * (nk + 7)):
        word = words[-1]
        if i % nk == 0:
            word = (word[1:] + word[:1]).translate(SBOX)
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = times(constant, 2)
        elif nk > 6 and i % nk == 4:
            word = word.translate(SBOX)
        words.append(exclusive_or(words[i - nk], word))
    return [b"".join(words[i : i + 4]) for i in range(0, len(words), 4)]


def inverse_mix_columns(block: bytes) -> bytes:
    """Section 5.3.3."""
    out = bytearray()
    for c in range(0, 16, 4):
        column = block[c : c + 4]
        for row in range(4):
            factors = (14, 11, 13, 9)
            value = 0
            for i in range(4):
                value ^= times(column[(row + i) % 4], factors[i])
            out.append(value)
    return bytes(out)


def aes_secrets(key: bytes) -> list[bytes]:
    """The round keys, and those of the equivalent inverse cipher (section 5.3.5)."""
    keys = round_keys(key)
    return [key, *keys, *map(inverse_mix_columns, keys[1:-1])]


# ---- GHASH (SP 800-38D) ---------------------------------------------------------------------------

POLYNOMIAL = 0xE1 << 120


def ghash_times(x: int, y: int) -> int:
    """Section 6.3; bit 0 of the standard is the highest bit of the integer."""
    product = 0
    for i in range(127, -1, -1):
        product ^= y if x >> i & 1 else 0
        y = y >> 1 ^ (POLYNOMIAL if y & 1 else 0)
    return product


def key_stream(key: bytes, nonce: bytes, blocks: int) -> bytes:
    """The blocks that GCM adds to the tag and the text, for a nonce of 12 bytes."""
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return b"".join(encryptor.update(nonce + i.to_bytes(4, "big")) for i in range(1, blocks + 1))


def ghash_secrets(key: bytes, powers: int = 8) -> list[bytes]:
    """H to H^8, each also times x and by x, in both byte orders: the forms that kernels keep."""
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    h = int.from_bytes(encryptor.update(bytes(16)), "big")
    found, power = [], h
    for _ in range(powers):
        by_x = (power << 1 & (1 << 128) - 1) ^ ((POLYNOMIAL << 1 | 1) & (1 << 128) - 1 if power >> 127 else 0)
        for form in (power, ghash_times(power, 1 << 126), by_x):
            found += [form.to_bytes(16, "big"), form.to_bytes(16, "little")]
        power = ghash_times(power, h)
    return found


# ---- GCM-SIV (RFC 8452) ---------------------------------------------------------------------------


def siv_secrets(key: bytes, nonce: bytes) -> list[bytes]:
    """Section 4: the keys of a message, and the round keys of the one that encrypts it."""
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    halves = [encryptor.update(i.to_bytes(4, "little") + nonce)[:8] for i in range(2 + len(key) // 8)]
    authenticates, encrypts = b"".join(halves[:2]), b"".join(halves[2:])
    return [authenticates, authenticates[::-1], *aes_secrets(encrypts)]


# ---- SHA-256 (FIPS 180-4) -------------------------------------------------------------------------


def primes() -> Iterator[int]:
    n = 2
    while True:
        if all(n % d for d in range(2, isqrt(n) + 1)):
            yield n
        n += 1


def root_bits(n: int, degree: int) -> int:
    """The first 32 bits of the fraction of n's square or cube root (sections 4.2.2 and 5.3.3)."""
    low, high = 0, n << 32
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= n << 32 * degree else (low, middle)
    return low & 0xFFFFFFFF


FIRST_64 = [p for p, _ in zip(primes(), range(64), strict=False)]
INITIAL = [root_bits(p, 2) for p in FIRST_64[:8]]
CONSTANTS = [root_bits(p, 3) for p in FIRST_64]


def turn(x: int, n: int) -> int:
    return (x >> n | x << 32 - n) & 0xFFFFFFFF


def sha256_state(block: bytes) -> list[int]:
    """Section 6.2.2: the state after one block."""
    w = list(struct.unpack(">16I", block))
    for t in range(16, 64):
        small0 = turn(w[t - 15], 7) ^ turn(w[t - 15], 18) ^ w[t - 15] >> 3
        small1 = turn(w[t - 2], 17) ^ turn(w[t - 2], 19) ^ w[t - 2] >> 10
        w.append((small1 + w[t - 7] + small0 + w[t - 16]) & 0xFFFFFFFF)
    a, b, c, d, e, f, g, h = INITIAL
    for t in range(64):
        t1 = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + (e & f ^ ~e & g) + CONSTANTS[t] + w[t]
        t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (a & b ^ a & c ^ b & c)
        h, g, f, e, d, c, b, a = g, f, e, (d + t1) & 0xFFFFFFFF, c, b, a, (t1 + t2) & 0xFFFFFFFF
    return [(x + y) & 0xFFFFFFFF for x, y in zip(INITIAL, (a, b, c, d, e, f, g, h), strict=True)]


def sha256_secrets(message: bytes) -> list[bytes]:
    """A message of 64 to 127 bytes: its state after the first block, and the rest, which is buffered."""
    return [*forms_of_state(sha256_state(message[:64])), message[64:]]


def hmac_secrets(key: bytes) -> list[bytes]:
    """HMAC with SHA-256 under a key of up to a block: the two pads, and the states after them."""
    pads = [bytes(byte ^ pad for byte in key) for pad in (0x36, 0x5C)]
    states = [
        sha256_state(p + bytes([pad]) * (64 - len(p))) for p, pad in zip(pads, (0x36, 0x5C), strict=True)
    ]
    return [*pads, *(form for state in states for form in forms_of_state(state))]


def forms_of_state(state: Sequence[int]) -> list[bytes]:
    """As words of this machine, as a digest, and in the order of SHA-NI's registers, FEBA HGDC."""
    shuffled = struct.pack("=8I", *(state[i] for i in (5, 4, 1, 0, 7, 6, 3, 2)))
    return [struct.pack("=8I", *state), struct.pack(">8I", *state), shuffled]


# ---- SHA-1 (FIPS 180-4) ---------------------------------------------------------------------------

SHA1_INITIAL = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0)
#: Section 4.2.1: 2^30 times the roots of 2, 3, 5 and 10.
SHA1_CONSTANTS = [isqrt(n << 60) for n in (2, 3, 5, 10)]


def sha1_state(block: bytes) -> list[int]:
    """Section 6.1.2: the state after one block."""
    w = list(struct.unpack(">16I", block))
    for t in range(16, 80):
        w.append(turn(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 31))
    a, b, c, d, e = SHA1_INITIAL
    for t in range(80):
        f = (b & c ^ ~b & d, b ^ c ^ d, b & c ^ b & d ^ c & d, b ^ c ^ d)[t // 20]
        total = (turn(a, 27) + f + e + SHA1_CONSTANTS[t // 20] + w[t]) & 0xFFFFFFFF
        e, d, c, b, a = d, c, turn(b, 2), a, total
    return [(x + y) & 0xFFFFFFFF for x, y in zip(SHA1_INITIAL, (a, b, c, d, e), strict=True)]


def sha1_secrets(message: bytes) -> list[bytes]:
    """As sha256_secrets; SHA-NI has the state in the order a b c d."""
    state = sha1_state(message[:64])
    return [struct.pack("=5I", *state), struct.pack(">5I", *state), struct.pack("=4I", *state[3::-1])]


# ---- Pieces ---------------------------------------------------------------------------------------


def windows(secrets: Iterable[bytes]) -> list[bytes]:
    """Pieces of eight bytes at every fourth byte: half a round key left behind is found too."""
    pieces = (s[i : i + WINDOW] for s in secrets for i in range(0, len(s) - WINDOW + 1, 4))
    return [p for p in dict.fromkeys(pieces) if any(p)]
