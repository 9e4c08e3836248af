#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run kernels on a bare-metal image under Bochs: AVX-512 on any machine.

    tests/emulated/bochs/run.py                     every row of csrc/kernels.def
    tests/emulated/bochs/run.py --payload my.c      a payload of your own; see README.md

Exit status: 0 passed, 1 failed (a row, an exception, no verdict, time out), 2 could not be built or
the emulator is missing.
"""

from __future__ import annotations

import argparse
import bisect
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT))

import kernel_sources  # noqa: E402

IMAGE_BASE = 0x100000
# Bochs keeps memory in blocks of this size, and loads a file as if those were side by side.
MEMORY_BLOCK = 0x20000
ROM_BASE = 0xF0000
DEFAULT_PAYLOAD = ["main.c", "compare_and_hash.c", "aes.c", "probe.S"]
CORE = ["csrc/kernels.c", "csrc/cpu/features.c", "csrc/cpu/detect.c", "csrc/cpu/self_test.c"]
VECTORS = {0: "#DE", 1: "#DB", 3: "#BP", 6: "#UD", 7: "#NM", 8: "#DF", 10: "#TS", 11: "#NP"}
VECTORS |= {12: "#SS", 13: "#GP", 14: "#PF", 16: "#MF", 17: "#AC", 19: "#XM", 21: "#CP"}

INCLUDES = [f"-I{ROOT / d}" for d in kernel_sources.INCLUDE_DIRS] + [f"-I{HERE}"]
# What distributions switch on and an image without a C library cannot serve.
HOSTLESS = ["-fno-stack-protector", "-U_FORTIFY_SOURCE", "-fno-asynchronous-unwind-tables"]
# The kernels are compiled as the extension module compiles them (-ffreestanding would turn each memcpy
# into a call); all else for the image.
KERNEL_FLAGS = ["-fPIC", *HOSTLESS]
IMAGE_FLAGS = ["-O2", "-ffreestanding", "-fno-pic", "-fno-pie", "-ffunction-sections", *HOSTLESS]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]

BOCHSRC = """\
display_library: term
megs: 32
romimage: file={rom}
{images}
cpu: model={cpu}, ips=100000000, reset_on_triple_fault=0
port_e9_hack: enabled=1
magic_break: enabled=1
plugin_ctrl: unmapped=1, biosdev=0, speaker=0, extfpuirq=0, parallel=0, serial=0, gameport=0, iodebug=0
sound: waveoutdrv=dummy, waveindrv=dummy, midioutdrv=dummy
mouse: enabled=0
log: {log}
panic: action=fatal
error: action=report
info: action=report
debug: action=ignore
"""


class BuildError(Exception):
    """A tool failed or is missing; the text says which."""


def tool(*command: str | Path) -> str:
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise BuildError(f"{command[0]}: not found") from error
    if done.returncode != 0:
        raise BuildError(f"{' '.join(str(c) for c in command)}\n{done.stdout}{done.stderr}")
    return done.stdout


class Image:
    """The objects, the linked image, the ROM, and the symbols of the image."""

    def __init__(self, build: Path, cc: list[str]) -> None:
        self.build = build
        self.cc = cc
        self.objects: list[Path] = []
        build.mkdir(parents=True, exist_ok=True)

    def compile(self, source: Path, flags: list[str]) -> Path:
        out = self.build / (str(source).replace("/", "_") + ".o")
        if source.suffix == ".c":
            flags = [*kernel_sources.C_FLAGS, *WARNINGS, *flags]
        tool(*self.cc, *flags, *INCLUDES, "-c", source, "-o", out)
        self.objects.append(out)
        return out

    def add_kernels(self) -> list[str]:
        """Every kernel that the tree has; the macros that tell kernels.c so."""
        gcc = "clang" not in tool(*self.cc, "--version")
        asm_macros = []
        for macro, name in kernel_sources.asm_sources("x86_64").items():
            try:
                self.compile(ROOT / name, [])
                asm_macros.append(f"-D{macro}=1")
            except BuildError as error:  # its row will be absent
                print(f"{name} was not assembled: {error}")
        portable = [
            self.compile(
                ROOT / name, [*kernel_sources.portable_flags(name, gcc=gcc), *KERNEL_FLAGS, *asm_macros]
            )
            for name in kernel_sources.portable_sources()
        ]
        symbols = tool("nm", "--defined-only", *portable) if portable else ""
        return asm_macros + [
            f"-D{macro}=1"
            for macro in kernel_sources.portable_macros("x86_64")
            if portable_symbol(macro) in re.findall(r"\b(fc_\w+?)(?:_body)?$", symbols, re.M)
        ]

    def add(self, sources: list[Path], macros: list[str]) -> None:
        for source in sources:
            flags = IMAGE_FLAGS if source.suffix == ".c" else []
            self.compile(source, [*flags, *macros])

    def link(self) -> tuple[Path, Path]:
        elf, image, rom = (self.build / name for name in ("image.elf", "image.bin", "rom.bin"))
        script = HERE / "image.ld"
        options = ["-nostdlib", "-static", "--gc-sections", "-z", "noexecstack"]
        options.append(f"--defsym=IMAGE_BASE={IMAGE_BASE:#x}")
        tool("ld", *options, "-T", script, "-o", elf, *self.objects)
        tool("objcopy", "-O", "binary", elf, image)
        reset = self.build / "reset.o"
        defines = [f"-DIMAGE_BASE={IMAGE_BASE:#x}", f"-DROM_BASE={ROM_BASE:#x}"]
        tool(*self.cc, *defines, "-c", HERE / "reset.S", "-o", reset)
        base = f"{ROM_BASE:#x}"
        tool("ld", "--oformat=binary", f"-Ttext={base}", f"--entry={base}", reset, "-o", rom)
        self.symbols = sorted(
            (int(address, 16), name)
            for address, _, name in (line.split() for line in tool("nm", "--defined-only", elf).splitlines())
        )
        return rom, image

    def locate(self, address: int) -> str:
        """symbol+offset, or the bare address where the image has no code."""
        i = bisect.bisect_right(self.symbols, (address, "\x7f")) - 1
        if i < 0 or address > self.symbols[-1][0]:
            return f"{address:#x}"
        start, name = self.symbols[i]
        return f"{name}+{address - start:#x}"


def portable_symbol(macro: str) -> str:
    op = macro.removeprefix("FC_HAVE_")
    return "fc_aes_expand_key_portable" if op == "aes_portable" else f"fc_{op}"


def ram_images(image: Path) -> str:
    """The lines that load the image, each a memory block of it; Bochs knows four."""
    data = image.read_bytes()
    lines = []
    for number, offset in enumerate(range(0, len(data), MEMORY_BLOCK), 1):
        part = image.with_suffix(f".{number}")
        part.write_bytes(data[offset : offset + MEMORY_BLOCK])
        lines.append(f"optramimage{number}: file={part}, address={IMAGE_BASE + offset:#x}")
    return "\n".join(lines)


def has_debugger(bochs: str) -> bool:
    usage = subprocess.run([bochs, "--help"], capture_output=True, text=True, check=False)
    return "-rc " in usage.stdout + usage.stderr


def start(
    build: Path, rom: Path, image: Path, cpu: str, commands: str = "continue\n"
) -> subprocess.Popen[bytes]:
    """The emulator with its output in a pipe. `commands` are for its debugger, if it is built with one."""
    bochs = shutil.which("bochs")
    if bochs is None:
        raise BuildError("bochs: not found (Debian: apt-get install bochs bochs-term)")
    config = build / "bochsrc"
    log = build / "bochs.log"
    config.write_text(BOCHSRC.format(rom=rom, images=ram_images(image), cpu=cpu, log=log))
    command = [bochs, "-q", "-f", str(config)]
    if has_debugger(bochs):
        (build / "commands.rc").write_text(commands)
        command += ["-rc", str(build / "commands.rc")]
    environment = os.environ | {"TERM": os.environ.get("TERM", "xterm")}
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )


def emulate(build: Path, rom: Path, image: Path, cpu: str, timeout: float) -> tuple[str, bool]:
    """What the image wrote, and whether it was stopped by the time limit."""
    process = start(build, rom, image, cpu)
    try:
        output, _ = process.communicate(timeout=timeout)
        return output.decode(errors="replace"), False
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # a debugger build says where it stopped, then ends
        try:
            output, _ = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
        return output.decode(errors="replace"), True


def explain(line: str, image: Image) -> str:
    """Vector numbers as names, instruction addresses as symbols."""
    line = re.sub(r"vector=(\d+)", lambda m: f"vector={m[1]} {VECTORS.get(int(m[1]), '')}".rstrip(), line)
    return re.sub(r"rip=(0x[0-9a-f]+)", lambda m: f"rip={m[1]} {image.locate(int(m[1], 16))}", line)


def problems_of(lines: list[str], expected_rows: list[str], allow_absent: bool) -> list[str]:
    """Why the run is no pass, beyond the FAIL lines it printed."""
    status = {m[1]: m[2] for line in lines if (m := re.match(r"row (\S+) (\w+)", line))}
    problems = []
    for row in expected_rows:
        if status.get(row) == "absent" and allow_absent:
            continue
        if status.get(row) != "passed":
            problems.append(f"row {row}: {status.get(row, 'never reached')}")
    if not any(line.startswith("end pass") for line in lines):
        ended = any(line.startswith("end fail") for line in lines)
        problems.append("the payload failed" if ended else "no verdict: see bochs.log")
    return problems


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--payload", nargs="+", type=Path, metavar="FILE", help=".c and .S files")
    parser.add_argument("--cpu", default="tigerlake", help="Bochs CPU model (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=180.0, help="seconds (%(default)s)")
    parser.add_argument("--build", type=Path, default=ROOT / "build/bochs")
    parser.add_argument(
        "--allow-absent", action="store_true", help="rows that the tree does not have yet pass"
    )
    return parser.parse_args()


def main() -> int:
    options = arguments()
    image = Image(options.build.resolve(), os.environ.get("CC", "cc").split())
    payload = options.payload or [HERE / name for name in DEFAULT_PAYLOAD]
    rows = [f"{op}-{isa}" for op, isa in kernel_sources.rows("x86_64")]
    started = time.monotonic()
    try:
        macros = image.add_kernels()
        core = [ROOT / name for name in CORE]
        own = [HERE / name for name in ("start.S", "runtime.c")]
        image.add([*core, *own, *(p.resolve() for p in payload)], macros)
        rom, binary = image.link()
        built = time.monotonic()
        output, timed_out = emulate(image.build, rom, binary, options.cpu, options.timeout)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 2
    finished = time.monotonic()
    lines = re.findall(r"^.*?fc: (.*)$", output, re.M)
    for line in lines:
        print(explain(line, image))
    problems = problems_of(lines, [] if options.payload else rows, options.allow_absent)
    if timed_out:
        stopped_at = re.findall(r"^\(0\)\.\[\d+\].*? [0-9a-f]{4}:([0-9a-f]{16})", output, re.M)
        where = f" in {image.locate(int(stopped_at[-1], 16))}" if stopped_at else ""
        problems.append(f"stopped after {options.timeout:.0f} s{where}")
    for problem in problems:
        print(f"FAILED: {problem}")
    print(f"built in {built - started:.1f} s, ran {finished - built:.1f} s on {options.cpu}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
