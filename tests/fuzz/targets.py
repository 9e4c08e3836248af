# SPDX-License-Identifier: Apache-2.0
"""Build the fuzz targets on the C core, and run them on what they make up or on files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/native"))

import build  # noqa: E402

HERE = Path(__file__).resolve().parent
CORPUS = HERE / "corpus"
#: Target -> the parts of the core above the kernels that it uses.
TARGETS = {
    "kernels": (),
    "streams": ("csrc/hash/sha256.c", "csrc/aes/modes.c"),
    "gcm": ("csrc/aes/gcm.c", "csrc/aes/gcm_stream.c"),
    "settings": (),
}

SANITIZE = "-fsanitize=address,undefined"
CLANG = shutil.which("clang-19") or shutil.which("clang") or "clang-19"
FUZZ = build.Flavour(
    "fuzz",
    cc=CLANG,
    flags=("-O1", "-g", "-fsanitize=fuzzer-no-link", SANITIZE, "-fno-sanitize-recover=all"),
    # No sanitizers on the kernels: guard pages watch them here, and the checks of the native harness
    # run them under UBSan. Coverage alone is five times as fast.
    portable=("-O2", "-fno-sanitize=address,undefined"),
    link=("-fsanitize=fuzzer", SANITIZE),
)
#: Without libFuzzer, by any compiler: for the corpus in the normal test run.
REPLAY = replace(build.FLAVOURS["plain"], name="replay")


@dataclass(frozen=True)
class Plant:
    """A mistake in a copy of a source, which a target must find."""

    target: str
    source: str
    right: str
    wrong: str
    header: str = ""  #: what `source` includes, if the mistake is there


PLANTS = (
    Plant("kernels", "asm/x86_64/timingsafe_bcmp_avx2.S", "  DIFFERENCE_32 DIFF_ODD, 96\n", ""),
    Plant("kernels", "asm/x86_64/aes_aesni.S", "  adcq $0, CARRY\n", ""),
    Plant("kernels", "asm/x86_64/sha256_blocks_shani.S", "cmovnzq NEXT, DATA", "cmovzq NEXT, DATA"),
    Plant("streams", "csrc/hash/sha256.c", "if (len < room) {", "if (len <= room) {", "hash/engine.h"),
    Plant("streams", "csrc/aes/modes.c", "if (sum < low)", "if (sum < low && 0)"),
    Plant("gcm", "csrc/aes/gcm.c", "if (differ) fc_wipe(", "if (differ && tag_len == 16) fc_wipe("),
    Plant("gcm", "csrc/aes/gcm_stream.c", "decrypt ? byte : result", "byte"),
    Plant("settings", "csrc/cpu/features.c", "*out = fc_features_close(set)", "*out = set"),
)


def planted_object(plant: Plant, flavour: build.Flavour, core: build.Core) -> Path:
    """The object of the source with the mistake in it."""
    changed = ROOT / ("csrc/" + plant.header if plant.header else plant.source)
    text = changed.read_text()
    if text.count(plant.right) != 1:
        raise ValueError(f"{changed} does not have {plant.right!r} once")
    place = ROOT / "build/fuzz/planted" / Path(plant.source).stem
    copy = place / Path(plant.source).name
    for path, content in (
        (copy, (ROOT / plant.source).read_text()),
        (place / plant.header if plant.header else copy, text.replace(plant.right, plant.wrong)),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    flags = [f"-I{place}", "-Iasm/x86_64", *(build._c_flags(flavour) if copy.suffix == ".c" else [])]
    return build.compile_object(flavour, str(copy.relative_to(ROOT)), flags, list(core.macros))


def target(name: str, flavour: build.Flavour = FUZZ, plant: Plant | None = None) -> Path:
    """build/native/<flavour>/<name>, with a mistake in it where `plant` says so."""
    with build._locked(build.OUTPUT / flavour.name):
        core = build.build_core(flavour)
        own = ["fuzz.c", f"{name}.c", *([] if flavour is FUZZ else ["replay.c"])]
        sources = [*build._support_sources(), *TARGETS[name], *(f"tests/fuzz/{s}" for s in own)]
        objects = [
            build.compile_object(flavour, s, build._c_flags(flavour) if s.endswith(".c") else [],
                                 list(core.macros))
            for s in sources
        ]  # fmt: skip
        objects += core.objects
        if plant is not None:
            replaced = plant.source.replace("/", "_") + ".o"
            objects = [o for o in objects if o.name != replaced] + [planted_object(plant, flavour, core)]
        return build._link(flavour, name if plant is None else f"planted-{name}", objects, core)


def fuzz(name: str, seconds: int, seed: int, plant: Plant | None = None) -> subprocess.CompletedProcess[str]:
    """Run libFuzzer from the corpus in the tree; what it finds and keeps goes to build/fuzz."""
    program = target(name, plant=plant)
    where = ROOT / "build/fuzz" / ("with-plants" if plant else "")
    grown, failures = where / name, where / "failures"
    for directory in (grown, failures):
        directory.mkdir(parents=True, exist_ok=True)
    command = [str(program), f"-max_total_time={seconds}", f"-seed={seed}", "-timeout=20", "-verbosity=0",
               "-print_final_stats=1", "-max_len=4096", f"-artifact_prefix={failures}/{name}-",
               str(grown), str(CORPUS / name)]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, check=False, errors="replace")


def replay(name: str, plant: Plant | None = None) -> subprocess.CompletedProcess[str]:
    """Run the target on every file of its corpus in the tree."""
    files = sorted((CORPUS / name).iterdir())
    program = target(name, REPLAY, plant)
    return subprocess.run([str(program), *map(str, files)], capture_output=True, text=True, check=False,
                          errors="replace")  # fmt: skip
