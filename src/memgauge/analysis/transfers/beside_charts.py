"""Pictures of the host's threads beside transfers to a GPU."""

from __future__ import annotations

from collections.abc import Sequence

from memgauge.analysis.figures.regimes import regime_kind
from memgauge.analysis.figures.run import series, slug
from memgauge.analysis.section import Axis, Chart, Series
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.transfers.beside import Beside

MOST_PICTURES = 4


def charts(found: Sequence[Beside]) -> list[Chart]:
    """What both move through the host's memory, largest teams first; then what each keeps."""
    teams: dict[tuple[str, int, str], list[Beside]] = {}
    for one in sorted(found, key=lambda one: -one.threads):
        teams.setdefault((one.work, one.threads, one.regime), []).append(one)
    made = [_memory(members) for members in list(teams.values())[:MOST_PICTURES]]
    kept = [members for members in teams.values() if any(one.host_keeps for one in members)]
    made += [_keeps(kept)] if kept else []
    return [*made, *_over_threads(found)]


def _memory(members: Sequence[Beside]) -> Chart:
    """Bars that add up: the threads' bytes and the transfers'."""
    first = members[0]
    alone = first.moved_alone
    x: list[float | str] = [*(["alone"] if alone else []), *(one.way for one in members)]
    threads = [*([alone.value] if alone else []), *(_threads_moved(one) for one in members)]
    moved: list[float | None] = [*([0.0] if alone else []), *(o.transfers.value for o in members)]
    return Chart(
        name=slug("tiers-transfers", first.work, f"{first.threads}t", first.regime),
        title=f"Through the host's memory: {first.team}",
        kind="stack",
        x=Axis(title="Transfers meanwhile", unit=""),
        y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        series=[
            Series(name="threads", x=x, y=list(threads)),
            Series(name="transfers", x=x, y=moved),
        ],
        note="Threads with the lines that ordinary stores read first; each byte transferred once.",
    )


def _threads_moved(one: Beside) -> float:
    if one.moved_alone is None or one.host_alone is None or not one.host_alone.value:
        return one.host.value
    return one.host.value * one.moved_alone.value / one.host_alone.value


def _keeps(teams: Sequence[Sequence[Beside]]) -> Chart:
    """A set of bars for each kind of work."""
    names = [members[0].team for members in teams]
    ways = list(dict.fromkeys(one.way for members in teams for one in members))
    lines = []
    for way in ways:
        cells = [
            next((one.host_keeps for one in members if one.way == way), None) for members in teams
        ]
        lines.append(series(way, list(names), cells))
    return Chart(
        name="tiers-transfers-keeps",
        title="What the host's threads keep beside transfers",
        kind="bar",
        x=Axis(title="Work of the threads", unit=""),
        y=Axis(title="Of the threads alone", unit="%", from_zero=True),
        series=lines,
    )


def _over_threads(found: Sequence[Beside]) -> list[Chart]:
    """Threads and transfers over the number of threads, for each kind of work with several."""
    works: dict[tuple[str, str], list[Beside]] = {}
    for one in found:
        works.setdefault((one.work, regime_kind(one.regime)), []).append(one)
    return [
        _team_sizes(work, regime, members)
        for (work, regime), members in works.items()
        if len({one.threads for one in members}) > 1
    ]


def _team_sizes(work: str, regime: str, members: Sequence[Beside]) -> Chart:
    lines: dict[str, list[tuple[int, Estimate | None]]] = {}
    for one in sorted(members, key=lambda one: one.threads):
        alone = lines.setdefault("threads alone", [])
        if not alone or alone[-1][0] != one.threads:
            alone.append((one.threads, one.host_alone))
        lines.setdefault(f"threads, {one.way}", []).append((one.threads, one.host))
        lines.setdefault(f"transfers, {one.way}", []).append((one.threads, one.transfers))
    return Chart(
        name=slug("tiers-transfers-threads", work, regime),
        title="Threads and transfers: " + ", ".join(filter(None, (work, regime))),
        kind="line",
        x=Axis(title="Threads", unit=""),
        y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        series=[
            series(name, [float(count) for count, _ in cells], [cell for _, cell in cells])
            for name, cells in lines.items()
        ],
        note="Of both ways at once the sum of transfers.",
    )
