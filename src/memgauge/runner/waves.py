"""Which groups of points are open at once, so that the run stays inside the memory it may use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from memgauge.experiments.base import Experiment, Group
from memgauge.model.errors import RequestError
from memgauge.model.memory import MemoryPlacement
from memgauge.model.parameters import CommonParameters
from memgauge.model.units import format_bytes
from memgauge.system.memory_room import Room

Planned = tuple[Experiment, CommonParameters, Group]

MEMORY_SHARE = 0.8
"""Of what the process may still allocate; the rest is left to the machine's other users."""


def needs(planned: Planned) -> Counter[MemoryPlacement]:
    """Bytes that a group allocates, by placement."""
    _, parameters, group = planned
    return Counter(group.bytes_in or {parameters.memory: group.bytes})


def waves(
    planned: Sequence[Planned], room: Callable[[MemoryPlacement], Sequence[Room]]
) -> list[list[Planned]]:
    """Pack groups, in order, into waves that fit; all points of a wave are visited round-robin.

    One wave is best: every point is then spread over the whole run, and slow drift of the machine
    reaches all of them alike.

    Args:
        planned: groups, with the parameters that say where their memory is.
        room: by placement, all that it is taken from, and how many bytes of that there are.
            Placements that are taken from the same share them.

    Raises:
        RequestError: one group alone needs more than there is.
    """
    packed: list[list[Planned]] = []
    used: Counter[object] = Counter()
    for one in planned:
        wanted, available = _by_pool(one, room)
        _refuse_more_than_all(one, wanted, available)
        if not packed or any(
            used[pool] + size > _allowance(available[pool]) for pool, size in wanted.items()
        ):
            packed.append([])
            used.clear()
        packed[-1].append(one)
        used.update(wanted)
    return packed


def _by_pool(
    one: Planned, room: Callable[[MemoryPlacement], Sequence[Room]]
) -> tuple[Counter[object], dict[object, int]]:
    wanted: Counter[object] = Counter()
    available: dict[object, int] = {}
    for placement, size in needs(one).items():
        for pool, available_bytes in room(placement):
            wanted[pool] += size
            available[pool] = available_bytes
    return wanted, available


def _allowance(available_bytes: int) -> int:
    return int(available_bytes * MEMORY_SHARE)


def _refuse_more_than_all(
    one: Planned, wanted: Counter[object], available: dict[object, int]
) -> None:
    experiment, _, group = one
    for pool, size in wanted.items():
        if size > _allowance(available[pool]):
            raise RequestError(
                f"{experiment.name}: {format_bytes(size)} are needed ({group.name}), but "
                f"only {format_bytes(_allowance(available[pool]))} may be used of the "
                f"{format_bytes(available[pool])} available{_where(pool)}; "
                f"ask for {_less(pool)}"
            )


def _where(pool: object) -> str:
    return f" in {pool}" if isinstance(pool, MemoryPlacement) else ""


def _less(pool: object) -> str:
    if isinstance(pool, MemoryPlacement) and pool.is_gpu:
        return "smaller arrays, or end what else uses the GPU"
    return "smaller buffers or fewer threads"
