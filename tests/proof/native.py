# SPDX-License-Identifier: Apache-2.0
"""Build the programs of tests/proof/trace on top of the native harness (tests/native/build.py)."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

from .disassembly import ROOT

sys.path.insert(0, str(ROOT / "tests/native"))

import build

__all__ = ["build", "harness_program", "tool"]

TRACE = ROOT / "tests/proof/trace"
OUTPUT = ROOT / "build/proof"

#: Static and at fixed addresses, so that a disassembler knows every instruction that can run.
STATIC = build.Flavour("static", link=("-static", "-no-pie"))


@cache
def harness_program(*sources: str) -> Path:
    """A program of our own, named after its first source, linked with the harness and the core."""
    name = Path(sources[0]).stem
    with build._locked(build.OUTPUT / STATIC.name):
        core = build.build_core(STATIC)
        objects = [
            build.compile_object(
                STATIC, s, build._c_flags(STATIC) if s.endswith(".c") else [], list(core.macros)
            )
            for s in (*build._support_sources(), *(f"tests/proof/trace/{s}" for s in sources))
        ]
        return build._link(STATIC, name, [*objects, *core.objects], core)


@cache
def tool(*sources: str) -> Path:
    """A program that needs nothing of the library."""
    output = OUTPUT / Path(sources[0]).stem
    files = [TRACE / s for s in sources]
    newest = max(p.stat().st_mtime for p in (*files, *TRACE.glob("*.h")))
    if not output.exists() or output.stat().st_mtime < newest:
        OUTPUT.mkdir(parents=True, exist_ok=True)
        command = ["cc", "-std=c11", "-D_GNU_SOURCE", "-O2", *build.WARNINGS, "-o", str(output)]
        subprocess.run([*command, *map(str, files)], check=True)
    return output
