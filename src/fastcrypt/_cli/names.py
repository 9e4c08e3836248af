# SPDX-License-Identifier: Apache-2.0
"""File names in lists of checksums and in messages, as coreutils writes them."""

from __future__ import annotations

import os
import re

#: In a list of checksums, on a line that begins with a backslash.
ESCAPES = {b"\\": b"\\\\", b"\n": b"\\n", b"\r": b"\\r"}
UNESCAPES = {escaped: plain for plain, escaped in ESCAPES.items()}

#: A name that a shell takes as it is. The colon is not here: messages put one after the name.
_SAFE = re.compile(r"(?![#~])[\w@%+,./{}#~-]+")
#: What keeps a name with an apostrophe out of double quotes.
_NOT_IN_DOUBLE_QUOTES = re.compile(r'["$`\\!]')
_CONTROLS = {"\a": r"\a", "\b": r"\b", "\t": r"\t", "\n": r"\n", "\v": r"\v", "\f": r"\f", "\r": r"\r"}


def needs_escape(name: bytes) -> bool:
    return any(plain in name for plain in ESCAPES)


def escape(name: bytes) -> bytes:
    return re.sub(rb"[\\\n\r]", lambda match: ESCAPES[match[0]], name)


def unescape(name: bytes) -> bytes | None:
    """The name that was escaped, or None where nothing can have been escaped like this."""
    if not re.fullmatch(rb"(?:[^\\\0]|\\[\\nr])*", name, re.DOTALL):
        return None
    return re.sub(rb"\\[\\nr]", lambda match: UNESCAPES[match[0]], name)


def quote(name: bytes) -> str:
    """The name in a message: quoted for a shell wherever a shell, or a reader, would need it."""
    text = os.fsdecode(name)
    if _SAFE.fullmatch(text):
        return text
    if not text.isprintable():
        return _dollar_quote(text)
    if "'" in text and not _NOT_IN_DOUBLE_QUOTES.search(text):
        return f'"{text}"'
    return "'" + text.replace("'", r"'\''") + "'"


def _dollar_quote(text: str) -> str:
    """'a'$'\\n''b': what is not printable stands between $' and '."""
    quoted, inside = "'", False
    for character in text:
        if not character.isprintable():
            quoted += ("" if inside else "'$'") + _octal(character)
            inside = True
            continue
        if character == "'":
            quoted += r"'\''"
        else:
            quoted += ("''" if inside else "") + character
        inside = False
    return quoted + "'"


def _octal(character: str) -> str:
    return _CONTROLS.get(character) or "".join(f"\\{byte:03o}" for byte in os.fsencode(character))
