"""What the `workingset` points say: the levels, as large as they are for this program."""

from memgauge.analysis.claims import Claim, Finding, claims_of, compare
from memgauge.analysis.figures import Figures, number_fact, series, text_fact
from memgauge.analysis.levels import Level, find_levels
from memgauge.analysis.section import (
    Axis,
    Band,
    Cell,
    Chart,
    Column,
    Estimate,
    Rule,
    Section,
    Table,
    Verdict,
)
from memgauge.analysis.summary import PointSummary
from memgauge.model.records import Point
from memgauge.model.units import format_bytes

QUESTION = "What do latency and read bandwidth become as the data grows?"
ACCESSES = ("latency", "read")
Curve = dict[int, Estimate]
"""Estimate by footprint in bytes, ascending."""


def analyse(figures: Figures) -> Section:
    """Curves, levels and verdicts of the working sets of a run."""
    measured = list(figures.slices("workingset"))
    curves = {access: _curve(measured, access) for access in ACCESSES}
    findings = find(figures)
    claims = _claims(figures)
    return Section(
        name="workingset",
        title="Working sets",
        question=QUESTION,
        verdicts=_verdicts(findings, measured, curves["latency"]),
        tables=[_levels_table(findings)] if findings else [],
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
    return compare(levels, _claims(figures), max(curve))


def _claims(figures: Figures) -> list[Claim]:
    points = figures.run.points_of("workingset")
    cpus = [text_fact(p.effective, "cpus") or text_fact(p.effective, "cpu") for p in points]
    system = figures.run.start.system
    cpu = next((c.cpu for c in system.cpus if cpus and str(c.cpu) == cpus[0]), None)
    return claims_of(system, cpu)


def _curve(measured: list[tuple[Point, PointSummary]], access: str) -> Curve:
    curve: Curve = {}
    for point, summary in measured:
        size = number_fact(point.asked, "footprint_bytes")
        if size and text_fact(point.asked, "access") == access and summary.sustained is not None:
            curve[size] = summary.sustained
    return dict(sorted(curve.items()))


def _levels_table(findings: list[Finding]) -> Table:
    return Table(
        name="levels",
        title="Levels found and claimed",
        columns=[
            Column(title="level"),
            Column(title="found", unit="B"),
            Column(title="topology", unit="B"),
            Column(title="latency", unit="ns", digits=2),
            Column(title="verdict"),
            Column(title="fits wholly", unit="B", narrow=False),
            Column(title="beyond", unit="B", narrow=False),
            Column(title="least on plateau", unit="ns", digits=2, narrow=False),
            Column(title="most on plateau", unit="ns", digits=2, narrow=False),
        ],
        rows=[_levels_row(finding) for finding in findings],
        note="Found: the largest footprint whose latency is nearer to this level's than to the "
        "next one's.",
    )


def _levels_row(finding: Finding) -> list[Cell]:
    level = finding.level
    if level is None:
        nothing: list[Cell] = [None] * 4
        return [finding.name, None, finding.claimed_bytes, None, finding.status, *nothing]
    return [
        finding.name,
        level.capacity_bytes,
        finding.claimed_bytes,
        level.latency_ns,
        finding.status,
        level.fits_bytes,
        level.capacity_high_bytes,
        level.latency_low_ns,
        level.latency_high_ns,
    ]


def _chart(access: str, curve: Curve, findings: list[Finding], claims: list[Claim]) -> Chart:
    latency = access == "latency"
    y = (
        Axis(title="Latency", unit="ns", scale="log10")
        if latency
        else Axis(title="Bandwidth", unit="GB/s", from_zero=True)
    )
    sizes: list[float | str] = [float(size) for size in curve]
    name = "load-to-use latency" if latency else "read bandwidth, one thread"
    within = [claim for claim in claims if claim.bytes <= max(curve)]
    return Chart(
        name="workingset-latency" if latency else "workingset-bandwidth",
        title="Latency over footprint" if latency else "Read bandwidth over footprint",
        kind="line",
        x=Axis(title="Footprint", unit="B", scale="log2"),
        y=y,
        series=[series(name, sizes, list(curve.values()))],
        bands=_bands(findings),
        rules=[
            Rule(label=f"{claim.name} by topology", axis="x", value=float(claim.bytes))
            for claim in within
        ],
    )


def _bands(findings: list[Finding]) -> list[Band]:
    """Each level from its first footprint on the plateau to its end; transitions stay bare."""
    return [
        Band(
            label=finding.name,
            start=float(finding.level.first_bytes),
            end=float(finding.level.capacity_low_bytes),
        )
        for finding in findings
        if finding.level is not None
    ]


def _verdicts(
    findings: list[Finding], measured: list[tuple[Point, PointSummary]], curve: Curve
) -> list[Verdict]:
    if not curve:
        return [Verdict(level="warning", text="No latency over footprint was measured.")]
    verdicts = [verdict for finding in findings for verdict in _level_verdict(finding)]
    if findings and all(f.status in {"agrees", "memory"} for f in findings):
        verdicts.append(
            Verdict(level="good", text="Every cache level is as large as the topology says.")
        )
    if not any(finding.level for finding in findings):
        verdicts.append(
            Verdict(level="warning", text="The curve shows no plateau: no level was found.")
        )
    elif not any(f.status in {"memory", "end not seen"} for f in findings):
        text = "The curve still rises where it ends: no plateau of memory was seen."
        verdicts.append(Verdict(level="note", text=text, remedy="measure larger footprints"))
    return verdicts + _pages_verdict(measured)


def _level_verdict(finding: Finding) -> list[Verdict]:
    level, claimed = finding.level, finding.claimed_bytes
    remedy: str | None = None
    size = format_bytes(claimed) if claimed else ""
    match finding.status:
        case "smaller":
            text = f"{finding.name} holds {_between(level)}, not the {size} of the topology."
            remedy = "plan with the smaller size: other cores or guests use the rest"
        case "larger":
            text = f"{finding.name} holds {_between(level)}, more than the {size} claimed."
        case "hidden":
            text = f"A level of {_between(level)} was found that the topology does not show."
        case "not visible":
            text = f"{finding.name} of {size} is claimed, but the curve shows no such level."
            remedy = "run again when the machine is quiet: neighbours may hold the whole level"
        case "end not seen":
            text = f"The curve ends before the end of {finding.name} ({size or 'not claimed'})."
            return [Verdict(level="note", text=text, remedy="measure larger footprints")]
        case _:
            return []
    return [Verdict(level="warning", text=text, remedy=remedy)]


def _between(level: Level | None) -> str:
    if level is None:
        return "nothing"
    low = format_bytes(level.capacity_low_bytes)
    if level.capacity_high_bytes is None:
        return f"{low} or more"
    return f"{low} to {format_bytes(level.capacity_high_bytes)}"


def _pages_verdict(measured: list[tuple[Point, PointSummary]]) -> list[Verdict]:
    """Base pages raise the curve beyond the reach of the translation caches."""
    pages = {text_fact(point.effective, "pages") for point, _ in measured}
    if not any(name.endswith("k") or name == "mixed" for name in pages):
        return []
    text = "Some footprints lie in base pages: the curve also shows the cost of translation there."
    return [Verdict(level="note", text=text, remedy="measure with --pages thp or 2m")]
