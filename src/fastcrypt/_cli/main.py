# SPDX-License-Identifier: Apache-2.0
"""Choose the command, run it, turn every end into an exit status."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Callable, Sequence

from .. import __version__
from .errors import Failure, Parser, complain

INTERRUPTED = 130  # 128 + SIGINT, as a shell reports it
PIPE_CLOSED = 141  # 128 + SIGPIPE

COMMANDS = """\
commands:
  info     the CPU's features, the kernel that runs for each op and why no better one, the build
  sum      print or check digests of files, as sha256sum does
  bench    fastcrypt beside hashlib, hmac, cryptography and PyCryptodome

Without a command: info, then a quick bench. 'fastcrypt COMMAND --help' has the options.
"""


def info(arguments: Sequence[str]) -> int:
    from . import info

    return info.run(arguments)


def sum_(arguments: Sequence[str]) -> int:
    from . import sum

    return sum.run(arguments)


def bench(arguments: Sequence[str]) -> int:
    from . import bench

    return bench.run(arguments)


def overview(_: Sequence[str]) -> int:
    info([])
    print()
    return bench(["--quick"])


class ClosedOutput(io.TextIOBase):
    """Stdout where the shell closed it (>&-): Python has None there, and print() drops what it is given."""

    def write(self, _: str) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


RUN: dict[str, Callable[[Sequence[str]], int]] = {"info": info, "sum": sum_, "bench": bench}


def choose(argv: Sequence[str]) -> tuple[str, Callable[[Sequence[str]], int], Sequence[str]]:
    """The program's name in messages, what to run, and its arguments.

    The command comes first and takes all that follows; argparse would want to look at it too.
    """
    if argv and argv[0] in RUN:
        return f"fastcrypt {argv[0]}", RUN[argv[0]], argv[1:]
    parser = Parser(
        prog="fastcrypt",
        description="Hashing, AES and constant-time comparison on the best kernels of this CPU.",
        epilog=COMMANDS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="fastcrypt [-h] [--version] [COMMAND ...]",
    )
    parser.add_argument("--version", action="version", version=f"fastcrypt {__version__}")
    if argv and not argv[0].startswith("-"):
        parser.error(f"unknown command '{argv[0]}'")
    parser.parse_args(argv)
    return "fastcrypt", overview, []


def main(argv: Sequence[str] | None = None) -> int:
    name = "fastcrypt"
    try:
        if sys.stdout is None:
            sys.stdout = ClosedOutput()
        name, run, arguments = choose(sys.argv[1:] if argv is None else argv)
        status = run(arguments)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return PIPE_CLOSED
    except Failure as failure:
        complain(f"{name}: {failure}")
        return failure.status
    except OSError as error:  # of stdout: commands report their own files
        complain(f"{name}: write error: {error.strerror}")
        return 1
