"""What a job will do, the same on every rank: its transforms and its checks.

Called by the MPI thread. Impossible requests are detected before anything is allocated or written.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.analysis.fft3d.shape import TWO_NESTS, Pencils
from memgauge.fft3d.checking import is_whole
from memgauge.fft3d.decomposition import cut, strong_steps, weak_steps
from memgauge.fft3d.parameters import Fft3dParameters
from memgauge.fft3d.world import AgreedError, World
from memgauge.model.errors import RequestError
from memgauge.model.units import format_bytes
from memgauge.system.limits.memory import margin_bytes


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One transform, on the first ranks of the job."""

    pencils: Pencils
    whole: bool
    """Whether it is compared with a whole transform; else with plane waves."""

    @property
    def ranks(self) -> int:
        """That take part."""
        return self.pencils.grid.ranks


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A job."""

    parameters: Fft3dParameters
    steps: list[Step]


def agreed_plan(world: World, parameters: Fft3dParameters, free_bytes: int) -> Plan:
    """Make the plan, the same on all ranks.

    Args:
        world: All ranks of the job; each must call this.
        parameters: The request.
        free_bytes: Bytes of memory available on this rank's node.

    Raises:
        AgreedError: the grid is impossible, or a node has too little memory.
    """
    free = world.comm.allgather(free_bytes)
    try:
        cuts = _cuts(world.ranks, parameters)
        spare_bytes = _spare_on_first_node(world, cuts, free)
        steps = [
            Step(pencils=one, whole=is_whole(parameters.check, one, spare_bytes)) for one in cuts
        ]
    except RequestError as error:
        raise AgreedError(str(error)) from error
    return Plan(parameters=parameters, steps=steps)


def array_bytes(cuts: Sequence[Pencils], rank: int) -> int:
    """Bytes of one array of a rank, for the largest transform that it takes part in."""
    return max((one.local_bytes for one in cuts if rank < one.grid.ranks), default=0)


def _cuts(ranks: int, parameters: Fft3dParameters) -> list[Pencils]:
    if parameters.nests == TWO_NESTS and parameters.tile:
        raise RequestError(
            "--nests two, --tile: tiles are of the fused loop nest; omit one of them"
        )
    return [
        msgspec.structs.replace(one, nests=parameters.nests) for one in _sizes(ranks, parameters)
    ]


def _sizes(ranks: int, parameters: Fft3dParameters) -> list[Pencils]:
    """By rising size, or by the number of ranks."""
    if parameters.scaling is None:
        return [cut(size, ranks, parameters.grid) for size in sorted(parameters.size)]
    if len(parameters.size) > 1:
        raise RequestError(
            "--size, --scaling: several sizes are measured on all ranks only; give one size"
        )
    if parameters.grid is not None:
        raise RequestError(
            "--grid and --scaling: each number of ranks has a grid of its own; omit one of them"
        )
    make = strong_steps if parameters.scaling == "strong" else weak_steps
    return make(parameters.size[0], ranks)


def _spare_on_first_node(world: World, cuts: Sequence[Pencils], free: Sequence[int]) -> int:
    """Bytes left on the node of the first rank; RequestError where a node has too few."""
    spare = []
    for node in world.nodes:
        has_bytes = min(free[rank] for rank in node.ranks)
        usable_bytes = has_bytes - margin_bytes(has_bytes)
        needed_bytes = cuts[0].arrays * sum(array_bytes(cuts, rank) for rank in node.ranks)
        if needed_bytes > usable_bytes:
            raise RequestError(
                f"--size {cuts[-1].size}: {node.description} needs {format_bytes(needed_bytes)} "
                f"for its ranks' arrays, and {format_bytes(max(0, usable_bytes))} can be used "
                "there; use a smaller size or more nodes"
            )
        spare.append(usable_bytes - needed_bytes)
    return spare[0]
