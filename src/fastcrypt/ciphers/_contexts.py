# SPDX-License-Identifier: Apache-2.0
"""What Cipher.encryptor() and .decryptor() return: a message in pieces, over the streams of fastcrypt.

A stream's update() is one call away, since contexts check nothing before it: after finalize() the stream in
their place is FINISHED.
"""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from .. import AES, timingsafe_bcmp
from ..aead import AESGCM, InvalidTag
from ._buffers import flat, flat_target
from ._exceptions import AlreadyFinalized, AlreadyUpdated, NotYetFinalized, UnsupportedAlgorithm

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer


class Finished:
    """The stream of a context that has been finalized."""

    def update(self, data: ReadableBuffer, /) -> NoReturn:
        raise AlreadyFinalized("Context was already finalized.")

    def update_into(self, data: ReadableBuffer, buf: WriteableBuffer) -> NoReturn:
        raise AlreadyFinalized("Context was already finalized.")


FINISHED = Finished()


class CipherContext:
    """A message in pieces. AlreadyFinalized from each method after finalize()."""

    __slots__ = ("_stream",)

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def _require_open(self) -> None:
        if self._stream is FINISHED:
            raise AlreadyFinalized("Context was already finalized.")

    def update(self, data: ReadableBuffer) -> bytes:
        """The result for the next piece: in ECB and CBC for the whole blocks that are there."""
        result: bytes = self._stream.update(data)
        return result

    def update_into(self, data: ReadableBuffer, buf: WriteableBuffer) -> int:
        """update() into a buffer with room for it (len(data) + 15 bytes always do); how many it wrote."""
        written: int = self._stream.update_into(data, buf)
        return written

    def finalize(self) -> bytes:
        """End the message; b"". ValueError in ECB and CBC if it does not end with a block."""
        self._require_open()
        stream, self._stream = self._stream, FINISHED
        rest: bytes = stream.finalize()
        return rest

    def reset_nonce(self, nonce: ReadableBuffer) -> None:
        """Begin another message under the same key: CTR only, else UnsupportedAlgorithm."""
        self._require_open()
        raise UnsupportedAlgorithm("This algorithm or mode does not support resetting the nonce.")


class CounterContext(CipherContext):
    """CTR."""

    __slots__ = ("_aes",)

    def __init__(self, aes: AES, nonce: ReadableBuffer) -> None:
        super().__init__(aes.ctr_encryptor(nonce))
        self._aes = aes

    def reset_nonce(self, nonce: ReadableBuffer) -> None:
        self._require_open()
        self._stream = self._aes.ctr_encryptor(nonce)


class BlockStream:
    """ECB in pieces. What is held of a block is a bytes object, which nothing wipes."""

    __slots__ = ("_held", "_lock", "_run")

    def __init__(self, run: Callable[..., Any]) -> None:
        self._run = run
        self._held = b""
        self._lock = allocate_lock()

    def _pieces(self, data: ReadableBuffer) -> tuple[bytes | memoryview, bytes]:
        """The whole blocks that are there now, and what is left over."""
        if not self._held and type(data) is bytes and len(data) % 16 == 0:
            return data, b""
        view = flat(b"".join((self._held, data)) if self._held else data)
        whole = len(view) & -16
        return view[:whole], bytes(view[whole:])

    def update(self, data: ReadableBuffer, /) -> bytes:
        with self._lock:
            blocks, rest = self._pieces(data)
            result: bytes = self._run(blocks)
            self._held = rest
        return result

    def update_into(self, data: ReadableBuffer, buf: WriteableBuffer) -> int:
        with self._lock:
            blocks, rest = self._pieces(data)
            written: int = self._run(blocks, out=flat_target(buf, len(blocks)))
            self._held = rest
        return written

    def finalize(self) -> bytes:
        if self._held:
            raise ValueError("The length of the provided data is not a multiple of the block length.")
        return b""


class UnitStream:
    """XTS: each piece is a data unit of its own."""

    __slots__ = ("_run", "_tweak")

    def __init__(self, run: Callable[..., Any], tweak: ReadableBuffer) -> None:
        self._run = run
        self._tweak = bytes(flat(tweak))

    def update(self, data: ReadableBuffer, /) -> bytes:
        result: bytes = self._run(self._tweak, data) if len(flat(data)) else b""
        return result

    def update_into(self, data: ReadableBuffer, buf: WriteableBuffer) -> int:
        size = len(flat(data))
        written: int = self._run(self._tweak, data, out=flat_target(buf, size)) if size else 0
        return written

    def finalize(self) -> bytes:
        return b""


# ---- GCM ------------------------------------------------------------------------------------------


class AEADCipherContext(CipherContext):
    """GCM. The stream begins with the first data: then all associated data is there."""

    __slots__ = ("_aad", "_aead", "_iv", "_lock")

    def __init__(self, key: ReadableBuffer, iv: ReadableBuffer) -> None:
        super().__init__(None)
        self._aead = AESGCM(key)
        self._iv = bytes(flat(iv))
        self._aad = bytearray()
        self._lock = allocate_lock()

    def _new_stream(self) -> Any:
        raise NotImplementedError

    def _begin(self) -> Any:
        """The stream, begun if it was not: once, or two threads would encrypt with the same key stream."""
        with self._lock:
            self._require_open()
            if self._stream is None:
                self._stream = self._new_stream()
            return self._stream

    def authenticate_additional_data(self, data: ReadableBuffer) -> None:
        """More associated data; AlreadyUpdated once there has been data."""
        with self._lock:
            self._require_open()
            if self._stream is not None:
                raise AlreadyUpdated("Update has been called on this context.")
            self._aad += flat(data)

    def update(self, data: ReadableBuffer) -> bytes:
        """The result for the next piece, as many bytes as data has."""
        result: bytes = (self._stream or self._begin()).update(data)
        return result

    def update_into(self, data: ReadableBuffer, buf: WriteableBuffer) -> int:
        """update() into a buffer of len(data) bytes or more; how many it wrote."""
        stream = self._stream or self._begin()
        size = len(data) if type(data) is bytes else len(flat(data))
        written: int = stream.update_into(data, flat_target(buf, size))
        return written


class AEADEncryptionContext(AEADCipherContext):
    __slots__ = ("_tag",)

    def _new_stream(self) -> Any:
        return self._aead.encryptor(self._iv, self._aad)

    def finalize(self) -> bytes:
        """End the message: b"", and tag is there."""
        self._tag: bytes = self._begin().finalize()
        self._stream = FINISHED
        return b""

    @property
    def tag(self) -> bytes:
        """16 bytes; NotYetFinalized before finalize()."""
        if self._stream is not FINISHED:
            raise NotYetFinalized("You must finalize encryption before getting the tag.")
        return self._tag


class AEADDecryptionContext(AEADCipherContext):
    """What update() returns is UNVERIFIED until finalize() or finalize_with_tag() has returned."""

    __slots__ = ("_given_tag", "_min_tag_length")

    def __init__(
        self, key: ReadableBuffer, iv: ReadableBuffer, tag: bytes | None, min_tag_length: int
    ) -> None:
        super().__init__(key, iv)
        self._given_tag = tag
        self._min_tag_length = min_tag_length

    def _new_stream(self) -> Any:
        if self._min_tag_length >= 16:
            return self._aead.decryptor(self._iv, self._aad)
        return ShortTagStream(self._aead, self._iv, self._aad)

    def _verify(self, tag: bytes) -> bytes:
        stream, self._stream = self._begin(), FINISHED
        stream.finalize(tag)
        return b""

    def finalize(self) -> bytes:
        """b"" if the tag given to the mode is right, else InvalidTag; ValueError if none was given."""
        self._require_open()
        if self._given_tag is None:
            raise ValueError("Authentication tag must be provided when decrypting.")
        return self._verify(self._given_tag)

    def finalize_with_tag(self, tag: bytes) -> bytes:
        """finalize() with a tag that was not known before."""
        self._require_open()
        if self._given_tag is not None:
            raise ValueError("Authentication tag must be provided only once.")
        if len(tag) < self._min_tag_length:
            raise ValueError(f"Authentication tag must be {self._min_tag_length} bytes or longer.")
        if len(tag) > 16:
            raise ValueError("Authentication tag cannot be more than 16 bytes.")
        return self._verify(tag)


class ShortTagStream:
    """Decryption whose tag has a length that is known only in the end.

    The encryptor of a nonce decrypts as well. What comes out goes through a second one, which makes the tag.
    """

    __slots__ = ("_again", "_decryptor", "_lock")

    def __init__(self, aead: AESGCM, iv: bytes, aad: bytearray) -> None:
        self._lock = allocate_lock()
        self._decryptor = aead.encryptor(iv)
        self._again = aead.encryptor(iv, aad)

    def update(self, data: ReadableBuffer, /) -> bytes:
        with self._lock:
            text = self._decryptor.update(data)
            self._again.update(text)
        return text

    def update_into(self, data: ReadableBuffer, buf: WriteableBuffer) -> int:
        with self._lock:
            written = self._decryptor.update_into(data, buf)
            self._again.update(buf)
        return written

    def finalize(self, tag: bytes) -> None:
        if timingsafe_bcmp(self._again.finalize()[: len(tag)], tag):
            raise InvalidTag
