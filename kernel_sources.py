# SPDX-License-Identifier: Apache-2.0
"""Which source file makes which row of csrc/kernels.def, and which macro tells the C code so.

Read by setup.py and by every script that builds the C core on its own (tests, benches, proof).
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent
INCLUDE_DIRS = ("csrc", "asm")

#: The algorithms above the kernels, and the kernels' table; compiled on every machine.
CORE_SOURCES = (
    "csrc/kernels.c",
    "csrc/cpu/features.c",
    "csrc/cpu/detect.c",
    "csrc/cpu/self_test.c",
    "csrc/cpu/dispatch.c",
)

#: Flags for the portable kernels, per file, by measurement; the files' heads have the numbers.
DEFAULT_PORTABLE_FLAGS = ["-O3"]
PORTABLE_FLAGS = {"sha1.c": ["-O2"], "sha256.c": ["-O2"], "sha512.c": ["-O2"]}
#: What gcc alone knows.
GCC_PORTABLE_FLAGS = {name: ["-fno-gcse"] for name in ("sha1.c", "sha256.c", "sha512.c")}

#: What compilers for other processors refuse.
X86_FLAGS = ["-fcf-protection=full"]

#: Flags for every C file of ours on x86-64.
C_FLAGS = ["-std=c11", "-fvisibility=hidden", *X86_FLAGS, "-fno-strict-aliasing"]


def c_flags(arch: str) -> list[str]:
    return [flag for flag in C_FLAGS if arch == "x86_64" or flag not in X86_FLAGS]


def rows(arch: str) -> list[tuple[str, str]]:
    """The (op, isa) pairs of kernels.def that apply to `arch`, in the table's order."""
    text = (ROOT / "csrc/kernels.def").read_text()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    if arch != "x86_64":
        text = re.sub(r"#if defined\(__x86_64__\).*?#endif", "", text, flags=re.S)
    found = re.findall(r"^FC_(?:LANES_)?KERNEL\((\w+),\s*(\w+)|^FC_AES_SUITE\((\w+)", text, flags=re.M)
    return [(op, isa) if op else ("aes", suite) for op, isa, suite in found]


def asm_sources(arch: str) -> dict[str, str]:
    """Macro to define -> assembly file, for each row that has one. A suite may have none of its own."""
    files = {f"FC_HAVE_{op}_{isa}": f"asm/{arch}/{op}_{isa}.S" for op, isa in rows(arch)}
    files["FC_HAVE_portable_entries"] = f"asm/{arch}/portable_entries.S"
    return {macro: name for macro, name in files.items() if (ROOT / name).exists()}


def portable_sources() -> list[str]:
    return sorted(str(p.relative_to(ROOT)) for p in (ROOT / "csrc/portable").glob("*.c"))


def portable_macros(arch: str) -> list[str]:
    return [f"FC_HAVE_{op}_{isa}" for op, isa in rows(arch) if isa == "portable"]


def portable_flags(source: str, *, gcc: bool = True) -> list[str]:
    name = Path(source).name
    gcc_only = GCC_PORTABLE_FLAGS.get(name, []) if gcc else []
    return [*PORTABLE_FLAGS.get(name, DEFAULT_PORTABLE_FLAGS), *gcc_only]
