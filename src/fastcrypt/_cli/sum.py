# SPDX-License-Identifier: Apache-2.0
"""`fastcrypt sum`: what sha256sum does, to the byte and the exit status, for every hash we have.

Names are bytes from end to end, since not every file name is text.
"""

from __future__ import annotations

import argparse
import errno
import io
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence

import fastcrypt

from .checksums import Algorithm, Entry, Reader, Style
from .errors import Failure, Parser, complain
from .names import escape, quote
from .progress import Bar, on_terminal

PROGRAM = "fastcrypt sum"
CHUNK = 256 * 1024  # fits the second-level cache, and releases the GIL

STDIN = b"-"

DESCRIPTION = """\
Print or check digests, in the formats of GNU sha256sum. Without FILE, or where FILE is -, read
standard input."""


class SumParser(Parser):
    usage_status = 1


def parser() -> Parser:
    made = SumParser(prog=PROGRAM, description=DESCRIPTION, usage=f"{PROGRAM} [OPTION]... [FILE]...")
    add = made.add_argument
    add("--version", action="version", version=f"{PROGRAM} {fastcrypt.__version__}")
    add("files", nargs="*", metavar="FILE", help=argparse.SUPPRESS)
    add("-a", "--algorithm", default="sha256", metavar="ALGO", help="the hash (default: sha256)")
    add("-c", "--check", action="store_true", help="read digests from the FILEs and check them")
    for flags, help_text in (  # the last one given holds, and --tag implies --binary
        (("-b", "--binary"), "mark names as binary, with *"),
        (("-t", "--text"), "mark names as text (default)"),
        (("--tag",), "write lines in the BSD format"),
    ):
        mode = flags[-1].removeprefix("--")
        add(*flags, dest="modes", action="append_const", const=mode, default=[], help=help_text)
    add("-z", "--zero", action="store_true", help="end lines with NUL and do not escape names")
    when = made.add_argument_group("with --check")
    when.add_argument("--ignore-missing", action="store_true", help="pass over files that do not exist")
    when.add_argument("--strict", action="store_true", help="fail on lines that are not well formed")
    for flags, help_text in (  # of these three the last one given holds
        (("--quiet",), "print no OK lines"),
        (("--status",), "print nothing; the exit status says it"),
        (("-w", "--warn"), "name lines that are not well formed"),
    ):
        mode = flags[-1].removeprefix("--")
        when.add_argument(*flags, dest="report", action="store_const", const=mode, help=help_text)
    return made


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    made = parser()
    options, operands = list(arguments), []
    if "--" in options:  # argparse does not mix options and operands around it
        cut = options.index("--")
        options, operands = options[:cut], options[cut + 1 :]
    args = made.parse_intermixed_args(options)
    args.files = [os.fsencode(name) for name in [*args.files, *operands]] or [STDIN]
    args.tag = "tag" in args.modes
    args.binary = args.modes[-1:] == ["binary"]
    if args.tag and args.modes[-1] == "text":
        made.error("--tag does not support --text mode")
    if args.check:
        if args.zero:
            made.error("the --zero option is not supported when verifying checksums")
        if args.tag:
            made.error("the --tag option is meaningless when verifying checksums")
        if args.modes:
            made.error("the --binary and --text options are meaningless when verifying checksums")
    for option, given in (
        ("ignore-missing", args.ignore_missing),
        (args.report, args.report),
        ("strict", args.strict),
    ):
        if given and not args.check:
            made.error(f"the --{option} option is meaningful only when verifying checksums")
    return args


# ---- The hashes that the package has ---------------------------------------------------------------


def is_hash(value: object) -> bool:
    shape = ("update", "digest", "hexdigest", "copy", "digest_size", "block_size")
    return isinstance(value, type) and value.__name__.islower() and all(hasattr(value, n) for n in shape)


def algorithms() -> list[str]:
    return [name for name in fastcrypt.__all__ if is_hash(getattr(fastcrypt, name))]


def algorithm(wanted: str) -> Algorithm:
    """By name: sha256, SHA-256 and sha_256 are the same."""
    plain = wanted.lower().translate({ord("-"): None, ord("_"): None, ord("/"): None})
    for name in algorithms():
        if name.replace("_", "") == plain:
            make = getattr(fastcrypt, name)
            return Algorithm(name, make, make().digest_size)
    raise Failure(f"unknown algorithm '{wanted}'; this version has {', '.join(algorithms())}")


# ---- Reading ---------------------------------------------------------------------------------------


def open_file(name: bytes) -> io.FileIO:
    """Unbuffered. io.FileIO refuses directories as the read would."""
    if name == STDIN:
        return io.FileIO(0, closefd=False)
    return io.FileIO(name)


def hash_file(name: bytes, how: Algorithm, bar: Bar) -> bytes:
    state = how.make()
    buffer = bytearray(CHUNK)
    view = memoryview(buffer)
    bar.label(quote(name))
    with open_file(name) as file:
        while count := file.readinto(buffer):
            state.update(view[:count])
            bar.advance(count)
        if count is None:  # a descriptor that does not block, and has nothing now
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    return state.digest()


def report(name: bytes | str, problem: str) -> None:
    complain(f"{PROGRAM}: {name if isinstance(name, str) else quote(name)}: {problem}")


def size_of(names: Iterable[bytes]) -> int | None:
    """Bytes in all, for the bar; None where some file cannot say."""
    total = 0
    for name in names:
        try:
            info = os.fstat(0) if name == STDIN else os.stat(name)
        except OSError:
            continue
        if not stat.S_ISREG(info.st_mode):
            return None
        total += info.st_size
    return total


# ---- Writing ---------------------------------------------------------------------------------------


def write(data: bytes) -> None:
    """All of it to stdout, now: nothing stays in a buffer that a later failure could lose."""
    if not sys.stdout.writable():  # closed: descriptor 1 may be another file by now
        raise Failure(f"write error: {os.strerror(errno.EBADF)}")
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(1, view) :]
        except BrokenPipeError:
            raise
        except OSError as error:
            raise Failure(f"write error: {error.strerror}") from None


def print_sums(args: argparse.Namespace, how: Algorithm) -> int:
    style = Style(tag=args.tag, binary=args.binary, zero=args.zero)
    bar = Bar(size_of(args.files) if on_terminal() else None)
    status = 0
    try:
        for name in args.files:
            try:
                digest = hash_file(name, how, bar)
            except OSError as error:
                with bar.hidden():
                    report(name, error.strerror or str(error))
                status = 1
            else:
                with bar.hidden():
                    write(style.line(how, digest.hex(), name))
    finally:
        bar.close()
    return status


# ---- Checking --------------------------------------------------------------------------------------


def plural(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


class Check:
    """One list of checksums: goes through it, prints a line a file, and sums up."""

    def __init__(self, args: argparse.Namespace, how: Algorithm, reader: Reader, listing: bytes) -> None:
        self.args, self.how, self.reader, self.listing = args, how, reader, listing
        self.shown = "'standard input'" if listing == STDIN else quote(listing)
        self.well_formed = self.malformed = self.unreadable = self.mismatched = self.matched = 0

    def entries(self) -> Iterator[Entry]:
        with open_file(self.listing) as raw, io.BufferedReader(raw) as lines:
            for number, ended in enumerate(lines, 1):
                line = ended.removesuffix(b"\n").removesuffix(b"\r")
                if not line or line.startswith(b"#"):
                    continue
                entry = self.reader.read(line)
                # A list that comes from standard input cannot also name it.
                if entry is None or (self.listing == STDIN and entry.name == STDIN):
                    self.malformed += 1
                    if self.args.report == "warn":
                        tag = self.how.tag.decode()
                        report(self.shown, f"{number}: improperly formatted {tag} checksum line")
                    continue
                self.well_formed += 1
                yield entry

    def say(self, name: bytes, verdict: bytes, bar: Bar) -> None:
        mode = self.args.report
        if mode == "status" or (mode == "quiet" and verdict == b"OK"):
            return
        shown = b"\\" + escape(name) if b"\n" in name else name
        with bar.hidden():
            write(shown + b": " + verdict + b"\n")

    def check(self, entry: Entry, bar: Bar) -> None:
        try:
            digest = hash_file(entry.name, self.how, bar)
        except OSError as error:
            if self.args.ignore_missing and error.errno == errno.ENOENT:
                return
            self.unreadable += 1
            with bar.hidden():
                report(entry.name, error.strerror or str(error))
            self.say(entry.name, b"FAILED open or read", bar)
            return
        if digest == entry.digest:
            self.matched += 1
            self.say(entry.name, b"OK", bar)
        else:
            self.mismatched += 1
            self.say(entry.name, b"FAILED", bar)

    def run(self) -> bool:
        """Whether all is well with this list."""
        entries: Iterable[Entry] = self.entries()
        total = None
        if on_terminal():  # the bar wants to know all sizes first
            entries = list(entries)
            total = size_of(entry.name for entry in entries)
        bar = Bar(total)
        try:
            for entry in entries:
                self.check(entry, bar)
        finally:
            bar.close()
        self.sum_up()
        bad = self.mismatched or self.unreadable or (self.args.strict and self.malformed)
        return bool(self.matched) and not bad

    def sum_up(self) -> None:
        if not self.well_formed:
            report(self.shown, "no properly formatted checksum lines found")
            return
        if self.args.report == "status":
            return
        counts = (
            (self.malformed, "line is improperly formatted", "lines are improperly formatted"),
            (self.unreadable, "listed file could not be read", "listed files could not be read"),
            (self.mismatched, "computed checksum did NOT match", "computed checksums did NOT match"),
        )
        for count, one, many in counts:
            if count:
                complain(f"{PROGRAM}: WARNING: {plural(count, one, many)}")
        if self.args.ignore_missing and not self.matched:
            report(self.shown, "no file was verified")


def check_lists(args: argparse.Namespace, how: Algorithm) -> int:
    good = True
    reader = Reader(how)
    for listing in args.files:
        try:
            good &= Check(args, how, reader, listing).run()
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            report(listing, error.strerror or str(error))
            good = False
    return 0 if good else 1


def run(arguments: Sequence[str]) -> int:
    args = parse(arguments)
    how = algorithm(args.algorithm)
    return check_lists(args, how) if args.check else print_sums(args, how)
