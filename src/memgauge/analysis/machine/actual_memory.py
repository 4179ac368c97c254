"""What the arrays of a run were really in, in words: a file is not its medium without DAX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from memgauge.analysis.machine.gpus import gpu_titles
from memgauge.analysis.section import Verdict
from memgauge.model.memory import MemoryPlacement
from memgauge.model.memory_facts import FACTS, ROLES, requested_placement
from memgauge.model.records import Point, Scalar
from memgauge.model.system import System
from memgauge.model.units import format_bytes

IN_MEMORY = frozenset({"tmpfs", "hugetlbfs", "ramfs", "devtmpfs"})
"""File systems that have no medium but memory."""

Facts = Mapping[str, Scalar]


def memory_verdicts(points: Iterable[Point], system: System) -> Iterator[Verdict]:
    """One for each memory but plain DRAM, and a warning where it was not what its name says.

    Nodes that an experiment compares are named by its own tables.
    """
    seen: dict[str, Verdict] = {}
    points = list(points)
    compared = _comparing_nodes(points)
    for point in points:
        if point.experiment in compared:
            continue
        for role, prefix in ROLES.items():
            placement = requested_placement(point.requested.get(role))
            if placement is None or placement.kind == "dram":
                continue
            facts = facts_of(point.actual, prefix)
            verdict = _of_gpu(point) if placement.is_gpu else _verdict(placement, facts, system)
            seen.setdefault(verdict.text, verdict)
    yield from seen.values()


def _comparing_nodes(points: Iterable[Point]) -> set[str]:
    """Experiments whose points differ in the nodes that they name."""
    memories: dict[str, set[Scalar]] = {}
    for point in points:
        if any(point.requested.get(name) is not None for name in ("memory_node", "nodes")):
            memories.setdefault(point.experiment, set()).add(point.requested.get("memory"))
    return {experiment for experiment, found in memories.items() if len(found) > 1}


def facts_of(actual: Facts, prefix: str = "") -> dict[str, Scalar]:
    """Facts of the memory of one role, without their prefix."""
    return {name: actual.get(prefix + name) for name in FACTS}


def described(placement: str, facts: Facts) -> str:
    """A memory with what was found of it, such as `file:/mnt/x (ext4, DAX, MAP_SYNC granted)`."""
    parsed = requested_placement(placement)
    if parsed is None or not parsed.is_area or all(fact is None for fact in facts.values()):
        return placement
    if parsed.kind == "shm":
        return f"{placement} (DRAM)"
    known = [_file_system(facts), _dax(facts), _sync(facts), _pages(facts)]
    return f"{placement} ({', '.join(filter(None, known))})"


def _verdict(placement: MemoryPlacement, facts: Facts, system: System) -> Verdict:
    said = described(str(placement), facts)
    if not placement.is_area:
        return Verdict(
            level="note", text=f"The arrays were in {said}{_made_of(placement, system)}."
        )
    if placement.kind in {"shm", "devdax"}:
        return Verdict(level="note", text=f"The arrays were in {said}.")
    if facts.get("dax"):
        how = "loads and stores reached the medium itself, without the page cache"
        return Verdict(level="note", text=f"The arrays were in {said}: {how}.")
    if facts.get("file_system") in IN_MEMORY:
        text = f"The arrays were in {said}: that file system is in DRAM, which was measured."
        return Verdict(level="note", text=text)
    return _not_the_medium(said, facts)


def _of_gpu(point: Point) -> Verdict:
    """Which device the number meant: it depends on the environment."""
    said = ", ".join(gpu_titles([point]))
    return Verdict(level="note", text=f"The GPU was {said}.")


def _not_the_medium(said: str, facts: Facts) -> Verdict:
    if facts.get("dax") is None:
        return Verdict(
            level="warning",
            text=f"The arrays were in {said}: nothing shows whether DAX was in effect, so this may "
            "be the page cache, that is DRAM, and not the medium.",
            remedy="mount it with -o dax=always, on a device that memgauge system shows",
        )
    return Verdict(
        level="warning",
        text=f"The arrays were in {said}: the page cache, that is DRAM, was measured, and not the "
        "file's medium.",
        remedy="to measure persistent memory, name a file on a file system mounted with "
        "-o dax=always, or a devdax device",
    )


def _made_of(placement: MemoryPlacement, system: System) -> str:
    """What the tiers of the machine say of its nodes, where it is no ordinary DRAM."""
    kinds = {
        tier.nodes[0]: tier.kind
        for tier in system.tiers
        if len(tier.nodes) == 1 and tier.placement != "dram"
    }
    said = [f"node {node} is {_KINDS[kinds[node]]}" for node in placement.nodes if node in kinds]
    return f": {', '.join(said)}" if said else ""


_KINDS = {
    "dram": "DRAM",
    "cxl": "CXL memory",
    "nvdimm": "of NVDIMMs",
    "hbm": "high-bandwidth memory",
    "gpu": "a GPU's memory",
    "unknown": "memory without CPUs, of unknown kind",
}


def _file_system(facts: Facts) -> str:
    name = facts.get("file_system")
    if name is None:
        return ""
    bare = facts.get("dax") is False and name not in IN_MEMORY
    return f"{name} without DAX" if bare else str(name)


def _dax(facts: Facts) -> str:
    return "DAX" if facts.get("dax") else ""


def _sync(facts: Facts) -> str:
    granted = facts.get("map_sync")
    if granted is None or facts.get("file_system") in IN_MEMORY:
        return ""
    return "MAP_SYNC granted" if granted else "MAP_SYNC refused"


def _pages(facts: Facts) -> str:
    size = facts.get("medium_page_bytes")
    return f"pages of {format_bytes(size)}" if isinstance(size, int) else ""
