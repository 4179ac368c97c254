"""What the `workingset` points say: the levels, as large as they are for this program."""

from memgauge.analysis.figures.gpu_concurrency import in_flight_verdict
from memgauge.analysis.figures.gpu_points import (
    GPU_MEMORY,
    WHOLE,
    gpu_of,
    gpu_peak_gb_per_s,
    l2_bytes,
)
from memgauge.analysis.figures.run import Figures, number_fact, series, text_fact
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.section import Axis, Band, Cell, Chart, Column, Rule, Section, Table, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.levels import find_levels
from memgauge.analysis.workingset.claims import Claim, Finding, claims_of, compare
from memgauge.analysis.workingset.verdicts import Claims, level_verdicts
from memgauge.model.records import Point

QUESTION = "What do latency and read bandwidth become as the data grows?"
ACCESSES = ("latency", "read")
Curve = dict[int, Estimate]
"""Estimate by footprint in bytes, ascending."""


def analyse(figures: Figures) -> Section:
    """Curves, levels and verdicts of the working sets of a run."""
    measured = list(figures.slices("workingset"))
    curves = {access: _curve(measured, access) for access in ACCESSES}
    findings = find(figures)
    claims = claims_for(figures)
    return Section(
        name="workingset",
        title="Working sets",
        question=QUESTION,
        verdicts=[
            *_verdicts(findings, measured, curves["latency"], claims),
            *in_flight_verdict(figures, "workingset"),
        ],
        tables=[_levels_table(findings, claims)] if findings else [],
        charts=[
            _chart(access, curves[access], findings, claims)
            for access in ACCESSES
            if curves[access]
        ],
    )


def find(figures: Figures) -> list[Finding]:
    """Levels found in the latency curve and claimed by the topology; empty without a curve."""
    curve = _curve(list(figures.slices("workingset")), "latency")
    if not curve:
        return []
    levels = find_levels([(size, estimate.value) for size, estimate in curve.items()])
    claims = claims_for(figures)
    return compare(levels, claims.caches, max(curve), claims.unclaimed)


def claims_for(figures: Figures) -> Claims:
    """Of the CPU that walked, by the topology; of a GPU, what its driver reported then."""
    points = figures.run.points_of("workingset")
    if any(gpu_of(point) for point in points):
        return _gpu_claims(points)
    cpus = [text_fact(p.actual, "cpus") or text_fact(p.actual, "cpu") for p in points]
    system = figures.run.start.system
    cpu = next((c.cpu for c in system.cpus if cpus and str(c.cpu) == cpus[0]), None)
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


def _curve(measured: list[tuple[Point, PointSummary]], access: str) -> Curve:
    curve: Curve = {}
    for point, summary in measured:
        size = number_fact(point.requested, "footprint_bytes")
        if (
            size
            and text_fact(point.requested, "access") == access
            and summary.sustained is not None
        ):
            curve[size] = summary.sustained
    return dict(sorted(curve.items()))


def _levels_table(findings: list[Finding], claims: Claims) -> Table:
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


def _chart(access: str, curve: Curve, findings: list[Finding], claims: Claims) -> Chart:
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


def _bands(findings: list[Finding], claims: Claims, least: float) -> list[Band]:
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


def _verdicts(
    findings: list[Finding],
    measured: list[tuple[Point, PointSummary]],
    curve: Curve,
    claims: Claims,
) -> list[Verdict]:
    if not curve:
        return [Verdict(level="warning", text="No latency over footprint was measured.")]
    return [*level_verdicts(findings, claims), *_pages_verdict(measured)]


def _pages_verdict(measured: list[tuple[Point, PointSummary]]) -> list[Verdict]:
    """Base pages raise the curve beyond the reach of the translation caches."""
    pages = {text_fact(point.actual, "pages") for point, _ in measured}
    if not any(name.endswith("k") or name == "mixed" for name in pages):
        return []
    text = "Some footprints lie in base pages: the curve also shows the cost of translation there."
    return [Verdict(level="note", text=text, remedy="measure with --pages thp or 2m")]
