# SPDX-License-Identifier: Apache-2.0
"""In a child: use and drop objects made of secrets from standard input, wipe those, and stop.

    python -m scan.stopped [key | message]

The parent sends a key of 32 bytes and a message of 127, and then reads this process's memory. With an
argument a copy of that one is left on purpose.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

from fastcrypt import sha256_digest, sha256_hexdigest

from .freed import CALLS, KEY_BYTES, MESSAGE_BYTES, OBJECTS, kind_of, read, used_aes, used_aesgcm


def use(key: bytearray, message: bytearray) -> None:
    """Every case, then data that is long enough for the GIL to be released."""
    for name, make in (CALLS | {name: held.make for name, held in OBJECTS.items()}).items():
        make(message if kind_of(name) == "message" else key)
    long_data = bytes(1 << 20)
    cipher, aead = used_aes(key), used_aesgcm(key)
    cipher.ctr(bytes(16), cipher.cbc_encrypt(bytes(16), long_data))
    aead.decrypt(bytes(12), aead.encrypt(bytes(12), long_data, None), None)
    sha256_digest(message)
    sha256_hexdigest(message)


def main() -> None:
    key, message = read(KEY_BYTES), read(MESSAGE_BYTES)
    use(key, message)
    thread = threading.Thread(target=use, args=(key, message))
    thread.start()
    thread.join()
    planted = {"key": bytes(key), "message": bytes(message)}.get(sys.argv[1] if sys.argv[1:] else "")
    key[:], message[:] = bytes(KEY_BYTES), bytes(MESSAGE_BYTES)
    os.kill(os.getpid(), signal.SIGSTOP)
    del planted


if __name__ == "__main__":
    main()
