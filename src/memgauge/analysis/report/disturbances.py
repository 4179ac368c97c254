"""What disturbed the samples of each experiment: reported beside the figures it spoils.

A sample is disturbed when the stretch of about a second that it ended in saw more steal or more of
other programs than is usual, or a slower clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from memgauge.analysis.figures.regimes import team_of
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.figures.speeds import is_timed_by_gpu, values_of
from memgauge.analysis.figures.spread import Growth, growth
from memgauge.analysis.figures.summary import by_regime
from memgauge.analysis.report.conditions import Stretches, stretch_at, stretches_of
from memgauge.analysis.section import QUIET, Verdict
from memgauge.model.points.stream import StreamRequested
from memgauge.model.records import Point

REPORTED_SHARE = 0.01
"""Of an experiment's samples: fewer disturbed ones are not worth a sentence."""
SPOILED_SHARE = 0.1
"""From here on it is a warning: the 90th percentile of speed stands on a tenth of the samples."""
CHANCE = 0.001
"""Of calling the spread of an experiment's points grown where none has."""
LEAST_SPREAD = 0.03
"""A spread that grew to less is still small."""
WORST = 2
"""Points named, where they are worse off than the others"""
WORSE = 1.5
"""by this factor."""


class Disturbed(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to the samples of one point."""

    point: str
    samples: int
    """In stretches that the kernel reported."""
    disturbed: int
    reasons: dict[str, int]
    taken: int
    """Samples in all."""
    switched_out: int
    """Set aside, because a thread was switched out against its will."""


def with_disturbances(figures: Figures, experiments: Sequence[str]) -> dict[str, list[Verdict]]:
    """Verdicts about the disturbed samples of each experiment, by its name."""
    stretches = stretches_of(figures.run)
    return {
        name: [
            *_disturbed_verdict([disturbed(figures, p, stretches) for p in _points(figures, name)]),
            *_growth_verdict(_grown(figures, name)),
        ]
        for name in experiments
    }


def disturbed(figures: Figures, point: Point, stretches: Stretches) -> Disturbed:
    """Count the samples of a point that fell into disturbed stretches.

    Args:
        figures: The run of the point.
        point: Point whose samples are counted.
        stretches: Stretches between environment records, by leg; a leg without any may be missing.
    """
    run = figures.run
    samples = run.samples_of(point.point)
    found = [
        stretch_at(sample, stretches.get(leg, ()))
        for sample, leg in zip(samples, run.legs[point.point], strict=True)
    ]
    known = [stretch for stretch in found if stretch is not None]
    summary = figures.summaries[point.point][0]
    return Disturbed(
        point=point.point,
        samples=len(known),
        disturbed=sum(bool(stretch.reasons) for stretch in known),
        reasons=Counter(reason for stretch in known for reason in stretch.reasons),
        taken=len(samples),
        switched_out=summary.switched_out if point.role == "slice" else 0,
    )


def _points(figures: Figures, experiment: str) -> list[Point]:
    """Points that figures are made of: variants that lost a search are left out.

    So are those that a GPU timed alone: what is reported about the host's processors does not
    disturb them.
    """
    return [
        point
        for point in figures.run.points_of(experiment)
        if not StreamRequested.of(point.requested).candidate and not is_timed_by_gpu(point)
    ]


def _disturbed_verdict(found: Sequence[Disturbed]) -> Iterator[Verdict]:
    known, taken = sum(one.samples for one in found), sum(one.taken for one in found)
    share = sum(one.disturbed for one in found) / known if known else 0.0
    aside = sum(one.switched_out for one in found)
    aside_share = aside / taken if taken else 0.0
    parts = [_share_text(found, known, share)] if share >= REPORTED_SHARE else []
    if aside_share >= REPORTED_SHARE:
        named = _worst({o.point: o.switched_out / o.taken for o in found if o.taken}, aside_share)
        text = f"{aside} of {taken} samples were set aside because a thread was switched out"
        parts.append(text + named)
    if parts:
        yield Verdict(
            level="warning" if max(share, aside_share) > SPOILED_SHARE else "note",
            text=f"{'; '.join(parts)}.",
            remedy=QUIET,
        )


def _share_text(found: Sequence[Disturbed], known: int, share: float) -> str:
    reasons: Counter[str] = Counter()
    for one in found:
        reasons.update(one.reasons)
    named = _worst({o.point: o.disturbed / o.samples for o in found if o.samples}, share)
    if len(reasons) == 1:
        return f"{share:.0%} of the samples were taken while {next(iter(reasons))}{named}"
    why = ", ".join(
        f"{count / known:.0%} while {reason}" for reason, count in reasons.most_common()
    )
    return f"{share:.0%} of the samples were disturbed ({why}){named}"


def _worst(shares: Mapping[str, float], usual: float) -> str:
    """The points that are far worse off than all together; empty where none is."""
    worst = sorted(shares.items(), key=lambda entry: -entry[1])[:WORST]
    named = [f"{point} ({share:.0%})" for point, share in worst if share > WORSE * usual]
    return f", most of all {' and '.join(named)}" if named else ""


def _grown(figures: Figures, experiment: str) -> tuple[list[tuple[str, Growth]], int]:
    """Points whose spread grew, beyond chance, and for how many this could be determined."""
    tested: list[tuple[str, Growth]] = []
    for point in _points(figures, experiment):
        if point.role == "slice":
            clean = values_of(point, figures.run.samples_of(point.point)).clean
            for members in by_regime(clean, figures.teams[team_of(point)]).values():
                found = growth([member.value for member in members])
                if found is not None:
                    tested.append((point.point, found))
    limit = CHANCE / max(1, len(tested))
    grown = [
        (name, found)
        for name, found in tested
        if found.p < limit and found.last > max(found.first, LEAST_SPREAD)
    ]
    return grown, len({name for name, _ in tested})


def _growth_verdict(found: tuple[list[tuple[str, Growth]], int]) -> Iterator[Verdict]:
    grown, known = found
    if grown:
        name, worst = max(grown, key=lambda entry: entry[1].last / max(entry[1].first, 1e-9))
        count = len({point for point, _ in grown})
        yield Verdict(
            level="warning",
            text=f"The spread of {count} of {known} points grew while measuring; most of all that "
            f"of {name}, from {worst.first:.1%} in its first third to {worst.last:.1%} in its "
            f"last.",
            remedy="something changed during the run: measure again, and compare both runs",
        )
