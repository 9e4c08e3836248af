# SPDX-License-Identifier: Apache-2.0
"""What `import fastcrypt` costs beside an empty pybind11 module, in fresh interpreters that take turns.

python -m bench.import_time [ROUNDS]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import fastcrypt
from bench.native_programs import OUTPUT

EMPTY_SOURCE = """\
#include <pybind11/pybind11.h>
PYBIND11_MODULE(fc_empty, module, pybind11::mod_gil_not_used()) { module.doc() = "Nothing."; }
"""

#: Run in the child. Both modules are found in the first directory that is looked into.
CHILD = """\
import sys, time
sys.path.insert(0, {directory!r})
def resident():
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1])
    except OSError:  # no Linux
        return 0
before, wall, cpu = resident(), time.perf_counter(), time.process_time()
import {module}
print(time.perf_counter() - wall, time.process_time() - cpu, resident() - before)
"""


def build_empty() -> Path:
    """The directory with fc_empty, compiled as our binding is."""
    import pybind11

    directory = OUTPUT / "empty"
    directory.mkdir(parents=True, exist_ok=True)
    module = directory / f"fc_empty{sysconfig.get_config_var('EXT_SUFFIX')}"
    if not module.exists():
        source = directory / "fc_empty.cpp"
        source.write_text(EMPTY_SOURCE)
        includes = [f"-I{pybind11.get_include()}", f"-I{sysconfig.get_path('include')}"]
        command = ["c++", "-std=c++17", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", *includes]
        subprocess.run([*command, str(source), "-o", str(module)], check=True)
    return directory


def one_import(module: str, directory: Path) -> tuple[float, float, float]:
    """Milliseconds by the wall clock and of CPU time, and KiB of memory."""
    code = CHILD.format(module=module, directory=str(directory))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    wall, cpu, pages = map(float, done.stdout.split())
    return wall * 1e3, cpu * 1e3, pages * 4


def measure(rounds: int = 25) -> dict[str, Any]:
    places = {"fc_empty": build_empty(), "fastcrypt": Path(fastcrypt.__file__).parents[1]}
    samples: dict[str, list[tuple[float, float, float]]] = {module: [] for module in places}
    for module, directory in places.items():
        one_import(module, directory)  # compiles the .pyc, fills the file cache
    for _ in range(rounds):
        for module, directory in places.items():
            samples[module].append(one_import(module, directory))
    found: dict[str, Any] = {}
    for module, taken in samples.items():
        wall, cpu, kib = zip(*taken, strict=True)
        found[module] = {
            "wall_ms": statistics.median(wall),
            "cpu_ms": statistics.median(cpu),
            "wall_ms_minimum": min(wall),
            "resident_kib": statistics.median(kib),
            "samples_wall_ms": wall,
            "samples_cpu_ms": cpu,
        }
    ours, empty = found["fastcrypt"], found["fc_empty"]
    for unit in ("wall_ms", "cpu_ms", "wall_ms_minimum", "resident_kib"):
        found[f"extra_{unit}"] = ours[unit] - empty[unit]
    return found


if __name__ == "__main__":
    result = measure(int(sys.argv[1]) if len(sys.argv) > 1 else 25)
    for name in ("fc_empty", "fastcrypt"):
        values = result[name]
        print(f"{name:<10} {values['wall_ms']:.3f} ms wall, {values['cpu_ms']:.3f} ms CPU, "
              f"{values['resident_kib']:.0f} KiB")  # fmt: skip
    print(f"{'more':<10} {result['extra_wall_ms']:.3f} ms wall, {result['extra_cpu_ms']:.3f} ms CPU, "
          f"{result['extra_resident_kib']:.0f} KiB")  # fmt: skip
