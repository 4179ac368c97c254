"""What the arrays of a run were really in, in words: a file is not its medium without DAX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memgauge.analysis.machine.gpus import gpu_titles
from memgauge.analysis.section import Verdict
from memgauge.model.memory import MemoryPlacement
from memgauge.model.points.memory import AreaFacts, ComparedNodes, RequestedMemory, placement_of
from memgauge.model.records import Point
from memgauge.model.system import System
from memgauge.model.units import format_bytes

IN_MEMORY = frozenset({"tmpfs", "hugetlbfs", "ramfs", "devtmpfs"})
"""File systems that have no medium but memory."""


def memory_verdicts(points: Iterable[Point], system: System) -> Iterator[Verdict]:
    """One for each memory but plain DRAM, and a warning where it was not what its name suggests.

    Nodes that an experiment compares are named by its own tables.
    """
    seen: dict[str, Verdict] = {}
    points = list(points)
    compared = _comparing_nodes(points)
    for point in points:
        if point.experiment in compared:
            continue
        for role, placement in RequestedMemory.of(point.requested).placements().items():
            if placement.kind == "dram":
                continue
            facts = AreaFacts.of_role(point.actual, role)
            verdict = _of_gpu(point) if placement.is_gpu else _verdict(placement, facts, system)
            seen.setdefault(verdict.text, verdict)
    yield from seen.values()


def _comparing_nodes(points: Iterable[Point]) -> set[str]:
    """Experiments whose points differ in the nodes that they name."""
    memories: dict[str, set[str]] = {}
    for point in points:
        requested = ComparedNodes.of(point.requested)
        if requested.memory_node is not None or requested.nodes:
            memories.setdefault(point.experiment, set()).add(requested.memory)
    return {experiment for experiment, found in memories.items() if len(found) > 1}


def described(placement: str, facts: AreaFacts) -> str:
    """A memory with what was found of it, such as `file:/mnt/x (ext4, DAX, MAP_SYNC granted)`."""
    parsed = placement_of(placement)
    if parsed is None or not parsed.is_area or facts == AreaFacts():
        return placement
    if parsed.kind == "shm":
        return f"{placement} (DRAM)"
    known = [_file_system(facts), "DAX" if facts.dax else "", _sync(facts), _pages(facts)]
    return f"{placement} ({', '.join(filter(None, known))})"


def _verdict(placement: MemoryPlacement, facts: AreaFacts, system: System) -> Verdict:
    memory = described(str(placement), facts)
    if not placement.is_area:
        return Verdict(
            level="note", text=f"The arrays were in {memory}{_made_of(placement, system)}."
        )
    if placement.kind in {"shm", "devdax"}:
        return Verdict(level="note", text=f"The arrays were in {memory}.")
    if facts.dax:
        how = "loads and stores reached the medium itself, without the page cache"
        return Verdict(level="note", text=f"The arrays were in {memory}: {how}.")
    if facts.file_system in IN_MEMORY:
        text = f"The arrays were in {memory}: that file system is in DRAM, which was measured."
        return Verdict(level="note", text=text)
    return _not_the_medium(memory, facts)


def _of_gpu(point: Point) -> Verdict:
    """Which device the number meant: it depends on the environment."""
    return Verdict(level="note", text=f"The GPU was {', '.join(gpu_titles([point]))}.")


def _not_the_medium(memory: str, facts: AreaFacts) -> Verdict:
    if facts.dax is None:
        return Verdict(
            level="warning",
            text=f"The arrays were in {memory}: nothing shows whether DAX was in effect, so this "
            "may measure the page cache, which is DRAM, not the medium.",
            remedy="mount it with -o dax=always, on a device that memgauge system shows",
        )
    return Verdict(
        level="warning",
        text=f"The arrays were in {memory}: this measures the page cache, which is DRAM, not the "
        "medium of the file.",
        remedy="to measure persistent memory, name a file on a file system mounted with "
        "-o dax=always, or a devdax device",
    )


def _made_of(placement: MemoryPlacement, system: System) -> str:
    """What the tiers of the machine show of its nodes, where they are no ordinary DRAM."""
    kinds = {
        tier.nodes[0]: tier.kind
        for tier in system.tiers
        if len(tier.nodes) == 1 and tier.placement != "dram"
    }
    nodes = [f"node {node} is {_KINDS[kinds[node]]}" for node in placement.nodes if node in kinds]
    return f": {', '.join(nodes)}" if nodes else ""


_KINDS = {
    "dram": "DRAM",
    "cxl": "CXL memory",
    "nvdimm": "of NVDIMMs",
    "hbm": "high-bandwidth memory",
    "gpu": "a GPU's memory",
    "unknown": "memory without CPUs, of unknown kind",
}


def _file_system(facts: AreaFacts) -> str:
    bare = facts.dax is False and facts.file_system not in IN_MEMORY
    return f"{facts.file_system} without DAX" if facts.file_system and bare else facts.file_system


def _sync(facts: AreaFacts) -> str:
    if facts.map_sync is None or facts.file_system in IN_MEMORY:
        return ""
    return "MAP_SYNC granted" if facts.map_sync else "MAP_SYNC refused"


def _pages(facts: AreaFacts) -> str:
    size = facts.medium_page_bytes
    return "" if size is None else f"pages of {format_bytes(size)}"
