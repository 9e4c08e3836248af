# SPDX-License-Identifier: Apache-2.0
"""What the documents say is true: examples run, tables agree with the code, paths exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fastcrypt
from fastcrypt import _core

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def between(text: str, marker: str) -> str:
    begin, end = f"<!-- {marker}:begin -->", f"<!-- {marker}:end -->"
    assert text.count(begin) == text.count(end) == 1
    return text.split(begin)[1].split(end, maxsplit=1)[0]


def python_blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", text_of("README.md"), re.M | re.S)


@pytest.mark.parametrize("block", python_blocks())
def test_examples_of_the_readme_run_each_on_its_own(block: str) -> None:
    exec(compile(block, "README.md", "exec"), {"__name__": "example"})


def test_there_are_examples_of_every_public_name() -> None:
    examples = "\n".join(python_blocks())
    assert len(python_blocks()) >= 8
    missing = [name for name in fastcrypt.__all__ if name not in examples]
    assert missing == ["__version__"]


def matrix_rows() -> list[list[str]]:
    lines = between(text_of("CONTRIBUTING.md"), "matrix").strip().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [rows[0], *rows[2:]]


def test_the_matrix_is_the_table() -> None:
    (_, *ops), *rows = matrix_rows()
    filled = {(op, row[0]) for row in rows for op, cell in zip(ops, row[1:], strict=True) if cell == "yes"}
    assert filled == {(row["op"], row["name"]) for row in _core.rows()}


def test_every_empty_cell_of_the_matrix_has_a_reason() -> None:
    head, *rows = matrix_rows()
    for row in rows:
        assert len(row) == len(head)
        assert all(cell == "yes" or re.match(r"(not|never|no) \w+|no gain: ", cell) for cell in row[1:]), row


def test_paths_in_the_documents_exist() -> None:
    for name in DOCUMENTS:
        text = text_of(name)
        paths = re.findall(r"`((?:csrc|asm|src|tests|bench)/[\w./-]+)`", text)
        paths += [path for path in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in path]
        for path in paths:
            assert (ROOT / path).exists(), f"{name}: {path}"


def test_make_targets_in_the_documents_exist() -> None:
    targets = set(re.findall(r"^(\w+):", text_of("Makefile"), re.M))
    for name in DOCUMENTS:
        named = set(re.findall(r"(?:^ {4}|`|^)make (\w+)", text_of(name), re.M))
        assert named <= targets, name
    assert {"demo", "test"} <= set(re.findall(r"make (\w+)", text_of("README.md")[:1500]))


def test_levels_of_fastcrypt_cpu_are_those_of_the_code() -> None:
    (cell,) = re.findall(r"^\| level \| (.*) \|$", text_of("README.md"), re.M)
    levels = re.findall(r"`([\w-]+)`", cell)
    for level in levels:
        _core.narrow([], level)
    with pytest.raises(ValueError, match="Valid") as error:
        _core.narrow([], "nothing")
    valid = str(error.value).split("Valid: ")[1].split("; then")[0]
    assert set(levels) == set(re.findall(r"(?!or\b)[a-z][\w-]+", valid))


def test_sizes_from_which_the_gil_is_released() -> None:
    header = text_of("csrc/python/thresholds.h")
    (sentence,) = re.findall(r"The GIL is released for (.*?)\. ", text_of("README.md"), re.S)
    for word, constant in (("hashing", "HASH"), ("AES", "AES"), ("comparison", "COMPARE")):
        (said,) = re.findall(rf"{word} from (\d+) KiB", sentence)
        (real,) = re.findall(rf"FC_{constant}_DETACH_BYTES = (\d+);", header)
        assert int(said) * 1024 == int(real)


def test_the_changelog_has_this_version() -> None:
    assert f"## [{fastcrypt.__version__}]" in text_of("CHANGELOG.md")


def test_no_document_is_wider_than_the_code() -> None:
    for name in DOCUMENTS:
        written = re.sub(r"<!-- (\w+):begin -->.*?<!-- \1:end -->", "", text_of(name), flags=re.S)
        wide = [line for line in written.splitlines() if len(line) > 110 and not line.startswith("|")]
        assert wide == [], name


def test_markers_for_generated_parts() -> None:
    between(text_of("README.md"), "ratios")
    between(text_of("SECURITY.md"), "proof")
