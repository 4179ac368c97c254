"""Which figures of two sources are partners, and which have none.

Figures of one name are partners; of several regimes those of the same kind, or at a like distance
on the same machine. Of several statistics the one that both have; beside a median stands a median.
"""

import math
from collections.abc import Collection, Sequence
from typing import Literal

import msgspec

from memgauge.analysis.comparison.figures import (
    MEDIAN,
    SUSTAINED,
    Comparable,
    Source,
    is_one_machine,
)
from memgauge.analysis.figures.regimes import LEAST_RATIO

NOT_IN_EVERY_RUN = "not in every run"
"""Why a figure of several runs has no partner: some of its own side's runs lack it;"""
NOT_IN_EVERY_RUN_THERE = "not in every run there"
"""or some of the other side's runs do."""


class Unpaired(msgspec.Struct, frozen=True, kw_only=True):
    """A figure that has no partner."""

    name: str
    regime: str
    source: Literal["baseline", "other"]
    why: str


def pair_up(baseline: Source, other: Source) -> list[tuple[Comparable, Comparable]]:
    """Partners, one pair for each name and regime: of the same statistic where there is one."""
    offers: dict[str, list[Comparable]] = {}
    for one in other.comparables:
        offers.setdefault(one.name, []).append(one)
    same_machine = is_one_machine(baseline, other)
    found: dict[tuple[str, str], tuple[Comparable, Comparable]] = {}
    for one in baseline.comparables:
        for offer in offers.get(one.name, []):
            key = (one.name, one.regime)
            if one.unit == offer.unit and _same_regime(one, offer, same_machine=same_machine):
                known = found.get(key)
                mine, theirs = alike([one, offer])
                if known is None or _likeness(mine, theirs) > _likeness(*known):
                    found[key] = (mine, theirs)
    return list(found.values())


def alike(figures: Sequence[Comparable]) -> list[Comparable]:
    """All of them as medians, as far as known, where one is a median."""
    if any(one.statistic == MEDIAN for one in figures):
        return [one.as_median() for one in figures]
    return list(figures)


def _likeness(one: Comparable, other: Comparable) -> int:
    return (one.statistic == other.statistic) * 2 + (one.statistic == SUSTAINED)


def _same_regime(one: Comparable, other: Comparable, *, same_machine: bool) -> bool:
    """Equal kinds; else one regime that has no name, at a like distance on the same machine."""
    if one.regime == other.regime:
        return True
    kinds = {one.regime, other.regime}
    if kinds == {"", "one regime"}:
        return True
    if "one regime" not in kinds or not (one.pingpong_ns and other.pingpong_ns):
        return False
    apart = abs(math.log(one.pingpong_ns / other.pingpong_ns))
    return same_machine and apart < math.log(LEAST_RATIO) / 2


def unpaired(
    source: Source,
    against: Source,
    side: Literal["baseline", "other"],
    paired: Collection[tuple[str, str]],
) -> list[Unpaired]:
    """The figures of a source that have no partner, and why.

    Args:
        source: Whose figures.
        against: The source in which partners were looked for.
        side: Which of the two `source` is.
        paired: Name and regime of each figure of `source` that has a partner.
    """
    why_apart = source.apart if source.tool != against.tool else ""
    whys = {one.name: NOT_IN_EVERY_RUN_THERE for one in against.not_in_every_run}
    whys |= {one.name: "in another regime there" for one in against.comparables}
    left = {(c.name, c.regime): c for c in source.comparables if (c.name, c.regime) not in paired}
    return [
        Unpaired(
            name=name,
            regime=regime,
            source=side,
            why=whys.get(name, why_apart or "not measured there"),
        )
        for name, regime in left
    ] + [
        Unpaired(name=one.name, regime=one.regime, source=side, why=NOT_IN_EVERY_RUN)
        for one in source.not_in_every_run
    ]
