"""Which treatments have shown what they can while a diagnosis runs: they get no more rounds.

Whoever looks at an interval again and again until it shows something finds too much. So a decision
rests on intervals of 99.9%, examined after a few numbers of rounds that are fixed in advance
(Haybittle 1971 and Peto et al. 1976, on interim analyses of clinical trials): in 40 rounds at most
0.6% of the decisions on one interval are wrong. The intervals of 95% that are reported afterwards
hold as often as those of a fixed number of rounds (`benchmarks/diagnose/simulated.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memgauge.analysis.diagnose.by_region.judged import pressures_of, region_passes, treated_under
from memgauge.analysis.diagnose.figures import Treated, treated_of
from memgauge.analysis.diagnose.judgement import BEYOND, LIKE_BANDWIDTH, Judgement, judge
from memgauge.analysis.diagnose.needs import is_decided
from memgauge.analysis.diagnose.passes import Pass, passes_of
from memgauge.analysis.diagnose.verdicts import MATTERS, is_faster, is_slower
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.points.diagnose import (
    BANDWIDTH,
    COMPUTE,
    PROGRAM,
    WAITING,
    WRITE,
    DiagnoseRequested,
)
from memgauge.model.records import Point, Sample

LEAST_DECIDED_ROUNDS = 12
"""Below it nothing is decided: fewer pairs have no interval of 99.9% with an end to spare."""
GROWTH = 1.25
"""From one look to the next, in rounds."""
CONFIDENCE = 0.999
NARROW_SHARE = 0.15
"""Half of the 99.9% interval of a share, from which on more rounds are not worth their time;"""
NARROW_TIME = 0.05
"""and of that of a variant's time over the usual one;"""
NARROW_STEP = 0.01
"""and of that of the slowdown under a part dose."""


def next_look(rounds: int) -> int:
    """The number of rounds after which decisions are made next.

    Args:
        rounds: After which they were made last; 0: never.
    """
    return max(LEAST_DECIDED_ROUNDS, int(rounds * GROWTH) + (rounds > 0))


def decided(points: Sequence[Point], taken: Mapping[str, Sequence[Sample]]) -> set[str]:
    """Points of the program that need no more rounds; references follow them.

    Args:
        points: Of one diagnosis.
        taken: Samples so far by name of the point.
    """
    requested = {
        one.treatment: (one, point.point)
        for point in points
        if (one := DiagnoseRequested.of(point.requested)).subject == PROGRAM
    }
    done = decided_treatments(
        {name: one for name, (one, _) in requested.items()}, passes_of(points, taken)
    )
    if not all(are_regions_settled(points, taken)):
        done -= {name for name, (one, _) in requested.items() if one.kind == "pressure"}
    return {point for name, (_, point) in requested.items() if name in done}


def are_regions_settled(
    points: Sequence[Point], taken: Mapping[str, Sequence[Sample]]
) -> Iterator[bool]:
    """Whether more rounds would change what is said of each region that is timed.

    Args:
        points: Of one diagnosis.
        taken: Samples so far by name of the point.
    """
    requested = pressures_of(points)
    for passes in region_passes(points, taken).values():
        yield is_region_settled(requested, passes)


def is_region_settled(
    requested: Mapping[str, DiagnoseRequested], passes: Mapping[str, Sequence[Pass]]
) -> bool:
    """The same of one region, as of a whole run.

    Args:
        requested: Of the program under pressure, by treatment.
        passes: Of the region, by treatment.
    """
    return _is_verdict_settled(treated_under(requested, passes, CONFIDENCE))


def decided_treatments(
    requested: Mapping[str, DiagnoseRequested], passes: Mapping[str, Sequence[Pass]]
) -> set[str]:
    """Treatments that need no more rounds.

    The verdict needs all kinds of pressure: they are decided together. Each part dose is decided
    for itself; what it is compared with, when all are. Each variant is decided for itself; the
    usual way and its repetition, when all variants are.

    Args:
        requested: By name of the treatment.
        passes: By name of the treatment, in order of rounds.
    """
    treated = {
        name: treated_of(one, passes, CONFIDENCE) for name, one in requested.items() if one.baseline
    }
    done = _pressures(requested, treated)
    changes = {name for name, one in requested.items() if one.kind == "variant" and one.change}
    done |= {name for name in changes if _is_variant_decided(treated.get(name, []))}
    if changes <= done:
        done |= {name for name, one in requested.items() if one.kind == "variant"}
    return done


def _pressures(
    requested: Mapping[str, DiagnoseRequested], treated: Mapping[str, Sequence[Treated]]
) -> set[str]:
    of_pressure = {name: one for name, one in requested.items() if one.kind == "pressure"}
    steps = {name for name, one in of_pressure.items() if one.step_of}
    done = _verdict(set(of_pressure) - steps, treated)
    done |= {name for name in steps if _is_step_decided(treated.get(name, []))}
    return done - {COMPUTE} if steps - done else done


def _verdict(names: set[str], treated: Mapping[str, Sequence[Treated]]) -> set[str]:
    """Treatments that the verdict rests on, once it is settled: all of them, or none."""
    every = [one for name in names for one in treated.get(name, ())]
    return names if _is_verdict_settled(every) else set()


def _is_verdict_settled(every: Sequence[Treated]) -> bool:
    judgement = judge(every)
    write = next(
        (one for one in every if one.name == WRITE and one.regime == judgement.regime), None
    )
    if write is None or write.rounds < LEAST_DECIDED_ROUNDS:
        return False
    return _is_settled(judgement, write)


def _is_settled(judgement: Judgement, write: Treated) -> bool:
    """Whether more rounds would change neither the verdict nor what is said of its share."""
    if judgement.kind in {"not memory", "cache"}:
        return True
    if judgement.kind == "bandwidth":
        return _is_narrow(judgement.bandwidth_share, NARROW_SHARE)
    if judgement.kind == "cannot tell" and not judgement.needs_traffic:
        return False
    # It waits for memory, or for the cache; simulated traffic, which comes last, decides the rest.
    bandwidth = write.shares.get(BANDWIDTH)
    is_like_bandwidth_or_not = bandwidth is not None and not (
        bandwidth.low < LIKE_BANDWIDTH <= bandwidth.high
    )
    over = [write.over[name] for name in WAITING if name in write.over]
    shares = [write.shares[name] for name in WAITING if name in write.shares]
    is_beyond = all(one is not None and one.low > BEYOND for one in over)
    is_not_beyond = any(one is not None and one.high <= BEYOND for one in over)
    return (
        is_like_bandwidth_or_not
        and (is_beyond or is_not_beyond)
        and all(_is_narrow(one, NARROW_SHARE) for one in shares)
    )


def _is_step_decided(treated: Sequence[Treated]) -> bool:
    """Whether it slows the program down by what is asked, or is so near it that rounds are lost."""
    if not treated or treated[0].rounds < LEAST_DECIDED_ROUNDS:
        return False
    return is_decided(treated[0]) or _is_narrow(treated[0].program, NARROW_STEP)


def _is_variant_decided(treated: Sequence[Treated]) -> bool:
    """Whether it is faster, slower or neither by what matters, and by how much."""
    if not treated or treated[0].rounds < LEAST_DECIDED_ROUNDS:
        return False
    time = treated[0].program
    if time is None or not _is_narrow(time, NARROW_TIME):
        return False
    is_the_same = time.low > 1 - MATTERS and time.high < 1 + MATTERS
    return is_the_same or is_faster(time) or is_slower(time)


def _is_narrow(estimate: Estimate | None, most: float) -> bool:
    return estimate is not None and (estimate.high - estimate.low) / 2 <= most
