"""How bandwidth grows with threads: where it tapers and saturates, and what siblings cost.

Bends (see `bends`) are sought among teams of whole cores, and where cores are not known, among
those before the first drop: threads that share a core are another law.

What would invalidate it: fewer than five team sizes give no bend, and with gaps between the sizes a
bend lies anywhere in the gap.
"""

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from memgauge.analysis.statistics.bends import Bend, find_bends
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import bounds
from memgauge.analysis.statistics.ratios import ratio

SATURATED = 0.1
"""Of the first slope: what is below it beyond a bend is saturation."""
DROP = 0.05
"""Below the team before, by more than this and than the intervals: a drop."""
NEAR_BEST = 0.05


class Team(msgspec.Struct, frozen=True):
    """A number of threads and the bandwidth they reach together."""

    threads: int
    bandwidth: Estimate
    cores: int | None = None
    """Physical cores they run on; None: not known."""


class Drop(msgspec.Struct, frozen=True):
    """A team that reaches less than the next smaller one."""

    threads: int
    """Of the larger team."""
    before: int
    ratio: Estimate


class Scaling(msgspec.Struct, frozen=True, kw_only=True):
    """What a sweep over team sizes shows."""

    teams: int
    """Team sizes measured."""
    best: Team
    enough: int
    """The smallest team within 5% of the best, by the values."""
    enough_low: int
    enough_high: int
    """The smallest team that may be, and that surely is, by the intervals."""
    taper: Bend | None = None
    """The first bend."""
    saturation: Bend | None = None
    """The first bend beyond which threads bring next to nothing; it may be the first of all, and
    the curve then saturates by and by where that is gradual."""
    cores: int | None = None
    """Physical cores, where teams fill them first and share them after; else None."""
    sibling: Drop | None = None
    """The smallest team with two threads on a core against the one that fills the cores, be it a
    loss or not; None where teams are not distinguished so, or none fills the cores."""
    drop: Drop | None = None
    """The first team far below the one before."""


def scaling_of(teams: Sequence[Team]) -> Scaling | None:
    """What the teams show, in any order; None without any."""
    known = {t.threads: t for t in teams if t.bandwidth.value > 0 and t.threads > 0}
    ordered = [known[threads] for threads in sorted(known)]
    if not ordered:
        return None
    cores = cores_first(ordered)
    drop = _first_drop(ordered)
    law = _one_law(ordered, cores, drop)
    bends = find_bends([(team.threads, team.bandwidth) for team in law])
    best = max(ordered, key=lambda team: team.bandwidth.value)
    enough, low, high = _enough(ordered, best)
    return Scaling(
        teams=len(ordered),
        best=best,
        enough=enough,
        enough_low=low,
        enough_high=high,
        taper=bends[0] if bends else None,
        saturation=next((bend for bend in bends if _is_flat(bend, bends[0])), None),
        cores=cores,
        sibling=_sibling(ordered, cores),
        drop=drop,
    )


def cores_first(ordered: Sequence[Team]) -> int | None:
    """Physical cores, where teams take a core for each thread until none is left, and share then.

    None where that is not so, not known, or no core is shared.
    """
    found = [(team.threads, team.cores) for team in ordered]
    most = max((cores for _, cores in found if cores is not None), default=0)
    if any(cores != min(threads, most) for threads, cores in found):
        return None
    return most if ordered[-1].threads > most else None


def _is_flat(bend: Bend, first: Bend) -> bool:
    return bend.gain_after <= SATURATED * first.gain_before


def _first_drop(ordered: Sequence[Team]) -> Drop | None:
    for before, after in pairwise(ordered):
        change = ratio(after.bandwidth, before.bandwidth)
        if change is not None and change.value < 1 - DROP and bounds(change)[1] < 1:
            return Drop(after.threads, before.threads, change)
    return None


def _sibling(ordered: Sequence[Team], cores: int | None) -> Drop | None:
    full = next((team for team in ordered if team.threads == cores), None)
    shared = next((team for team in ordered if team.threads > (cores or 0)), None)
    if full is None or shared is None:
        return None
    change = ratio(shared.bandwidth, full.bandwidth)
    return None if change is None else Drop(shared.threads, full.threads, change)


def _one_law(ordered: Sequence[Team], cores: int | None, drop: Drop | None) -> Sequence[Team]:
    """The teams among which bends are sought."""
    if cores is not None:
        return [team for team in ordered if team.threads <= cores]
    if drop is not None:
        return [team for team in ordered if team.threads < drop.threads]
    return ordered


def _enough(ordered: Sequence[Team], best: Team) -> tuple[int, int, int]:
    """Smallest team near the best: by the values, at the least, and at the most."""
    share = 1 - NEAR_BEST
    low, high = bounds(best.bandwidth)
    by_value = next(t for t in ordered if t.bandwidth.value >= share * best.bandwidth.value)
    may_be = next(t for t in ordered if bounds(t.bandwidth)[1] >= share * low)
    surely = (t for t in ordered if bounds(t.bandwidth)[0] >= share * high)
    return by_value.threads, may_be.threads, next(surely, best).threads
