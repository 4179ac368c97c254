"""Records that describe a machine. `memgauge.system` fills them; they can be read anywhere."""

from __future__ import annotations

from typing import Literal

import msgspec


class Cache(msgspec.Struct, frozen=True, kw_only=True):
    """One cache as one group of CPUs sees it."""

    level: int
    type: Literal["data", "unified", "instruction"]
    bytes: int
    line_bytes: int
    """0 if unknown, which `topology_notes` states."""
    ways: int | None
    """None if unknown; 0 means fully associative."""
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
    """0 without memory of its own."""
    distances: dict[int, int]
    """Distances to each node, 10 being local (ACPI SLIT).

    Empty if the kernel does not report them.
    """


class FirmwareSpeed(msgspec.Struct, frozen=True, kw_only=True):
    """What the firmware (ACPI HMAT) states about a node's memory; not measured.

    Fields are None if the firmware states nothing.
    """

    from_nodes: list[int]
    """Nodes whose accesses the figures describe: those nearest to the memory."""
    read_latency_ns: float | None = None
    write_latency_ns: float | None = None
    read_bytes_per_s: float | None = None
    write_bytes_per_s: float | None = None


class SideCache(msgspec.Struct, frozen=True, kw_only=True):
    """A memory-side cache, such as DRAM in front of NVDIMMs in memory mode."""

    level: int
    """1 is the farthest from the processor."""
    bytes: int
    line_bytes: int | None = None
    indexing: Literal["direct-mapped", "indexed", "other"] | None = None
    write_policy: Literal["write-back", "write-through", "other"] | None = None


TierKind = Literal["dram", "cxl", "nvdimm", "hbm", "gpu", "unknown"]


class Tier(msgspec.Struct, frozen=True, kw_only=True):
    """Memory of one kind in one place, as the system reports it; the kind may be unknown."""

    kind: TierKind
    placement: str | None
    """Value of `--memory` for this tier; None if it cannot hold arrays as it is, see `remedy`."""
    bytes: int | None
    """Total bytes, used or not; None if unknown."""
    nodes: list[int]
    """NUMA nodes it consists of; empty if it is not a node (a device, a file system)."""
    evidence: str
    """The evidence for its kind."""
    nearest_node: int | None = None
    """The node with CPUs that is nearest to it."""
    distance: int | None = None
    """Distance from there, 10 being local (ACPI SLIT)."""
    rank: int | None = None
    """Number of the kernel's memory tier: lower is faster."""
    interleave_weight: int | None = None
    """Weight in the kernel's weighted interleave."""
    firmware: FirmwareSpeed | None = None
    side_caches: list[SideCache] = []
    device: str | None = None
    """Device, such as `dax0.0` or `pmem0`; None without one."""
    align_bytes: int | None = None
    """For a devdax device: the size of its pages."""
    mount: str | None = None
    """Directory where a file system on it is mounted."""
    file_system: str | None = None
    dax: str | None = None
    """For a mounted file system: `always`, `inode` or `never`, from its mount options."""
    notes: list[str] = []
    remedy: str | None = None
    """How to make arrays possible there, or to place them better."""


class HugePagePool(msgspec.Struct, frozen=True, kw_only=True):
    """Explicit huge pages of one size."""

    page_bytes: int
    total: int
    free: int
    reserved: int


EccState = Literal["on", "off", "parity", "mixed"]
"""on: errors are corrected. parity: they are detected only. mixed: not alike for all memory."""


class MemoryController(msgspec.Struct, frozen=True, kw_only=True):
    """A memory controller, as its EDAC driver reports it; what it does not report is None."""

    name: str
    """`mc0`."""
    driver: str | None = None
    """The driver's name for it, such as `Skylake Socket#0 IMC#0`."""
    bytes: int | None = None
    corrected_errors: int | None = None
    """Since boot, or since the counters were reset; as is the next."""
    uncorrected_errors: int | None = None
    seconds_counted: int | None = None


class MemoryModule(msgspec.Struct, frozen=True, kw_only=True):
    """A populated place for memory; what the source does not report is None."""

    place: str
    """`dimm0`; `rank0` and `csrow0` where the driver knows ranks or rows of chips only."""
    controller: str | None = None
    location: str | None = None
    """`channel 0 slot 0`."""
    channel: str | None = None
    """Within its controller, or with its socket where the firmware names both."""
    label: str | None = None
    """Of the board's silk screen."""
    bytes: int | None = None
    type: str | None = None
    """`Registered-DDR5`."""
    device_width: str | None = None
    """`x4`."""
    transfers_per_s: float | None = None
    ecc_mode: str | None = None
    """As EDAC names it, such as `SECDED`, `S4ECD4ED` or `None`."""
    corrected_errors: int | None = None
    uncorrected_errors: int | None = None


class MemoryHardware(msgspec.Struct, frozen=True, kw_only=True):
    """Memory controllers and modules."""

    source: Literal["edac", "firmware"]
    """edac: what the controllers have in effect. firmware: what SMBIOS states."""
    ecc: EccState | None = None
    """None: not known of all memory."""
    ecc_names: list[str] = []
    """Of the firmware: `single-bit`, `multi-bit`, `none`."""
    controllers: list[MemoryController] = []
    modules: list[MemoryModule] = []
    channels: int | None = None
    """With a module; None: not known of all modules."""


PeakSource = Literal["smbios", "smbios and edac", "device tree"]
"""Of a theoretical bandwidth. smbios and edac: width and speed by the former, channels by the
latter."""


class Capability(msgspec.Struct, frozen=True, kw_only=True):
    """Something a measurement may need, whether it is available, and the remedy if it is not."""

    name: str
    available: bool
    detail: str
    remedy: str | None = None


class System(msgspec.Struct, frozen=True, kw_only=True):
    """A machine at the start of a run."""

    machine_id: str
    """Digest of the properties that identify the kind of machine; no serial numbers."""
    architecture: str
    cpu_model: str
    cpu_signature: str | None = None
    """As /proc/cpuinfo has it: `AuthenticAMD 25 17 1` (vendor, family, model, stepping) or `0x41
    0xd0c` (implementer, part); None: neither, several kinds, or a run of an earlier version."""
    kernel: str
    virtualisation: str | None
    """Hypervisor or container; None if neither was detected."""
    cpus: list[Cpu]
    """Online CPUs."""
    allowed_cpus: list[int]
    caches: list[Cache]
    nodes: list[Node]
    memory_bytes: int
    available_bytes: int
    """What this process may still allocate: the smaller of the system's and the cgroup's limit."""
    base_page_bytes: int
    thp: str | None
    """Mode of transparent huge pages: always, madvise, never; None if not built in."""
    huge_pages: list[HugePagePool]
    governor: str | None
    isas: list[str]
    """Instruction sets the kernels can use, best first."""
    theoretical_bandwidth_bytes_per_s: float | None = None
    """As `peak_source` states it, or as the user gave it."""
    peak_is_given: bool = False
    """Whether that is the user's (`--peak`)."""
    peak_source: PeakSource | None = None
    """None: not known, or the user's; in a run of an earlier version, SMBIOS."""
    memory_hardware: MemoryHardware | None = None
    """Controllers, modules and ECC; None: not readable, or a run of an earlier version."""
    capabilities: list[Capability] = []
    tiers: list[Tier] = []
    """The first is the DRAM of the nodes with CPUs; empty in runs of earlier versions."""
    allowed_nodes: list[int] | None = None
    """Nodes from which the cgroup's cpuset allows this process to allocate; None if unknown."""
    demotion: bool | None = None
    """Whether the kernel moves cold pages to slower memory; None if unknown."""
    topology_notes: list[str] = []
    """Notes on what the system hides or reports inconsistently."""
