"""Which groups of points are open at once, so that the run stays inside the memory it may use."""

from __future__ import annotations

from collections.abc import Sequence

from memgauge.experiments.base import Experiment, Group
from memgauge.model.errors import RequestError
from memgauge.model.units import format_bytes

Planned = tuple[Experiment, object, Group]

MEMORY_SHARE = 0.8
"""Of what the process may still allocate; the rest is left to the machine's other users."""


def waves(planned: Sequence[Planned], available_bytes: int) -> list[list[Planned]]:
    """Pack groups, in order, into waves that fit; all points of a wave are visited round-robin.

    One wave is best: every point is then spread over the whole run, and slow drift of the machine
    reaches all of them alike.

    Raises:
        RequestError: one group alone needs more than there is.
    """
    allowance = int(available_bytes * MEMORY_SHARE)
    packed: list[list[Planned]] = []
    free = 0
    for experiment, parameters, group in planned:
        if group.bytes > allowance:
            raise RequestError(
                f"{experiment.name}: {format_bytes(group.bytes)} are needed ({group.name}), but "
                f"only {format_bytes(allowance)} may be used of the "
                f"{format_bytes(available_bytes)} available; "
                "ask for smaller buffers or fewer threads"
            )
        if not packed or group.bytes > free:
            packed.append([])
            free = allowance
        packed[-1].append((experiment, parameters, group))
        free -= group.bytes
    return packed
