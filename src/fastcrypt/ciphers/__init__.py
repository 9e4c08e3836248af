# SPDX-License-Identifier: Apache-2.0
"""Cipher for code that was written for cryptography.hazmat.primitives.ciphers: AES in the modes ECB, CBC,
CTR, GCM and XTS.

Signatures, sizes and kinds of exceptions are cryptography's, and where that package is installed its
exception classes too. What differs is in the README's table.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar, overload

from .. import AES, AESXTS
from ..aead import InvalidTag
from . import algorithms, modes
from ._contexts import (
    AEADCipherContext,
    AEADDecryptionContext,
    AEADEncryptionContext,
    BlockStream,
    CipherContext,
    CounterContext,
    UnitStream,
)
from ._exceptions import AlreadyFinalized, AlreadyUpdated, NotYetFinalized, UnsupportedAlgorithm

__all__ = [
    "AEADCipherContext",
    "AEADDecryptionContext",
    "AEADEncryptionContext",
    "AlreadyFinalized",
    "AlreadyUpdated",
    "Cipher",
    "CipherContext",
    "InvalidTag",
    "NotYetFinalized",
    "UnsupportedAlgorithm",
    "algorithms",
    "modes",
]

_Mode_co = TypeVar("_Mode_co", bound=modes.Mode | None, covariant=True)


class Cipher(Generic[_Mode_co]):
    """An AES key and a mode. Each context that is made of it encrypts or decrypts one message.

    TypeError for what is no algorithm or no mode, ValueError if their sizes do not go together.
    """

    def __init__(self, algorithm: algorithms.AES, mode: _Mode_co, backend: Any = None) -> None:
        if not isinstance(algorithm, algorithms.AES):
            raise TypeError("Expected interface of CipherAlgorithm.")
        if mode is not None:
            if not isinstance(mode, modes.Mode):
                raise TypeError("Expected interface of Mode.")
            mode.validate_for_algorithm(algorithm)
        self.algorithm = algorithm
        self.mode = mode

    @overload
    def encryptor(self: Cipher[modes.GCM]) -> AEADEncryptionContext: ...
    @overload
    def encryptor(self) -> CipherContext: ...
    def encryptor(self) -> CipherContext:
        """A context that encrypts. ValueError if the mode was given a tag."""
        if isinstance(self.mode, modes.GCM):
            if self.mode.tag is not None:
                raise ValueError("Authentication tag must be None when encrypting.")
            return AEADEncryptionContext(self.algorithm._key, self.mode.initialization_vector)
        return self._context(encrypts=True)

    @overload
    def decryptor(self: Cipher[modes.GCM]) -> AEADDecryptionContext: ...
    @overload
    def decryptor(self) -> CipherContext: ...
    def decryptor(self) -> CipherContext:
        """A context that decrypts."""
        if isinstance(self.mode, modes.GCM):
            iv, minimum = self.mode.initialization_vector, self.mode._min_tag_length
            return AEADDecryptionContext(self.algorithm._key, iv, self.mode.tag, minimum)
        return self._context(encrypts=False)

    def _context(self, *, encrypts: bool) -> CipherContext:
        """For the modes without a tag."""
        key, mode = self.algorithm._key, self.mode
        if isinstance(mode, modes.CTR):
            return CounterContext(AES(key), mode.nonce)
        if isinstance(mode, modes.CBC):
            begin = AES(key).cbc_encryptor if encrypts else AES(key).cbc_decryptor
            return CipherContext(begin(mode.initialization_vector))
        if isinstance(mode, modes.ECB):
            return CipherContext(BlockStream(AES(key).ecb_encrypt if encrypts else AES(key).ecb_decrypt))
        if isinstance(mode, modes.XTS):
            unit = AESXTS(key).encrypt if encrypts else AESXTS(key).decrypt
            return CipherContext(UnitStream(unit, mode.tweak))
        name = "None" if mode is None else mode.name
        raise UnsupportedAlgorithm(f"cipher AES in {name} mode is not supported")
