"""What a reader makes of a file: figures, the table as printed, and how the tool counts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from typing import Literal

import msgspec

from memgauge.model.text import shortened
from memgauge.references.library import PublishedFigure

MIB_PER_S = 2**20 / 1e9
"""GB/s of one MiB/s."""
MB_PER_S = 1e-3
"""GB/s of one MB/s."""
MOST_ROWS = 5_000
"""Rows and figures of one file: more than any of these tools prints of a machine."""
LARGEST = 1e12
"""GB/s or ns: above it a number is no figure of a memory."""

PROGRAM_BYTES = "bytes that the program reads and writes, without the reads of lines before stores"
"""STREAM's rule of counting, which points of memgauge follow too."""
AS_PRINTED = "as the tool prints it"
BEST = "best of N passes"
_UNFIT = re.compile(r"[^A-Za-z0-9_.:+-]+")


class Parsed(msgspec.Struct, frozen=True, kw_only=True):
    """What one file holds."""

    tool: str
    version: str = ""
    """As the file gives it; empty: it does not."""
    counts: str
    """What its bandwidths count, in words; of latencies what is timed."""
    apart: str = ""
    """Why figures that are named after the tool are compared with no point of a run."""
    figures: list[PublishedFigure]
    columns: list[str]
    rows: list[dict[str, str]]
    """As printed."""
    conditions: list[str] = []
    """What else the file says of how it was measured; empty ones are left out."""
    caveats: list[str] = []


def number(text: str) -> float | None:
    """A finite number above zero; None where the text is none, or nothing was measured."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 < value < LARGEST else None


def whole(text: str) -> int | None:
    """A whole number above zero of at most nine digits."""
    return int(text) if re.fullmatch(r"0*[1-9][0-9]{0,8}", text, re.ASCII) else None


def part(text: str) -> str:
    """One part of a figure's name, whatever the file has there."""
    return _UNFIT.sub("-", shortened(text)).strip("-") or "unnamed"


def found(pattern: str, text: str) -> str:
    """The first group where the pattern first matches, or empty."""
    match = re.search(pattern, text, re.MULTILINE | re.ASCII)
    return match[1] if match else ""


def rows_of(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """All matches, up to the most rows of a file."""
    return islice(pattern.finditer(text), MOST_ROWS)


def parts_of(pattern: re.Pattern[str], text: str) -> list[str]:
    """The text from each match to the next one: one for each run of a tool in the file, or none."""
    begins = [match.start() for match in rows_of(pattern, text)]
    return [text[a:b] for a, b in pairwise([*begins, len(text)])]


def figure(  # noqa: PLR0913, PLR0917 - what a figure consists of
    name: str,
    unit: Literal["GB/s", "ns", "kB"],
    value: float | None,
    label: str,
    statistic: str = AS_PRINTED,
    facts: dict[str, str] | None = None,
) -> list[PublishedFigure]:
    """One figure; none where the value is not known or is out of range once converted.

    Args:
        name: That of a run's point only if both count alike; else it begins with the tool's.
        unit: GB/s of 1e9 bytes, ns, or kB of 1000 bytes.
        value: In that unit; None: not known.
        label: What it is, in words.
        statistic: How the tool made it.
        facts: How it was measured, as far as it is known.
    """
    if value is None or not 0 < value < LARGEST:
        return []
    return [
        PublishedFigure(
            name=name,
            unit=unit,
            value=value,
            statistic=statistic,
            label=shortened(label),
            facts=facts or {},
        )
    ]


def scaled(value: float | None, scale: float) -> float | None:
    """In another unit."""
    return None if value is None else value * scale


def unique(figures: Iterable[PublishedFigure]) -> tuple[list[PublishedFigure], list[str]]:
    """Figures whose names occur once, and a caveat about those that the file holds several times.

    Which of several results of one name is meant cannot be known, so none of them is a figure.
    """
    by_name: dict[str, list[PublishedFigure]] = {}
    for one in figures:
        by_name.setdefault(one.name, []).append(one)
    kept = [several[0] for several in by_name.values() if len(several) == 1]
    repeated = [name for name, several in by_name.items() if len(several) > 1]
    caveats = (
        [
            (
                f"{len(repeated)} of its figures occur several times, such as {repeated[0]}, and "
                "are left out: give one file for each run of the tool"
            )
        ]
        if repeated
        else []
    )
    if len(kept) > MOST_ROWS:
        caveats.append(f"only the first {MOST_ROWS} of its figures are used")
    return kept[:MOST_ROWS], caveats
