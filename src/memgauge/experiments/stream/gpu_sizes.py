"""How large the STREAM arrays on a GPU are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from memgauge.experiments.stream.sizes import (
    MEMORY_SHARE,
    STREAM_CACHE_MULTIPLE,
    STREAM_LEAST_ELEMENTS,
)

if TYPE_CHECKING:
    from memgauge import _core
    from memgauge.experiments.stream.parameters import StreamParameters

GPU_LEAST_BYTES = 1 << 30
"""Of each array where the device has room: a walk of HBM over less takes a fraction of a
millisecond, of which launching the kernel and draining its last blocks are percents."""

ROUNDED_ELEMENTS = 32
"""Arrays are whole multiples, so that vectors and sectors are whole."""


class GpuLayout(msgspec.Struct, frozen=True, kw_only=True):
    """Arrays on one device."""

    elements: int
    """Of each array."""
    element_bytes: int
    lead_in_bytes: int
    """Of the end of each array, walked untimed before a slice."""
    l2_bytes: int | None
    """None: the driver does not tell."""
    conformant: bool
    """By the STREAM rule; never where the driver does not tell the cache."""

    @property
    def array_bytes(self) -> int:
        """Of each array."""
        return self.elements * self.element_bytes


def gpu_layout(parameters: StreamParameters, facts: _core.GpuFacts, free_bytes: int) -> GpuLayout:
    """Sizes by the STREAM rule against the second-level cache, unless asked otherwise."""
    element_bytes = 4 if parameters.element == "float" else 8
    cache_bytes = facts.l2_bytes or 0
    rule_bytes = max(STREAM_CACHE_MULTIPLE * cache_bytes, STREAM_LEAST_ELEMENTS * element_bytes)
    room_bytes = int(free_bytes * MEMORY_SHARE) // 3
    array_bytes = parameters.array_bytes or min(max(rule_bytes, GPU_LEAST_BYTES), room_bytes)
    step_bytes = ROUNDED_ELEMENTS * element_bytes
    array_bytes = -(-array_bytes // step_bytes) * step_bytes
    return GpuLayout(
        elements=array_bytes // element_bytes,
        element_bytes=element_bytes,
        lead_in_bytes=min(cache_bytes, array_bytes),
        l2_bytes=facts.l2_bytes,
        conformant=facts.l2_bytes is not None and array_bytes >= rule_bytes,
    )
