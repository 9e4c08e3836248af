# SPDX-License-Identifier: Apache-2.0
"""CPython's own tests of the modules hashlib and hmac, with fastcrypt's modules in their place.

The suites ship with the interpreter and are used as they are; the module that they test is replaced.
"""

from __future__ import annotations

import unittest
from types import ModuleType
from typing import Any

import pytest

import fastcrypt.hashlib
import fastcrypt.hmac

hashlib_tests = pytest.importorskip("test.test_hashlib", reason="this Python has no test package")

#: Cases that do not hold here, with the reason.
DEVIATIONS = {
    "HashLibTestCase.test_disallow_instantiation": "our constructor is the type itself, and makes objects",
    "HashLibTestCase.test_hash_disallow_instantiation": "names _hashlib's types",
    "HashLibTestCase.test_readonly_types": "names the standard library's types; ours are immutable (HL-15)",
    "CopyTestCase.test_attributes_old": "looks into private attributes of a hash in Python",
    "CopyTestCase.test_realcopy_old": "looks into private attributes of a hash in Python",
    "CompareDigestTestCase.test_hmac_compare_digest": "asks that the function be OpenSSL's own",
    "HashLibTestCase.test_case_sha256_over_4gb": "minutes; test_sha256.py has our form of it",
}


def suite(module: ModuleType) -> list[unittest.TestCase]:
    """The cases of a test module, one by one."""

    def flat(tests: Any) -> Any:
        for test in tests:
            if isinstance(test, unittest.TestSuite):
                yield from flat(test)
            else:
                yield test

    return list(flat(unittest.defaultTestLoader.loadTestsFromModule(module)))


def run_all(module: ModuleType, least: int) -> None:
    cases = suite(module)
    kept = [case for case in cases if ".".join(case.id().rsplit(".", 2)[-2:]) not in DEVIATIONS]
    assert len(kept) >= least
    result = unittest.TestResult()
    unittest.TestSuite(kept).run(result)
    problems = [f"{case.id()}\n{text}" for case, text in [*result.failures, *result.errors]]
    assert not problems, "\n".join(problems)
    assert result.testsRun == len(kept)


def test_hashlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashlib_tests, "hashlib", fastcrypt.hashlib)
    run_all(hashlib_tests, 70)


def test_hmac(monkeypatch: pytest.MonkeyPatch) -> None:
    hmac_tests = pytest.importorskip("test.test_hmac")
    monkeypatch.setattr(hmac_tests, "hmac", fastcrypt.hmac)
    run_all(hmac_tests, 20)
