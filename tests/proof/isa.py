# SPDX-License-Identifier: Apache-2.0
"""Which CPU features an instruction needs, and whether a row asks for them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from .disassembly import ROOT, Function, Instruction

#: capstone's groups of instructions -> the feature, as /proc/cpuinfo spells it.
_GROUPS = {
    "sse3": "sse3",
    "ssse3": "ssse3",
    "sse41": "sse4_1",
    "sse42": "sse4_2",
    "aes": "aes",
    "pclmul": "pclmulqdq",
    "sha": "sha_ni",
    "bmi": "bmi1",
    "bmi2": "bmi2",
    "adx": "adx",
    "fma": "fma",
    "f16c": "f16c",
    "avx": "avx",
    "avx2": "avx2",
    "cdi": "avx512cd",
    "dqi": "avx512dq",
    "bwi": "avx512bw",
    "vlx": "avx512vl",
}

#: Instructions that capstone puts in no group.
_MNEMONICS = (
    (r"palignr", "ssse3"),
    (r"v?gf2p8.*", "gfni"),
    (r"movbe", "movbe"),
    (r"popcnt", "popcnt"),
    (r"lzcnt", "lzcnt"),
    (r"vbroadcasti128|vperm2i128|vpbroadcast.|vpermq|vpermd|vpblendd|vps[lr]lv[dq]", "avx2"),
    (r"vptestn?m[bw]|vpcmpn?u?[bw]|vpcmp(n?eq|gt)[bw]|vmovdqu(8|16)|vpblendm[bw]", "avx512bw"),
    (r"vmadd52.*", "avx512ifma"),
    (r"vpermb|vperm[it]2b", "avx512vbmi"),
    (r"k\w+", "avx512f"),
)

_WIDE = re.compile(r"[yz]mm")


def _named(i: Instruction) -> set[str]:
    found = {feature for pattern, feature in _MNEMONICS if re.fullmatch(pattern, i.mnemonic)}
    if i.mnemonic == "pextrw" and i.memory:
        found.add("sse4_1")
    wide = bool(_WIDE.search(i.operands_text))
    if i.mnemonic.startswith("vaes"):
        found.add("vaes" if wide else "aes")
    if i.mnemonic.startswith("vpclmul"):
        found.add("vpclmulqdq" if wide else "pclmulqdq")
    return found


def needed(i: Instruction) -> frozenset[str]:
    """The features without which `i` is an invalid opcode; SSE2 and older are every CPU's."""
    found = {_GROUPS[g] for g in i.groups if g in _GROUPS} | _named(i)
    if i.is_evex:
        found -= {"avx", "avx2", "vaes", "aes"} if not i.mnemonic.startswith("vaes") else set()
        found.add("avx512f")
        if "zmm" not in i.operands_text and not re.search(r"s[sd]\b", i.mnemonic):
            found.add("avx512vl")
        if not (i.mnemonic.startswith("vmovdqu") and i.mnemonic[-1] in "86") and i.mnemonic[-1] in "dq":
            found -= {"avx512bw"}
    elif i.is_vex and i.mnemonic.startswith("v"):
        found.add("avx")
        found -= {"avx512vl", "avx512bw", "avx512dq"}
        if "ymm" in i.operands_text and re.match(r"vp(?!test|erm2f|ermil|clmul)", i.mnemonic):
            found.add("avx2")
    return frozenset(found)


@cache
def implications() -> dict[str, frozenset[str]]:
    """Feature -> the features that its presence implies, from csrc/cpu/features.def."""
    text = (ROOT / "csrc/cpu/features.def").read_text()
    rows = re.findall(r'^FC_FEATURE\((\w+), "(\w+)", \d, (.*)\)$', text, flags=re.M)
    names = {identifier: name for identifier, name, _ in rows}
    return {name: frozenset(names[n] for n in re.findall(r"FC_F\((\w+)\)", needs)) for _, name, needs in rows}


def closure(features: Iterable[str]) -> frozenset[str]:
    """The features and all that they imply."""
    found = set(features)
    while True:
        more = {n for f in found for n in implications().get(f, ())} - found
        if not more:
            return frozenset(found)
        found |= more


def beyond(function: Function, features: frozenset[str]) -> list[str]:
    """Instructions of a function that a CPU with these features alone cannot run."""
    have = closure(features)
    return [
        f"{i} at {function.where(i.address)} needs {', '.join(sorted(needed(i) - have))}"
        for i in function.instructions
        if needed(i) - have
    ]
