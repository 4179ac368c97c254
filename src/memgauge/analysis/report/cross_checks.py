"""Whether experiments that measure the same thing by different means agree: the instrument's check.

Each check sets two figures of one run beside each other, taken in the same rounds, so that the pace
of the machine is common to both. Latencies must agree within 5% (and the run-to-run drift of the
machine), bandwidths within 3%. A disagreement is never hidden: one of the two figures,
or what both are believed to measure, is then wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from memgauge.analysis.figures.concurrency import usual_line_bytes
from memgauge.analysis.figures.gpu_points import gpu_of
from memgauge.analysis.figures.run import Figures, once
from memgauge.analysis.figures.summary import LEAST_SHARE, PointSummary
from memgauge.analysis.report.checks import (
    Check,
    Side,
    bandwidth_check,
    by_kind,
    latency_check,
    untold,
)
from memgauge.analysis.report.gpu_checks import footprint_checks, is_tuned_read
from memgauge.analysis.report.level_checks import level_checks
from memgauge.analysis.report.numa_checks import pair_checks
from memgauge.analysis.section import Column, Section, Table, Verdict
from memgauge.analysis.workingset.claims import Finding
from memgauge.analysis.workingset.section import find
from memgauge.model.points.latency import LatencyRequested
from memgauge.model.points.loaded import LoadedActual, LoadedRequested
from memgauge.model.points.rings import RingActual
from memgauge.model.points.shared import Backing, TrafficMix
from memgauge.model.records import Point
from memgauge.model.units import format_count

NAME = "crosschecks"
QUESTION = "Do experiments that measure the same thing by different means agree?"
SAME_SHARE = 0.002
"""Read shares closer than this are the same: 2:1 is written 66.7%."""

Measured = tuple[Point, list[PointSummary]]
"""A point and its figures in every regime that has its share of the samples."""


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """Accesses to memory, with what was measured: of the same load bandwidths must be the same."""

    point: Point
    summaries: list[PointSummary]
    gpu: str
    """Empty: the host's threads."""
    pages: str
    mix: TrafficMix
    share: float
    """Reads among all accesses."""

    @property
    def label(self) -> str:
        """Such as `50r-temporal`, with the order where that is not sequential."""
        reads, writes = self.mix.reads or 0, self.mix.writes or 0
        share = reads / (reads + writes) if reads + writes else self.share
        percent = f"{100 * share:.1f}".removesuffix(".0") + "r"
        mix = "-".join(filter(None, (percent, self.mix.store)))
        return mix if self.mix.order == "sequential" else f"{mix}, {self.mix.order}"

    def is_same(self, other: Load) -> bool:
        """As many threads or the same GPU, the same accesses in the same order and pages."""
        mine, its = (
            (one.point.threads, one.gpu, one.pages, one.mix.order) for one in (self, other)
        )
        stores_alike = self.share == 1 or self.mix.store == other.mix.store
        return mine == its and stores_alike and abs(self.share - other.share) <= SAME_SHARE


@once
def crosschecks(figures: Figures) -> list[Check]:
    """All checks that a run holds both sides of; empty for a run of one experiment."""
    return [
        *_unloaded(figures),
        *_full_load(figures),
        *_all_reads(figures),
        *footprint_checks(figures),
        *pair_checks(figures),
        *level_checks(figures, _findings(figures)),
    ]


def section(figures: Figures) -> Section | None:
    """The checks of a run; None where it holds no two sides of any."""
    checks = crosschecks(figures)
    if not checks:
        return None
    return Section(
        name=NAME,
        title="Cross-checks",
        question=QUESTION,
        verdicts=_verdicts(checks),
        tables=[_table(checks)],
    )


def _findings(figures: Figures) -> list[Finding]:
    return find(figures) if figures.run.points_of("latency") else []


def _unloaded(figures: Figures) -> Iterator[Check]:
    """Loaded latency at the longest delay against idle latency."""
    probes = [
        (_team_and_delay(requested), point, summaries)
        for point, summaries in _measured(figures, "loaded")
        if point.quantity == "latency"
        and (requested := LoadedRequested.of(point.requested)).read_share == 1
        and requested.order == "sequential"
    ]
    idle = [
        (point, summaries)
        for point, summaries in _measured(figures, "latency")
        if _is_idle_memory(LatencyRequested.of(point.requested))
    ]
    if not probes or not idle:
        return
    _, longest, probed = max(probes, key=lambda entry: entry[0])
    what = "loaded, longest delay"
    alike = [entry for entry in idle if _same_place(longest, entry[0])]
    if not alike:
        why = "no figure of idle latency from the same CPU, node and pages"
        yield untold(what, longest.point, "latency", "ns", why)
        return
    for summary in probed:
        other = Side(alike[0][0].point, alike[0][1][0])
        drift = figures.run_to_run_drift or 0.0
        yield latency_check(what, Side(longest.point, summary), other, drift)


def _full_load(figures: Figures) -> Iterator[Check]:
    """Bandwidth of the generators without delay against that of as many threads without a probe."""
    latencies = dict(_by_name(figures, "loaded"))
    alone = [*_loads(figures, "mix"), *_loads(figures, "stream")]
    for load in _loads(figures, "loaded"):
        point = load.point
        if point.quantity != "bandwidth" or LoadedRequested.of(point.requested).delay != 0:
            continue
        what = f"loaded, {load.label}"
        other = next((one for one in alone if load.is_same(one)), None)
        if other is None:
            yield from _without_figure(figures, what, load)
            continue
        probes = latencies.get(point.measured_with or "", [])
        for mine, against in by_kind(load.summaries, other.summaries):
            lost = _probe_gb_per_s(figures, probes, mine.regime)
            sides = (Side(point.point, mine), Side(other.point.point, against))
            yield bandwidth_check(what, *sides, beside_gb_per_s=lost)


def _all_reads(figures: Figures) -> Iterator[Check]:
    """`mix` of reads alone against `stream`'s tuned read, each team."""
    streams = _loads(figures, "stream")
    for load in _loads(figures, "mix"):
        if load.share != 1 or load.mix.order != "sequential":
            continue
        what = f"mix, {load.label}, "
        what += "GPU" if load.gpu else format_count(load.point.threads, "thread")
        other = next((one for one in streams if load.is_same(one)), None)
        if other is None:
            yield from _without_figure(figures, what, load)
            continue
        for mine, against in by_kind(load.summaries, other.summaries):
            sides = (Side(load.point.point, mine), Side(other.point.point, against))
            yield bandwidth_check(what, *sides)


def _without_figure(figures: Figures, what: str, load: Load) -> Iterator[Check]:
    """A check without outcome where the other side was to be measured; else none."""
    planned = [*figures.run.points_of("mix"), *figures.run.points_of("stream")]
    others = [one for p in planned if p.experiment != load.point.experiment for one in _load_of(p)]
    same = next((one.point.point for one in others if load.is_same(one)), None)
    if same is not None:
        why = "one side has no figure: all its samples were set aside"
        yield untold(what, load.point.point, same, "GB/s", why)


def _measured(figures: Figures, experiment: str) -> list[Measured]:
    """Points with figures, each with those of its regimes that matter."""
    return [(figures.run.points[name], s) for name, s in _by_name(figures, experiment)]


def _by_name(figures: Figures, experiment: str) -> list[tuple[str, list[PointSummary]]]:
    found: dict[str, list[PointSummary]] = {}
    for point, summary in figures.slices(experiment):
        if (summary.share or 0) >= LEAST_SHARE:
            found.setdefault(point.point, []).append(summary)
    return [*found.items()]


def _loads(figures: Figures, experiment: str) -> list[Load]:
    measured = _measured(figures, experiment)
    return [load for point, summaries in measured for load in _load_of(point, summaries)]


def _load_of(point: Point, summaries: Sequence[PointSummary] = ()) -> Iterator[Load]:
    """Nothing where it is not known, and of all kernels of `stream` but tuned reads."""
    mix = TrafficMix.of(point.requested)
    if point.experiment == "stream":
        mix = TrafficMix(read_share=1.0 if is_tuned_read(point) else None, order="sequential")
    if mix.read_share is not None:
        yield Load(
            point=point,
            summaries=[*summaries],
            gpu=gpu_of(point),
            pages=Backing.of(point.actual).pages,
            mix=mix,
            share=mix.read_share,
        )


def _is_idle_memory(requested: LatencyRequested) -> bool:
    return (requested.level, requested.order) == ("DRAM", "block-random")


def _team_and_delay(requested: LoadedRequested) -> tuple[int, int]:
    return requested.generators or 0, -1 if requested.delay is None else requested.delay


def _same_place(probe: Point, idle: Point) -> bool:
    """The same CPU waits for the same memory in the same pages, as far as both are known."""
    here, there = LoadedActual.of(probe.actual), RingActual.of(idle.actual)
    if gpu_of(probe) != gpu_of(idle) or here.pages != there.pages:
        return False
    same_node = None in {here.node, there.node} or here.node == there.node
    same_cpu = here.probe_cpu is None or there.cpus in {"", str(here.probe_cpu)}
    return same_node and same_cpu


def _probe_gb_per_s(figures: Figures, probes: Sequence[PointSummary], regime: str) -> float:
    """What the probe itself read: a line for each load."""
    line_bytes = usual_line_bytes(figures.run.start.system)
    found = next((s.sustained for s in probes if s.regime == regime and s.sustained), None)
    return line_bytes / found.value if found is not None and found.value > 0 else 0.0


def _table(checks: Sequence[Check]) -> Table:
    return Table(
        name=NAME,
        title="The same, measured twice",
        columns=[
            Column(title="what"),
            Column(title="one side", digits=2),
            Column(title="other side", digits=2),
            Column(title="apart", unit="%", digits=1),
            Column(title="allowed", unit="%", digits=1),
            Column(title="apart at least", unit="%", digits=1, narrow=False),
            Column(title="apart at most", unit="%", digits=1, narrow=False),
            Column(title="verdict"),
            Column(title="unit", narrow=False),
            Column(title="one is", narrow=False),
            Column(title="other is", narrow=False),
            Column(title="figures", narrow=False),
            Column(title="why", narrow=False),
        ],
        rows=[
            [
                check.what,
                check.one,
                check.other,
                check.difference,
                check.allowed,
                check.difference_low,
                check.difference_high,
                check.outcome,
                check.unit,
                check.one_name,
                check.other_name,
                check.figure,
                check.why,
            ]
            for check in checks
        ],
        note="In ns and GB/s. Apart: the one side from the other. Allowed for latencies: 5% "
        "and the run-to-run drift; for bandwidths 3%, and what the probe itself reads "
        "where one runs beside, or what a GPU's L2 may keep of a footprint. Inconclusive: the "
        "intervals leave both outcomes possible. Figures are "
        "sustained ones (90th percentile of speed), or medians where these have no interval yet.",
    )


def _verdicts(checks: Sequence[Check]) -> list[Verdict]:
    verdicts = [_disagreement(check) for check in checks if check.outcome == "disagrees"]
    agreed = sum(check.outcome == "agrees" for check in checks)
    untold_ones = [check for check in checks if check.outcome == "inconclusive"]
    if agreed and agreed == len(checks):
        text = f"All {agreed} cross-checks between experiments agree."
        verdicts.append(Verdict(level="good", text=text))
    elif agreed:
        text = f"{agreed} of {len(checks)} cross-checks between experiments agree."
        verdicts.append(Verdict(level="note", text=text))
    if untold_ones:
        reasons = "; ".join(dict.fromkeys(check.why or "" for check in untold_ones))
        are = "is" if len(untold_ones) == 1 else "are"
        text = f"{len(untold_ones)} of {len(checks)} cross-checks {are} inconclusive: {reasons}."
        remedy = "increase --budget, or resume the run"
        verdicts.append(Verdict(level="note", text=text, remedy=remedy))
    return verdicts


def _disagreement(check: Check) -> Verdict:
    one, other = check.one, check.other
    values = f"{one.value:.2f} {check.unit} by {check.one_name}" if one else check.one_name
    values += f", {other.value:.2f} {check.unit} by {check.other_name}" if other else ""
    return Verdict(
        level="warning",
        text=f"Two measurements of the same thing disagree ({check.what}): {values}, "
        f"{abs(check.difference or 0):.1%} apart where {check.allowed or 0:.1%} is allowed. "
        f"Likely causes: {check.causes}.",
        remedy="trust neither until a run on a quiet machine agrees",
    )
