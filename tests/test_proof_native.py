# SPDX-License-Identifier: Apache-2.0
"""The native checks of the kernels, with a small budget, and that each of them can fail.

`make proof` runs the same programs over every length, compiler and flavour.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "native"))

import checks
import frames
import wipe_sites

import build
import kernel_sources

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or build.ARCH != "x86_64",
    reason="the trampoline and the guard pages are written for Linux on x86-64",
)

PROGRAMS = {program.name: program for program in checks.PROGRAMS}

#: The only reasons for which a check of the default build may leave a row undecided.
ALLOWED = re.compile(r"this CPU lacks \w+|memcheck does not run (SHA-NI|SHA512|VAES|VPCLMULQDQ|GFNI|AVX-512)")

#: Planted faults -> the program and the check that must see each.
PLANTED = {
    "reads_past_end": ("bounds", "bounds"),
    "reads_before": ("bounds", "bounds"),
    "writes_past_end": ("bounds", "bounds"),
    "changes_input": ("bounds", "bounds"),
    "ignores_last": ("bounds", "answers"),
    "needs_alignment": ("bounds", "alignment"),
    "large_frame": ("abi", "stack"),
    "changes_rbx": ("abi", "abi"),
    "changes_r15": ("abi", "abi"),
    "sets_direction": ("abi", "abi"),
    "changes_mxcsr": ("abi", "abi"),
    "dirty_upper": ("abi", "abi"),
    "below_red_zone": ("abi", "signals"),
    "needs_large_stack": ("abi", "thread"),
    "branches": ("ctgrind", "ctgrind"),
    "leaves_vector": ("wiped", "wiped"),
    **{f"leaves_{reg}": ("wiped", "wiped") for reg in ("rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11")},
    "leaves_stack": ("wiped", "wiped"),
}


def expected_symbols() -> set[str]:
    """The table's functions, read from kernels.def and not from the harness."""
    text = (build.ROOT / "csrc/kernels.def").read_text()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    found = set()
    for op, isa in re.findall(r"^FC_(?:LANES_)?KERNEL\((\w+),\s*(\w+)", text, flags=re.M):
        found.add(f"fc_{op}_{isa}")
    for suite, functions in re.findall(r"FC_AES_SUITE\((\w+),(.*?\)\))", text, flags=re.S):
        for function, isa in re.findall(r"FN\((\w+),\s*(\w+)\)", functions):
            found.add(f"fc_aes_{function}_{isa}" + ("" if isa == suite else f"@{suite}"))
    return found


@pytest.fixture(scope="module")
def results() -> dict[str, list[checks.Cell]]:
    if shutil.which("valgrind") is None:
        pytest.fail("valgrind is needed: apt-get install valgrind")
    return {
        name: list(checks.program_cells(program, "plain", quick=True)) for name, program in PROGRAMS.items()
    }


def test_every_row_of_the_table_is_a_target() -> None:
    assert set(checks.targets()) == expected_symbols()
    assert len(expected_symbols()) >= len(kernel_sources.rows("x86_64"))


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_target_has_every_cell(program: str, results: dict[str, list[checks.Cell]]) -> None:
    seen = [(s, c) for s, c, _, _ in results[program] if c in PROGRAMS[program].checks]
    wanted = {(s, c) for s in expected_symbols() for c in PROGRAMS[program].checks}
    assert len(seen) == len(set(seen)), "a cell came twice"
    assert set(seen) == wanted


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_cell_failed(program: str, results: dict[str, list[checks.Cell]]) -> None:
    assert [cell for cell in results[program] if cell[2] == "fail"] == []


@pytest.mark.parametrize("program", PROGRAMS)
def test_undecided_only_where_allowed(program: str, results: dict[str, list[checks.Cell]]) -> None:
    undecided = [cell for cell in results[program] if cell[2] == "undecidable"]
    assert [cell for cell in undecided if not ALLOWED.fullmatch(cell[3])] == []


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_seen(fault: str) -> None:
    program, check = PLANTED[fault]
    lines = checks.run(program, "--planted", "--quick", "--row", fault, under=PROGRAMS[program].under)
    cells = {(symbol, name): status for symbol, name, status, _ in checks.parse(lines)}
    assert cells[f"fault_{fault}", check] == "fail"


def test_every_planted_fault_is_listed() -> None:
    lines = checks.run("bounds", "--planted", "--list").splitlines()
    assert {line.split()[1] for line in lines} == {f"fault_{name}" for name in PLANTED}


def test_ctgrind_sees_the_planted_leaks(results: dict[str, list[checks.Cell]]) -> None:
    seen = {s: status for s, check, status, _ in results["ctgrind"] if check == "ctgrind-sees-leak"}
    assert seen == {
        "leak_early_exit": "pass",
        "leak_jump": "pass",
        "leak_table_expand_key@table": "pass",
        "leak_table_ecb_encrypt@table": "pass",
    }


def test_ctgrind_covers_the_removal_of_padding(results: dict[str, list[checks.Cell]]) -> None:
    found = [cell for cell in results["ctgrind"] if cell[1] == "ctgrind-padding"]
    assert [(symbol, status) for symbol, _, status, _ in found] == [("fc_pkcs7_unpad", "pass")]


def test_ctgrind_refuses_to_run_alone() -> None:
    done = subprocess.run([build.build("ctgrind")], capture_output=True, text=True, check=False)
    assert done.returncode == 2


def test_c_frames_are_small() -> None:
    found = frames.all_frames(quick=True)
    assert {f.source for f in found} >= set(kernel_sources.portable_sources())
    assert [cell for cell in frames.cells(found) if cell[2] != "pass"] == []


def test_a_large_frame_is_seen() -> None:
    found = frames.parse_su("a.c:1:1:f\t2049\tstatic\nb.c:1:1:g\t64\tdynamic\n", "a.c", "cc")
    assert [cell[2] for cell in frames.cells([found[0]])] == ["fail"]
    assert [cell[2] for cell in frames.cells([found[1]])] == ["fail"]


def test_wipes_stay_at_o3() -> None:
    cells = list(wipe_sites.cells(("O3",)))
    assert len(cells) == len(wipe_sites.sites(frames.c_sources())) > 0
    assert [cell for cell in cells if cell[2] != "pass"] == []


def test_a_wipe_that_goes_is_seen() -> None:
    assert wipe_sites.broken_wipe_is_noticed()


def test_wipes_stay_in_the_module() -> None:
    spec = importlib.util.find_spec("fastcrypt._core")
    assert spec is not None
    assert spec.origin is not None
    cells = list(wipe_sites.module_cells(Path(spec.origin)))
    assert len(cells) > 0
    if cells[0][2] == "undecidable":
        pytest.skip(cells[0][3])
    assert [cell for cell in cells if cell[2] != "pass"] == []
