"""Where the memory of a program was, as the kernel showed it while the program ran."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from memgauge.model.cpulist import parse_cpu_list
from memgauge.model.record_kinds.programs import ProgramMemory
from memgauge.model.units import format_bytes

ALIKE = 0.05
"""Shares of memory that differ by no more are called the same."""


class MemorySeen(msgspec.Struct, frozen=True, kw_only=True):
    """Of the looks at a program under one treatment."""

    looks: int
    anonymous_bytes: int
    """The largest."""
    huge_low: float
    """Least and"""
    huge_high: float
    """greatest share of it in huge pages, in any round that was looked at."""
    nodes: dict[int, float]
    """Share on each node where most was seen; empty: not read."""

    @property
    def huge_words(self) -> str:
        """Such as `92% of 512 MiB`, or `0% to 92% of 512 MiB` where rounds differed."""
        low, high = f"{self.huge_low:.0%}", f"{self.huge_high:.0%}"
        share = high if self.huge_high - self.huge_low <= ALIKE else f"{low} to {high}"
        return f"{share} of {format_bytes(self.anonymous_bytes)}"

    @property
    def node_words(self) -> str:
        """Such as `node 0: 75%, node 1: 25%`; empty: not read."""
        return ", ".join(f"node {node}: {share:.0%}" for node, share in self.nodes.items())

    def share_on(self, nodes: Iterable[int]) -> float:
        """Of its memory, that is on any of these nodes."""
        return sum(self.nodes.get(node, 0.0) for node in nodes)


def memory_seen(looks: Iterable[ProgramMemory]) -> MemorySeen | None:
    """All looks together; None: there were none, or no memory was resident.

    Args:
        looks: One for each round that was looked at, its largest.
    """
    known = [one for one in looks if one.anonymous_bytes > 0]
    if not known:
        return None
    shares = [one.huge_bytes / one.anonymous_bytes for one in known]
    most = max(known, key=lambda one: one.anonymous_bytes)
    return MemorySeen(
        looks=len(known),
        anonymous_bytes=most.anonymous_bytes,
        huge_low=min(shares),
        huge_high=max(shares),
        nodes=_shares(most.node_bytes),
    )


def _shares(node_bytes: dict[int, int]) -> dict[int, float]:
    total = sum(node_bytes.values())
    return {node: size / total for node, size in sorted(node_bytes.items()) if total}


def node_list(text: str) -> list[int]:
    """Nodes as a record names them; none where it does not name any, or another file wrote it."""
    try:
        return parse_cpu_list(text)
    except ValueError:
        return []


def without_effect(
    seen: MemorySeen, usual: MemorySeen | None, *, pages_wanted: str, nodes: Iterable[int]
) -> str | None:
    """Why a change of pages or nodes did not reach the memory; None: it did, or it is not known.

    Args:
        seen: Under the change.
        usual: Of the usual way to run the program; None: not seen.
        pages_wanted: `huge` or `base`; empty: pages were not changed.
        nodes: On which the memory was to be; empty: nodes were not changed.
    """
    if pages_wanted:
        return _pages_unchanged(seen, usual, pages_wanted)
    if nodes and seen.nodes:
        return _nodes_unchanged(seen, usual, nodes)
    return None


def _pages_unchanged(seen: MemorySeen, usual: MemorySeen | None, wanted: str) -> str | None:
    if wanted == "huge" and not seen.huge_high:
        return "no memory of it was in huge pages"
    if usual is None or abs(seen.huge_high - usual.huge_high) > ALIKE:
        return None
    if not usual.huge_high:
        return "no memory of it is in huge pages anyway"
    return f"as much of its memory as usual was in huge pages ({seen.huge_high:.0%})"


def _nodes_unchanged(
    seen: MemorySeen, usual: MemorySeen | None, nodes: Iterable[int]
) -> str | None:
    if usual is not None and usual.nodes:
        every = {*seen.nodes, *usual.nodes}
        differs = max(abs(seen.share_on([one]) - usual.share_on([one])) for one in every)
        if differs <= ALIKE:
            return f"its memory was where it is anyway ({seen.node_words})"
    share = seen.share_on(nodes)
    return f"only {share:.0%} of its memory was there" if share < 1 / 2 else None
