"""Whether experiments that measure the same thing by different means agree: the instrument's check.

Each check sets two figures of one run beside each other, taken in the same rounds, so that the pace
of the machine is common to both. Latencies must agree within their intervals (and the run-to-run
drift of the machine), bandwidths within 3%. A disagreement is never hidden: one of the two figures,
or what both are believed to measure, is then wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.figures.concurrency import usual_line_bytes
from memgauge.analysis.figures.gpu_points import gpu_of
from memgauge.analysis.figures.run import Figures, number_fact, share_fact, text_fact
from memgauge.analysis.figures.summary import LEAST_SHARE, PointSummary
from memgauge.analysis.report.checks import (
    Check,
    Side,
    bandwidth_check,
    by_kind,
    latency_check,
    untold,
)
from memgauge.analysis.report.gpu_checks import footprint_checks
from memgauge.analysis.report.level_checks import level_checks
from memgauge.analysis.report.numa_checks import pair_checks
from memgauge.analysis.section import Column, Section, Table, Verdict
from memgauge.analysis.workingset.claims import Finding
from memgauge.analysis.workingset.section import find
from memgauge.model.records import Point
from memgauge.model.units import format_count

NAME = "crosschecks"
QUESTION = "Do experiments that measure the same thing by different means agree?"
SAME_SHARE = 0.002
"""Read shares closer than this are the same: 2:1 is written 66.7%."""

Measured = tuple[Point, list[PointSummary]]
"""A point and its figures in every regime that has its share of the samples."""


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
        (point, summaries)
        for point, summaries in _measured(figures, "loaded")
        if point.quantity == "latency"
        and _share(point) == 1
        and text_fact(point.requested, "order") == "sequential"
    ]
    idle = [
        (point, summaries)
        for point, summaries in _measured(figures, "latency")
        if text_fact(point.requested, "level") == "DRAM"
        and text_fact(point.requested, "order") == "block-random"
    ]
    if not probes or not idle:
        return
    longest = max(probes, key=lambda entry: _team_and_delay(entry[0]))
    what = "loaded, longest delay"
    name = longest[0].point
    alike = [entry for entry in idle if _same_place(longest[0], entry[0])]
    if not alike:
        why = "no figure of idle latency from the same CPU, node and pages"
        yield untold(what, name, "latency", "ns", why)
        return
    for summary in longest[1]:
        other = Side(alike[0][0].point, alike[0][1][0])
        yield latency_check(what, Side(name, summary), other, figures.run_to_run_drift or 0.0)


def _full_load(figures: Figures) -> Iterator[Check]:
    """Bandwidth of the generators without delay against that of as many threads without a probe."""
    latencies = dict(_by_name(figures, "loaded"))
    alone = [*_measured(figures, "mix"), *_stream_reads(figures)]
    for point, summaries in _measured(figures, "loaded"):
        if point.quantity != "bandwidth" or _delay(point) != 0:
            continue
        what = f"loaded, {_load(point)}"
        found = [entry for entry in alone if _same_load(point, entry[0])]
        if not found:
            yield from _without_figure(figures, what, point)
            continue
        other = found[0]
        probes = latencies.get(point.measured_with or "", [])
        for one, against in by_kind(summaries, other[1]):
            lost = _probe_gb_per_s(figures, probes, one.regime)
            sides = (Side(point.point, one), Side(other[0].point, against))
            yield bandwidth_check(what, *sides, beside_gb_per_s=lost)


def _all_reads(figures: Figures) -> Iterator[Check]:
    """`mix` of reads alone against `stream`'s tuned read, each team."""
    streams = _stream_reads(figures)
    for point, summaries in _measured(figures, "mix"):
        if _share(point) != 1 or text_fact(point.requested, "order") != "sequential":
            continue
        team = "GPU" if gpu_of(point) else format_count(point.threads, "thread")
        what = f"mix, {_load(point)}, {team}"
        found = [entry for entry in streams if _same_load(point, entry[0])]
        if not found:
            yield from _without_figure(figures, what, point)
            continue
        other, against = found[0]
        for one, two in by_kind(summaries, against):
            yield bandwidth_check(what, Side(point.point, one), Side(other.point, two))


def _without_figure(figures: Figures, what: str, point: Point) -> Iterator[Check]:
    """Said where the other side was to be measured; nothing where it never was."""
    planned = [*figures.run.points_of("mix"), *figures.run.points_of("stream")]
    others = [p for p in planned if p.experiment != point.experiment and _same_load(point, p)]
    if others:
        why = "one side has no figure: all its samples were set aside"
        yield untold(what, point.point, others[0].point, "GB/s", why)


def _measured(figures: Figures, experiment: str) -> list[Measured]:
    """Points with figures, each with those of its regimes that matter."""
    return [(figures.run.points[name], s) for name, s in _by_name(figures, experiment)]


def _by_name(figures: Figures, experiment: str) -> list[tuple[str, list[PointSummary]]]:
    found: dict[str, list[PointSummary]] = {}
    for point, summary in figures.slices(experiment):
        if (summary.share or 0) >= LEAST_SHARE and "candidate" not in point.requested:
            found.setdefault(point.point, []).append(summary)
    return [*found.items()]


def _stream_reads(figures: Figures) -> list[Measured]:
    return [entry for entry in _measured(figures, "stream") if _is_tuned_read(entry[0])]


def _share(point: Point) -> float | None:
    return share_fact(point.requested, "read_share")


def _delay(point: Point) -> int | None:
    return number_fact(point.requested, "delay")


def _team_and_delay(point: Point) -> tuple[int, int]:
    generators, delay = number_fact(point.requested, "generators"), _delay(point)
    return generators or 0, -1 if delay is None else delay


def _load(point: Point) -> str:
    """As the name of the point says it, such as `50r-temporal`."""
    load = "/".join(point.point.split("/")[1:2])
    order = text_fact(point.requested, "order")
    return load if order == "sequential" else f"{load}, {order}"


def _same_load(point: Point, other: Point) -> bool:
    """As many threads or the same GPU, the same accesses in the same order, the same pages."""
    if point.threads != other.threads or not _same_pages(point, other):
        return False
    if gpu_of(point) != gpu_of(other):
        return False
    if other.experiment == "stream":
        reads = _share(point) == 1 and text_fact(point.requested, "order") == "sequential"
        return reads and _is_tuned_read(other)
    mine, its = _share(point), _share(other)
    if mine is None or its is None or abs(mine - its) > SAME_SHARE:
        return False
    keys = ("order",) if mine == 1 else ("order", "store")
    return all(text_fact(point.requested, key) == text_fact(other.requested, key) for key in keys)


def _is_tuned_read(point: Point) -> bool:
    requested = (text_fact(point.requested, "kernel"), text_fact(point.requested, "variant"))
    return (
        requested == ("read", "tuned")
        and "candidate" not in point.requested
        and point.role == "slice"
    )


def _same_pages(one: Point, other: Point) -> bool:
    return text_fact(one.actual, "pages") == text_fact(other.actual, "pages")


def _same_place(probe: Point, idle: Point) -> bool:
    """The same CPU waits for the same memory in the same pages, as far as both tell."""
    places = [
        (text_fact(probe.actual, "probe_cpu"), text_fact(idle.actual, "cpus")),
        (text_fact(probe.actual, "node"), text_fact(idle.actual, "node")),
    ]
    if gpu_of(probe) != gpu_of(idle):
        return False
    return _same_pages(probe, idle) and all(a == b for a, b in places if a and b)


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
                check.outcome,
                check.unit,
                check.one_name,
                check.other_name,
                check.figure,
                check.why,
            ]
            for check in checks
        ],
        note="In ns and GB/s. Apart: the one side from the other. Allowed for latencies: both "
        "intervals and the run-to-run drift; for bandwidths 3%, and what the probe itself reads "
        "where one runs beside, or what a GPU's L2 may keep of a footprint. Figures are "
        "sustained ones (90th percentile of speed), or medians where these have no interval yet.",
    )


def _verdicts(checks: Sequence[Check]) -> list[Verdict]:
    verdicts = [_disagreement(check) for check in checks if check.outcome == "disagrees"]
    agreed = sum(check.outcome == "agrees" for check in checks)
    untold_ones = [check for check in checks if check.outcome == "not known"]
    if agreed and agreed == len(checks):
        text = f"All {agreed} cross-checks between experiments agree."
        verdicts.append(Verdict(level="good", text=text))
    elif agreed:
        text = f"{agreed} of {len(checks)} cross-checks between experiments agree."
        verdicts.append(Verdict(level="note", text=text))
    if untold_ones:
        reasons = "; ".join(dict.fromkeys(check.why or "" for check in untold_ones))
        text = f"{len(untold_ones)} of {len(checks)} cross-checks are undecided: {reasons}."
        remedy = "give more --budget, or resume the run"
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
