"""What `tiers` measures beside a GPU's transfers: each alone, and both at once."""

from __future__ import annotations

from itertools import product

import msgspec

from memgauge.experiments.loaded.plan import HOPS
from memgauge.experiments.shared.base import Group
from memgauge.experiments.shared.powers_of_two import power_below
from memgauge.experiments.tiers.gpu_parameters import host_side, of_host, transfers_of
from memgauge.experiments.tiers.parameters import TiersParameters, cpu_order, team_sizes
from memgauge.experiments.tiers.plan import TeamPlan, requested_of, team_plan
from memgauge.experiments.tiers.workloads import Workload
from memgauge.experiments.transfers.plan import AT_ONCE
from memgauge.experiments.transfers.sizes import BUFFERS, buffer_room
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.memory import MemoryPlacement
from memgauge.model.points.tiers import TiersActual
from memgauge.model.points.tiers_transfers import TiersTransfersRequested
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point
from memgauge.model.system import System

MIB = 1 << 20

TRANSFER_BYTES = 64 * MIB
"""Of one transfer at least, where there is room; and no less than the largest cache of the host, of
which devices' writes may take a few ways: transfers that hit it would spare the host's memory."""


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    """One team of the host's threads beside one GPU's transfers."""

    host: TeamPlan
    gpu: MemoryPlacement
    transfers: tuple[str, ...]
    transfer_bytes: int
    """Of one transfer, and of a buffer."""

    @property
    def host_memory(self) -> MemoryPlacement:
        """Where the pinned buffers lie."""
        return self.host.a.source

    @property
    def bytes_in(self) -> dict[MemoryPlacement, int]:
        """What it allocates, by placement."""
        needed = dict(self.host.bytes_in)
        size = BUFFERS * self.transfer_bytes
        needed[self.host_memory] = needed.get(self.host_memory, 0) + size
        return needed | {self.gpu: size}


class BesidePass(msgspec.Struct, frozen=True, kw_only=True):
    """The host's threads, transfers, or both at work; and the points this gives samples of."""

    work: Workload | None
    """Of the host's threads; None: they sleep."""
    transfer: str
    """Which way; empty: nothing is transferred."""
    points: list[Point]
    """Of the threads first, then of each direction; of a probe the one of its latency."""
    probed: bool = False
    """Whether the latency of the threads' memory is measured meanwhile, instead of bandwidth."""

    @property
    def leader(self) -> Point:
        """The point that is measured; the others are measured with it."""
        return self.points[0]


class BesideGroup(Group, frozen=True, kw_only=True):
    """One number of threads beside the transfers."""

    plan: Beside
    passes: list[BesidePass]


def planned_group(plan: Beside) -> BesideGroup:
    """All that is measured with a team."""
    passes = _passes(plan)
    return BesideGroup(
        name=plan.host.name,
        points=[point for one in passes for point in one.points],
        bytes=sum(plan.bytes_in.values()),
        bytes_in=plan.bytes_in,
        plan=plan,
        passes=passes,
    )


def besides(
    parameters: TiersParameters, system: System, gpu: MemoryPlacement, free_bytes: int
) -> list[Beside]:
    """Every team of the host's threads to measure beside the transfers.

    Args:
        parameters: As requested, of both groups.
        system: The machine, whose caches and available memory determine the sizes.
        gpu: Placement of the GPU that is group B.
        free_bytes: Free memory of the GPU; limits the size of a transfer, beside the host's.

    Raises:
        RequestError: see `host_side`, `sides` and `team_sizes`.
    """
    host = of_host(parameters)
    order = cpu_order(host, system)
    side = host_side(host, system, order)
    room = buffer_room(free_bytes, system.available_bytes)
    found = []
    for threads in team_sizes(host, system):
        team = team_plan(host, system, order[: threads + host.latency], (side, side))
        wanted = max(TRANSFER_BYTES, team.sizes.llc_bytes or 0)
        size = wanted if wanted <= room else max(1, power_below(room))
        transfers = transfers_of(parameters)
        found.append(Beside(host=team, gpu=gpu, transfers=transfers, transfer_bytes=size))
    return found


def _passes(plan: Beside) -> list[BesidePass]:
    """The host's threads alone, transfers alone, then each beside each; the same with a probe."""
    works, transfers = plan.host.works, plan.transfers
    alone: list[tuple[Workload | None, str]] = [
        *((work, "") for work in works),
        *((None, transfer) for transfer in transfers),
    ]
    cases = [*alone, *product(works, transfers)]
    probed = [(None, ""), *cases] if plan.host.probed else []
    return [
        *(_bandwidth_pass(plan, work, transfer) for work, transfer in cases),
        *(
            BesidePass(
                work=work, transfer=transfer, points=[_of_probe(plan, work, transfer)], probed=True
            )
            for work, transfer in probed
        ),
    ]


def _bandwidth_pass(plan: Beside, work: Workload | None, transfer: str) -> BesidePass:
    points = [] if work is None else [_of_threads(plan, work, transfer)]
    leader = points[0].point if points else None
    for direction in AT_ONCE.get(transfer, (transfer,)) if transfer else ():
        made = _of_transfers(plan, work, transfer, direction)
        points.append(msgspec.structs.replace(made, measured_with=leader))
        leader = leader or made.point
    return BesidePass(work=work, transfer=transfer, points=points)


def _name(plan: Beside, work: Workload | None, transfer: str, what: str) -> str:
    nobody = "transfers" if transfer else "idle"
    stem = f"{nobody if work is None else work.name}/{plan.host.threads}t"
    return f"tiers/{stem}/{transfer or 'alone'}/{what}"


def _work_facts(work: Workload | None) -> dict[str, Scalar]:
    """Empty: the threads sleep."""
    return {} if work is None else work.requested("a").recorded()


def _of_probe(plan: Beside, work: Workload | None, transfer: str) -> Point:
    """A load from what the threads read, while threads, transfers, both or none are at work."""
    host = plan.host
    requested = TiersTransfersRequested(
        group="probe", transfer=transfer, gpu=str(plan.gpu), memory=str(host.a.source)
    )
    actual = TiersActual(
        cpus=format_cpu_list(host.cpus),
        probe_cpu=host.cpus[0],
        probe_took_cpu=None if work or transfer else host.probe_took_cpu,
        transfer_bytes=plan.transfer_bytes,
    )
    return Point(
        point=_name(plan, work, transfer, "latency"),
        experiment="tiers",
        quantity="latency",
        requested=_work_facts(work) | host.requested.recorded() | requested.recorded(),
        actual=actual.recorded() | host.sizes.facts,
        accesses=HOPS,
    )


def _of_threads(plan: Beside, work: Workload, transfer: str) -> Point:
    host = plan.host
    requested = TiersTransfersRequested(transfer=transfer, gpu=str(plan.gpu))
    actual = TiersActual(cpus=format_cpu_list(host.cpus), transfer_bytes=plan.transfer_bytes)
    return Point(
        point=_name(plan, work, transfer, "a"),
        experiment="tiers",
        quantity="bandwidth",
        requested=requested_of(host, work, "a", host.threads).recorded() | requested.recorded(),
        actual=actual.recorded() | host.sizes.facts,
        threads=host.threads,
        work="window",
    )


def _of_transfers(plan: Beside, work: Workload | None, transfer: str, direction: str) -> Point:
    """Alone its samples have no ping-pong, so that the CPUs of its team are another's."""
    requested = TiersTransfersRequested(
        threads=plan.host.threads,
        group="b",
        transfer=transfer,
        direction=direction,
        gpu=str(plan.gpu),
        memory=str(plan.gpu),
        host_memory=str(plan.host_memory),
    )
    return Point(
        point=_name(plan, work, transfer, direction),
        experiment="tiers",
        quantity="bandwidth",
        requested=_work_facts(work) | requested.recorded(),
        actual=TiersActual(
            cpus="" if work is None else format_cpu_list(plan.host.cpus),
            transfer_bytes=plan.transfer_bytes,
        ).recorded(),
        bytes_counted=plan.transfer_bytes,
        bytes_moved=plan.transfer_bytes,
        work="window",
    )
