"""Chooses which groups of points are open together, so that a run stays within its memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby

from memgauge.experiments.shared.base import Experiment, Group
from memgauge.model.errors import DoesNotFit
from memgauge.model.memory import MemoryPlacement
from memgauge.model.parameters import CommonParameters
from memgauge.system.limits.memory import gib, tightest_limit
from memgauge.system.limits.room import Room

Planned = tuple[Experiment, CommonParameters, Group]

MEMORY_SHARE = 0.8
"""Share of the memory that the process may still allocate; the rest is left to other users."""


def needs(planned: Planned) -> Counter[MemoryPlacement]:
    """Bytes that a group allocates, by placement; pools of explicit huge pages left out."""
    _, parameters, group = planned
    return Counter(group.bytes_in or {parameters.memory: group.bytes - group.pool_bytes})


def batches(
    planned: Sequence[Planned], room: Callable[[MemoryPlacement], Sequence[Room]]
) -> list[list[Planned]]:
    """Pack groups, in order, into batches that fit; points of a batch are sampled round-robin.

    One batch is best: every point is then spread over the whole run, and slow drift of the machine
    reaches all of them alike.

    Args:
        planned: groups with the parameters that determine where their memory is.
        room: by placement, the pools it allocates from, with the bytes available in each.
            Placements that allocate from the same pool share its bytes.
    """
    packed: list[list[Planned]] = []
    used: Counter[object] = Counter()
    for members in _units(planned, room):
        wanted, available = _together(members, room)
        if not packed or not _fits(used, wanted, available):
            packed.append([])
            used.clear()
        packed[-1] += members
        used.update(wanted)
    return packed


def _units(
    planned: Sequence[Planned], room: Callable[[MemoryPlacement], Sequence[Room]]
) -> list[list[Planned]]:
    """Groups that are not to be parted: those compared with each other, if they fit together."""
    units: list[list[Planned]] = []
    for (_, compared), members in groupby(planned, key=lambda one: (one[0].name, one[2].compared)):
        together = list(members)
        if compared and _fits(Counter(), *_together(together, room)):
            units.append(together)
        else:
            units += [[one] for one in together]
    return units


def _fits(used: Counter[object], wanted: Counter[object], available: dict[object, int]) -> bool:
    return all(used[pool] + size <= _allowance(available[pool]) for pool, size in wanted.items())


def _together(
    members: Sequence[Planned], room: Callable[[MemoryPlacement], Sequence[Room]]
) -> tuple[Counter[object], dict[object, int]]:
    wanted: Counter[object] = Counter()
    available: dict[object, int] = {}
    for one in members:
        more, known = _by_pool(one, room)
        wanted.update(more)
        available |= known
    return wanted, available


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


def require_room(one: Planned, room: Callable[[MemoryPlacement], Sequence[Room]]) -> None:
    """Refuse a group that does not even fit alone; `room` as for `batches`.

    Raises:
        DoesNotFit: the group needs more memory than may be used.
    """
    experiment, _, group = one
    wanted, available = _by_pool(one, room)
    for pool, size in wanted.items():
        if size > _allowance(available[pool]):
            raise DoesNotFit(
                f"{experiment.name}: {gib(size)} are needed ({group.name}), but only "
                f"{gib(_allowance(available[pool]))} may be used of the "
                f"{gib(available[pool])} available{_where(pool)}; "
                f"{_remedy(pool)}"
            )


def _where(pool: object) -> str:
    if isinstance(pool, MemoryPlacement):
        return f" in {pool}"
    limit = tightest_limit()
    return "" if limit is None else f" ({limit.origin})"


def _remedy(pool: object) -> str:
    if not isinstance(pool, MemoryPlacement):
        return "free memory, raise the limit, or use smaller buffers or fewer threads"
    if pool.is_gpu:
        return "use smaller arrays, or stop other programs that use the GPU"
    return "use smaller buffers or fewer threads"
