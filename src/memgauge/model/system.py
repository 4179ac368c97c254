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
    """0: not known, and `topology_notes` says so."""
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


class FirmwareSpeed(msgspec.Struct, frozen=True, kw_only=True):
    """What the firmware (ACPI HMAT) claims of a node's memory; nobody has measured it.

    None: it makes no such claim.
    """

    from_nodes: list[int]
    """Nodes whose accesses these figures are of: the memory's nearest."""
    read_latency_ns: float | None = None
    write_latency_ns: float | None = None
    read_bytes_per_s: float | None = None
    write_bytes_per_s: float | None = None


class SideCache(msgspec.Struct, frozen=True, kw_only=True):
    """A cache that the memory itself has, as DRAM in front of NVDIMMs in memory mode."""

    level: int
    """1 is the farthest from the processor."""
    bytes: int
    line_bytes: int | None = None
    indexing: Literal["direct-mapped", "indexed", "other"] | None = None
    write_policy: Literal["write-back", "write-through", "other"] | None = None


TierKind = Literal["dram", "cxl", "nvdimm", "hbm", "gpu", "unknown"]


class Tier(msgspec.Struct, frozen=True, kw_only=True):
    """Memory of one kind in one place, by what the system shows; unknown where it shows nothing."""

    kind: TierKind
    placement: str | None
    """What `--memory` takes to put arrays there; None: not possible as it is, see `remedy`."""
    bytes: int | None
    """All of it, used or not; None: not known."""
    nodes: list[int]
    """NUMA nodes it consists of; none: it is no node (a device, a file system)."""
    evidence: str
    """How the kind is known, in words."""
    nearest_node: int | None = None
    """The node with CPUs that is nearest to it."""
    distance: int | None = None
    """From there, 10 being local (ACPI SLIT)."""
    rank: int | None = None
    """Number of the kernel's memory tier: lower is faster."""
    interleave_weight: int | None = None
    """Of the kernel's weighted interleave."""
    firmware: FirmwareSpeed | None = None
    side_caches: list[SideCache] = []
    device: str | None = None
    """Such as `dax0.0` or `pmem0`; None: it has none."""
    align_bytes: int | None = None
    """Of a devdax device: the size of its pages."""
    mount: str | None = None
    """Where a file system on it is mounted."""
    file_system: str | None = None
    dax: str | None = None
    """Of a mounted file system: `always`, `inode` or `never`, by its mount options."""
    notes: list[str] = []
    remedy: str | None = None
    """How arrays could be put there in another or a better way."""


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
    tiers: list[Tier] = []
    """The first is the DRAM of the nodes with CPUs; empty in runs of earlier versions."""
    allowed_nodes: list[int] | None = None
    """Nodes that the cgroup's cpuset lets this process take memory from; None: not known."""
    demotion: bool | None = None
    """Whether the kernel moves cold pages to slower memory; None: it does not tell."""
    topology_notes: list[str] = []
    """What the system hides or contradicts, in words."""
