"""Charts of a competition: both groups over the split, threads over time, interference maps."""

from collections.abc import Callable, Sequence

from memgauge.analysis.figures.regimes import regime_kind
from memgauge.analysis.figures.run import series, slug
from memgauge.analysis.section import Axis, Chart, Rule, Series
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.tiers.figures import Contest, Split, loss_of
from memgauge.analysis.tiers.threads import threads_chart

MOST_CHARTS = 4
"""Kinds of work with a chart of their own; all are in the maps."""
LEAST_SPLITS = 2
SPLIT_AXIS = Axis(title="Threads in B", unit="")

Pick = Callable[[Contest, Split], Estimate | None]


def charts(contests: Sequence[Contest]) -> list[Chart]:
    """Bandwidth and latency over the split, each thread over time, then the maps."""
    swept = [contest for contest in contests if len(contest.splits) >= LEAST_SPLITS]
    found = [_bandwidth(contest) for contest in swept[:MOST_CHARTS]]
    for contest in swept[:MOST_CHARTS]:
        found += _latency(contest)
    over_time = threads_chart(contests[0]) if contests else None
    return [*found, *([over_time] if over_time else []), *_maps(swept)]


def _name(kind: str, contest: Contest) -> str:
    return slug(kind, contest.what, f"{contest.threads}t", regime_kind(contest.regime))


def _bandwidth(contest: Contest) -> Chart:
    splits = contest.splits
    lines: dict[str, list[Estimate | None]] = {
        f"A: {contest.a}" if contest.a else "A": [split.a for split in splits],
        f"B: {contest.b}" if contest.b else "B": [split.b for split in splits],
        "sum": [split.total for split in splits],
    }
    x: list[float | str] = [float(split.k) for split in splits]
    alone = contest.alone
    return Chart(
        name=_name("tiers", contest),
        title=f"Bandwidth of both groups: {contest.name}",
        kind="line",
        x=SPLIT_AXIS,
        y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        series=[_line(name, x, found, contest) for name, found in lines.items() if any(found)],
        rules=[Rule(label=contest.alone_is, axis="y", value=alone.value)] if alone else [],
        note="Dotted: published, not measured by memgauge." if contest.published else None,
    )


def _line(
    name: str, x: list[float | str], found: Sequence[Estimate | None], contest: Contest
) -> Series:
    """Without the splits at which the group has no thread."""
    there = [at for at, one in enumerate(found) if one is not None]
    bare = series(name, [x[at] for at in there], [found[at] for at in there])
    return Series(
        name=bare.name, x=bare.x, y=bare.y, low=bare.low, high=bare.high, dashed=contest.published
    )


def _latency(contest: Contest) -> list[Chart]:
    """Of a load from either memory while both groups are at work."""
    splits = contest.splits
    lines = {
        f"A: {contest.a}": [split.latency_a for split in splits],
        f"B: {contest.b}": [split.latency_b for split in splits],
    }
    if not any(any(found) for found in lines.values()):
        return []
    x: list[float | str] = [float(split.k) for split in splits]
    return [
        Chart(
            name=_name("tiers-latency", contest),
            title=f"Latency beside both groups: {contest.name}",
            kind="line",
            x=SPLIT_AXIS,
            y=Axis(title="Latency", unit="ns", from_zero=True),
            series=[_line(n, x, found, contest) for n, found in lines.items() if any(found)],
            note="A walk of dependent loads from what the group reads; medians over passes.",
        )
    ]


_MAPS: list[tuple[str, str, str, Pick]] = [
    (
        "sum",
        "Sum of both groups over A alone",
        "%",
        lambda contest, split: ratio(split.total, contest.alone) if split.k else None,
    ),
    (
        "loss",
        "What A loses of A alone",
        "%",
        lambda contest, split: loss_of(split, contest.alone) if split in contest.shared else None,
    ),
    ("latency-a", "Latency of what A reads", "ns", lambda _, split: split.latency_a),
    ("latency-b", "Latency of what B reads", "ns", lambda _, split: split.latency_b),
]


def _maps(contests: Sequence[Contest]) -> list[Chart]:
    """For each team with several kinds of work: a row for each of them, a column for each split."""
    teams: dict[tuple[int, str], list[Contest]] = {}
    for contest in contests:
        teams.setdefault((contest.threads, contest.regime), []).append(contest)
    return [
        chart
        for members in teams.values()
        if len(members) > 1
        for name, title, unit, pick in _MAPS
        for chart in _map(members, name, title, unit, pick)
    ]


def _map(members: Sequence[Contest], name: str, title: str, unit: str, pick: Pick) -> list[Chart]:
    found = [_map_row(contest, pick) for contest in members]
    rows = [row for row in found if any(y is not None for y in row.y)]
    if len(rows) < LEAST_SPLITS:
        return []
    first = members[0]
    team = ", ".join(filter(None, (f"{first.threads} threads", first.regime)))
    return [
        Chart(
            name=slug("tiers-map", name, f"{first.threads}t", regime_kind(first.regime)),
            title=f"{title}: {team}",
            kind="heatmap",
            x=SPLIT_AXIS,
            y=Axis(title=title, unit=unit),
            rows=Axis(title="Work", unit=""),
            series=rows,
        )
    ]


def _map_row(contest: Contest, pick: Pick) -> Series:
    found = [(split.k, pick(contest, split)) for split in contest.splits]
    known = [(k, one) for k, one in found if one is not None]
    return series(contest.label, [float(k) for k, _ in known], [one for _, one in known])
