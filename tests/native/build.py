# SPDX-License-Identifier: Apache-2.0
"""Build the C core without Python, and the native programs on top of it.

    build(program, flavour) -> Path of build/native/<flavour>/<program>

A program is tests/native/<program>.c, with tests/native/<program>.S where that exists, linked with the
harness, the planted leaks and the whole core. A flavour is a compiler with flags. Only what changed is
compiled again. A kernel that does not assemble, or a C kernel that is missing, is a row that is not
built, as in the shipped module.
"""

from __future__ import annotations

import fcntl
import hashlib
import platform
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import kernel_sources  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

NATIVE = ROOT / "tests/native"
OUTPUT = ROOT / "build/native"
ARCH = {"AMD64": "x86_64"}.get(platform.machine(), platform.machine())
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow"]


@dataclass(frozen=True)
class Flavour:
    """A compiler and how it is told to compile and link. `portable` replaces the flags of the C kernels."""

    name: str
    cc: str = "cc"
    flags: tuple[str, ...] = ("-O2", "-g")
    portable: tuple[str, ...] | None = None
    link: tuple[str, ...] = ()


FLAVOURS = {
    f.name: f
    for f in (
        Flavour("plain"),
        Flavour("ubsan", flags=("-O2", "-g", "-fsanitize=undefined", "-fno-sanitize-recover=all"),
                link=("-fsanitize=undefined",)),
        Flavour("clang", cc="clang-19", flags=("-O2", "-gdwarf-4")),  # valgrind 3.19 reads no DWARF 5
        Flavour("o3", flags=("-O3", "-g"), portable=("-O3",)),
        Flavour("o2", flags=("-O2", "-g"), portable=("-O2",)),
        Flavour("os", flags=("-Os", "-g"), portable=("-Os",)),
        Flavour("lto", flags=("-O2", "-g", "-flto"), portable=("-O2", "-flto"),
                link=("-O2", "-flto")),
    )
}  # fmt: skip


class BuildError(Exception):
    """A compiler or linker failed; the message is what it printed."""


@dataclass(frozen=True)
class Core:
    """The compiled core of a flavour: its objects, macros, and the kernels that did not assemble."""

    objects: tuple[Path, ...]
    macros: tuple[str, ...]
    missing_bodies: tuple[str, ...]
    lost: dict[str, str]


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"{command[0]} ... {' '.join(command[-3:])}\n{done.stderr}")


def _dependencies(depfile: Path) -> list[Path]:
    text = depfile.read_text().replace("\\\n", " ").split(":", 1)[1]
    return [ROOT / name for name in text.split()]


def _fresh(output: Path, signature: str) -> bool:
    """Whether `output` was made by the same command from files that have not changed since."""
    stamp, depfile = output.with_suffix(".cmd"), output.with_suffix(".d")
    if not (output.exists() and stamp.exists() and depfile.exists()):
        return False
    if stamp.read_text() != signature:
        return False
    made = output.stat().st_mtime
    return all(p.exists() and p.stat().st_mtime < made for p in _dependencies(depfile))


def compile_object(flavour: Flavour, source: str, flags: list[str], macros: list[str]) -> Path:
    """Compile one file of the repository (path relative to its root)."""
    output = OUTPUT / flavour.name / "obj" / (source.replace("/", "_") + ".o")
    output.parent.mkdir(parents=True, exist_ok=True)
    includes = [f"-I{d}" for d in (*kernel_sources.INCLUDE_DIRS, "tests/native")]
    command = [flavour.cc, "-c", *flags, *[f"-D{m}=1" for m in macros], *includes,
               "-MMD", "-MF", str(output.with_suffix(".d")), source, "-o", str(output)]  # fmt: skip
    if not _fresh(output, " ".join(command)):
        output.unlink(missing_ok=True)
        _run(command)
        output.with_suffix(".cmd").write_text(" ".join(command))
    return output


def _defined_symbols(objects: list[Path]) -> set[str]:
    if not objects:
        return set()
    nm = subprocess.run(["gcc-nm", "-g", "--defined-only", *map(str, objects)],
                        capture_output=True, text=True, check=True)  # fmt: skip
    return {line.split()[-1] for line in nm.stdout.splitlines() if len(line.split()) == 3}


def _c_flags(flavour: Flavour, source: str | None = None) -> list[str]:
    flags = [*kernel_sources.C_FLAGS, "-D_GNU_SOURCE", *WARNINGS, *flavour.flags]
    if source is not None:  # a C kernel: its own optimisation flags come last
        flags += flavour.portable or kernel_sources.portable_flags(source)
    return flags


def _assemble(flavour: Flavour) -> tuple[list[Path], list[str], dict[str, str]]:
    objects, macros, lost = [], [], {}
    for macro, source in kernel_sources.asm_sources(ARCH).items():
        try:
            objects.append(compile_object(flavour, source, [], []))
            macros.append(macro)
        except BuildError as error:
            lost[source] = str(error)
    return objects, macros, lost


def _portable(flavour: Flavour, asm_macros: list[str]) -> tuple[list[Path], list[str], list[str]]:
    """Objects, the macros of the C rows that are whole, and the bodies that do not exist yet."""
    entries = [m for m in asm_macros if m == "FC_HAVE_portable_entries"]
    objects = [
        compile_object(flavour, source, _c_flags(flavour, source), entries)
        for source in kernel_sources.portable_sources()
    ]
    defined = _defined_symbols(objects)
    suffix = "_body" if entries else ""
    macros, missing = [], []
    for op in [op for op, isa in kernel_sources.rows(ARCH) if isa == "portable"]:
        functions = portable_functions(op)
        absent = [f for f in functions if f + suffix not in defined]
        missing += [f + suffix for f in absent]
        if not absent:
            macros.append(f"FC_HAVE_{op}_portable")
    return objects, macros, missing


def portable_functions(op: str) -> list[str]:
    """The symbols of op's C row, as kernels.h lists them."""
    if op != "aes":
        return [f"fc_{op}_portable"]
    text = (ROOT / "csrc/kernels.h").read_text()
    block = text.split("#define FC_AES_FUNCTIONS(X)")[1].split("\n\n")[0]
    names = [part.split(")")[0] for part in block.split("X(")[1:]]
    return [f"fc_aes_{name}_portable" for name in names]


def build_core(flavour: Flavour) -> Core:
    asm_objects, asm_macros, lost = _assemble(flavour)
    portable_objects, portable_macros, missing = _portable(flavour, asm_macros)
    macros = sorted({*asm_macros, *portable_macros})
    core = [compile_object(flavour, s, _c_flags(flavour), macros)
            for s in kernel_sources.CORE_SOURCES if (ROOT / s).exists()]  # fmt: skip
    return Core(tuple(asm_objects + portable_objects + core), tuple(macros), tuple(missing), lost)


def _support_sources() -> list[str]:
    """What every program is linked with: the harness, the reference, the trampoline, what is planted."""
    names = ["harness.c", "reference.c", "trampoline.c", "trampoline.S", "bodies.c"]
    planted = [p for d in ("leaks", "planted") for p in sorted((NATIVE / d).glob("*.[cS]"))]
    return [str(p.relative_to(ROOT)) for p in [*(NATIVE / n for n in names), *planted]]


#: What a program looks at above the kernels.
ABOVE = {"ctgrind": ["csrc/aes/modes.c"]}


def _program_sources(program: str) -> list[str]:
    found = [p for p in (NATIVE / f"{program}.c", NATIVE / f"{program}.S") if p.exists()]
    return [*(str(p.relative_to(ROOT)) for p in found), *ABOVE.get(program, [])]


def _link(flavour: Flavour, program: str, objects: list[Path], core: Core) -> Path:
    output = OUTPUT / flavour.name / program
    # Entries of C kernels that do not exist lead nowhere; kernels.c has NULL in those rows.
    defsyms = [f"-Wl,--defsym,{body}=0" for body in core.missing_bodies if body.endswith("_body")]
    command = [flavour.cc, *flavour.link, *map(str, objects), *defsyms, "-pthread",
               "-o", str(output)]  # fmt: skip
    text = " ".join(command)
    digest = hashlib.sha256(text.encode()).hexdigest()
    stamp = output.with_name(program + ".link")
    newest = max(o.stat().st_mtime for o in objects)
    stale = not output.exists() or not stamp.exists() or stamp.read_text() != digest
    if stale or output.stat().st_mtime <= newest:
        _run(command)
        stamp.write_text(digest)
    return output


def build(program: str, flavour: str | Flavour = "plain", extra: tuple[str, ...] = ()) -> Path:
    """Build tests/native/<program>.c in this flavour, with `extra` compiler and linker flags."""
    chosen = FLAVOURS[flavour] if isinstance(flavour, str) else flavour
    if extra:
        name = chosen.name + "-" + hashlib.sha256(" ".join(extra).encode()).hexdigest()[:8]
        chosen = replace(chosen, name=name, flags=chosen.flags + extra, link=chosen.link + extra)
    with _locked(OUTPUT / chosen.name):
        core = build_core(chosen)
        sources = _support_sources() + _program_sources(program)
        objects = [
            compile_object(chosen, s, _c_flags(chosen) if s.endswith(".c") else [], list(core.macros))
            for s in sources
        ]
        return _link(chosen, program, [*objects, *core.objects], core)


if __name__ == "__main__":
    print(build(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "plain"))
