"""How large the STREAM arrays are, and how they are cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from memgauge.experiments.stream.parameters import StreamParameters
from memgauge.model.system import System
from memgauge.system.topology.placement import cached_bytes, hides_caches

if TYPE_CHECKING:
    from memgauge import _core

STREAM_CACHE_MULTIPLE = 4
STREAM_LEAST_ELEMENTS = 1_000_000
"""STREAM run rules: four times the last-level caches used, or a million elements."""

ARRAYS = 3
LINE_BYTES = 64
ALIAS_BYTES = 4096
"""Cores first compare addresses by these lower bits, and caches are indexed by them."""
ROUNDED_BYTES = 256
"""Blocks of a thread's part are whole multiples, so that they share no line."""

BLOCK_BYTES = 16 << 20
"""Of one array and one thread: half a millisecond or more. Over a quarter of that, the first
translations and the last stores on their way cost a fast kernel several per cent."""

LEAST_BLOCKS = 4
"""So that a lead-in fits before the timed block."""

MEMORY_SHARE = 0.5
"""Of what is available, that arrays sized by default may take at most."""


GPU_LEAST_BYTES = 1 << 30
"""Of each array where the device has room: a walk of HBM over less takes a fraction of a
millisecond, of which launching the kernel and draining its last blocks are percents."""

ROUNDED_ELEMENTS = 32
"""Arrays on a GPU are whole multiples, so that vectors and sectors are whole."""


class ArraySizes(msgspec.Struct, frozen=True, kw_only=True):
    """Three arrays."""

    elements: int
    """Of each array."""
    element_bytes: int
    conformant: bool
    """By the STREAM rule; never where the size of the caches is not known."""

    @property
    def array_bytes(self) -> int:
        """Of each array."""
        return self.elements * self.element_bytes


class Layout(ArraySizes, frozen=True, kw_only=True):
    """Arrays of one team."""

    blocks: int
    """In each thread's part."""
    lead_in_blocks: int
    llc_bytes: int | None
    """Sum of the last-level caches that the team uses; None: the system hides it."""
    threads: int
    offset_bytes: int
    """Of each array relative to the one before it, within a page."""

    def mapped_bytes(self, page_bytes: int) -> int:
        """Of all arrays in pages of this size: what the core maps for them.

        Args:
            page_bytes: Size of a page.
        """
        shares = self.threads * self.blocks
        piece = ROUNDED_BYTES // self.element_bytes
        block_elements = -(-self.elements // (shares * piece)) * piece
        laid_out = block_elements * shares * self.element_bytes
        return sum(
            -(-(laid_out + array * self.offset_bytes) // page_bytes) * page_bytes
            for array in range(ARRAYS)
        )


class GpuLayout(ArraySizes, frozen=True, kw_only=True):
    """Arrays on one device."""

    lead_in_bytes: int
    """Of the end of each array, walked untimed before a slice."""


def layout(parameters: StreamParameters, system: System, cpus: Sequence[int]) -> Layout:
    """Sizes by the STREAM rule for these CPUs, unless others are requested.

    Args:
        parameters: As requested; `array_bytes` takes the place of the rule.
        system: The machine; arrays sized by the rule take at most half of its available memory.
        cpus: CPUs of the team, a thread on each; the rule counts their last-level caches.
    """
    element_bytes = _element_bytes(parameters)
    hidden = hides_caches(cpus, system)
    cache_bytes = cached_bytes(cpus, system)
    rule_bytes = _rule_bytes(cache_bytes, element_bytes)
    room_bytes = int(system.available_bytes * MEMORY_SHARE) // ARRAYS
    kinds = len(parameters.page_kinds)  # of pages: all lie in memory together
    array_bytes = parameters.array_bytes or min(rule_bytes, room_bytes // kinds)
    part_bytes = max(element_bytes, array_bytes // len(cpus))
    blocks = max(LEAST_BLOCKS, part_bytes // BLOCK_BYTES)
    block_bytes = part_bytes // blocks
    elements = -(-array_bytes // element_bytes)
    offset_bytes = parameters.array_offset
    if offset_bytes is None:
        offset_bytes = _static_offset_bytes(elements * element_bytes)
    # Two or three arrays pass through the caches with every block; two is the cautious count.
    lead_in = -(-cache_bytes // (len(cpus) * 2 * block_bytes)) if block_bytes else 0
    return Layout(
        elements=elements,
        element_bytes=element_bytes,
        blocks=blocks,
        lead_in_blocks=min(blocks - 1, lead_in),
        llc_bytes=None if hidden else cache_bytes,
        threads=len(cpus),
        offset_bytes=offset_bytes,
        conformant=not hidden and array_bytes >= rule_bytes,
    )


def gpu_layout(parameters: StreamParameters, facts: _core.GpuFacts, free_bytes: int) -> GpuLayout:
    """Sizes by the STREAM rule against the second-level cache, unless others are requested.

    Args:
        parameters: As requested; `array_bytes` takes the place of the rule.
        facts: The GPU as its driver describes it.
        free_bytes: Free memory of the GPU; arrays sized by the rule take at most half of it.
    """
    element_bytes = _element_bytes(parameters)
    cache_bytes = facts.l2_bytes or 0
    rule_bytes = _rule_bytes(cache_bytes, element_bytes)
    room_bytes = int(free_bytes * MEMORY_SHARE) // 3
    array_bytes = parameters.array_bytes or min(max(rule_bytes, GPU_LEAST_BYTES), room_bytes)
    step_bytes = ROUNDED_ELEMENTS * element_bytes
    array_bytes = -(-array_bytes // step_bytes) * step_bytes
    return GpuLayout(
        elements=array_bytes // element_bytes,
        element_bytes=element_bytes,
        lead_in_bytes=min(cache_bytes, array_bytes),
        conformant=facts.l2_bytes is not None and array_bytes >= rule_bytes,
    )


def _static_offset_bytes(array_bytes: int) -> int:
    """Where in a page STREAM's arrays begin, one after the other, relative to the one before.

    They are static and lie one behind the other, each on a line of its own. Kernels depend on it:
    on a Zen 5, `add` over arrays that agree in the lower 12 bits of addresses is 10% faster than
    over arrays 2 KiB apart, and `scale` 5% slower.
    """
    return -(-array_bytes // LINE_BYTES) * LINE_BYTES % ALIAS_BYTES


def _element_bytes(parameters: StreamParameters) -> int:
    return 4 if parameters.element == "float" else 8


def _rule_bytes(cache_bytes: int, element_bytes: int) -> int:
    """Of each array at least, by the STREAM rule."""
    return max(STREAM_CACHE_MULTIPLE * cache_bytes, STREAM_LEAST_ELEMENTS * element_bytes)
