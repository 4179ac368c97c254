"""Possible reasons why a node differs: recorded facts that most others do not share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from statistics import median

import msgspec

from memgauge.analysis.figures.conditions import OTHERS_SHARE, STEAL_SHARE
from memgauge.analysis.report.verdicts import FREQUENCY_SPREAD
from memgauge.model.storage.cluster import NodeFigures

LEAST_SHARE = 0.5
"""Of the nodes: what more of them than this have in common is usual."""
_LEAST_OF = {"steal": STEAL_SHARE, "other programs": OTHERS_SHARE}
_DOING = {
    "steal": "the hypervisor took {0:.0%} of its processors' time (steal; median of all nodes "
    "{1:.1%})",
    "other programs": "other programs used {0:.0%} of its processors' time (median of all nodes "
    "{1:.1%})",
}
_UNTOLD = "not known"


class Usual(msgspec.Struct, frozen=True, kw_only=True):
    """What most nodes of a group have in common."""

    nodes: int
    facts: dict[str, tuple[str, int]]
    """Found with how many of them; facts without a majority are left out."""
    shares: dict[str, float]
    """Medians."""
    clock_ghz: float | None


def usual(nodes: Mapping[str, NodeFigures]) -> Usual:
    """Of a group."""
    names = {name for one in nodes.values() for name in one.facts}
    facts = {}
    for name in sorted(names):
        counts = Counter(one.facts.get(name, _UNTOLD) for one in nodes.values())
        found, count = counts.most_common(1)[0]
        if count > LEAST_SHARE * len(nodes):
            facts[name] = (found, count)
    kinds = {kind for one in nodes.values() for kind in one.shares}
    clocks = [one.clock_ghz for one in nodes.values() if one.clock_ghz]
    return Usual(
        nodes=len(nodes),
        facts=facts,
        shares={
            kind: median(one.shares[kind] for one in nodes.values() if kind in one.shares)
            for kind in kinds
        },
        clock_ghz=median(clocks) if clocks else None,
    )


def reasons(node: NodeFigures, others: Usual) -> list[str]:
    """Unusual facts of a node as text; those that take processor time first."""
    return [*_shares(node, others), *_clock(node, others), *_facts(node, others), *_problems(node)]


def _shares(node: NodeFigures, others: Usual) -> Iterator[str]:
    for kind, least in _LEAST_OF.items():
        share, middle = node.shares.get(kind, 0.0), others.shares.get(kind, 0.0)
        if share > max(least, 2 * middle):
            yield _DOING[kind].format(share, middle)


def _clock(node: NodeFigures, others: Usual) -> Iterator[str]:
    if node.clock_ghz is None or others.clock_ghz is None:
        return
    if abs(node.clock_ghz / others.clock_ghz - 1) > FREQUENCY_SPREAD:
        yield (
            f"its core clock was {node.clock_ghz:.2f} GHz (median of all nodes "
            f"{others.clock_ghz:.2f} GHz)"
        )


def _facts(node: NodeFigures, others: Usual) -> Iterator[str]:
    for name, (found, count) in others.facts.items():
        own = node.facts.get(name, _UNTOLD)
        if own != found:
            yield f"its {name} is {own}, while {count} of {others.nodes} nodes have {found}"


def _problems(node: NodeFigures) -> Iterator[str]:
    yield from (f"its own report shows: {problem}" for problem in node.problems)
