# SPDX-License-Identifier: Apache-2.0
"""Single-step equality: every kernel takes the same path over the same addresses whatever the secrets.

tests/proof/trace/trace.c steps the kernels; what each instruction accesses it learns from here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from . import emulated, module, native
from .disassembly import Function, Image, Instruction
from .heads import head_of
from .result import PASS, UNDECIDABLE, Cell, parse_lines, verdict

CHECKS = ("trace", "trace-coverage")
COUNTS = native.OUTPUT / "instruction_counts.json"

#: Words of struct user_regs_struct, in order.
_USER_REGS = (
    *("r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx"),
    *("rsi", "rdi", "orig_rax", "rip", "cs", "eflags", "rsp", "ss", "fs_base", "gs_base"),
)
_NUMBER = {name: number for number, name in enumerate(_USER_REGS)}

#: What push, pop, call and ret access although no operand says so: displacement from rsp.
_STACK = {"push": -8, "call": -8, "pop": 0, "ret": 0}

_LIBRARY = re.compile(r"_*(wmem|mem)(cpy|move|set|cmp|mpcpy)\w*|.*cfree|strlen\w*")


class Undecodable(Exception):
    """An instruction whose accesses registers alone do not tell."""


def _operands(i: Instruction) -> list[str]:
    found = []
    for m in i.memory:
        base, displacement = m.base, m.displacement
        if base == "rip":
            base, displacement = "", i.end + displacement
        if m.segment in ("fs", "gs"):
            if base and m.index:
                raise Undecodable(str(i))
            base, index, scale = f"{m.segment}_base", base or m.index, m.scale
        else:
            index, scale = m.index, m.scale
        if (base and base not in _NUMBER) or (index and index not in _NUMBER):
            raise Undecodable(f"{i} at {i.address:#x}")
        found.append(f"{_NUMBER.get(base, -1)} {_NUMBER.get(index, -1)} {scale} {displacement}")
    stack = _STACK.get(i.mnemonic.split()[-1])
    if stack is not None:
        found.append(f"{_NUMBER['rsp']} -1 1 {stack}")
    if i.mnemonic == "leave":
        found.append(f"{_NUMBER['rbp']} -1 1 0")
    return found


def _is_padding(i: Instruction) -> bool:
    return i.mnemonic.split()[-1] in ("nop", "int3") or i.encoding == b"\x66\x90"


def _lines(function: Function) -> Iterator[str]:
    yield f"F {function.name} {function.address:x} {function.size:x}"
    for i in function.instructions:
        operands = _operands(i)
        yield " ".join([f"I {i.address:x} {int(_is_padding(i))} {len(operands)}", *operands])


def decode(image: Image, symbols: list[str]) -> Path:
    """Write the table of decode.h for everything that the symbols may run in a static program."""
    functions: dict[int, Function] = {}
    for symbol in symbols:
        if symbol in image.symbols:
            functions |= {f.address: f for f in image.reached_from(symbol)[0]}
    for name in image.symbols:
        if _LIBRARY.fullmatch(name) and image.symbols[name][1]:
            function = image.function(name)
            functions.setdefault(function.address, function)
    for address, data, name in image.code:
        if name.startswith(".plt"):
            functions[address] = image.region(name, address, len(data))
    output = native.OUTPUT / "decode.txt"
    output.parent.mkdir(parents=True, exist_ok=True)
    lines: list[str] = []
    end = 0
    for address in sorted(functions):
        if address >= end:  # an alias or a part of the function before it is listed once
            lines += _lines(functions[address])
            end = functions[address].end
    unfinished = output.with_suffix(f".{os.getpid()}")
    unfinished.write_text("\n".join(lines) + "\n")
    unfinished.replace(output)  # another tracer may be reading the old one
    return output


@cache
def program() -> Path:
    return native.harness_program("trace.c", "trace.S", "decode.c", "patterns.c")


@cache
def targets() -> dict[str, str]:
    """Every function of every row -> "runnable", or why it is not."""
    listing = subprocess.run([program(), "/dev/null", "--list"], capture_output=True, text=True, check=True)
    words = [line.split(None, 2) for line in listing.stdout.splitlines()]
    return {w[1]: w[2] for w in words if w[0] == "target"}


LEAKS = ("leak_early_exit", "leak_jump", "leak_table_expand_key", "leak_table_ecb_encrypt")


@cache
def _image() -> Image:
    return Image(program())


@cache
def decode_table() -> Path:
    return decode(_image(), [*_symbols(), *LEAKS])


def _run(part: int, parts: int, options: tuple[str, ...]) -> str:
    command = [str(program()), str(decode_table()), "--part", f"{part}/{parts}", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        return f"{done.stdout}\nfail tracer trace status {done.returncode}: {done.stderr[-300:]}\n"
    return done.stdout


def run(*options: str) -> str:
    """What the tracers print, as many of them as there are processors."""
    parts = os.cpu_count() or 1
    decode_table()  # once, before several threads want it
    with ThreadPoolExecutor(parts) as pool:
        return "".join(pool.map(_run, range(parts), [parts] * parts, [options] * parts))


def cells(*options: str) -> Iterator[Cell]:
    """The cells of the single-step check, under Bochs where this CPU cannot run a row."""
    output = run(*options)
    lacking = []
    for cell in dict.fromkeys(parse_lines(output)):  # each tracer shows the leaks
        if cell.status == UNDECIDABLE and cell.detail.startswith(emulated.LACKING):
            lacking.append(cell.symbol)
        else:
            yield cell
    if lacking:
        yield from emulated.bochs_trace_cells(lacking, _rows_of(lacking), "--quick" in options)
    if "--quick" not in options:
        COUNTS.write_text(json.dumps(counts(output), indent=1) + "\n")
        yield from coverage_cells(output)


def _rows_of(symbols: list[str]) -> list[str]:
    """The rows that have these targets: SYMBOL, or SYMBOL@ROW where it is borrowed."""
    found = []
    for row in module.rows():
        own = {s if s.endswith(f"_{row.name}") else f"{s}@{row.name}" for s in row.symbols}
        if own & set(symbols):
            found.append(f"{row.op}-{row.name}")
    return found


def coverage_cells(output: str) -> Iterator[Cell]:
    """Whether the lengths reach every instruction of what the kernels run."""
    kernels = {name for symbol in _symbols() for name in _reached(symbol)}
    missed: dict[str, frozenset[str]] = {}
    counts: dict[str, int] = {}
    for line in output.splitlines():
        words = line.split()
        if words[:1] == ["missed"] and words[1] in kernels:
            counts[words[1]] = int(words[2])
            missed[words[1]] = missed.get(words[1], frozenset(words[3:])) & frozenset(words[3:])
    for name, offsets in missed.items():
        if head_of(name) is None:  # compilers make code that no valid call reaches
            yield Cell(name, "trace-coverage", PASS, f"C: {len(offsets)} of {counts[name]} never ran")
            continue
        places = ", ".join(f"{name}+0x{o}" for o in sorted(offsets, key=lambda o: int(o, 16))[:4])
        problems = [f"{len(offsets)} of {counts[name]} never ran: {places}"] if offsets else []
        yield verdict(name, "trace-coverage", problems, f"all {counts[name]} instructions ran")


def _symbols() -> list[str]:
    return list(dict.fromkeys(target.split("@")[0] for target in targets()))


def _reached(symbol: str) -> list[str]:
    image = _image()
    return [f.name for f in image.reached_from(symbol)[0]] if symbol in image.symbols else []


def counts(output: str) -> dict[str, list[dict[str, int]]]:
    """Symbol -> one entry per traced length: how many instructions a call took."""
    table: dict[str, list[dict[str, int]]] = {}
    for line in output.splitlines():
        word = line.split()
        if word and word[0] == "count" and not word[1].startswith("leak"):
            keys = ("n", "aad", "key", "instructions")
            table.setdefault(word[1], []).append(dict(zip(keys, map(int, word[2:]), strict=True)))
    return table
