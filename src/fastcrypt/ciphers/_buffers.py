# SPDX-License-Identifier: Apache-2.0
"""Buffers as bytes in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer


def flat(data: ReadableBuffer) -> memoryview:
    """The bytes of any contiguous buffer. TypeError for what is no buffer, BufferError for a strided one."""
    view = memoryview(data)
    if type(data) is bytes or type(data) is bytearray:
        return view
    if not view.c_contiguous:
        raise BufferError("underlying buffer is not C-contiguous")
    return view if view.format == "B" and view.ndim == 1 else view.cast("B")


def flat_target(buf: WriteableBuffer, size: int) -> bytearray | memoryview:
    """The first bytes of a buffer for results. TypeError if read-only, ValueError if it is too small."""
    if type(buf) is bytearray and len(buf) == size:
        return buf
    view = flat(buf)
    if view.readonly:
        raise TypeError("buffer is not writable")
    if len(view) < size:
        raise ValueError(f"buffer must be at least {size} bytes for this payload")
    return view[:size]


def require_bytes_like(name: str, value: ReadableBuffer) -> ReadableBuffer:
    try:
        memoryview(value)
    except TypeError:
        raise TypeError(f"{name} must be bytes-like") from None
    return value
