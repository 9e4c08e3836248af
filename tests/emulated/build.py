# SPDX-License-Identifier: Apache-2.0
"""Build the C core and the vectors' program, statically linked, for this machine or another.

    python -m tests.emulated.build [ARCH ...]       build/emulated/<arch>/vectors, and its warnings

The sources, macros and flags are those of kernel_sources.py, as in the shipped module. Warnings are
errors. A build is done again when a source, a flag or the compiler changed.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import kernel_sources  # noqa: E402

OUTPUT = ROOT / "build/emulated"
PROGRAM = ROOT / "tests/emulated/vectors"
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]


@dataclass(frozen=True)
class Target:
    """A processor to compile for: as kernel_sources calls it, its compiler, and Debian's package of it."""

    arch: str
    cc: str
    package: str


TARGETS = {
    t.arch: t
    for t in (
        Target("x86_64", "cc", "gcc"),
        Target("i386", "i686-linux-gnu-gcc", "gcc-i686-linux-gnu"),
        Target("aarch64", "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
        Target("s390x", "s390x-linux-gnu-gcc", "gcc-s390x-linux-gnu"),
    )
}


class BuildError(Exception):
    """A compiler or linker failed; the message is what it printed."""


class MissingError(Exception):
    """What this needs is not installed; the message names the package."""


def run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"{' '.join(command)}\n{done.stderr}")


def algorithm_sources() -> list[str]:
    return sorted(str(p.relative_to(ROOT)) for d in ("hash", "aes") for p in (ROOT / "csrc" / d).glob("*.c"))


def commands(target: Target, csrc: Path, output: Path) -> list[list[str]]:
    """One command per object, then the link. `csrc` stands for csrc/, for planted faults."""
    macros = [*kernel_sources.asm_sources(target.arch), *kernel_sources.portable_macros(target.arch)]
    common = [*kernel_sources.c_flags(target.arch), "-D_GNU_SOURCE", *WARNINGS, f"-I{csrc}", f"-I{PROGRAM}"]
    common += [f"-D{macro}=1" for macro in macros]
    made: list[list[str]] = []
    objects: list[str] = []

    def compile_one(source: str, flags: list[str]) -> None:
        path = csrc / source.removeprefix("csrc/") if source.startswith("csrc/") else ROOT / source
        objects.append(str(output / (source.replace("/", "_") + ".o")))
        made.append([target.cc, "-c", *flags, str(path), "-o", objects[-1]])

    for source in kernel_sources.asm_sources(target.arch).values():
        compile_one(source, ["-Iasm"])
    for source in kernel_sources.portable_sources():
        compile_one(source, [*common, *kernel_sources.portable_flags(source)])
    own = sorted(str(p.relative_to(ROOT)) for p in PROGRAM.glob("*.c"))
    for source in (*kernel_sources.CORE_SOURCES, *algorithm_sources(), *own):
        compile_one(source, [*common, "-O2"])
    return [*made, [target.cc, "-static", *objects, "-o", str(output / "vectors")]]


def signature(made: list[list[str]], csrc: Path, cc: str) -> str:
    """Of everything that the program is made of."""
    digest = hashlib.sha256(repr(made).encode())
    digest.update(subprocess.run([cc, "--version"], capture_output=True, check=True).stdout)
    for directory in (csrc, ROOT / "asm", PROGRAM):
        for path in sorted(p for p in directory.rglob("*") if p.is_file()):
            digest.update(str(path).encode() + path.read_bytes())
    return digest.hexdigest()


def build(arch: str, csrc: Path = ROOT / "csrc", output: Path | None = None) -> Path:
    """The program for an architecture."""
    target = TARGETS[arch]
    if shutil.which(target.cc) is None:
        raise MissingError(f"needs Debian package {target.package}")
    output = output or OUTPUT / arch
    output.mkdir(parents=True, exist_ok=True)
    program, stamp = output / "vectors", output / "stamp"
    with (output / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = commands(target, csrc, output)
        wanted = signature(made, csrc, target.cc)
        if not (program.exists() and stamp.exists() and stamp.read_text() == wanted):
            stamp.unlink(missing_ok=True)
            for command in made:
                run(command)
            stamp.write_text(wanted)
    return program


if __name__ == "__main__":
    for name in sys.argv[1:] or TARGETS:
        print(build(name))
