"""Which tool wrote a file, and the data set in it. A further tool is one entry in `READERS`."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from memgauge.model.errors import RequestError
from memgauge.model.storage.curve_files import (
    CURVE_COLUMNS,
    MESS_NAME,
    NOTE_NAME,
    RAMULATOR_COLUMNS,
)
from memgauge.model.storage.files import open_file
from memgauge.model.text import quoted, shortened, shown
from memgauge.model.units import format_bytes
from memgauge.references.foreign import bandwidth, curves, latency, lmbench, perf
from memgauge.references.foreign.parsed import Parsed, unique
from memgauge.references.library import Description, Reference

MOST_BYTES = 4 << 20
"""Of one file; most of these tools print some kilobytes."""
LOOKED_AT_BYTES = 1 << 16
"""Of each file in a directory that is searched, at most."""
FIRST_BYTES = 1 << 12
"""Of those, in which binary data shows: of such a file no more is read."""
MOST_CURVE_BYTES = 1 << 18
MOST_CURVES = 101
NOT_NAMED = "not named in the file"
"""The machine that a file is of."""
_RECORDS_NAME = "records.jsonl"
"""Of a run, which is never a file of another tool."""


class Reader(msgspec.Struct, frozen=True, kw_only=True):
    """One tool: how its output is known, and what reads it."""

    tool: str
    signatures: tuple[re.Pattern[str], ...]
    """All of them are in it."""
    read: Callable[[str], Parsed]


def _reader(tool: str, read: Callable[[str], Parsed], *signatures: str) -> Reader:
    compiled = tuple(re.compile(one, re.MULTILINE | re.ASCII) for one in signatures)
    return Reader(tool=tool, signatures=compiled, read=read)


READERS = (
    _reader("STREAM", bandwidth.stream, r"^STREAM version \$Revision"),
    _reader("Intel MLC", latency.mlc, r"^Intel\(R\) Memory Latency Checker"),
    _reader("likwid-bench", bandwidth.likwid_bench, r"^LIKWID MICRO BENCHMARK"),
    _reader(
        "BabelStream",
        bandwidth.babelstream,
        r"^BabelStream[ \t]*$|^function,num_times,n_elements,sizeof,max_",
    ),
    _reader("multichase -v", latency.multichase, r"^nr_mixer_indices = \d", r"^chase = "),
    _reader("multiload", latency.multiload, r"^Samples[ \t]*,[ \t]*Byte/thd"),
    _reader(
        "lmbench",
        lmbench.lmbench,
        r'^"stride=\d|^"(?:Memory|libc|unrolled) [\w ]{1,30}bandwidth',
    ),
    _reader(
        "sysbench memory",
        bandwidth.sysbench,
        r"^sysbench [0-9]",
        r"^Running memory speed test|^Memory operations type:",
    ),
    _reader("perf stat -j", perf.perf_stat, r'^[ \t]*\{[^\n]{0,400}"counter-value"'),
    _reader("export --format csv-curve", curves.curve_csv, rf"\A{','.join(CURVE_COLUMNS)}$"),
    _reader(
        "export --format ramulator",
        curves.ramulator_csv,
        rf"\A{','.join(map(re.escape, RAMULATOR_COLUMNS))}$",
    ),
)
TOOLS = (
    "STREAM",
    "Intel MLC",
    "likwid-bench",
    "BabelStream",
    "multichase -v",
    "multiload",
    "lmbench",
    "sysbench memory",
    "perf stat -x or -j",
    "Mess",
)
"""Whose output can be read, as messages name it."""


def read_foreign(path: Path) -> Reference | None:
    """The figures in a file or directory that another tool wrote.

    Every figure has a name, a unit and a statistic; tool, version and what its bytes count are
    facts of the data set. Names equal those of a run's points only where both count alike.

    Args:
        path: File of any of `TOOLS`, or a directory of Mess's curves.

    Returns:
        The data set; None where the path is nothing that one of these tools wrote, such as a run.

    Raises:
        RequestError: the output of several tools is in one file, or the file is too large.
    """
    if os.path.isdir(path):  # noqa: PTH112 - never raises
        return _curves(path)
    text = _text(path)
    if text is None:
        return None
    read = _reading(path, text)
    if read is None:
        return None
    if len(text) >= MOST_BYTES:
        raise RequestError(
            f"{shown(path)}: is larger than {format_bytes(MOST_BYTES)}, the limit for the output "
            "of another tool; cut out the part that is meant"
        )
    return _reference(path, read(text))


def _reading(path: Path, text: str) -> Callable[[str], Parsed] | None:
    """What reads a text."""
    found = [one for one in READERS if all(signature.search(text) for signature in one.signatures)]
    if len(found) > 1:
        raise RequestError(
            f"{shown(path)}: holds the output of {' and of '.join(one.tool for one in found)}; "
            "give one file for each tool"
        )
    if found:
        return found[0].read
    if any(perf.is_perf_csv(line) for line in text[:LOOKED_AT_BYTES].splitlines()[:64]):
        return perf.perf_stat
    named = lmbench.BW_MEM_NAME.fullmatch(path.name.lower()[:200])
    if named is None or not lmbench.is_bw_mem(text):
        return None
    return partial(lmbench.bw_mem, operation=named[1])


def not_a_run(path: Path) -> str | None:
    """What is there in the place of a run, in one line.

    Returns:
        None where the path is neither the output of another tool nor a regular file, or where it
        may be records of a run.
    """
    foreign = read_foreign(path)
    if foreign is not None:
        return (
            f"{shown(path)}: is the {foreign.title} and no run; 'memgauge report', 'compare' and "
            "'trend' read it"
        )
    text = _text(path)
    if path.name == _RECORDS_NAME or text is None or text.lstrip()[:1] == "{":
        return None
    return f"{shown(path)}: is neither a run nor the output of {', '.join(TOOLS)}; {_held(text)}"


def no_output(path: Path) -> str:
    """Why there is nothing of another tool there, in one line."""
    text = _text(path)
    if text is None:
        return f"{shown(path)}: is no file of another tool, nor a directory of Mess's curves"
    return f"{shown(path)}: is not the output of {', '.join(TOOLS)}; {_held(text)}"


def _held(text: str) -> str:
    if "\0" in text:
        return "it holds binary data"
    if not text.strip():
        return "it is empty"
    if lmbench.is_bw_mem(text) or re.fullmatch(r"[\s0-9.]{1,400}", text):
        return (
            "it holds bare numbers, which do not tell what they are of: write multichase's with "
            "-v, and those of bw_mem to a file named after what it did, such as bw_mem_rd.txt"
        )
    first = next(line for line in text.splitlines() if line.strip())
    return f"it begins {quoted(first.strip())}"


def _text(path: Path, most_bytes: int = MOST_BYTES) -> str | None:
    """The beginning of a regular file; None where there is none."""
    return _decoded(_begin(path, most_bytes, most_bytes))


def _begin(path: Path, first_bytes: int, most_bytes: int) -> bytes | None:
    """The beginning of a regular file; of one with a zero byte in its first bytes only these."""
    try:
        # Opening a device can be an act of its own: a watchdog starts, a tape is rewound.
        if not stat.S_ISREG(path.stat().st_mode):
            return None
        with open_file(path, sys.maxsize) as file:
            # Nothing at all, of a file of the kernel that is read without waiting, such as its log.
            content = file.read(first_bytes) or b""
            if b"\0" in content:
                return content
            return content + (file.read(most_bytes - len(content)) or b"")
    except (OSError, ValueError):  # a name that no file can have, too
        return None


def _decoded(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "replace").replace("\r\n", "\n")


def is_tool_output(path: Path) -> bool:
    """Whether a file begins as the output of a known tool, or a directory holds curves.

    Only regular files are opened, and at most `LOOKED_AT_BYTES` read of one that begins as text.
    """
    if os.path.isdir(path):  # noqa: PTH112 - never raises
        return is_curves(_names(path))
    content = _begin(path, FIRST_BYTES, LOOKED_AT_BYTES)
    if not content or b"\0" in content[:FIRST_BYTES]:
        return False
    try:
        return _reading(path, _decoded(content) or "") is not None
    except RequestError:  # the output of several, which reading it states
        return True


def is_curves(names: list[str]) -> bool:
    """Whether files of these names are the curves of a directory, and no run."""
    return _RECORDS_NAME not in names and any(map(MESS_NAME.fullmatch, names))


def _curves(path: Path) -> Reference | None:
    names = _names(path)
    if not is_curves(names):
        return None
    wanted = [name for name in names if MESS_NAME.fullmatch(name)][:MOST_CURVES]
    found = {
        name: text
        for name in [*wanted, NOTE_NAME]
        if (text := _text(path / name, MOST_CURVE_BYTES)) is not None
    }
    return _reference(path, curves.mess(found))


def _names(path: Path) -> list[str]:
    try:
        return sorted(os.listdir(path))  # noqa: PTH208 - names alone
    except OSError:
        return []


def _reference(path: Path, parsed: Parsed) -> Reference:
    figures, repeated = unique(parsed.figures)
    tool = shortened(f"{parsed.tool} {parsed.version}".strip())
    none = [] if figures else ["no figure could be read from it"]
    conditions = [f"counted: {parsed.counts}", *map(shortened, filter(None, parsed.conditions))]
    return Reference(
        name=shown(path),
        tool=tool,
        apart=parsed.apart,
        description=Description(
            title=f"output of {tool}",
            machine=NOT_NAMED,
            study="a file of another tool, not measured by memgauge",
            conditions=conditions,
            caveats=[shortened(one, 400) for one in (*none, *parsed.caveats, *repeated)],
        ),
        columns=[shortened(name) for name in parsed.columns],
        rows=[
            {shortened(name): shortened(row.get(name, "")) for name in parsed.columns}
            for row in parsed.rows
        ],
        read_figures=figures,
    )
