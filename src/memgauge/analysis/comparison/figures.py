"""What can be compared: the figures of a run or of a published data set, without the rest of it."""

import re
from collections.abc import Iterable
from typing import Literal

import msgspec

from memgauge.analysis.comparison.diagnoses import PREFIX as DIAGNOSE
from memgauge.analysis.comparison.diagnoses import Diagnosed, diagnosed_of
from memgauge.analysis.counters.bandwidth import hardware_bandwidth
from memgauge.analysis.counters.figures import HardwareCounts, counts_of
from memgauge.analysis.figures.gpu_points import gpu_of
from memgauge.analysis.figures.regimes import regime_kind
from memgauge.analysis.figures.run import Figures, scaled
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.machine.gpus import with_gpus
from memgauge.analysis.machine.table import system_table
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.tiers.figures import contests
from memgauge.analysis.traffic.figures import DIRECTIONS, curves_of
from memgauge.model.points.counted import CountedRequested
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point, RunStart
from memgauge.model.system import System
from memgauge.model.units import format_bytes
from memgauge.references.library import Reference

SUSTAINED = "90th percentile of speed"
MEDIAN = "median"
"""Of the speed, where samples are too few for an interval of its 90th percentile."""
BEST = "best of N passes"
"""How STREAM makes its figure; of whole passes over the arrays only."""

MOVED = "median of regions, idle traffic subtracted"
"""Of the bytes that the memory controllers counted of an execution."""

TRAFFIC_CAVEAT = (
    "of its loop nests only speeds are compared, for no counts of memory allow a conclusion; what "
    "was simulated is set against the expectation in its own report"
)

_TRANSLATED = re.compile(r"[/-]translated\b")
"""In names of points: `stream/copy/standard/translated/2t`, `tiers/copy-translated/4t`."""

_COMPARED = frozenset({("diagnose", "command"), ("diagnose", "pid")})
"""Parameters that are what is compared, not how it was measured."""

Direction = Literal["higher", "lower", "neither"]
"""Which is better; neither: an amount, such as bytes moved, which is no speed."""


class Comparable(msgspec.Struct, frozen=True, kw_only=True):
    """One figure."""

    name: str
    """Of the point: figures of equal names mean the same."""
    unit: str
    direction: Direction
    estimate: Estimate
    """`high` is infinite where no interval is known."""
    statistic: str
    label: str
    regime: str = ""
    """Kind of regime, without the distance that its name carries; empty: not known, as of one
    thread."""
    pingpong_ns: float | None = None
    facts: dict[str, Scalar] = {}
    """What was requested, and what was in effect."""
    of_runs: tuple[float, ...] = ()
    """Of a side of several runs: the figure of each; the estimate is then their geometric mean."""
    median: Estimate | None = None
    """Of a 90th percentile of speed: what stands beside a partner that has a median only."""
    medians_of_runs: tuple[float, ...] = ()
    """As `of_runs`, of the medians."""

    def as_median(self) -> "Comparable":
        """The median of the same samples, where it is known; else the figure itself."""
        if self.median is None:
            return self
        return msgspec.structs.replace(
            self,
            statistic=MEDIAN,
            estimate=self.median,
            of_runs=self.medians_of_runs,
            median=None,
            medians_of_runs=(),
        )


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a comparison."""

    name: str
    """As the user wrote it."""
    comparables: list[Comparable]
    title: str
    """What it is, in one line."""
    published: bool = False
    """Whether it is no run but a published table or a file of another tool: without intervals."""
    tool: str = ""
    """What wrote the file, of a file of another tool."""
    apart: str = ""
    """Why figures that are named after the tool are those of no run."""
    run_id: str | None = None
    machine_id: str | None = None
    run_to_run_drift: float | None = None
    """How far the machine's pace may lie elsewhere in another run, as a share; None: not known."""
    complete: bool = True
    traits: dict[str, str] = {}
    """Of the machine; what is not known is not in it."""
    settings: dict[str, str] = {}
    """Of the run: versions, precision, parameters of the experiments."""
    caveats: list[str] = []
    runs: list["Source"] = []
    """Each by itself, of a side of several runs; empty: this is a single run, or published."""
    not_in_every_run: list[Comparable] = []
    """Figures that some of the runs lack, as the first run that has them gives them."""
    diagnosis: Diagnosed | None = None
    """Of a single run of `diagnose`, whose figures are compared by their differences."""

    @property
    def each_run(self) -> list["Source"]:
        """The runs, also where there is one."""
        return self.runs or [self]

    @property
    def diagnoses(self) -> list[Diagnosed | None]:
        """Of each run."""
        return [run.diagnosis for run in self.each_run]

    @property
    def origin(self) -> str:
        """Who measured it, where that is not memgauge; empty: a run."""
        return self.tool or ("published" if self.published else "")

    @property
    def figures(self) -> int:
        """How many it has."""
        found = [one.figures for one in self.diagnoses if one is not None]
        return len(self.comparables) + (len(found[0]) if found else 0)


def is_one_machine(one: Source, other: Source) -> bool:
    """Whether both were measured on one machine: published sets say so by its description."""
    if one.published and other.published:
        known = one.traits.get("processor")
        return known is not None and known == other.traits.get("processor")
    return one.machine_id is not None and one.machine_id == other.machine_id


def of_run(figures: Figures, name: str) -> Source:
    """The figures of a run: the sustained ones of slices, STREAM's best of whole passes."""
    start = figures.run.start
    end = figures.run.end
    moved = _moved(figures)
    return Source(
        name=name,
        comparables=_by_kernel(
            [
                made
                for point in figures.run.points.values()
                if not point.point.startswith(DIAGNOSE)
                for summary in figures.summaries[point.point]
                if (made := _of_point(point, summary)) is not None
            ]
            + _sums(figures)
        )
        + _counted(figures)
        + moved,
        title=f"run of {', '.join(start.experiments)}, begun {start.started_at}",
        run_id=start.run_id,
        machine_id=start.system.machine_id,
        run_to_run_drift=figures.run_to_run_drift,
        complete=end is not None and end.status in {"complete", "budget"},
        traits=_traits(start.system, figures.run.points.values()),
        settings=_settings(start),
        diagnosis=diagnosed_of(figures),
        caveats=[TRAFFIC_CAVEAT] if figures.run.points_of("traffic") and not moved else [],
    )


def of_reference(reference: Reference) -> Source:
    """The figures of a published data set or of another tool's file, without intervals."""
    described, tool = reference.description, reference.tool or ""
    traits = {} if tool else {"processor": described.machine}
    if described.threads is not None:
        traits["threads"] = str(described.threads)
    return Source(
        name=reference.address,
        comparables=[
            Comparable(
                name=figure.name,
                unit=figure.unit,
                direction=figure.direction,
                estimate=without_interval(figure.value),
                statistic=figure.statistic,
                label=figure.label,
                facts={**figure.facts},
            )
            for figure in reference.figures
        ],
        title=described.title if tool else f"published: {described.title} ({described.study})",
        published=True,
        tool=tool,
        apart=reference.apart,
        traits=traits,
        settings={"conditions": "; ".join(described.conditions)},
        caveats=described.caveats,
    )


def without_interval(value: float) -> Estimate:
    """A figure of which no interval is known."""
    return Estimate(value, 0.0, float("inf"))


def _of_point(point: Point, summary: PointSummary) -> Comparable | None:
    """None where nothing was measured."""
    median = None
    if point.role == "pass":
        name, statistic = point.point.removesuffix("/pass"), BEST
        estimate = without_interval(summary.passes.best_gb_per_s) if summary.passes else None
    else:
        name, statistic, estimate = point.point, MEDIAN, summary.sustained
        if summary.statistic == "p90":
            statistic, median = SUSTAINED, summary.median
    if estimate is None:
        return None
    return Comparable(
        name=name,
        unit=summary.unit,
        direction="higher" if point.quantity == "bandwidth" else "lower",
        estimate=estimate,
        statistic=statistic,
        label=name,
        regime=_kind(summary),
        pingpong_ns=summary.pingpong_ns,
        facts=point.requested | point.actual,
        median=median,
    )


def _by_kernel(found: list[Comparable]) -> list[Comparable]:
    """Translated access under its kernel's name, of a run that has no direct one.

    So a run in a pool pairs with one in other memory, as in the NVDIMM study's table 6, and with
    the study's own tables; where the access differs, that is in the facts, and is said.
    """
    names = {one.name for one in found}
    plain = {name: _TRANSLATED.sub("", name) for name in names}
    return [
        one
        if plain[one.name] in names
        else msgspec.structs.replace(
            one,
            name=plain[one.name],
            label=plain[one.name] if one.label == one.name else one.label,
        )
        for one in found
    ]


def _counted(figures: Figures) -> list[Comparable]:
    """What memory's own counters count of each kernel, by the first back end that was requested."""
    found: dict[str, Comparable] = {}
    for counts in counts_of(figures):
        made = _of_counts(counts)
        if made is not None:
            found.setdefault(made.name, made)
    return list(found.values())


def _moved(figures: Figures) -> list[Comparable]:
    """Bytes that loop nests moved, as measured: each way of each size that allows a conclusion.

    By the first route that was named; of further routes, under names of their own.
    """
    found = []
    for curve in curves_of(figures):
        for result in curve.results:
            for at, (source, measured) in enumerate(result.measured.items()):
                back_end = measured.counts.back_end
                for direction in DIRECTIONS:
                    flow = result.flow(direction, source)
                    if flow is None or result.is_drowned(direction, source):
                        continue
                    if flow.bytes.value <= 0:
                        continue
                    parts = [result.point, direction, *([back_end] if at else [])]
                    found.append(
                        Comparable(
                            name="/".join(parts),
                            unit="kB",
                            direction="neither",
                            estimate=scaled(flow.bytes, 1e-3) or flow.bytes,
                            statistic=MOVED,
                            label=f"{curve.title}, N = {result.size}: {direction}",
                            facts={"counters": back_end, **_nest_facts(measured.counts.point)},
                        )
                    )
    return found


def _nest_facts(point: Point | None) -> dict[str, Scalar]:
    return {} if point is None else point.requested | point.actual


def _sums(figures: Figures) -> list[Comparable]:
    """What two groups of threads reach together, where both have some."""
    return [
        Comparable(
            name=f"tiers/{contest.what}/{contest.threads}t/k{split.k}/sum",
            unit="GB/s",
            direction="higher",
            estimate=split.sustained,
            statistic=SUSTAINED,
            label=f"both groups, {split.k} of {contest.threads} in B",
            regime=regime_kind(contest.regime),
            facts={
                "A's memory": contest.a,
                "B's memory": contest.b,
                "access": "translated" if _TRANSLATED.search(f"/{contest.what}") else "direct",
            },
        )
        for contest in contests(figures)
        for split in contest.shared
        if split.sustained is not None
    ]


def _of_counts(counts: HardwareCounts) -> Comparable | None:
    """None for a model, or where nothing was counted."""
    total, point = hardware_bandwidth(counts).hardware.total, counts.point
    if counts.basis != "measured" or total is None or point is None or not total.value:
        return None
    requested = CountedRequested.of(point.requested)
    kind = (requested.variant, requested.element)
    parts = () if kind == ("standard", "double") else kind
    team = gpu_of(point) or f"{point.threads}t"
    return Comparable(
        name="/".join(["controllers", requested.kernel, *parts, team]),
        unit="GB/s",
        direction="higher",
        estimate=scaled(total, 1e-9) or total,
        statistic="median of regions",
        label=f"{counts.kernel.name}, by the counters of {counts.back_end}",
        facts=point.requested | point.actual,
    )


def _kind(summary: PointSummary) -> str:
    if summary.pingpong_ns is None:
        return ""
    return regime_kind(summary.regime) or "one regime"


def _traits(system: System, points: Iterable[Point]) -> dict[str, str]:
    """The machine's facts, without those that change from minute to minute."""
    table = with_gpus(system_table(system), points)
    rows = ((str(name), str(found)) for name, found, *_ in table.rows)
    return dict(rows) | {"memory": format_bytes(system.memory_bytes)}


def _settings(start: RunStart) -> dict[str, str]:
    known = {f"version of {name}": found for name, found in start.software.items()}
    known.pop("version of kernel", None)
    known["experiments"] = ", ".join(start.experiments)
    known["version of memgauge"] = start.memgauge_version
    known["asked precision"] = f"{100 * start.precision:g}%"
    known["budget"] = f"{start.budget_s:g} s"
    for experiment, parameters in start.parameters.items():
        for name, value in parameters.items():
            if (experiment, name) in _COMPARED:
                continue
            known[f"{experiment}: {name}"] = "not set" if value is None else str(value)
    return known
