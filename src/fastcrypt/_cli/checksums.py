# SPDX-License-Identifier: Apache-2.0
"""Lines of checksums: write and read the text format and the BSD format (--tag) of coreutils."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from .names import escape, needs_escape, unescape


class Hash(Protocol):
    """What `sum` uses of a hash object."""

    def update(self, data: memoryview, /) -> None: ...
    def digest(self) -> bytes: ...
    def hexdigest(self) -> str: ...


@dataclass(frozen=True)
class Algorithm:
    """A hash class of the package, under the name that a --tag line gives it."""

    name: str
    make: type[Hash]
    digest_size: int

    @property
    def tag(self) -> bytes:
        return self.name.upper().replace("_", "-").encode()


@dataclass(frozen=True)
class Style:
    """How `sum` writes a line."""

    tag: bool = False
    binary: bool = False
    zero: bool = False

    def line(self, algorithm: Algorithm, digest: str, name: bytes) -> bytes:
        escaped = not self.zero and needs_escape(name)
        shown = escape(name) if escaped else name
        if self.tag:
            body = b"%s (%s) = %s" % (algorithm.tag, shown, digest.encode())
        else:
            body = b"%s %s%s" % (digest.encode(), b"*" if self.binary else b" ", shown)
        return (b"\\" if escaped else b"") + body + (b"\0" if self.zero else b"\n")


@dataclass(frozen=True)
class Entry:
    """A line to check."""

    digest: bytes
    name: bytes


class Reader:
    """Reads lines of lists.

    A digest may be followed by one space and the name ("reversed" BSD). Which of the two text
    formats the lists have is decided by the first line: otherwise a leading space or asterisk of a name
    could change meaning from line to line.
    """

    def __init__(self, algorithm: Algorithm) -> None:
        self.tag = algorithm.tag
        self.hex_digits = 2 * algorithm.digest_size
        self.one_space: bool | None = None

    def read(self, line: bytes) -> Entry | None:
        """The entry of a line without its line feed, or None where the line is not well formed."""
        line = line.lstrip(b" \t")
        escaped = line.startswith(b"\\")
        line = line[escaped:]
        found = self._tagged(line) if line.startswith(self.tag) else self._text(line)
        if found is None:
            return None
        digest, shown = found
        name = unescape(shown) if escaped else shown
        # No file has an empty name, or one with a zero byte.
        if not name or b"\0" in name or not re.fullmatch(rb"[0-9A-Fa-f]{%d}" % self.hex_digits, digest):
            return None
        return Entry(bytes.fromhex(digest.decode()), name)

    def _tagged(self, line: bytes) -> tuple[bytes, bytes] | None:
        match = re.fullmatch(rb" ?\((.*)\)[ \t]*=[ \t]*([^)]*)", line[len(self.tag) :], re.DOTALL)
        return (match[2], match[1]) if match else None

    def _text(self, line: bytes) -> tuple[bytes, bytes] | None:
        digest, blank, rest = (
            line[: self.hex_digits],
            line[self.hex_digits : self.hex_digits + 1],
            line[self.hex_digits + 1 :],
        )
        if not rest or blank not in (b" ", b"\t") or not re.fullmatch(rb"[0-9A-Fa-f]+", digest):
            return None
        one_space = len(rest) == 1 or not rest.startswith((b" ", b"*"))
        if one_space:
            if self.one_space is False:
                return None
            self.one_space = True
            return digest, rest
        if self.one_space is True:
            return digest, rest
        self.one_space = False
        return digest, rest[1:]
