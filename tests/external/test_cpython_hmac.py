# SPDX-License-Identifier: Apache-2.0
"""CPython's own tests of hmac, run in place with fastcrypt's sha256 and compare_digest.

The module under test finds sha256 through the name `hashlib` in it; a stand-in for that name hands it
ours. hmac itself stays the stdlib's here.
"""

from __future__ import annotations

import hashlib
import types
import unittest
from typing import Any

import pytest

import fastcrypt

theirs = pytest.importorskip("test.test_hmac", reason="this Python has no test package")

#: From 3.14 on the suite consists of mixins, for which there is an adapter of its own to be written.
MIXINS = hasattr(theirs, "CompareDigestMixin")

LEFT_OUT = {
    "test_with_fallback": "wants hashlib's private cache of constructors",
    "test_hmac_compare_digest": "asserts that hmac's function is OpenSSL's",
}


def cases() -> list[Any]:
    def flat(suite: Any) -> Any:
        for item in suite:
            yield from flat(item) if isinstance(item, unittest.TestSuite) else [item]

    return list(flat(unittest.defaultTestLoader.loadTestsFromModule(theirs)))


def ours() -> list[Any]:
    return [case for case in cases() if case.id().rpartition(".")[2] not in LEFT_OUT]


def stand_in() -> types.SimpleNamespace:
    """hashlib's public names, with sha256 ours."""
    names = {name: getattr(hashlib, name) for name in dir(hashlib) if not name.startswith("__")}
    return types.SimpleNamespace(**{**names, "sha256": fastcrypt.sha256})


if not MIXINS:

    def test_the_suite_is_all_there() -> None:
        """27 cases on 3.11 and 3.12, 28 on 3.13, and both that are left out among them."""
        assert len(cases()) == len(ours()) + len(LEFT_OUT) >= 27

    @pytest.mark.parametrize("case", ours(), ids=[case.id().partition("test_hmac.")[2] for case in ours()])
    def test_hmac(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(theirs, "hashlib", stand_in())
        result = unittest.TestResult()
        case.run(result)
        problems = [text for _, text in [*result.failures, *result.errors]]
        assert result.wasSuccessful(), "\n".join(problems)

    def test_rfc_4231(monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(theirs, "hashlib", stand_in())
        case = theirs.TestVectorsTestCase("test_sha256_rfc4231")
        case._rfc4231_test_cases(fastcrypt.sha256, "sha256", 32, 64)


def test_compare_digest() -> None:
    """Their test of the two stdlib functions, on ours."""
    if MIXINS:

        class Case(theirs.CompareDigestMixin, unittest.TestCase):  # type: ignore[misc, name-defined]
            compare_digest = staticmethod(fastcrypt.compare_digest)

        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(result)
        assert result.testsRun > 0
        assert result.wasSuccessful(), result.failures
    else:
        theirs.CompareDigestTestCase("test_hmac_compare_digest")._test_compare_digest(
            fastcrypt.compare_digest
        )
