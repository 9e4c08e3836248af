# SPDX-License-Identifier: Apache-2.0
"""`make demo`: the main job on real input, and a non-zero exit status if anything is not as it should be.

Hashes this project's own files and checks them against sha256sum, encrypts and decrypts one of them,
shows that a forged byte is refused, compares, and shows what runs here and how fast.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import fastcrypt

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, "-m", "fastcrypt"]
#: Directories of a source tree without git that hold no source.
NOT_SOURCE = {"build", "dist", "__pycache__"}


class Mismatch(Exception):
    """Something is not as it should be."""


def require(good: bool, what: str) -> None:
    if not good:
        raise Mismatch(what)
    print(f"  ok: {what}")


def heading(text: str) -> None:
    print(f"\n== {text}", flush=True)


def project_files() -> list[str]:
    """What git tracks; without git, every file outside hidden and build directories."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        found = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
        names = [
            str(p) for p in found if not any(part in NOT_SOURCE or part[0] == "." for part in p.parts[:-1])
        ]
    else:
        names = os.fsdecode(listed).split("\0")
    return sorted(name for name in names if name and (ROOT / name).is_file())


def with_sha256sum(files: list[str]) -> tuple[bytes, str]:
    """The lines to expect, and who says so."""
    tool = shutil.which("sha256sum")
    if tool:
        return subprocess.run([tool, *files], cwd=ROOT, capture_output=True, check=True).stdout, "sha256sum"
    lines = (f"{hashlib.sha256((ROOT / name).read_bytes()).hexdigest()}  {name}\n" for name in files)
    return os.fsencode("".join(lines)), "hashlib (this machine has no sha256sum)"


def hash_the_project(files: list[str]) -> None:
    heading(f"fastcrypt sum: the {len(files)} files of this project")
    run = subprocess.run([*COMMAND, "sum", *files], cwd=ROOT, capture_output=True, check=True)
    lines = run.stdout.splitlines()
    for line in [*lines[:3], f"... {len(lines) - 3} more".encode()]:
        print(" ", os.fsdecode(line))
    expected, judge = with_sha256sum(files)
    require(run.stdout == expected, f"every line is equal to that of {judge}")
    check = subprocess.run([*COMMAND, "sum", "--check", "--quiet"], cwd=ROOT, input=expected, check=False)
    require(check.returncode == 0, "fastcrypt sum --check accepts that list")
    altered = (b"1" if expected[:1] == b"0" else b"0") + expected[1:]
    check = subprocess.run(
        [*COMMAND, "sum", "--check", "--status"], cwd=ROOT, input=altered, capture_output=True, check=False
    )
    require(check.returncode == 1, "and refuses it with one digit changed")


def is_refused(cipher: fastcrypt.AESGCM, nonce: bytes, sealed: bytes, name: bytes) -> bool:
    try:
        cipher.decrypt(nonce, sealed, name)
    except fastcrypt.InvalidTag:
        return True
    return False


def encrypt_one(name: str) -> None:
    data = (ROOT / name).read_bytes()
    heading(f"AESGCM and compare_digest: {name}, {len(data)} bytes")
    cipher = fastcrypt.AESGCM(fastcrypt.AESGCM.generate_key(256))
    nonce = os.urandom(12)
    sealed = cipher.encrypt(nonce, data, name.encode())
    require(len(sealed) == len(data) + 16 and data not in sealed, "encrypted; a tag of 16 bytes follows")
    opened = cipher.decrypt(nonce, sealed, name.encode())
    require(fastcrypt.compare_digest(opened, data), "decrypted; compare_digest says equal")
    require(fastcrypt.timingsafe_bcmp(opened, data) == 0, "timingsafe_bcmp says 0")
    forged = bytearray(sealed)
    forged[len(forged) // 2] ^= 1
    require(is_refused(cipher, nonce, bytes(forged), name.encode()), "one bit forged: InvalidTag")
    require(is_refused(cipher, nonce, sealed, b"another name"), "other associated data: InvalidTag")


def show(*arguments: str) -> None:
    heading(f"fastcrypt {' '.join(arguments)}")
    subprocess.run([*COMMAND, *arguments], check=True)


def main() -> int:
    try:
        hash_the_project(project_files())
        encrypt_one("csrc/kernels.def")
    except Mismatch as what:
        print(f"  WRONG: it is not true that {what}", file=sys.stderr)
        return 1
    show("info")
    show("bench", "--quick")
    return 0


if __name__ == "__main__":
    sys.exit(main())
