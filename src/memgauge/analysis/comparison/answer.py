"""The verdict of a comparison and the figures that matter most, in a screen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from statistics import median

from memgauge.analysis.comparison import diagnosis_report
from memgauge.analysis.comparison.diagnosis_report import diagnosis_lines, sensitivity
from memgauge.analysis.comparison.figures import Direction
from memgauge.analysis.comparison.names import NOUNS, labels_of
from memgauge.analysis.comparison.ratios import DIFFERS, Comparison, Pair, Row
from memgauge.analysis.comparison.verdicts import condition_verdicts, pair_verdicts
from memgauge.analysis.section import (
    Answer,
    AnswerFigure,
    AnswerLine,
    Verdict,
    digits_for,
)
from memgauge.analysis.statistics.intervals import stated
from memgauge.model.units import format_count

KEYS = (
    (r"stream/(triad|copy|read|write)/tuned/double/(\d+)t", "{0}, {1}t"),
    (r"latency/DRAM/(block-random|random)/(\w+)", "DRAM, {0}, {1}"),
    (r"latency/(L\d)/random/(\w+)", "{0}, {1}"),
    (r"loaded/100r/sequential/(\d+)g/d0(/traffic)?", "full load of reads{1}"),
)
"""Names of the figures that matter, the most important first, and what they are called."""
MOST_LINES = 10
MOST_WARNINGS = 4
REPEATED = "compare 3 a side (survey --repeat 3)"


def is_key(name: str) -> bool:
    """Whether a figure is one of those that matter most: what `--fail-if-slower` gates.

    Args:
        name: Of the figure, such as `stream/triad/tuned/double/2t`.
    """
    return any(re.fullmatch(pattern, name) for pattern, _ in KEYS)


def answer_of(comparison: Comparison) -> Answer:
    """For each source its verdict against the baseline and its key figures.

    With several sources their key figures are fewer, so that all fit a screen.
    """
    labels = labels_of(comparison.sources)[1:]
    most = max(2, MOST_LINES // len(comparison.pairs))
    pairs = list(zip(labels, comparison.pairs, strict=True))
    alone = not any(pair.has_several_runs for pair in comparison.pairs)
    is_open = alone and any(_is_judged(pair) and not _is_itself(pair) for pair in comparison.pairs)
    remedy = REPEATED if any(pair.rows for pair in comparison.pairs) else diagnosis_report.REPEATED
    step = Verdict(level="note", text="One run a side decides nothing.", remedy=remedy)
    warned = [
        *condition_verdicts(comparison),
        *(verdict for label, pair in pairs for verdict in pair_verdicts(label, pair)),
    ]
    warned = [one for one in warned if one.level in {"problem", "warning"}][:MOST_WARNINGS]
    return Answer(
        quality=None,
        sentences=[one for label, pair in pairs for one in _sentences(label, pair)],
        lines=[line for label, pair in pairs for line in _lines(label, pair, most)],
        next_steps=[*warned, *([step] if is_open else [])],
    )


def _is_judged(pair: Pair) -> bool:
    return bool(pair.judged or (pair.diagnosis and pair.diagnosis.deciding))


def _sentences(label: str, pair: Pair) -> Iterator[str]:
    if pair.diagnosis is not None and not _is_itself(pair):
        yield sensitivity(label, pair.diagnosis)
    if pair.rows or pair.diagnosis is None or _is_itself(pair):
        yield _verdict(label, pair)


def _lines(label: str, pair: Pair, most: int) -> Iterator[AnswerLine]:
    if pair.diagnosis is not None:
        yield from diagnosis_lines(label, pair.diagnosis, most)
    yield from _figures(label, pair, most)


def _is_itself(pair: Pair) -> bool:
    return pair.baseline.run_id is not None and pair.baseline.run_id == pair.other.run_id


def _verdict(label: str, pair: Pair) -> str:
    if _is_itself(pair):
        return f"{label} is the same run as A."
    said = [words for direction in NOUNS for words in _direction(pair, direction)]
    if not said:
        return f"{label} against A: no figure has intervals on both sides."
    sure = "Sure, as far as these runs vary." if pair.has_several_runs else "Not sure."
    return f"{label} against A: {'; '.join(said)}. {sure}"


def _direction(pair: Pair, direction: Direction) -> Iterator[str]:
    """Such as `bandwidth 3.0% slower at the median, 5 of 75 figures differ`."""
    rows = [row for row in pair.judged if row.direction == direction]
    if not rows:
        return
    beyond = [row for row in rows if row.stands or row.outcome == DIFFERS]
    noun, count = NOUNS[direction], format_count(len(rows), "figure")
    if not beyond:
        yield f"{noun} the same in {count}"
        return
    change = median(row.speed.value for row in rows) - 1
    words = ("more", "less") if direction == "neither" else ("faster", "slower")
    size = f"{abs(change):.1%}"
    side = words[0] if change > 0 else words[1]
    middle = f"{size} {side} at the median" if size != "0.0%" else "the same at the median"
    yield f"{noun} {middle}, {len(beyond)} of {count} differ"


def _figures(label: str, pair: Pair, most: int) -> Iterator[AnswerLine]:
    """The key figures of both sides in the nearest regime; without any those that differ most."""
    once = {row.name: row for row in reversed(pair.rows)}
    rows = [row for row in pair.rows if once[row.name] is row]
    found = [(row, words) for pattern in KEYS for row, words in _matching(rows, *pattern)]
    if not found:
        apart = sorted(pair.rows, key=lambda row: -abs(row.speed.value - 1))
        found = [(row, row.name) for row in apart]
    for row, words in found[:most]:
        digits = digits_for((row.baseline.value, row.other.value))
        regime = f", {row.regime}" if row.regime not in {"", "one regime"} else ""
        yield AnswerLine(
            label=f"{words}{regime}",
            figures=[
                AnswerFigure(name="A", value=stated(row.baseline), unit=row.unit, digits=digits),
                AnswerFigure(name=label, value=stated(row.other), unit=row.unit, digits=digits),
                AnswerFigure(name=f"{label}/A", value=stated(row.widened), digits=3),
            ],
        )


def _matching(rows: Sequence[Row], pattern: str, words: str) -> list[tuple[Row, str]]:
    """Rows whose names match; of teams the largest, then one thread."""
    matched = [(row, found) for row in rows if (found := re.fullmatch(pattern, row.name))]
    if words.endswith("t"):
        teams = {int(found[2]) for _, found in matched}
        kept = {max(teams, default=0), 1}
        matched = [one for one in matched if int(one[1][2]) in kept]
        matched.sort(key=lambda one: (-int(one[1][2]), one[0].name.find("triad") < 0))
        matched = [one for one in matched if int(one[1][2]) > 1 or one[1][1] == "triad"]
    named = []
    for row, found in matched:
        parts = [(part or "").replace("/traffic", ", bandwidth") for part in found.groups()]
        named.append((row, words.format(*parts)))
    return named
