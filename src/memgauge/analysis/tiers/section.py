"""What the `tiers` points show: two groups of threads beside each other, and how to split them."""

from collections.abc import Sequence

from memgauge.analysis.figures.regimes import regime_kind
from memgauge.analysis.figures.run import Figures, scaled
from memgauge.analysis.section import Cell, Column, Section, Table, section_of
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.tiers.charts import charts
from memgauge.analysis.tiers.figures import Contest, Split, contests
from memgauge.analysis.tiers.opening import opening
from memgauge.analysis.tiers.verdicts import verdicts, width
from memgauge.analysis.transfers import beside_section as tiers_transfers_report
from memgauge.analysis.transfers.beside import is_beside_transfers
from memgauge.model.experiments import DESCRIPTORS

NOTE = (
    "GB/s, medians over passes and their 95% interval, over the time in which all threads were at "
    "work and steady; A and B of the same passes. A loses: of what all threads reach on its memory."
)
PUBLISHED_NOTE = "GB/s as published, without intervals. A loses: of what all threads reach on it."


def analyse(figures: Figures) -> Section:
    """Table, charts and verdicts of the competitions of a run."""
    if is_beside_transfers(figures.run):
        return tiers_transfers_report.section(figures)
    return section_of_contests(contests(figures))


def section_of_contests(found: Sequence[Contest]) -> Section:
    """Of measured or published ones alike."""
    return section_of(
        "tiers",
        question=f"{DESCRIPTORS['tiers'].question} {_groups(found)}".strip(),
        verdicts=verdicts(found),
        tables=[table(found)] if found else [],
        charts=charts(found),
        opening=opening(found),
    )


def _groups(found: Sequence[Contest]) -> str:
    known = list(dict.fromkeys((one.a, one.b) for one in found if one.a and one.b))
    if len(known) != 1:
        return ""
    return f"A: {known[0][0]}. B: {known[0][1]}."


def table(found: Sequence[Contest]) -> Table:
    """A row for each split: few enough columns for a terminal, and more for a page."""
    several = len({(one.what, one.threads) for one in found}) > 1
    regimes = any(one.regime for one in found)
    columns = [
        Column(title="work", narrow=several),
        Column(title="threads", narrow=several),
        Column(title="regime", narrow=regimes),
        Column(title="in B"),
        Column(title="A", unit="GB/s"),
        Column(title="B", unit="GB/s"),
        Column(title="sum", unit="GB/s"),
        Column(title="of A alone", unit="%", narrow=not (several or regimes)),
        Column(title="A loses", unit="%", narrow=not (several or regimes)),
        *(Column(title=title, unit=unit, narrow=False) for title, unit in _FURTHER),
    ]
    return Table(
        name="tiers",
        title="Bandwidth of both groups by threads in B",
        columns=columns,
        rows=[_row(contest, split) for contest in found for split in contest.splits],
        note=PUBLISHED_NOTE if found and all(one.published for one in found) else NOTE,
    )


_FURTHER = [
    ("A keeps", "%"),
    ("A's memory", None),
    ("B's memory", None),
    ("each of A", "GB/s"),
    ("each of B", "GB/s"),
    ("sum, 90th percentile", "GB/s"),
    ("A's iterations vary by", "%"),
    ("B's iterations vary by", "%"),
    ("latency, A's memory", "ns"),
    ("latency, B's memory", "ns"),
    ("outside", "%"),
    ("warm-up", "%"),
    ("passes", None),
    ("set aside", None),
]


def _shown(estimate: Estimate | None, contest: Contest) -> Cell:
    """Published figures stand without the mark of a missing interval: none of them has one."""
    return estimate.value if estimate is not None and contest.published else estimate


def _row(contest: Contest, split: Split) -> list[Cell]:
    in_a = contest.threads - split.k
    gain = ratio(split.total, contest.alone) if split.k else None
    kept = ratio(split.a, contest.alone) if split.k else None
    shares = split.shares
    return [
        contest.label,
        contest.threads,
        regime_kind(contest.regime) or None,
        split.k,
        _shown(split.a, contest),
        _shown(split.b, contest),
        _shown(split.total, contest),
        _shown(gain, contest),
        None if kept is None else 1 - kept.value,
        _shown(kept, contest),
        contest.a or None,
        contest.b or None,
        _shown(scaled(split.a, 1 / in_a) if in_a else None, contest),
        _shown(scaled(split.b, 1 / split.k) if split.k else None, contest),
        split.sustained,
        width(split.spread_a) if split.spread_a else None,
        width(split.spread_b) if split.spread_b else None,
        split.latency_a,
        split.latency_b,
        None if shares is None else shares.outside,
        None if shares is None else shares.warm_up,
        split.passes or None,
        None if contest.published else split.set_aside,
    ]
