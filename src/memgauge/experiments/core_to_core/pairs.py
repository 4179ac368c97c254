"""Which pairs of CPUs are measured: all, or a sample of each relation that the topology claims.

A sample holds neighbours first, so that it has every CPU, and then takes turns over strata: pairs
that share a core, those that share a cache and no core, and so on within each group, and those
across each two groups. It is drawn at random from a fixed seed: the same machine has the same
pairs, so that runs can be compared.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

import msgspec

from memgauge.model.topology.claimed import Claimed, shared_level

Pair = tuple[int, int]

SEED = 1
TRIES = 16
"""Draws from a stratum until a pair is found that is new; then the stratum counts as exhausted."""


class Stratum(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs of one relation: a CPU, and another of those that are listed for it."""

    firsts: Sequence[int]
    partners: dict[int, Sequence[int]]
    level: int
    """Place of the finest grouping that has both in one group; other pairs are passed over."""


def chosen_pairs(claims: Sequence[Claimed], cpus: Sequence[int], most: int) -> list[Pair]:
    """Pairs, near ones first and else scrambled, each with its smaller CPU first.

    Args:
        claims: How the topology groups the CPUs, the finest first.
        cpus: At least two.
        most: Number of pairs that may be measured.
    """
    if len(cpus) * (len(cpus) - 1) // 2 <= most:
        found = {_ordered(*pair) for pair in combinations(cpus, 2)}
    else:
        found = _sampled(claims, cpus, most)
    order = sorted(found)
    random.Random(SEED).shuffle(order)  # so that every second of them is a fair sample, too
    return sorted(order, key=lambda pair: shared_level(claims, *pair))


def _sampled(claims: Sequence[Claimed], cpus: Sequence[int], most: int) -> set[Pair]:
    near = sorted(cpus, key=lambda cpu: [c.group_of[cpu] for c in reversed(claims)] + [cpu])
    neighbours = [_ordered(*pair) for pair in pairwise(near)]
    kept = min(len(neighbours), max(1, most // 2))
    found = {neighbours[at * len(neighbours) // kept] for at in range(kept)}
    draw = random.Random(SEED)
    strata = [*_strata(claims, most)]
    while len(found) < most and strata:
        strata = [
            stratum
            for stratum in strata
            if len(found) < most and _add_one(stratum, claims, found, draw)
        ]
    return found


def _strata(claims: Sequence[Claimed], most: int) -> Iterator[Stratum]:
    """Within and across the finest groups of which there are few enough for a pair of each two."""
    place = next(
        (
            at
            for at, claim in enumerate(claims)
            if len(claim.groups) * (len(claim.groups) - 1) // 2 <= most // 2
        ),
        len(claims) - 1,
    )
    for level in range(place + 1):
        yield from _within(claims, level, place)
    for one, other in combinations(claims[place].groups, 2):
        level = shared_level(claims, one[0], other[0])
        yield Stratum(firsts=one, partners=dict.fromkeys(one, other), level=level)


def _within(claims: Sequence[Claimed], level: int, place: int) -> Iterator[Stratum]:
    """Of each group at `place`: pairs whose finest common group is one at `level`."""
    partners: dict[int, dict[int, Sequence[int]]] = {}
    for group in claims[level].groups:
        if len(group) > 1:
            of_place = partners.setdefault(claims[place].group_of[group[0]], {})
            of_place |= dict.fromkeys(group, group)
    for of_place in partners.values():
        yield Stratum(firsts=list(of_place), partners=of_place, level=level)


def _add_one(
    stratum: Stratum, claims: Sequence[Claimed], found: set[Pair], draw: random.Random
) -> bool:
    """Add a new pair of the stratum, if a few draws find one."""
    for _ in range(TRIES):
        first = draw.choice(stratum.firsts)
        second = draw.choice(stratum.partners[first])
        pair = _ordered(first, second)
        if first == second or pair in found:
            continue
        if shared_level(claims, first, second) == stratum.level:
            found.add(pair)
            return True
    return False


def _ordered(one: int, other: int) -> Pair:
    return (one, other) if one < other else (other, one)
