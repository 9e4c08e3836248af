# SPDX-License-Identifier: Apache-2.0
"""How a command fails: one line on stderr and an exit status, never a trace."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from typing import NoReturn


class Failure(Exception):
    """Ends the command. The text is the whole message."""

    def __init__(self, text: str, status: int = 1) -> None:
        super().__init__(text)
        self.status = status


def missing_extra(package: str, use: str) -> Failure:
    return Failure(f'{use} needs {package}: pip install "fastcrypt[cli]"')


def complain(text: str) -> None:
    """One line on stderr; file names that are no valid text go out as they came in."""
    if sys.stderr is not None:
        sys.stderr.flush()
        os.write(2, os.fsencode(text + "\n"))


class Parser(ArgumentParser):
    """argparse with errors of one line. GNU commands exit with 1 there, others with 2."""

    usage_status = 2

    def error(self, message: str) -> NoReturn:
        complain(f"{self.prog}: {message} (see '{self.prog} --help')")
        sys.exit(self.usage_status)
