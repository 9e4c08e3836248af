# SPDX-License-Identifier: Apache-2.0
"""What a report says about where it was made: CPU, interpreter, kernels, compiler, flags, rivals."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import sysconfig
from importlib import import_module
from typing import Any

import fastcrypt
from bench import cases
from bench.interleaved import CLOCK

#: Of what cpuinfo finds; hz_actual is a snapshot and says little.
CPU_FACTS = (
    "brand_raw", "vendor_id_raw", "arch", "bits", "count", "family", "model", "stepping",
    "hz_advertised_friendly", "l1_data_cache_size", "l2_cache_size", "l3_cache_size", "flags",
)  # fmt: skip


def cpu() -> dict[str, Any]:
    """By cpuinfo, the package that pytest-benchmark brings."""
    cpuinfo: Any = import_module("cpuinfo")
    info = cpuinfo.get_cpu_info()
    return {name: info[name] for name in CPU_FACTS if name in info}


def gil() -> str:
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "on"
    enabled = getattr(sys, "_is_gil_enabled", lambda: True)()
    return "on (free-threaded build)" if enabled else "off"


def revision() -> str | None:
    command = ["git", "describe", "--always", "--dirty", "--tags"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def load() -> list[float]:
    """The machine's load; a report made beside other work says so."""
    return [round(value, 2) for value in os.getloadavg()]


def facts() -> dict[str, Any]:
    built = fastcrypt.build_info()
    return {
        "cpu": cpu(),
        "system": f"{platform.system()} {platform.release()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "gil": gil(),
        "fastcrypt": fastcrypt.__version__,
        "revision": revision(),
        "kernels": fastcrypt.kernels(),
        "features": sorted(fastcrypt.cpu_features()),
        "FASTCRYPT_CPU": os.environ.get("FASTCRYPT_CPU"),
        "compiler": built["compiler"],
        "flags": built["flags"],
        "common_flags": built["common_flags"],
        "assembly": built["assembly"],
        "rivals": cases.versions(),
        "clock": CLOCK,
        "load_before": load(),
    }


def one_line(data: dict[str, Any]) -> str:
    """The machine's name as tables quote it."""
    cpu_facts = data["cpu"]
    name = f"{cpu_facts.get('brand_raw', 'unknown CPU')} (family {cpu_facts.get('family')}, "
    name += f"model {cpu_facts.get('model')}), {cpu_facts.get('count')} logical CPUs"
    return f"{name}, {data['system']}, {data['python']}"
