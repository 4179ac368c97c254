"""The kinds of memory of a machine, as the table a renderer shows, and notes on them."""

from __future__ import annotations

from typing import NamedTuple

from memgauge.analysis.section import Cell, Column, Table
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.system import SideCache, System, Tier
from memgauge.model.units import format_bytes

_NOTE = (
    "latency and bandwidth: what the firmware claims for reads from the nearest CPUs; it "
    "was not measured; rank: of the kernel's memory tier, lower is faster"
)


class TierNote(NamedTuple):
    """One sentence about a tier."""

    kind: str
    text: str
    remedy: str | None


def tiers_table(system: System) -> Table | None:
    """One row for each kind of memory; None where nothing is known beside its size.

    Columns that are empty for all tiers are left out.
    """
    if len(system.tiers) < 2 and not any(tier.firmware for tier in system.tiers):
        return None
    columns = [
        Column(title="memory"),
        Column(title="kind"),
        Column(title="size", unit="B"),
        Column(title="distance"),
        Column(title="latency", unit="ns", digits=0),
        Column(title="bandwidth", unit="GB/s"),
        Column(title="rank"),
        Column(title="DAX"),
        Column(title="weight", narrow=False),
        Column(title="write latency", unit="ns", digits=0, narrow=False),
        Column(title="write bandwidth", unit="GB/s", narrow=False),
    ]
    rows = [_row(tier) for tier in system.tiers]
    kept = [at for at in range(len(columns)) if any(row[at] is not None for row in rows)]
    return Table(
        name="tiers",
        title="Memory tiers",
        columns=[columns[at] for at in kept],
        rows=[[row[at] for at in kept] for row in rows],
        note=_NOTE,
    )


def tier_notes(system: System) -> list[TierNote]:
    """How the kind of each further tier is known, and what has to be known or done about it."""
    return [
        TierNote(tier.kind, f"{_called(tier)}: {'; '.join(_facts(tier))}", tier.remedy)
        for tier in system.tiers
        if tier.kind != "dram" or tier.notes or tier.remedy or tier.side_caches
    ]


def tier_name(tier: Tier) -> str:
    """What it is called: its device, or the placement of a node or of a GPU with a number."""
    has_number = tier.kind == "gpu" and tier.placement is not None
    if tier.device is not None and not tier.nodes and not has_number:
        return tier.device
    return tier.placement or f"node {format_cpu_list(tier.nodes)}"


def _called(tier: Tier) -> str:
    """With the placement to give to `--memory`, which may be long."""
    name = tier_name(tier)
    return name if tier.placement in (None, name) else f"{name}, --memory {tier.placement}"


def _row(tier: Tier) -> list[Cell]:
    claimed = tier.firmware
    return [
        tier_name(tier),
        tier.kind,
        tier.bytes,
        _distance(tier),
        claimed.read_latency_ns if claimed else None,
        _gb(claimed.read_bytes_per_s) if claimed else None,
        tier.rank,
        "device" if tier.align_bytes is not None else tier.dax,
        tier.interleave_weight,
        claimed.write_latency_ns if claimed else None,
        _gb(claimed.write_bytes_per_s) if claimed else None,
    ]


def _distance(tier: Tier) -> str | None:
    if tier.distance is None:
        return None if tier.nearest_node is None else f"at node {tier.nearest_node}"
    near = "" if tier.nodes == [tier.nearest_node] else f" from node {tier.nearest_node}"
    return f"{tier.distance}{near}"


def _gb(bytes_per_s: float | None) -> float | None:
    return None if bytes_per_s is None else bytes_per_s / 1e9


def _facts(tier: Tier) -> list[str]:
    facts = [tier.evidence]
    if tier.align_bytes is not None:
        facts.append(f"pages of {format_bytes(tier.align_bytes)}")
    if tier.mount is not None:
        option = f"mounted with dax={tier.dax}" if tier.dax else "mounted without a dax option"
        facts.append(f"{tier.file_system} on {tier.mount}, {option}")
    return [*facts, *map(_side_cache, tier.side_caches), *tier.notes]


def _side_cache(cache: SideCache) -> str:
    how = ", ".join(filter(None, (cache.indexing, cache.write_policy)))
    return f"behind a memory-side cache of {format_bytes(cache.bytes)}" + (f" ({how})" * bool(how))
