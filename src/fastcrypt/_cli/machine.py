# SPDX-License-Identifier: Apache-2.0
"""What a report says about the machine and the interpreter."""

from __future__ import annotations

import os
import platform
import sys
import sysconfig


def cpu_model() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                key, _, value = line.partition(":")
                if key.strip() == "model name":
                    return value.strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def gil() -> str:
    """'on', 'off', or 'on (free-threaded build)' where something has switched it on."""
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "on"
    enabled = getattr(sys, "_is_gil_enabled", lambda: True)()
    return "on (free-threaded build)" if enabled else "off"


def facts() -> dict[str, str | int | None]:
    return {
        "cpu": cpu_model(),
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "system": f"{platform.system()} {platform.release()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "gil": gil(),
    }
