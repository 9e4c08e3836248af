# SPDX-License-Identifier: Apache-2.0
"""What is changed in one line: (description, new line) for every mutant of it.

A description says which text became which, "ja -> jae"; with the file, the scope and the line's own
text it names a mutant for good, wherever the line moves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Mutation = tuple[str, str]

# ---- Assembly ------------------------------------------------------------------------------------

#: Conditions: the neighbour (bound off by one, or another flag) and the opposite.
JUMPS = {
    "ja": ("jae", "jbe"), "jae": ("ja", "jb"), "jb": ("jbe", "jae"), "jbe": ("jb", "ja"),
    "jz": ("jnz",), "jnz": ("jz",), "je": ("jne",), "jne": ("je",), "jc": ("jnc",),
}  # fmt: skip

#: Mnemonics that a slip of the pen turns into each other.
MNEMONICS = {
    "or": ("xor", "and"), "xor": ("or", "and"), "and": ("or", "xor"),
    "por": ("pxor", "pand"), "pxor": ("por", "pand"), "pand": ("por", "pxor"),
    "vpor": ("vpxor", "vpand"), "vpxor": ("vpor", "vpand"),
    "add": ("sub",), "sub": ("add",), "adc": ("add",), "inc": ("dec",), "dec": ("inc",),
    "shl": ("shr",), "shr": ("shl", "sar"), "psrlq": ("psllq",), "psllq": ("psrlq",),
    "paddd": ("paddq", "psubd"), "paddq": ("paddd",), "psubd": ("paddd",),
    "pslldq": ("psrldq",), "psrad": ("psrld",), "pcmpeqb": ("pcmpgtb",),
    "setne": ("sete",), "seta": ("setae", "setb"), "setb": ("setbe", "seta"),
    "cmovne": ("cmove",), "cmovnz": ("cmovz",), "test": ("cmp",), "bswap": ("neg",),
    "aesenc": ("aesenclast",), "aesenclast": ("aesenc",), "aesdeclast": ("aesdec",),
    "aesimc": ("movaps",), "movhps": ("movlps",), "movzbl": ("movsbl",), "movsbl": ("movzbl",),
    "sha256msg1": ("sha256msg2",), "sha256msg2": ("sha256msg1",),
}  # fmt: skip
SUFFIXED = {"or", "xor", "and", "add", "sub", "adc", "inc", "dec", "shl", "shr", "test", "bswap"}

#: Role -> the role that it would be mistaken for.
SIBLINGS = {
    "A": "B", "B": "A", "LEN": "STRIDE", "STRIDE": "LEN",
    "DIFF_BEFORE": "DIFF0", "EQUAL": "EQUAL_HERE", "EQUAL_HERE": "EQUAL", "OTHER": "EQUAL_HERE",
    "EQUAL_BEFORE": "EQUAL", "DIFF_EVEN": "DIFF_ODD", "DIFF_ODD": "DIFF_EVEN",
    "DIFF_HERE": "DIFF_ODD", "DIFF_EVEN_XMM": "DIFF_ODD_XMM", "DIFF_ODD_XMM": "DIFF_EVEN_XMM",
    "DIFF_HERE_XMM": "DIFF_ODD_XMM", "FIRST_A": "FIRST_B", "FIRST_B": "FIRST_A",
    "FIRST_A_32": "FIRST_B_32", "FIRST_B_32": "FIRST_A_32", "WORD_A": "WORD_B",
    "WORD_B": "WORD_A", "WORD_A_32": "WORD_B_32", "WORD_B_32": "WORD_A_32",
    "ABOVE_8": "BELOW_8", "BELOW_8": "ABOVE_8", "IN": "OUT", "OUT": "IN", "LO": "HI", "HI": "LO",
    "MID": "LO", "BLOCK": "T1", "T0": "T1", "T1": "T0", "RK": "T0", "CTR": "BLOCK",
    "CHAIN": "BLOCK", "WORDS": "HIGH_WORDS", "HIGH_WORDS": "WORDS", "SUB": "SHIFTED",
    "SHIFTED": "SUB", "ROTATE": "SHIFTED", "ZERO": "SUB", "NEXT": "LIMIT", "LIMIT": "NEXT",
    "COUNT_LO": "COUNT_HI", "COUNT_HI": "COUNT_LO", "CARRY": "COUNT_LO", "ABEF": "CDGH",
    "CDGH": "ABEF", "OLD_ABEF": "OLD_CDGH", "OLD_CDGH": "OLD_ABEF", "WK": "TMP",
    "STACK_NEXT": "STACK_END", "STACK_END": "STACK_NEXT", "SAVED_IN": "SAVED_LEN",
    "SAVED_LEN": "SAVED_IN", "NEXT_IN": "CHAIN_STATE", "CHAIN_STATE": "NEXT_IN",
    "FIRST_KEY": "LAST_KEY", "LAST_KEY": "FIRST_KEY", "POWER": "KEY", "VALUE": "IN",
    **{f"S{n}": f"S{(n + 1) % 8}" for n in range(8)},
    **{f"MSG{n}": f"MSG{(n + 1) % 4}" for n in range(4)},
    **{f"DIFF{n}{w}": f"DIFF{(n + 1) % 4}{w}" for n in range(4) for w in ("", "_32")},
}  # fmt: skip

NUMBER = re.compile(r"(?<![\w.%\\])-?(?:0x[0-9a-f]+|\d+)(?![\wx:])")


def plus(number: str, delta: int) -> str:
    value = int(number, 0) + delta
    return hex(value) if "0x" in number and value >= 0 else str(value)


def numbers(line: str, start: int) -> Iterator[Mutation]:
    """Each immediate, displacement, macro argument and factor: one more and one less."""
    for m in NUMBER.finditer(line, start):
        for delta in (1, -1):
            new = plus(m[0], delta)
            yield f"{m[0]} -> {new} at {m.start() - start}", line[: m.start()] + new + line[m.end() :]
    for m in re.finditer(r"(?<=[\s,])\((?=[A-Z])", line[start:]):
        at = start + m.start()
        yield f"( -> 1( at {at - start}", f"{line[:at]}1{line[at:]}"


def registers(line: str, start: int) -> Iterator[Mutation]:
    for m in re.finditer(r"\b[A-Z]\w*\b", line[start:]):
        if m[0] in SIBLINGS:
            at = start + m.start()
            new = SIBLINGS[m[0]]
            yield f"{m[0]} -> {new} at {at - start}", line[:at] + new + line[at + len(m[0]) :]


def mnemonics(word: str) -> Iterator[str]:
    yield from MNEMONICS.get(word, ())
    if word[:-1] in SUFFIXED:
        for new in MNEMONICS[word[:-1]]:
            yield new + word[-1]


def targets(word: str, operand: str, labels: list[str], here: int) -> Iterator[str]:
    """Another label of the scope instead of the jump's own."""
    local = re.fullmatch(r"(\d+)[fb]", operand)
    if local:
        others = [(at, name) for at, name in enumerate(labels) if name.isdigit() and name != local[1]]
        ahead = [name + "f" for at, name in others if at >= here][:1]
        behind = [name + "b" for at, name in others if at < here][-1:]
        yield from ahead + behind
    elif operand in labels:
        yield from [name for name in labels if name != operand and not name.isdigit()][-1:]


def asm(line: str, labels: list[str], here: int, thorough: bool) -> Iterator[Mutation]:
    """Mutations of one instruction or macro call. `here`: how many of the labels come before it."""
    m = re.match(r"(\s*(?:\.?\w+:)?\s*)([\\\w]+)(.*)$", line)
    if (
        m is None
        or line.endswith(":")
        or line.lstrip().startswith((".", "#", "FC_END", "FC_SIZE", "FC_TYPE", "endbr64"))
    ):
        return
    prefix, word, rest = m[1], m[2], m[3]
    start = len(prefix) + len(word)
    yield "delete", prefix
    for new in (*JUMPS.get(word, ()), *(("jmp",) if word in JUMPS else ())):
        yield f"{word} -> {new}", prefix + new + rest
    if word in JUMPS or word == "jmp":
        for label in targets(word, rest.strip(), labels, here):
            yield f"{rest.strip()} -> {label}", f"{prefix}{word} {label}"
        return
    for new in mnemonics(word):
        yield f"{word} -> {new}", prefix + new + rest
    yield from numbers(line, start)
    swaps = list(registers(line, start))
    yield from swaps if thorough else swaps[-1:]


def asm_directive(line: str, thorough: bool) -> Iterator[Mutation]:
    """Data, and lists of .irp: values off by one, the last one dropped."""
    start = line.find(" ", 2)
    if re.match(r"\s*\.(long|byte|quad|fill)\b", line):
        found = [n for n in numbers(line, start) if "->" in n[0]]
        if line.lstrip().startswith(".quad") or thorough:
            yield from found[::2]
        else:
            yield from found[::2][len(line) % max(1, len(found) // 2) :][:1]
    elif re.match(r"\s*\.irp \w+,.*\d$", line):
        yield "last dropped", line[: line.rindex(",")]


# ---- C -------------------------------------------------------------------------------------------

C_SWAPS = (
    (r"(?<=\s)<=(?=\s)", ("<", ">")), (r"(?<=\s)>=(?=\s)", (">", "<")),
    (r"(?<=\s)<(?=\s)", ("<=", ">=")), (r"(?<=\s)>(?=\s)", (">=", "<")),
    (r"==", ("!=",)), (r"!=", ("==",)),
    (r"(?<=\s)\|(?=\s|$)", ("^", "&")), (r"(?<=\s)\^(?=\s|$)", ("|", "&")),
    (r"(?<=\s)&(?=\s)", ("|", "^")), (r"\|=", ("^=", "&=", "=")), (r"\^=", ("|=", "=")),
    (r"(?<=\s)&=", ("|=", "=")), (r"(?<=\s)\+(?=\s|$)", ("-",)), (r"(?<=\s)-(?=\s|$)", ("+",)),
    (r"\+=", ("-=", "=")), (r"-=", ("+=",)), (r"<<", (">>",)), (r">>", ("<<",)), (r"~", ("",)),
    (r"\+\+", ("--",)), (r"--", ("++",)), (r"(?<=\s)/(?=\s)", ("*",)), (r"(?<=\s)%(?=\s)", ("/",)),
    (r"&&", ("||",)), (r"\bENCRYPT\b", ("DECRYPT",)), (r"\bDECRYPT\b", ("ENCRYPT",)),
    (r"\b_?FC_AES_BATCH\b", ("FC_AES_BLOCK",)), (r"\bFC_AES_BLOCK\b", ("FC_AES_BATCH",)),
    (r"\bFIRST\b", ("FC_AES_BATCH",)), (r"\bhigh\b", ("low",)), (r"\blow\b", ("high",)),
)  # fmt: skip
C_NUMBER = re.compile(r"(?<![\w.\[])(0x[0-9a-f]+|\d+)(?![\w.])|(?<=\[)(\d+)(?=\])")
DECLARATION = r"(?:const |static )?(?:struct )?\w+ \**\w+(?:\[| =|,|;)"
C_STATEMENT = re.compile(r"^\s*(?!return|break|default|case|\}|" + DECLARATION + ")")


def c_line(line: str) -> Iterator[Mutation]:
    """Mutations of one line of C, with or without a backslash at its end."""
    code = line.rstrip("\\").rstrip()
    tail = line[len(code) :]
    start = len(code) - len(code.lstrip())
    declares = re.match(r"\s*(?:const )?(?:static )?(?:struct )?[\w]+ \**\w+\[", code) is not None
    # What a barrier keeps from the compiler is no answer: traces and valgrind check what it is for.
    if "BARRIER" in code or "KEEP_IN" in code:
        return
    if C_STATEMENT.match(code) and code.endswith(";") and not re.match(r"\s*(?:for|while|if|\w+ \()", code):
        yield "delete", tail
    if re.match(r"\s*(?:if|for|while) ", code) and code.endswith(";"):
        yield "delete", tail
    if m := re.match(r"(\s*(?:\} else )?if \()(.*)\)( .*)$", code):
        depth_ok = m[2].count("(") == m[2].count(")")
        if depth_ok:
            yield "condition inverted", f"{m[1]}!({m[2]})){m[3]}{tail}"
    for pattern, news in C_SWAPS:
        for m in re.finditer(pattern, code):
            for new in news:
                if m.start() >= start and not (declares and "BATCH" in m[0]):
                    changed = code[: m.start()] + new + code[m.end() :] + tail
                    yield f"{m[0]} -> {new} at {m.start() - start}", changed
    for m in C_NUMBER.finditer(code, start):
        if not declares:
            for new in (plus(m[0], 1), plus(m[0], -1)):
                if not new.startswith("-"):
                    changed = code[: m.start()] + new + code[m.end() :] + tail
                    yield f"{m[0]} -> {new} at {m.start() - start}", changed
