"""The library of published results: a table as it was published, and what must be known to read it.

Each data set is two files in `data/`: `NAME.csv`, the published table with units in its column
names, and `NAME.toml`, what was measured on what and how, what is wrong or unknown in it, and which
of its cells mean the same as a figure of memgauge. No published set here tells its intervals.
"""

from __future__ import annotations

import csv
import io
import tomllib
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Literal

import msgspec

from memgauge.model.errors import RequestError
from memgauge.model.text import quoted

PREFIX = "reference:"
"""What a user writes before a name, so that it is not taken for a directory."""

NAMES = (
    "nvdimm-dram",
    "nvdimm",
    "nvdimm-nvm-nvm",
    "nvdimm-nvm-dram",
    "nvdimm-dram-nvm",
    "nvdimm-difference",
    "hybrid12-loaded-latency",
    "hybrid12-mix",
    "hybrid12-cache-miss",
    "hybrid12-tlb",
    "altra-dmc620",
    "xeon-phi-triad",
)


class Mapping(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which cells are figures, under which name."""

    name: str
    """Of the figure; `{column}` stands for the row's own. Equal to the name of a point of memgauge
    only where both mean the same."""
    unit: Literal["GB/s", "ns"]
    statistic: str
    """How the study made it of its samples, such as `best of N passes`."""
    column: str | None = None
    value: float | None = None
    """A figure that the study prints outside the table."""
    scale: float = 1.0
    """To the unit, from that of the column."""
    times: list[str] = []
    divided_by: list[str] = []
    """Columns of the same row."""
    where: dict[str, str] = {}
    """Rows with these cells only; all where empty."""
    label: str = ""
    facts: dict[str, str] = {}
    """How it was measured, as points record it: `access`, `store`, `variant`; what is not known is
    not in it."""


class Counts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a table of counts of memory controllers is read: a row for each controller."""

    kernel: str
    """Name and conditions, such as `add, 64 threads`."""
    elements: int
    """Of one repetition,"""
    read_bytes: int
    """and the bytes that each of them reads,"""
    write_bytes: int
    evadable_bytes: int
    """and whose line is written without having been read."""
    repetitions: int
    """That the counts are of."""
    software_MBps: float  # noqa: N815 - MB/s
    """Printed beside the table, by STREAM's counting."""
    hardware_MBps: float  # noqa: N815
    """Printed beside the table, by the counters."""
    bytes_per_count: float
    scale_source: str
    sockets: int
    """Which the addresses in the controllers' names tell apart."""
    device: str
    """Column of the controllers' names,"""
    reads: str
    writes: str
    """and of their counts."""


class Competition(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a table of two competing groups of threads is read: a row for each split."""

    what: str
    """What all threads do."""
    threads: int
    """Of both groups."""
    a_memory: str
    """Of group A, in words,"""
    b_memory: str
    """and of group B."""
    k: str
    """Column of the number of threads in B,"""
    a: str
    """of the bandwidth of A,"""
    b: str
    """of B,"""
    total: str
    """and of both."""
    scale: float
    """To GB/s."""
    alone_reference: str
    """Data set and figure of all threads on A's memory alone, which the table itself lacks,"""
    alone_figure: str
    alone_is: str
    """and what it is, in words."""


class Description(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must be known to read a table."""

    title: str
    machine: str
    study: str
    conditions: list[str]
    caveats: list[str]
    """What is wrong in it or not known."""
    threads: int | None = None
    """Hardware threads of the machine; None: not known."""
    figures: list[Mapping] = []
    counts: Counts | None = None
    competition: Competition | None = None


class PublishedFigure(msgspec.Struct, frozen=True, kw_only=True):
    """One published number that may be compared."""

    name: str
    unit: Literal["GB/s", "ns", "kB"]
    """GB/s: 1e9 bytes a second; kB: 1000 bytes, an amount."""
    value: float
    statistic: str
    label: str
    facts: dict[str, str] = {}
    """How it was measured, as far as it is known, as points record it."""

    @property
    def direction(self) -> Literal["higher", "lower", "neither"]:
        """Which is better, by unit; neither: an amount, which is no speed."""
        if self.unit == "kB":
            return "neither"
        return "higher" if self.unit == "GB/s" else "lower"


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """A published data set, or what a file of another tool holds."""

    name: str
    """In the library; of a file its path."""
    tool: str | None = None
    """What wrote the file, with its version; None: it is published."""
    apart: str = ""
    """Why figures that are named after the tool are compared with no point of a run."""
    description: Description
    columns: list[str]
    rows: list[dict[str, str]]
    """As published: text, by column."""
    read_figures: list[PublishedFigure] = []
    """Those of a file, which has no mappings."""

    @property
    def address(self) -> str:
        """What a user writes to name it."""
        return self.name if self.tool is not None else f"{PREFIX}{self.name}"

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return self.description.title

    @property
    def figures(self) -> list[PublishedFigure]:
        """All figures of its mappings; cells that hold no single number have none."""
        mapped = [f for mapping in self.description.figures for f in self._mapped(mapping)]
        return mapped + self.read_figures

    def column(self, name: str) -> list[float]:
        """A column as numbers, in the unit of its name, from top to bottom.

        Raises:
            KeyError: there is no such column.
            ValueError: it holds something else than numbers, such as a range.
        """
        return [float(row[name]) for row in self.rows]

    def _mapped(self, mapping: Mapping) -> list[PublishedFigure]:
        if mapping.value is not None:
            return [_figure(mapping, mapping.value, {})]
        values = [(_value(mapping, row), row) for row in self.rows if _is_in(row, mapping.where)]
        return [_figure(mapping, value, row) for value, row in values if value is not None]


@cache
def load(name: str) -> Reference:
    """The data set of that name, with or without `reference:` before it.

    Raises:
        RequestError: there is none; the message names the choices.
    """
    bare = name.removeprefix(PREFIX)
    if bare not in NAMES:
        raise RequestError(
            f"{quoted(name)} is not in the library of published results; choose from "
            f"{', '.join(NAMES)}"
        )
    reader = csv.DictReader(io.StringIO(_data(f"{bare}.csv").read_text(encoding="utf-8")))
    rows = list(reader)
    description = tomllib.loads(_data(f"{bare}.toml").read_text(encoding="utf-8"))
    return Reference(
        name=bare,
        description=msgspec.convert(description, Description),
        columns=list(reader.fieldnames or []),
        rows=rows,
    )


def _data(file: str) -> Traversable:
    return resources.files("memgauge.references") / "data" / file


def _is_in(row: dict[str, str], where: dict[str, str]) -> bool:
    return all(row[column] == cell for column, cell in where.items())


def _value(mapping: Mapping, row: dict[str, str]) -> float | None:
    """In the mapping's unit; None where the cell is no single number, such as a range."""
    try:
        value = float(row[mapping.column or ""]) * mapping.scale
    except ValueError:
        return None
    for column in mapping.times:
        value *= float(row[column])
    for column in mapping.divided_by:
        value /= float(row[column])
    return value


def _figure(mapping: Mapping, value: float, row: dict[str, str]) -> PublishedFigure:
    return PublishedFigure(
        name=mapping.name.format(**row),
        unit=mapping.unit,
        value=value,
        statistic=mapping.statistic,
        label=mapping.label.format(**row),
        facts=mapping.facts,
    )
