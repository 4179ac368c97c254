"""lmbench 3: latency by `lat_mem_rd`, bandwidth by `bw_mem`, alone or in a results file."""

from __future__ import annotations

import re
from itertools import islice

from memgauge.references.foreign.parsed import (
    MB_PER_S,
    MOST_ROWS,
    Parsed,
    figure,
    number,
    part,
    scaled,
)
from memgauge.references.library import PublishedFigure

BW_MEM_NAME = re.compile(
    r"(?:.*[^a-z])?bw_mem[^a-z]?(?:.*[^a-z])?(rdwr|rd|wr|cp|fwr|frd|fcp|bzero|bcopy)(?:[^a-z].*)?"
)
"""Of a file: `bw_mem_rd.txt`, since what `bw_mem` prints says nothing of what it did."""
_STRIDE = re.compile(r'"stride=(\d{1,9})[ \t]*', re.ASCII)
_RATE = re.compile(r'"((?:Memory|libc|unrolled)[\w ]{1,40}?(?: bandwidth)?)[ \t]*', re.ASCII)
_TWO = re.compile(r"[ \t]*([0-9]{1,12}(?:\.[0-9]{1,9})?)[ \t]+([0-9]{1,12}(?:\.[0-9]{1,9})?)[ \t]*")


def lmbench(text: str) -> Parsed:
    """`lat_mem_rd` (a line "stride=, then lines), and the memory part of a results file."""
    rows: list[dict[str, str]] = []
    figures: list[PublishedFigure] = []
    section, is_latency = "", False
    for line in text.splitlines():
        stride, rate, pair = (form.fullmatch(line) for form in (_STRIDE, _RATE, _TWO))
        if stride or rate:
            section, is_latency = (stride or rate or [""])[1], bool(stride)
        elif pair and section and len(rows) < MOST_ROWS:
            size, value = pair.groups()
            if is_latency:
                rows.append(
                    {"what": f"latency, stride {section} B", "size": f"{size} MiB", "value": value}
                )
                figures += figure(
                    f"lmbench/lat_mem_rd/s{section}/{size}MiB",
                    "ns",
                    number(value),
                    f"load from {size} MiB, stride {section} B",
                )
            else:
                figures += _rate(section, size, value, rows)
        elif line.strip():
            section = ""
    return _parsed(figures, rows)


def bw_mem(text: str, operation: str) -> Parsed:
    """Lines that `bw_mem` prints of an operation, which the name of the file gives."""
    rows: list[dict[str, str]] = []
    figures: list[PublishedFigure] = []
    for line in islice(text.splitlines(), MOST_ROWS):
        if pair := _TWO.fullmatch(line):
            figures += _rate(f"bw_mem {operation}", pair[1], pair[2], rows)
    return _parsed(figures, rows)


def is_bw_mem(text: str) -> bool:
    """Whether all lines are pairs of numbers."""
    lines = [line for line in islice(text.splitlines(), MOST_ROWS) if line.strip()]
    return bool(lines) and all(_TWO.fullmatch(line) for line in lines)


def _rate(what: str, size: str, value: str, rows: list[dict[str, str]]) -> list[PublishedFigure]:
    rows.append({"what": f"{what}, MB/s", "size": f"{size} MB", "value": value})
    return figure(
        f"lmbench/{part(what)}/{size}MB",
        "GB/s",
        scaled(number(value), MB_PER_S),
        f"{what}, {size} MB",
    )


def _parsed(figures: list[PublishedFigure], rows: list[dict[str, str]]) -> Parsed:
    return Parsed(
        tool="lmbench",
        counts="bytes of the block that is read, written or copied, a copy once",
        apart="a copy's bytes are counted once, and rd and wr touch one word in four",
        figures=figures,
        columns=["what", "size", "value"],
        rows=rows,
        caveats=[
            (
                "a copy counts its bytes once, where STREAM and memgauge count those that are read "
                "and those that are written, and rd and wr count whole lines of which they touch "
                "one word in four: no bandwidth of lmbench is compared with theirs"
            ),
            ("lat_mem_rd goes over memory by a stride, which prefetchers may follow without -t"),
        ],
    )
