"""What a machine is, as records. Filled by `memgauge.system`, readable anywhere."""

from __future__ import annotations

from typing import Literal

import msgspec


class Cache(msgspec.Struct, frozen=True, kw_only=True):
    """One cache as one group of CPUs sees it."""

    level: int
    type: Literal["data", "unified", "instruction"]
    bytes: int
    line_bytes: int
    """0: not told, and `topology_notes` says so."""
    ways: int | None
    """None: unknown; 0: fully associative."""
    sets: int | None
    cpus: list[int]
    """CPUs that share it."""


class Cpu(msgspec.Struct, frozen=True, kw_only=True):
    """One hardware thread."""

    cpu: int
    core: int
    """Number of the physical core, unique in the machine."""
    socket: int
    node: int
    sibling: int
    """Rank among the hardware threads of its core; 0 is the first."""
    core_type: str | None = None
    """On hybrid processors: `performance`, `efficiency`, or the PMU name; None elsewhere."""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """One NUMA node; CPU-less ones have no CPUs."""

    node: int
    cpus: list[int]
    bytes: int
    """0: no memory of its own."""
    distances: dict[int, int]
    """To each node, 10 being local (ACPI SLIT); empty where the kernel does not tell."""


class HugePagePool(msgspec.Struct, frozen=True, kw_only=True):
    """Explicit huge pages of one size."""

    page_bytes: int
    total: int
    free: int
    reserved: int


class Capability(msgspec.Struct, frozen=True, kw_only=True):
    """Something a measurement may want, whether it is there, and the remedy when it is not."""

    name: str
    available: bool
    detail: str
    remedy: str | None = None


class System(msgspec.Struct, frozen=True, kw_only=True):
    """A machine at the start of a run."""

    machine_id: str
    """Digest of what does not change while it stays the same machine; no serial numbers."""
    architecture: str
    cpu_model: str
    kernel: str
    virtualisation: str | None
    """Hypervisor or container kind; None: neither seen."""
    cpus: list[Cpu]
    """Online CPUs."""
    allowed_cpus: list[int]
    caches: list[Cache]
    nodes: list[Node]
    memory_bytes: int
    available_bytes: int
    """What this process may still allocate: the system's and the cgroup's limit, the smaller."""
    base_page_bytes: int
    thp: str | None
    """Mode of transparent huge pages: always, madvise, never; None: not built in."""
    huge_pages: list[HugePagePool]
    governor: str | None
    isas: list[str]
    """Instruction sets the kernels can use, best first."""
    theoretical_bandwidth_bytes_per_s: float | None = None
    """From the memory's data sheet where the firmware tells it (readable by root only)."""
    capabilities: list[Capability] = []
    topology_notes: list[str] = []
    """What the system hides or contradicts, in words."""
