# SPDX-License-Identifier: Apache-2.0
"""Every kernel on processors that this machine is not: qemu's models, other architectures, Bochs.

What must happen where is written by hand in tests/emulated/machines.py. What is not installed is a
failed cell where CI=true, elsewhere one that is not decidable.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

from . import module
from .disassembly import ROOT
from .result import FAIL, PASS, UNDECIDABLE, Cell, parse_lines, verdict

sys.path.insert(0, str(ROOT / "tests"))

from emulated import machines, runs
from emulated.build import MissingError

PROCESSORS = "processors"
CATCHES = "processors-catches"
MODULE = "module-on-processors"
ARCHITECTURES = "architectures"
BOCHS = "bochs"

BOCHS_RUNNER = ROOT / "tests/emulated/bochs/run.py"
BOCHS_TIMEOUT = 600

BOCHS_TRACES = ROOT / "tests/emulated/bochs/traces.py"
NO_BOCHS = "needs Debian packages bochs bochs-term"

QUICK_MODELS = ("Nehalem@qemu7", "Haswell@qemu7")
QUICK_ARCHITECTURES = ("s390x",)


def unable(symbol: str, check: str, reason: object) -> Cell:
    return Cell(symbol, check, FAIL if machines.in_ci() else UNDECIDABLE, str(reason))


def result_cells(outcome: runs.Outcome, check: str, where: str) -> Iterator[Cell]:
    """The answers of each kernel that ran; rows that this processor cannot run are no cells."""
    for status, symbol, detail in outcome.results:
        place = symbol if symbol.startswith("fc_") else f"{symbol}@{where}"
        if status in (PASS, FAIL):
            yield Cell(place, check, status, f"{where}: {detail}")
        elif symbol.startswith("sealed"):
            yield unable(place, check, f"{detail}: set FASTCRYPT_WYCHEPROOF")


# ---- Processors with qemu-user -------------------------------------------------------------------


def model_cells(model: machines.Model) -> Iterator[Cell]:
    outcome = runs.on_model(model)
    chosen = " ".join(sorted(runs.pairs(outcome.chosen)))
    yield verdict(model.name, PROCESSORS, list(runs.problems_on_model(outcome, model)), chosen)
    yield from result_cells(outcome, PROCESSORS, model.name)


def doomed_cell(model: machines.Model) -> Cell:
    """That the emulator refuses what the processor has not, or else a wrong mask would not show."""
    death = runs.on_model(model, "--force", model.doomed).death() or "lived"
    problems = [] if death == f"died of SIGILL in {model.doomed}" else [death]
    return verdict(f"{model.doomed}@{model.name}", CATCHES, problems, death)


def module_cell(symbol: str, model: machines.Model, chosen: str, setting: str | None = None) -> Cell:
    said = runs.in_module(model, setting)
    problems = list(runs.problems_in_module(said, chosen))
    return verdict(symbol, MODULE, problems, f"{sum(said.get('passed', {}).values())} vectors")


def module_cells() -> Iterator[Cell]:
    """The shipped module in an interpreter: on three models, and on one under every setting."""
    try:
        for model in machines.MODELS:
            if model.qemu == 7 and model.cpu in machines.MODULE_MODELS:
                yield module_cell(f"fastcrypt@{model.name}", model, model.chosen)
            if model.qemu == 7 and model.cpu == "max":
                for setting, chosen in machines.SETTINGS.items():
                    yield module_cell(f"FASTCRYPT_CPU={setting}@{model.name}", model, chosen, setting)
    except MissingError as error:
        yield unable("fastcrypt", MODULE, error)


def processor_cells(quick: bool = False) -> Iterator[Cell]:
    covered: set[str] = set()
    missing: MissingError | None = None
    for model in machines.MODELS:
        if quick and model.name not in QUICK_MODELS:
            continue
        try:
            cells = [*model_cells(model), doomed_cell(model)]
        except MissingError as error:
            cells = [unable(model.name, PROCESSORS, error)]
            missing = error
        covered |= {c.symbol.split("@")[0] for c in cells}
        yield from cells
    if not quick:
        yield from uncovered_cells(covered, missing)
        yield from module_cells()


def uncovered_cells(covered: set[str], missing: MissingError | None) -> Iterator[Cell]:
    """Kernels that an emulator might have run if it were here. No qemu runs AVX-512: see Bochs."""
    for symbol in module.symbols():
        if missing is not None and symbol not in covered:
            yield unable(symbol, PROCESSORS, missing)


# ---- Architectures -------------------------------------------------------------------------------


def architecture_cells(quick: bool = False) -> Iterator[Cell]:
    for architecture in machines.ARCHITECTURES:
        arch = architecture.arch
        if quick and arch not in QUICK_ARCHITECTURES:
            continue
        try:
            outcome = runs.on_architecture(architecture)
        except MissingError as error:
            yield unable(arch, ARCHITECTURES, error)
            continue
        problems = list(runs.problems_on_architecture(outcome))
        yield verdict(arch, ARCHITECTURES, problems, f"rows {' '.join(outcome.ran)}")
        yield from result_cells(outcome, ARCHITECTURES, arch)


# ---- Bochs ---------------------------------------------------------------------------------------


def bochs_cells() -> Iterator[Cell]:
    """Every row on a whole machine with AVX-512."""
    command = [sys.executable, str(BOCHS_RUNNER), "--timeout", str(BOCHS_TIMEOUT)]
    command += ["--build", str(ROOT / "build/emulated/bochs")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    yield from cells_of_bochs(done.returncode, done.stdout, done.stderr)


def bochs_trace_cells(targets: list[str], rows: list[str], quick: bool) -> Iterator[Cell]:
    """Traces of rows that this CPU cannot run, instruction by instruction on the emulated one."""
    command = [sys.executable, str(BOCHS_TRACES), *rows, "--timeout", str(BOCHS_TIMEOUT)]
    command += ["--build", str(ROOT / "build/emulated/bochs-traces"), *(["--quick"] if quick else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = list(parse_lines(done.stdout))
    yield from found
    reason = NO_BOCHS if "bochs: not found" in done.stderr else f"Bochs: {done.stderr.strip()[-300:]}"
    for symbol in set(targets) - {c.symbol for c in found}:
        yield unable(symbol, "trace", reason) if done.returncode == 2 else Cell(symbol, "trace", FAIL, reason)


#: What the run under Bochs shows of a row, beside its answers: see bochs/README.md. Its stack is 2 KiB above
#: a page that is not there, which is less than a thread's 64 KiB; its lengths bring every alignment.
SHOWN_BY_BOCHS = ("bounds", "answers", "alignment", "abi", "stack", "thread", "wiped", "bitflip")
LACKING = "this CPU lacks"


def decided(cells: list[Cell]) -> Iterator[Cell]:
    """The cells, where those of kernels that this CPU cannot run have the verdict of the emulated one.

    signals: a handler writes below the red zone, and the disassembly shows that nothing is kept there.
    """
    elsewhere = {(c.symbol, c.check): c for c in cells if c.check in (BOCHS, "red-zone")}
    for c in cells:
        source = BOCHS if c.check in SHOWN_BY_BOCHS else "red-zone" if c.check == "signals" else ""
        found = elsewhere.get((c.symbol.split("@")[0], source))
        if c.status == UNDECIDABLE and c.detail.startswith(LACKING) and found is not None:
            yield Cell(c.symbol, c.check, found.status, f"{source}: {found.detail}")
        else:
            yield c


#: Rows that processors run right, by NIST's vectors, and Bochs 2.7 does not.
BOCHS_DIFFERS = {
    "sha1_blocks-shani": "Bochs 2.7 gives other answers to SHA-1's instructions than processors do"
}


def cells_of_bochs(status: int, output: str, errors: str) -> Iterator[Cell]:
    """The cells in what bochs/run.py printed, which ended with this status."""
    if status == 2 and "bochs: not found" in errors:
        for symbol in module.symbols():
            yield unable(symbol, BOCHS, NO_BOCHS)
        return
    verdicts = {m[1]: m[2] for m in re.finditer(r"^row (\S+) (.*)$", output, re.M)}
    for row in module.rows():
        said = verdicts.get(f"{row.op}-{row.name}", "never reached")
        for symbol in filter(None, row.symbols):
            passed = said.split()[0] == "passed"
            differs = BOCHS_DIFFERS.get(f"{row.op}-{row.name}")
            if differs is not None and not passed:
                yield Cell(symbol, BOCHS, UNDECIDABLE, differs)
            else:
                yield Cell(symbol, BOCHS, PASS if passed else FAIL, said)
    known = [name for row in BOCHS_DIFFERS for name in (f"row {row}:", f"fc_{row.replace('-', '_')}:")]
    problems = re.findall(r"^(?:FAIL|FAILED)\b.*$", output, re.M)
    theirs = [problem for problem in problems if any(name in problem for name in known)]
    problems = [p for p in problems if p not in theirs and p != "FAILED: the payload failed"]
    if status != 0 and not problems and not theirs:
        problems = [errors.strip()[-300:] or f"status {status}"]
    yield verdict("image", BOCHS, problems, "every row, probes and checks of the checks")
