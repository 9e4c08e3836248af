# SPDX-License-Identifier: Apache-2.0
"""What pyproject.toml cannot say: assembly sources, one probe per kernel, flags per file."""

from __future__ import annotations

import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pybind11
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

sys.path.insert(0, str(Path(__file__).resolve().parent))
import kernel_sources as ks

BINDING_SOURCES = sorted(str(p.relative_to(ks.ROOT)) for p in (ks.ROOT / "csrc/python").glob("*.cpp"))
ALGORITHM_SOURCES = sorted(
    str(p.relative_to(ks.ROOT)) for d in ("hash", "aes") for p in (ks.ROOT / "csrc" / d).glob("*.c")
)
#: The files that use pybind11, and so exceptions. The others are built without: up to 3.13 a thread that
#: comes back to a dying interpreter is ended by pthread_exit, and the unwinding that this starts must run
#: no destructor of ours (no GIL is held) and meet no noexcept (that would abort the process).
PYBIND11_FILES = ("module", "call_kernel")
CXX_FLAGS = ["-std=c++17", "-O2", "-fvisibility=hidden"]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow"]
HARDENING = ["-fstack-protector-strong"]
SYSTEM_INCLUDES = ["-isystem", pybind11.get_include(), "-isystem", sysconfig.get_path("include")]
LINUX = sys.platform.startswith("linux")


def target_arch() -> str:
    """The machine we compile for: _PYTHON_HOST_PLATFORM (a cross build) or ARCHFLAGS overrule ours."""
    host = os.environ.get("_PYTHON_HOST_PLATFORM") or os.environ.get("ARCHFLAGS") or platform.machine()
    machine = host.lower()
    is_64_bit = sys.maxsize > 2**32
    if ("x86_64" in machine or "amd64" in machine) and "arm64" not in machine and is_64_bit:
        return "x86_64"
    return "other"


class BuildExt(build_ext):
    """Compile each file with its own flags, and leave out the kernels that do not assemble."""

    def build_extensions(self) -> None:
        self.require_compiler()
        compiler = self.compiler
        compiler.src_extensions.append(".S")
        compiler.compiler_so = self.without_tuning(compiler.compiler_so)
        if hasattr(compiler, "compiler_so_cxx"):
            compiler.compiler_so_cxx = self.without_tuning(compiler.compiler_so_cxx)
        self.arch = target_arch()
        self.version = self.compiler_version()
        self.is_gcc = "clang" not in self.version.lower()
        for ext in self.extensions:
            self.configure(ext)
        original = compiler._compile

        def compile_one(obj: str, src: str, *args: Any) -> None:
            ext, cc_args, extra_flags, pp_opts = args
            original(obj, src, ext, cc_args, [*self.flags_for(src), *(extra_flags or [])], pp_opts)

        compiler._compile = compile_one
        super().build_extensions()

    @staticmethod
    def require_compiler() -> None:
        for variable, language, fallback in (("CC", "C", "cc"), ("CXX", "C++", "c++")):
            setting = os.environ.get(variable) or sysconfig.get_config_var(variable) or fallback
            command = shlex.split(setting)[0]
            if shutil.which(command) is None:
                sys.exit(
                    f"fastcrypt: no {language} compiler found (looked for '{command}'). Install one "
                    "(Debian: apt-get install build-essential python3-dev), or use a wheel."
                )

    @staticmethod
    def without_tuning(command: list[str]) -> list[str]:
        """Drop -march and its kin: a baseline file must run on a baseline CPU."""
        tuning = ("-march", "-mtune", "-mcpu", "-mavx", "-msse")
        dropped = [flag for flag in command if flag.startswith(tuning)]
        if dropped:
            print(f"fastcrypt: ignoring {' '.join(dropped)}: every file is built for the baseline CPU")
        return [flag for flag in command if flag not in dropped]

    def assembles(self, source: str) -> bool:
        """The probe: does this toolchain assemble the kernel?"""
        objects = Path(self.build_temp) / "probe"
        objects.mkdir(parents=True, exist_ok=True)
        output = str(objects / "probe.o")
        command = [*self.compiler.compiler_so, "-Iasm", "-Icsrc", "-c", source, "-o", output]
        result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ks.ROOT)
        if result.returncode != 0:
            lines = result.stderr.strip().splitlines() or ["no message"]
            print(f"fastcrypt: without {Path(source).stem}: the toolchain cannot assemble it ({lines[-1]})")
        return result.returncode == 0

    def configure(self, ext: Extension) -> None:
        assembly = {macro: src for macro, src in ks.asm_sources(self.arch).items() if self.assembles(src)}
        macros = [*assembly, *ks.portable_macros(self.arch)]
        ext.sources = [
            *BINDING_SOURCES,
            *ks.CORE_SOURCES,
            *ALGORITHM_SOURCES,
            *ks.portable_sources(),
            *assembly.values(),
        ]
        ext.define_macros += [(macro, "1") for macro in macros]
        self.module_macros = [
            f"-DFC_BUILD_INFO={self.build_info(assembly)}",
            f"-DFC_VERSION={json.dumps(self.distribution.get_version())}",
        ]
        ext.include_dirs += ks.INCLUDE_DIRS
        ext.depends += [str(p) for d in ks.INCLUDE_DIRS for p in (ks.ROOT / d).rglob("*.[hd]*")]
        if LINUX:
            ext.extra_link_args += [
                "-Wl,-z,relro,-z,now,-z,noexecstack",
                "-Wl,--version-script=csrc/python/exports.map",
                "-Wl,-Bsymbolic",
                "-Wl,--fatal-warnings",
            ]

    def flags_for(self, source: str) -> list[str]:
        if source.endswith(".S"):
            return []
        if source.endswith(".cpp"):
            hardening = [*HARDENING, *(ks.X86_FLAGS if self.arch == "x86_64" else [])]
            module = self.module_macros if source.endswith("module.cpp") else []
            pybind = [] if Path(source).stem in PYBIND11_FILES else ["-fno-exceptions"]
            return [*CXX_FLAGS, *WARNINGS, *hardening, *pybind, *SYSTEM_INCLUDES, *module]
        portable = source.startswith("csrc/portable")
        optimise = ks.portable_flags(source, gcc=self.is_gcc) if portable else ["-O2"]
        return [*ks.c_flags(self.arch), *WARNINGS, *optimise]

    def compiler_version(self) -> str:
        command = self.compiler.compiler_so[0]
        result = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
        return (result.stdout.splitlines() or [command])[0]

    def build_info(self, assembly: dict[str, str]) -> str:
        """JSON for build_info(): compiler, and the flags of every file, as a C string literal."""
        sources = [*ks.CORE_SOURCES, *ALGORITHM_SOURCES, *ks.portable_sources()]
        info = {
            "compiler": self.version,
            "common_flags": " ".join(self.compiler.compiler_so[1:]),
            "flags": {src: " ".join(self.flags_for(src)) for src in sources},
            "assembly": sorted(Path(src).stem for src in assembly.values()),
        }
        return json.dumps(json.dumps(info))


setup(
    ext_modules=[Extension("fastcrypt._core", sources=[], language="c++")],
    cmdclass={"build_ext": BuildExt},
)
