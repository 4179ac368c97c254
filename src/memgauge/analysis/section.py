"""What an analysis hands to a renderer: sections of verdicts, tables and charts, as plain data.

A renderer (terminal, HTML, figures) knows these types and no experiment, so that a new experiment
is drawn without touching one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.experiments import DESCRIPTORS

Cell = Estimate | float | int | str | bool | None
"""None: not measured. It is shown as a dash, never as zero."""


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """One column of a table."""

    title: str
    unit: str | None = None
    """`GB/s`, `ns`, `B` (shown as KiB, MiB), `%` (of a share 0 to 1), or None."""
    digits: int = 1
    narrow: bool = True
    """Shown in the 80-column terminal too; the others are in HTML and export."""


def digits_for(values: Iterable[float]) -> int:
    """Decimals that show three figures of the smallest value that is not 0, three at most."""
    least = min((abs(value) for value in values if value), default=1.0)
    return next((digits for digits, from_ in ((0, 100), (1, 10), (2, 1)) if least >= from_), 3)


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of cells under columns."""

    name: str
    title: str
    columns: list[Column]
    rows: list[list[Cell]]
    note: str | None = None


class Axis(msgspec.Struct, frozen=True, kw_only=True):
    """One axis; values are in `unit`, bytes shown as KiB, MiB, GiB."""

    title: str
    unit: str
    scale: Literal["linear", "log2", "log10"] = "linear"
    from_zero: bool = False


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """One named line or set of bars; a y of None is a gap."""

    name: str
    x: list[float | str]
    y: list[float | None]
    low: list[float | None] | None = None
    high: list[float | None] | None = None
    dashed: bool = False
    """For what was not measured here: modelled, published, theoretical."""
    notes: list[str | None] | None = None
    """What is shown beside each point, such as the delay it was measured with."""


class Band(msgspec.Struct, frozen=True, kw_only=True):
    """A labelled stretch of the x axis, such as a cache level."""

    label: str
    start: float
    end: float


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A labelled straight line."""

    label: str
    axis: Literal["x", "y"]
    value: float


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A labelled place in the picture, such as the knee of a curve, with what it may also be."""

    label: str
    x: float
    y: float
    x_low: float | None = None
    x_high: float | None = None


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """One of the pictures that lie below each other over one x axis."""

    y: Axis
    series: list[str]
    """Names of the chart's series in it; they share their x."""


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """One picture."""

    name: str
    """File name of the figure, such as `workingset-latency`."""
    title: str
    kind: Literal["line", "bar", "stack", "heatmap", "tracks"]
    """line: points joined in the order given. stack: bars whose series add up. heatmap: a row for
    each series, a column for each x, y as colour and in digits. tracks: `panels` below each other,
    linked along x."""
    x: Axis
    y: Axis
    series: list[Series]
    rows: Axis | None = None
    """Of a heatmap: what tells its series apart."""
    panels: list[Panel] = []
    """Of tracks."""
    bands: list[Band] = []
    regions: list[Band] = []
    """Of tracks: stretches that may overlap, drawn above the panels."""
    rules: list[Rule] = []
    marks: list[Mark] = []
    around: str = "95% interval"
    """What `low` and `high` of its series are."""
    note: str | None = None


Level = Literal["good", "note", "warning", "problem"]


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence in plain words about what the numbers mean or what spoils them."""

    level: Level
    text: str
    remedy: str | None = None


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """The analysis of one experiment."""

    name: str
    title: str
    question: str
    verdicts: list[Verdict] = []
    tables: list[Table] = []
    charts: list[Chart] = []


def section_of(  # noqa: PLR0913 - all but the first by name
    name: str,
    *,
    verdicts: Sequence[Verdict] = (),
    tables: Sequence[Table] = (),
    charts: Sequence[Chart] = (),
    title: str | None = None,
    question: str | None = None,
) -> Section:
    """The section of an experiment: what its descriptor says, unless something else is given.

    Args:
        name: Name of an experiment in `DESCRIPTORS`.
        verdicts: Sentences in the order in which they were found; a renderer sorts them.
        tables: Tables in order of importance: a short report shows only the first.
        charts: Pictures in the order in which a page shows them.
        title: Heading; None means the descriptor's.
        question: What the experiment answers, in one sentence; None means the descriptor's.
    """
    described = DESCRIPTORS[name]
    return Section(
        name=name,
        title=title or described.title,
        question=question or described.question,
        verdicts=[*verdicts],
        tables=[*tables],
        charts=[*charts],
    )


class BetweenRuns(msgspec.Struct, frozen=True, kw_only=True):
    """What a figure varies by between runs of one machine that were made alike."""

    runs: int
    """This one and the earlier ones that are known."""
    deviation: float
    """Standard deviation over the mean of the runs."""

    @property
    def words(self) -> str:
        """`varies by 1.8% between 5 runs`."""
        if not self.deviation:
            return f"the same in {self.runs} runs"
        return f"varies by {100 * self.deviation:.1f}% between {self.runs} runs"


class Headline(msgspec.Struct, frozen=True, kw_only=True):
    """One key figure for the strip at the top of a report, such as the best bandwidth."""

    label: str
    value: Cell
    unit: str | None = None
    """As in Column."""
    digits: int = 1
    detail: str | None = None
    """Under which conditions: `copy, tuned, 2 threads`."""
    key: str | None = None
    """What it has in common with the same figure of another run; None: it is of this run only."""
    between: BetweenRuns | None = None
    """None: too few runs are known."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run, analysed: what every renderer takes."""

    run_id: str
    started_at: str
    """Empty for a report that is not of one run."""
    title: str
    machine: str
    """One line: processor, threads, caches, memory, virtualisation, kernel."""
    complete: bool
    status: str
    """One line: complete, ended by budget, interrupted, or killed; elapsed time; rounds."""
    verdicts: list[Verdict]
    sections: list[Section]
    system: Table
    tiers: Table | None = None
    """The machine's kinds of memory, where there are several."""
    headlines: list[Headline] = []
    """At most four, the most important first."""
    precision: float | None = None
    """Asked half width of the interval over the value; estimates wider than it are marked.
    None: nothing is marked."""
