"""Which memory each of two competing groups reads and writes on this machine."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import msgspec

from memgauge.experiments.tiers.memory_pairs import DRAM, PRESETS, RequestedSide, Where
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.memory import MemoryPlacement, parse_placement
from memgauge.model.tier_names import second_tiers, tier_named

if TYPE_CHECKING:
    from memgauge.experiments.tiers.parameters import TiersParameters
    from memgauge.model.system import System

NAMED = "--b or --memory, such as file:PATH, node:N or pmemobj:PATH"


class Side(msgspec.Struct, frozen=True):
    """Memory that one group copies from, and memory that it copies to."""

    source: MemoryPlacement
    destination: MemoryPlacement


def sides(parameters: TiersParameters, system: System, cpus: Collection[int]) -> tuple[Side, Side]:
    """Memory of group A and of group B on this machine.

    Args:
        parameters: Requested memory; defaults apply to a group for which none was named.
        system: The machine, in which names of tiers are looked up.
        cpus: CPUs that the threads may use, which decide which memory is `remote`.

    Raises:
        RequestError: a name stands for no tier here, or for several.
        NotPossibleHere: no second memory was named, and this machine has none.
    """
    requested = parameters.a or RequestedSide(DRAM, DRAM)
    return (
        Side(
            _resolved(requested.source, system, "--a", cpus),
            _resolved(requested.destination, system, "--a", cpus),
        ),
        _side_b(parameters, system, cpus),
    )


def _side_b(parameters: TiersParameters, system: System, cpus: Collection[int]) -> Side:
    if parameters.b is not None:
        return Side(
            _resolved(parameters.b.source, system, "--b", cpus),
            _resolved(parameters.b.destination, system, "--b", cpus),
        )
    if parameters.nvm is not None:
        second = _resolved(parameters.nvm, system, "--nvm", cpus)
    elif parameters.memory != DRAM:
        second = parameters.memory
    else:
        second = _second(system, cpus)
    reads, writes = PRESETS[parameters.preset or "nvm-nvm"]
    return Side(second if reads else DRAM, second if writes else DRAM)


def _resolved(where: Where, system: System, option: str, cpus: Collection[int]) -> MemoryPlacement:
    if isinstance(where, MemoryPlacement):
        return where
    found = tier_named(system, where, option, cpus)
    if found.is_gpu:
        raise RequestError(
            f"{option} {where}: is {found} here, which threads of the host cannot access; write "
            f"--b {found} for transfers to and from it beside the host's threads"
        )
    return found


def _second(system: System, cpus: Collection[int]) -> MemoryPlacement:
    """The first tier that is no DRAM, else DRAM of a node whose CPUs are not used."""
    for tier in second_tiers(system):
        if tier.kind != "dram" and tier.placement is not None:
            return parse_placement(tier.placement, "--b")
    try:
        return tier_named(system, "remote", "--b", cpus)
    except RequestError:
        pass
    several = len([node for node in system.nodes if node.bytes > 0]) > 1
    raise NotPossibleHere(
        "tiers: "
        + (
            "all memory here is DRAM beside CPUs that are used; keep to the CPUs of one node "
            f"(--nodes 0), or name another memory with {NAMED}"
            if several
            else f"this machine has one tier of memory, its DRAM; name another with {NAMED}"
        )
    )
