"""What to do next: the verdicts of a run that can be acted upon, the most valuable first."""

from __future__ import annotations

from collections.abc import Iterable

from memgauge.analysis.section import QUIET, Level, Verdict

MOST_STEPS = 5
VALUE: dict[Level, int] = {"problem": 0, "warning": 1, "note": 2, "good": 3}


def _value(verdict: Verdict) -> tuple[int, bool]:
    """What the machine does wrong comes before what disturbed this run."""
    return VALUE[verdict.level], verdict.remedy == QUIET


def next_steps(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """At most five with a remedy, problems first; of those with the same remedy the first.

    Notes are left out where there is something worse to do.

    Args:
        verdicts: Of the run and of its sections, in the order in which a report shows them.
    """
    by_remedy: dict[str, Verdict] = {}
    for verdict in sorted(verdicts, key=_value):
        if verdict.remedy and verdict.level != "good":
            by_remedy.setdefault(verdict.remedy, verdict)
    found = [*by_remedy.values()]
    urgent = [one for one in found if one.level != "note"]
    return (urgent or found)[:MOST_STEPS]
