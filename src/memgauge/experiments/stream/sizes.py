"""How large the STREAM arrays are, and how they are cut."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.experiments.stream.parameters import StreamParameters
from memgauge.model.records import Point, Scalar, Warning
from memgauge.model.system import System
from memgauge.system.topology.placement import cached_bytes, hides_caches

STREAM_CACHE_MULTIPLE = 4
STREAM_LEAST_ELEMENTS = 1_000_000
"""STREAM run rules: four times the last-level caches used, or a million elements."""

BLOCK_BYTES = 16 << 20
"""Of one array and one thread: half a millisecond or more. Over a quarter of that, the first
translations and the last stores on their way cost a fast kernel several per cent."""

LEAST_BLOCKS = 4
"""So that a lead-in fits before the timed block."""

MEMORY_SHARE = 0.5
"""Of what is available, that arrays sized by default may take at most."""


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """Arrays of one team."""

    elements: int
    """Of each array."""
    element_bytes: int
    blocks: int
    """In each thread's part."""
    lead_in_blocks: int
    llc_bytes: int | None
    """Sum of the last-level caches the team uses; None where the system does not tell."""
    conformant: bool
    """By the STREAM rule; never where the system hides its caches."""

    @property
    def array_bytes(self) -> int:
        """Of each array."""
        return self.elements * self.element_bytes


def layout(parameters: StreamParameters, system: System, cpus: Sequence[int]) -> Layout:
    """Sizes by the STREAM rule for these CPUs, unless asked otherwise."""
    element_bytes = 4 if parameters.element == "float" else 8
    hidden = hides_caches(cpus, system)
    cache_bytes = cached_bytes(cpus, system)
    rule_bytes = max(STREAM_CACHE_MULTIPLE * cache_bytes, STREAM_LEAST_ELEMENTS * element_bytes)
    array_bytes = parameters.array_bytes or min(
        rule_bytes, int(system.available_bytes * MEMORY_SHARE) // 3
    )
    part_bytes = max(element_bytes, array_bytes // len(cpus))
    blocks = max(LEAST_BLOCKS, part_bytes // BLOCK_BYTES)
    block_bytes = part_bytes // blocks
    # Two or three arrays pass through the caches with every block; two is the cautious count.
    lead_in = -(-cache_bytes // (len(cpus) * 2 * block_bytes)) if block_bytes else 0
    return Layout(
        elements=-(-array_bytes // element_bytes),
        element_bytes=element_bytes,
        blocks=blocks,
        lead_in_blocks=min(blocks - 1, lead_in),
        llc_bytes=None if hidden else cache_bytes,
        conformant=not hidden and array_bytes >= rule_bytes,
    )


def rule_warnings(point: Point, caches: str, cache_bytes: Scalar) -> list[Warning]:
    """Of whole passes over arrays that do not keep the STREAM rule, as far as that is known.

    Args:
        point: of `stream`.
        caches: in words, against which the arrays are measured.
        cache_bytes: of these; None: the system does not tell.
    """
    if point.actual["stream_conformant"] or point.role != "pass":
        return []
    why = (
        f"are not known to be four times the {caches}, whose size is not known"
        if cache_bytes is None
        else f"are smaller than four times the {caches} ({cache_bytes} B) or a million elements"
    )
    return [
        Warning(
            code="not-stream-conformant",
            message=f"arrays of {point.actual['array_bytes']} B {why}",
            remedy="leave --array-bytes out, or give more",
            experiment="stream",
            point=point.point,
        )
    ]
