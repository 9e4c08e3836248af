# SPDX-License-Identifier: Apache-2.0
"""The timing report: every kernel with fixed against random secrets. Never a gate."""

from __future__ import annotations

import subprocess

from . import native


def report(*options: str) -> None:
    """Print t per kernel; the planted leaks first, to show what a leak looks like."""
    program = native.harness_program("timing.c")
    print("Timing with fixed and with random secrets; |t| above 5 is worth a look, noise or not")
    subprocess.run([program, *options], check=True)
