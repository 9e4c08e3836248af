# SPDX-License-Identifier: Apache-2.0
"""Build a mutant, link it with the rest of the core and the kernel tests, and see whether it dies."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .mutants import Mutant
from .source import ROOT

sys.path.insert(0, str(ROOT / "tests/native"))

import build
import kernel_sources

#: Compile time is what a mutant of C costs; answers do not depend on the level.
FLAVOUR = build.Flavour("mutation", flags=("-O1",), portable=("-O1",))
SANITIZED = build.Flavour(
    "mutation-asan",
    flags=("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    portable=("-O1",),
)
OUTPUT = ROOT / "build/mutation"
PROGRAMS = ("bounds", "wiped", "abi", "bitflip")

KILLED, SURVIVED, STILLBORN, SAME = "killed", "survived", "stillborn", "same code"


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant, and which check saw it."""

    mutant: Mutant
    status: str
    detail: str = ""


def compile_command(source: Path, output: Path, core: build.Core, includes: list[Path]) -> list[str]:
    flags: list[str] = []
    if source.suffix == ".c":
        flags = [*kernel_sources.C_FLAGS, "-D_GNU_SOURCE", *FLAVOUR.flags, "-w"]
        flags += [f"-D{m}=1" for m in core.macros if m == "FC_HAVE_portable_entries"]
    return ["cc", "-c", *flags, *(f"-I{d}" for d in includes), str(source), "-o", str(output)]


@cache
def core(flavour: build.Flavour = FLAVOUR) -> build.Core:
    with build._locked(build.OUTPUT / flavour.name):
        return build.build_core(flavour)


def program_object(name: str) -> Path:
    """A program of tests/native as a part of another one: its main has the program's name."""
    output = OUTPUT / f"{name}.o"
    includes = ["-Icsrc", "-Iasm", "-Itests/native"]
    source = f"tests/native/{name}.c" if name != "kill" else "tests/mutation/kill.c"
    rename = [] if name == "kill" else [f"-Dmain={name}_main"]
    build._run(["cc", "-c", "-std=c11", "-O2", "-D_GNU_SOURCE", *includes, *rename,
                *(f"-D{m}=1" for m in core().macros), source, "-o", str(output)])  # fmt: skip
    return output


@cache
def support_objects() -> list[Path]:
    OUTPUT.mkdir(parents=True, exist_ok=True)
    harness = [
        build.compile_object(FLAVOUR, s, build._c_flags(FLAVOUR) if s.endswith(".c") else [],
                             list(core().macros))
        for s in build._support_sources()
    ]  # fmt: skip
    return [*harness, *(program_object(n) for n in (*PROGRAMS, "kill"))]


@cache
def link_command() -> list[str]:
    """The linker itself: the compiler's driver takes as long again."""

    def file(name: str) -> str:
        done = subprocess.run(["cc", f"-print-file-name={name}"], capture_output=True, text=True,
                              check=True)  # fmt: skip
        return done.stdout.strip()

    crt = [file(name) for name in ("crt1.o", "crti.o", "crtn.o")]
    libraries = [file("libc.so.6"), file("libgcc.a")]
    return ["ld", "--dynamic-linker=/lib64/ld-linux-x86-64.so.2", "-z", "noexecstack", *crt, *libraries]


#: What a key schedule is good for only its users show: its layout may be the suite's own.
SHOWN_BY = {
    "aes_expand_key": ("aes_ecb_encrypt", "aes_ecb_decrypt"),
    "aes_ghash_key": ("aes_ghash",),
}


def tested(kernels: tuple[str, ...]) -> list[str]:
    """The kernels to run for a mutant that is part of these."""
    found = list(kernels)
    for kernel in kernels:
        for maker, users in SHOWN_BY.items():
            if f"fc_{maker}_" in kernel:
                found += [kernel.replace(maker, user) for user in users]
    return list(dict.fromkeys(found))


def object_name(source: str) -> str:
    return source.replace("/", "_") + ".o"


class Unit:
    """One source to mutate: everything else linked beforehand, and its own object unchanged."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.rest = OUTPUT / (Path(source).name + ".rest.o")
        others = [o for o in core().objects if o.name != object_name(source)]
        assert len(others) == len(core().objects) - 1, source
        subprocess.run(["ld", "-r", "-o", str(self.rest), *map(str, [*support_objects(), *others])],
                       check=True)  # fmt: skip
        self.original = self.build(Path(tempfile.mkdtemp(dir=OUTPUT)), None) or b""

    def build(self, place: Path, mutant: Mutant | None) -> bytes | None:
        """Write the mutant's sources to `place` and compile them there: the object, or None."""
        source = place / Path(self.source).name
        shutil.copy(ROOT / self.source, source)
        portable = place / "portable"
        shutil.rmtree(portable, ignore_errors=True)
        # What it includes may include one another: all from here, so that the changed one is found.
        for file in (ROOT / "asm/x86_64").glob("*.inc"):
            shutil.copy(file, place)
        if mutant is not None:
            target = source if mutant.file == self.source else place / Path(mutant.file).name
            if "csrc/portable" in mutant.file and target != source:
                portable.mkdir()
                target = portable / target.name
            lines = (ROOT / mutant.file).read_text().split("\n")
            lines[mutant.number] = mutant.line
            target.write_text("\n".join(lines))
        includes = [place, ROOT / "asm/x86_64", ROOT / "csrc", ROOT / "asm"]
        made = place / "mutant.o"
        # In its own directory: the name of the source is in the object, and two are compared.
        command = compile_command(Path(source.name), Path(made.name), core(), includes)
        command[command.index(f"-I{place}")] = "-I."
        done = subprocess.run(command, cwd=place, capture_output=True, check=False)
        return made.read_bytes() if done.returncode == 0 else None

    def run(self, place: Path, kernels: tuple[str, ...]) -> tuple[str, str]:
        program = place / "kill"
        link = [*link_command(), str(place / "mutant.o"), str(self.rest), "-o", str(program)]
        linked = subprocess.run(link, capture_output=True, text=True, check=False)
        if linked.returncode != 0:
            return STILLBORN, linked.stderr[-200:]
        try:
            done = subprocess.run([str(program), *tested(kernels)], capture_output=True, text=True,
                                  check=False, timeout=60, errors="replace")  # fmt: skip
        except subprocess.TimeoutExpired:
            return KILLED, "did not return"
        if done.returncode == 0 and "all held" in done.stdout:
            return self.run_sanitized(place, kernels) if self.source.endswith(".c") else (SURVIVED, "")
        fails = [line for line in done.stdout.splitlines() if line.startswith("fail")]
        return KILLED, fails[0] if fails else f"died with {done.returncode}"

    def run_sanitized(self, place: Path, kernels: tuple[str, ...]) -> tuple[str, str]:
        """C may write beside an array of its own and get away with it: ask AddressSanitizer."""
        sanitize = list(SANITIZED.flags[1:])
        others = [o for o in core(SANITIZED).objects if o.name != object_name(self.source)]
        command = compile_command(Path(Path(self.source).name), Path("mutant.o"), core(),
                                  [place, ROOT / "asm/x86_64", ROOT / "csrc", ROOT / "asm"])  # fmt: skip
        link = ["cc", *sanitize, "-no-pie", "mutant.o", *map(str, [*support_objects(), *others]),
                "-pthread", "-o", "kill"]  # fmt: skip
        for step in ([*command, *sanitize], link):
            subprocess.run(step, cwd=place, capture_output=True, check=True)
        environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0"}
        done = subprocess.run([str(place / "kill"), "--answers", *tested(kernels)], capture_output=True,
                              text=True, check=False, errors="replace", env=environment)  # fmt: skip
        found = [line for line in done.stderr.splitlines() if "ERROR" in line or "runtime error" in line]
        return (KILLED, f"sanitizer: {found[:1]}") if done.returncode != 0 else (SURVIVED, "")

    def judge(self, mutant: Mutant, place: Path) -> Outcome:
        """`place`: a directory of this worker's own."""
        for old in place.glob("*.[Shi]*"):
            old.unlink()
        made = self.build(place, mutant)
        if made is None:
            return Outcome(mutant, STILLBORN)
        if made == self.original:
            return Outcome(mutant, SAME)
        return Outcome(mutant, *self.run(place, mutant.kernels))
