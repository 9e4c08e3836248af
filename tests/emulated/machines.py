# SPDX-License-Identifier: Apache-2.0
"""The emulated processors and what must happen on each, written by hand.

What a model has is what the makers' manuals say of the processor, less what the emulator says it cannot
do; what is chosen follows from that and from csrc/kernels.def. A new row that is the best on one of
these processors makes its lines here wrong: say then, by hand, that it is right.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .build import MissingError

HERE = Path(__file__).resolve().parent

#: What the processors share, by generation.
CORE2 = "sse2 sse3 ssse3 sse4_1"
NEHALEM = f"{CORE2} sse4_2 popcnt"
WESTMERE = f"{NEHALEM} aes pclmulqdq"
SANDY_BRIDGE = f"{WESTMERE} avx"
HASWELL = f"{SANDY_BRIDGE} avx2 fma f16c movbe bmi1 bmi2 lzcnt"


#: What the processors choose for the hashes, by the best that they have.
HASHES_SSSE3 = "sha1_blocks=ssse3 sha256_blocks=ssse3 sha512_blocks=ssse3"
HASHES_AVX2 = "sha1_blocks=avx2 sha256_blocks=avx2 sha512_blocks=avx2 sha256_lanes=avx2"
HASHES_SHANI = "sha1_blocks=shani sha256_blocks=shani sha512_blocks=avx2 sha256_lanes=shani"


@dataclass(frozen=True)
class Model:
    """A processor: qemu's version and name for it, its features, and the row of each op."""

    qemu: int
    cpu: str
    features: str
    chosen: str
    #: A row that it cannot run: forced to, it must die, or the emulator proves nothing.
    doomed: str

    @property
    def name(self) -> str:
        return f"{self.cpu}@qemu{self.qemu}"


def rows(text: str) -> dict[str, str]:
    """`op=name ...` as a dict; what is left out is as on a processor with SSE2 alone."""
    base = "sha1_blocks=portable sha256_blocks=portable sha512_blocks=portable sha256_lanes=sse2"
    base += " timingsafe_bcmp=sse2 timingsafe_memcmp=gpr aes=portable"
    return dict(word.split("=") for word in f"{base} {text}".split())


MODELS = (
    Model(7, "qemu64", "sse2 sse3", "", "aes-aesni"),
    Model(7, "Penryn", CORE2, f"{HASHES_SSSE3} aes=vperm", "aes-vperm_pclmul"),
    Model(7, "Nehalem", NEHALEM, f"{HASHES_SSSE3} aes=vperm", "aes-aesni"),
    Model(7, "Westmere", WESTMERE, f"{HASHES_SSSE3} aes=aesni", "timingsafe_bcmp-avx2"),
    Model(7, "SandyBridge", SANDY_BRIDGE, f"{HASHES_SSSE3} aes=aesni", "timingsafe_bcmp-avx2"),
    Model(7, "Haswell", HASWELL, f"{HASHES_AVX2} aes=aesni timingsafe_bcmp=avx2", "sha256_blocks-shani"),
    # Every feature that qemu 7.2 emulates; of the vector forms of AES-NI and PCLMULQDQ the first alone.
    Model(
        7,
        "max",
        f"{HASWELL} adx vaes",
        f"{HASHES_AVX2} aes=aesni timingsafe_bcmp=avx2",
        "timingsafe_bcmp-avx512",
    ),
    Model(
        10,
        "EPYC",
        f"{HASWELL} adx sha_ni",
        f"{HASHES_SHANI} aes=aesni timingsafe_bcmp=avx2",
        "timingsafe_bcmp-avx512",
    ),
    Model(
        10,
        "max",
        f"{HASWELL} adx vaes sha_ni",
        f"{HASHES_SHANI} aes=aesni timingsafe_bcmp=avx2",
        "timingsafe_bcmp-avx512",
    ),
    Model(
        10,
        "Haswell,+sha-ni",
        f"{HASWELL} sha_ni",
        f"{HASHES_SHANI} aes=aesni timingsafe_bcmp=avx2",
        "timingsafe_bcmp-avx512",
    ),
    # CPUID still says AVX2, FMA, F16C and VAES, but nothing saves ymm registers.
    Model(
        10,
        "max,-avx",
        f"{WESTMERE} movbe bmi1 bmi2 lzcnt adx sha_ni",
        f"{HASHES_SHANI} sha512_blocks=ssse3 aes=aesni",
        "timingsafe_bcmp-avx2",
    ),
    # CPUID still says VAES: only the closure rule takes it away.
    Model(
        10,
        "max,-aes",
        f"{HASWELL.replace(' aes', '')} adx sha_ni",
        f"{HASHES_SHANI} aes=vperm_pclmul timingsafe_bcmp=avx2",
        "aes-aesni",
    ),
)

#: FASTCRYPT_CPU on qemu 7.2's max -> the row of each op.
SETTINGS = {
    "scalar": "timingsafe_bcmp=gpr sha256_lanes=portable",
    "x86-64": "",
    "x86-64-v2": f"{HASHES_SSSE3} aes=aesni",
    "x86-64-v3": f"{HASHES_AVX2} aes=aesni timingsafe_bcmp=avx2",
    "x86-64-v4": f"{HASHES_AVX2} aes=aesni timingsafe_bcmp=avx2",
    "native": f"{HASHES_AVX2} aes=aesni timingsafe_bcmp=avx2",
    "-avx2": f"{HASHES_SSSE3} aes=aesni",
    "-avx": f"{HASHES_SSSE3} aes=aesni",
    "-aes": f"{HASHES_AVX2} aes=vperm_pclmul timingsafe_bcmp=avx2",
    "-aes,-pclmulqdq": f"{HASHES_AVX2} aes=vperm timingsafe_bcmp=avx2",
    "-sse2": "timingsafe_bcmp=gpr sha256_lanes=portable",
    "-bmi2": f"{HASHES_SSSE3} aes=aesni timingsafe_bcmp=avx2 sha256_lanes=avx2",
    "x86-64-v3,-pclmulqdq,-avx2": f"{HASHES_SSSE3} aes=vperm",
}

#: The Python module is loaded on these: an interpreter is slow to start on an emulator.
MODULE_MODELS = ("Nehalem", "SandyBridge", "Haswell")


@dataclass(frozen=True)
class Architecture:
    """Another processor: no feature, no kernel but the portable ones."""

    arch: str
    qemu: str
    options: tuple[str, ...] = ()


ARCHITECTURES = (
    Architecture("s390x", "qemu-s390x-static"),  # big-endian
    Architecture("i386", "qemu-i386-static", ("-cpu", "pentium2")),  # 32 bits, no SSE
    Architecture("aarch64", "qemu-aarch64-static"),
)


def emulator(version: int) -> str:
    """The path of qemu-x86_64: 7 is Debian 12's, 10 is fetched from Debian 13."""
    if version == 10:
        return newer_emulator()
    found = shutil.which("qemu-x86_64")
    if found is None:
        raise MissingError("needs Debian package qemu-user")
    return found


def newer_emulator() -> str:
    done = subprocess.run([HERE / "fetch_qemu10.sh"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise MissingError(f"qemu-user 10 could not be fetched: {why}")
    return done.stdout.strip()


def other_emulator(architecture: Architecture) -> str:
    found = shutil.which(architecture.qemu)
    if found is None:
        raise MissingError("needs Debian package qemu-user-static")
    return found


def in_ci() -> bool:
    """Whether what is missing must have been installed."""
    return os.environ.get("CI") == "true"
