# SPDX-License-Identifier: Apache-2.0
"""The benches run and say what a report must say. No time is judged here: machines have moods."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # bench/ is no part of the installed package

from bench import cases, compare, interleaved, report, targets  # noqa: E402
from bench.interleaved import Case, Contender, Disagreement, Effort  # noqa: E402


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two short rounds over one size."""
    directory = tmp_path_factory.mktemp("bench")
    arguments = ["--quick", "--rounds", "2", "--only=-32B", "--parts", "python,chain,import"]
    done = bench(*arguments, "--output", str(directory))
    assert done.returncode == 0, done.stderr
    return directory


@pytest.fixture(scope="module")
def measured(output: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((output / "report.json").read_text())
    return found


def assert_says_where(facts: dict[str, Any]) -> None:
    assert facts["kernels"].keys() >= {"sha256_blocks", "timingsafe_bcmp", "aes"}
    assert facts["compiler"]
    assert any(source.endswith("sha256.c") and "-O2" in flags for source, flags in facts["flags"].items())
    assert facts["rivals"].keys() >= {"hashlib", "cryptography", "PyCryptodome"}
    assert all(facts["rivals"].values())


def test_p_5_report_says_cpu_kernels_compiler_flags_rivals(measured: dict[str, Any]) -> None:
    assert_says_where(measured["machine"])
    assert measured["machine"]["cpu"]["arch"]


def test_report_has_every_sample_and_ratio(measured: dict[str, Any]) -> None:
    results = {result["name"]: result for result in measured["results"]}
    assert results.keys() >= {"sha256-32B", "sha256_digest-32B", "compare_digest-32B", "look-up-32B"}
    for result in results.values():
        assert all(len(samples) == 2 for samples in result["samples"].values())
        assert all(value > 0 for value in result["median"].values())
    assert results["sha256-32B"]["ratio"].keys() >= {"hashlib", "cryptography", "PyCryptodome"}


def test_ipp_3_chains_end_in_the_pinned_digest(measured: dict[str, Any]) -> None:
    """hashlib's digest after 100,000 hashes; the run fails if Python's chains end elsewhere."""
    digest = "b422bc9c0646a432433c2410991c95e2d89758e3b4f540aca863389f28a11379"
    assert [(run["threads"], run["digest"]) for run in measured["native"]["chain"]] == [
        (1, digest),
        (2, digest),
    ]
    assert measured["native"]["chain_instructions"] > 0
    assert len(measured["chain"]) == 2


def test_import_is_measured_beside_an_empty_module(measured: dict[str, Any]) -> None:
    assert measured["import"]["fc_empty"]["cpu_ms"] > 0
    assert measured["import"]["fastcrypt"]["cpu_ms"] > 0


def test_report_is_readable(output: Path) -> None:
    text = (output / "report.md").read_text()
    assert "## Targets" in text
    assert "| sha256-32B | hashlib |" in text
    for plot in ("ratios.svg", "times.svg"):
        assert f"({plot})" in text
        assert "<svg" in (output / plot).read_text()


def with_time(measured: dict[str, Any], name: str, factor: float) -> dict[str, Any]:
    """The report as if fastcrypt took `factor` times as long in one case."""
    changed = copy.deepcopy(measured)
    result = next(r for r in changed["results"] if r["name"] == name)
    result["median"]["fastcrypt"] *= factor
    for ratio in result["ratio"].values():
        for key in ratio:
            ratio[key] /= factor
    return changed


def test_losses_and_missed_targets_are_marked(measured: dict[str, Any]) -> None:
    slow = with_time(measured, "sha256-32B", 1000)
    missed = [target.what for target in targets.judge(slow) if target.verdict == "MISSED"]
    assert "sha256-32B" in missed
    text = report.markdown(slow)
    assert "**LOSS**" in text
    assert "**MISSED**" in text


def test_p_5_compare_prints_wins_and_losses(measured: dict[str, Any], tmp_path: Path) -> None:
    after = with_time(with_time(measured, "sha256-32B", 0.01), "compare_digest-32B", 100)
    for name, content in (("a", measured), ("b", after)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    done = bench("compare", str(tmp_path / "a.json"), str(tmp_path / "b.json"))
    assert done.returncode == 0, done.stderr
    verdicts = {line.split()[0]: line.split()[-1] for line in done.stdout.splitlines()[1:-1]}
    assert verdicts["sha256-32B"] == "WIN"
    assert verdicts["compare_digest-32B"] == "LOSS"
    assert done.stdout.splitlines()[-1].startswith("1 WIN, 1 LOSS")


def test_p_5_pytest_benchmark_json(tmp_path: Path) -> None:
    file = tmp_path / "pytest.json"
    chosen = "sha256-32B-fastcrypt or sha256-32B-hashlib or compare_digest-32B"
    command = [sys.executable, "-m", "pytest", "bench", "-q", "-k", chosen, f"--benchmark-json={file}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    found = json.loads(file.read_text())
    assert_says_where(found["machine_info"]["fastcrypt"])
    assert found["machine_info"]["cpu"]["arch"]
    assert {benchmark["group"] for benchmark in found["benchmarks"]} == {"sha256-32B", "compare_digest-32B"}
    figures = compare.load(file)
    assert figures["sha256-32B"].rival == "hashlib"
    # A call, not a loop: thousands of calls of tens of nanoseconds would be milliseconds.
    assert figures["sha256-32B"].nanoseconds < 1e5


def test_readme_table_stands_between_its_markers(output: Path, tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    for _ in range(2):  # and again, over its own table
        done = bench("readme", str(output / "report.json"), "--readme", str(readme))
        assert done.returncode == 0, done.stderr
    text = readme.read_text()
    assert text.startswith(f"before\n{report.BEGIN}\n| ")
    assert text.endswith(f"\n{report.END}\nafter\n")
    assert "old" not in text
    assert text.count("`sha256_digest(m)`") == 1
    assert "make bench" in text


def test_readme_without_markers_is_left_alone(output: Path, tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("no place\n")
    done = bench("readme", str(output / "report.json"), "--readme", str(readme))
    assert done.returncode == 2
    assert report.BEGIN in done.stderr
    assert readme.read_text() == "no place\n"


def test_contenders_that_disagree_are_not_compared() -> None:
    case = Case("sum", 0, [Contender("one", "a + 1", {"a": 1}), Contender("two", "a + 2", {"a": 1})])
    with pytest.raises(Disagreement, match="sum-0B"):
        interleaved.measure(case, Effort(rounds=1, sample=1e-5))


def test_fb_6_mixes_are_freebsds() -> None:
    """Calls, mean and longest string as its benchmark has them in a buffer of 131,072 bytes."""
    found = {name: cases.mix_lengths(name) for name in cases.MIXES}
    assert {name: (len(lengths), max(lengths)) for name, lengths in found.items()} == {
        "Short": (7728, 154),
        "Mid": (2053, 427),
        "Long": (1, 131072),
    }
    assert all(sum(lengths) == 131072 for lengths in found.values())
