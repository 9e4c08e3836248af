# SPDX-License-Identifier: Apache-2.0
"""Which row must run, told from /proc/cpuinfo and the words of FASTCRYPT_CPU alone.

Written from the documentation of FASTCRYPT_CPU, not from csrc/cpu: two independent opinions that must
agree.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

#: What each level adds to the one below it. Crypto extensions count with the level whose registers
#: they need.
_LEVELS = {
    "x86-64": {"sse2"},
    "x86-64-v2": {
        *("sse3", "ssse3", "sse4_1", "sse4_2", "popcnt"),
        *("aes", "pclmulqdq", "sha_ni"),
    },
    "x86-64-v3": {
        *("avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe", "adx"),
        *("vaes", "vpclmulqdq", "gfni", "sha512"),
    },
    "x86-64-v4": {
        *("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
        *("avx512ifma", "avx512vbmi", "avx512_vbmi2"),
    },
}

#: Removing a feature removes what depends on it.
_DEPENDENTS = {
    "sse2": set().union(*_LEVELS.values()) - {"popcnt", "movbe", "bmi1", "bmi2", "lzcnt", "adx"},
    "avx": {"avx2", "fma", "f16c", "vaes", "vpclmulqdq", "sha512", *_LEVELS["x86-64-v4"]},
    "aes": {"vaes"},
    "pclmulqdq": {"vpclmulqdq"},
    "avx512f": _LEVELS["x86-64-v4"] - {"avx512f"},
}

_CPUINFO_NAMES = {"pni": "sse3", "abm": "lzcnt"}


def cpu_flags() -> frozenset[str]:
    """The flags that Linux reports: what the CPU has and the kernel lets programs use."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            words = line.split(":", 1)[1].split()
            return frozenset(_CPUINFO_NAMES.get(w, w) for w in words)
    raise OSError("/proc/cpuinfo has no flags")


def _ceiling(level: str) -> set[str]:
    if level == "native":
        return set().union(*_LEVELS.values())
    allowed: set[str] = set()
    if level == "scalar":
        return allowed
    for name, added in _LEVELS.items():
        allowed |= added
        if name == ("x86-64" if level == "baseline" else level):
            return allowed
    raise ValueError(level)


def usable(setting: str | None, flags: Iterable[str] | None = None) -> frozenset[str]:
    """The features that FASTCRYPT_CPU=setting leaves on a CPU with these flags (this one's)."""
    words = (setting or "native").split(",")
    level = "native" if words[0].startswith("-") else words.pop(0)
    left = _ceiling(level) & set(cpu_flags() if flags is None else flags)
    for word in words:
        feature = word.removeprefix("-")
        removed = _LEVELS["x86-64-v4"] if feature == "avx512" else {feature}
        for name in list(removed):
            removed = removed | _DEPENDENTS.get(name, set())
        left -= removed
    return frozenset(left)
