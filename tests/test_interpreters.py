# SPDX-License-Identifier: Apache-2.0
"""Several interpreters in one process, one after the other and at once, and a program that embeds Python."""

from __future__ import annotations

import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
has_own_gil = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="interpreters with a GIL of their own are there from 3.12 on"
)

PRELUDE = """
import os, resource
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
USE = '''
import fastcrypt
assert fastcrypt.sha256(b"abc").hexdigest().startswith("ba7816bf")
aead = fastcrypt.AESGCM(bytes(32))
sealed = aead.encrypt(bytes(12), b"record", b"")
assert aead.decrypt(bytes(12), sealed, b"") == b"record"
try:
    aead.decrypt(bytes(12), sealed[:-1] + bytes([sealed[-1] ^ 1]), b"")
except fastcrypt.InvalidTag:
    pass
else:
    raise AssertionError
stream = aead.encryptor(bytes(12))
stream.update(b"left unfinished")
'''
def run(interpreter, code):
    failure = interpreters.run_string(interpreter, code)
    assert failure is None, failure
def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()
"""


def child(code: str, timeout: int = 300) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + code], capture_output=True, text=True, check=False, timeout=timeout
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@has_own_gil
def test_types_belong_to_one_interpreter() -> None:
    """An object or type that two interpreters shared would be counted by two GILs at once."""
    code = """
reader, writer = os.pipe()
REPORT = f'''
import os, fastcrypt
kinds = [value for value in vars(fastcrypt).values() if isinstance(value, type)]
kinds += [value for value in vars(fastcrypt._core).values() if isinstance(value, type)]
os.write({writer}, b"".join(b"%d %s\\\\n" % (id(k), k.__name__.encode()) for k in set(kinds)) + b"end\\\\n")
'''
import fastcrypt
others = [interpreters.create() for _ in range(3)]
seen = {}
for number, interpreter in enumerate([None, *others]):
    exec(REPORT) if interpreter is None else run(interpreter, REPORT)
    text = b""
    while not text.endswith(b"end\\n"):
        text += os.read(reader, 1 << 16)
    for line in text.decode().splitlines()[:-1]:
        address, name = line.split()
        seen.setdefault(address, []).append((number, name))
shared = [users for users in seen.values() if len({number for number, _ in users}) > 1]
assert not shared, shared
assert len(seen) >= 4 * 5, seen
for interpreter in others:
    interpreters.destroy(interpreter)
"""
    child(code)


@has_own_gil
def test_a_hundred_interpreters_one_after_the_other() -> None:
    """Create, import, use, destroy. With a GIL nothing may stay; without one the types do (types.cpp)."""
    code = """
def cycle(code):
    interpreter = interpreters.create()
    run(interpreter, code)
    interpreters.destroy(interpreter)
def growth(code, cycles=100):
    for _ in range(10):
        cycle(code)
    before = resident()
    for _ in range(cycles):
        cycle(code)
    return (resident() - before) / cycles
print(growth("import json"), growth(USE))
"""
    empty, ours = map(float, child(code).split())
    most = 64 * 1024 if FREE_THREADED else 4 * 1024
    assert ours - empty < most, f"{ours:.0f} bytes stay per interpreter, {empty:.0f} without fastcrypt"


EMBEDDING = r"""
#include <Python.h>

int main(void) {
  for (int turn = 0; turn < 2; turn++) {
    Py_Initialize();
    const int failed = PyRun_SimpleString(
        "import sys; sys.path[:0] = PATHS\n"
        "import fastcrypt\n"
        "assert fastcrypt.sha256(b'abc').hexdigest().startswith('ba7816bf')\n"
        "sealed = fastcrypt.AESGCM(bytes(32)).encrypt(bytes(12), b'record', b'')\n"
        "assert len(sealed) == 22\n");
    if (failed || Py_FinalizeEx() != 0) return 1;
  }
  return 0;
}
"""


def test_a_program_that_starts_python_twice(tmp_path: Path) -> None:
    """The table is sealed in the first life and found sealed in the second."""
    paths = [path for path in sys.path if path]
    source = tmp_path / "embed.c"
    source.write_text(EMBEDDING.replace("PATHS", repr(paths).replace('"', '\\"')))
    variables = sysconfig.get_config_vars()
    library = f"-lpython{variables['LDVERSION']}"
    program = tmp_path / "embed"
    command = [
        *shlex.split(variables["CC"]),
        f"-I{sysconfig.get_path('include')}",
        str(source),
        f"-L{variables['LIBDIR']}",
        f"-L{variables.get('LIBPL', '')}",
        "-Wl,--export-dynamic",
        f"-Wl,-rpath,{variables['LIBDIR']}",
        library,
        *shlex.split(variables["LIBS"] or ""),
        *shlex.split(variables["SYSLIBS"] or ""),
        "-o",
        str(program),
    ]
    subprocess.run(command, check=True, capture_output=True, text=True)
    environment = {"PYTHONHOME": sys.base_prefix, "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [str(program)], capture_output=True, text=True, check=False, timeout=60, env=environment
    )
    assert done.returncode == 0, done.stderr
