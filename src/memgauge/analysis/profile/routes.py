"""Memory traffic of a profile by several routes to its counters: totals side by side.

Routes are sampled in lanes of their own, a daemon's less often. Totals are of the bins in which all
of them are known; at both ends of these a total is uncertain by what one interval of the slower
route counts, which the verdict allows for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import msgspec

from memgauge.analysis.counters.routes import CLOSE, WAYS, counts_all
from memgauge.analysis.profile.timeline import Timeline, Traced
from memgauge.analysis.section import Cell, Column, Table, Verdict
from memgauge.model.counting.events import MEMORY_TRAFFIC, added_up

COVERED = 0.99
"""Of a bin: below, a track is not known in it."""


class RouteTotal(msgspec.Struct, frozen=True, kw_only=True):
    """What one route counted of the host's memory while all routes were read."""

    back_end: str
    read_bytes: float | None
    """None: it does not distinguish reads."""
    write_bytes: float | None
    traffic_bytes: float | None
    """Reads and writes together; None: it lacks a part of them."""


class RouteTotals(msgspec.Struct, frozen=True, kw_only=True):
    """All routes over the same time."""

    seconds: float
    """In which all are known."""
    uncertain_s: float
    """Of that, at both ends: one interval of the slowest route."""
    routes: list[RouteTotal]
    """In the order in which they were named."""


def route_totals(timeline: Timeline) -> RouteTotals | None:
    """Each route's totals; None where fewer than two measured, or never at the same time."""
    routes: dict[str, list[Traced]] = {}
    for traced in timeline.tracks:
        track = traced.track
        if (
            track.quantity in MEMORY_TRAFFIC
            and track.domain == "memory"
            and track.basis == "measured"
            and not track.gauge
        ):
            routes.setdefault(track.counters[0].back_end, []).append(traced)
    if len(routes) < 2:
        return None
    chosen = {back_end: _once(tracks) for back_end, tracks in routes.items()}
    everyone = [traced for tracks in chosen.values() for traced in tracks]
    bins = [at for at in range(timeline.bins) if _all_known(timeline, everyone, at)]
    if not bins:
        return None
    return RouteTotals(
        seconds=math.fsum(timeline.edge_s(at + 1) - timeline.edge_s(at) for at in bins),
        uncertain_s=2e-9 * max(traced.interval_ns for traced in everyone),
        routes=[_total(back_end, tracks, bins) for back_end, tracks in chosen.items()],
    )


def _once(tracks: Sequence[Traced]) -> list[Traced]:
    """Without those that count the same traffic again in another way."""
    kept = {one.name for one in added_up([c for t in tracks for c in t.track.counters])}
    return [t for t in tracks if t.track.counters[0].name in kept]


def _all_known(timeline: Timeline, tracks: Sequence[Traced], at: int) -> bool:
    least_s = COVERED * (timeline.edge_s(at + 1) - timeline.edge_s(at))
    return all(t.covered_s[at + 1] - t.covered_s[at] >= least_s > 0 for t in tracks)


def _total(back_end: str, tracks: Sequence[Traced], bins: Sequence[int]) -> RouteTotal:
    counted = {traced.track.quantity for traced in tracks}

    def total(way: str) -> float | None:
        wanted = WAYS[way]
        if not counts_all(counted, wanted):
            return None
        mine = [traced for traced in tracks if traced.track.quantity in wanted]
        return math.fsum(t.sums[at + 1] - t.sums[at] for t in mine for at in bins)

    return RouteTotal(
        back_end=back_end,
        read_bytes=total("reads"),
        write_bytes=total("writes"),
        traffic_bytes=total("reads and writes"),
    )


def _ways(route: RouteTotal) -> dict[str, float | None]:
    return dict(zip(WAYS, (route.read_bytes, route.write_bytes, route.traffic_bytes), strict=True))


def route_table(timeline: Timeline) -> list[Table]:
    """A row for each way that some route counts; empty where one route counted."""
    found = route_totals(timeline)
    if found is None:
        return []
    first, *others = found.routes
    rows: list[list[Cell]] = []
    for way in WAYS:
        values = [_ways(route)[way] for route in found.routes]
        if any(value is not None for value in values):
            ratios = [_over(value, values[0]) for value in values[1:]]
            rows.append([way, *(None if v is None else v * 1e-9 for v in values), *ratios])
    return [
        Table(
            name="profile-routes",
            title="Memory traffic by several routes",
            columns=[
                Column(title="what"),
                *(Column(title=route.back_end, unit="GB", digits=3) for route in found.routes),
                *(
                    Column(title=f"{other.back_end} : {first.back_end}", digits=4)
                    for other in others
                ),
            ],
            rows=rows,
            note=f"Totals over the {found.seconds:.2f} s in which all routes are known; at their "
            f"ends uncertain by what is counted in {found.uncertain_s / 2:.3g} s, the interval of "
            f"the slowest route. Phases and totals above are by {first.back_end}.",
        )
    ]


def _over(value: float | None, first: float | None) -> float | None:
    return value / first if value is not None and first else None


def route_verdicts(timeline: Timeline) -> Iterator[Verdict]:
    """Whether each further route counted what the first one did."""
    found = route_totals(timeline)
    if found is None:
        return
    first, *others = found.routes
    within = CLOSE + found.uncertain_s / found.seconds
    for other in others:
        ratios = {
            way: ratio
            for way in WAYS
            if (ratio := _over(_ways(other)[way], _ways(first)[way])) is not None
        }
        if not ratios:
            continue
        far = {way: ratio for way, ratio in ratios.items() if abs(ratio - 1) > within}
        if not far:
            apart = max(abs(ratio - 1) for ratio in ratios.values())
            text = (
                f"By {other.back_end} and by {first.back_end} the same memory traffic was counted "
                f"within {apart:.1%}; above {within:.1%} a difference would show at this length."
            )
            yield Verdict(level="good", text=text)
            continue
        listed = ", ".join(f"{ratio:.4g} times the {way}" for way, ratio in far.items())
        yield Verdict(
            level="warning",
            text=f"By {other.back_end} {listed} were counted that {first.back_end} counted in the "
            "same time.",
            remedy=f"memgauge counters compare {first.back_end} {other.back_end}",
        )
