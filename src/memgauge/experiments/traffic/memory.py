"""Which sizes of `traffic` are open at once, so that their arrays fit into memory."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge import _core
from memgauge.experiments.shared.base import Group
from memgauge.experiments.traffic.cold import Sets
from memgauge.experiments.traffic.parameters import TrafficParameters
from memgauge.experiments.traffic.plan import PlannedSize, Team
from memgauge.model.errors import RequestError
from memgauge.model.units import format_bytes

GROUP_SHARE = 0.75
"""Of the available memory, that sizes which are open at once may take."""
LARGEST_SHARE = 0.8
"""That one set of arrays may take."""


class MeasuredSize(msgspec.Struct, frozen=True, kw_only=True):
    """A size that is executed, and the arrays that it is executed on."""

    planned: PlannedSize
    sets: Sets


class TrafficGroup(Group, frozen=True, kw_only=True):
    """Sizes of one team that are open at once."""

    team: Team
    sizes: tuple[MeasuredSize, ...] = ()
    """By rising cost; empty: nothing is run."""
    probe: _core.NestSpec | None = None
    """So small that executing it costs nothing, and shows the speed; None: the first size does."""


class Room(msgspec.Struct, frozen=True):
    """Memory for the arrays of a team."""

    available_bytes: int
    remedy: str
    """What to do where it is too little."""


def packed(
    parameters: TrafficParameters,
    team: Team,
    sizes: Sequence[MeasuredSize],
    probe: PlannedSize,
    room: Room,
) -> list[TrafficGroup]:
    """As few groups as memory allows, in the order of sizes: each has the counters for itself.

    Args:
        parameters: As requested; sizes that do not fit are left out, unless they were requested.
        team: Threads, or the GPU, that all sizes are executed by.
        sizes: Sizes to measure, rising.
        probe: Small size that shows the speed in groups which begin with a larger one.
        room: Available memory; sizes share a group while their sets fit `GROUP_SHARE` of it.

    Raises:
        RequestError: a requested size does not fit.
    """
    packs: list[list[MeasuredSize]] = []
    for one in _possible(parameters, team, sizes, room):
        together = _pool_bytes([*packs[-1], one]) if packs else 0
        if packs and together <= room.available_bytes * GROUP_SHARE:
            packs[-1].append(one)
        else:
            packs.append([one])
    return [
        TrafficGroup(
            name=team.name + (f", from N = {pack[0].planned.size}" if index else ""),
            points=[one.planned.point for one in pack],
            bytes=_pool_bytes(pack),
            team=team,
            sizes=tuple(pack),
            probe=probe.spec if pack[0].planned.size > probe.size else None,
        )
        for index, pack in enumerate(packs)
    ]


def _pool_bytes(sizes: Sequence[MeasuredSize]) -> int:
    return sum(one.sets.pool_bytes for one in sizes)


def _possible(
    parameters: TrafficParameters, team: Team, sizes: Sequence[MeasuredSize], room: Room
) -> list[MeasuredSize]:
    """Those of which one set fits into memory; of sizes that were requested all must."""
    most = int(room.available_bytes * LARGEST_SHARE)
    fitting = [one for one in sizes if one.sets.laid_out_bytes <= most]
    if len(fitting) < len(sizes) and (parameters.sizes is not None or not fitting):
        beyond = next(one for one in sizes if one not in fitting)
        fits = f"sizes up to {fitting[-1].planned.size} of these fit" if fitting else "none fits"
        raise RequestError(
            f"--sizes {beyond.planned.size}: the arrays of {parameters.kernel} by {team.name} take "
            f"{format_bytes(beyond.sets.bytes)}, and {format_bytes(most)} of memory may be used: "
            f"{fits}; {room.remedy}"
        )
    return fitting
