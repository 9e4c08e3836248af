# SPDX-License-Identifier: Apache-2.0
"""Row T-g for what reaches the kernels through the sealed table only: CMAC, key wrap, GCM-SIV.

Their vectors run on the suite of this CPU in the test files, and here on every other one, each in a process
that seals it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import rows
from rows import Row

from fastcrypt import _core

CHECKS = {
    "test_aes_cmac": ("check_nist_and_wycheproof", "check_lengths"),
    "test_aes_key_wrap": ("check_rfcs", "check_cavp", "check_wycheproof"),
    "test_aes_gcm_siv": ("check_rfc_8452", "check_wycheproof", "check_lengths"),
}


def setting_for(suite: Row) -> str:
    """A FASTCRYPT_CPU under which this suite is the best: without a feature of each better one."""
    better = [row for row in rows.all_rows() if row.op == "aes"]
    better = better[: better.index(suite)]
    removed = {min(row.features - suite.features) for row in better if row.features - suite.features}
    return "native" + "".join(f",-{name}" for name in sorted(removed))


@pytest.mark.parametrize("suite", [p for p in rows.parameters("aes") if not p.values[0].chosen])
def test_t_g_vectors(suite: Row) -> None:
    setting = setting_for(suite)
    assert _core.resolve(_core.narrow(_core.detected_features(), setting))["aes"] == suite.name
    calls = "\n".join(f"{module}.{f}()" for module, functions in CHECKS.items() for f in functions)
    code = f"import fastcrypt, {', '.join(CHECKS)}\nprint(fastcrypt.kernels()['aes'])\n{calls}"
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "FASTCRYPT_CPU": setting, "PYTHONPATH": path}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout.split()) == (0, [suite.name]), done.stderr


def test_every_check_of_these_files_is_listed() -> None:
    for module, functions in CHECKS.items():
        named = {name for name in vars(pytest.importorskip(module)) if name.startswith("check_")}
        assert named == set(functions)
