"""Verdicts on the regions that a program marks, each by its own time in the same passes.

Of several verdicts one is wrong more often than of one. So the intervals of each region are as much
wider as the number of regions asks for (Bonferroni): where each of K regions has intervals of
1 - 5% / K, all of them hold in 95% of the diagnoses at least.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

import msgspec

from memgauge.analysis.diagnose.by_region.traffic import (
    RegionOnCurve,
    RegionTraffic,
    counted_regions,
    region_on_curve,
    simulated_regions,
)
from memgauge.analysis.diagnose.figures import NAME, Treated, reference_values, treated_of
from memgauge.analysis.diagnose.judgement import OF_MEMORY, Judgement, Kind, judge
from memgauge.analysis.diagnose.passes import Pass, passes_of
from memgauge.analysis.diagnose.traffic import mean_ns
from memgauge.analysis.figures.run import Figures, once
from memgauge.analysis.section import Column, Table, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.paired import paired
from memgauge.model.points.diagnose import (
    COMPUTE,
    LATENCY,
    PROGRAM,
    WRITE,
    DiagnoseRequested,
    point_name,
)
from memgauge.model.records import Point, Sample

WRONG = 0.05
"""Chance that any interval of any region does not hold."""
WORDS: dict[Kind, str] = {
    "bandwidth": "limited by bandwidth",
    "latency": "limited by latency",
    "memory": "waits for memory",
    "cache": "depends on the shared cache",
    "translation": "limited by address translation",
    "not memory": "not limited by memory",
    "cannot tell": "cannot be told",
}


class RegionDiagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """One region: how much of a run it is, and what limits it."""

    name: str
    run_share: Estimate | None
    """Of the elapsed time of a run beside arithmetic, that at least one thread is inside."""
    time_s: Estimate | None
    """In a run beside arithmetic."""
    judgement: Judgement
    write: Treated | None
    """Under writes, where it was judged, or in most rounds; None: it could not be paired."""
    traffic: RegionTraffic | None = None
    """Counted; else simulated; None: neither."""
    simulated: RegionTraffic | None = None
    """None: not simulated."""
    on_curve: RegionOnCurve | None = None
    """Where `traffic` lies on a curve of this machine; None: none was named, or none is nearest."""


@once
def region_diagnoses(figures: Figures) -> list[RegionDiagnosis]:
    """Of each region that was timed, the longest first; none where none was."""
    points, taken = figures.run.points_of(NAME), figures.run.samples
    requested = pressures_of(points)
    passes = region_passes(points, taken)
    counted, simulated = counted_regions(figures), simulated_regions(figures)
    latency_ns = reference_values(figures.run, points).get(LATENCY, (None,))[0]
    found = []
    for name, of in passes.items():
        treated = treated_under(requested, of, confidence(len(passes)))
        traffic = counted.get(name) or simulated.get(name)
        judgement = judged_with(treated, traffic, simulated.get(name), latency_ns)
        writes = [one for one in treated if one.name == WRITE]
        judged = [one for one in writes if one.regime == judgement.regime]
        inside_s = [one.program for one in of.get(COMPUTE, [])]
        found.append(
            RegionDiagnosis(
                name=name,
                run_share=paired(_run_shares(taken, name)),
                time_s=paired(inside_s),
                judgement=judgement,
                write=next(iter(judged or writes), None),
                traffic=traffic,
                simulated=simulated.get(name),
                on_curve=region_on_curve(traffic, figures.run.curves),
            )
        )
    return found


def judged_with(
    treated: Sequence[Treated],
    traffic: RegionTraffic | None,
    simulated: RegionTraffic | None = None,
    latency_ns: float | None = None,
) -> Judgement:
    """By the rule for a whole run, with the most that the region may move.

    Args:
        treated: What each treatment did to it.
        traffic: Of the region; None: not known.
        simulated: Its own traffic: counted bytes are those of the whole machine. None: not known.
        latency_ns: Of a load from memory, beside arithmetic; None: not known.
    """
    share = traffic.peak_share if traffic is not None else None
    if traffic is None or share is None:
        return judge(treated)
    waits = None
    if latency_ns is not None:
        least = simulated.waits_share(latency_ns)[0] if simulated is not None else 0.0
        waits = least, traffic.waits_share(latency_ns)[1]
    return judge(treated, share[1], traffic.basis, is_most=traffic.is_range, waits=waits)


def confidence(regions: int) -> float:
    """Of the intervals of each, so that those of all hold together.

    Args:
        regions: How many have a verdict, one at least.
    """
    return 1 - WRONG / regions


def pressures_of(points: Sequence[Point]) -> dict[str, DiagnoseRequested]:
    """What was requested of the program under each pressure, by treatment.

    Args:
        points: Of one diagnosis.
    """
    every = [DiagnoseRequested.of(point.requested) for point in points]
    return {
        one.treatment: one for one in every if one.subject == PROGRAM and one.kind == "pressure"
    }


def region_passes(
    points: Sequence[Point], taken: Mapping[str, Sequence[Sample]]
) -> dict[str, dict[str, list[Pass]]]:
    """Passes by region and treatment, with the time in the region; the longest region first.

    Args:
        points: Of one diagnosis.
        taken: Samples by name of the point.
    """
    timed = [
        msgspec.structs.replace(one, requested={**one.requested, "metric_better": ""})
        for one in points
        if DiagnoseRequested.of(one.requested).kind == "pressure"
    ]
    seconds: dict[str, float] = {}
    for point in timed:
        for sample in taken.get(point.point, []):
            for name, inside_s in sample.regions_s.items():
                seconds[name] = seconds.get(name, 0.0) + fmean(inside_s or [0.0])
    programs = {
        one.point for one in timed if DiagnoseRequested.of(one.requested).subject == PROGRAM
    }
    return {
        name: passes_of(timed, {**taken, **{one: _inside(taken, one, name) for one in programs}})
        for name in sorted(seconds, key=lambda name: -seconds[name])
    }


def _inside(taken: Mapping[str, Sequence[Sample]], point: str, region: str) -> list[Sample]:
    return [
        msgspec.structs.replace(one, printed=inside_s)
        for one in taken.get(point, [])
        if (inside_s := one.regions_s.get(region))
    ]


def treated_under(
    requested: Mapping[str, DiagnoseRequested],
    passes: Mapping[str, Sequence[Pass]],
    confidence_: float,
) -> list[Treated]:
    """What each pressure did to one region.

    Args:
        requested: By treatment.
        passes: Of the region, by treatment.
        confidence_: Of all intervals, from 0 to 1.
    """
    return [
        found
        for one in requested.values()
        if one.baseline
        for found in treated_of(one, passes, confidence_)
    ]


def _run_shares(taken: Mapping[str, Sequence[Sample]], region: str) -> list[float]:
    return [
        fmean(inside_s) * 1e9 / mean_ns(one)
        for one in taken.get(point_name(PROGRAM, COMPUTE), [])
        if (inside_s := one.regions_s.get(region))
    ]


def regions_table(found: Sequence[RegionDiagnosis]) -> Table | None:
    """A row for each region; None: there is none."""
    if not found:
        return None
    return Table(
        name="diagnose-regions",
        title="Regions that it marks",
        columns=[
            Column(title="region"),
            Column(title="of a run", unit="%", digits=0),
            Column(title="rounds", digits=0),
            Column(title="under writes", digits=2),
            Column(title="verdict"),
            Column(title="like waiting", unit="%", digits=0, narrow=False),
            Column(title="like streaming", unit="%", digits=0, narrow=False),
            Column(title="why", narrow=False),
        ],
        rows=[
            [
                one.name,
                one.run_share,
                one.write.rounds if one.write else 0,
                one.write.program if one.write else None,
                WORDS[one.judgement.kind],
                *(_shares(one.judgement)),
                one.judgement.why,
            ]
            for one in found
        ],
        note=f"Each by the time inside it, in at least one thread. Intervals of "
        f"{confidence(len(found)):.1%}, so that all of them hold together in 95% of the diagnoses. "
        + ("" if any(one.traffic for one in found) else "Traffic of regions is not known."),
    )


def _shares(judgement: Judgement) -> tuple[Estimate | None, Estimate | None]:
    if judgement.kind not in OF_MEMORY:
        return None, None
    waiting = None if judgement.kind == "bandwidth" else judgement.latency_share
    return waiting, judgement.bandwidth_share


def region_verdicts(found: Sequence[RegionDiagnosis]) -> list[Verdict]:
    """One sentence for all regions; none where there is none."""
    words = region_words(found)
    return [Verdict(level="note", text=f"By region: {words}.")] if words else []


def region_words(found: Sequence[RegionDiagnosis]) -> str:
    """Such as `solve waits for memory (72% of a run); setup not limited by memory (20%)`."""
    return "; ".join(
        f"{one.name} {WORDS[one.judgement.kind]}"
        + (f" ({one.run_share.value:.0%} of a run)" if one.run_share else "")
        for one in found
    )
