"""The section of the `workingset` points: the levels, as large as they are for this program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.figures.gpu_concurrency import in_flight_verdict
from memgauge.analysis.figures.gpu_points import (
    GPU_MEMORY,
    WHOLE,
    gpu_of,
    gpu_peak_gb_per_s,
    l2_bytes,
)
from memgauge.analysis.figures.run import Figures, once, series
from memgauge.analysis.section import (
    Axis,
    Band,
    Cell,
    Chart,
    Column,
    Rule,
    Section,
    Table,
    Verdict,
    section_of,
)
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.levels import find_levels
from memgauge.analysis.workingset.claims import Claim, Finding, claims_of, compare
from memgauge.analysis.workingset.verdicts import Claims, level_verdicts
from memgauge.model.points.rings import RingActual
from memgauge.model.points.workingset import WorkingsetRequested
from memgauge.model.records import Point

NOT_MEASURED = Verdict(level="warning", text="No latency was measured at any footprint.")

Curve = dict[int, Estimate]
"""Estimate by footprint in bytes, ascending."""


def analyse(figures: Figures) -> Section:
    """Curves, levels and verdicts of the working sets of a run."""
    curves = _curves(figures)
    claims = claims_for(figures)
    findings = find(figures)
    return section_of(
        "workingset",
        verdicts=[
            *(_verdicts(figures, findings, claims) if curves["latency"] else [NOT_MEASURED]),
            *in_flight_verdict(figures, "workingset"),
        ],
        tables=[_levels_table(findings, claims)] if findings else [],
        charts=[
            _chart(access, curve, findings, claims) for access, curve in curves.items() if curve
        ],
    )


@once
def find(figures: Figures) -> list[Finding]:
    """Levels found in the latency curve and claimed by the topology; empty without a curve."""
    return _findings(_curves(figures)["latency"], claims_for(figures))


def _findings(curve: Curve, claims: Claims) -> list[Finding]:
    if not curve:
        return []
    levels = find_levels([(size, estimate.value) for size, estimate in curve.items()])
    return compare(levels, claims.caches, max(curve), claims.unclaimed, [*curve])


@once
def claims_for(figures: Figures) -> Claims:
    """Of the CPU that walked, by the topology; of a GPU, what its driver reported then."""
    points = figures.run.points_of("workingset")
    if any(gpu_of(point) for point in points):
        return _gpu_claims(points)
    cpus = RingActual.of(points[0].actual).cpus if points else ""
    system = figures.run.start.system
    cpu = next((one.cpu for one in system.cpus if str(one.cpu) == cpus), None)
    return Claims(caches=claims_of(system, cpu), by="topology")


def _gpu_claims(points: list[Point]) -> Claims:
    size = l2_bytes(points)
    return Claims(
        caches=[Claim("L2", size)] if size else [],
        by="driver",
        unclaimed=("L1",) if size else ("L1", "L2"),
        memory=GPU_MEMORY,
        readers=WHOLE,
        of_gpu=True,
        peak_gb_per_s=gpu_peak_gb_per_s(points),
        others="a large L2 is in partitions, of which one multiprocessor may see a part only",
    )


def _curves(figures: Figures) -> dict[str, Curve]:
    """By access."""
    curves: dict[str, Curve] = {"latency": {}, "read": {}}
    for point, summary in figures.slices("workingset"):
        requested = WorkingsetRequested.of(point.requested)
        size, known = requested.footprint_bytes, requested.access in curves
        if known and size and summary.sustained is not None:
            curves[requested.access][size] = summary.sustained
    return {access: dict(sorted(curve.items())) for access, curve in curves.items()}


def _levels_table(findings: Sequence[Finding], claims: Claims) -> Table:
    return Table(
        name="levels",
        title="Levels found and claimed",
        columns=[
            Column(title="level"),
            Column(title="found", unit="B"),
            Column(title=claims.by, unit="B"),
            Column(title="latency", unit="ns", digits=2),
            Column(title="verdict"),
            Column(title="fits wholly", unit="B", narrow=False),
            Column(title="beyond", unit="B", narrow=False),
            Column(title="least on plateau", unit="ns", digits=2, narrow=False),
            Column(title="most on plateau", unit="ns", digits=2, narrow=False),
        ],
        rows=[_levels_row(finding, claims.name_of(finding)) for finding in findings],
        note="Found: the largest footprint whose latency is nearer to this level's than to the "
        "next one's.",
    )


def _levels_row(finding: Finding, name: str) -> list[Cell]:
    level = finding.level
    if level is None:
        nothing: list[Cell] = [None] * 4
        return [name, None, finding.claimed_bytes, None, finding.status, *nothing]
    return [
        name,
        level.capacity_bytes,
        finding.claimed_bytes,
        level.latency_ns,
        finding.status,
        level.fits_bytes,
        level.capacity_high_bytes,
        level.latency_low_ns,
        level.latency_high_ns,
    ]


def _chart(access: str, curve: Curve, findings: Sequence[Finding], claims: Claims) -> Chart:
    latency = access == "latency"
    y = (
        Axis(title="Latency", unit="ns", scale="log10")
        if latency
        else Axis(title="Bandwidth", unit="GB/s", from_zero=True)
    )
    sizes: list[float | str] = [float(size) for size in curve]
    name = "load-to-use latency" if latency else f"read bandwidth, {claims.readers}"
    by = f", {'one thread' if latency else claims.readers}" if claims.of_gpu else ""
    within = [claim for claim in claims.caches if claim.bytes <= max(curve)]
    return Chart(
        name="workingset-latency" if latency else "workingset-bandwidth",
        title=("Latency" if latency else "Read bandwidth") + f" over footprint{by}",
        kind="line",
        x=Axis(title="Footprint", unit="B", scale="log2"),
        y=y,
        series=[series(name, sizes, list(curve.values()))],
        bands=_bands(findings, claims, float(min(curve))),
        rules=[
            Rule(label=f"{claim.name} by {claims.by}", axis="x", value=float(claim.bytes))
            for claim in within
        ]
        + ([] if latency else _peak(claims)),
    )


def _peak(claims: Claims) -> list[Rule]:
    value = claims.peak_gb_per_s
    return [Rule(label="theoretical peak", axis="y", value=value)] if value else []


def _bands(findings: Sequence[Finding], claims: Claims, least: float) -> list[Band]:
    """Each level from its first footprint on the plateau to its end; transitions stay bare.

    Levels that end before the curve begins are left out, as an L1 that reads pass by.
    """
    return [
        Band(
            label=claims.name_of(finding),
            start=max(least, float(finding.level.first_bytes)),
            end=float(finding.level.capacity_low_bytes),
        )
        for finding in findings
        if finding.level is not None and finding.level.capacity_low_bytes >= least
    ]


def _verdicts(figures: Figures, findings: Sequence[Finding], claims: Claims) -> Iterator[Verdict]:
    """Of the levels, and of base pages: they raise the curve beyond the reach of the TLBs."""
    yield from level_verdicts(findings, claims)
    points = (point for point, _ in figures.slices("workingset"))
    pages = {RingActual.of(point.actual).pages for point in points}
    if any(name.endswith("k") or name == "mixed" for name in pages):
        text = (
            "Some footprints lie in base pages: the curve also shows the cost of translation there."
        )
        yield Verdict(level="note", text=text, remedy="measure with --pages thp or 2m")
