# SPDX-License-Identifier: Apache-2.0
"""The ends of things: daemon threads in long calls at exit, a module that is being torn down or patched."""

from __future__ import annotations

import subprocess
import sys

import pytest

CALLS = {
    "sha256": "lambda: fastcrypt.sha256(data)",
    "update": "fastcrypt.sha256().update, data",
    "sha256_digest": "lambda: fastcrypt.sha256_digest(data)",
    "compare_digest": "lambda: fastcrypt.compare_digest(data, data)",
    "gcm": "lambda: fastcrypt.AESGCM(key).encrypt(nonce, data, None)",
    "stream": "fastcrypt.AESGCM(key).encryptor(nonce).update, data",
    "many": "lambda: fastcrypt.AESGCM(key).encrypt_many([nonce] * 9, [data] * 9)",
    "record": "fastcrypt.RecordCipher(key, nonce).seal, data",
    "ctr": "lambda: fastcrypt.AES(key).ctr(bytes(16), data)",
    "cbc": "lambda: fastcrypt.AES(key).cbc_encrypt(bytes(16), data)",
}


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize("name", CALLS)
def test_daemon_threads_in_long_calls_at_exit(name: str) -> None:
    """Up to 3.13 such a thread is unwound by pthread_exit where it takes the GIL again."""
    code = f"""
import threading, time, fastcrypt
data, key, nonce = bytearray(1 << 20), bytes(32), bytes(12)
def work(function, *args):
    while True:
        function(*args)
for _ in range(4):
    threading.Thread(target=work, args=({CALLS[name]},), daemon=True).start()
time.sleep(0.3)
"""
    for _ in range(2):
        done = run(code)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("impostor", ["None", "5", "int", "fastcrypt.sha256"])
def test_a_stream_type_that_was_replaced_is_an_error(impostor: str) -> None:
    code = f"""
import fastcrypt
from fastcrypt import _core
_core.AESGCMEncryptor = {impostor}
try:
    fastcrypt.AESGCM(bytes(32)).encryptor(bytes(12))
except RuntimeError as error:
    print(error)
"""
    done = run(code)
    assert (done.returncode, done.stdout) == (0, "fastcrypt's stream types are gone or were replaced\n")


def test_a_forgery_is_refused_while_the_module_is_torn_down() -> None:
    code = """
import fastcrypt
from fastcrypt import _core
_core.InvalidTag = None
try:
    fastcrypt.AESGCM(bytes(32)).decrypt(bytes(12), bytes(20), None)
except RuntimeError as error:
    print(error)
"""
    done = run(code)
    assert (done.returncode, done.stdout) == (0, "the tag does not verify\n")


def test_objects_used_by_a_finalizer_at_exit() -> None:
    code = """
import sys, fastcrypt
class Late:
    def __init__(self):
        self.aead, self.hash = fastcrypt.AESGCM(bytes(32)), fastcrypt.sha256(b"abc")
    def __del__(self):
        self.hash.digest()
        try:
            self.aead.encryptor(bytes(12)).update(b"abc")
        except RuntimeError:
            pass
sys.keep = Late()
"""
    assert run(code).returncode == 0
