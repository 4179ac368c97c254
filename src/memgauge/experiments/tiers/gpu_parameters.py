"""Parameters of `tiers` where group B is a GPU: whose memory, which way, and what means nothing."""

from __future__ import annotations

from memgauge.experiments.tiers.memory_pairs import DRAM, RequestedSide
from memgauge.experiments.tiers.parameters import TiersParameters
from memgauge.experiments.tiers.sides import Side, sides
from memgauge.experiments.transfers.parameters import HOST_DIRECTIONS
from memgauge.model.errors import RequestError
from memgauge.model.memory import MemoryPlacement
from memgauge.model.parameters import fields_of
from memgauge.model.system import System

MEANINGLESS = {
    "preset": "the presets are for two memories that threads reach; use --transfer",
    "nvm": "it names a memory that threads reach; write --b cuda:N alone",
    "split": "all threads are in group A, for a GPU's copy engines need none",
    "delay_b": "transfers make no pauses",
    "access": "no group uses a pool",
    "fixed_iterations": "what counts is the time in which threads and transfers are both at work",
}
"""Options that mean nothing there, and why."""


def gpu_of(parameters: TiersParameters) -> MemoryPlacement:
    """The GPU that group B is.

    Raises:
        RequestError: another combination of memories than the host's in A and one GPU's in B.
    """
    for one in () if parameters.a is None else parameters.a.placements:
        if one.is_gpu:
            raise RequestError(
                f"--a: threads of the host cannot access the memory of a GPU, {one}; write --b "
                f"{one}, and name host memory with --a"
            )
    _refuse_meaningless(parameters)
    if parameters.b is None:
        return parameters.memory
    source, destination = parameters.b.source, parameters.b.destination
    if source != destination or not isinstance(source, MemoryPlacement):
        raise RequestError(
            f"--b {parameters.b}: a GPU must be alone in group B; write --b cuda:N, and set the "
            "direction of transfers with --transfer"
        )
    return source


def _refuse_meaningless(parameters: TiersParameters) -> None:
    for field in fields_of(TiersParameters):
        why = MEANINGLESS.get(field.name)
        default = None if field.default is None else field.value(field.default)
        if why is not None and getattr(parameters, field.name) != default:
            raise RequestError(
                f"{field.flag}: beside transfers to a GPU {why}; leave {field.flag} out"
            )


def transfers_of(parameters: TiersParameters) -> tuple[str, ...]:
    """Which ways, in one order; none to another GPU, which the host's memory has no part in."""
    requested = HOST_DIRECTIONS if parameters.transfer is None else parameters.transfer
    return tuple(one for one in HOST_DIRECTIONS if one in requested)


def of_host(parameters: TiersParameters) -> TiersParameters:
    """The same for the host's threads alone: group A's memory, and nobody in group B."""
    side = parameters.a or RequestedSide(DRAM, DRAM)
    return parameters.replace(a=side, b=side, memory=DRAM, split=(0,), transfer=None)


def host_side(host: TiersParameters, system: System, cpus: list[int]) -> Side:
    """Memory that the host's threads read and write, and transfers use too.

    Args:
        host: Parameters of the host's threads alone, as `of_host` returns them.
        system: The machine, in which names of tiers are looked up.
        cpus: CPUs that the threads may use, which decide which memory is `remote`.

    Raises:
        RequestError: the memory cannot be pinned.
    """
    side, _ = sides(host, system, cpus)
    for one in (side.source, side.destination):
        if one.is_area:
            raise RequestError(
                f"--a {one}: transfers need memory that the driver can pin; choose dram, node:N or "
                "interleave:N,N"
            )
    return side
