"""One side of a comparison that was measured in several runs."""

import math
from collections.abc import Sequence
from statistics import fmean
from typing import TypeVar

import msgspec

from memgauge.analysis.comparison.figures import Comparable, Source, without_interval
from memgauge.analysis.comparison.partners import alike, pair_up
from memgauge.analysis.statistics.estimate import Estimate

Key = tuple[str, str]
"""Name and regime of a figure."""
Known = TypeVar("Known")


def side_of(runs: Sequence[Source]) -> Source:
    """Runs as one source, with the figures that all of them have; a single run is itself.

    Facts of the machine, the settings and the points are those in which all runs agree.
    """
    first, *others = runs
    if not others:
        return first
    partners = [{_key(a): b for a, b in pair_up(first, other)} for other in others]
    kept: list[list[Comparable]] = []
    for one in first.comparables:
        mine = alike([one, *(found[_key(one)] for found in partners if _key(one) in found)])
        if len(mine) == len(runs) and len({each.statistic for each in mine}) == 1:
            kept.append(mine)
    machines = {run.machine_id for run in runs}
    return Source(
        name=",".join(run.name for run in runs),
        comparables=[_mean(figures) for figures in kept],
        title=f"{len(runs)} runs, the first a {first.title}",
        machine_id=first.machine_id if len(machines) == 1 else None,
        complete=all(run.complete for run in runs),
        traits=_in_common([run.traits for run in runs]),
        settings=_in_common([run.settings for run in runs]),
        caveats=list(dict.fromkeys(caveat for run in runs for caveat in run.caveats)),
        runs=list(runs),
        not_in_every_run=_partial(runs, kept),
    )


def _partial(runs: Sequence[Source], kept: Sequence[Sequence[Comparable]]) -> list[Comparable]:
    """Figures of any run that are no part of a figure of all."""
    known = {_key(figures[0]) for figures in kept}
    found: dict[Key, Comparable] = {}
    for at, run in enumerate(runs):
        used = {_key(figures[at]) for figures in kept}
        for one in run.comparables:
            if _key(one) not in used | known:
                found.setdefault(_key(one), one)
    return list(found.values())


def _key(one: Comparable) -> Key:
    return one.name, one.regime


def _mean(figures: Sequence[Comparable]) -> Comparable:
    """The geometric mean, of which ratios are means of ratios; 0 where one is not above zero."""
    values = tuple(one.estimate.value for one in figures)
    medians = tuple(one.median.value for one in figures if one.median is not None)
    has_medians = len(medians) == len(figures)
    return msgspec.structs.replace(
        figures[0],
        estimate=_middle(values),
        facts=_in_common([one.facts for one in figures]),
        of_runs=values,
        median=_middle(medians) if has_medians else None,
        medians_of_runs=medians if has_medians else (),
    )


def _middle(values: Sequence[float]) -> Estimate:
    usable = all(math.isfinite(value) and value > 0 for value in values)
    return without_interval(math.exp(fmean(map(math.log, values))) if usable else 0.0)


def _in_common(known: Sequence[dict[str, Known]]) -> dict[str, Known]:
    first, *others = known
    return {
        key: value
        for key, value in first.items()
        if all(key in other and other[key] == value for other in others)
    }
