"""Of how much bandwidth and of how much shared cache a program slows down when it has less.

Part doses of one kind of pressure are ordered by what was asked of the generators, before anything
is known of their effect. From the strongest on, as long as each slows the program down by more than
5%, it needs more than what that one leaves; from the weakest on, as long as each slows it down by
less, it needs less than what that one leaves. Each of the two sequences ends at the first dose of
which this cannot be said, so that it errs with the probability of one statement alone, however many
doses there are (tests in an order fixed in advance: Maurer, Hothorn and Lehmacher 1995). The need
lies between the two ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from memgauge.analysis.diagnose.axes import Axes
from memgauge.analysis.diagnose.figures import WAITING_EITHER, Diagnosis, Treated
from memgauge.analysis.diagnose.judgement import NOTHING, Judgement, judgement_of
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.points.diagnose import BANDWIDTH, CACHE, CACHE_PART, WRITE

ALL_KEPT = 0.95
"""Share of its lines that the cached reference keeps, from which on more cache may be left than it
can show."""


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """Between which amounts what a program needs lies; less slows it down by more than 5%."""

    low: float | None = None
    """It needs more than this. None: not known."""
    high: float | None = None
    """It needs less than this. None: not known."""
    why: str = ""
    """Why neither is known; empty: one is."""


def bandwidth_need_of(diagnosis: Diagnosis) -> Need:
    """Of a whole diagnosis, in GB/s."""
    return bandwidth_need(diagnosis.treated, judgement_of(diagnosis))


def cache_need_of(diagnosis: Diagnosis) -> Need:
    """Of a whole diagnosis, in bytes."""
    return cache_need(diagnosis.treated, judgement_of(diagnosis), diagnosis.cached_bytes)


def bandwidth_need(treated: Sequence[Treated], judgement: Judgement) -> Need:
    """In GB/s, as the bandwidth reference on one of the program's CPUs has them.

    Args:
        treated: What each treatment did.
        judgement: The verdict on it.
    """
    if judgement.kind == "cache":
        return Need(why="writes evict its data from the shared cache too")
    if judgement.kind == "latency":
        return Need(why="it waits for latency, which rises where bandwidth is taken")
    doses = _doses(treated, judgement, WRITE, 1.0)
    return _between(doses, judgement, _slows, _left_gb_per_s)


def cache_need(treated: Sequence[Treated], judgement: Judgement, ring_bytes: int | None) -> Need:
    """In bytes, as a ring that is walked on one of the program's CPUs keeps them.

    Args:
        treated: What each treatment did.
        judgement: The verdict on it.
        ring_bytes: Of the cached reference; None: there is none.
    """
    if ring_bytes is None:
        return Need(why="no shared cache is known")
    found = _between(
        _doses(treated, judgement, CACHE, CACHE_PART), judgement, _slows_for_cache, _kept
    )
    return msgspec.structs.replace(
        found,
        low=None if found.low is None else found.low * ring_bytes,
        high=None if found.high is None else found.high * ring_bytes,
    )


def _doses(
    treated: Sequence[Treated], judgement: Judgement, full: str, part: float
) -> list[Treated]:
    """Of one kind of pressure where it was judged, the strongest first."""
    parts = {
        one.name: part if one.name == full else one.part
        for one in treated
        if full in {one.name, one.step_of}
    }
    found = [one for one in treated if one.name in parts and one.regime == judgement.regime]
    return sorted(found, key=lambda one: parts[one.name] or 0.0, reverse=True)


def _between(
    doses: Sequence[Treated],
    judgement: Judgement,
    slows: Callable[[Treated], bool],
    left: Callable[[Axes], tuple[float | None, float | None]],
) -> Need:
    if judgement.kind == "cannot tell":
        return Need(why="what limits the program cannot be told")
    low: float | None = None
    high: float | None = None
    for one in doses:
        if not slows(one):
            break
        low = _known(left(one.axes)[0], low)
    for one in reversed(doses):
        if not does_not_slow(one):
            break
        high = _known(left(one.axes)[1], high)
    if low is None and high is None:
        return Need(why="at no dose is it clear whether it slows down")
    if low is not None and high is not None and low >= high:
        return Need(why="the doses contradict each other")
    return Need(low=low, high=high)


def is_decided(one: Treated) -> bool:
    """Whether a dose slows the program down by 5% or does not, by the whole interval.

    Args:
        one: A part dose.
    """
    slows = _slows_for_cache if one.step_of == CACHE else _slows
    return slows(one) or does_not_slow(one)


def does_not_slow(one: Treated) -> bool:
    """Whether a dose slows the program down by less than 5%, by the whole interval."""
    return one.program is not None and one.program.high < NOTHING


def _slows(one: Treated) -> bool:
    return one.program is not None and one.program.low > NOTHING


def _slows_for_cache(one: Treated) -> bool:
    """By more than what waits for memory, and more than what streams, there."""
    over = [one.over.get(name) for name in (WAITING_EITHER, BANDWIDTH)]
    return _slows(one) and all(each is not None and each.low > NOTHING for each in over)


def _left_gb_per_s(axes: Axes) -> tuple[float | None, float | None]:
    return _ends(axes.bandwidth_gb_per_s)


def _kept(axes: Axes) -> tuple[float | None, float | None]:
    low, high = _ends(axes.cache_kept)
    # A ring that keeps nothing, or all, shows no bound on that side.
    return (low or None), (None if high is None or high >= ALL_KEPT else high)


def _known(found: float | None, before: float | None) -> float | None:
    return before if found is None else found


def _ends(estimate: Estimate | None) -> tuple[float | None, float | None]:
    return (None, None) if estimate is None else (estimate.low, estimate.high)
