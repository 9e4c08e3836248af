# SPDX-License-Identifier: Apache-2.0
"""What fastcrypt has to reach, and whether a report shows that it does.

A target that was not measured (another CPU, no such rival, part left out) is not in the list.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bench.cases import FAMILY

#: operation-size, rival, at least this many times as fast.
RATIOS = (
    ("sha256-32B", "hashlib", 3.8),
    ("sha256_digest-32B", "hashlib", 6.0),
    ("sha256-16KiB", "hashlib", 0.98),
    ("sha256-1MiB", "hashlib", 0.98),
    ("sha1-32B", "hashlib", 3.5),
    ("sha384-32B", "hashlib", 2.2),
    ("sha512-32B", "hashlib", 2.2),
    *((f"{name}-1MiB", "hashlib", 0.98) for name in FAMILY),
    ("compare_digest-16B", "hmac", 2.0),
    ("compare_digest-32B", "hmac", 2.5),
    ("compare_digest-1KiB", "hmac", 12.0),
    ("compare_digest-64KiB", "hmac", 25.0),
    ("gcm_encrypt-16B", "cryptography", 5.0),
    ("gcm_encrypt-64B", "cryptography", 5.0),
    ("gcm_decrypt-16B", "cryptography", 5.0),
    ("gcm_decrypt-64B", "cryptography", 5.0),
    ("gcm_encrypt_into-16KiB", "cryptography", 0.4),
    ("gcm_encrypt_many-64B", "cryptography", 10.0),
    ("gcm_decrypt_many-64B", "cryptography", 10.0),
    ("gcm_stream_update_into-1KiB", "cryptography", 2.0),
    ("cbc_encrypt-1MiB", "cryptography", 0.98),
    ("gcm_siv_encrypt-16KiB", "cryptography", 1.0),
    ("gcm_siv_decrypt-16KiB", "cryptography", 1.0),
    ("cmac-16KiB", "cryptography", 0.98),
    ("key object-16B", "key new", 2.0),
    *(
        (f"{method} kept-{size}", "cryptography", 1.7)
        for method in ("ecb_encrypt", "ecb_decrypt", "cbc_decrypt", "ctr")
        for size in ("1KiB", "16KiB", "1MiB")
    ),
    ("cbc_encrypt_many-1MiB", "one by one", 7.0),
    ("xts_encrypt-16KiB", "cryptography", 1.0),
    ("xts_decrypt-16KiB", "cryptography", 1.0),
)
#: Workload of FreeBSD's benchmark -> at least this many times as fast as the byte loop.
MIXES = {"Short": 2.5, "Mid": 4.0, "Long": 4.0}
BYTE_LOOP = "byte loop not vectorized"
#: 32 sha256rnds2 that wait for each other, 4 cycles each.
SHANI_CYCLES = 128


@dataclass(frozen=True)
class Target:
    what: str
    against: str
    measured: float
    bound: float
    unit: str = "x"
    at_least: bool = True
    #: Not a bound that must hold but one that is hoped for.
    wish: bool = False

    @property
    def met(self) -> bool:
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound

    @property
    def verdict(self) -> str:
        if self.met:
            return "met"
        return "not reached (a wish)" if self.wish else "MISSED"

    def as_dict(self) -> dict[str, Any]:
        return {**vars(self), "met": self.met, "verdict": self.verdict}


def ratios(report: dict[str, Any]) -> Iterator[Target]:
    results = {result["name"]: result for result in report.get("results", [])}
    for name, rival, bound in RATIOS:
        if name in results and rival in results[name]["ratio"]:
            yield Target(name, rival, results[name]["ratio"][rival]["median"], bound)
    if result := results.get("compare_digest-1MiB"):
        rate = result["size"] / result["median"]["fastcrypt"]  # bytes a nanosecond
        yield Target("compare_digest-1MiB", "hmac's rate where this was written", rate, 1.3, "GB/s")
    if result := results.get("look-up-32B"):
        median = result["median"]
        price = median["looked up"] / (median["hoisted"] + median["attribute alone"])
        yield Target("the function looked up in the loop", "hoisted + Python's attribute look-up",
                     price, 1.05, at_least=False)  # fmt: skip


def sha256_kernels(native: dict[str, Any]) -> Iterator[Target]:
    rows = native.get("sha256_blocks", {}).get("rows", {})
    if "shani" in rows:
        yield Target("SHA-NI kernel, 16 KiB", f"{SHANI_CYCLES} cycles of sha256rnds2 a block, +3%",
                     rows["shani"]["256"]["cycles_median"], SHANI_CYCLES * 1.03, "cycles",
                     at_least=False)  # fmt: skip
    if "avx2" in native.get("openssl_sha256_without_sha", {}):
        yield Target("sha256 avx2, 16 KiB", "libcrypto without the SHA extensions",
                     native["openssl_sha256_without_sha"]["avx2"]["ratio"], 1.1)  # fmt: skip
    if "portable" in native.get("openssl_sha256", {}):
        yield Target("portable sha256, 16 KiB", "libcrypto's code for general registers",
                     native["openssl_sha256"]["portable"]["ratio"], 0.98)  # fmt: skip


def compare_kernels(native: dict[str, Any]) -> Iterator[Target]:
    workloads = native.get("timingsafe_bcmp", {})
    for mix, bound in MIXES.items():
        figures = workloads.get(mix, {})
        if "timingsafe_bcmp sse2" in figures:
            ratio = figures[BYTE_LOOP] / figures["timingsafe_bcmp sse2"]
            yield Target(f"timingsafe_bcmp sse2, {mix}", "the C byte loop", ratio, bound)
    for wide in ("avx2", "avx512"):
        excess = [over for over, _ in excesses(workloads, wide)]
        if excess:
            yield Target(f"timingsafe_bcmp {wide}, worst of {len(excess)} lengths",
                         "sse2 + the larger of 5% and 0.5 ns", max(excess), 0.0, "ns",
                         at_least=False)  # fmt: skip


def excesses(workloads: dict[str, Any], wide: str) -> list[tuple[float, str]]:
    """By how many nanoseconds a wider kernel is beyond what SSE2 allows it, and at which length."""
    found = []
    for length, figures in workloads.items():
        row, sse2 = figures.get(f"timingsafe_bcmp {wide}"), figures.get("timingsafe_bcmp sse2")
        if row is not None and sse2 is not None and length.isdigit():
            found.append((row - sse2 - max(0.05 * sse2, 0.5), length))
    return found


def portable_aes(native: dict[str, Any]) -> Iterator[Target]:
    suite = native.get("aes_modes", {}).get("portable", {})
    if suite:
        yield Target("bitsliced AES-256-CTR, 16 KiB", "", suite["ctr 16 KiB"]["256"], 30, "cycles/byte",
                     at_least=False)  # fmt: skip
        yield Target("portable GHASH, 16 KiB", "", suite["ghash 16 KiB"]["128"], 20, "cycles/byte",
                     at_least=False)  # fmt: skip


def chains(native: dict[str, Any]) -> Iterator[Target]:
    if "chain_instructions" in native:
        count = native["chain_instructions"]
        yield Target("instructions per 32-byte hash", "the fixed figure of the source", count, 474, "",
                     at_least=False)  # fmt: skip
        yield Target("instructions per 32-byte hash", "", count, 250, "", at_least=False, wish=True)


def others(report: dict[str, Any]) -> Iterator[Target]:
    if taken := report.get("import"):
        yield Target("import fastcrypt, CPU time", "an empty pybind11 module", taken["extra_cpu_ms"], 1.0,
                     "ms more", at_least=False)  # fmt: skip
    for pair in report.get("latency", []):
        rival = pair[pair["rival"]]
        ours = pair["fastcrypt"]
        yield Target(f"{pair['name']}, average rate", pair["rival"],
                     ours["ops"]["avg"] / rival["ops"]["avg"], 1.0)  # fmt: skip
        yield Target(f"{pair['name']}, 95P latency", pair["rival"],
                     rival["latency_ns"]["95p"] / ours["latency_ns"]["95p"], 1.0)  # fmt: skip


def judge(report: dict[str, Any]) -> list[Target]:
    native = report.get("native", {})
    return [
        *ratios(report),
        *sha256_kernels(native),
        *compare_kernels(native),
        *portable_aes(native),
        *chains(native),
        *others(report),
    ]
