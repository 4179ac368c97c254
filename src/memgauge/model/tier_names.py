"""Names of tiers that were discovered: `nvdimm`, `cxl`, `hbm`, `gpu`, `remote`."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from memgauge.model.errors import RequestError
from memgauge.model.memory import MemoryPlacement, names_gpu, parse_placement
from memgauge.model.text import quoted

if TYPE_CHECKING:
    from memgauge.model.system import System, Tier

TIER_NAMES = ("nvdimm", "cxl", "hbm", "gpu", "remote")
"""Each stands for the one tier of its kind; `remote` for DRAM of a node whose CPUs are not used."""


def tier_named(
    system: System, name: str, option: str = "--memory", cpus: Collection[int] | None = None
) -> MemoryPlacement:
    """The placement that a name stands for.

    Args:
        system: the machine, as detected.
        name: one of `TIER_NAMES`.
        option: what to call it by in an error.
        cpus: those that will use the memory, for `remote`; None: all that are allowed.

    Raises:
        RequestError: no tier of that kind can hold arrays, or several can; names them.
    """
    if name not in TIER_NAMES:
        raise RequestError(
            f"{option} {quoted(name)} is not the name of a tier; choose from "
            f"{', '.join(TIER_NAMES)}"
        )
    found = _remote(system, cpus) if name == "remote" else _of_kind(system, name)
    placements = list(dict.fromkeys(tier.placement for tier in found if tier.placement))
    if len(placements) == 1:
        return parse_placement(placements[0], option)
    if placements:
        raise RequestError(
            f"{option} {name}: {len(placements)} tiers match; write one of them, "
            f"{' or '.join(placements)}"
        )
    raise RequestError(f"{option} {name}: {_missing(system, name, found)}")


def second_tiers(system: System) -> list[Tier]:
    """Tiers beside the first that arrays of the host's threads can be put in."""
    return [
        tier
        for tier in system.tiers[1:]
        if tier.placement is not None and not names_gpu(tier.placement)
    ]


def _of_kind(system: System, kind: str) -> list[Tier]:
    return [tier for tier in system.tiers if tier.kind == kind]


def _remote(system: System, cpus: Collection[int] | None) -> list[Tier]:
    """DRAM of single nodes, none of whose CPUs is in use."""
    used = set(system.allowed_cpus if cpus is None else cpus)
    near = {cpu.node for cpu in system.cpus if cpu.cpu in used}
    return [
        tier
        for tier in system.tiers
        if tier.kind == "dram" and tier.placement != "dram" and not near & set(tier.nodes)
    ]


def _missing(system: System, name: str, found: list[Tier]) -> str:
    if found:  # there, but arrays cannot be put into it
        remedy = next((tier.remedy for tier in found if tier.remedy), None)
        names = ", ".join(tier.device or f"node {tier.nodes}" for tier in found)
        return (
            f"{names} cannot hold arrays in its present configuration; "
            f"{remedy or 'see memgauge system'}"
        )
    if name == "remote" and len({cpu.node for cpu in system.cpus}) > 1:
        return (
            "the CPUs used are on every node with DRAM, so none is remote; use those of one node "
            "only (--nodes 0), or write node:N"
        )
    there = ", ".join(f"{tier.placement or tier.device} ({tier.kind})" for tier in system.tiers)
    return (
        f"no such tier was found on this machine (it has {there or 'only dram'}); "
        f"write its placement, such as node:N or file:PATH, see memgauge system"
    )
