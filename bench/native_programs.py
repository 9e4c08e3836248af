# SPDX-License-Identifier: Apache-2.0
"""Build the programs of bench/native on the C core as it is shipped, run them, read what they print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/native"))

import build as core_build  # noqa: E402  (tests/native/build.py: the C core without Python)

NATIVE = ROOT / "bench/native"
OUTPUT = ROOT / "build/bench"
#: The flags that setup.py gives C files, and those that CPython's build adds to them.
SHIPPED = core_build.Flavour("bench", flags=("-fwrapv", "-DNDEBUG", "-fPIC", "-O2"))
WARNINGS = ["-Wall", "-Wextra"]
#: Takes SSSE3, AVX, AVX2, BMI and SHA from libcrypto.
GENERAL_REGISTERS = "~0x1000020000000000:~0x20000128"
#: Takes SHA alone.
WITHOUT_SHA = "~0x0:~0x20000000"


@cache
def core() -> core_build.Core:
    with core_build._locked(core_build.OUTPUT / SHIPPED.name):
        return core_build.build_core(SHIPPED)


def run_compiler(arguments: list[str]) -> None:
    done = subprocess.run(["cc", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise core_build.BuildError(f"cc {' '.join(arguments)}\n{done.stderr}")


def byte_loops() -> list[str]:
    """The byte loops that the compare is held against: vectorised if the compiler likes, and never."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    objects = []
    for name, flags in (("vectorized", []), ("plain", ["-fno-tree-vectorize"])):
        output = str(OUTPUT / f"byte_loop_{name}.o")
        source = "bench/native/timingsafe_bcmp.c"
        run_compiler(["-O2", *flags, f"-DREFERENCE=reference_{name}", "-c", source, "-o", output])
        objects.append(output)
    return objects


@cache
def program(name: str) -> Path:
    """build/bench/<name> from bench/native/<name>.c."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    built = core()
    extra: dict[str, list[str]] = {
        "timingsafe_bcmp": byte_loops() if name == "timingsafe_bcmp" else [],
        "chain": ["csrc/hash/sha256.c"],
    }
    output = OUTPUT / name
    run_compiler(
        [
            "-O2", *WARNINGS, "-Icsrc", "-Iasm", *[f"-D{macro}=1" for macro in built.macros],
            str(NATIVE / f"{name}.c"), *extra.get(name, []), *map(str, built.objects),
            "-pthread", "-ldl", "-o", str(output),
        ]
    )  # fmt: skip
    return output


def run(name: str, *arguments: str, timeout: float = 240, **environment: str) -> str:
    command = [str(program(name)), *arguments]
    done = subprocess.run(
        command,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=timeout,
    )
    return done.stdout


# ---- What they print -----------------------------------------------------------------------------


def sha256_blocks() -> dict[str, Any]:
    """Row -> blocks a call -> {ns, cycles} a block: {"shani": {"256": {"cycles_median": ...}}}."""
    text = run("sha256_blocks")
    found: dict[str, Any] = {"clock": text.splitlines()[0].removeprefix("clock: "), "rows": {}}
    for row, blocks, *numbers in re.findall(r"^(\w+) +(\d+)" + r" +([\d.]+)" * 4, text, re.M):
        names = ("ns_minimum", "ns_median", "cycles_minimum", "cycles_median")
        values = dict(zip(names, map(float, numbers), strict=True))
        found["rows"].setdefault(row, {})[blocks] = values
    return found


def timingsafe_bcmp(rounds: int) -> dict[str, Any]:
    """Workload -> implementation -> median ns a call: {"Short": {"timingsafe_bcmp sse2": 3.1}}."""
    found: dict[str, Any] = {}
    workload = ""
    for line in run("timingsafe_bcmp", "--rounds", str(rounds)).splitlines():
        if head := re.match(r"(\w+)( bytes|:)", line):
            workload = head[1]
            found[workload] = {}
        elif figure := re.match(r"  (byte loop|\w+) +(not vectorized|\w+) +([\d.]+) ±", line):
            found[workload][f"{figure[1]} {figure[2]}"] = float(figure[3])
    return found


def aes_modes() -> dict[str, Any]:
    """Suite -> measurement -> key bits -> cycles: {"aesni": {"ctr 16 KiB": {"256": 0.62}}}."""
    found: dict[str, Any] = {}
    suite = ""
    for line in run("aes_modes").splitlines():
        if not line.startswith(" "):
            suite = line.split()[0]
            found[suite] = {}
        elif match := re.match(r"  (.{22})((?: +[\d.]+)+)$", line):
            figures = zip(("128", "192", "256"), map(float, match[2].split()), strict=False)
            found[suite][match[1].strip()] = dict(figures)
    return found


def aes_rounds() -> dict[int, float]:
    """Bytes that one AES round works on -> nanoseconds that it takes when none waits for another."""
    lines = map(str.split, run("aes_rounds").splitlines())
    return {int(width): float(nanoseconds) for width, nanoseconds in lines}


def openssl_sha256(row: str = "portable", taken: str = GENERAL_REGISTERS) -> dict[str, Any]:
    """Implementation -> ns a block and the ratio to libcrypto without the instruction sets `taken`."""
    found = {}
    for line in run("openssl_sha256", row, OPENSSL_ia32cap=taken).splitlines():
        name, minimum, median, ratio = line.split()
        found[name] = {"ns_minimum": float(minimum), "ns_median": float(median), "ratio": float(ratio)}
    return found


def chain(threads: int, hashes: int) -> dict[str, Any]:
    text = run("chain", "--threads", str(threads), "--hashes", str(hashes))
    per_thread = re.findall(r"thread \d+: ([\d.]+) ns wall ([\d.]+) ns cpu", text)
    return {
        "threads": threads,
        "hashes": hashes,
        "digest": text.split("digest: ")[1].split()[0],
        "ns_wall": [float(wall) for wall, _ in per_thread],
        "ns_cpu": [float(cpu) for _, cpu in per_thread],
        "hashes_per_second": float(text.split("rate: ")[1].split()[0]),
    }


def chain_instructions() -> float:
    return float(run("chain", "--instructions").split()[1])
