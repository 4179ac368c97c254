"""A comparison as a report: what every renderer takes."""

import math
from collections.abc import Sequence
from statistics import median

import msgspec

from memgauge.analysis.comparison.answer import answer_of
from memgauge.analysis.comparison.charts import charts
from memgauge.analysis.comparison.diagnoses import DiagnosisRow
from memgauge.analysis.comparison.diagnosis_report import diagnosis_chart, diagnosis_tables
from memgauge.analysis.comparison.names import NOUNS, labels_of, shortened
from memgauge.analysis.comparison.paces import paces_tables
from memgauge.analysis.comparison.ratios import DIFFERS, Comparison, Outcome, Pair, Row
from memgauge.analysis.comparison.verdicts import pair_verdicts, source_verdicts
from memgauge.analysis.section import Cell, Column, Headline, Report, Section, Table, digits_for
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import stated
from memgauge.model.units import format_count

DIRECTIONS = {"higher": "more is better", "lower": "less is better", "neither": ""}
OUTCOMES: tuple[Outcome, ...] = (
    "faster",
    "slower",
    "more",
    "less",
    DIFFERS,
    "same",
    "not known",
)
MOST_LEADING = 2
"""Pictures beside the answer."""
_SHORT_DIFFERS = "differs"
"""In a table; its section says between what."""


def report_of(comparison: Comparison) -> Report:
    """Sections: the sources, then each source against the first."""
    sources = comparison.sources
    labels = labels_of(sources)
    pairs = [_section(a, p) for a, p in zip(labels[1:], comparison.pairs, strict=True)]
    leading = [chart.name for section in pairs for chart in section.charts][:MOST_LEADING]
    return Report(
        run_id=" and ".join(source.run_id or source.name for source in sources),
        started_at="",
        title=_title(comparison),
        machine="; ".join(f"{a} is {s.name}" for a, s in zip(labels, sources, strict=True)),
        complete=all(source.complete for source in sources),
        status=_status(comparison),
        verdicts=source_verdicts(comparison),
        sections=[
            *_sources(comparison),
            *pairs,
        ],
        system=_facts("system", "Machines", [source.traits for source in sources], labels),
        headlines=_headlines(comparison),
        answer=msgspec.structs.replace(answer_of(comparison), charts=leading),
    )


def _title(comparison: Comparison) -> str:
    only = all(pair.diagnosis and not pair.rows for pair in comparison.pairs)
    return "Comparison of diagnoses" if only else "Comparison of memory figures"


def _status(comparison: Comparison) -> str:
    rows: list[Row | DiagnosisRow] = [row for pair in comparison.pairs for row in pair.rows]
    rows += [row for pair in comparison.pairs if pair.diagnosis for row in pair.diagnosis.rows]
    counts = [(sum(row.outcome == outcome for row in rows), outcome) for outcome in OUTCOMES]
    words: dict[str, str] = {DIFFERS: "different between two runs"}
    said = ", ".join(f"{count} {words.get(outcome, outcome)}" for count, outcome in counts if count)
    return f"{format_count(len(rows), 'figure')} compared with A: {said}"


def _headlines(comparison: Comparison) -> list[Headline]:
    """The median ratio of each pair, as an overall result."""
    found = []
    for label, pair in zip(labels_of(comparison.sources)[1:], comparison.pairs, strict=True):
        for direction, noun in NOUNS.items():
            ratios = [row.ratio.value for row in pair.rows if row.direction == direction]
            ratios = [value for value in ratios if math.isfinite(value)]
            if ratios:
                middle = median(ratios)
                said = f"median over {format_count(len(ratios), 'figure')}"
                name = f"{noun.capitalize()}, {label}/A"
                found.append(Headline(label=name, value=middle, unit="%", detail=said))
    return found[:4]


def _sources(comparison: Comparison) -> list[Section]:
    labels, sources = labels_of(comparison.sources), comparison.sources
    listed = Table(
        name="sources",
        title="Sources",
        columns=[
            Column(title=""),
            Column(title="source"),
            Column(title="what"),
            Column(title="figures"),
            Column(title="run-to-run drift ±", unit="%", narrow=False),
        ],
        rows=[
            [label, source.name, source.title, source.figures, source.run_to_run_drift]
            for label, source in zip(labels, sources, strict=True)
        ],
    )
    known = [source.traits | source.settings for source in sources]
    differ = _facts(
        "differences", "Differences between the sources", known, labels, only_differing=True
    )
    return [
        Section(
            name="sources",
            title="Sources",
            question="Where do the figures come from, and how do the sources differ?",
            tables=[listed, *([differ] if differ.rows else [])],
        )
    ]


def _facts(
    name: str,
    title: str,
    known: Sequence[dict[str, str]],
    labels: Sequence[str],
    *,
    only_differing: bool = False,
) -> Table:
    """A row for each fact, a column for each source; a dash if the source lacks it."""
    keys = list(dict.fromkeys(key for facts in known for key in facts))
    rows: list[list[Cell]] = [[key, *(facts.get(key) for facts in known)] for key in keys]
    if only_differing:
        rows = [row for row in rows if len({cell for cell in row[1:] if cell is not None}) > 1]
    columns = [Column(title="what"), *(Column(title=label) for label in labels)]
    return Table(name=name, title=title, columns=columns, rows=rows)


def _section(label: str, pair: Pair) -> Section:
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in pair.rows:
        key = (row.name.split("/")[0], row.unit, row.statistic, row.regime)
        groups.setdefault(key, []).append(row)
    return Section(
        name=f"compare-{label}",
        title=f"{label} against A",
        question=f"What is faster or slower in {label} than in A by more than chance?"
        if pair.rows
        else f"Is {label} less sensitive to memory than A, by more than chance?",
        verdicts=pair_verdicts(label, pair),
        tables=[
            *(diagnosis_tables(label, pair.diagnosis) if pair.diagnosis else ()),
            *paces_tables(label, pair),
            *(_table(label, rows) for rows in groups.values()),
            *_left(label, pair),
        ],
        charts=[
            *(diagnosis_chart(label, pair.diagnosis) if pair.diagnosis else ()),
            *charts(label, pair, list(groups.values())),
        ],
    )


def _table(label: str, rows: Sequence[Row]) -> Table:
    """Figures of one experiment, unit, statistic and regime; what all names share is the title."""
    first = rows[0]
    pattern, short = shortened([row.name for row in rows])
    parts = (pattern, first.statistic, first.regime, DIRECTIONS[first.direction])
    apart = first.apart if first.direction != "neither" else None
    digits = digits_for(e.value for row in rows for e in (row.baseline, row.other))
    return Table(
        name=f"compare-{label}-{pattern}-{first.regime}".replace("/", "-").replace(" ", "-"),
        title=", ".join(filter(None, parts)),
        columns=[
            Column(title="figure"),
            Column(title="A", unit=first.unit, digits=digits),
            Column(title=label, unit=first.unit, digits=digits),
            Column(title=f"{label}-A", unit=first.unit, digits=digits, narrow=apart is None),
            Column(title=f"{label}/A", unit="%"),
            *([Column(title="apart from pace", unit="%")] if apart else []),
            Column(title="verdict"),
            *([] if apart else [Column(title=f"{label}/A without drift", unit="%", narrow=False)]),
            Column(title="p", narrow=False),
            Column(title="not alike", narrow=False),
        ],
        rows=[_cells(name, row, apart=apart) for name, row in zip(short, rows, strict=True)],
    )


def _cells(name: str, row: Row, *, apart: Estimate | None) -> list[Cell]:
    """One row of a table, which has a column for ratios apart from pace if its first row does."""
    return [
        name,
        stated(row.baseline),
        stated(row.other),
        row.difference,
        stated(row.widened),
        *([] if apart is None else [stated(row.apart)]),
        verdict_of(row),
        *([stated(row.ratio)] if apart is None else []),
        _p_text(row.p_value),
        "; ".join(f"{key} {said}" for key, said in row.differs.items()) or None,
    ]


def _p_text(p: float | None) -> str | None:
    """Three decimals: the tails of a distribution taken as normal carry no more."""
    if p is None:
        return None
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def verdict_of(row: Row) -> str:
    """The outcome; with a question mark if several runs a side do not confirm it among all."""
    if row.outcome == DIFFERS:
        return _SHORT_DIFFERS
    doubtful = row.outcome in {"faster", "slower", "more", "less"} and not row.stands
    return f"{row.outcome}?" if doubtful else row.outcome


def _left(label: str, pair: Pair) -> list[Table]:
    """All figures without a partner, on the page."""
    if not pair.unpaired:
        return []
    sides = {"baseline": "A", "other": label}
    wide = [Column(title=title, narrow=False) for title in ("figure", "regime", "only in", "why")]
    return [
        Table(
            name=f"compare-{label}-unpaired",
            title="Figures without a partner",
            columns=wide,
            rows=[[u.name, u.regime or None, sides[u.source], u.why] for u in pair.unpaired],
        )
    ]
