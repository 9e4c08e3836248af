# SPDX-License-Identifier: Apache-2.0
"""Which functions the instructions of a 19,456-byte record go to, by callgrind: is anything copied?

    python -m bench.records

callgrind counts instructions, not time, and its CPU has AES-NI and AVX2; the shares of time are in the
report, from parts that are timed on their own.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import fastcrypt
from bench.cases import RECORD
from bench.native_programs import OUTPUT

RECORDS = 10
PROGRAM = f"""\
import sys
sys.path.insert(0, {str(Path(fastcrypt.__file__).parents[1])!r})
from fastcrypt import AESGCM
into = AESGCM(bytes(16)).encrypt_into
record, out = bytes({RECORD}), bytearray({RECORD} + 16)
for i in range({RECORDS}):
    into(bytes(12), record, None, out)
"""
COPYING = re.compile(r"mem(cpy|move|pcpy)|strcpy")


def functions(profile: str) -> dict[str, int]:
    """Function -> instructions of its own, from a callgrind file without compressed names or positions."""
    found: dict[str, int] = {}
    name, is_call = "", False
    for line in profile.splitlines():
        if line.startswith("fn="):
            name = line.removeprefix("fn=")
        elif line.startswith("calls="):
            is_call = True  # the next line is what the callee took
        elif match := re.match(r"[\d+*-]\S* (\d+)$", line):
            if not is_call:
                found[name] = found.get(name, 0) + int(match[1])
            is_call = False
    return found


def instructions() -> dict[str, Any] | None:
    """Below encrypt_into: the share of each function, and the instructions a record of those that copy.

    None without valgrind.
    """
    if shutil.which("valgrind") is None:
        return None
    OUTPUT.mkdir(parents=True, exist_ok=True)
    profile = OUTPUT / "record.callgrind"
    command = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={profile}",
               "--compress-strings=no", "--compress-pos=no",
               "--toggle-collect=fc::(anonymous namespace)::encrypt_into*",
               sys.executable, "-I", "-S", "-c", PROGRAM]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    counted = functions(profile.read_text())
    total = sum(counted.values())
    largest = sorted(counted.items(), key=lambda pair: -pair[1])
    return {
        "instructions_a_record": total / RECORDS,
        "shares": {name: count / total for name, count in largest if count >= total / 1000},
        "copying": {name: count / RECORDS for name, count in largest if COPYING.search(name)},
    }


if __name__ == "__main__":
    result = instructions()
    if result is None:
        sys.exit("no valgrind")
    print(f"{result['instructions_a_record']:.0f} instructions a record")
    for function, share in result["shares"].items():
        print(f"{100 * share:6.2f}%  {function}")
    print("instructions a record in functions that copy:", result["copying"] or "none")
