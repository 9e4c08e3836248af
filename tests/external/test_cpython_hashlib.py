# SPDX-License-Identifier: Apache-2.0
"""CPython's own tests of hashlib, run in place on fastcrypt's sha256.

The suite ships with the interpreter (test.test_hashlib) and is used as it is: a subclass replaces the
constructors under test. The cases of other algorithms and of the hashlib module itself are left out.
"""

from __future__ import annotations

import unittest
from typing import Any

import pytest

import fastcrypt

theirs = pytest.importorskip("test.test_hashlib", reason="this Python has no test package")

#: Algorithms that we do not have: cases whose name contains one of these are not ours.
OTHER_ALGORITHMS = ("blake", "sha3", "shake", "md5", "sha1", "sha224", "sha384", "sha512")

#: Minutes each; test_big_cpython_over_4gb in test_hashes.py is our form of it.
TOO_LONG = "over_4gb"

LEFT_OUT = {
    "test_algorithms_guaranteed": "asks for the set hashlib.algorithms_guaranteed",
    "test_algorithms_available": "asks for the set hashlib.algorithms_available",
    "test_unknown_hash": "tests hashlib.new",
    "test_new_upper_to_lower": "tests hashlib.new",
    "test_get_builtin_constructor": "tests a private function of hashlib",
    "test_get_fips_mode": "tests OpenSSL's mode",
    "test_hash_disallow_instantiation": "names _hashlib's types; see test_disallow_instantiation here",
    "test_disallow_instantiation": "names _md5's and _sha1's types; our constructor is the type",
    "test_readonly_types": "names the stdlib's types; see test_hl_15 in test_hashes.py",
    "test_digest_length_overflow": "SHAKE only",
    "test_threaded_hashing": "SHA-1 only; see test_hl_23 in test_hashes.py",
    "test_threaded_hashing_fast": "goes through every name that hashlib has",
    "test_threaded_hashing_slow": "goes through every name that hashlib has",
}

#: What is left, by name, in every version that we know.
RUN = {
    "test_hash_array",
    "test_usedforsecurity_true",
    "test_usedforsecurity_false",
    "test_name_attribute",
    "test_large_update",
    "test_hexdigest",
    "test_gil",
    "test_case_sha256_0",
    "test_case_sha256_1",
    "test_case_sha256_2",
    "test_case_sha256_3",
}


def by_keyword(data: Any = b"", **kwargs: Any) -> Any:
    """A second constructor, which the suite wants: data by name."""
    return fastcrypt.sha256(data=data, **kwargs)


def on_fastcrypt(name: str) -> Any:
    case = theirs.HashLibTestCase(name)
    case.constructors_to_test = {"sha256": {fastcrypt.sha256, by_keyword}}
    return case


def names() -> list[str]:
    found = unittest.TestLoader().getTestCaseNames(theirs.HashLibTestCase)
    ours = [name for name in found if not any(word in name for word in (*OTHER_ALGORITHMS, TOO_LONG))]
    special = {"test_blocksize_name", "test_blocksize_and_name", "test_no_unicode"}
    signature = {"test_clinic_signature", "test_clinic_signature_errors", "test_sha256_gil"}
    return [name for name in ours if name not in LEFT_OUT.keys() | special | signature]


def run(case: Any) -> None:
    result = unittest.TestResult()
    case.run(result)
    assert result.testsRun == 1
    problems = [text for _, text in [*result.failures, *result.errors]]
    assert result.wasSuccessful(), "\n".join(problems)
    assert not result.skipped, result.skipped


def test_the_suite_is_all_there() -> None:
    """A suite that collected nothing would pass: 11 cases, and three more below."""
    missing = RUN - set(names())
    assert not missing


@pytest.mark.parametrize("name", names())
def test_hashlib(name: str) -> None:
    run(on_fastcrypt(name))


def test_blocksize_and_name() -> None:
    """Theirs asks for MD5 first; this is the part of it that concerns us."""
    on_fastcrypt("test_hexdigest").check_blocksize_name("sha256", 64, 32)


def test_no_unicode() -> None:
    on_fastcrypt("test_hexdigest").check_no_unicode("sha256")


def test_over_the_gil_size() -> None:
    """test_sha256_gil of 3.14, by its idea: lengths on both sides of _GIL_MINSIZE, and the state after."""
    minsize = fastcrypt._core._GIL_MINSIZE
    check = on_fastcrypt("test_hexdigest")
    for size in (1, minsize - 1, minsize, minsize + 1, 2 * minsize):
        data = b"a" * size
        check.check("sha256", data, theirs.hashlib.sha256(data).hexdigest())


if hasattr(theirs.HashLibTestCase, "test_clinic_signature"):

    @pytest.mark.parametrize("name", ["test_clinic_signature", "test_clinic_signature_errors"])
    def test_clinic(name: str) -> None:
        """From 3.14 on: the matrix of data and string, by position and by name."""
        run(on_fastcrypt(name))
