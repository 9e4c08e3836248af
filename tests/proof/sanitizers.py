# SPDX-License-Identifier: Apache-2.0
"""AddressSanitizer, UndefinedBehaviorSanitizer, ThreadSanitizer, and the suite on other builds.

    python -m tests.proof.sanitizers asan|suite [PYTEST ARGUMENT ...]
    python -m tests.proof.sanitizers tsan

asan runs the suite on a module built with both sanitizers, suite on the module of the running interpreter,
without the tests that say nothing about a module. tsan runs a C program of eight threads over the core.
Assembly is instrumented by none of them: guard pages and single-stepping look at it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from . import native
from .disassembly import ROOT
from .result import FAIL, PASS, Cell

build = native.build

#: Test files that say nothing about a module built in another way, and why.
NOT_ON_ANOTHER_BUILD = {
    "test_build.py": "builds packages of its own",
    "test_binary.py": "reads the shipped module's file",
    "test_docs.py": "reads documents",
    "test_emulated.py": "runs programs of its own",
    "test_proof_native.py": "runs programs of its own",
    "test_proof_traces.py": "single-steps the shipped module",
    "test_bench.py": "measures",
}

#: Tests that AddressSanitizer's own allocator makes meaningless, and why.
NOT_SANITIZED = {
    "tests/test_aes_memory.py::test_t_c_and_t_d_malloc_per_call": "preloads a malloc of its own",
    "tests/test_aes_memory.py::test_no_leak": "looks at the size of the process, which freed blocks keep up",
    "tests/test_leaks.py::test_a_leak_is_seen": "looks at the size of the process",
    "tests/test_wiped_objects.py": "searches all memory, here terabytes of shadow; instrumented code spills",
}

#: What is enough for every run of the proof: the hash, compare and AES tests that are not about size.
QUICK = ("test_hashes.py", "test_compare.py", "test_aes_arguments.py", "test_aes_modes.py", "test_aesgcm.py")

#: pytest has the standard error of a process that AddressSanitizer ends: its reports go here.
REPORTS = ROOT / "build/asan-report"

ADDRESS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -g -DNDEBUG"
THREAD = build.Flavour("tsan", flags=("-O1", "-g", "-fsanitize=thread"), link=("-fsanitize=thread",))


def library(name: str) -> str:
    command = ["gcc", f"-print-file-name={name}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def build_module(python: str, name: str, flags: str = "") -> Path:
    """The package with a module built by `python` with more flags, in build/<name>; returns its place."""
    place = ROOT / "build" / name
    command = [python, "setup.py", "-q", "build_ext", "--build-lib", str(place)]
    environment = {**os.environ, "CFLAGS": flags, "CXXFLAGS": flags, "LDFLAGS": flags}
    command += ["--build-temp", f"{place}-objects"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    package = ROOT / "src/fastcrypt"
    shutil.copytree(package, place / "fastcrypt", dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.so"))
    return place


def without_pycryptodome(place: Path) -> None:
    """It is loaded with RTLD_DEEPBIND, for which AddressSanitizer ends the process: a peer to do without."""
    (place / "Crypto").mkdir(exist_ok=True)
    (place / "Crypto/__init__.py").write_text('raise ImportError("not under AddressSanitizer")\n')


def address_environment(place: Path) -> dict[str, str]:
    """Leaks are looked for elsewhere; tests of read-only memory want the signal itself."""
    without_pycryptodome(place)
    return {
        **os.environ,
        "PYTHONPATH": str(place),
        "PYTHONMALLOC": "malloc",
        "LD_PRELOAD": f"{library('libasan.so')} {library('libubsan.so')}",
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=8:handle_segv=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "FASTCRYPT_SANITIZED": "1",
    }


def pytest(python: str, environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the suite, by default all of it that is about the module."""
    if not any(argument.startswith("tests") for argument in arguments):
        arguments = (*arguments, "tests", *(f"--ignore=tests/{name}" for name in NOT_ON_ANOTHER_BUILD))
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, text=True, check=False)


# ---- ThreadSanitizer ------------------------------------------------------------------------------


def thread_program() -> Path:
    """tests/scan/threads.c with the whole core."""
    with build._locked(build.OUTPUT / THREAD.name):
        core = build.build_core(THREAD)
        above = [
            p.relative_to(ROOT) for d in ("hash", "aes") for p in sorted((ROOT / "csrc" / d).glob("*.c"))
        ]
        sources = ["tests/scan/threads.c", *map(str, above)]
        objects = [
            build.compile_object(THREAD, s, build._c_flags(THREAD), list(core.macros)) for s in sources
        ]
        return build._link(THREAD, "threads", [*objects, *core.objects], core)


def thread_cells() -> Iterator[Cell]:
    """Sealing, and one key and one hash used by eight threads; the C kernels are instrumented too."""
    program = thread_program()
    fixed = ["setarch", "-R"] if shutil.which("setarch") else []  # its runtime wants a fixed layout
    for setting in ("native", "scalar"):
        done = subprocess.run([*fixed, program, setting], capture_output=True, text=True, check=False)
        detail = "8 threads" if done.returncode == 0 else f"status {done.returncode} {done.stderr[:300]}"
        yield Cell(f"threads@{setting}", "tsan", FAIL if done.returncode else PASS, detail)
    done = subprocess.run(
        [*fixed, program, "native", "--planted"], capture_output=True, text=True, check=False
    )
    seen = "data race" in done.stderr
    yield Cell("planted-race", "tsan", PASS if seen else FAIL, f"status {done.returncode}")


# ---- AddressSanitizer -----------------------------------------------------------------------------

PLANTED = (
    "#include <stdlib.h>\nint f(int n) { char *p = malloc(8); p[0] = 0; int x = p[n]; free(p); return x; }\n"
)


def planted_overflow(environment: dict[str, str]) -> Cell:
    """A read behind a block, in a library loaded into the same interpreter, ends it with a report."""
    place = ROOT / "build/asan-planted"
    place.mkdir(parents=True, exist_ok=True)
    (place / "planted.c").write_text(PLANTED)
    command = ["gcc", "-shared", "-fPIC", *ADDRESS.split(), "planted.c", "-o", "planted.so"]
    subprocess.run(command, cwd=place, check=True)
    code = f"import ctypes; ctypes.CDLL({str(place / 'planted.so')!r}).f(8)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    seen = done.returncode != 0 and "heap-buffer-overflow" in done.stderr
    return Cell("planted-overflow", "asan", PASS if seen else FAIL, f"status {done.returncode}")


def address_cells() -> Iterator[Cell]:
    """The quick part of the suite on the instrumented module."""
    place = build_module(sys.executable, "asan", ADDRESS)
    environment = address_environment(place)
    yield planted_overflow(environment)
    for name in QUICK:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"tests/{name}"]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        last = (done.stdout.strip().splitlines() or [""])[-1]
        detail = last if done.returncode == 0 else f"{last} {done.stderr[-300:]}"
        yield Cell(name, "asan", FAIL if done.returncode else PASS, detail)


def cells(quick: bool = False) -> Iterator[Cell]:
    yield from thread_cells()
    if not quick:
        yield from address_cells()


def reports() -> list[Path]:
    return sorted(REPORTS.parent.glob(f"{REPORTS.name}.*"))


# ---- By hand --------------------------------------------------------------------------------------


def main() -> int:
    what, *arguments = sys.argv[1:]
    if what == "tsan":
        found = list(thread_cells())
        print(*found, sep="\n")
        return any(cell.status == FAIL for cell in found)
    if what == "asan":
        environment = address_environment(build_module(sys.executable, "asan", ADDRESS))
        print(planted_overflow(environment))
        arguments += [f"--deselect={test}" for test in NOT_SANITIZED]
        environment["ASAN_OPTIONS"] += f":log_path={REPORTS}"
        for old in reports():
            old.unlink()
        status = pytest(sys.executable, environment, *arguments).returncode
        for report in reports():
            print(report.read_text())
        return status
    if what == "suite":
        return pytest(sys.executable, dict(os.environ), *arguments).returncode
    raise SystemExit(__doc__)


if __name__ == "__main__":
    sys.exit(main())
