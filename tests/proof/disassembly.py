# SPDX-License-Identifier: Apache-2.0
"""The functions of an ELF file as instructions, with what each reads, writes and where it jumps."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import capstone  # type: ignore[import-untyped]
from capstone import x86_const as x86
from elftools.elf.elffile import ELFFile

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ("CF", "ZF", "SF", "OF", "PF")
GPRS = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", *(f"r{n}" for n in range(8, 16)))


def _names_of_gprs() -> dict[str, str]:
    """Every name of a part of a general register -> its 64-bit name."""
    names = {}
    for letter in "abcd":
        for part in (f"r{letter}x", f"e{letter}x", f"{letter}x", f"{letter}l", f"{letter}h"):
            names[part] = f"r{letter}x"
    for pair in ("si", "di", "bp", "sp"):
        for part in (f"r{pair}", f"e{pair}", pair, f"{pair}l"):
            names[part] = f"r{pair}"
    for n in range(8, 16):
        for suffix in ("", "d", "w", "b"):
            names[f"r{n}{suffix}"] = f"r{n}"
    return names


WHOLE_REGISTER = _names_of_gprs()


def whole(register: str) -> str:
    """The 64-bit or vector register that `register` is a part of; vectors by number: xmm3."""
    if register[:3] in ("ymm", "zmm"):
        return "xmm" + register[3:]
    return WHOLE_REGISTER.get(register, register)


@dataclass(frozen=True)
class Memory:
    """One memory operand: segment:[base + index * scale + displacement]."""

    base: str
    index: str
    scale: int
    displacement: int
    segment: str
    size: int
    is_read: bool
    is_written: bool


def _flag_masks(*verbs: str) -> dict[str, int]:
    masks = {}
    for flag in FLAGS:
        names = [f"X86_EFLAGS_{verb}_{flag}" for verb in verbs]
        if "X86_EFLAGS_RESET_OF" in names:
            names.append("X86_EFLAGS_RESET_0F")  # so spelt in capstone
        masks[flag] = sum(getattr(x86, name, 0) for name in names)
    return masks


_TESTS = _flag_masks("TEST", "PRIOR")
_WRITES = _flag_masks("MODIFY", "SET", "RESET", "UNDEFINED")


class Instruction:
    """A decoded instruction, in the terms that the checks are written in."""

    def __init__(self, decoded: Any) -> None:
        self.address: int = decoded.address
        self.size: int = decoded.size
        self.encoding = bytes(decoded.bytes)
        self.mnemonic: str = decoded.mnemonic
        self.operands_text: str = decoded.op_str
        self._decoded = decoded

    def __str__(self) -> str:
        return f"{self.mnemonic} {self.operands_text}".rstrip()

    @property
    def end(self) -> int:
        return self.address + self.size

    @cached_property
    def _access(self) -> tuple[list[str], list[str]]:
        reads, writes = self._decoded.regs_access()
        name = self._decoded.reg_name
        return [name(r) for r in reads], [name(r) for r in writes]

    @cached_property
    def is_zeroing(self) -> bool:
        """Whether it clears a register whatever that held: xor r, r and its like."""
        operands = self._decoded.operands
        return (
            self.mnemonic in ("xor", "sub", "pxor", "vpxor", "vpxord", "vpxorq", "xorps", "vxorps")
            and len(operands) >= 2
            and all(o.type == x86.X86_OP_REG for o in operands)
            and len({o.reg for o in operands[-2:]}) == 1
        )

    @cached_property
    def reads(self) -> frozenset[str]:
        """Whole registers whose value it uses, those of its addresses included."""
        if self.is_zeroing:
            return frozenset()
        names = set(self._access[0])
        if self.mnemonic.startswith("cmov"):  # the old value stays where the condition is false
            names.add(self._decoded.reg_name(self._decoded.operands[0].reg))
        return frozenset(whole(n) for n in names if n not in ("rflags", "rip", "eip"))

    @cached_property
    def writes(self) -> frozenset[str]:
        names = set(self._access[1])
        return frozenset(whole(n) for n in names if n not in ("rflags", "rip", "eip"))

    @cached_property
    def flags_read(self) -> frozenset[str]:
        return frozenset(f for f in FLAGS if self._decoded.eflags & _TESTS[f])

    @cached_property
    def flags_written(self) -> frozenset[str]:
        if self.is_jump or self.is_call:
            return frozenset()
        eflags = self._decoded.eflags
        if eflags == 0 and "rflags" in self._access[1]:
            return frozenset(FLAGS)
        return frozenset(f for f in FLAGS if eflags & _WRITES[f])

    @cached_property
    def memory(self) -> tuple[Memory, ...]:
        """Its explicit memory accesses; an address that is only computed or hinted is none."""
        if self.mnemonic in ("lea", "nop") or self.mnemonic.startswith("prefetch"):
            return ()
        name = self._decoded.reg_name
        return tuple(
            Memory(
                base=name(o.mem.base) or "",
                index=name(o.mem.index) or "",
                scale=o.mem.scale,
                displacement=o.mem.disp,
                segment=name(o.mem.segment) or "",
                size=o.size,
                is_read=bool(o.access & capstone.CS_AC_READ) or o.access == 0,
                is_written=bool(o.access & capstone.CS_AC_WRITE),
            )
            for o in self._decoded.operands
            if o.type == x86.X86_OP_MEM
        )

    @cached_property
    def address_operands(self) -> tuple[Memory, ...]:
        """Memory operands of every kind, lea and prefetch included."""
        name = self._decoded.reg_name
        return tuple(
            Memory(
                name(o.mem.base) or "",
                name(o.mem.index) or "",
                o.mem.scale,
                o.mem.disp,
                name(o.mem.segment) or "",
                o.size,
                False,
                False,
            )
            for o in self._decoded.operands
            if o.type == x86.X86_OP_MEM
        )

    @cached_property
    def is_jump(self) -> bool:
        return self._decoded.group(capstone.CS_GRP_JUMP) and not self.is_call

    @cached_property
    def is_conditional(self) -> bool:
        bare = self.mnemonic.split()[-1]
        return self.is_jump and bare != "jmp"

    @cached_property
    def is_call(self) -> bool:
        return self.mnemonic.split()[-1] in ("call", "lcall")

    @cached_property
    def is_return(self) -> bool:
        return self.mnemonic.split()[-1] in ("ret", "retf", "iretq", "hlt", "ud2")

    @cached_property
    def target(self) -> int | None:
        """Where a direct jump or call goes."""
        if not (self.is_jump or self.is_call):
            return None
        operand = self._decoded.operands[0]
        return int(operand.imm) if operand.type == x86.X86_OP_IMM else None

    @cached_property
    def groups(self) -> tuple[str, ...]:
        return tuple(self._decoded.group_name(g) for g in self._decoded.groups)

    @cached_property
    def is_vex(self) -> bool:
        return self._prefix() in (0xC4, 0xC5)

    @cached_property
    def is_evex(self) -> bool:
        return self._prefix() == 0x62

    def _prefix(self) -> int:
        """The first byte that is no legacy prefix: in 64-bit code 62, c4, c5 begin EVEX and VEX."""
        for byte in self.encoding:
            if byte not in (0x2E, 0x36, 0x3E, 0x26, 0x64, 0x65, 0x66, 0x67, 0xF0, 0xF2, 0xF3):
                return byte
        return 0


@dataclass(frozen=True)
class Function:
    """A function symbol and its instructions."""

    name: str
    address: int
    size: int
    instructions: tuple[Instruction, ...]

    @property
    def end(self) -> int:
        return self.address + self.size

    def where(self, address: int) -> str:
        return f"{self.name}+0x{address - self.address:x}"

    @cached_property
    def by_address(self) -> dict[int, Instruction]:
        return {i.address: i for i in self.instructions}

    @cached_property
    def predecessors(self) -> dict[int, list[Instruction]]:
        """Address -> instructions after which it may run, within this function."""
        found: dict[int, list[Instruction]] = {i.address: [] for i in self.instructions}
        for i in self.instructions:
            falls_through = not i.is_return and not (i.is_jump and not i.is_conditional)
            if falls_through and i.end in found:
                found[i.end].append(i)
            if (i.is_jump or i.is_call) and i.target in found:
                found[i.target].append(i)
        return found


class Image:
    """An ELF file: symbols, sections, code."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            self._read_sections(elf)
            self._read_symbols(elf)
            self._read_imports(elf)
        self._engine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        self._engine.detail = True
        self._functions: dict[str, Function] = {}

    def _read_sections(self, elf: Any) -> None:
        self.code: list[tuple[int, bytes, str]] = [
            (s["sh_addr"], s.data(), s.name)
            for s in elf.iter_sections()
            if s["sh_flags"] & 4 and s["sh_type"] == "SHT_PROGBITS"
        ]

    def _read_symbols(self, elf: Any) -> None:
        self.symbols: dict[str, tuple[int, int]] = {}
        table = elf.get_section_by_name(".symtab")
        for symbol in table.iter_symbols() if table is not None else ():
            is_function = symbol["st_info"]["type"] in ("STT_FUNC", "STT_GNU_IFUNC")
            if is_function and symbol["st_shndx"] != "SHN_UNDEF":
                self.symbols.setdefault(symbol.name, (symbol["st_value"], symbol["st_size"]))
        order = sorted((address, size, name) for name, (address, size) in self.symbols.items())
        self._starts = [address for address, _, _ in order]
        self._order = order

    def _read_imports(self, elf: Any) -> None:
        """Names of PLT entries and GOT slots, to say which library function is called."""
        self.got: dict[int, str] = {}
        for section in elf.iter_sections():
            if section.name not in (".rela.dyn", ".rela.plt"):
                continue
            symbols = elf.get_section(section["sh_link"])
            for relocation in section.iter_relocations():
                if symbols is not None and relocation["r_info_sym"]:
                    name = symbols.get_symbol(relocation["r_info_sym"]).name
                    self.got[relocation["r_offset"]] = name

    def name_at(self, address: int) -> str | None:
        """The function symbol that covers an address."""
        for at in range(bisect_right(self._starts, address) - 1, -1, -1):
            start, size, name = self._order[at]
            if start <= address < start + max(size, 1):
                return name
            if address - start > 1 << 20:
                break
        return None

    def function(self, name: str) -> Function:
        if name not in self._functions:
            address, size = self.symbols[name]
            self._functions[name] = Function(name, address, size, tuple(self._decode(address, size)))
        return self._functions[name]

    def region(self, name: str, address: int, size: int) -> Function:
        """A stretch of code without a symbol of its own, as a function."""
        return Function(name, address, size, tuple(self._decode(address, size)))

    def bytes_at(self, address: int, size: int) -> bytes:
        for start, data, _ in self.code:
            if start <= address < start + len(data):
                return data[address - start : address - start + size]
        raise KeyError(hex(address))

    def _decode(self, address: int, size: int) -> list[Instruction]:
        data = self.bytes_at(address, size)
        decoded = [Instruction(i) for i in self._engine.disasm(data, address)]
        end = decoded[-1].end if decoded else address
        if end != address + size:
            raise ValueError(f"{self.path.name}: cannot decode the bytes at {end:#x}")
        return decoded

    def imported_name(self, address: int) -> str | None:
        """The library function behind a PLT entry: its jump through a GOT slot names it."""
        try:
            data = self.bytes_at(address, 16)
        except KeyError:
            return None
        for raw in self._engine.disasm(data, address):
            i = Instruction(raw)
            if i.mnemonic.split()[-1] != "jmp":
                continue
            for m in i.address_operands:
                if m.base == "rip":
                    return self.got.get(i.end + m.displacement)
            return None
        return None

    def call_target_through_got(self, i: Instruction) -> str | None:
        for m in i.address_operands:
            if m.base == "rip" and not m.index:
                return self.got.get(i.end + m.displacement)
        return None

    def reached_from(self, name: str) -> tuple[list[Function], list[str], list[str]]:
        """The functions that `name` may run (itself first), library functions, and what is unclear."""
        functions: dict[str, Function] = {}
        library: set[str] = set()
        unclear: list[str] = []
        waiting = [name]
        while waiting:
            function = self.function(waiting.pop())
            if function.name in functions:
                continue
            functions[function.name] = function
            for i in function.instructions:
                outside = self._leaves(function, i)
                if outside is None:
                    continue
                if outside == "":
                    unclear.append(f"{i} at {function.where(i.address)}")
                elif outside in self.symbols:
                    waiting.append(outside)
                else:
                    library.add(outside)
        return list(functions.values()), sorted(library), unclear

    def _leaves(self, function: Function, i: Instruction) -> str | None:
        """The name of the other function that `i` goes to, "" if unknown, None if it stays."""
        if not (i.is_jump or i.is_call):
            return None
        if i.target is None:
            return self.call_target_through_got(i) or ""
        if i.is_jump and function.address <= i.target < function.end:
            return None
        name = self.name_at(i.target)
        if name is not None:
            return name
        return self.imported_name(i.target) or ""
