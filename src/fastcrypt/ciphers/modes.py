# SPDX-License-Identifier: Apache-2.0
"""Modes for Cipher: ECB, CBC, CTR, GCM, XTS, with their initialization vectors."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, ClassVar

from ._buffers import flat, require_bytes_like
from .algorithms import AES, AES128, AES256

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["CBC", "CTR", "ECB", "GCM", "XTS", "Mode"]


class Mode:
    """What all modes are."""

    __slots__ = ()
    name: ClassVar[str]

    def validate_for_algorithm(self, algorithm: AES) -> None:
        """ValueError or TypeError if the mode does not go with the key."""
        if algorithm.key_size > 256:
            raise ValueError("Only 128, 192, and 256 bit keys are allowed for this AES mode")


class ECB(Mode):
    """Each block on its own. For building other modes, not for messages."""

    __slots__ = ()
    name = "ECB"


class CBC(Mode):
    """SP 800-38A section 6.2. The initialization vector has 16 bytes and must be unpredictable."""

    __slots__ = ("_initialization_vector",)
    name = "CBC"

    def __init__(self, initialization_vector: ReadableBuffer) -> None:
        self._initialization_vector = require_bytes_like("initialization_vector", initialization_vector)

    @property
    def initialization_vector(self) -> ReadableBuffer:
        return self._initialization_vector

    def validate_for_algorithm(self, algorithm: AES) -> None:
        super().validate_for_algorithm(algorithm)
        size = len(flat(self._initialization_vector))
        if size != 16:
            raise ValueError(f"Invalid IV size ({size}) for CBC.")


class CTR(Mode):
    """SP 800-38A section 6.5. The nonce is the first counter block, 16 bytes."""

    __slots__ = ("_nonce",)
    name = "CTR"

    def __init__(self, nonce: ReadableBuffer) -> None:
        self._nonce = require_bytes_like("nonce", nonce)

    @property
    def nonce(self) -> ReadableBuffer:
        return self._nonce

    def validate_for_algorithm(self, algorithm: AES) -> None:
        super().validate_for_algorithm(algorithm)
        size = len(flat(self._nonce))
        if size != 16:
            raise ValueError(f"Invalid nonce size ({size}) for CTR.")


class GCM(Mode):
    """SP 800-38D. The initialization vector has 8 to 128 bytes; never use one twice under one key.

    To decrypt, the tag is given here or to finalize_with_tag(). It has 16 bytes, or from min_tag_length on.
    """

    __slots__ = ("_initialization_vector", "_min_tag_length", "_tag")
    name = "GCM"

    def __init__(
        self, initialization_vector: ReadableBuffer, tag: bytes | None = None, min_tag_length: int = 16
    ) -> None:
        self._initialization_vector = require_bytes_like("initialization_vector", initialization_vector)
        if not 8 <= len(flat(initialization_vector)) <= 128:
            raise ValueError("initialization_vector must be between 8 and 128 bytes (64 and 1024 bits).")
        if index(min_tag_length) < 4:
            raise ValueError("min_tag_length must be >= 4")
        self._min_tag_length = min_tag_length
        self._tag = tag
        if tag is not None and len(self._checked_kind(tag)) < min_tag_length:
            raise ValueError(f"Authentication tag must be {min_tag_length} bytes or longer.")

    @staticmethod
    def _checked_kind(tag: bytes) -> bytes:
        if not isinstance(tag, bytes):
            raise TypeError("tag must be bytes")
        return tag

    @property
    def tag(self) -> bytes | None:
        return self._tag

    @property
    def initialization_vector(self) -> ReadableBuffer:
        return self._initialization_vector

    def validate_for_algorithm(self, algorithm: AES) -> None:
        super().validate_for_algorithm(algorithm)
        if self._tag is not None and len(self._tag) > 16:
            raise ValueError("Authentication tag cannot be more than 16 bytes.")


class XTS(Mode):
    """IEEE 1619. The tweak has 16 bytes; each update() is a data unit of its own, under this tweak."""

    __slots__ = ("_tweak",)
    name = "XTS"

    def __init__(self, tweak: ReadableBuffer) -> None:
        self._tweak = require_bytes_like("tweak", tweak)
        if len(flat(tweak)) != 16:
            raise ValueError("tweak must be 128-bits (16 bytes)")

    @property
    def tweak(self) -> ReadableBuffer:
        return self._tweak

    def validate_for_algorithm(self, algorithm: AES) -> None:
        if isinstance(algorithm, AES128 | AES256):
            raise TypeError("The AES128 and AES256 classes do not support XTS, please use AES instead.")
        if algorithm.key_size not in (256, 512):
            raise ValueError("XTS takes a key of 256 bits for AES-128 and of 512 bits for AES-256")
