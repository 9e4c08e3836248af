# SPDX-License-Identifier: Apache-2.0
"""The traced process: each call of public_calls.py once, between two signals to itself.

python -m tests.proof.call_runner [expression ...]
"""

from __future__ import annotations

import os
import signal
import sys

import fastcrypt

from .public_calls import CALLS, NAMESPACE


def main() -> None:
    chosen = sys.argv[1:] or [call.expression for call in CALLS]
    names = {"fastcrypt": fastcrypt, **NAMESPACE}
    process, mark, kill = os.getpid(), signal.SIGUSR1, os.kill
    for expression in chosen:
        code = compile(expression, "<call>", "eval")
        eval(code, names)  # imports and caches are not part of a call
        kill(process, mark)
        eval(code, names)
        kill(process, mark)


if __name__ == "__main__":
    main()
