"""What `tiers` measures beside a GPU's transfers: each alone, and both at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import msgspec

from memgauge.experiments.loaded.plan import HOPS
from memgauge.experiments.shared.powers_of_two import power_below
from memgauge.experiments.tiers.gpu_parameters import host_side, of_host, transfers_of
from memgauge.experiments.tiers.parameters import TiersParameters, cpu_order, team_sizes
from memgauge.experiments.tiers.plan import TeamPlan, team_plan
from memgauge.experiments.tiers.sizes import TierSizes
from memgauge.experiments.tiers.workloads import Workload
from memgauge.experiments.transfers.plan import AT_ONCE
from memgauge.experiments.transfers.sizes import BUFFERS, buffer_room
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.memory import MemoryPlacement
from memgauge.model.records import Point, Scalar
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


class SamplingPass(msgspec.Struct, frozen=True, kw_only=True):
    """One turn: the host's threads, transfers, or both; and the points it gives samples of."""

    work: Workload | None
    """Of the host's threads; None: they sleep."""
    transfer: str | None
    """Which way; None: nothing is transferred."""
    points: list[Point]
    """Of the threads first, then of each direction; of a probe the one of its latency."""
    probed: bool = False
    """Whether the latency of the threads' memory is measured meanwhile, instead of bandwidth."""


def besides(
    parameters: TiersParameters, system: System, gpu: MemoryPlacement, free_bytes: int
) -> list[Beside]:
    """Every team to measure with; `free_bytes` of the GPU's memory.

    Raises:
        RequestError: see `host_side`, `sides` and `team_sizes`.
    """
    host = of_host(parameters)
    order = cpu_order(host, system)
    side = host_side(host, system, order)
    return [
        _beside(
            parameters,
            system,
            gpu,
            team_plan(host, system, order[: threads + host.latency], (side, side)),
            free_bytes,
        )
        for threads in team_sizes(host, system)
    ]


def planned_again(
    parameters: TiersParameters, system: System, gpu: MemoryPlacement, points: Sequence[Point]
) -> Beside:
    """The team of a planned group, with the sizes that were known then."""
    host = of_host(parameters)
    order = cpu_order(host, system)
    side = host_side(host, system, order)
    first = points[0]
    threads = int(str(first.requested["threads"]))
    sizes = TierSizes.of(first.actual)
    return Beside(
        host=team_plan(host, system, order[: threads + host.latency], (side, side), sizes),
        gpu=gpu,
        transfers=transfers_of(parameters),
        transfer_bytes=int(str(first.actual["transfer_bytes"])),
    )


def _beside(
    parameters: TiersParameters,
    system: System,
    gpu: MemoryPlacement,
    host: TeamPlan,
    free_bytes: int,
) -> Beside:
    room = buffer_room(free_bytes, system.available_bytes)
    wanted = max(TRANSFER_BYTES, host.sizes.llc_bytes or 0)
    return Beside(
        host=host,
        gpu=gpu,
        transfers=transfers_of(parameters),
        transfer_bytes=wanted if wanted <= room else max(1, power_below(room)),
    )


def planned_visits(plan: Beside) -> list[SamplingPass]:
    """The host's threads alone, transfers alone, then each beside each; the same with a probe."""
    works, transfers = plan.host.works, plan.transfers
    alone: list[tuple[Workload | None, str | None]] = [
        *((work, None) for work in works),
        *((None, transfer) for transfer in transfers),
    ]
    cases = [*alone, *product(works, transfers)]
    probed = [(None, None), *cases] if plan.host.probed else []
    return [
        *(_visit(plan, work, transfer) for work, transfer in cases),
        *(
            SamplingPass(
                work=work,
                transfer=transfer,
                points=[_of_probe(plan, work, transfer)],
                probed=True,
            )
            for work, transfer in probed
        ),
    ]


def _of_probe(plan: Beside, work: Workload | None, transfer: str | None) -> Point:
    """A load from what the threads read, while threads, transfers, both or none are at work."""
    idle: dict[str, Scalar] = {"kernel": None}
    host = plan.host
    notes = host.notes if work is None and transfer is None else {}
    return Point(
        point=_name(plan, work, transfer, "latency"),
        experiment="tiers",
        quantity="latency",
        requested={
            **(idle if work is None else work.requested("a")),
            **host.requested,
            "group": "probe",
            "transfer": transfer,
            "gpu": str(plan.gpu),
            "memory": str(host.a.source),
        },
        actual={
            "cpus": format_cpu_list(host.cpus),
            "probe_cpu": host.cpus[0],
            **host.sizes.facts,
            **notes,
            "transfer_bytes": plan.transfer_bytes,
        },
        accesses=HOPS,
    )


def _visit(plan: Beside, work: Workload | None, transfer: str | None) -> SamplingPass:
    points = [] if work is None else [_of_threads(plan, work, transfer)]
    leader = points[0].point if points else None
    for direction in () if transfer is None else AT_ONCE.get(transfer, (transfer,)):
        made = _of_transfers(plan, work, str(transfer), direction)
        points.append(msgspec.structs.replace(made, measured_with=leader))
        leader = leader or made.point
    return SamplingPass(work=work, transfer=transfer, points=points)


def _name(plan: Beside, work: Workload | None, transfer: str | None, what: str) -> str:
    nobody = "idle" if transfer is None else "transfers"
    stem = f"{nobody if work is None else work.name}/{plan.host.threads}t"
    return f"tiers/{stem}/{transfer or 'alone'}/{what}"


def _of_threads(plan: Beside, work: Workload, transfer: str | None) -> Point:
    host = plan.host
    side = host.a
    return Point(
        point=_name(plan, work, transfer, "a"),
        experiment="tiers",
        quantity="bandwidth",
        requested={
            **work.requested("a"),
            **host.requested,
            "group": "a",
            "group_threads": host.threads,
            "transfer": transfer,
            "gpu": str(plan.gpu),
            "source": str(side.source),
            "destination": str(side.destination),
            "memory": str(side.source) if side.source == side.destination else None,
        },
        actual={
            "cpus": format_cpu_list(host.cpus),
            **host.sizes.facts,
            "transfer_bytes": plan.transfer_bytes,
        },
        threads=host.threads,
        work="window",
    )


def _of_transfers(plan: Beside, work: Workload | None, transfer: str, direction: str) -> Point:
    """Alone its visits have no ping-pong, so that the CPUs of its team are another's."""
    idle: dict[str, Scalar] = {"kernel": None}
    cpus: dict[str, Scalar] = {} if work is None else {"cpus": format_cpu_list(plan.host.cpus)}
    return Point(
        point=_name(plan, work, transfer, direction),
        experiment="tiers",
        quantity="bandwidth",
        requested={
            **(idle if work is None else work.requested("a")),
            "threads": plan.host.threads,
            "group": "b",
            "transfer": transfer,
            "direction": direction,
            "gpu": str(plan.gpu),
            "memory": str(plan.gpu),
            "host_memory": str(plan.host_memory),
        },
        actual={**cpus, "transfer_bytes": plan.transfer_bytes},
        bytes_counted=plan.transfer_bytes,
        bytes_moved=plan.transfer_bytes,
        work="window",
    )
