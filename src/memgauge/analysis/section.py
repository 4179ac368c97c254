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
    muted: bool = False
    """Grey beside the others: it does not show what the picture is about."""
    joined: bool = True
    """Of a line; False: its points stand alone, and beside them lines are drawn without points."""
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


BoxRole = Literal["machine", "package", "node", "cache", "core", "memory"]


class Box(msgspec.Struct, frozen=True, kw_only=True):
    """A part in the parts around it, laid out: sides in shares of the width, heights in pixels."""

    role: BoxRole
    title: str
    lines: list[str]
    left: float
    right: float
    top: float
    bottom: float
    cells: int = 0
    """Small squares at its lower end, one for each of what it stands for."""


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """One picture."""

    name: str
    """File name of the figure, such as `workingset-latency`."""
    title: str
    kind: Literal["line", "bar", "stack", "heatmap", "tracks", "boxes"]
    """line: points joined in the order given. stack: bars whose series add up. heatmap: a row for
    each series, a column for each x, y as colour and in digits. tracks: `panels` below each other,
    linked along x. boxes: `boxes` in each other, without axes."""
    x: Axis
    y: Axis
    series: list[Series]
    rows: Axis | None = None
    """Of a heatmap: what tells its series apart."""
    panels: list[Panel] = []
    """Of tracks."""
    boxes: list[Box] = []
    """Of boxes, those around others before them."""
    bands: list[Band] = []
    regions: list[Band] = []
    """Of tracks: stretches that may overlap, drawn above the panels."""
    rules: list[Rule] = []
    marks: list[Mark] = []
    around: str = "95% interval"
    """What `low` and `high` of its series are."""
    note: str | None = None


Level = Literal["good", "note", "warning", "problem"]

QUIET = "stop other programs, or wait for a quiet machine, and measure again"
"""The remedy where a run was disturbed."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence in plain words about what the numbers mean or what spoils them."""

    level: Level
    text: str
    remedy: str | None = None
    about: Literal["result", "conditions"] = "result"
    """conditions: what the machine is or lacks, or how well recording went, rather than what was
    found. A report that begins with its pictures folds these (`Report.pictures_first`)."""


class AnswerFigure(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of a line, such as `triad 56.3 ±1.8%`."""

    name: str
    value: Cell
    unit: str | None = None
    """As in Column."""
    digits: int = 1


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """Where a figure of this machine lies beside published ones, for a picture of the line."""

    title: str
    """What the figures are, such as `idle latency`."""
    value: Estimate
    """Of this machine."""
    low: float
    """The least and, with `high`, the most that was published."""
    high: float
    unit: str
    """Of all of them, as in Column."""
    digits: int = 0
    start: float
    """With `end`: what the picture must reach over, common to pictures that belong together."""
    end: float
    source: str
    """How many figures of how many models, by which tools, from where."""


class AnswerLine(msgspec.Struct, frozen=True, kw_only=True):
    """Figures that belong together, and under which conditions they hold."""

    label: str
    """Such as `Bandwidth`; empty: a further line of the label before."""
    figures: list[AnswerFigure]
    detail: str = ""
    standing: Standing | None = None
    """What a page draws in the place of the detail."""


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """The analysis of one experiment."""

    name: str
    title: str
    question: str
    verdicts: list[Verdict] = []
    tables: list[Table] = []
    charts: list[Chart] = []
    opening: list[AnswerLine] = []
    """What a page of this section alone begins with, in two to five lines; empty: its verdicts."""


def section_of(  # noqa: PLR0913 - all but the first by name
    name: str,
    *,
    verdicts: Sequence[Verdict] = (),
    tables: Sequence[Table] = (),
    charts: Sequence[Chart] = (),
    opening: Sequence[AnswerLine] = (),
    title: str | None = None,
    question: str | None = None,
) -> Section:
    """The section of an experiment: what its descriptor says, unless something else is given.

    Args:
        name: Name of an experiment in `DESCRIPTORS`.
        verdicts: Sentences in the order in which they were found; a renderer sorts them.
        tables: Tables in order of importance: a short report shows only the first.
        charts: Pictures in the order in which a page shows them.
        opening: What a page of this section alone begins with.
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
        opening=[*opening],
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


Grade = Literal["good", "fair", "poor", "nothing measured"]


class Quality(msgspec.Struct, frozen=True, kw_only=True):
    """How far the run can be trusted as a whole."""

    grade: Grade
    reasons: list[str]
    """What it is less than good for, the worst first; of a good run what it was judged by."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of several experiments, or a comparison, found in as few lines as may be."""

    quality: Quality | None
    """None: it is of no single run."""
    sentences: list[str] = []
    """The verdict in words, before the lines."""
    lines: list[AnswerLine]
    next_steps: list[Verdict]
    """At most five that can be acted upon, the most valuable first; of a comparison also what was
    not alike."""
    charts: list[str] = []
    """Names of the pictures that belong beside it."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run, analysed: what every renderer takes."""

    run_id: str
    started_at: str
    """Empty for a report that is not of one run."""
    title: str
    machine: str
    """One line: processor, threads, caches, memory, virtualisation, kernel."""
    complete: bool
    """Whether it ended as planned: when all was precise, or by its budget."""
    status: str
    """One line: complete, ended by budget, interrupted, or killed; elapsed time; rounds."""
    verdicts: list[Verdict]
    sections: list[Section]
    system: Table
    tiers: Table | None = None
    """The machine's kinds of memory, where there are several."""
    topology: Chart | None = None
    """What lies in what in the machine; None where its CPUs are not known."""
    headlines: list[Headline] = []
    """At most four, the most important first."""
    answer: Answer | None = None
    """None: the report is of one experiment, whose section is the answer, or of many nodes."""
    opening: list[AnswerLine] = []
    """Key figures of a run of one experiment, which its page begins with, unless its section has an
    opening of its own; empty: it measured none."""
    quality: Quality | None = None
    """Of the run, where it is one."""
    precision: float | None = None
    """Asked half width of the interval over the value; estimates wider than it are marked.
    None: nothing is marked."""
    pictures_first: bool = False
    """Whether pictures and what was found precede all else, and verdicts on conditions are one line
    that unfolds."""
