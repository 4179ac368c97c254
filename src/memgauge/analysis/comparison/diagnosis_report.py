"""Two diagnoses in words, tables and pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from memgauge.analysis.comparison.diagnoses import (
    DIFFERS,
    Diagnosed,
    DiagnosisPair,
    DiagnosisRow,
)
from memgauge.analysis.comparison.names import named
from memgauge.analysis.diagnose.judgement import Kind
from memgauge.analysis.diagnose.verdicts import KINDS
from memgauge.analysis.figures.run import series
from memgauge.analysis.section import (
    AnswerFigure,
    AnswerLine,
    Axis,
    Cell,
    Chart,
    Column,
    Rule,
    Table,
    Verdict,
)
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import stated
from memgauge.analysis.statistics.significance import FALSE_SHARE
from memgauge.model.units import format_count

REPEATED = "diagnose each 3 times, in turns, and compare A1,A2,A3 B1,B2,B3"
SHORT: dict[Kind, str] = {
    "bandwidth": "bandwidth",
    "latency": "latency",
    "memory": "memory",
    "cache": "the shared cache",
    "translation": "address translation",
    "not memory": "no memory",
    "cannot tell": "what cannot be told",
}
BETWEEN = ", between these two runs"


def sensitivity(label: str, pair: DiagnosisPair) -> str:
    """Whether one is less sensitive to memory than the other, in a sentence.

    Args:
        label: Of the side that is not the baseline.
        pair: Both sides.
    """
    row = pair.deciding
    if row is None or row.difference is None:
        return f"Whether {label} is less sensitive to memory than A cannot be told."
    figures = f"time {row.words} changes by {_points(row.difference)} percentage points"
    if row.outcome == "same":
        return f"{label} is as sensitive to memory as A, as far as can be told: {figures}."
    word = "less" if row.difference.value < 0 else "more"
    doubt = "" if row.outcome == DIFFERS or row.stands else ", which may be chance"
    between = BETWEEN if row.outcome == DIFFERS else ""
    return f"{label} is {word} sensitive to memory than A{between}: {figures}{doubt}."


def _points(difference: Estimate) -> str:
    value, low, high = (100 * one for one in (difference.value, difference.low, difference.high))
    return f"{value:+.1f} ({low:+.1f} to {high:+.1f})"


def diagnosis_verdicts(label: str, pair: DiagnosisPair) -> Iterator[Verdict]:
    """The finding, what each diagnosis says, and what stands in the way of a comparison."""
    row = pair.deciding
    yield Verdict(
        level="warning" if row is None else "note",
        text=sensitivity(label, pair),
        remedy="give both more rounds (--budget, --rounds) on a quiet machine"
        if row is None
        else None,
    )
    yield Verdict(
        level="note", text=f"A: {_verdict(pair.baseline)} {label}: {_verdict(pair.other)}"
    )
    if pair.has_equal_doses is False:
        yield Verdict(
            level="warning",
            text="Pressure was not equally strong: under writes the latency reference took "
            f"{_doses(pair.baseline)} of its time in A and {_doses(pair.other)} in {label}. Shares "
            "allow for that; times under pressure do not.",
            remedy="diagnose both with the same --program-cpus and --pressure-cpus, in turns",
        )
    yield from _found(label, pair)


def _verdict(side: Sequence[Diagnosed]) -> str:
    if len(side) == 1:
        return f"{KINDS[side[0].verdict]}{_translation(side[0])}"
    counts = Counter(one.verdict for one in side).most_common()
    return " ".join(f"{KINDS[kind]} ({count} of {len(side)} runs)" for kind, count in counts)


def _translation(one: Diagnosed) -> str:
    """A sentence on translation where it is told of the program; else nothing."""
    found = one.translation
    if found is None or found.kind not in {"translation", "spared"}:
        return ""
    return f" Address translation: {found.short}."


def _doses(side: Sequence[Diagnosed]) -> str:
    return " and ".join(f"{100 * one.dose.value:.0f}%" for one in side if one.dose is not None)


def _found(label: str, pair: DiagnosisPair) -> Iterator[Verdict]:
    """Which figures differ, and how many would by chance."""
    judged = [row for row in pair.rows if row.outcome != "not known"]
    changed = [row for row in judged if row.outcome != "same"]
    if judged:
        names = f": {named([row.words for row in changed])}" if changed else ""
        expected = FALSE_SHARE * len(judged)
        yield Verdict(
            level="note",
            text=f"{len(changed)} of {format_count(len(judged), 'figure')} of {label} differ from "
            f"A's{names}. By chance alone about {expected:.1g} would at 95%.",
            remedy=REPEATED if len(pair.baseline) == len(pair.other) == 1 else None,
        )
    left = [row.words for row in pair.rows if row.outcome == "not known"]
    if left:
        yield Verdict(
            level="note",
            text=f"Not known of both: {named(left)}. A program that depends on the cache, or of "
            "which nothing can be told, has no shares of time.",
        )


def diagnosis_tables(label: str, pair: DiagnosisPair) -> list[Table]:
    """Both diagnoses, and their figures side by side."""
    return [
        Table(
            name=f"compare-{label}-diagnoses",
            title="Diagnoses",
            columns=[
                Column(title=""),
                Column(title="verdict"),
                Column(title="time of a run, or metric", digits=3),
                Column(title="latency reference under writes", unit="%"),
                Column(title="program", narrow=False),
                Column(title="translation", narrow=False),
                Column(title="metric", narrow=False),
                Column(title="why", narrow=False),
            ],
            rows=[
                [name, KINDS[one.verdict], _cell(one.time), _cell(one.dose), *_texts(one)]
                for name, side in (("A", pair.baseline), (label, pair.other))
                for one in side
            ],
        ),
        Table(
            name=f"compare-{label}-sensitivity",
            title="Sensitivity to memory",
            columns=[
                Column(title="time"),
                Column(title="A", unit="%"),
                Column(title=label, unit="%"),
                Column(title=f"{label}-A", unit="%"),
                Column(title="verdict"),
            ],
            rows=[
                [
                    row.words,
                    _cell(row.baseline),
                    _cell(row.other),
                    _cell(row.difference),
                    outcome_words(row),
                ]
                for row in pair.rows
            ],
            note="Time like waiting, like streaming: share of the program's time for which it "
            "slows down as the reference does. Time in address translation: share of its processor "
            "time that huge pages save beyond page faults. Time under pressure: over that beside "
            "arithmetic. Time with a variant: over the usual way. Of several runs a side the mean.",
        ),
    ]


def _texts(one: Diagnosed) -> list[Cell]:
    found = one.translation
    return [one.program or None, found.short if found else None, one.metric, one.why]


def _cell(estimate: Estimate | None) -> Cell:
    return stated(estimate)


def outcome_words(row: DiagnosisRow) -> str:
    """The outcome; with a question mark if several runs a side do not confirm it among all."""
    if row.outcome == DIFFERS:
        return "differs"
    return row.outcome + ("?" if row.outcome in {"more", "less"} and not row.stands else "")


def diagnosis_chart(label: str, pair: DiagnosisPair) -> list[Chart]:
    """Figures of both sides as bars."""
    rows = [row for row in pair.rows if row.baseline is not None and row.other is not None]
    if not rows:
        return []
    names: list[float | str] = [row.words for row in rows]
    return [
        Chart(
            name=f"compare-{label}-sensitivity",
            title=f"Sensitivity to memory of A and {label}",
            kind="bar",
            x=Axis(title="time", unit=""),
            y=Axis(title="of the time without pressure or change", unit="%", from_zero=True),
            series=[
                series("A", names, [row.baseline for row in rows]),
                series(label, names, [row.other for row in rows]),
            ],
            rules=[Rule(label="no effect on time", axis="y", value=1.0)],
        )
    ]


def diagnosis_lines(label: str, pair: DiagnosisPair, most: int) -> Iterator[AnswerLine]:
    """Verdicts and figures of both sides, in the order of the tables.

    Args:
        label: Of the other side, such as B.
        pair: Both sides.
        most: Lines at most.
    """
    verdicts = (
        f"{name} {' or '.join(dict.fromkeys(SHORT[one.verdict] for one in side))}"
        for name, side in (("A", pair.baseline), (label, pair.other))
    )
    yield AnswerLine(label="Limited by", figures=[], detail=", ".join(verdicts))
    known = [row for row in pair.rows if row.difference is not None]
    for row in known[: most - 1]:
        yield AnswerLine(
            label=row.words[0].upper() + row.words[1:],
            figures=[
                AnswerFigure(name="A", value=_cell(row.baseline), unit="%"),
                AnswerFigure(name=label, value=_cell(row.other), unit="%"),
                AnswerFigure(name=f"{label}-A", value=_cell(row.difference), unit="%"),
            ],
            detail=outcome_words(row),
        )
