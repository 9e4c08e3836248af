# SPDX-License-Identifier: Apache-2.0
"""The quick part of the proof on other processors, and each of its checks seen to fail."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
from emulated import build, machines, runs, vector_file
from emulated.bochs import traces as bochs_traces
from emulated.build import MissingError
from proof import emulated, module
from proof.result import FAIL, PASS, UNDECIDABLE, Cell

import kernel_sources

ROOT = Path(__file__).resolve().parent.parent
MODELS = {model.name: model for model in machines.MODELS}
ARCHITECTURES = {a.arch: a for a in machines.ARCHITECTURES}


def needs(**packages: str) -> pytest.MarkDecorator:
    """Skip where a Debian package's program is missing; in CI none is."""
    missing = [package for tool, package in packages.items() if shutil.which(tool.replace("_", "-")) is None]
    return pytest.mark.skipif(bool(missing), reason=f"needs Debian packages {' '.join(missing)}")


needs_qemu = pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="needs Debian package qemu-user")
needs_s390x = needs(qemu_s390x_static="qemu-user-static", s390x_linux_gnu_gcc="gcc-s390x-linux-gnu")
needs_i386 = needs(i686_linux_gnu_gcc="gcc-i686-linux-gnu")


def wrong(cells: list[Cell]) -> list[str]:
    """What did not pass, but for the one file of vectors that no package has."""
    return [str(c) for c in cells if c.status != PASS and "FASTCRYPT_WYCHEPROOF" not in c.detail]


def test_vectors_are_what_they_are_taken_for(tmp_path: Path) -> None:
    counts = vector_file.write(tmp_path / "vectors.txt")
    hashes = Counter(sha1=129, sha224=65, sha256=129, sha384=129, sha512=257, sha512_224=129, sha512_256=129)
    expected = hashes + Counter(ecb=495, cbc=495, ctr=9, xts=210, gcm=1051, forged=363, compare=772)
    if vector_file.padded_cbc_file() is not None:
        expected += Counter(pkcs7=72, badpad=141)
    assert counts == expected


@needs_qemu
@pytest.mark.parametrize("name", emulated.QUICK_MODELS)
def test_processor(name: str) -> None:
    assert wrong(list(emulated.model_cells(MODELS[name]))) == []
    assert wrong([emulated.doomed_cell(MODELS[name])]) == []


@needs_qemu
def test_module_on_nehalem() -> None:
    model = MODELS["Nehalem@qemu7"]
    assert wrong([emulated.module_cell("fastcrypt", model, model.chosen)]) == []


@needs_s390x
def test_big_endian_machine() -> None:
    cells = list(emulated.architecture_cells(quick=True))
    assert wrong(cells) == []
    assert {c.symbol for c in cells} >= {s for row in portable_rows() for s in row}


def portable_rows() -> list[tuple[str, ...]]:
    return [row.symbols for row in module.rows() if row.name == "portable"]


def test_no_assembly_is_attempted_elsewhere() -> None:
    for arch in ("i386", "s390x", "other"):
        assert kernel_sources.asm_sources(arch) == {}
        assert {isa for _, isa in kernel_sources.rows(arch)} == {"portable"}
        assert not set(kernel_sources.c_flags(arch)) & set(kernel_sources.X86_FLAGS)
    assert kernel_sources.asm_sources("x86_64")


@needs_i386
def test_i386_has_the_portable_kernels_alone() -> None:
    program = build.build("i386")
    names = {line.split()[-1] for line in runs.execute(["nm", str(program)]).stdout.splitlines()}
    kernels = {s for row in module.rows() for s in row.symbols if s}
    assert {n for n in kernels & names if not n.endswith("_portable")} == set()
    assert {n for n in kernels if n.endswith("_portable")} <= names


# ---- Every check is seen to fail ---------------------------------------------------------------


def planted(tmp_path: Path, arch: str, file: str, *changes: tuple[str, str]) -> Path:
    """The program of a core in which one file was changed."""
    csrc = tmp_path / "csrc"
    shutil.copytree(ROOT / "csrc", csrc)
    text = (csrc / file).read_text()
    for old, new in changes:
        assert old in text, f"{file} has no {old!r}"
        text = text.replace(old, new)
    (csrc / file).write_text(text)
    return build.build(arch, csrc, tmp_path / "out")


@needs_qemu
@pytest.mark.slow
def test_missing_feature_bit_dies_and_is_named(tmp_path: Path) -> None:
    text = (ROOT / "csrc/kernels.def").read_text()
    row = next(line for line in text.splitlines() if line.startswith("FC_KERNEL(timingsafe_bcmp, avx2"))
    fault = row, "FC_KERNEL(timingsafe_bcmp, avx2, FC_F(SSE2))"
    program = planted(tmp_path, "x86_64", "kernels.def", fault)
    model = MODELS["Nehalem@qemu7"]
    problems = list(runs.problems_on_model(runs.on_model(model, program=program), model))
    assert problems == ["died of SIGILL in sealed"]


@needs_qemu
@pytest.mark.slow
def test_detection_without_its_rules_is_seen(tmp_path: Path) -> None:
    """A CPU that says AVX2 but saves no ymm registers, and one that says VAES but not AES-NI."""
    try:
        machines.emulator(10)
    except MissingError as error:
        pytest.skip(str(error))
    closure = "return fc_features_close(set);", "return set;"
    state = "(xcr0 & needed[bits[i].state]) == needed[bits[i].state];", "(xcr0 | needed[bits[i].state]) != 9;"
    program = planted(tmp_path, "x86_64", "cpu/detect.c", closure, state)
    said = {}
    for name in ("max,-avx@qemu10", "max,-aes@qemu10"):
        outcome = runs.on_model(MODELS[name], program=program)
        said[name] = list(runs.problems_on_model(outcome, MODELS[name]))
    assert said == {
        # The table itself was right: FASTCRYPT_CPU's reader closes the set once more.
        "max,-avx@qemu10": ["died of SIGILL in sha1_blocks-avx2"],
        "max,-aes@qemu10": ["features: ['vaes'] unexpected, [] missing"],
    }


@needs_qemu
def test_wrong_choice_is_named() -> None:
    model = MODELS["Haswell@qemu7"]
    outcome = runs.on_model(model, setting="x86-64")
    said = "\n".join(runs.problems_on_model(outcome, model))
    assert "'aes=portable'" in said
    assert "features" not in said


@needs_s390x
@pytest.mark.slow
def test_wrong_byte_order_is_seen_on_s390x(tmp_path: Path) -> None:
    right = (
        "".join(f"  p[{i}] = (uint8_t)(x >> {24 - 8 * i});\n" for i in range(3)) + "  p[3] = (uint8_t)x;\n"
    )
    wrong_here = "  x = __builtin_bswap32(x);\n  memcpy(p, &x, sizeof x);\n"
    program = planted(tmp_path, "s390x", "portable/portable.h", (right, wrong_here))
    outcome = runs.on_architecture(ARCHITECTURES["s390x"], program)
    assert outcome.failures() or outcome.death()


def test_death_and_silence_are_failures() -> None:
    model = MODELS["Nehalem@qemu7"]
    assert list(runs.problems_on_model(runs.Outcome(-4, ran=["aes-aesni"]), model)) == [
        "died of SIGILL in aes-aesni"
    ]
    assert list(runs.problems_on_model(runs.Outcome(0), model))
    assert list(runs.problems_on_architecture(runs.Outcome(0, ended=True)))


def test_module_with_another_kernel_or_answer_is_a_failure() -> None:
    passed = {"sha256": 50, "gcm": 60}
    right = {"kernels": machines.rows("aes=aesni"), "passed": passed, "failed": []}
    assert list(runs.problems_in_module(right, "aes=aesni")) == []
    assert list(runs.problems_in_module(right, ""))
    assert list(runs.problems_in_module({**right, "failed": ["gcm, line 7"]}, "aes=aesni"))
    assert list(runs.problems_in_module({**right, "passed": {**passed, "gcm": 0}}, "aes=aesni"))
    assert list(runs.problems_in_module({"death": "died of SIGILL"}, "aes=aesni"))


def test_missing_tool_fails_in_ci_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*_: object) -> str:
        raise MissingError("needs Debian package qemu-user")

    monkeypatch.setattr(runs, "emulator", absent)
    monkeypatch.setattr(build, "build", lambda *_: ROOT)
    for ci, status in (("true", FAIL), ("", UNDECIDABLE)):
        monkeypatch.setenv("CI", ci)
        cells = list(emulated.processor_cells(quick=True))
        assert {c.status for c in cells} == {status}
        assert {c.symbol for c in cells} == set(emulated.QUICK_MODELS)
        bochs = list(emulated.cells_of_bochs(2, "", "bochs: not found"))
        assert {c.status for c in bochs} == {status}
        assert len(bochs) == len(module.symbols())


def test_output_of_bochs_is_read() -> None:
    rows = module.rows()
    lines = [f"row {r.op}-{r.name} passed instructions=5" for r in rows]
    good = list(emulated.cells_of_bochs(0, "\n".join(lines), ""))
    assert {c.status for c in good} == {PASS}
    assert {c.symbol for c in good} >= set(module.symbols())
    differs = next(iter(emulated.BOCHS_DIFFERS))
    known = [line.replace("passed", "failed") if f" {differs} " in line else line for line in lines]
    status = {
        c.symbol: c.status
        for c in emulated.cells_of_bochs(1, "\n".join([*known, f"FAILED: row {differs}: x"]), "")
    }
    assert status.pop(f"fc_{differs.replace('-', '_')}") == UNDECIDABLE
    assert set(status.values()) == {PASS}
    lines[1] = lines[1].replace("passed", "FAILED")
    bad = list(emulated.cells_of_bochs(1, "\n".join([*lines[:-1], "FAILED: row x"]), ""))
    assert {c.symbol for c in bad if c.status == FAIL} == {*rows[1].symbols, *rows[-1].symbols, "image"}


class Named:
    """In the place of the image: addresses as they are."""

    def locate(self, address: int) -> str:
        return f"{address:#x}"


def printed(pattern: str, rip: int, address: int) -> list[str]:
    """What Bochs' debugger prints of a call: an instruction that loads, and the walk of a page table."""
    return [
        f"fc: call k n=1 aad=0 key=16 {pattern}",
        "Tracing enabled for CPU0",
        f"(0).[1] [0x{rip:012x}] 0018:{rip:016x} (unk. ctxt): movzx eax, byte ptr ds:[rdi] ; 0fb607",
        f"[CPU0 RD]: PHY 0x{len(pattern):012x} (len=8, UC): 0x00000000 0x00132023\t; PML4E",
        f"[CPU0 RD]: LIN 0x{address:016x} PHY 0x{address:012x} (len=1, UC): 0x{len(pattern):02x}",
        "Tracing disabled for CPU0",
    ]


@pytest.mark.parametrize(
    ("rip", "address", "difference"),
    [(16, 256, ""), (17, 256, "step 0: 0x11, not 0x10"), (16, 260, "step 1: RD 0x0000000000000104 (len=1)")],
)
def test_traces_of_bochs_are_compared(rip: int, address: int, difference: str) -> None:
    """Instructions and addresses count, the data and the page tables do not."""
    comparer = bochs_traces.Comparer(Named())
    for line in [*printed("all zero", 16, 256), *printed("one", rip, address), "fc: end pass failures=0"]:
        comparer.take(line)
    target = comparer.targets["k"]
    assert (target.lengths, target.traces, target.steps) == (1, 2, 2)
    assert target.difference.startswith(difference)
    assert bool(target.difference) == bool(difference)
    assert comparer.ended == ""
    statuses = [(status, symbol) for status, symbol, _, _ in bochs_traces.verdicts(comparer)]
    assert ("fail" if difference else "pass", "k") in statuses
    assert {symbol for status, symbol in statuses if status == FAIL} - {"k"} == bochs_traces.LEAKS


def test_what_this_cpu_cannot_run_is_decided_by_the_emulated_one() -> None:
    lacks = "this CPU lacks avx512f"
    cells = [Cell("k", c, UNDECIDABLE, lacks) for c in ("bounds", "signals", "trace", "ctgrind")]
    cells += [Cell("k@row", "abi", UNDECIDABLE, lacks), Cell("other", "abi", UNDECIDABLE, lacks)]
    cells += [Cell("k", "bochs", FAIL, "why"), Cell("k", "red-zone", PASS, "n instructions")]
    found = {(c.symbol, c.check): c.status for c in emulated.decided(cells)}
    assert found["k", "bounds"] == found["k@row", "abi"] == FAIL
    assert found["k", "signals"] == PASS
    assert found["k", "trace"] == found["k", "ctgrind"] == found["other", "abi"] == UNDECIDABLE
