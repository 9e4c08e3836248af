# SPDX-License-Identifier: Apache-2.0
"""The fastcrypt command: info, sum (against GNU sha256sum), bench; wrong usage and how it ends."""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import inspect
import json
import os
import pty
import random
import re
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import fastcrypt
from fastcrypt import _core
from fastcrypt._cli import cases, checksums, info, main, measure, names, plot, table
from fastcrypt._cli import sum as sum_command

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, "-m", "fastcrypt"]
SUM = [*COMMAND, "sum"]
SHA256SUM = ["sha256sum"]  # by this name, as it tells its own in messages

Run = tuple[int, bytes, bytes]


def call(command: Sequence[str | bytes], *, cwd: Path | None = None, stdin: bytes = b"", **env: str) -> Run:
    environment = {**os.environ, "LC_ALL": "C.UTF-8", **env}
    done = subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, check=False, env=environment)
    return done.returncode, done.stdout, done.stderr


def both(arguments: Sequence[str | bytes], cwd: Path, stdin: bytes = b"") -> tuple[Run, Run]:
    """sha256sum and ours, the latter under the name of the former."""
    theirs = call([*SHA256SUM, *arguments], cwd=cwd, stdin=stdin)
    status, out, err = call([*SUM, *arguments], cwd=cwd, stdin=stdin)
    return theirs, (status, out, re.sub(rb"(?m)^fastcrypt sum: ", b"sha256sum: ", err))


def with_modules_blocked(blocked: Sequence[str], arguments: Sequence[str]) -> Run:
    """The command in an environment that lacks some packages."""
    code = f"import sys\nfor name in {list(blocked)!r}: sys.modules[name] = None\n"
    code += f"from fastcrypt._cli.main import main\nsys.exit(main({list(arguments)!r}))"
    return call([sys.executable, "-c", code])


def assert_one_line(stderr: bytes, start: str) -> None:
    assert stderr.startswith(start.encode())
    assert stderr.count(b"\n") == 1
    assert b"Traceback" not in stderr


# ---- sum: printing ---------------------------------------------------------------------------------

NAMES = [
    *(b"plain", b"two words", b" lead", b"*star", b"-dash", b"it's", b"new\nline", b"back\\slash", b"c\rr"),
    *(b"\xff\xfe", "\u00e9t\u00e9".encode(), b"$x", b'"q"', b"a:b", b"~t", b"#h", b"tab\tbell\a", b"'\n'"),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    for name in NAMES:
        (folder / os.fsdecode(name)).write_bytes(b"content of " + name)
    (folder / "long").write_bytes(bytes(range(256)) * 5000)
    (folder / "empty").write_bytes(b"")
    (folder / "dir").mkdir()
    return folder


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["-b"],
        ["-t"],
        ["--binary"],
        ["-z"],
        ["--zero", "-b"],
        ["--tag"],
        ["-z", "--tag"],
        ["-bt"],
        ["-tb"],
        ["-t", "--tag"],
    ],
    ids=" ".join,
)
def test_lines_are_those_of_sha256sum(files: Path, options: list[str]) -> None:
    operands = [*NAMES, b"long", b"empty", b"-", b"dir", b"missing", b"no such\nfile", b"/proc/self/mem", b""]
    theirs, ours = both([*options, "--", *operands], files, stdin=b"from stdin")
    assert theirs[0] == 1
    assert theirs[1].count(b"content") == 0  # digests, not an echo
    assert ours == theirs


def test_every_missing_name_is_quoted_as_gnu_does(files: Path) -> None:
    odd = [b"x'$", b"a{b}", b"a=b", b"p%q", b"a*", b"", b"\x7f", b"\xc3", b"~none", b"#none", b"no#ne~"]
    missing = [*(b"no " + name for name in NAMES), *odd]
    theirs, ours = both(["--", *missing], files)
    assert ours == theirs


def test_a_digest_that_hashlib_confirms(files: Path) -> None:
    digest = hashlib.sha256((files / "long").read_bytes()).hexdigest()
    assert call([*SUM, "long"], cwd=files) == (0, f"{digest}  long\n".encode(), b"")


def test_options_after_operands_and_after_a_double_dash(files: Path) -> None:
    theirs, ours = both(["plain", "-b", "long"], files)
    assert theirs[0] == 0
    assert ours == theirs
    theirs, ours = both(["-b", "--", "-dash", "-b"], files)
    assert theirs[0] == 1  # there is no file -b
    assert ours == theirs


def test_no_operand_is_standard_input(files: Path) -> None:
    theirs, ours = both([], files, stdin=b"abc")
    assert theirs[1].startswith(b"ba7816bf")
    assert ours == theirs


def test_permission_denied(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.write_bytes(b"x")
    locked.chmod(0)
    theirs, ours = both(["locked", "/proc/self/mem"], tmp_path)  # root may read the first one
    assert theirs[0] == 1
    assert ours == theirs


def test_closed_standard_input_and_output(files: Path) -> None:
    for redirection in ("<&-", ">&-", ">/dev/full", ">&- <&-"):
        shell = '"$@" ' + redirection
        theirs = call(["sh", "-c", shell, "sh", *SHA256SUM], cwd=files)
        ours = call(["sh", "-c", shell, "sh", *SUM], cwd=files)
        assert theirs[0] == 1, redirection
        assert ours[:2] == theirs[:2], redirection
        assert_one_line(ours[2], "fastcrypt sum: ")


# ---- sum: checking ---------------------------------------------------------------------------------


def random_line(source: random.Random) -> bytes:
    """A line of a list: mostly nearly right."""
    name = source.choice([*NAMES, b"missing", b"dir", b"-"])
    digest = hashlib.sha256(b"content of " + name).hexdigest().encode()
    digest = source.choice(
        [digest] * 5 + [digest.upper(), digest[:-1], digest[:-1] + b"0", digest[:-1] + b"g"]
    )
    escaped = source.random() < 0.5
    shown = name.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r") if escaped else name
    line = source.choice(
        [
            *(digest + b"  " + shown, digest + b" *" + shown, digest + b"\t" + shown, digest + b" " + shown),
            *(b"SHA256 (" + shown + b") = " + digest, b"SHA256(" + shown + b")\t=\t" + digest),
            *(b"SHA512 (" + shown + b") = " + digest, b"SHA256 " + digest + b"  " + shown),
            *(b"SHA256 (" + shown + b") = " + digest + b" ", digest, digest + b" ", digest + b"  "),
            *(b"junk", b"", b"# comment", b"\\", b"SHA256", b"SHA256 ()", b"SHA256 (x) " + digest),
        ]
    )
    line = (b"\\" if escaped else b"") + line
    if source.random() < 0.1:
        line = source.choice([b" ", b"\t", b" \t "]) + line
    if source.random() < 0.05:
        line = line.replace(b"e", b"\0", 1)
    return line + (b"\r" if source.random() < 0.1 else b"")


@pytest.mark.parametrize("seed", range(8))
def test_checking_agrees_with_sha256sum_on_random_lists(files: Path, tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)
    lists = []
    for number in range(40):
        path = tmp_path / f"list {number}"
        lines = [random_line(source) for _ in range(source.randint(0, 6))]
        path.write_bytes(b"\n".join(lines) + source.choice([b"", b"\n"]))
        lists.append(str(path))
    # GNU decides once a run which text format the lists have: short runs see more of both.
    for part in range(0, 40, 8):
        options = [
            o for o in ("--quiet", "--status", "-w", "--strict", "--ignore-missing") if source.random() < 0.3
        ]
        source.shuffle(options)
        theirs, ours = both(["-c", *options, *lists[part : part + 8]], files)
        assert ours == theirs, (options, lists[part : part + 8])


@pytest.mark.parametrize("options", [[], ["--tag"], ["-b"]], ids=" ".join)
def test_what_sum_prints_it_accepts(files: Path, options: list[str]) -> None:
    for command in (SHA256SUM, SUM):
        listed = call([*command, *options, "--", *NAMES], cwd=files)[1]
        for checker in (SHA256SUM, SUM):
            status, out, err = call([*checker, "-c"], cwd=files, stdin=listed)
            assert (status, err) == (0, b"")
            assert out.count(b": OK\n") == len(NAMES)


@pytest.mark.parametrize(
    ("listing", "options"),
    [
        (b"", []),
        (b"junk\n", []),
        (b"junk\n", ["-w", "--strict"]),
        (b"@plain\njunk\n", []),
        (b"@plain\njunk\n", ["--strict"]),
        (b"@plain\n@missing\n", []),
        (b"@plain\n@missing\n", ["--ignore-missing"]),
        (b"@missing\n", ["--ignore-missing"]),
        (b"@missing\n", ["--ignore-missing", "--status"]),
        (b"@plain\n!long\n", []),
        (b"@plain\n!long\n", ["--quiet"]),
        (b"@plain\n!long\n!empty\n", ["--status"]),
        (b"@plain\n!dir\n", ["--ignore-missing"]),
        (b"@-\n", []),
    ],
)
def test_verdicts_and_exit_statuses(files: Path, listing: bytes, options: list[str]) -> None:
    """@NAME stands for a right line, !NAME for one with the digest of something else."""

    def line(match: re.Match[bytes]) -> bytes:
        right = b"content of " + match[2] if match[1] == b"@" else b"something else"
        return hashlib.sha256(right).hexdigest().encode() + b"  " + match[2]

    text = re.sub(rb"(?m)^([@!])(.*)$", line, listing)
    theirs, ours = both(["-c", *options], files, stdin=text)
    assert ours == theirs


def test_lists_that_cannot_be_read(files: Path) -> None:
    theirs, ours = both(["-c", "missing list"], files)
    assert ours == theirs
    status, out, err = call([*SUM, "-c", "dir"], cwd=files)
    assert (status, out, err) == (1, b"", b"fastcrypt sum: dir: Is a directory\n")


@pytest.mark.parametrize(
    "arguments",
    [
        *(["--quiet", "x"], ["--status", "x"], ["--warn", "x"], ["--strict", "x"], ["--ignore-missing", "x"]),
        *(
            ["-c", "-z", "x"],
            ["-c", "--tag", "x"],
            ["-cb", "x"],
            ["-ct", "x"],
            ["--tag", "-t", "x"],
            ["-b", "--tag", "-t", "-c", "x"],
        ),
    ],
    ids=" ".join,
)
def test_wrong_usage_of_sum(tmp_path: Path, arguments: list[str]) -> None:
    theirs = call([*SHA256SUM, *arguments], cwd=tmp_path)
    ours = call([*SUM, *arguments], cwd=tmp_path)
    assert ours[:2] == theirs[:2] == (1, b"")
    message = theirs[2].split(b"\n")[0].removeprefix(b"sha256sum: ").decode()
    assert_one_line(ours[2], f"fastcrypt sum: {message} (see 'fastcrypt sum --help')")


def test_unknown_options_and_algorithms(tmp_path: Path) -> None:
    status, out, err = call([*SUM, "--bogus"], cwd=tmp_path)
    assert (status, out) == (1, b"")
    assert_one_line(err, "fastcrypt sum: unrecognized arguments: --bogus")
    status, out, err = call([*SUM, "-a", "rot13", "x"], cwd=tmp_path)
    assert (status, out) == (1, b"")
    assert_one_line(
        err, f"fastcrypt sum: unknown algorithm 'rot13'; this version has {sum_command.algorithms()[0]}"
    )


def test_algorithms_are_the_hash_classes_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "sha256" in sum_command.algorithms()
    for name in sum_command.algorithms():
        assert isinstance(getattr(fastcrypt, name)().digest(), bytes)
    for spelling in ("sha256", "SHA256", "sha-256", "SHA_256"):
        assert sum_command.algorithm(spelling).make is fastcrypt.sha256

    class blake5(hashlib.sha512().__class__):  # type: ignore[misc]
        """A hash that a later version might bring."""

        def __new__(cls) -> Any:
            return hashlib.sha512()

    monkeypatch.setattr(fastcrypt, "blake5", blake5, raising=False)
    monkeypatch.setattr(fastcrypt, "__all__", [*fastcrypt.__all__, "blake5"])
    found = sum_command.algorithm("Blake-5")
    assert (found.name, found.tag, found.digest_size) == ("blake5", b"BLAKE5", 64)


def test_unescape_accepts_what_escape_writes() -> None:
    for name in NAMES:
        assert names.unescape(names.escape(name)) == name
    for wrong in (b"\\", b"a\\", b"\\x", b"\\\\\\", b"nul\0"):
        assert names.unescape(wrong) is None


def test_the_first_line_decides_what_a_leading_space_means() -> None:
    def read(*lines: bytes) -> list[bytes | None]:
        how = checksums.Algorithm("sha256", fastcrypt.sha256, 32)
        reader = checksums.Reader(how)
        return [entry.name if entry else None for entry in map(reader.read, lines)]

    digest = b"0" * 64
    assert read(digest + b"  x", digest + b" x") == [b"x", None]
    assert read(digest + b" x", digest + b"  x") == [b"x", b" x"]


# ---- The terminal, signals, pipes ------------------------------------------------------------------


def on_terminal(code: str, cwd: Path) -> tuple[int, bytes, bytes]:
    """Run Python code with stderr on a terminal: exit status, stdout, what the terminal got."""
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=child,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(child)
    shown = b""
    while select.select([parent], [], [], 60)[0]:
        try:
            got = os.read(parent, 65536)
        except OSError:  # the other side is closed
            break
        if not got:
            break
        shown += got
    os.close(parent)
    out, _ = process.communicate(timeout=60)
    return process.returncode, out, shown


BAR = """
import sys
from fastcrypt._cli import progress
progress.PATIENCE = {patience}
{before}
from fastcrypt._cli.main import main
sys.exit(main({arguments}))
"""


@pytest.mark.parametrize("check", [False, True], ids=["print", "check"])
def test_a_bar_on_a_terminal(files: Path, tmp_path: Path, check: bool) -> None:
    expected = call([*SHA256SUM, "long", "plain"], cwd=files)[1]
    arguments = ["sum", "long", "plain"]
    if check:
        (tmp_path / "list").write_bytes(expected)
        arguments = ["sum", "-c", str(tmp_path / "list")]
        expected = b"long: OK\nplain: OK\n"
    code = BAR.format(patience=0, before="", arguments=arguments)
    status, out, shown = on_terminal(code, files)
    assert (status, out) == (0, expected)
    assert b"long" in shown
    assert b"\x1b[" in shown


def test_no_bar_for_short_work_or_without_rich(files: Path) -> None:
    expected = call([*SHA256SUM, "long"], cwd=files)[1]
    for patience, before in ((60, ""), (0, "sys.modules['rich'] = None")):
        code = BAR.format(patience=patience, before=before, arguments=["sum", "long"])
        assert on_terminal(code, files) == (0, expected, b"")


def test_interrupt_is_130_without_a_trace(files: Path) -> None:
    process = subprocess.Popen(
        [*SUM, "plain", "-"], cwd=files, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline()  # it waits for standard input now
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"")


@pytest.mark.parametrize("arguments", [["sum", "plain"], ["info"], ["info", "--json"]], ids=" ".join)
def test_a_closed_pipe_is_quiet(files: Path, arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=files, stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_full_disk_is_one_line() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, "info"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert_one_line(done.stderr, "fastcrypt info: write error: No space left on device")


# ---- The command itself ----------------------------------------------------------------------------


def test_import_does_not_load_the_command() -> None:
    code = (
        "import sys, fastcrypt; print([m for m in sys.modules if m in ('argparse', 'rich') or '_cli' in m])"
    )
    assert call([sys.executable, "-c", code]) == (0, b"[]\n", b"")


def test_the_script_is_the_module() -> None:
    (script,) = entry_points(group="console_scripts", name="fastcrypt")
    assert script.value == "fastcrypt_command:main"
    assert "return main()" in inspect.getsource(script.load())


def script() -> str:
    found = Path(sys.executable).with_name("fastcrypt")
    assert found.exists(), "pip has not installed the command"
    return str(found)


@pytest.mark.parametrize("arguments", [[], ["info"], ["sum", "x"], ["--version"]], ids=" ".join)
def test_a_wrong_setting_is_one_line(arguments: list[str]) -> None:
    status, out, err = call([script(), *arguments], FASTCRYPT_CPU="scalar,-nope")
    assert (status, out) == (2, b"")
    assert_one_line(err, "fastcrypt: FASTCRYPT_CPU: unknown word '-nope'. Valid: ")


def test_an_interrupt_before_the_command_has_started() -> None:
    """While the package is being imported: a finder that interrupts in the place of the user."""
    code = """
import sys, signal
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "fastcrypt":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
import fastcrypt_command
sys.exit(fastcrypt_command.main())
"""
    assert call([sys.executable, "-c", code]) == (130, b"", b"")


@pytest.mark.parametrize("arguments", [["info"], ["info", "--json"], []], ids=" ".join)
def test_closed_standard_output_is_a_write_error(arguments: list[str]) -> None:
    status, out, err = call(["sh", "-c", '"$@" >&-', "sh", *COMMAND, *arguments])
    assert (status, out) == (1, b"")
    assert_one_line(err, "fastcrypt")
    assert err.endswith(b": write error: Bad file descriptor\n")


def test_version_help_and_wrong_commands() -> None:
    assert call([*COMMAND, "--version"]) == (0, f"fastcrypt {fastcrypt.__version__}\n".encode(), b"")
    version = f"fastcrypt sum {fastcrypt.__version__}\n".encode()
    assert call([*SUM, "--version"]) == (0, version, b"")
    for arguments in (["--help"], ["info", "--help"], ["sum", "--help"], ["bench", "--help"]):
        status, out, err = call([*COMMAND, *arguments])
        assert (status, err) == (0, b"")
        assert b"usage" in out.lower()
    for arguments, text in (
        (["nonsense"], "fastcrypt: unknown command 'nonsense'"),
        (["--nonsense"], "fastcrypt: unrecognized arguments: --nonsense"),
        (["info", "x"], "fastcrypt info: unrecognized arguments: x"),
        (["bench", "--plot"], "fastcrypt bench: argument --plot: expected one argument"),
        (["bench", "--plot", "x.gif"], "fastcrypt bench: --plot x.gif: the name must end in .svg or .png"),
        (["bench", "--only", "nothing"], "fastcrypt bench: --only nothing: no operation"),
    ):
        status, out, err = call([*COMMAND, *arguments])
        assert (status, out) == (2, b"")
        assert_one_line(err, text)


def test_without_a_command_info_and_a_quick_bench(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Sequence[str]] = []

    def bench(arguments: Sequence[str]) -> int:
        asked.append(arguments)
        return 0

    monkeypatch.setattr(main, "bench", bench)
    assert main.main([]) == 0
    assert asked == [["--quick"]]
    assert "Kernels that run" in capsys.readouterr().out


# ---- info ------------------------------------------------------------------------------------------


def test_info_as_json_is_what_the_package_says() -> None:
    status, out, err = call([*COMMAND, "info", "--json"])
    assert (status, err) == (0, b"")
    data = json.loads(out)
    assert data["version"] == fastcrypt.__version__
    assert {op: found["kernel"] for op, found in data["ops"].items()} == fastcrypt.kernels()
    assert data["features"] == sorted(fastcrypt.cpu_features())
    build = fastcrypt.build_info()
    assert data["table_is_read_only"] == build["table_is_read_only"]
    assert {name: build[name] for name in data["build"]} == data["build"]
    listed = [(op, row["name"]) for op, found in data["ops"].items() for row in found["rows"]]
    assert sorted(listed) == sorted((row["op"], row["name"]) for row in _core.rows())
    for found in data["ops"].values():
        (chosen,) = [row for row in found["rows"] if row["chosen"]]
        assert (chosen["name"], chosen["why_not"]) == (found["kernel"], None)
        assert all(row["why_not"] for row in found["rows"] if not row["chosen"])


def test_info_says_what_fastcrypt_cpu_removed() -> None:
    status, out, _ = call([*COMMAND, "info"], FASTCRYPT_CPU="scalar")
    assert status == 0
    text = re.sub(r"\s+", " ", out.decode())
    assert "FASTCRYPT_CPU scalar" in text
    assert "Features none" in text
    for row in _core.rows():
        if row["runnable"] and row["features"]:
            assert f"not {row['name']}: FASTCRYPT_CPU removed {', '.join(sorted(row['features']))}" in text


def test_info_names_the_flags_of_each_portable_file() -> None:
    build = fastcrypt.build_info()
    text = call([*COMMAND, "info"])[1].decode()
    assert build["compiler"] in text
    common = text[text.index("Flags, C ") :].split("csrc/")[0].split()[2:]
    for name, flags in build["flags"].items():
        if name.startswith("csrc/portable/"):
            (line,) = re.findall(rf"^  {re.escape(name)} +(.*)$", text, re.M)
            assert sorted([*common, *line.split()]) == sorted(flags.split())


def test_why_a_row_does_not_run() -> None:
    row = {"built": True, "features": frozenset({"sse2", "avx2"})}
    everything = frozenset({"sse2", "avx2"})
    assert info.why_not({**row, "built": False}, everything, everything) == "not in this build"
    assert info.why_not(row, frozenset({"sse2"}), frozenset()) == "the CPU lacks avx2"
    assert info.why_not(row, everything, frozenset({"sse2"})) == "FASTCRYPT_CPU removed avx2"
    assert info.why_not(row, everything, everything) == "a better row runs"


# ---- bench -----------------------------------------------------------------------------------------


def result(operation: str, size: int, **seconds: float) -> measure.Result:
    return measure.Result(operation, size, {name: [time] * 3 for name, time in seconds.items()})


RESULTS = [
    result("hash", 0, fastcrypt=1e-7, hashlib=4e-7, cryptography=9.9e-6),
    result("hash", 1 << 20, fastcrypt=1e-3, hashlib=9.3e-4, cryptography=1e-3),
    result("compare", 1024, fastcrypt=5e-8, hmac=5.5e-7),
]


def test_losses_are_shown_as_losses() -> None:
    lines = table.plain(RESULTS)
    assert re.fullmatch(r"hash +0 B +100 ns +400 ns 4.00x +9.90 us 99.0x", lines[1])
    assert re.fullmatch(r" +1 MiB +1.00 ms +930 us 0.93x slower +1.00 ms 1.00x", lines[2])
    assert re.fullmatch(r"compare +1 KiB +50 ns +550 ns 11.0x +-", lines[3])
    assert table.ratio_text(0.994) == "0.99x slower"
    assert table.ratio_text(0.996) == "1.00x"


def test_the_median_decides() -> None:
    found = measure.Result("x", 1, {"fastcrypt": [1.0, 2.0, 90.0], "hashlib": [6.0, 0.1, 4.0]})
    assert found.ratio("hashlib") == 2.0
    assert found.as_dict()["median"] == {"fastcrypt": 2.0, "hashlib": 4.0}


def test_every_case_gives_one_answer() -> None:
    for case in cases.all_cases():
        measure.check_answers(case)
        assert case.peers, case.operation  # the tests' environment has every peer


def test_contenders_that_disagree_are_not_timed() -> None:
    ours = cases.Contender("fastcrypt", "r = 1", {})
    wrong = cases.Contender("hashlib", "r = 2", {})
    with pytest.raises(Exception, match="fastcrypt and hashlib disagree"):
        measure.measure(cases.Case("x", 1, ours, [wrong]), measure.QUICK)


def test_rounds_are_interleaved(monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[str] = []

    class Timer:
        def __init__(self, name: str) -> None:
            self.name = name

        def timeit(self, number: int) -> float:
            log.append(self.name)
            return 3.0 * number

    monkeypatch.setattr(measure, "prepare", lambda contender, seconds: (Timer(contender.name), 7))
    ours, *peers = [cases.Contender(name, "r = 1", {}) for name in ("fastcrypt", "hashlib", "cryptography")]
    found = measure.measure(cases.Case("x", 1, ours, peers), measure.Effort(rounds=3, sample=1))
    assert log == [
        *("fastcrypt", "hashlib", "cryptography"),
        *("hashlib", "cryptography", "fastcrypt"),
        *("cryptography", "fastcrypt", "hashlib"),
    ]
    assert found.samples == {name: [3.0] * 3 for name in ("fastcrypt", "hashlib", "cryptography")}


def test_calls_fill_the_time_of_a_sample() -> None:
    timer, number = measure.prepare(cases.Contender("x", "r = sum(range(1000))", {}), 0.01)
    assert 0.002 < timer.timeit(number) < 0.1


def test_bench_writes_a_table_json_and_a_chart(tmp_path: Path) -> None:
    arguments = ["bench", "--quick", "--only", "compare", "--json", "b.json", "--plot", "b.svg"]
    status, out, err = call([*COMMAND, *arguments], cwd=tmp_path)
    assert (status, err) == (0, b"")
    for word in (b"compare_digest(a, b)", b"hashlib / hmac", b"cryptography", b"64 KiB", b"medians of"):
        assert word in out
    data = json.loads((tmp_path / "b.json").read_text())
    assert data["kernels"] == fastcrypt.kernels()
    assert data["compiler"] == fastcrypt.build_info()["compiler"]
    assert {"fastcrypt", "hashlib", "cryptography", "PyCryptodome"} == set(data["versions"])
    assert [found["size"] for found in data["results"]] == list(cases.COMPARE_SIZES)
    for found in data["results"]:
        assert len(found["samples"]["hmac"]) == data["rounds"]
        assert found["ratio"]["hmac"] == pytest.approx(found["median"]["hmac"] / found["median"]["fastcrypt"])
    assert b"<svg" in (tmp_path / "b.svg").read_bytes()[:500]


def test_bench_json_alone_on_stdout() -> None:
    status, out, _ = call([*COMMAND, "bench", "--quick", "--only", "compare", "--json", "-"])
    assert status == 0
    assert json.loads(out)["results"]


def test_charts(tmp_path: Path) -> None:
    plot.draw(RESULTS, "a machine", str(tmp_path / "c.png"))
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    plot.draw(RESULTS, "a machine", str(tmp_path / "c.svg"))
    assert "<!-- hash -->" in (tmp_path / "c.svg").read_text()  # text is drawn, and named in a comment
    with pytest.raises(Exception, match="No such file"):
        plot.draw(RESULTS, "a machine", str(tmp_path / "none" / "c.png"))


def test_a_chart_without_matplotlib_is_one_line() -> None:
    status, out, err = with_modules_blocked(["matplotlib"], ["bench", "--plot", "x.svg"])
    assert (status, out) == (1, b"")
    assert err == b'fastcrypt bench: --plot needs matplotlib: pip install "fastcrypt[cli]"\n'


def test_bench_without_extras_and_peers() -> None:
    blocked = ["rich", "matplotlib", "cryptography", "Crypto"]
    status, out, err = with_modules_blocked(blocked, ["bench", "--quick", "--only", "digest(a"])
    assert (status, err) == (0, b"")
    assert b"hashlib / hmac" in out
    assert b"pip install cryptography pycryptodome" in out
    status, out, err = with_modules_blocked(blocked, ["info"])
    assert (status, err) == (0, b"")


def test_bench_files_that_cannot_be_written(tmp_path: Path) -> None:
    status, _, err = call(
        [*COMMAND, "bench", "--quick", "--only", "compare", "--json", "no/b.json"], cwd=tmp_path
    )
    assert status == 1
    assert_one_line(err, "fastcrypt bench: no/b.json: No such file or directory")


def test_bench_on_a_terminal_has_colour(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    table.show(RESULTS)
    out = capsys.readouterr().out
    assert "\x1b[31m0.93x slower" in out
    assert "\x1b[32m4.00x" in out


# ---- The demo --------------------------------------------------------------------------------------


def load_demo() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fastcrypt_demo", ROOT / "bench/demo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def quiet_demo(monkeypatch: pytest.MonkeyPatch) -> tuple[ModuleType, list[tuple[str, ...]]]:
    demo, shown = load_demo(), list[tuple[str, ...]]()
    monkeypatch.setattr(demo, "show", lambda *arguments: shown.append(arguments))
    return demo, shown


def test_the_demo(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    demo, shown = quiet_demo(monkeypatch)
    assert demo.main() == 0
    out = capsys.readouterr().out
    assert f"the {len(demo.project_files())} files of this project" in out
    assert "every line is equal to that of sha256sum" in out
    assert out.count("InvalidTag") == 2
    assert shown == [("info",), ("bench", "--quick")]


def test_the_demo_fails_on_a_mismatch(monkeypatch: pytest.MonkeyPatch) -> None:
    demo, _ = quiet_demo(monkeypatch)
    monkeypatch.setattr(demo, "with_sha256sum", lambda files: (b"0" * 64 + b"  x\n", "nobody"))
    assert demo.main() == 1


def test_the_demo_fails_where_a_forgery_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    demo, _ = quiet_demo(monkeypatch)
    monkeypatch.setattr(demo, "hash_the_project", lambda files: None)
    monkeypatch.setattr(demo, "is_refused", lambda *arguments: False)
    assert demo.main() == 1


def test_the_demo_without_sha256sum(monkeypatch: pytest.MonkeyPatch) -> None:
    demo, _ = quiet_demo(monkeypatch)
    files = demo.project_files()[:5]
    expected = demo.with_sha256sum(files)[0]
    monkeypatch.setattr(demo.shutil, "which", lambda name: None)
    lines, judge = demo.with_sha256sum(files)
    assert lines == expected
    assert "no sha256sum" in judge


def test_parse_returns_bytes_names() -> None:
    args: argparse.Namespace = sum_command.parse(["a", "--", "\udcff"])
    assert args.files == [b"a", b"\xff"]
