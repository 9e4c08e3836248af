# SPDX-License-Identifier: Apache-2.0
"""The sdist, the wheel made from it, toolchains that lack something, and build_info() (row LX-1).

Two builds in all: one with a complete toolchain, and one with CFLAGS=-march=native and a compiler that
cannot assemble two of the kernels. Both use a compiler that writes its command lines to a log; it
compiles the binding without optimisation, since nothing here looks at its speed.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
X86_64 = platform.machine().lower() in ("x86_64", "amd64")
CANNOT_ASSEMBLE = ("sha256_blocks_shani", "timingsafe_bcmp_avx2") if X86_64 else ()

pytestmark = pytest.mark.slow

COMPILER = """#!{python}
import os, subprocess, sys
arguments = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write("\\x1f".join(arguments) + "\\n")
for name in {cannot!r}:
    if any(argument.endswith(name + ".S") for argument in arguments):
        print(name + ".S:1: Error: no such instruction", file=sys.stderr)
        sys.exit(1)
if any(argument.endswith(".cpp") for argument in arguments):
    arguments += ["-O0", "-g0"]
os.execvp({real!r}, [{real!r}, *arguments])
"""

BACKEND = "import sys; from setuptools import build_meta as b; print(getattr(b, sys.argv[1])(sys.argv[2]))"


def run_backend(hook: str, tree: Path, out: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """One hook of the build backend, in `tree`, as pip calls it."""
    unset = ("CFLAGS", "CC", "CXX", "LDSHARED", "ARCHFLAGS", "FASTCRYPT_CPU")
    env = {name: value for name, value in os.environ.items() if name not in unset}
    out.mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        [sys.executable, "-c", BACKEND, hook, str(out)],
        cwd=tree,
        env={**env, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def our_lines(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith("fastcrypt: ")]


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, from a copy of the tree, so that nothing of the build lands in the checkout."""
    base = tmp_path_factory.mktemp("sdist")
    private = shutil.ignore_patterns(".*", "build", "dist", "*.so", "*.o", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, base / "tree", ignore=private)
    made = run_backend("build_sdist", base / "tree", base / "out")
    assert made.returncode == 0, made.stderr
    return base / "out" / made.stdout.splitlines()[-1]


@dataclass
class Build:
    output: str
    log: list[list[str]]
    wheel: Path
    site: Path

    def python(self, code: str, **environment: str) -> str:
        """Run code on the built package, and only on that one."""
        command = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(self.site)!r})\n{code}"]
        env = {**os.environ, **environment}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, cwd=self.site)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def info(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(
            self.python("import json, fastcrypt; print(json.dumps(fastcrypt.build_info()))")
        )
        return loaded


def build(sdist: Path, base: Path, cannot: tuple[str, ...], **environment: str) -> Build:
    with tarfile.open(sdist) as archive:
        archive.extractall(base, filter="data")
    tree = next(path for path in base.iterdir() if path.is_dir())
    log = base / "log"
    for name, real in (("cc", "cc"), ("c++", "c++")):
        wrapper = base / name
        real_path = shutil.which(os.environ.get({"cc": "CC", "c++": "CXX"}[name], real))
        assert real_path, f"no {real}"
        text = COMPILER.format(python=sys.executable, log=str(log), cannot=cannot, real=real_path)
        wrapper.write_text(text)
        wrapper.chmod(0o755)
    compilers = {"CC": str(base / "cc"), "CXX": str(base / "c++")}
    made = run_backend("build_wheel", tree, base / "out", **compilers, **environment)
    assert made.returncode == 0, made.stdout + made.stderr
    wheel = base / "out" / made.stdout.splitlines()[-1]
    with zipfile.ZipFile(wheel) as archive_:
        archive_.extractall(base / "site")
    commands = [line.split("\x1f") for line in log.read_text().splitlines()]
    return Build(made.stdout + made.stderr, commands, wheel, base / "site")


@pytest.fixture(scope="session")
def complete(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Build:
    return build(sdist, tmp_path_factory.mktemp("complete"), ())


@pytest.fixture(scope="session")
def limited(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Build:
    return build(sdist, tmp_path_factory.mktemp("limited"), CANNOT_ASSEMBLE, CFLAGS="-march=native")


# ---- What is packed -------------------------------------------------------------------------------


def test_sdist_has_the_sources_and_nothing_built(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for folder, pattern in (("asm", "*.[Shi]*"), ("csrc", "*.[cdhm]*")):
        wanted = {str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob(pattern) if path.is_file()}
        assert wanted
        assert wanted <= names, wanted - names
    single = {"pyproject.toml", "setup.py", "kernel_sources.py", "LICENSE", "README.md"}
    single |= {"src/fastcrypt/__init__.py", "src/fastcrypt/_core.pyi", "src/fastcrypt/py.typed"}
    single |= {"tests/conftest.py", "tests/allowed_skips.txt", "tests/test_hashes.py"}
    assert single <= names, single - names
    assert not [name for name in names if re.search(r"\.(so|o|pyc)$|^\.|^build/", name)]


def test_wheel_has_the_module_and_no_sources(complete: Build) -> None:
    with zipfile.ZipFile(complete.wheel) as archive:
        names = archive.namelist()
    package = [name for name in names if not re.match(r"fastcrypt-[^/]+\.dist-info/", name)]
    assert not [name for name in package if not re.search(r"\.(so|py|pyi)$|/py\.typed$|/fastcrypt\.h$", name)]
    assert [name for name in package if not name.startswith("fastcrypt/")] == ["fastcrypt_command.py"]
    assert len([name for name in package if name.endswith(".so")]) == 1
    wanted = {"__init__.py", "_core.pyi", "py.typed", "include/fastcrypt.h", "ciphers/__init__.py", "hmac.py"}
    assert {f"fastcrypt/{name}" for name in wanted} <= set(package)


def test_p_1_wheel_needs_nothing_at_run_time(complete: Build) -> None:
    metadata = next(complete.site.glob("*.dist-info/METADATA")).read_text()
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:")]
    assert required, "the extras at least"
    assert not [line for line in required if "extra ==" not in line]


# ---- What is built --------------------------------------------------------------------------------


def test_complete_build_says_nothing(complete: Build) -> None:
    assert our_lines(complete.output) == []
    assert not re.findall(r"^\S+:\d+.*warning: .*$", complete.output, flags=re.M)


def test_complete_build_has_every_kernel(complete: Build) -> None:
    code = "from fastcrypt import _core; print([r['name'] for r in _core.rows() if not r['built']])"
    assert complete.python(code) == "[]\n"
    complete.python("import fastcrypt; fastcrypt.self_test()")


def compile_commands(log: list[list[str]]) -> dict[str, list[str]]:
    """The last command line of each source file; the probes, which come first, are left out."""
    found = {}
    for command in log:
        sources = [word for word in command if re.search(r"\.(c|cpp|S)$", word)]
        if "-c" in command and sources and "probe.o" not in " ".join(command):
            found[sources[0]] = command
    return found


def flags_only(command: list[str]) -> list[str]:
    """The words of a command that are neither files nor macros nor include folders."""
    skip = {"-c", "-o", "-isystem", "-I", "-MMD"}
    words: Iterator[str] = iter(command)
    kept = []
    for word in words:
        if word in ("-o", "-isystem", "-I"):
            next(words)
        elif word not in skip and word.startswith("-") and not re.match(r"-[IDU]", word):
            kept.append(word)
    return kept


def test_lx_1_build_info_is_what_the_log_shows(complete: Build) -> None:
    info, commands = complete.info(), compile_commands(complete.log)
    assert {source for source in commands if source.startswith("csrc/portable/")} <= info["flags"].keys()
    for source, flags in info["flags"].items():
        shown = shlex.split(info["common_flags"]) + shlex.split(flags)
        expected = [word for word in shown if word.startswith("-") and not re.match(r"-[IDU]", word)]
        assert flags_only(commands[source]) == expected, source
    version = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=True).stdout
    if "CC" not in os.environ:
        assert info["compiler"] == version.splitlines()[0]
    assert info["assembly"] == sorted(Path(s).stem for s in commands if s.endswith(".S"))


def test_every_file_is_built_for_the_baseline(complete: Build, limited: Build) -> None:
    """No flag that lets a compiler use more than x86-64, in any file, with CFLAGS=-march=native either."""
    for log in (complete.log, limited.log):
        commands = compile_commands(log)
        assert len(commands) > 10
        for source, command in commands.items():
            assert not [word for word in command if re.match(r"-m(arch|tune|cpu|avx|sse|sha|aes)", word)], (
                source
            )


def test_march_native_is_ignored_with_one_line(limited: Build) -> None:
    lines = [line for line in our_lines(limited.output) if "-march=native" in line]
    assert lines == ["fastcrypt: ignoring -march=native: every file is built for the baseline CPU"]


def test_kernels_that_do_not_assemble_are_dropped_with_one_line_each(limited: Build) -> None:
    lines = [line for line in our_lines(limited.output) if "-march" not in line]
    assert [line.partition(":")[2].strip() for line in lines] == [
        f"without {name}: the toolchain cannot assemble it ({name}.S:1: Error: no such instruction)"
        for name in CANNOT_ASSEMBLE
    ]


@pytest.mark.skipif(not X86_64, reason="other architectures have the portable kernels only")
def test_module_without_a_kernel_works(limited: Build) -> None:
    code = """
import hashlib, fastcrypt
from fastcrypt import _core
fastcrypt.self_test()
for size in range(300):
    message = bytes(range(256))[:size] * 3
    assert fastcrypt.sha256(message).digest() == hashlib.sha256(message).digest()
    assert fastcrypt.compare_digest(message, bytearray(message))
print([f"{row['op']}_{row['name']}" for row in _core.rows() if not row["built"]])
try:
    _core.call_kernel("sha256_blocks", "shani", bytearray(32), b"")
except ValueError as error:
    print(error)
rows = [row for row in _core.rows() if row["op"] == "sha256_blocks" and row["built"] and row["runnable"]]
print(fastcrypt.kernels()["sha256_blocks"] == rows[0]["name"] != "shani")
"""
    missing, error, chosen = limited.python(code).splitlines()
    assert missing == str(list(CANNOT_ASSEMBLE))
    assert error == "sha256_blocks-shani is not in this build"
    assert chosen == "True"
    assert not set(CANNOT_ASSEMBLE) & set(limited.info()["assembly"])


# ---- No toolchain ---------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["CC names nothing", "empty PATH"])
def test_no_compiler_gives_one_sentence(sdist: Path, tmp_path: Path, how: str) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    tree = next(path for path in tmp_path.iterdir() if path.is_dir())
    (tmp_path / "bin").mkdir()
    environment = {"CC": "no-such-cc"} if how.startswith("CC") else {"PATH": str(tmp_path / "bin")}
    made = run_backend("build_wheel", tree, tmp_path / "out", **environment)
    assert made.returncode != 0
    output = made.stdout + made.stderr
    assert "Traceback" not in output
    lines = our_lines(output)
    assert len(lines) == 1
    assert lines[0].startswith("fastcrypt: no C compiler found (looked for '")
    assert "apt-get install build-essential" in lines[0]
    assert "wheel" in lines[0]
