"""How verdicts are ranked and marked, the same in every renderer."""

from collections.abc import Iterable, Sequence

from memgauge.analysis.section import Verdict
from memgauge.model.units import format_count

MOST_VERDICTS = 100
"""Most verdicts of one section; an untrusted run may contain any number of warnings."""

SYMBOLS = {"problem": "✗", "warning": "!", "note": "·", "good": "✓"}
"""By level, the most severe first."""

_RANKS = {level: rank for rank, level in enumerate(SYMBOLS)}


def apart(verdicts: Iterable[Verdict]) -> tuple[list[Verdict], list[Verdict]]:
    """Those on what was found, and those on conditions."""
    every = list(verdicts)
    return (
        [one for one in every if one.about == "result"],
        [one for one in every if one.about == "conditions"],
    )


def folded(conditions: Sequence[Verdict]) -> str:
    """The line that stands for verdicts on conditions."""
    count = format_count(len(conditions), "remark")
    graver = sum(1 for one in conditions if one.level in {"warning", "problem"})
    what = f", {format_count(graver, 'warning')} among them" if graver else ""
    return f"{count} on the machine and the recording{what}"


def ranked(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The most severe first, else in the order given."""
    return sorted(verdicts, key=lambda verdict: _RANKS[verdict.level])


def shown(verdicts: list[Verdict]) -> list[Verdict]:
    """The verdicts that a report shows, the gravest first, and how many others there are."""
    found = ranked(verdicts)
    more = len(found) - MOST_VERDICTS
    if more <= 0:
        return found
    text = f"{format_count(more, 'more remark')} like these, none more severe, not shown here."
    return [*found[:MOST_VERDICTS], Verdict(level="note", text=text)]
