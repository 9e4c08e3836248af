# SPDX-License-Identifier: Apache-2.0
"""What the disassembly of every kernel shows: mnemonics, branches and addresses.

mnemonics   every instruction is on the reviewed list (mnemonics.py)
branches    each conditional jump tests flags that were set from registers which the head of the .S
            declares public, or from fields that csrc/kernels.h calls public
addresses   every address is made of such registers only
public-registers
            the declared registers really hold public values: whatever writes one reads only public
            registers, constants and public fields
isa         every instruction is one that the row's features include
red-zone    nothing is addressed more than 128 bytes below rsp, where a signal's handler may write

Branches, addresses and public registers together are a proof, for assembly, that no secret reaches a branch
or an address. C has no declared registers: there the mnemonics are checked, and the traces and ctgrind cover
the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from . import isa, module, traces
from .disassembly import GPRS, Function, Image, Instruction, Memory, whole
from .heads import head_of
from .mnemonics import ALLOWED_IN_C, why_refused
from .result import FAIL, PASS, UNDECIDABLE, Cell, verdict

CHECKS = ("mnemonics", "branches", "addresses", "public-registers", "isa", "red-zone")

RED_ZONE = 128  # System V ABI, section 3.2.2

#: Library functions that a C kernel may call, and why.
LIBRARY_CALLS = {
    "memcpy": "copies public lengths; the traces step through it",
    "memset": "as memcpy",
}

#: Offset of fc_aes_key.rounds, the one public field in memory that is otherwise secret.
ROUNDS = 960
#: The argument that points to public bytes, per op: the counter, or the pointers of the lanes.
PUBLIC_BYTES = {
    "fc_aes_ctr_": "rsi",
    "fc_aes_gcm_encrypt_": "rsi",
    "fc_aes_gcm_decrypt_": "rsi",
    "fc_sha1_lanes_": "rsi",
    "fc_sha256_lanes_": "rsi",
    "fc_sha512_lanes_": "rsi",
}
#: Likewise in what others call: seal and open keep their counter on the stack.
PUBLIC_BYTES_OF_HELPERS = {"fc_vperm_ctr32": "rsi"}
#: The argument that points to a struct fc_gcm_message.
MESSAGE = {"fc_aes_gcm_seal_": "rsi", "fc_aes_gcm_open_": "rsi"}
#: The argument that points to struct fc_cbc_chain, an array: its fields are pointers, all public.
CHAINS = {"fc_aes_cbc_encrypt_many_": "rsi"}
#: Where the second half of these ops finds it: its callers have moved it there.
MESSAGE_OF_HELPERS = {"fc_aesni_seal_rest": "r8", "fc_aesni_open_rest": "r8"}
#: Its fields: all public, and two that point to public bytes (j0 and aad).
MESSAGE_FIELDS = range(0, 56, 8)
FIELDS_OF_PUBLIC_BYTES = (0, 8)


@dataclass(frozen=True)
class Routine:
    """A function as one kernel runs it, and what is public in it."""

    kernel: str
    function: Function
    public: frozenset[str]

    def problem(self, i: Instruction, text: str) -> str:
        return f"{i} at {self.function.where(i.address)}: {text}"

    def is_public(self, register: str) -> bool:
        return register in self.public or register == "rsp" or register in self.public_vectors

    @cached_property
    def messages(self) -> frozenset[str]:
        """Registers that may hold the pointer to the message."""
        pointers = {r for op, r in MESSAGE.items() if self.kernel.startswith(op)}
        if self.function.name in MESSAGE_OF_HELPERS:
            pointers.add(MESSAGE_OF_HELPERS[self.function.name])
        return self._copies(pointers)

    @cached_property
    def chains(self) -> frozenset[str]:
        """Registers that may hold the pointer to one of the chains."""
        pointers = {r for op, r in CHAINS.items() if self.function.name.startswith(op)}
        return self._copies(pointers)

    @cached_property
    def public_bytes(self) -> frozenset[str]:
        """Registers that may hold a pointer to public bytes."""
        pointers = {r for op, r in PUBLIC_BYTES.items() if self.kernel.startswith(op)}
        if self.function.name in PUBLIC_BYTES_OF_HELPERS:
            pointers.add(PUBLIC_BYTES_OF_HELPERS[self.function.name])
        for i in self.function.instructions:
            for m in i.memory:
                if whole(m.base) in self.messages and m.displacement in FIELDS_OF_PUBLIC_BYTES:
                    pointers |= {r for r in i.writes if i.mnemonic == "mov" and r in GPRS}
        return self._copies(pointers)

    def _copies(self, pointers: set[str]) -> frozenset[str]:
        moves = [i for i in self.function.instructions if i.mnemonic == "mov" and not i.memory]
        for _ in moves:
            more = {r for i in moves if i.reads & pointers for r in i.writes} - pointers
            if not more:
                break
            pointers = pointers | more
        return frozenset(pointers)

    @cached_property
    def public_vectors(self) -> frozenset[str]:
        """Vector registers that are only ever written with public values: the counter's."""
        writes = [(i, r) for i in self.function.instructions for r in i.writes if r[:3] == "xmm"]
        public = {r for _, r in writes}
        while True:
            known = replace(self, public=self.public | public)
            known.__dict__["public_vectors"] = frozenset()
            secret = {r for i, r in writes if r in public and known.secret_inputs(i)}
            if not secret:
                return frozenset(public)
            public -= secret

    def is_public_memory(self, m: Memory) -> bool:
        """Whether kernels.h calls what lies there public."""
        if m.base == "rip":
            return True  # a constant: kernels have no variables, see tests/test_binary.py
        if whole(m.base) in self.public_bytes:
            return True
        if m.index:
            return False
        if m.displacement == ROUNDS and "aes" in self.kernel:
            return True
        if whole(m.base) in self.chains and m.displacement % 8 == 0:
            return True
        return whole(m.base) in self.messages and m.displacement in MESSAGE_FIELDS

    def is_public_slot(self, m: Memory) -> bool:
        """A place on the stack where only public registers are stored."""
        if m.base != "rsp" or m.index:
            return False
        stores = [
            i
            for i in self.function.instructions
            for s in i.memory
            if s.is_written and s.base == "rsp" and s.displacement == m.displacement
        ]
        return bool(stores) and all(all(map(self.is_public, s.reads)) for s in stores)

    def secret_inputs(self, i: Instruction) -> list[str]:
        """What `i` computes with that is not known to be public."""
        found = [r for r in sorted(i.reads) if not self.is_public(r)]
        for m in i.memory:
            if m.is_read and not self.is_public_memory(m) and not self.is_public_slot(m):
                found.append("memory")
        return found

    def flag_setters(self, i: Instruction, flags: frozenset[str]) -> Iterator[Instruction | None]:
        """The instructions whose flags `i` may see; None where they come from outside."""
        waiting = [(i, flags)]
        seen: set[tuple[int, frozenset[str]]] = set()
        while waiting:
            at, wanted = waiting.pop()
            before = self.function.predecessors[at.address]
            if not before or at.address == self.function.address:
                yield None
            for p in before:
                if (p.address, wanted) in seen:
                    continue
                seen.add((p.address, wanted))
                if p.is_call:
                    yield None
                    continue
                if p.flags_written & wanted:
                    yield p
                if wanted - p.flags_written:
                    waiting.append((p, wanted - p.flags_written))

    def secret_flags(self, i: Instruction, depth: int = 0) -> list[str]:
        """Why the flags that `i` reads may depend on a secret."""
        found = []
        for setter in self.flag_setters(i, i.flags_read):
            if setter is None:
                found.append("flags from before the function or from a call")
                continue
            secrets = self.secret_inputs(setter)
            if secrets:
                where = self.function.where(setter.address)
                found.append(f"flags of {setter} ({where}), which reads {', '.join(secrets)}")
            if setter.flags_read and depth < 4:
                found += self.secret_flags(setter, depth + 1)
        return found


def mnemonic_problems(routine: Routine) -> Iterator[str]:
    for i in routine.function.instructions:
        reason = why_refused(i.mnemonic)
        if i.mnemonic in ALLOWED_IN_C and head_of(routine.function.name) is None:
            continue
        if reason is not None:
            yield routine.problem(i, reason)
        if any(m.index.startswith(("xmm", "ymm", "zmm")) for m in i.memory):
            yield routine.problem(i, "addresses from a vector")


def branch_problems(routine: Routine) -> Iterator[str]:
    for i in routine.function.instructions:
        if i.is_conditional:
            for reason in routine.secret_flags(i):
                yield routine.problem(i, reason)
        elif (i.is_jump or i.is_call) and i.target is None:
            yield routine.problem(i, "an indirect jump or call")


def address_problems(routine: Routine) -> Iterator[str]:
    for i in routine.function.instructions:
        for m in i.memory:
            for register in (m.base, m.index):
                if register and register != "rip" and not routine.is_public(whole(register)):
                    yield routine.problem(i, f"an address made of {register}")


def public_problems(routine: Routine) -> Iterator[str]:
    """Writes of a declared register with something else than public values."""
    for i in routine.function.instructions:
        written = {r for r in i.writes if r in routine.public}
        if not written or i.mnemonic in ("pop", "push", "call", "ret"):
            continue
        name = ", ".join(sorted(written))
        for source in routine.secret_inputs(i):
            yield routine.problem(i, f"writes {name}, declared public, from {source}")
        if i.flags_read:
            for reason in routine.secret_flags(i):
                yield routine.problem(i, f"writes {name}, declared public, by {reason}")


def red_zone_problems(routine: Routine) -> Iterator[str]:
    """Only what says rsp; copies of it point up, into the frame, or the painted stack would show it."""
    for i in routine.function.instructions:
        if any(m.base == "rsp" and m.displacement < -RED_ZONE for m in i.memory):
            yield routine.problem(i, f"more than {RED_ZONE} bytes below rsp")


Problems = Callable[[Routine], Iterator[str]]

STATIC_CHECKS: tuple[tuple[str, Problems], ...] = (
    ("branches", branch_problems),
    ("addresses", address_problems),
    ("public-registers", public_problems),
)


def _cell(symbol: str, check: str, routines: list[Routine], problems: Problems) -> Cell:
    count = sum(len(r.function.instructions) for r in routines)
    found = [p for routine in routines for p in problems(routine)]
    return verdict(symbol, check, found, f"{count} instructions")


def _routines(image: Image, symbol: str) -> tuple[list[Routine], list[Routine], list[str]]:
    """The routines in assembly and in C that a kernel runs, and what cannot be followed."""
    functions, library, unclear = image.reached_from(symbol)
    problems = [f"calls {name}" for name in library if name not in LIBRARY_CALLS]
    problems += [f"cannot follow {text}" for text in unclear]
    assembly, c = [], []
    for function in functions:
        head = head_of(function.name)
        if head is None:
            c.append(Routine(symbol, function, frozenset()))
        else:
            assembly.append(Routine(symbol, function, head.public or frozenset()))
    return assembly, c, problems


def kernel_cells(image: Image, symbol: str) -> Iterator[Cell]:
    """The checks of one kernel in this image."""
    assembly, c, problems = _routines(image, symbol)
    found = problems + [p for r in assembly + c for p in mnemonic_problems(r)]
    count = sum(len(r.function.instructions) for r in assembly + c)
    # C declares no registers: ctgrind and the traces cover its branches and addresses.
    yield verdict(symbol, "mnemonics", found, f"{count} instructions" + (", C" if c else ""))
    yield _cell(symbol, "red-zone", assembly + c, red_zone_problems)
    if c:
        return
    head = head_of(symbol)
    for check, finder in STATIC_CHECKS:
        if head is None or head.public is None:
            yield Cell(symbol, check, FAIL, "no line 'Public registers:' in the head of the .S")
        else:
            yield _cell(symbol, check, assembly, finder)


def isa_cell(image: Image, symbol: str, features: frozenset[str]) -> Cell:
    functions, _, _ = image.reached_from(symbol)
    found = [problem for f in functions for problem in isa.beyond(f, features)]
    return verdict(symbol, "isa", found, ", ".join(sorted(features)) or "baseline")


def cells() -> Iterator[Cell]:
    """The checks of every kernel of the shipped module; one that is not built is said to be so."""
    image = module.image()
    yield from leak_cells()
    for symbol in module.symbols():
        if symbol in image.symbols:
            yield from kernel_cells(image, symbol)
            yield isa_cell(image, symbol, module.features_of(symbol))
        else:
            for check in CHECKS:
                yield Cell(symbol, check, UNDECIDABLE, "not built")


#: Planted faults -> the check that must see each before any verdict counts.
PLANTED = {"leak_jump": "branches", "fault_below_red_zone": "red-zone"}


def leak_cells() -> Iterator[Cell]:
    image = Image(traces.program())
    for symbol, check in PLANTED.items():
        found = [c for c in kernel_cells(image, symbol) if c.check == check and c.status == FAIL]
        status = PASS if found else FAIL
        detail = found[0].detail if found else "the planted fault was not seen"
        yield Cell(symbol, f"{check}-catches", status, detail)
