# SPDX-License-Identifier: Apache-2.0
"""sha256_file, and file_digest of fastcrypt.hashlib (rows FD-1 to FD-6)."""

from __future__ import annotations

import hashlib
import io
import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

import fastcrypt
import fastcrypt.hashlib as ours
from fastcrypt import sha256_file

DATA = bytes(range(256)) * 4000  # about 1 MB: several pieces


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "data"
    file.write_bytes(DATA)
    return file


def test_paths_and_descriptors(path: Path) -> None:
    expected = hashlib.sha256(DATA).digest()
    assert sha256_file(path) == sha256_file(str(path)) == sha256_file(os.fsencode(path)) == expected
    with path.open("rb") as file:
        file.seek(1000)
        assert sha256_file(file.fileno()) == expected
        assert file.tell() == 1000
        assert os.lseek(file.fileno(), 0, os.SEEK_CUR) == 1000


def test_parts_of_a_file(path: Path) -> None:
    for offset in (0, 1, 1 << 18, len(DATA) - 1, len(DATA), len(DATA) + 5):
        assert sha256_file(path, offset=offset) == hashlib.sha256(DATA[offset:]).digest()
        for length in (0, 1, 262_143, 262_144, 262_145):
            if offset + length <= len(DATA):
                expected = hashlib.sha256(DATA[offset : offset + length]).digest()
                assert sha256_file(path, offset=offset, length=length) == expected
    with pytest.raises(EOFError, match=rf"length must be {len(DATA) + 1} bytes, the file has {len(DATA)}"):
        sha256_file(path, length=len(DATA) + 1)


def test_pipes(path: Path) -> None:
    reader, writer = os.pipe()

    def write() -> None:
        with open(writer, "wb") as end:
            end.write(DATA)

    thread = threading.Thread(target=write)
    thread.start()
    assert sha256_file(reader) == hashlib.sha256(DATA).digest()
    thread.join()
    with pytest.raises(OSError, match="seek"):
        sha256_file(reader, offset=1)
    os.close(reader)


def test_errors(path: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        sha256_file(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        sha256_file(tmp_path)
    with pytest.raises(OSError, match="Bad file descriptor"):
        sha256_file(10_000)
    for wrong in ({"offset": -1}, {"length": -1}):
        with pytest.raises(ValueError, match="must not be negative"):
            sha256_file(path, **wrong)
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(10):
        with pytest.raises(EOFError):
            sha256_file(path, length=1 << 40)
    assert set(os.listdir("/proc/self/fd")) == before


# ---- file_digest ----------------------------------------------------------------------------------


def test_fd_1_positional_only(path: Path) -> None:
    with path.open("rb") as file, pytest.raises(TypeError):
        ours.file_digest(fileobj=file, digest="sha256")  # type: ignore[call-arg]


def test_fd_2_digests(path: Path) -> None:
    expected = hashlib.sha256(DATA).digest()
    for digest in ("sha256", "SHA-256", fastcrypt.sha256, hashlib.sha256, lambda: hashlib.new("sha256")):
        with path.open("rb") as file:
            assert ours.file_digest(file, digest).digest() == expected
    with path.open("rb") as file:
        assert ours.file_digest(file, "md5").digest() == hashlib.md5(DATA).digest()
    wrong: list[Any] = [None, fastcrypt.sha256()]
    for digest in wrong:
        with path.open("rb") as file, pytest.raises(TypeError, match="not callable"):
            ours.file_digest(file, digest)
    with path.open("rb") as file, pytest.raises(ValueError, match="unsupported hash type"):
        ours.file_digest(file, "spam")


def test_fd_3_bytesio_from_its_position() -> None:
    """hashlib hashes all of it, wherever its position is."""
    file = io.BytesIO(DATA)
    assert ours.file_digest(file, "sha256").digest() == hashlib.sha256(DATA).digest()
    assert file.tell() == len(DATA)
    file.seek(100)
    assert ours.file_digest(file, "sha256").digest() == hashlib.sha256(DATA[100:]).digest()
    file.seek(len(DATA) + 10)
    assert ours.file_digest(file, "sha256").digest() == hashlib.sha256().digest()
    file.write(b"not locked")


def test_fd_4_no_binary_files(path: Path) -> None:
    class NoReadable:
        def readinto(self, _: Any) -> int:
            return 0

    wrong: list[Any] = [io.StringIO("text"), None, b"bytes", NoReadable()]
    for file in wrong:
        with pytest.raises(ValueError, match="is not a file-like object in binary reading mode"):
            ours.file_digest(file, "sha256")
    with path.open() as text, pytest.raises(ValueError, match="binary reading mode"):
        ours.file_digest(text, "sha256")
    with (path.parent / "w").open("wb") as writing, pytest.raises(ValueError, match="binary reading mode"):
        ours.file_digest(writing, "sha256")


def test_fd_5_would_block() -> None:
    """Python 3.11 to 3.13.0 loop for ever."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    with open(reader, "rb", buffering=0) as file, pytest.raises(BlockingIOError, match="I/O operation"):
        ours.file_digest(file, "sha256")
    os.close(writer)


def test_fd_6_kinds_of_files(path: Path) -> None:
    expected = hashlib.sha256(DATA).digest()
    with path.open("rb", buffering=0) as raw:
        assert ours.file_digest(raw, "sha256").digest() == expected
        assert raw.tell() == len(DATA)
    with path.open("rb") as buffered:
        buffered.read(10)
        assert (
            ours.file_digest(buffered, "sha256", _bufsize=1000).digest() == hashlib.sha256(DATA[10:]).digest()
        )
        assert not buffered.closed
    left, right = socket.socketpair()

    def send() -> None:
        left.sendall(DATA)
        left.close()

    thread = threading.Thread(target=send)
    thread.start()
    with right, right.makefile("rb") as file:
        assert ours.file_digest(file, "sha256").digest() == expected
    thread.join()
