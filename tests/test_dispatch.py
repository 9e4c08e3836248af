# SPDX-License-Identifier: Apache-2.0
"""Detection, FASTCRYPT_CPU, resolve and the sealed table (rows IPP-1, IPP-7, IPP-8, FB-2, P-2, P-3)."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import platform
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import rows
import vectors
from rows import Row

import fastcrypt
from fastcrypt import _core

ROOT = Path(__file__).resolve().parent.parent
X86_64 = platform.machine().lower() in ("x86_64", "amd64")
LINUX = sys.platform.startswith("linux")
on_x86_64 = pytest.mark.skipif(not X86_64, reason="x86-64 only")
on_linux = pytest.mark.skipif(not LINUX, reason="Linux only")

# ---- A model of design.md's rules, kept apart from csrc/cpu/features.def ----------------------------

V2_ADDS = "sse3 ssse3 sse4_1 sse4_2 popcnt aes pclmulqdq sha_ni"
V3_ADDS = "movbe bmi1 bmi2 lzcnt adx avx f16c fma avx2 vaes vpclmulqdq gfni sha512"
V4_ADDS = "avx512f avx512dq avx512cd avx512bw avx512vl avx512ifma avx512vbmi avx512_vbmi2"
LEVELS: dict[str, list[str]] = {
    "x86-64": ["sse2"],
    "x86-64-v2": V2_ADDS.split(),
    "x86-64-v3": V3_ADDS.split(),
    "x86-64-v4": V4_ADDS.split(),
}
FEATURES = list(itertools.chain.from_iterable(LEVELS.values()))
AVX512 = LEVELS["x86-64-v4"]
NEEDS: dict[str, list[str]] = {
    **{name: ["sse2"] for name in V2_ADDS.split() if name != "popcnt"},
    **{name: ["sse2"] for name in ("avx", "gfni")},
    **{name: ["sse2", "avx"] for name in ("avx2", "f16c", "fma", "sha512")},
    "vaes": ["sse2", "avx", "aes"],
    "vpclmulqdq": ["sse2", "avx", "pclmulqdq"],
    "avx512f": ["sse2", "avx"],
    **{name: ["sse2", "avx", "avx512f"] for name in AVX512[1:]},
}


def without(features: set[str], removed: str) -> set[str]:
    gone = {"avx512f" if removed == "avx512" else removed}
    return {f for f in features if f not in gone and not gone & set(NEEDS.get(f, []))}


def up_to(level: str, features: set[str]) -> set[str]:
    if level in ("", "native"):
        return set(features)
    level = {"baseline": "x86-64"}.get(level, level)
    allowed: set[str] = set()
    for name, names in LEVELS.items():
        if level == "scalar":
            break
        allowed |= set(names)
        if name == level:
            break
    return features & allowed


def best_rows(features: set[str]) -> dict[str, str]:
    """The first built row of each op whose features are all there."""
    table: dict[str, str] = {}
    for row in rows.all_rows():
        if row.built and row.features <= features:
            table.setdefault(row.op, row.name)
    return table


# ---- Detection ------------------------------------------------------------------------------------

OSXSAVE, AVX_BIT = 1 << 27, 1 << 28
LEAF1_ECX = {0: "sse3", 1: "pclmulqdq", 9: "ssse3", 12: "fma", 19: "sse4_1", 20: "sse4_2", 22: "movbe"}
LEAF1_ECX |= {23: "popcnt", 25: "aes", 28: "avx", 29: "f16c"}
LEAF7_EBX = {3: "bmi1", 5: "avx2", 8: "bmi2", 16: "avx512f", 17: "avx512dq", 19: "adx", 21: "avx512ifma"}
LEAF7_EBX |= {28: "avx512cd", 29: "sha_ni", 30: "avx512bw", 31: "avx512vl"}
LEAF7_ECX = {1: "avx512vbmi", 6: "avx512_vbmi2", 8: "gfni", 9: "vaes", 10: "vpclmulqdq"}
YMM = {"avx", "f16c", "fma", "avx2", "vaes", "vpclmulqdq", "sha512"}
ZMM = set(AVX512)
ALL_BITS = 0xFFFFFFFF


def decode(**words: int) -> set[str]:
    nothing = dict.fromkeys(
        ["leaf1_ecx", "leaf1_edx", "leaf7_ebx", "leaf7_ecx", "leaf7_1_eax", "leaf80000001_ecx", "xcr0"], 0
    )
    return set(_core.decode_cpuid(**{**nothing, **words}))


def bits(table: dict[int, str], *names: str) -> int:
    return sum(1 << bit for bit, name in table.items() if name in names)


def full_cpu(xcr0: int, leaf1_ecx: int = ALL_BITS) -> set[str]:
    return decode(
        leaf1_ecx=leaf1_ecx,
        leaf1_edx=ALL_BITS,
        leaf7_ebx=ALL_BITS,
        leaf7_ecx=ALL_BITS,
        leaf7_1_eax=ALL_BITS,
        leaf80000001_ecx=ALL_BITS,
        xcr0=xcr0,
    )


XCR0 = [
    (0x00, False, False),
    (0x02, False, False),
    (0x03, False, False),
    (0x04, False, False),
    (0x05, False, False),
    (0x06, True, False),
    (0x07, True, False),
    (0x27, True, False),
    (0x67, True, False),
    (0xA7, True, False),
    (0xC7, True, False),
    (0xE0, False, False),
    (0xE1, False, False),
    (0xE3, False, False),
    (0xE5, False, False),
    (0xE6, True, True),
    (0xE7, True, True),
    (0x2E7, True, True),
]


@pytest.mark.parametrize(("xcr0", "ymm", "zmm"), XCR0)
def test_wide_registers_only_if_the_os_saves_them(xcr0: int, ymm: bool, zmm: bool) -> None:
    expected = set(FEATURES) - (set() if ymm else YMM | ZMM) - (set() if zmm else ZMM)
    assert full_cpu(xcr0) == expected


@pytest.mark.parametrize("xcr0", [0, 7, 0xE7])
def test_without_osxsave_xcr0_means_nothing(xcr0: int) -> None:
    assert full_cpu(xcr0, ALL_BITS & ~OSXSAVE) == set(FEATURES) - YMM - ZMM


def test_rosetta_keeps_128_bit_crypto() -> None:
    """AES, PCLMUL, SHA with SSE registers and no OSXSAVE: all three must be used."""
    names = ("sse3", "ssse3", "sse4_1", "sse4_2", "aes", "pclmulqdq", "popcnt")
    found = decode(leaf1_ecx=bits(LEAF1_ECX, *names), leaf1_edx=1 << 26, leaf7_ebx=bits(LEAF7_EBX, "sha_ni"))
    assert found == {*names, "sha_ni", "sse2"}
    if X86_64:
        assert _core.resolve(found)["sha256_blocks"] == "shani"
        assert _core.resolve(found)["timingsafe_bcmp"] == "sse2"
        assert _core.resolve(found).get("aes", "aesni") == "aesni"


def test_vaes_does_not_imply_avx512() -> None:
    """Zen 3, Alder Lake: VAES and VPCLMULQDQ on ymm registers."""
    found = decode(
        leaf1_ecx=OSXSAVE | bits(LEAF1_ECX, "aes", "avx", "pclmulqdq", "ssse3", "sse4_1"),
        leaf1_edx=1 << 26,
        leaf7_ebx=bits(LEAF7_EBX, "avx2"),
        leaf7_ecx=bits(LEAF7_ECX, "vaes", "vpclmulqdq"),
        xcr0=7,
    )
    assert {"vaes", "vpclmulqdq", "avx2"} <= found
    assert not found & set(AVX512)
    assert "512" not in "".join(_core.resolve(found).values())


@pytest.mark.parametrize("missing", ["aes", "pclmulqdq", "avx", "sha_ni", "avx512f"])
def test_a_hypervisor_that_hides_one_bit(missing: str) -> None:
    """What depends on the hidden bit goes with it, everything else stays."""
    words = {
        "leaf1_ecx": ALL_BITS & ~bits(LEAF1_ECX, missing),
        "leaf7_ebx": ALL_BITS & ~bits(LEAF7_EBX, missing),
    }
    rest = dict.fromkeys(["leaf1_edx", "leaf7_ecx", "leaf7_1_eax", "leaf80000001_ecx"], ALL_BITS)
    assert decode(**words, **rest, xcr0=0xE7) == without(set(FEATURES), missing)


@pytest.mark.parametrize(
    ("word", "table"), [("leaf1_ecx", LEAF1_ECX), ("leaf7_ebx", LEAF7_EBX), ("leaf7_ecx", LEAF7_ECX)]
)
def test_every_bit_alone(word: str, table: dict[int, str]) -> None:
    """Each bit of CPUID gives its feature (where nothing else is needed for it) and no other."""
    for bit in range(32):
        words = {"leaf1_ecx": OSXSAVE, "leaf1_edx": 1 << 26, "xcr0": 0xE7, word: 1 << bit}
        if word == "leaf1_ecx":
            words["leaf1_ecx"] |= OSXSAVE
        name = table.get(bit)
        expected = {"sse2", name} if name and set(NEEDS.get(name, [])) <= {"sse2"} else {"sse2"}
        assert decode(**words) == expected, (word, bit)


def test_no_bits_no_features() -> None:
    assert decode() == set()
    assert decode(xcr0=0xE7) == set()


CPUINFO_NAMES = {"sse3": "pni", "lzcnt": "abm"}


@on_x86_64
@on_linux
def test_detection_against_proc_cpuinfo() -> None:
    """The kernel shows a flag only if it saves the registers that the feature needs."""
    flags = next(
        line.partition(":")[2].split()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("flags")
    )
    shown = {name for name in FEATURES if CPUINFO_NAMES.get(name, name) in flags}
    detected = _core.detected_features()
    assert detected - {"sha512"} == shown - {"sha512"}  # older kernels have no name for it


# ---- FASTCRYPT_CPU --------------------------------------------------------------------------------

WHOLE = set(FEATURES)
SCALAR = {"popcnt", "movbe", "bmi1", "bmi2", "lzcnt", "adx"} & WHOLE
V1, V2, V3 = (up_to(level, WHOLE) for level in ("x86-64", "x86-64-v2", "x86-64-v3"))

#: setting, the CPU's features, what is left
NARROWED: list[tuple[str, set[str], set[str]]] = [
    ("", WHOLE, WHOLE),
    ("native", WHOLE, WHOLE),
    ("native", V2, V2),
    ("scalar", WHOLE, set()),
    ("x86-64", WHOLE, {"sse2"}),
    ("baseline", WHOLE, {"sse2"}),
    ("x86-64-v2", WHOLE, V2),
    ("x86-64-v3", WHOLE, V3),
    ("x86-64-v4", WHOLE, WHOLE),
    ("x86-64-v4", V2, V2),  # a level above the CPU is no error
    ("x86-64-v3", V1, V1),
    ("scalar", set(), set()),
    ("-sha_ni", WHOLE, WHOLE - {"sha_ni"}),
    ("-sha_ni", V1, V1),  # nor is a feature that it lacks
    ("native,-sha_ni", WHOLE, WHOLE - {"sha_ni"}),
    ("x86-64-v3,-avx2", WHOLE, V3 - {"avx2"}),
    ("scalar,-avx512", WHOLE, set()),
    ("-avx512", WHOLE, V3),
    ("-avx512f", WHOLE, V3),
    ("-avx512bw", WHOLE, WHOLE - {"avx512bw"}),
    ("-avx", WHOLE, WHOLE - YMM - ZMM),
    ("-aes", WHOLE, WHOLE - {"aes", "vaes"}),
    ("-pclmulqdq", WHOLE, WHOLE - {"pclmulqdq", "vpclmulqdq"}),
    ("-aes,-pclmulqdq", WHOLE, WHOLE - {"aes", "vaes", "pclmulqdq", "vpclmulqdq"}),
    ("-sse2", WHOLE, SCALAR),
    ("-sse2,-sse2", WHOLE, SCALAR),
    ("x86-64-v2,-sse2", WHOLE, {"popcnt"}),
    ("x86-64-v2,-sha_ni,-aes,-ssse3", WHOLE, V2 - {"sha_ni", "aes", "ssse3"}),
]


@on_x86_64
@pytest.mark.parametrize(("setting", "cpu", "left"), NARROWED, ids=[row[0] or "empty" for row in NARROWED])
def test_fb_2_narrow(setting: str, cpu: set[str], left: set[str]) -> None:
    assert _core.narrow(cpu, setting) == left


UNKNOWN = {
    "nope": "nope",
    "Native": "Native",
    "SCALAR": "SCALAR",
    " native": " native",
    "native ": "native ",
    "x86-64-v5": "x86-64-v5",
    "x86-64-v": "x86-64-v",
    "x86_64": "x86_64",
    "haswell": "haswell",
    "+sha_ni": "+sha_ni",
    "!scalar": "!scalar",
    "sha_ni": "sha_ni",
    "-": "-",
    "--sha_ni": "--sha_ni",
    "-SHA_NI": "-SHA_NI",
    "-native": "-native",
    "-sha_ni,scalar": "scalar",
    "scalar,native": "native",
    "native,-sha_ni,nope": "nope",
    "native,-sha": "-sha",
    "native,-sha_ni2": "-sha_ni2",
    ",": "",
    "native,": "",
    ",-sha_ni": "",
    "-sha_ni,,-aes": "",
    "-sha_ni, -aes": " -aes",
    "scalar;-aes": "scalar;-aes",
    "\u00e9": "\u00e9",
    "x" * 500: "x" * 40,
}


@pytest.mark.parametrize("setting", UNKNOWN, ids=range(len(UNKNOWN)))
def test_fb_2_unknown_words(setting: str) -> None:
    with pytest.raises(ValueError, match="FASTCRYPT_CPU") as caught:
        _core.narrow([], setting)
    assert f"unknown word '{UNKNOWN[setting]}" in str(caught.value)
    for word in ("scalar", "native", *(["x86-64-v3", "sha_ni", "avx512"] if X86_64 else [])):
        assert word in str(caught.value)


@on_x86_64
@pytest.mark.parametrize("removed", [*FEATURES, "avx512"])
def test_removal_takes_what_depends_on_it(removed: str) -> None:
    left = _core.narrow(WHOLE, f"-{removed}")
    assert left == without(WHOLE, removed)
    for level in LEVELS:
        assert _core.narrow(WHOLE, f"{level},-{removed}") == without(up_to(level, WHOLE), removed)


def test_narrow_never_adds() -> None:
    for cpu in (set(), V1, V2, {"avx2", "avx"}, {"sha_ni"}):
        for setting in ("", "native", "scalar", *(LEVELS if X86_64 else [])):
            assert _core.narrow(cpu, setting) <= cpu


def test_unknown_feature_names() -> None:
    for call in (lambda: _core.narrow(["sha"], ""), lambda: _core.resolve(["nope"])):
        with pytest.raises(ValueError, match="unknown feature"):
            call()


# ---- resolve --------------------------------------------------------------------------------------


def removable() -> list[str]:
    return sorted(set().union(*(row.features for row in rows.all_rows())))


def test_every_subset_of_features_gives_a_complete_table() -> None:
    """Each op gets its first row that fits, and none is left without one."""
    names = removable()
    ops = {row.op for row in rows.all_rows() if row.built}
    assert len(names) <= 16, "too many subsets: choose among them"
    for size in range(len(names) + 1):
        for subset in itertools.combinations(names, size):
            table = _core.resolve(subset)
            assert table.keys() == ops
            assert table == best_rows(set(subset))


@pytest.mark.parametrize("level", ["scalar", *LEVELS])
def test_resolve_of_each_level(level: str) -> None:
    features = up_to(level, WHOLE)
    table = _core.resolve(features)
    assert table == best_rows(features)
    if level == "scalar":
        assert set(table.values()) <= {"gpr", "portable"}
    if X86_64 and level == "x86-64-v3":
        assert (table["sha256_blocks"], table["timingsafe_bcmp"]) == ("shani", "avx2")


#: FASTCRYPT_CPU on a processor that has everything -> the AES suite, where AES-NI is not to be had.
WITHOUT_AES_NI = {
    "-aes": "vperm_pclmul",
    "x86-64-v2,-aes": "vperm_pclmul",
    "-aes,-sse4_1": "vperm",
    "-pclmulqdq": "vperm",
    "-aes,-pclmulqdq": "vperm",
    "-ssse3": "portable",
    "x86-64": "portable",
}


@on_x86_64
@pytest.mark.parametrize("setting", WITHOUT_AES_NI)
def test_the_suite_without_aes_ni(setting: str) -> None:
    assert _core.resolve(_core.narrow(WHOLE, setting))["aes"] == WITHOUT_AES_NI[setting]


def test_rows_are_complete() -> None:
    listed = rows.all_rows()
    assert len({row.id for row in listed}) == len(listed)
    for op in {row.op for row in listed}:
        of_op = [row for row in listed if row.op == op]
        assert of_op[-1].name == "portable"
        assert not of_op[-1].features
        assert [row.name for row in of_op if row.chosen] == [fastcrypt.kernels().get(op)] or not any(
            row.built for row in of_op
        )
    for row in listed:
        assert row.runnable == (row.built and row.features <= _core.detected_features())
        assert row.symbols[0].startswith(f"fc_{row.op}")


def test_p_2_what_runs() -> None:
    assert fastcrypt.kernels() == best_rows(set(fastcrypt.cpu_features()))
    assert {"sha256_blocks", "timingsafe_bcmp", "timingsafe_memcmp"} <= fastcrypt.kernels().keys()
    fastcrypt.self_test()


# ---- The table against the sources ----------------------------------------------------------------


@on_x86_64
def test_assembly_files_and_rows_are_one_to_one() -> None:
    """Each function in asm/ is in the table and the other way round; portable ones have a C body."""
    asm = ROOT / "asm/x86_64"
    if not asm.is_dir():
        pytest.skip("the sources are not here")
    defined: list[str] = []
    for file in sorted(asm.iterdir()):
        defined += re.findall(r"^\s*FC_FUNC\((\w+)\)", file.read_text(), flags=re.M)
    assert len(defined) == len(set(defined))
    symbols = {symbol for row in rows.all_rows() for symbol in row.symbols}
    assembly = {symbol for symbol in symbols if not symbol.endswith("_portable")}
    assert set(defined) == assembly
    c_text = "".join(file.read_text() for file in (ROOT / "csrc/portable").glob("*.[ch]"))
    for symbol in symbols - assembly:
        assert re.search(rf"\b{symbol}(_body)?\b|\bFC_PORTABLE\w*\({symbol[3:-9]}\b", c_text), symbol


@on_x86_64
def test_every_row_has_its_file() -> None:
    asm = ROOT / "asm/x86_64"
    if not asm.is_dir():
        pytest.skip("the sources are not here")
    named = {f"{row.op}_{row.name}" for row in rows.all_rows() if row.name != "portable"}
    assert named == {file.stem for file in asm.glob("*.S")} - {"portable_entries"}


# ---- call_kernel ----------------------------------------------------------------------------------


def test_ipp_7_row_that_the_cpu_cannot_run() -> None:
    refused = [row for row in rows.all_rows() if row.built and not row.runnable]
    if not refused:
        pytest.skip("every row runs here")
    for row in refused:
        with pytest.raises(ValueError, match=f"this CPU cannot run {row.id}"):
            row(b"", b"")


def test_ipp_7_both_forms_by_name(sha256_blocks_row: Row) -> None:
    """The generic form and the NI form are each called by name, whatever was chosen."""
    state = bytearray(32)
    sha256_blocks_row(state, bytes(64))
    assert state != bytearray(32)


@pytest.mark.parametrize(
    ("op", "name"), [("sha256_blocks", "nope"), ("nope", "portable"), ("", ""), ("aes", "gpr")]
)
def test_call_kernel_unknown_row(op: str, name: str) -> None:
    with pytest.raises(ValueError, match="no row"):
        _core.call_kernel(op, name, bytearray(32), b"")


def test_call_kernel_checks_sizes(sha256_blocks_row: Row) -> None:
    for size in (0, 31, 33, 64):
        with pytest.raises(ValueError, match=rf"state must be 32 bytes, received {size}"):
            sha256_blocks_row(bytearray(size), bytes(64))
    for size in (1, 63, 65, 127):
        with pytest.raises(ValueError, match=rf"data must be a multiple of 64 bytes, received {size}"):
            sha256_blocks_row(bytearray(32), bytes(size))


@pytest.mark.parametrize("op", ["timingsafe_bcmp", "timingsafe_memcmp"])
def test_call_kernel_checks_lengths_of_compares(op: str) -> None:
    with pytest.raises(ValueError, match="b must be 3 bytes, received 2"):
        _core.call_kernel(op, "portable", b"abc", b"ab")


def test_call_kernel_checks_types(sha256_blocks_row: Row) -> None:
    bad: list[Any] = [None, 5, "text", [1], object()]
    for value in bad:
        for buffers in ((value, bytes(64)), (bytearray(32), value)):
            with pytest.raises((TypeError, BufferError)):
                sha256_blocks_row(*buffers)
    with pytest.raises((TypeError, BufferError)):
        sha256_blocks_row(bytes(32), bytes(64))  # the state is written
    with pytest.raises(BufferError):
        sha256_blocks_row(bytearray(32), memoryview(bytes(128))[::2])
    for count in (0, 1, 3):
        with pytest.raises(TypeError, match=f"takes 2 buffers, received {count}"):
            sha256_blocks_row(*[bytearray(64)] * count)


# ---- Child processes ------------------------------------------------------------------------------


def child(code: str, *args: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if key != "FASTCRYPT_CPU"}
    return subprocess.run(
        [sys.executable, "-c", code, *args],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        env={**env, **environment},
        timeout=120,
    )


VECTOR_RUN = """
import json, sys
import fastcrypt
hashes, pairs, ciphers, records = json.load(sys.stdin)
for message, digest in hashes:
    message = bytes.fromhex(message)
    assert fastcrypt.sha256(message).hexdigest() == digest
    assert fastcrypt.sha256_hexdigest(message) == digest
for a, b in pairs:
    a, b = bytes.fromhex(a), bytes.fromhex(b)
    assert fastcrypt.timingsafe_bcmp(a, b) == (a != b)
    assert fastcrypt.compare_digest(a, b) is (a == b)
    assert fastcrypt.timingsafe_memcmp(a, b) == (a > b) - (a < b)
for mode, key, iv, plain, cipher in ciphers:
    key, iv, plain, cipher = map(bytes.fromhex, (key, iv, plain, cipher))
    iv = iv or None
    assert fastcrypt.aes_encrypt(key, plain, mode=mode, iv=iv) == cipher
    assert fastcrypt.aes_decrypt(key, cipher, mode=mode, iv=iv) == plain
for key, iv, aad, plain, sealed in records:
    key, iv, aad, plain, sealed = map(bytes.fromhex, (key, iv, aad, plain, sealed))
    assert fastcrypt.AESGCM(key).encrypt(iv, plain, aad) == sealed
    assert fastcrypt.AESGCM(key).decrypt(iv, sealed, aad) == plain
fastcrypt.self_test()
print(json.dumps([sorted(fastcrypt.cpu_features()), fastcrypt.kernels()]))
"""


def vector_set() -> str:
    """At most 500: NIST's short messages, AES in its modes, pairs that differ in one byte or nowhere."""
    cases = vectors.nist("hashes/SHA2/SHA256ShortMsg.rsp", 65)
    hashes = [(case["Msg"][: int(case["Len"]) // 4], case["MD"]) for case in cases]
    pairs = []
    for size in (
        0,
        1,
        2,
        3,
        4,
        7,
        8,
        9,
        15,
        16,
        17,
        31,
        32,
        33,
        47,
        48,
        63,
        64,
        65,
        127,
        128,
        129,
        255,
        1000,
    ):
        data = hashlib.sha512(bytes([size % 256])).digest() * 16
        a = data[:size]
        pairs += [(a, a)] + (
            [(a, a[:-1] + bytes([a[-1] ^ 1])), (bytes([a[0] ^ 0x80]) + a[1:], a)] if size else []
        )
    ciphers, records = cipher_vectors(), gcm_vectors()
    assert len(hashes) + len(pairs) + len(ciphers) + len(records) <= 500
    return json.dumps([hashes, [(a.hex(), b.hex()) for a, b in pairs], ciphers, records])


def cipher_vectors() -> list[tuple[str, str, str, str, str]]:
    """(mode, key, iv, plaintext, ciphertext): NIST's multi-block messages and RFC 3686."""
    modes = [(mode, bits) for mode in ("ecb", "cbc") for bits in (128, 256)]
    files = [(mode, f"{mode.upper()}/{mode.upper()}MMT{bits}.rsp", 20) for mode, bits in modes]
    files += [("ctr", f"CTR/aes-{bits}-ctr.txt", 3) for bits in (128, 192, 256)]
    return [
        (mode, case["KEY"], case.get("IV", ""), case["PLAINTEXT"], case["CIPHERTEXT"])
        for mode, name, count in files
        for case in vectors.nist(f"ciphers/AES/{name}", count)
    ]


def gcm_vectors() -> list[tuple[str, str, str, str, str]]:
    """(key, nonce, aad, plaintext, ciphertext and tag) of whole tags and nonces that the API takes."""
    cases = [
        case
        for case in vectors.nist("ciphers/AES/GCM/gcmEncryptExtIV256.rsp", 7875)
        if len(case["Tag"]) == 32 and 16 <= len(case["IV"]) <= 256
    ]
    return [(c["Key"], c["IV"], c["AAD"], c["PT"], c["CT"] + c["Tag"]) for c in cases[:: len(cases) // 60]]


SETTINGS = [
    "",
    "scalar",
    "native",
    *(["baseline", *LEVELS, *(f"-{name}" for name in [*FEATURES, "avx512"])] if X86_64 else []),
]


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_setting_in_a_process_of_its_own(setting: str) -> None:
    run = child(VECTOR_RUN, stdin=vector_set(), FASTCRYPT_CPU=setting)
    assert run.returncode == 0, run.stderr
    features, kernels = json.loads(run.stdout)
    usable = set(_core.detected_features())
    expected = without(usable, setting[1:]) if setting.startswith("-") else up_to(setting, usable)
    assert set(features) == expected
    assert kernels == best_rows(expected)


def test_unknown_word_is_an_import_error() -> None:
    run = child("import fastcrypt", FASTCRYPT_CPU="native,-sha3")
    assert run.returncode == 1
    error = run.stderr.splitlines()[-1]
    assert error.startswith("ImportError: FASTCRYPT_CPU: unknown word '-sha3'. Valid: scalar, ")
    assert "native" in error
    if X86_64:
        assert all(name in error for name in [*FEATURES, *LEVELS, "avx512", "baseline"])


@pytest.mark.parametrize("setting", [b"\xff", b"-\xc3", "\u00e9".encode() * 40, b"nope\x80"])
def test_setting_that_is_no_text_is_an_import_error(setting: bytes) -> None:
    environment = {**os.environb, b"FASTCRYPT_CPU": setting}
    done = subprocess.run(
        [sys.executable, "-c", "import fastcrypt"], env=environment, capture_output=True, check=False
    )
    assert done.returncode == 1
    assert b"ImportError: FASTCRYPT_CPU: unknown word '" in done.stderr
    assert b"Valid: scalar" in done.stderr


def test_import_again_after_an_import_error() -> None:
    code = """
import os
try:
    import fastcrypt
except ImportError:
    os.environ["FASTCRYPT_CPU"] = "scalar"
    import fastcrypt
    print(fastcrypt.kernels()["sha256_blocks"])
"""
    run = child(code, FASTCRYPT_CPU="nope")
    assert (run.returncode, run.stdout) == (0, "portable\n"), run.stderr


def test_setting_is_read_once() -> None:
    code = """
import os, fastcrypt
before = fastcrypt.kernels()
os.environ["FASTCRYPT_CPU"] = "scalar"
for name in [name for name in __import__("sys").modules if name.startswith("fastcrypt")]:
    del __import__("sys").modules[name]
import fastcrypt
assert fastcrypt.kernels() == before
"""
    run = child(code)
    assert run.returncode == 0, run.stderr


# ---- The seal -------------------------------------------------------------------------------------


def permissions(address: int) -> str:
    for line in Path("/proc/self/maps").read_text().splitlines():
        bounds, mode = line.split()[:2]
        start, stop = (int(bound, 16) for bound in bounds.split("-"))
        if start <= address < stop:
            return mode
    raise AssertionError("no such page")


@on_linux
def test_ipp_1_table_lies_in_read_only_memory() -> None:
    assert fastcrypt.build_info()["table_is_read_only"] is True
    address = _core.table_address()
    page = os.sysconf("SC_PAGE_SIZE")
    assert address % page == 0
    assert permissions(address) == permissions(address + page - 1) == "r--p"


POKE = """
import ctypes, resource, sys
from fastcrypt import _core
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
address = _core.table_address() + int(sys.argv[1])
print(bytes(ctypes.string_at(address, 8)).hex(), flush=True)
if sys.argv[2] == "write":
    ctypes.memset(address, 0, 1)
print("alive")
"""


@on_linux
@pytest.mark.parametrize("offset", [0, 8, 100, 4095])
def test_ipp_1_a_write_to_the_table_is_fatal(offset: int) -> None:
    reader = child(POKE, str(offset if offset < 4088 else 4088), "read")
    assert reader.returncode == 0
    assert reader.stdout.endswith("alive\n")
    writer = child(POKE, str(offset if offset < 4088 else 4088), "write")
    assert writer.returncode == -signal.SIGSEGV, (writer.returncode, writer.stderr)
    assert "alive" not in writer.stdout


THREADS = """
import hashlib, threading
barrier, wrong = threading.Barrier(8), []
def first_use(i):
    message = bytes([i]) * 1000
    barrier.wait()
    import fastcrypt
    if fastcrypt.sha256(message).digest() != hashlib.sha256(message).digest():
        wrong.append(i)
    if fastcrypt.timingsafe_bcmp(message, message + b"") != 0:
        wrong.append(i)
threads = [threading.Thread(target=first_use, args=(i,)) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not wrong
"""


def test_ipp_8_eight_threads_import_at_once() -> None:
    """50 fresh processes; hash in the same moment as the import ends."""
    command = [sys.executable, "-c", THREADS]
    for _ in range(25):
        pair = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        for process in pair:
            _, errors = process.communicate(timeout=120)
            assert process.returncode == 0, errors


if sys.version_info >= (3, 12):
    INTERPRETERS = """
import threading
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
code = '''
import fastcrypt
assert fastcrypt.sha256(b"abc").hexdigest().startswith("ba7816bf")
assert fastcrypt.timingsafe_bcmp(b"a" * 100, b"a" * 99 + b"b") == 1
'''
barrier, failures = threading.Barrier(4), []
def work():
    interpreter = interpreters.create()
    barrier.wait()
    failure = interpreters.run_string(interpreter, code)
    if failure is not None:
        failures.append(str(failure))
    interpreters.destroy(interpreter)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not failures, failures
exec(code)
"""

    def test_ipp_8_four_interpreters_import_at_once() -> None:
        """Each has its own GIL and import lock: only the table's state word keeps them apart."""
        for _ in range(10):
            run = child(INTERPRETERS)
            assert run.returncode == 0, run.stderr


# ---- Import ---------------------------------------------------------------------------------------


def test_odd_openssl_settings_have_no_effect() -> None:
    code = """
import sys, fastcrypt
assert fastcrypt.sha256(b"abc").hexdigest().startswith("ba7816bf")
assert fastcrypt.compare_digest(b"a", b"a")
print([name for name in ("ssl", "_ssl", "_hashlib") if name in sys.modules])
"""
    run = child(code, OPENSSL_CONF="/nonexistent", OPENSSL_MODULES="/x", OPENSSL_ia32cap="nonsense")
    assert (run.returncode, run.stdout, run.stderr) == (0, "[]\n", "")


def test_import_loads_no_other_crypto() -> None:
    code = """
import sys
before = set(sys.modules)
import fastcrypt
print(" ".join(sorted(set(sys.modules) - before)))
"""
    loaded = child(code).stdout.split()
    assert "fastcrypt._core" in loaded
    families = {name.partition(".")[0].lstrip("_") for name in loaded}
    banned = {
        "hashlib",
        "hmac",
        "ssl",
        "cryptography",
        "Crypto",
        "subprocess",
        "ctypes",
        "cpuinfo",
        "blake2",
        "sha2",
    }
    assert not families & banned
    assert {name for name in loaded if not name.startswith("fastcrypt")} <= {"__future__"}


AUDIT = """
import sys
events = []
def note(event, arguments):
    if event == "open" or event.startswith(("subprocess", "os.", "socket", "ctypes", "shutil")):
        events.append((event, str(arguments[0]) if arguments else ""))
sys.addaudithook(note)
import fastcrypt
seen = list(events)
print(fastcrypt.__file__)
for event, argument in seen:
    print(event, argument)
"""


def test_p_3_import_opens_only_the_package_and_starts_nothing() -> None:
    run = child(AUDIT)
    assert run.returncode == 0, run.stderr
    where, *events = run.stdout.splitlines()
    package = str(Path(where).parent)
    assert events, "the hook saw nothing"
    for line in events:
        event, _, argument = line.partition(" ")
        assert event in ("open", "os.listdir", "os.scandir"), line
        assert argument.startswith(package) or event != "open", line


@on_linux
def test_p_3_module_has_no_means_to_open_or_start_anything() -> None:
    """What the audit hook cannot see: calls from C. The names that the module imports show them."""
    elffile = pytest.importorskip("elftools.elf.elffile")
    with open(str(_core.__file__), "rb") as file:
        symbols = elffile.ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        imported = {s.name.partition("@")[0] for s in symbols if s["st_shndx"] == "SHN_UNDEF"}
    assert "PyObject_GetBuffer" in imported
    forbidden = (
        r"f?open(64|at|at64)?|f?d?open|popen|system|fork|vfork|clone|exec\w+|posix_spawnp?|socket|dlopen"
    )
    assert not [name for name in imported if re.fullmatch(forbidden, name)]
