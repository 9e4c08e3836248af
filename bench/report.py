# SPDX-License-Identifier: Apache-2.0
"""A report as Markdown, and the table of ratios in the README."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bench import latency, machine, plots, targets
from bench.interleaved import size_text, time_text

BEGIN, END = "<!-- ratios:begin -->", "<!-- ratios:end -->"
#: operation -> how the README names it.
IN_README = {
    "sha256": "`sha256(m).digest()`",
    "sha256_digest": "`sha256_digest(m)`",
    "sha1": "`sha1(m).digest()`",
    "sha512": "`sha512(m).digest()`",
    "compare_digest": "`compare_digest(a, b)`",
    "gcm_encrypt": "`AESGCM.encrypt`",
    "gcm_decrypt": "`AESGCM.decrypt`",
    "gcm_encrypt_into": "`AESGCM.encrypt_into`",
    "cbc_encrypt": "`AES.cbc_encrypt(out=)`",
    "cbc_decrypt": "`AES.cbc_decrypt(out=)`",
    "ctr": "`AES.ctr(out=)`",
}
KEY_BITS = ("128", "192", "256")
README_SIZES = (16, 32, 64, 256, 1024, 16384, 1 << 20)


class NoMarkers(Exception):
    """The file has no place for the table."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def mark(ratio: float) -> str:
    if ratio < plots.PARITY:
        return "**LOSS**"
    return "parity" if ratio < 1 / plots.PARITY else "win"


# ---- Sections ------------------------------------------------------------------------------------


def head(report: dict[str, Any]) -> Iterator[str]:
    where = report["machine"]
    effort = report["settings"]
    yield "# fastcrypt: benchmark report\n"
    pinned = "no CPU pinned" if effort["pin"] is None else f"CPU {effort['pin']}"
    load = f"{where['load_before'][0]} before, {where.get('load_after', ['?'])[0]} after"
    yield f"Made by `{report['command']}`: {effort['rounds']} interleaved rounds, clock `{where['clock']}`,"
    yield f"{pinned}, load of the machine {load}. Ratios are the rival's median over ours.\n"
    yield f"- Machine: {machine.one_line(where)}, GIL {where['gil']}"
    yield f"- fastcrypt {where['fastcrypt']} ({where['revision']}); kernels: " + ", ".join(
        f"{op} {kernel}" for op, kernel in where["kernels"].items()
    )
    if where["FASTCRYPT_CPU"]:
        yield f"- FASTCRYPT_CPU={where['FASTCRYPT_CPU']}"
    yield f"- Compiler: {where['compiler']}; flags per file are in report.json"
    yield "- Rivals: " + "; ".join(f"{name} {version}" for name, version in where["rivals"].items()) + "\n"


def number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.2f}"


def target_section(report: dict[str, Any]) -> Iterator[str]:
    judged = targets.judge(report)
    missed = [target for target in judged if not target.met and not target.wish]
    yield f"## Targets: {len(judged)} measured, {len(missed)} missed\n"
    rows = (
        (
            target.what,
            target.against,
            f"{number(target.measured)} {target.unit}",
            f"{'>=' if target.at_least else '<='} {number(target.bound)}",
            target.verdict if target.met or target.wish else f"**{target.verdict}**",
        )
        for target in judged
    )
    yield from table(("what", "against", "measured", "wanted", ""), rows)


def result_rows(group: Sequence[dict[str, Any]]) -> Iterator[Sequence[str]]:
    for result in group:
        ours = next(iter(result["samples"]))
        first = True
        for rival, ratio in result["ratio"].items():
            yield (
                size_text(result["size"]) if first else "",
                time_text(result["median"][ours]) if first else "",
                rival,
                time_text(result["median"][rival]),
                f"{ratio['median']:.2f}x",
                f"{ratio['low']:.2f} to {ratio['high']:.2f}",
                mark(ratio["median"]),
            )
            first = False


def ratio_section(report: dict[str, Any], drawn: Sequence[str]) -> Iterator[str]:
    groups = plots.by_operation(report["results"])
    counted = [mark(r["median"]) for _, group in groups for res in group for r in res["ratio"].values()]
    yield (
        f"## Against the rivals: {counted.count('win')} wins, {counted.count('parity')} at parity, "
        f"{counted.count('**LOSS**')} losses\n"
    )
    for file in drawn:
        yield f"![{file.removesuffix('.svg')}]({file})\n"
    for operation, group in groups:
        yield f"### {operation}: `{group[0]['statements']['fastcrypt']}`\n"
        columns = ("size", "fastcrypt", "rival", "its time", "ratio", "quartiles", "")
        yield from table(columns, result_rows(group))


def questions(report: dict[str, Any]) -> Iterator[str]:
    for result in report["results"]:
        if "fastcrypt" in result["samples"]:
            continue
        yield f"### {result['name']}\n"
        rows = (
            (name, f"`{statement}`", time_text(result["median"][name]))
            for name, statement in result["statements"].items()
        )
        yield from table(("", "statement", "median"), rows)
        if result["operation"] == "19 KB record":
            yield from record_shares(result["median"], report.get("record_instructions"))


def record_shares(median: dict[str, float], counted: dict[str, Any] | None) -> Iterator[str]:
    """Where the time of a record goes. The key is set up once; its share is that of a single record."""
    whole, call = median["encrypt_into"], median["empty message"]
    bulk, copy = (whole - call) / whole, median["one copy"] / whole
    set_up = median["key set-up"] / (whole + median["key set-up"])
    yield f"A record by `encrypt_into`: bulk {100 * bulk:.1f}%, the call with its nonce and tag "
    yield f"{100 * call / whole:.1f}%, copies 0% (a copy would be {100 * copy:.1f}%). Were the key set up for"
    yield f"each record: {100 * set_up:.1f}%.\n"
    if counted:
        shares = ", ".join(f"`{name}` {100 * share:.1f}%" for name, share in counted["shares"].items())
        copying = ", ".join(f"`{name}` {count:.0f}" for name, count in counted["copying"].items())
        yield f"Instructions by callgrind: {shares}. Instructions a record in functions that copy:"
        yield f"{copying or 'none'} (the nonce; the record would be 600 of AVX2's).\n"


def native_section(native: dict[str, Any]) -> Iterator[str]:
    if not native:
        return
    yield "## Kernels, called from C\n"
    if found := native.get("sha256_blocks"):
        yield f"sha256_blocks, cycles a block (clock {found['clock']}):\n"
        rows = (
            (row, blocks, f"{values['cycles_minimum']:.1f}", f"{values['cycles_median']:.1f}")
            for row, sizes in found["rows"].items()
            for blocks, values in sizes.items()
        )
        yield from table(("row", "blocks a call", "minimum", "median"), rows)
    for key, without in (
        ("openssl_sha256", "portable sha256 beside libcrypto without SSSE3, AVX, AVX2, BMI and SHA"),
        ("openssl_sha256_without_sha", "sha256 by AVX2 beside libcrypto without SHA"),
    ):
        if found := native.get(key):
            yield f"{without}, 16 KiB:\n"
            rows = (
                (name, f"{v['ns_minimum']:.1f}", f"{v['ns_median']:.1f}", f"{v['ratio']:.3f}x")
                for name, v in found.items()
            )
            yield from table(("", "ns a block, minimum", "median", "ratio"), rows)
    if found := native.get("timingsafe_bcmp"):
        yield from compare_tables(found)
    if found := native.get("aes_modes"):
        yield "AES, cycles a byte (keys: a call), by length of the key:\n"
        rows = (
            (
                suite,
                name,
                *(f"{bits[size]:.2f}" if size in bits else "" for size in KEY_BITS),
            )
            for suite, figures in found.items()
            for name, bits in figures.items()
        )
        yield from table(("suite", "", "128", "192", "256"), rows)


def compare_tables(workloads: dict[str, Any]) -> Iterator[str]:
    """The mixes in the shape of benchstat, then every length."""
    mixes = {name: figures for name, figures in workloads.items() if not name.isdigit()}
    names = list(next(iter(mixes.values())))

    def cell(figures: dict[str, float], name: str) -> str:
        base = figures[targets.BYTE_LOOP]
        change = "" if name == targets.BYTE_LOOP else f" ({100 * (figures[name] / base - 1):+.1f}%)"
        return f"{time_text(figures[name])}{change}"

    yield "timingsafe_bcmp over FreeBSD's mixes of lengths, a call, and the change to the byte loop:\n"
    rows: Iterable[Sequence[str]] = ((n, *(cell(figures, n) for figures in mixes.values())) for n in names)
    yield from table(("", *mixes), rows)
    rows_of = [n for n in names if n.startswith("timingsafe_bcmp")]
    yield "and over fixed lengths, ns a call; (!) is slower than sse2 by more than 5% or 0.5 ns:\n"
    slow = {(row.split()[1], length) for row in rows_of
            for over, length in targets.excesses(workloads, row.split()[1])
            if over > 0 and row.split()[1].startswith("avx")}  # fmt: skip
    rows = (
        (
            length,
            *(f"{figures[n]:.2f}{' (!)' if (n.split()[1], length) in slow else ''}" for n in rows_of),
        )
        for length, figures in workloads.items()
        if length.isdigit()
    )
    yield from table(("bytes", *(n.split()[1] for n in rows_of)), rows)


def import_section(taken: dict[str, Any] | None) -> Iterator[str]:
    if not taken:
        return
    yield "## Import\n"
    units = ("wall_ms", "wall_ms_minimum", "cpu_ms", "resident_kib")
    rows = (
        (module, *(f"{taken[module][unit]:.{0 if unit == 'resident_kib' else 3}f}" for unit in units))
        for module in ("fc_empty", "fastcrypt")
    )
    yield from table(("module", "ms, wall, median", "minimum", "ms, CPU, median", "KiB of memory"), rows)


def chain_section(report: dict[str, Any]) -> Iterator[str]:
    native = report.get("native", {})
    rows = []
    for run in native.get("chain", []):
        worst = number(max(run["ns_wall"])), number(max(run["ns_cpu"]))
        rows.append((f"C, {run['threads']} threads", str(run["hashes"]), *worst))
    for runs in report.get("chain", []):
        rows += [
            (f"Python, {name}, {run['threads']} threads", str(run["hashes"]), number(run["ns_wall"]),
             number(run["ns_cpu"]))
            for name, run in runs.items()
        ]  # fmt: skip
    if rows:
        yield "## Chained 32-byte hashes through the public look-up\n"
        yield from table(("", "hashes a thread", "ns a hash, wall", "CPU"), rows)
        yield "Every chain ended in the digest that is pinned for its length.\n"


def latency_section(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    if found:
        yield "## Rate and latency of one-shots\n\n```"
        yield from latency.lines(found)
        yield "```"


def markdown(report: dict[str, Any], drawn: Sequence[str] = ()) -> str:
    parts = [*head(report), *target_section(report)]
    if report.get("results"):
        parts += [*ratio_section(report, drawn), *questions(report)]
    parts += native_section(report.get("native", {}))
    parts += import_section(report.get("import"))
    parts += chain_section(report)
    parts += latency_section(report.get("latency", []))
    return "\n".join(parts) + "\n"


def write(report: dict[str, Any], directory: Path) -> None:
    """report.json, report.md and the plots."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    drawn = plots.draw(report.get("results", []), machine.one_line(report["machine"]), directory)
    (directory / "report.md").write_text(markdown(report, drawn))


# ---- The README's table --------------------------------------------------------------------------


def ratio_text(ratio: float) -> str:
    return f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.0f}x"


def readme_table(report: dict[str, Any]) -> str:
    """Times as fast as the first rival, by operation and size."""
    by_name = {(r["operation"], r["size"]): r for r in report["results"]}
    sizes = [s for s in README_SIZES if any((op, s) in by_name for op in IN_README)]
    rows = []
    for operation, shown in IN_README.items():
        found = {size: by_name[operation, size] for size in sizes if (operation, size) in by_name}
        rivals = [next(iter(result["ratio"]), None) for result in found.values()]
        if not rivals or rivals[0] is None:
            continue
        ratios = {size: result["ratio"][rivals[0]]["median"] for size, result in found.items()}
        cells = [ratio_text(ratios[size]) if size in ratios else "" for size in sizes]
        rows.append((shown, str(rivals[0]), *cells))
    where = report["machine"]
    rivals_line = "; ".join(f"{name} {version}" for name, version in where["rivals"].items())
    lines = [
        *table(("", "against", *map(size_text, sizes)), rows),
        f"Times as fast as the rival (below 1: slower), medians of {report['settings']['rounds']} "
        f"interleaved rounds on {machine.one_line(where)}. {rivals_line}. AES with 256-bit keys. Kernels: "
        + ", ".join(f"{op} {kernel}" for op, kernel in where["kernels"].items())
        + ". Made by `make bench` and `python -m bench readme`.",
    ]
    return "\n".join(lines)


def rewrite_readme(readme: Path, report: dict[str, Any]) -> None:
    text = readme.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise NoMarkers(f"{readme} must have {BEGIN} and, after it, {END}, once each")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    readme.write_text(f"{before}{BEGIN}\n{readme_table(report)}\n{END}{after}")
