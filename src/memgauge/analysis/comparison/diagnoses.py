"""Two diagnoses side by side: is the one program less sensitive to memory than the other?

Every figure of a diagnosis is a ratio of times of the same rounds, or a share made of such ratios:
the pace of a machine is in none of them, so that differences are not widened by it. What else
varies between runs, such as where pages lie, is: one run a side shows what differs between these
two runs, several a side what differs (`between_runs`). The verdict on sensitivity rests on one
figure, named beforehand, and so needs no correction for many comparisons: the share of time by the
latency reference, which allows for how strong pressure was, or else the slowdown under writes where
pressure was equally strong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fnmatch import fnmatchcase
from statistics import fmean
from typing import Literal

import msgspec

from memgauge.analysis.diagnose.figures import Diagnosis, Treated, diagnosis_of
from memgauge.analysis.diagnose.judgement import OF_MEMORY, Judgement, Kind, judgement_of
from memgauge.analysis.diagnose.translation import Translation
from memgauge.analysis.diagnose.translation_evidence import translation_of, verdict_of
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.statistics.between_runs import can_be_judged, judge
from memgauge.analysis.statistics.differences import difference
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.model.points.diagnose import AS_IT_IS, CACHE, LATENCY, READ, WRITE

PREFIX = "diagnose/"
LATENCY_SHARE = "diagnose/share/latency"
BANDWIDTH_SHARE = "diagnose/share/bandwidth"
TRANSLATION_SHARE = "diagnose/share/translation"
WRITE_SLOWDOWN = "diagnose/slowdown/write"
WORDS = {
    LATENCY_SHARE: "like waiting for memory",
    BANDWIDTH_SHARE: "like streaming",
    TRANSLATION_SHARE: "in address translation",
    WRITE_SLOWDOWN: "under writes",
    "diagnose/slowdown/read": "under reads",
    "diagnose/slowdown/cache": "under cache pressure",
}
UNEQUAL_DOSE = 0.05
"""Difference of the latency reference's slowdowns, at the nearer end, from which on the pressure of
two runs was not equally strong."""
DIFFERS: Literal["differs between these two runs"] = "differs between these two runs"
Outcome = Literal["more", "less", "differs between these two runs", "same", "not known"]


class Diagnosed(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared of the diagnosis of one run."""

    program: str
    verdict: Kind
    why: str
    metric: str
    """What the time of the program is."""
    time: Estimate | None
    """Of one run, or what was printed."""
    dose: Estimate | None
    """Slowdown of the latency reference under writes."""
    figures: dict[str, Estimate | None]
    """By name; None: not known."""
    translation: Translation | None = None
    """What pages tell; None: no other pages were tried."""


class DiagnosisRow(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of both diagnoses."""

    name: str
    baseline: Estimate | None
    """Of several runs their mean."""
    other: Estimate | None
    difference: Estimate | None
    """Other less baseline; its interval is unbounded where none is known."""
    outcome: Outcome
    stands: bool
    """Several runs a side show it, all figures taken together; never of one run a side."""

    @property
    def words(self) -> str:
        """What it is called after the word time."""
        return WORDS.get(self.name) or f"with {self.name.rpartition('/')[2]}"


class DiagnosisPair(msgspec.Struct, frozen=True, kw_only=True):
    """Two sides of diagnoses."""

    baseline: list[Diagnosed]
    """Of each run."""
    other: list[Diagnosed]
    rows: list[DiagnosisRow]
    has_equal_doses: bool | None
    """Whether pressure was equally strong; None: not known."""

    @property
    def deciding(self) -> DiagnosisRow | None:
        """The row by which one is less sensitive than the other; None: it cannot be told."""
        known = {row.name: row for row in self.rows if row.outcome != "not known"}
        row = known.get(LATENCY_SHARE)
        if row is None and self.has_equal_doses:
            row = known.get(WRITE_SLOWDOWN)
        return row


def diagnosed_of(figures: Figures) -> Diagnosed | None:
    """What a run's diagnosis offers to be compared; None: it holds none."""
    found = diagnosis_of(figures)
    if found is None:
        return None
    judgement, verdict, translation = judgement_of(found), verdict_of(found), translation_of(found)
    treated = {
        one.name: one
        for one in reversed(found.pressures)
        if one.regime == judgement.regime or not judgement.regime
    }
    write = treated.get(WRITE)
    elapsed = f"time in region {found.region}" if found.region else "elapsed time"
    metric = found.metric or ("what the metric command prints" if found.process else elapsed)
    return Diagnosed(
        program=found.process.name if found.process else found.command,
        verdict=verdict.kind,
        why=verdict.why,
        metric=f"1 over {metric}" if found.is_rate else metric,
        time=found.program_time,
        dose=write.references.get(LATENCY) if write else None,
        figures=_figures(found, judgement, treated) | _share(translation),
        translation=translation,
    )


def _figures(
    found: Diagnosis, judgement: Judgement, treated: dict[str, Treated]
) -> dict[str, Estimate | None]:
    """Shares where they have a meaning: not of what lives in the cache, nor where none is told."""
    has_shares = judgement.kind in OF_MEMORY | {"not memory"}
    made: dict[str, Estimate | None] = {}
    if found.pressures:
        made[LATENCY_SHARE] = judgement.latency_share if has_shares else None
        made[BANDWIDTH_SHARE] = judgement.bandwidth_share if has_shares else None
    for name in (WRITE, READ, CACHE):
        if name in treated:
            made[f"diagnose/slowdown/{name}"] = treated[name].program
    variants = (one for one in found.variants if one.change)
    return made | {f"diagnose/variant/{one.name}": one.program for one in variants}


def _share(translation: Translation | None) -> dict[str, Estimate | None]:
    """What goes to translation as the program is; not of one on huge pages, nor untold."""
    if translation is None:
        return {}
    is_known = translation.kind in {"translation", "little"} and translation.base == AS_IT_IS
    saved = translation.saved if is_known else None
    return {TRANSLATION_SHARE: saved.beyond_faults} if saved else {}


def matching(diagnosed: Diagnosed | None, pattern: str) -> Diagnosed | None:
    """With the figures whose names match a glob; None: there are none."""
    if diagnosed is None:
        return None
    kept = {name: one for name, one in diagnosed.figures.items() if fnmatchcase(name, pattern)}
    return msgspec.structs.replace(diagnosed, figures=kept) if kept else None


def pair_diagnoses(
    baseline: Sequence[Diagnosed | None], other: Sequence[Diagnosed | None]
) -> DiagnosisPair | None:
    """The figures that all runs of both sides have; None: a run holds no diagnosis.

    Args:
        baseline: Of each of its runs.
        other: Of each of its runs.
    """
    ours, theirs = ([one for one in side if one is not None] for side in (baseline, other))
    if len(ours) < len(baseline) or len(theirs) < len(other) or not ours or not theirs:
        return None
    every = [*ours, *theirs]
    names = [name for name in ours[0].figures if all(name in one.figures for one in every)]
    alone = len(every) == 2
    rows = [_of_two(name, ours[0], theirs[0]) for name in names] if alone else []
    return DiagnosisPair(
        baseline=ours,
        other=theirs,
        rows=rows if alone else _of_several(names, ours, theirs),
        has_equal_doses=_has_equal_doses(every),
    )


def _of_two(name: str, baseline: Diagnosed, other: Diagnosed) -> DiagnosisRow:
    one, two = baseline.figures[name], other.figures[name]
    found = difference(two, one)
    outcome: Outcome = "not known"
    if found is not None and math.isfinite(found.high - found.low):
        outcome = "same" if found.low <= 0 <= found.high else DIFFERS
    return DiagnosisRow(
        name=name, baseline=one, other=two, difference=found, outcome=outcome, stands=False
    )


def _of_several(
    names: Sequence[str], baseline: Sequence[Diagnosed], other: Sequence[Diagnosed]
) -> list[DiagnosisRow]:
    """By what varies between runs; their own intervals are within it."""
    values = {
        name: [
            [one.value for run in side if (one := run.figures[name])] for side in (baseline, other)
        ]
        for name in names
    }
    known = [
        name
        for name in names
        if [len(side) for side in values[name]] == [len(baseline), len(other)]
    ]
    judged = {}
    if known and can_be_judged(len(baseline), len(other)):
        sides = [list(zip(*(values[name][at] for name in known), strict=True)) for at in (0, 1)]
        figures = judge(sides[0], sides[1], has_pace=False).figures
        judged = dict(zip(known, figures, strict=True))
    rows = []
    for name in names:
        means = [
            Estimate(fmean(side), -math.inf, math.inf) if name in known else None
            for side in values[name]
        ]
        found = judged.get(name)
        interval = None
        outcome: Outcome = "not known"
        if found is not None:
            interval = Estimate(
                found.value, found.value - found.half_width, found.value + found.half_width
            )
            outcome = _direction(interval)
        rows.append(
            DiagnosisRow(
                name=name,
                baseline=means[0],
                other=means[1],
                difference=interval,
                outcome=outcome,
                stands=found is not None and found.stands and outcome != "same",
            )
        )
    return rows


def _direction(interval: Estimate) -> Outcome:
    if interval.low <= 0 <= interval.high:
        return "same"
    return "more" if interval.value > 0 else "less"


def _has_equal_doses(every: Sequence[Diagnosed]) -> bool | None:
    """Whether the latency reference was slowed alike in all runs, by intervals within them."""
    doses = [one.dose for one in every]
    if not all(map(has_interval, doses)):
        return None
    gaps = [difference(one, doses[0]) for one in doses[1:]]
    return all(
        gap is not None and gap.low < UNEQUAL_DOSE and gap.high > -UNEQUAL_DOSE for gap in gaps
    )
