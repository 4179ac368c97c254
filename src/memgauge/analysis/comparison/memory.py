"""Reports where two runs had their arrays, since comparing kinds of memory may be intended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from memgauge.analysis.comparison.figures import Source
from memgauge.analysis.comparison.ratios import Pair
from memgauge.analysis.machine.actual_memory import described
from memgauge.analysis.section import Verdict
from memgauge.model.points.memory import ROLES, AreaFacts, RequestedMemory
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.units import format_count

OF_MEMORY = frozenset({*ROLES, "access"}).union(*(AreaFacts.keys(role) for role in ROLES))
"""Facts that are reported here in one sentence instead of one by one."""


def memory_verdicts(label: str, pair: Pair) -> Iterator[Verdict]:
    """Each pair of different memories, with what was really in effect, and how it was accessed."""
    memories: Counter[tuple[str, str]] = Counter()
    accesses: Counter[tuple[str, str]] = Counter()
    here, there = _facts(pair.baseline), _facts(pair.other)
    for name in {row.name: None for row in pair.rows}:
        ours, theirs = here.get(name, {}), there.get(name, {})
        memories[_memory(ours), _memory(theirs)] += 1
        accesses[_access(ours), _access(theirs)] += 1
    for (one, other), count in memories.items():
        if one != other and one and other:
            yield Verdict(
                level="note",
                text=f"Two memories are compared (A against {label}): {one} against {other} "
                f"({format_count(count, 'figure')}). A difference can be attributed to the "
                "memory only if everything else was the same.",
            )
    for (one, other), count in accesses.items():
        if one != other:
            yield Verdict(
                level="warning",
                text=f"Elements were reached in two ways (A against {label}): {one} against "
                f"{other} ({format_count(count, 'figure')}). A difference then includes the "
                "cost of address translation, not only that of the memory.",
                remedy="measure with --access translated, as the study did"
                if pair.baseline.published or pair.other.published
                else "measure both with --access direct",
            )


def _facts(source: Source) -> dict[str, Mapping[str, Scalar]]:
    return {one.name: one.facts for one in source.comparables}


def _memory(facts: Mapping[str, Scalar]) -> str:
    """All memories of a point, as `source dram, destination node:2`; empty: not known."""
    requested = RequestedMemory.of(facts)
    if requested.source:
        requested = msgspec.structs.replace(requested, memory="")
    return ", ".join(
        ("" if role == "memory" else f"{role} ")
        + described(str(memory), AreaFacts.of_role(facts, role))
        for role, memory in requested.recorded().items()
    )


def _access(facts: Mapping[str, Scalar]) -> str:
    """`direct` where nothing is recorded: there was no other way."""
    return str(facts.get("access", "direct"))
