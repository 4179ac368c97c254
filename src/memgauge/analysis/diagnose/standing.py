"""Since which round of pressure a verdict stands: the verdicts that fewer rounds would have given.

A description of a diagnosis that has ended, for who plans the next one. It is no rule for ending
one: a run that is ended at the first verdict errs more often (`deciding`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from memgauge.analysis.diagnose.by_region.judged import pressures_of, treated_under
from memgauge.analysis.diagnose.figures import NAME, Diagnosis, diagnosis_of
from memgauge.analysis.diagnose.judgement import Kind, judge_with, judgement_of
from memgauge.analysis.diagnose.passes import Pass, passes_of
from memgauge.analysis.figures.run import Figures, once
from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.intervals import CONFIDENCE
from memgauge.model.points.diagnose import WRITE, DiagnoseRequested
from memgauge.model.units import format_count

MOST_LOOKS = 40
"""Of twice as many rounds or more, only every second, third and so on is looked at."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How early the verdict by pressure was what it is."""

    rounds: int
    """With writes, the pressure that every verdict rests on."""
    since: int | None
    """After so many of them, and after each one more, it was the same; None: it cannot be told."""


@once
def standing_of(figures: Figures) -> Standing | None:
    """How early the verdict stood; None: the run holds no diagnosis, or applied no pressure."""
    found = diagnosis_of(figures)
    if found is None or not found.pressures:
        return None
    points = figures.run.points_of(NAME)
    return standing(found, pressures_of(points), passes_of(points, figures.run.samples))


def standing(
    found: Diagnosis,
    requested: Mapping[str, DiagnoseRequested],
    passes: Mapping[str, Sequence[Pass]],
) -> Standing:
    """The verdict on the first rounds, from all of them down to the first that differs.

    Regimes and traffic are those of the whole diagnosis.

    Args:
        found: The diagnosis.
        requested: Of the program under pressure, by treatment; part doses have no say.
        passes: Of the program, by treatment, in order of rounds.
    """
    whole = {name: one for name, one in requested.items() if not one.step_of}
    rounds = sorted({one.round for one in passes.get(WRITE, ())})
    kind = judgement_of(found).kind
    if kind == "cannot tell":
        return Standing(rounds=len(rounds), since=None)
    since, step = len(rounds), max(1, len(rounds) // MOST_LOOKS)
    while since > step and _is_same(whole, passes, rounds[since - step - 1], found, kind):
        since -= step
    return Standing(rounds=len(rounds), since=since)


def _is_same(
    requested: Mapping[str, DiagnoseRequested],
    passes: Mapping[str, Sequence[Pass]],
    last: int,
    found: Diagnosis,
    kind: Kind,
) -> bool:
    """Whether the rounds up to the last one give that verdict."""
    taken = {name: [one for one in of if one.round <= last] for name, of in passes.items()}
    return judge_with(treated_under(requested, taken, CONFIDENCE), found).kind == kind


def standing_verdicts(one: Standing | None) -> list[Verdict]:
    """A sentence on it; none where nothing could be told.

    Args:
        one: None: no pressure was applied.
    """
    if one is None or one.since is None:
        return []
    if one.since == one.rounds:
        return [
            Verdict(
                level="note",
                text=f"Only the last of {format_count(one.rounds, 'round')} of pressure gave this "
                "verdict: no round after it has confirmed it.",
                remedy="give more rounds (--budget, --rounds)",
                about="conditions",
            )
        ]
    return [
        Verdict(
            level="note",
            text=f"The verdict on pressure has been the same since round {one.since} of "
            f"{one.rounds}.",
            about="conditions",
        )
    ]
