# SPDX-License-Identifier: Apache-2.0
"""Without memory every call raises MemoryError or does its work; nothing crashes, is lost or is left over."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scan import calls

TESTS = Path(__file__).resolve().parent

pytestmark = pytest.mark.skipif(
    sys.version_info >= (3, 12) or importlib.util.find_spec("_testcapi") is None,
    reason="the sweep is written for CPython 3.11 with _testcapi",
)


@pytest.fixture(scope="module")
def swept() -> dict[str, dict[str, Any]]:
    path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, "-X", "faulthandler", "-m", "scan.exhausted"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"status {done.returncode} after {lines[-1:]}: {done.stderr[-800:]}"
    return {line["name"]: line for line in lines if "name" in line}


def test_every_public_function_is_called() -> None:
    assert calls.not_covered() == []


@pytest.mark.parametrize("name", calls.in_c())
def test_memory_error_or_the_right_answer(swept: dict[str, dict[str, Any]], name: str) -> None:
    """With each allocation failing, alone or with those behind it; and the right answer afterwards."""
    assert swept[name]["wrong"] == []


@pytest.mark.parametrize("name", calls.hot_calls())
def test_a_refused_call_leaves_nothing_behind(swept: dict[str, dict[str, Any]], name: str) -> None:
    """Blocks after four sweeps as before: one lost per refusal would be four or more."""
    assert swept[name]["grown"] < 4


def test_memory_really_ran_out(swept: dict[str, dict[str, Any]]) -> None:
    """Calls that make an object are refused at least once; a compare of bytes allocates nothing at all."""
    for name in ("sha256", "sha256_digest", "AES", "AESGCM", "AESGCM.encrypt", "aes_encrypt cbc", "rows"):
        assert swept[name]["refused"] > 0, name
    for name in ("timingsafe_bcmp", "compare_digest", "timingsafe_equal of str", "AESGCM.encrypt_into"):
        assert swept[name]["refused"] == 0, name
