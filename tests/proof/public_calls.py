# SPDX-License-Identifier: Apache-2.0
"""One call of every public function, and the ops whose kernels it runs.

An expression is evaluated with `fastcrypt` and the names of NAMESPACE. tests/test_proof_traces.py fails if
a public name is in neither CALLS nor NO_KERNEL.
"""

from __future__ import annotations

from dataclasses import dataclass

NAMESPACE: dict[str, object] = {
    "data": bytes(range(256)),
    "other": bytes(range(255)) + b"\0",
    "key": bytes(range(16)),
    "key32": bytes(range(32)),
    "iv": bytes(16),
    "nonce": bytes(12),
    "block": bytes(64),
    "buffer": bytearray(256),
}


@dataclass(frozen=True)
class Call:
    """`expression` is what runs; `hot` ones must not write shared memory however often they run."""

    expression: str
    ops: frozenset[str]
    hot: bool = True


def _call(expression: str, *ops: str, hot: bool = True) -> Call:
    return Call(expression, frozenset(ops), hot)


CALLS: tuple[Call, ...] = (
    _call("fastcrypt.sha256(data).digest()", "sha256_blocks"),
    _call("fastcrypt.sha256(data).hexdigest()", "sha256_blocks"),
    _call("fastcrypt.sha256(block).copy().digest()", "sha256_blocks"),
    _call("fastcrypt.sha256().update(data)", "sha256_blocks"),
    _call("fastcrypt.sha256_digest(data)", "sha256_blocks"),
    _call("fastcrypt.sha256_digest(key32)", "sha256_blocks"),
    _call("fastcrypt.sha256_hexdigest(data)", "sha256_blocks"),
    _call("fastcrypt.timingsafe_bcmp(data, other)", "timingsafe_bcmp"),
    _call("fastcrypt.timingsafe_memcmp(data, other)", "timingsafe_memcmp"),
    _call("fastcrypt.compare_digest(data, other)", "timingsafe_bcmp"),
    _call("fastcrypt.timingsafe_equal(data, other)", "timingsafe_bcmp"),
)

#: Public names that run no kernel of their own, or all of them: name -> why.
NO_KERNEL: dict[str, str] = {
    "build_info": "facts of the build",
    "cpu_features": "facts of the CPU",
    "kernels": "the names of what was chosen",
    "self_test": "runs every row, chosen or not",
}
