# SPDX-License-Identifier: Apache-2.0
"""The quick part of the proof by traces and disassembly, and each check seen to fail on planted faults."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from proof import emulated, instructions, isa, mnemonics, module, oracle, shared_writes, traces, which_ran
from proof.disassembly import ROOT, Image
from proof.heads import declarations
from proof.public_calls import CALLS, NO_KERNEL, Call
from proof.result import FAIL, PASS, UNDECIDABLE, Cell, parse_lines

import fastcrypt

#: What the traces of the quick run cover; the whole table is `make proof`.
QUICK_OPS = ("timingsafe_bcmp", "sha256_blocks")

NOT_HERE = ("this CPU lacks", "not built", "no public call runs it", emulated.NO_BOCHS)


def failed(cells: list[Cell]) -> list[str]:
    """What is no pass, but for rows that this CPU cannot run."""
    return [
        str(c)
        for c in cells
        if c.status == FAIL or (c.status == UNDECIDABLE and not c.detail.startswith(NOT_HERE))
    ]


def test_every_kernel_uses_reviewed_instructions_on_public_branches_and_addresses() -> None:
    cells = list(instructions.cells())
    assert failed(cells) == []
    assert {c.symbol for c in cells} >= set(module.symbols())


@pytest.mark.parametrize("op", QUICK_OPS)
def test_traces_are_equal_whatever_the_secrets(op: str) -> None:
    cells = list(traces.cells("--quick", "--op", op))
    assert failed(cells) == []
    caught = {c.symbol for c in cells if c.check == "trace-catches" and c.status == PASS}
    assert caught == set(traces.LEAKS)
    traced = {c.symbol for c in cells if c.check == "trace"}
    assert traced == {s for row in module.rows() if row.op == op for s in row.symbols}


def test_fb_5_instructions_depend_on_the_length_alone() -> None:
    """FB-5: one count per length; the traces that made it were equal for every pattern of bytes."""
    output = traces.run("--quick", "--row", "fc_timingsafe_bcmp_sse2")
    counts = traces.counts(output)["fc_timingsafe_bcmp_sse2"]
    by_length: dict[int, set[int]] = {}
    for entry in counts:
        by_length.setdefault(entry["n"], set()).add(entry["instructions"])
    assert len(by_length) > 60
    assert all(len(instructions_) == 1 for instructions_ in by_length.values())


def test_ipp_5_instructions_per_hash() -> None:
    """IPP-5: a 32-byte hash takes at most 474 instructions of ours, those of the binding included."""
    (digest,) = which_ran.step(None, "fastcrypt.sha256_digest(key32)")
    if "sha_ni" in oracle.usable(None):
        assert digest.inside <= 474
    else:
        assert digest.inside < 4000  # one compression of the portable kernel alone is 3000


def test_the_best_kernel_ran() -> None:
    assert failed(list(which_ran.cells(quick=True))) == []


def test_hot_functions_write_nothing_shared() -> None:
    assert failed(list(shared_writes.cells())) == []


def test_every_public_name_has_a_call() -> None:
    calls = " ".join(call.expression for call in CALLS)
    public = {n for n in fastcrypt.__all__ if n not in NO_KERNEL}
    assert {n for n in public if f"fastcrypt.{n}(" not in calls} == set()


# ---- Every check is seen to fail ---------------------------------------------------------------

HEAD = """/*
 * A kernel with a fault.
 * Public registers: rdi rsi rdx rcx
 */
#include "fc_asm.h"
FC_FUNC(fc_timingsafe_bcmp_faulty)
"""
TAIL = """
  ret
FC_END(fc_timingsafe_bcmp_faulty)
"""

FAULTS = {
    "mnemonics": {
        "division": "divq %rdx",
        "vector multiplication": "pmuludq %xmm0, %xmm1",
        "gather": "vpgatherdd %ymm0, (%rdi,%ymm1), %ymm2",
        "string instruction": "rep stosq",
        "unknown": "pdepq %rax, %rax, %rax",
        "no place in a kernel": "rdtsc",
    },
    "branches": {
        "a byte": "movb (%rdi), %al\n cmpb (%rsi), %al\n je 1f\n nop\n1:",
        "the sum of bytes": "movq (%rdi), %rax\n addq %rax, %rax\n jc 1f\n1:",
        "a vector": "ptest %xmm0, %xmm0\n jz 1f\n1:",
        "through another block": "testq %rax, %rax\n jmp 2f\n3: ret\n2: jz 3b",
        "a borrow": "cmpq %rax, %r8\n sbbq %rcx, %rcx\n jc 1f\n1:",
        "flags of a call": "call fc_timingsafe_bcmp_faulty\n jz 1f\n1:",
        "indirect": "jmp *%rax",
    },
    "addresses": {
        "a byte": "movzbl (%rdi), %eax\n movb (%rsi,%rax), %al",
        "a store": "movq %rdi, (%r8)",
    },
    "public-registers": {
        "a load": "movq (%rsi), %rcx",
        "a copy": "movq %rax, %rcx",
        "a vector": "pmovmskb %xmm0, %ecx",
        "a choice": "cmpq %rax, %r8\n cmovzq %rdx, %rcx",
        "a spilled secret": "subq $8, %rsp\n movq %rax, (%rsp)\n movq (%rsp), %rcx\n addq $8, %rsp",
    },
}

INNOCENT = {
    "lengths": "testq %rdx, %rdx\n jz 1f\n movzbl (%rdi,%rdx), %eax\n1:",
    "flags over vectors": "subq $1, %rdx\n pxor %xmm0, %xmm0\n movq %rdx, %rcx\n jnz 1f\n1:",
    "a choice of lengths": "cmpq $4, %rdx\n cmovbq %rdi, %rcx",
    "a spilled length": "subq $8, %rsp\n movq %rdx, (%rsp)\n movq (%rsp), %rcx\n addq $8, %rsp",
    "a result as data": "cmpq %rax, %r8\n setne %al",
    "clearing": "xorl %ecx, %ecx",
}


def assembled(tmp_path: Path, body: str, head: str = HEAD) -> Image:
    source, output = tmp_path / "faulty.S", tmp_path / "faulty.so"
    source.write_text(head + body + TAIL)
    command = ["cc", "-shared", "-nostdlib", f"-I{ROOT / 'asm'}", str(source), "-o", str(output)]
    subprocess.run(command, check=True)
    return Image(output)


def problems(tmp_path: Path, body: str, monkeypatch: pytest.MonkeyPatch, head: str = HEAD) -> set[str]:
    """The checks that fail on a kernel with this body."""
    image = assembled(tmp_path, body, head)
    heads = declarations(tmp_path / "faulty.S")
    monkeypatch.setattr(instructions, "head_of", heads.get)
    cells = instructions.kernel_cells(image, "fc_timingsafe_bcmp_faulty")
    return {c.check for c in cells if c.status == FAIL}


@pytest.mark.parametrize(
    ("check", "fault"), [(check, fault) for check, faults in FAULTS.items() for fault in faults]
)
def test_fault_is_seen(check: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check in problems(tmp_path, FAULTS[check][fault], monkeypatch)


@pytest.mark.parametrize("case", INNOCENT)
def test_innocent_code_passes(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert problems(tmp_path, INNOCENT[case], monkeypatch) == set()


@pytest.mark.parametrize(
    ("instruction", "features"),
    [
        ("pshufb %xmm1, %xmm0", {"ssse3"}),
        ("aesenc %xmm1, %xmm0", {"aes"}),
        ("vaesenc %ymm1, %ymm1, %ymm1", {"vaes", "avx"}),
        ("vaesenc %xmm1, %xmm1, %xmm1", {"aes", "avx"}),
        ("vpxor %ymm1, %ymm1, %ymm1", {"avx", "avx2"}),
        ("vpxorq %zmm1, %zmm1, %zmm1", {"avx512f"}),
        ("vpternlogq $1, %ymm1, %ymm1, %ymm1", {"avx512f", "avx512vl"}),
        ("vpclmulqdq $0, %ymm1, %ymm1, %ymm1", {"vpclmulqdq", "avx"}),
        ("sha256rnds2 %xmm1, %xmm2", {"sha_ni"}),
        ("pxor %xmm1, %xmm1", set()),
        ("rorxq $1, %rax, %rax", {"bmi2"}),
    ],
)
def test_features_of_an_instruction(instruction: str, features: set[str], tmp_path: Path) -> None:
    function = assembled(tmp_path, instruction).function("fc_timingsafe_bcmp_faulty")
    assert isa.needed(function.instructions[1]) == features
    assert bool(isa.beyond(function, frozenset())) == bool(features)


def test_missing_head_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = HEAD.replace("Public registers", "Public")
    assert problems(tmp_path, "nop", monkeypatch, head) == {"branches", "addresses", "public-registers"}


def test_refused_mnemonics_are_not_on_the_list() -> None:
    for mnemonic in mnemonics.REASON:
        assert not [p for p, _ in mnemonics.REFUSED if re.fullmatch(p, mnemonic)], mnemonic


def test_which_ran_sees_the_wrong_kernel() -> None:
    call = Call("fastcrypt.sha256(data)", frozenset({"sha256_blocks"}))
    best = which_ran.expected("sha256_blocks", None)
    assert best is not None
    right = frozenset(best.symbols)
    rows = [row for row in module.rows() if row.op == "sha256_blocks"]
    other = frozenset(s for row in rows for s in row.symbols) - right
    assert list(which_ran.problems_of(call, right, None)) == []
    assert list(which_ran.problems_of(call, other, None))
    assert list(which_ran.problems_of(call, frozenset(), None))
    assert list(which_ran.problems_of(call, right | other, None))


def test_oracle_on_known_processors() -> None:
    haswell = {"sse2", "sse3", "ssse3", "sse4_1", "aes", "pclmulqdq", "avx", "avx2"}
    assert "avx2" in oracle.usable(None, haswell)
    assert "sha_ni" not in oracle.usable(None, haswell)
    assert oracle.usable("scalar", haswell) == set()
    assert oracle.usable("x86-64", haswell) == {"sse2"}
    assert oracle.usable("-avx", {*haswell, "vaes", "avx512f"}) == haswell - {"avx", "avx2"}
    assert oracle.usable("x86-64-v3,-aes", {*haswell, "vaes"}) == haswell - {"aes"}


def test_lines_of_native_programs_are_read() -> None:
    text = 'pass fc_x abi fine\n{"symbol": "fc_y", "check": "abi", "status": "fail", "detail": "no"}\nnoise\n'
    assert list(parse_lines(text)) == [Cell("fc_x", "abi", PASS, "fine"), Cell("fc_y", "abi", FAIL, "no")]


def test_t_a_a_kept_key_is_expanded_once() -> None:
    """T-a: over 100 calls with kept keys no key schedule and no derivation of H runs."""
    calls = "AESGCM.encrypt(nonce, data, None), AESGCM.decrypt(nonce, sealed, b'aad'), AES.ctr(iv, data)"
    kept, made = which_ran.step(None, f"[({calls}) for _ in range(34)]", "fastcrypt.AESGCM(key32)")
    schedules = {name for name in made.kernels if "expand_key" in name or "ghash_key" in name}
    assert {name.rsplit("_", 1)[0] for name in schedules} == {"fc_aes_expand_key", "fc_aes_ghash_key"}
    assert not kept.kernels & schedules
    assert any("gcm_seal" in name for name in kept.kernels)
