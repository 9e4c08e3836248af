# SPDX-License-Identifier: Apache-2.0
"""The corpus of the fuzzers, replayed: any input that once failed is a file there and passes for good.

The fuzzers themselves run by `make fuzz`. Here each target is built by the plain compiler and run on
the files of tests/fuzz/corpus; the properties of the Python API get a few examples each.
"""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
from fuzz import api, targets

x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the native harness is for x86-64")


@x86_64
@pytest.mark.parametrize("name", targets.TARGETS)
def test_corpus_of_a_target(name: str) -> None:
    files = sorted((targets.CORPUS / name).iterdir())
    assert files
    assert sum(f.stat().st_size for f in files) < 64 * 1024, "the corpus in the tree stays small"
    done = targets.replay(name)
    assert done.returncode == 0, f"{done.stdout.splitlines()[-1:]} {done.stderr}"
    assert len(done.stdout.splitlines()) == len(files)


@x86_64
@pytest.mark.parametrize("plant", targets.PLANTS, ids=lambda p: f"{p.target}-{Path(p.source).stem}")
def test_corpus_sees_planted_mistakes(plant: targets.Plant) -> None:
    """The corpus alone, which the fuzzers grew, finds what is put into copies of the sources."""
    done = targets.replay(plant.target, plant=plant)
    assert done.returncode != 0


@pytest.mark.parametrize("prop", api.PROPERTIES, ids=lambda p: p.name)
def test_api_with_hostile_types(prop: api.Property) -> None:
    prop.run(60, 1)
