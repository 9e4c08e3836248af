# SPDX-License-Identifier: Apache-2.0
"""One object of each kind that Python code hands to a hash or a compare."""

from __future__ import annotations

import array
import ctypes
import io
import mmap
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from hypothesis import strategies as st

STRIDED_ERROR = "underlying buffer is not C-contiguous"


def refuse(*_: Any) -> NoReturn:
    raise AssertionError("a method of the operand was called")


class HostileBytes(bytes):
    """bytes whose methods must not be looked at."""

    __eq__ = __ne__ = __lt__ = __len__ = __getitem__ = __iter__ = __bytes__ = refuse
    __hash__ = None  # type: ignore[assignment]


class HostileBytearray(bytearray):
    __eq__ = __ne__ = __len__ = __getitem__ = __iter__ = refuse


class HostileStr(str):
    __eq__ = __ne__ = __len__ = __getitem__ = __iter__ = __str__ = encode = refuse  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


def mapped(data: bytes) -> mmap.mmap:
    area = mmap.mmap(-1, len(data))
    area[:] = data
    return area


def contiguous(data: bytes) -> dict[str, Any]:
    """data, whose length is a multiple of 16, as every kind of contiguous buffer."""
    n = len(data)
    assert n % 16 == 0
    kinds: dict[str, Any] = {
        "bytes": data,
        "bytearray": bytearray(data),
        "memoryview": memoryview(data),
        "writable memoryview": memoryview(bytearray(data)),
        "memoryview slice": memoryview(b"x" + data + b"y")[1:-1],
        "2-D memoryview": memoryview(data).cast("B", [n // 4, 4]),
        "3-D memoryview": memoryview(data).cast("B", [n // 8, 4, 2]),
        "memoryview of doubles": memoryview(data).cast("d"),
        "memoryview of bool": memoryview(data).cast("?"),
        "array B": array.array("B", data),
        "array I": array.array("I", data),
        "array d": array.array("d", data),
        "ctypes 1-D": (ctypes.c_char * n).from_buffer_copy(data),
        "ctypes ints": (ctypes.c_uint32 * (n // 4)).from_buffer_copy(data),
        "mmap": mapped(data),
        "BytesIO view": io.BytesIO(data).getbuffer(),
        "numpy u1": np.frombuffer(data, "u1"),
        "numpy u4": np.frombuffer(data, "u4"),
        "numpy 2-D": np.frombuffer(data, "u2").reshape(n // 4, 2),
        "numpy complex": np.frombuffer(data, "c16"),
        "numpy datetime": np.frombuffer(data, "i8").view("M8[s]"),
        "bytes subclass": HostileBytes(data),
        "bytearray subclass": HostileBytearray(data),
    }
    if sys.version_info >= (3, 12):
        kinds["__buffer__"] = PythonBuffer(data)
    return kinds


class PythonBuffer:
    """A buffer by PEP 688; used from 3.12 on."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(self.data)


def not_contiguous() -> dict[str, Any]:
    """Objects that have bytes, but not in one piece. The exporter's own exception must come through."""
    matrix = np.arange(16, dtype="u1").reshape(4, 4)
    return {
        "step 2": memoryview(b"abcd")[::2],
        "reversed": memoryview(b"abcd")[::-1],
        "numpy transposed": matrix.T,
        "numpy column": matrix[:, 0],
        "numpy Fortran": np.asfortranarray(matrix),
    }


def released() -> memoryview:
    view = memoryview(b"gone")
    view.release()
    return view


def ctypes_2d(data: bytes) -> Any:
    """hashlib and hmac refuse this one (two dimensions even for a simple request); we do not."""
    return ((ctypes.c_char * 4) * (len(data) // 4)).from_buffer_copy(data)


def no_buffers() -> dict[str, Any]:
    return {
        "None": None,
        "int": 5,
        "float": 1.5,
        "list": [1],
        "tuple": (b"a",),
        "object": object(),
        "dict": {},
        "type": bytes,
        "function": len,
    }


class BadBuffer:
    """Before 3.12 this is no buffer at all; from then on one whose export fails in Python code."""

    def __init__(self, how: str) -> None:
        self.how = how

    def __buffer__(self, flags: int) -> memoryview:
        if self.how == "raises":
            raise ZeroDivisionError("export")
        return "no view"  # type: ignore[return-value]


#: Operands of every kind, most of them with something wrong.
hostile = st.one_of(
    st.binary(max_size=300),
    st.binary(max_size=300).map(bytearray),
    st.binary(max_size=300).map(lambda b: memoryview(b)),  # noqa: PLW0108
    st.binary(max_size=300).map(HostileBytes),
    st.binary(max_size=300).map(HostileBytearray),
    st.text(max_size=20),
    st.text(max_size=20).map(HostileStr),
    st.binary(min_size=2, max_size=64).map(lambda b: memoryview(b)[::2]),
    st.binary(min_size=16, max_size=64).map(lambda b: np.frombuffer(b[:16], "u4").reshape(2, 2).T),
    st.builds(released),
    st.integers(),
    st.floats(),
    st.none(),
    st.builds(object),
    st.lists(st.integers(), max_size=3),
    st.sampled_from(["raises", "wrong"]).map(BadBuffer),
)


def outcome(function: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
    """What a call gives: its result, or its exception's class and text."""
    try:
        return ("result", function(*args))
    except Exception as error:
        return (type(error), str(error))
