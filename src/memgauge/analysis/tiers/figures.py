"""Two groups of threads side by side, split by split: what measured and published runs share.

Bandwidth, latency and sums are medians over passes, those of a split all of the same ones:
the 90th percentile of one group would be that of the rounds in which the other was slow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from memgauge.analysis.figures.regimes import Regime, Regimes, find_regimes, regime_kind
from memgauge.analysis.figures.run import Figures, once
from memgauge.analysis.figures.side_by_side import (
    Groups,
    Passes,
    Shares,
    bandwidth_of,
    passes_of,
    quantile_over,
    shares_of,
    spread_of,
    total,
)
from memgauge.analysis.figures.speeds import FAST_SIDE
from memgauge.analysis.loaded.figures import read_share_text
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.statistics.ratios import ratio
from memgauge.model.points.tiers import TiersRequested
from memgauge.model.records import Point
from memgauge.model.units import format_count

MEDIAN = 0.5


class Split(msgspec.Struct, frozen=True, kw_only=True):
    """So many of the threads in group B. Bandwidth in GB/s; None: a group without threads."""

    k: int
    a: Estimate | None
    b: Estimate | None
    total: Estimate
    """Of both groups, over the same time."""
    sustained: Estimate | None = None
    """The 90th percentile of the sum over sampling passes."""
    spread_a: Estimate | None = None
    """Bandwidth of single iterations over their median: `low`, `high`: 5% and 95% quantiles."""
    spread_b: Estimate | None = None
    latency_a: Estimate | None = None
    """ns of a load from the memory that A reads while both groups are at work;"""
    latency_b: Estimate | None = None
    """of the memory that B reads."""
    shares: Shares | None = None
    passes: int = 0
    set_aside: int = 0


class Contest(msgspec.Struct, frozen=True, kw_only=True):
    """What one team does in all its splits, in one regime."""

    what: str
    """Kernel or mix, as in the names of points: `copy`, `75r/d0-200`,"""
    label: str
    """and for a reader: `75% reads, pauses 0 and 200 ns`."""
    threads: int
    """Of both groups."""
    a: str
    """Memory of group A: `dram`, `dram to node:2`."""
    b: str
    regime: str = ""
    fixed_iterations: int | None = None
    splits: list[Split]
    """Fewest threads in B first."""
    alone: Estimate | None
    """GB/s of all threads on A's memory, none on B's; None: not measured."""
    alone_is: str = "A alone"
    """What that is, where another program made it."""
    published: bool = False
    passes: dict[int, Passes] = {}
    """By split; none of published tables."""

    @property
    def name(self) -> str:
        """Such as `copy, 16 threads`, to distinguish it from others."""
        team = format_count(self.threads, "thread")
        return ", ".join(filter(None, (self.label, team, self.regime)))

    @property
    def sums(self) -> list[tuple[int, Estimate]]:
        """What both groups reach together, by number of threads in B."""
        return [(split.k, split.total) for split in self.splits]

    @property
    def shared(self) -> list[Split]:
        """Splits with threads in both groups."""
        return [split for split in self.splits if 0 < split.k < self.threads]

    @property
    def gains(self) -> list[tuple[int, Estimate]]:
        """The sum over A alone, of splits that give B a thread."""
        found = [(s.k, ratio(s.total, self.alone)) for s in self.splits if s.k]
        return [(k, one) for k, one in found if one is not None]

    @property
    def losses(self) -> list[tuple[int, Estimate]]:
        """What A loses of A alone, as a share, of splits with threads in both groups."""
        found = [(split.k, loss_of(split, self.alone)) for split in self.shared]
        return [(k, one) for k, one in found if one is not None]


def loss_of(split: Split, alone: Estimate | None) -> Estimate | None:
    """What A lost of what all threads reach on its memory alone, as a share."""
    kept = ratio(split.a, alone)
    if kept is None:
        return None
    if not has_interval(kept):
        return Estimate(1 - kept.value, -math.inf, math.inf)
    return Estimate(1 - kept.value, 1 - kept.high, 1 - kept.low)


class Team(msgspec.Struct, frozen=True, kw_only=True):
    """All points of one kind of work by one team."""

    what: str
    threads: int
    requested: dict[str, TiersRequested]
    """Of the first point of each group."""
    groups: dict[int, Groups]
    """Bandwidth, by number of threads in B."""
    probes: dict[int, dict[str, Point]]
    """Latency, by number of threads in B and group."""


@once
def contests(figures: Figures) -> list[Contest]:
    """All of a run in the order of declaration, near regimes first."""
    teams = _teams(figures)
    regimes = {size: _regimes(figures, teams, size) for size in {team.threads for team in teams}}
    found = [
        _contest(figures, team, regimes[team.threads], regime)
        for team in teams
        for regime in regimes[team.threads].regimes
    ]
    return [contest for contest in found if contest.splits]


def _teams(figures: Figures) -> list[Team]:
    found: dict[tuple[str, int], Team] = {}
    for point in figures.run.points_of("tiers"):
        requested = TiersRequested.of(point.requested)
        what, threads, k = requested.name, requested.threads, requested.b_threads
        if not what or threads is None or k is None:
            continue
        if not _is_sound(point, requested.group, threads, k):
            continue
        team = found.setdefault(
            (what, threads), Team(what=what, threads=threads, requested={}, groups={}, probes={})
        )
        if point.quantity == "latency":
            team.probes.setdefault(k, {})[requested.group] = point
        else:
            team.groups.setdefault(k, {})[requested.group] = point
            team.requested.setdefault(requested.group, requested)
    return [team for team in found.values() if team.groups]


def _is_sound(point: Point, group: str, threads: int, k: int) -> bool:
    """Whether a point is what its facts state."""
    if group not in {"a", "b"} or not 0 <= k <= threads:
        return False
    in_group = k if group == "b" else threads - k
    return point.quantity == "latency" or (point.work == "window" and point.threads == in_group)


def _regimes(figures: Figures, teams: Sequence[Team], size: int) -> Regimes:
    """Of all sampling passes by the threads of one team, whatever they did."""
    points = [
        point.point
        for team in teams
        if team.threads == size
        for groups in team.groups.values()
        for point in groups.values()
    ]
    return find_regimes(s.pingpong_ns for name in points for s in figures.run.samples_of(name))


def _contest(figures: Figures, team: Team, regimes: Regimes, regime: Regime) -> Contest:
    passes = {
        k: passes_of(figures.run, groups, regimes, regime.name)
        for k, groups in sorted(team.groups.items())
        if len(groups) == (k < team.threads) + (k > 0)
    }
    shown = regime.name if len(regimes.regimes) > 1 else ""
    splits = [
        split
        for k, found in passes.items()
        if (split := _split(k, found, _latencies(figures, team.probes.get(k, {}), regime.name)))
    ]
    alone = next((split.a for split in splits if split.k == 0), None)
    first = next(iter(team.requested.values()))
    return Contest(
        what=team.what,
        label=_label(first),
        threads=team.threads,
        a=_memory(team, "a"),
        b=_memory(team, "b"),
        regime=shown,
        fixed_iterations=first.fixed_iterations,
        splits=splits,
        alone=alone,
        passes=passes,
    )


def _label(requested: TiersRequested) -> str:
    """What the threads do; pauses of A and of B after every few lines, where there are any."""
    if requested.read_share is None:
        is_plain = requested.access in {"", "direct"}
        return requested.kernel + ("" if is_plain else f", {requested.access}")
    a_ns, b_ns = requested.delay_a_ns or 0, requested.delay_b_ns or 0
    pauses = f", pauses {a_ns} and {b_ns} ns" if requested.has_pauses else ""
    return read_share_text(requested.read_share) + pauses


def _memory(team: Team, group: str) -> str:
    """What a group reads from and writes to; empty where it never had a thread."""
    requested = team.requested.get(group, TiersRequested())
    source, destination = requested.source, requested.destination
    return source if source == destination else f"{source} to {destination}"


def _split(k: int, found: Passes, latencies: dict[str, Estimate]) -> Split | None:
    """None without a clean sampling pass."""
    clean = found.clean
    middle = quantile_over(clean, total, MEDIAN)
    if middle is None:
        return None
    by_group = {
        group: quantile_over(clean, bandwidth_of(group), MEDIAN) for group in clean[0].bandwidth
    }
    return Split(
        k=k,
        a=by_group.get("a"),
        b=by_group.get("b"),
        total=middle,
        sustained=quantile_over(clean, total, FAST_SIDE),
        spread_a=spread_of(clean, "a"),
        spread_b=spread_of(clean, "b"),
        latency_a=latencies.get("a"),
        latency_b=latencies.get("b"),
        shares=shares_of(clean),
        passes=len(clean),
        set_aside=found.set_aside,
    )


def _latencies(figures: Figures, probes: dict[str, Point], regime: str) -> dict[str, Estimate]:
    """Medians by group, of passes at the same distance where there are two."""
    found: dict[str, Estimate] = {}
    for group, point in probes.items():
        summaries = figures.summaries[point.point]
        like = [s for s in summaries if regime_kind(s.regime) == regime_kind(regime)]
        alone = summaries if len(summaries) == 1 else []
        for summary in like or alone:
            if summary.median is not None:
                found[group] = summary.median
    return found
