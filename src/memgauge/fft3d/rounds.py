"""The transforms of a job, in rounds: each repetition runs every number of ranks once.

Called by the MPI thread, on every rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import msgspec

from memgauge.analysis.fft3d.shape import ELEMENT_BYTES, transform_name
from memgauge.counters.marks import region
from memgauge.fft3d.checking import compare, field_for, validation
from memgauge.fft3d.cuda import Cuda
from memgauge.fft3d.decomposition import block_of
from memgauge.fft3d.devices import Cpu, Device
from memgauge.fft3d.plan import Plan, Step, array_bytes
from memgauge.fft3d.resorting import Resorting, by_nest
from memgauge.fft3d.transform import Arrays, Transform
from memgauge.fft3d.world import World
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.errors import RequestError
from memgauge.model.records import Validation


class Found(msgspec.Struct, frozen=True):
    """Results of a job's transforms other than the times of their phases."""

    validations: list[Validation]
    """Checks, reported by the first rank."""
    notes: list[str]
    """Notes on how they were computed, with the ranks they apply to."""


def all_rounds(world: World, plan: Plan, device: Device) -> Found:
    """Everything a job does, on this rank.

    Args:
        world: All ranks of the job; each must call this.
        plan: Transforms and checks, the same on all ranks.
        device: What computes this rank's FFTs; it is closed at the end.

    Raises:
        AgreedError: a rank could not begin.
        SystemFailure: what computes the FFTs failed on this rank.
    """
    # Counters may have failed on some ranks: all must agree before continuing.
    world.agree(None)
    arrays = _arrays(world, plan)
    resorting = partial(by_nest, tile=plan.parameters.tile)
    with _ready(world, plan, device, arrays) as notes:
        members = [_Member(world, step, arrays, device, resorting) for step in plan.steps]
        for member in members:
            member.transform("warm-up", world)
        found = []
        for repetition in range(plan.parameters.repetitions):
            for member in members:
                name = transform_name(member.step.ranks, member.step.pencils.size)
                member.transform(name, world)
                if repetition == plan.parameters.repetitions - 1:
                    found += member.check()
    return Found(found, notes)


def agreed_device(world: World, plan: Plan) -> Device:
    """What computes this rank's FFTs.

    Raises:
        AgreedError: a rank has none.
    """
    device: Device = Cpu()
    problem = None
    if plan.parameters.device == "cuda":
        ranks = world.node.ranks
        try:
            device = Cuda(ranks.index(world.rank), len(ranks))
        except RequestError as error:
            problem = str(error)
    world.agree(problem)
    return device


def ranks_by(world: World, known: Sequence[str | None]) -> dict[str, str]:
    """What ranks sent, with the ranks that sent it, such as `0-1,4`."""
    ranks: dict[str, list[int]] = {}
    for rank, text in enumerate(world.comm.allgather(list(known))):
        for one in text:
            if one is not None:
                ranks.setdefault(one, []).append(rank)
    return {text: format_cpu_list(numbers) for text, numbers in ranks.items()}


@contextmanager
def _ready(world: World, plan: Plan, device: Device, arrays: Arrays) -> Iterator[list[str]]:
    """The device with all it needs on every rank, and notes of that.

    Raises:
        AgreedError: it cannot have it on one of them.
    """
    shapes = [
        (step.pencils.local_elements // step.pencils.size, step.pencils.size)
        for step in plan.steps
        if world.rank < step.ranks
    ]
    notes: list[str] = []
    problem = None
    try:
        if shapes:
            notes = device.prepare([arrays.one, arrays.other], shapes)
            notes += [device.notice] if device.notice else []
    except RequestError as error:
        problem = f"rank {world.rank}: {error}"
    try:
        world.agree(problem)
        known = ranks_by(world, notes)
        yield [
            f"rank{'s' * (not ranks.isdigit())} {ranks}: {text}" for text, ranks in known.items()
        ]
    finally:
        device.close()


def _arrays(world: World, plan: Plan) -> Arrays:
    bytes_ = array_bytes([step.pencils for step in plan.steps], world.rank)
    arrays, problem = Arrays(0), None
    try:
        arrays = Arrays(bytes_ // ELEMENT_BYTES, plan.steps[0].pencils.arrays)
    except MemoryError as error:
        problem = f"rank {world.rank}: its arrays cannot be allocated: {error}"
    world.agree(problem)
    return arrays


class _Member:
    """This rank's part in one step; it has none where the step has too few ranks for it."""

    def __init__(
        self, world: World, step: Step, arrays: Arrays, device: Device, resorting: Resorting
    ) -> None:
        self.step = step
        self._comm: Any = world.part(step.ranks)
        self._field = field_for(step.pencils.size, whole=step.whole)
        self._transform = (
            None
            if self._comm is None
            else Transform(self._comm, step.pencils, arrays, device, resorting)
        )

    def transform(self, name: str, world: World) -> None:
        """Once, all ranks of the step beginning at once, under that name."""
        world.wait_for_all()
        if self._transform is None:
            return
        block = block_of(self.step.pencils, self._comm.Get_rank())
        with region("input"):
            self._field.fill(block, self._transform.array)
        self._comm.Barrier()
        with region(name):
            self._transform.run()

    def check(self) -> list[Validation]:
        """Of the latest transform; broadcast by the first rank."""
        if self._transform is None:
            return []
        pencils = self.step.pencils
        with region("check"):
            error = compare(self._comm, pencils, self._field, self._transform.array)
        return [] if error is None else [validation(pencils, error, whole=self.step.whole)]
