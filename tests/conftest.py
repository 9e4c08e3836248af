# SPDX-License-Identifier: Apache-2.0
"""Row parameters for every test, and skips that count as failures unless they are allowed."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import rows

ALLOWED_SKIPS = Path(__file__).with_name("allowed_skips.txt")
STRICT = os.environ.get("CI") == "true" or os.environ.get("FASTCRYPT_STRICT_SKIPS") == "1"

skipped: list[tuple[str, str]] = []


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: builds the package or takes longer than a second")
    config.addinivalue_line("markers", "big: needs gigabytes; runs with FASTCRYPT_BIG=1")
    config.addinivalue_line("markers", "big_in_ci: a big test that runs with CI=true as well")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("FASTCRYPT_BIG") == "1":
        return
    for item in items:
        wanted_in_ci = os.environ.get("CI") == "true" and item.get_closest_marker("big_in_ci")
        if item.get_closest_marker("big") and not wanted_in_ci:
            item.add_marker(pytest.mark.skip(reason="needs gigabytes: set FASTCRYPT_BIG=1"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    ops = {row.op for row in rows.all_rows()}
    for fixture in metafunc.fixturenames:
        if fixture == "row":
            metafunc.parametrize(fixture, rows.parameters(None))
        elif fixture.endswith("_row") and fixture.removesuffix("_row") in ops:
            metafunc.parametrize(fixture, rows.parameters(fixture.removesuffix("_row")))


def allowed_skips() -> list[tuple[str, str]]:
    """The (test id, reason) patterns of allowed_skips.txt."""
    lines = (line.strip() for line in ALLOWED_SKIPS.read_text().splitlines())
    pairs = (line.split(" | ", 1) for line in lines if line and not line.startswith("#"))
    return [(test.strip(), reason.strip()) for test, reason in pairs]


def unexplained(skips: list[tuple[str, str]]) -> list[tuple[str, str]]:
    allowed = allowed_skips()

    def covered(test: str, reason: str) -> bool:
        return any(fnmatchcase(test, t) and fnmatchcase(reason, r) for t, r in allowed)

    return [(test, reason) for test, reason in skips if not covered(test, reason)]


def note_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
        skipped.append((report.nodeid, report.longrepr[2].removeprefix("Skipped: ")))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    note_skip(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    note_skip(report)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if STRICT and unexplained(skipped) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    found = unexplained(skipped)
    if not found:
        return
    verdict = "this fails the run" if STRICT else "with CI=true this would fail the run"
    terminalreporter.section(f"skips that tests/allowed_skips.txt does not explain: {verdict}")
    for test, reason in found:
        terminalreporter.line(f"{test}: {reason}")
