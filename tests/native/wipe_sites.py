# SPDX-License-Identifier: Apache-2.0
"""Every fc_wipe in the source is still there in the binary: at -O2, -O3 and with link-time optimisation.

A compiler may inline fc_wipe and turn its memset into stores, so the evidence is an instruction that
stores or calls, and whose chain of inlined calls (addr2line -i) leads to the line of the fc_wipe.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import frames

import build

if TYPE_CHECKING:
    from collections.abc import Iterator

CALL = re.compile(r"^\s*([0-9a-f]+):\s+(?:call|jmp)\s+\S+ <(fc_wipe|memset)(?:@plt)?>", re.M)
STORE = re.compile(r"^\s*([0-9a-f]+):\s+(?:rep stos|v?mov[a-z0-9]*\s+[^(\n]*,\S*\()", re.M)

FLAVOURS = {
    "O2": build.Flavour("wipe-O2", flags=("-O2", "-g"), portable=("-O2",)),
    "O3": build.Flavour("wipe-O3", flags=("-O3", "-g"), portable=("-O3",)),
    "LTO": build.Flavour("wipe-LTO", flags=("-O3", "-g", "-flto"), portable=("-O3", "-flto"),
                         link=("-O3", "-g", "-flto")),
    "clang": build.Flavour("wipe-clang", cc="clang-19", flags=("-O3", "-gdwarf-4")),
}  # fmt: skip


def sites(sources: list[str]) -> list[tuple[str, int]]:
    """(file, line) of each call of fc_wipe in these files."""
    found = []
    for source in sources:
        for number, line in enumerate((build.ROOT / source).read_text().splitlines(), 1):
            if re.search(r"\bfc_wipe\(", line) and not re.match(r"(void|FC_HIDDEN)", line):
                found.append((source, number))
    return found


def shared_object(flavour: build.Flavour) -> Path:
    """The C core as a shared object in this flavour."""
    with build._locked(build.OUTPUT / flavour.name):
        core = build.build_core(flavour)
        flags = [*build._c_flags(flavour), "-fPIC"]
        sources = [s for s in frames.c_sources() if not s.startswith("csrc/portable")]
        objects = [build.compile_object(flavour, s, flags, list(core.macros)) for s in sources]
        objects.append(references(flavour, objects))
        kernels = [o for o in core.objects if "csrc_portable" in o.name or "asm_" in o.name]
        output = build.OUTPUT / flavour.name / "libcore.so"
        build._run([flavour.cc, *flavour.link, "-shared",
                    *map(str, objects), *map(str, kernels), "-o", str(output)])  # fmt: skip
        return output


def references(flavour: build.Flavour, objects: list[Path]) -> Path:
    """An object that refers to every function, as the module would: link-time optimisation drops the rest."""
    symbols = sorted(build._defined_symbols(objects) - {"fc_wipe"})
    text = ".data\n" + "".join(f".quad {symbol}\n" for symbol in symbols)
    text += '.section .note.GNU-stack, "", @progbits\n'
    source = build.OUTPUT / flavour.name / "references.S"
    if not source.exists() or source.read_text() != text:
        source.write_text(text)
    return build.compile_object(flavour, str(source.relative_to(build.ROOT)), [], [])


def wiping_lines(binary: Path) -> set[tuple[str, int]]:
    """(file, line) pairs that lead to a call of fc_wipe, or to a store or memset inlined from it."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", str(binary)],
                             capture_output=True, text=True, check=True).stdout  # fmt: skip
    calls = {m[1] for m in CALL.finditer(listing) if m[2] == "fc_wipe"}
    stores = {m[1] for m in CALL.finditer(listing)} | {m[1] for m in STORE.finditer(listing)}
    found = set()
    for address, chain in inline_chains(binary, sorted(calls | stores)).items():
        inlined = [i for i, (name, _) in enumerate(chain) if "ct/wipe." in name]
        if address in calls:
            found.add(chain[0])
        if inlined and inlined[-1] + 1 < len(chain):
            found.add(chain[inlined[-1] + 1])
    return found


def inline_chains(binary: Path, addresses: list[str]) -> dict[str, list[tuple[str, int]]]:
    """For each address its source line, and the lines of the calls that were inlined around it."""
    done = subprocess.run(["addr2line", "-a", "-i", "-e", str(binary)], input="\n".join(addresses),
                          capture_output=True, text=True, check=True)  # fmt: skip
    chains: dict[str, list[tuple[str, int]]] = {}
    chain: list[tuple[str, int]] = []
    for line in done.stdout.splitlines():
        if line.startswith("0x"):
            chain = chains.setdefault(line[2:].lstrip("0"), [])
            continue
        name, _, number = line.partition(" (")[0].rpartition(":")
        chain.append((name, int(number) if number.isdigit() else 0))
    return chains


def missing(binary: Path, wanted: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The sites without a trace in the binary. A call that spans lines may be noted one line later."""
    found = wiping_lines(binary)
    return [
        (source, line)
        for source, line in wanted
        if not any(f.endswith(source) and n in (line, line + 1) for f, n in found)
    ]


def cells(names: tuple[str, ...] = tuple(FLAVOURS)) -> Iterator[tuple[str, str, str, str]]:
    wanted = sites(frames.c_sources())
    lost: dict[tuple[str, int], list[str]] = {site: [] for site in wanted}
    tried = []
    for name in names:
        if shutil.which(FLAVOURS[name].cc) is None:
            continue
        tried.append(name)
        for site in missing(shared_object(FLAVOURS[name]), wanted):
            lost[site].append(name)
    for (source, line), where in lost.items():
        detail = f"gone at {', '.join(where)}" if where else f"seen at {', '.join(tried)}"
        yield f"{source}:{line}", "wipe-stays", "fail" if where else "pass", detail


def module_cells(module: Path) -> Iterator[tuple[str, str, str, str]]:
    """The same for the binding, in a built module. Its debug information must be that of the sources."""
    sources = sorted((build.ROOT / "csrc/python").glob("*.cpp"))
    names = [str(p.relative_to(build.ROOT)) for p in sources]
    sections = subprocess.run(["readelf", "-S", "-W", str(module)],
                              capture_output=True, text=True, check=True).stdout  # fmt: skip
    problem = ""
    if ".debug_info" not in sections:
        problem = "the module has no debug information"
    elif any(p.stat().st_mtime > module.stat().st_mtime for p in sources):
        problem = "the module is older than its sources"
    wanted = sites(names)
    lost = [] if problem else missing(module, wanted)
    for site in wanted:
        detail = problem or ("gone" if site in lost else "seen in the module")
        status = "undecidable" if problem else "fail" if site in lost else "pass"
        yield f"{site[0]}:{site[1]}", "wipe-stays-module", status, detail


def broken_wipe_is_noticed() -> bool:
    """The check's own test: a plain memset in place of fc_wipe goes, and that is seen."""
    directory = build.OUTPUT / "broken"
    header = directory / "ct/wipe.h"
    header.parent.mkdir(parents=True, exist_ok=True)
    header.write_text(
        "#include <stddef.h>\n#include <string.h>\n"
        "static inline void fc_wipe(void *p, size_t len) { memset(p, 0, len); }\n"
    )
    plain = FLAVOURS["O2"]
    flavour = replace(plain, name="wipe-broken", flags=(*plain.flags, f"-I{directory}"))
    wanted = sites(frames.c_sources())
    return len(missing(shared_object(flavour), wanted)) > len(missing(shared_object(plain), wanted))


if __name__ == "__main__":
    print("a broken wipe is noticed:", broken_wipe_is_noticed())
    for cell in cells():
        print(*cell)
