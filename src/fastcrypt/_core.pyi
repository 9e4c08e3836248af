# SPDX-License-Identifier: Apache-2.0
"""Types of the extension module. Names without an underscore in fastcrypt/__init__.py are public."""

from collections.abc import Iterable
from typing import Any, Literal, NoReturn, Self, TypedDict, final, overload

from _typeshed import ReadableBuffer, WriteableBuffer

__version__: str
_GIL_MINSIZE: int

_Mode = Literal["ecb", "cbc", "ctr", "gcm"]
_Padding = Literal["pkcs7"]
# One buffer that is cut, or a buffer for each record.
_Packed = ReadableBuffer | Iterable[ReadableBuffer]
_AADs = ReadableBuffer | Iterable[ReadableBuffer | None]

@final
class sha256:
    def __new__(
        cls,
        data: ReadableBuffer = b"",
        *,
        usedforsecurity: object = True,
        string: ReadableBuffer | None = None,
    ) -> Self: ...
    def update(self, data: ReadableBuffer, /) -> None: ...
    def digest(self) -> bytes: ...
    def hexdigest(self) -> str: ...
    def copy(self) -> Self: ...
    @property
    def name(self) -> str: ...
    @property
    def digest_size(self) -> int: ...
    @property
    def block_size(self) -> int: ...
    def __reduce__(self) -> NoReturn: ...
    def __reduce_ex__(self, protocol: Any, /) -> NoReturn: ...

def sha256_digest(data: ReadableBuffer, /) -> bytes: ...
def sha256_hexdigest(data: ReadableBuffer, /) -> str: ...
@overload
def compare_digest(a: ReadableBuffer, b: ReadableBuffer, /) -> bool: ...
@overload
def compare_digest(a: str, b: str, /) -> bool: ...
def timingsafe_equal(a: ReadableBuffer | str, b: ReadableBuffer | str, /) -> bool: ...
def timingsafe_bcmp(a: ReadableBuffer, b: ReadableBuffer, /) -> int: ...
def timingsafe_memcmp(a: ReadableBuffer, b: ReadableBuffer, /) -> int: ...

@final
class AES:
    def __new__(cls, key: ReadableBuffer) -> Self: ...
    @overload
    def ecb_encrypt(self, data: ReadableBuffer, *, out: None = None) -> bytes: ...
    @overload
    def ecb_encrypt(self, data: ReadableBuffer, *, out: WriteableBuffer) -> int: ...
    @overload
    def ecb_decrypt(self, data: ReadableBuffer, *, out: None = None) -> bytes: ...
    @overload
    def ecb_decrypt(self, data: ReadableBuffer, *, out: WriteableBuffer) -> int: ...
    @overload
    def cbc_encrypt(
        self, iv: ReadableBuffer, data: ReadableBuffer, *, padding: _Padding | None = None, out: None = None
    ) -> bytes: ...
    @overload
    def cbc_encrypt(
        self,
        iv: ReadableBuffer,
        data: ReadableBuffer,
        *,
        padding: _Padding | None = None,
        out: WriteableBuffer,
    ) -> int: ...
    @overload
    def cbc_decrypt(
        self, iv: ReadableBuffer, data: ReadableBuffer, *, padding: _Padding | None = None, out: None = None
    ) -> bytes: ...
    @overload
    def cbc_decrypt(
        self,
        iv: ReadableBuffer,
        data: ReadableBuffer,
        *,
        padding: _Padding | None = None,
        out: WriteableBuffer,
    ) -> int: ...
    @overload
    def ctr(
        self, iv: ReadableBuffer, data: ReadableBuffer, *, offset: int = 0, out: None = None
    ) -> bytes: ...
    @overload
    def ctr(
        self, iv: ReadableBuffer, data: ReadableBuffer, *, offset: int = 0, out: WriteableBuffer
    ) -> int: ...
    @property
    def key_size(self) -> int: ...
    @property
    def block_size(self) -> int: ...
    def __reduce__(self) -> NoReturn: ...
    def __reduce_ex__(self, protocol: Any, /) -> NoReturn: ...

@final
class AESGCMEncryptor:
    def update(self, data: ReadableBuffer, /) -> bytes: ...
    def update_into(self, data: ReadableBuffer, buf: WriteableBuffer) -> int: ...
    def finalize(self) -> bytes: ...
    def __reduce__(self) -> NoReturn: ...
    def __reduce_ex__(self, protocol: Any, /) -> NoReturn: ...

@final
class AESGCMDecryptor:
    def update(self, data: ReadableBuffer, /) -> bytes: ...
    def update_into(self, data: ReadableBuffer, buf: WriteableBuffer) -> int: ...
    def finalize(self, tag: ReadableBuffer, /) -> None: ...
    def __reduce__(self) -> NoReturn: ...
    def __reduce_ex__(self, protocol: Any, /) -> NoReturn: ...

@final
class AESGCM:
    def __new__(
        cls, key: ReadableBuffer, *, tag_length: int = 16, allow_short_tag: object = False
    ) -> Self: ...
    @staticmethod
    def generate_key(bit_length: int) -> bytes: ...
    def encryptor(
        self, nonce: ReadableBuffer, associated_data: ReadableBuffer | None = None
    ) -> AESGCMEncryptor: ...
    def decryptor(
        self, nonce: ReadableBuffer, associated_data: ReadableBuffer | None = None
    ) -> AESGCMDecryptor: ...
    def encrypt(
        self, nonce: ReadableBuffer, data: ReadableBuffer, associated_data: ReadableBuffer | None
    ) -> bytes: ...
    def decrypt(
        self, nonce: ReadableBuffer, data: ReadableBuffer, associated_data: ReadableBuffer | None
    ) -> bytes: ...
    def encrypt_into(
        self,
        nonce: ReadableBuffer,
        data: ReadableBuffer,
        associated_data: ReadableBuffer | None,
        buf: WriteableBuffer,
    ) -> int: ...
    def decrypt_into(
        self,
        nonce: ReadableBuffer,
        data: ReadableBuffer,
        associated_data: ReadableBuffer | None,
        buf: WriteableBuffer,
    ) -> int: ...
    @overload
    def encrypt_detached(
        self,
        nonce: ReadableBuffer,
        data: ReadableBuffer,
        associated_data: ReadableBuffer | None,
        *,
        out: None = None,
    ) -> tuple[bytes, bytes]: ...
    @overload
    def encrypt_detached(
        self,
        nonce: ReadableBuffer,
        data: ReadableBuffer,
        associated_data: ReadableBuffer | None,
        *,
        out: WriteableBuffer,
    ) -> tuple[int, bytes]: ...
    @overload
    def decrypt_detached(
        self,
        nonce: ReadableBuffer,
        data: ReadableBuffer,
        tag: ReadableBuffer,
        associated_data: ReadableBuffer | None,
        *,
        out: None = None,
    ) -> bytes: ...
    @overload
    def decrypt_detached(
        self,
        nonce: ReadableBuffer,
        data: ReadableBuffer,
        tag: ReadableBuffer,
        associated_data: ReadableBuffer | None,
        *,
        out: WriteableBuffer,
    ) -> int: ...
    @overload
    def encrypt_many(
        self,
        nonces: _Packed,
        datas: _Packed,
        aads: _AADs | None = None,
        *,
        record_size: int | None = None,
        out: None = None,
    ) -> list[bytes]: ...
    @overload
    def encrypt_many(
        self,
        nonces: _Packed,
        datas: _Packed,
        aads: _AADs | None = None,
        *,
        record_size: int | None = None,
        out: WriteableBuffer,
    ) -> int: ...
    @overload
    def decrypt_many(
        self,
        nonces: _Packed,
        datas: _Packed,
        aads: _AADs | None = None,
        *,
        record_size: int | None = None,
        out: None = None,
        errors: Literal["raise"] = "raise",
    ) -> list[bytes]: ...
    @overload
    def decrypt_many(
        self,
        nonces: _Packed,
        datas: _Packed,
        aads: _AADs | None = None,
        *,
        record_size: int | None = None,
        out: WriteableBuffer,
        errors: Literal["raise"] = "raise",
    ) -> int: ...
    @overload
    def decrypt_many(
        self,
        nonces: _Packed,
        datas: _Packed,
        aads: _AADs | None = None,
        *,
        record_size: int | None = None,
        out: None = None,
        errors: Literal["none"],
    ) -> list[bytes | None]: ...
    @overload
    def decrypt_many(
        self,
        nonces: _Packed,
        datas: _Packed,
        aads: _AADs | None = None,
        *,
        record_size: int | None = None,
        out: WriteableBuffer,
        errors: Literal["none"],
    ) -> list[int | None]: ...
    @property
    def tag_length(self) -> int: ...
    def __reduce__(self) -> NoReturn: ...
    def __reduce_ex__(self, protocol: Any, /) -> NoReturn: ...

@final
class AESGCMSIV:
    def __new__(cls, key: ReadableBuffer) -> Self: ...
    @staticmethod
    def generate_key(bit_length: int) -> bytes: ...
    def encrypt(
        self, nonce: ReadableBuffer, data: ReadableBuffer, associated_data: ReadableBuffer | None
    ) -> bytes: ...
    def decrypt(
        self, nonce: ReadableBuffer, data: ReadableBuffer, associated_data: ReadableBuffer | None
    ) -> bytes: ...
    def encrypt_into(
        self,
        nonce: ReadableBuffer,
        data: ReadableBuffer,
        associated_data: ReadableBuffer | None,
        buf: WriteableBuffer,
    ) -> int: ...
    def decrypt_into(
        self,
        nonce: ReadableBuffer,
        data: ReadableBuffer,
        associated_data: ReadableBuffer | None,
        buf: WriteableBuffer,
    ) -> int: ...
    def __reduce__(self) -> NoReturn: ...
    def __reduce_ex__(self, protocol: Any, /) -> NoReturn: ...

class InvalidTag(Exception):
    index: int | None

@overload
def aes_encrypt(
    key: ReadableBuffer,
    data: ReadableBuffer,
    *,
    mode: _Mode,
    iv: ReadableBuffer | None = None,
    aad: ReadableBuffer | None = None,
    padding: _Padding | None = None,
    out: None = None,
) -> bytes: ...
@overload
def aes_encrypt(
    key: ReadableBuffer,
    data: ReadableBuffer,
    *,
    mode: _Mode,
    iv: ReadableBuffer | None = None,
    aad: ReadableBuffer | None = None,
    padding: _Padding | None = None,
    out: WriteableBuffer,
) -> int: ...
@overload
def aes_decrypt(
    key: ReadableBuffer,
    data: ReadableBuffer,
    *,
    mode: _Mode,
    iv: ReadableBuffer | None = None,
    aad: ReadableBuffer | None = None,
    padding: _Padding | None = None,
    out: None = None,
) -> bytes: ...
@overload
def aes_decrypt(
    key: ReadableBuffer,
    data: ReadableBuffer,
    *,
    mode: _Mode,
    iv: ReadableBuffer | None = None,
    aad: ReadableBuffer | None = None,
    padding: _Padding | None = None,
    out: WriteableBuffer,
) -> int: ...

class InvalidUnwrap(Exception): ...

def aes_cmac(key: ReadableBuffer, data: ReadableBuffer) -> bytes: ...
def aes_key_wrap(wrapping_key: ReadableBuffer, key_to_wrap: ReadableBuffer) -> bytes: ...
def aes_key_unwrap(wrapping_key: ReadableBuffer, wrapped_key: ReadableBuffer) -> bytes: ...
def aes_key_wrap_with_padding(wrapping_key: ReadableBuffer, key_to_wrap: ReadableBuffer) -> bytes: ...
def aes_key_unwrap_with_padding(wrapping_key: ReadableBuffer, wrapped_key: ReadableBuffer) -> bytes: ...

class _Row(TypedDict):
    op: str
    name: str
    features: frozenset[str]
    symbols: tuple[str, ...]
    constant_time: bool
    built: bool
    runnable: bool
    chosen: bool

def cpu_features() -> frozenset[str]: ...
def detected_features() -> frozenset[str]: ...
def kernels() -> dict[str, str]: ...
def build_info() -> dict[str, Any]: ...
def self_test() -> None: ...
def rows() -> list[_Row]: ...
def resolve(features: Iterable[str]) -> dict[str, str]: ...
def narrow(features: Iterable[str], setting: str) -> frozenset[str]: ...
def decode_cpuid(
    leaf1_ecx: int,
    leaf1_edx: int,
    leaf7_ebx: int,
    leaf7_ecx: int,
    leaf7_1_eax: int,
    leaf80000001_ecx: int,
    xcr0: int,
) -> frozenset[str]: ...
def table_address() -> int: ...
def call_kernel(op: str, name: str, *args: ReadableBuffer) -> Any: ...
