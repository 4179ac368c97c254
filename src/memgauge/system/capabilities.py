"""What a measurement may need, whether it is available, and the remedy if it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memgauge.model.cpulist import format_cpu_list
from memgauge.model.memory_hardware import memory_hardware_line
from memgauge.model.system import Capability
from memgauge.system.environment.frequency import boost_enabled
from memgauge.system.environment.privileges import privilege_capabilities
from memgauge.system.limits.cgroup import cpu_quota
from memgauge.system.limits.memory import gib, memory_limits
from memgauge.system.memory.pages import EXPLICIT_PAGE_BYTES
from memgauge.system.tiers.capabilities import tier_capabilities
from memgauge.system.tree import whole_number

if TYPE_CHECKING:
    from memgauge.model.system import HugePagePool, System
    from memgauge.system.environment.data_sheet import DataSheet
    from memgauge.system.environment.memory_modules import Found
    from memgauge.system.environment.virtualisation import Virtualisation
    from memgauge.system.native import Isas
    from memgauge.system.tree import Tree

_PAGE_NAMES = {size: name for name, size in EXPLICIT_PAGE_BYTES.items()}
_CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"


class Answers(NamedTuple):
    """What firmware and kernel answered."""

    sheet: DataSheet
    """Theoretical bandwidth, or why it is unknown."""
    modules: Found
    """Memory modules, or why they are unknown."""
    perf_errno: int | None
    """To a request for perf events: 0 if it was granted; None if nothing was requested, as for the
    tree of another machine."""


def find_capabilities(
    tree: Tree,
    system: System,
    virtualisation: Virtualisation,
    isas: Isas,
    answers: Answers,
) -> list[Capability]:
    """All capabilities, those of memory first.

    Args:
        tree: Root of the sysfs and procfs to read.
        system: The machine as detected so far; its own capabilities are still empty.
        virtualisation: Hypervisor and container, if any.
        isas: Instruction sets of the native core, or why there is no core.
        answers: Of the firmware and the kernel.
    """
    sheet = answers.sheet
    return [
        _native_core(isas),
        *_huge_pages(system),
        _transparent_huge_pages(system),
        _numa(tree, system),
        *tier_capabilities(tree, system),
        _memory_limit(tree, system),
        Capability(
            name="theoretical bandwidth",
            available=sheet.bytes_per_s is not None,
            detail=sheet.detail,
            remedy=sheet.remedy,
        ),
        _modules(answers.modules),
        _all_cpus(system),
        _cpu_quota(tree),
        _smt(system),
        _bare_metal(virtualisation),
        _steal(tree, virtualisation),
        _clock(tree, system),
        _governor(system, virtualisation),
        _boost(tree),
        *privilege_capabilities(tree, answers.perf_errno),
    ]


def _native_core(isas: Isas) -> Capability:
    return Capability(
        name="native core",
        available=isas.reason is None,
        detail=", ".join(isas.names) or f"missing: {isas.reason}",
        remedy=None if isas.reason is None else "pip install . on this machine, to measure on it",
    )


def _huge_pages(system: System) -> list[Capability]:
    by_size = {pool.page_bytes: pool for pool in system.huge_pages}
    wanted = [size for size in _PAGE_NAMES if size in by_size] or list(by_size)
    if not by_size:
        return [
            Capability(
                name="explicit huge pages",
                available=False,
                detail="the kernel reports no huge page pools",
            )
        ]
    return [_pool(by_size[size]) for size in wanted]


def _pool(pool: HugePagePool) -> Capability:
    unreserved = pool.free - pool.reserved
    size_kib = pool.page_bytes >> 10
    name = _PAGE_NAMES.get(pool.page_bytes, f"{size_kib >> 10}m")
    return Capability(
        name=f"huge pages {name}",
        available=unreserved > 0,
        detail=f"{unreserved} of {pool.total} free ({gib(unreserved * pool.page_bytes)})"
        if pool.total
        else "none reserved",
        remedy=None
        if unreserved > 0
        else f"as root: echo N > /sys/kernel/mm/hugepages/hugepages-{size_kib}kB/nr_hugepages",
    )


def _transparent_huge_pages(system: System) -> Capability:
    usable = system.thp in {"always", "madvise"}
    remedy = "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
    return Capability(
        name="transparent huge pages",
        available=usable,
        detail=f"mode {system.thp}" if system.thp else "not built into this kernel, or hidden",
        remedy=remedy if system.thp and not usable else None,
    )


def _numa(tree: Tree, system: System) -> Capability:
    count = len(system.nodes)
    empty = [node.node for node in system.nodes if not node.cpus]
    allowed = tree.fields("/proc/self/status").get("Mems_allowed_list")
    detail = f"{count} node{'s' if count != 1 else ''}"
    if empty:
        detail += f", without CPUs: {format_cpu_list(empty)}"
    if count > 1 and allowed is not None:
        detail += f"; memory may be bound to {allowed}"
    return Capability(name="several NUMA nodes", available=count > 1, detail=detail)


def _memory_limit(tree: Tree, system: System) -> Capability:
    limits = memory_limits(tree)
    tightest = min(limits, key=lambda limit: limit.free_bytes, default=None)
    free = tightest is not None and tightest.origin == "free in the system"
    origin = "no limit can be read" if tightest is None else tightest.origin
    return Capability(
        name="memory without a limit",
        available=free,
        detail=f"{gib(system.available_bytes)} of {gib(system.memory_bytes)} ({origin})",
        remedy=None if free or tightest is None else "raise that limit for larger arrays",
    )


def _modules(found: Found) -> Capability:
    hardware = found.hardware
    return Capability(
        name="memory modules and ECC",
        available=hardware is not None,
        detail=found.reason if hardware is None else memory_hardware_line(hardware),
        remedy=found.remedy,
    )


def _all_cpus(system: System) -> Capability:
    online = [cpu.cpu for cpu in system.cpus]
    whole = system.allowed_cpus == online
    allowed = format_cpu_list(system.allowed_cpus)
    return Capability(
        name="all CPUs",
        available=whole,
        detail=f"{allowed} allowed" + ("" if whole else f" of {format_cpu_list(online)}"),
        remedy=None if whole else "widen the affinity mask (taskset) or the cgroup's cpuset",
    )


def _cpu_quota(tree: Tree) -> Capability:
    quota = cpu_quota(tree)
    return Capability(
        name="CPU time without a quota",
        available=quota is None,
        detail="no quota"
        if quota is None
        else f"{quota:g} CPUs' worth of time: threads are throttled",
        remedy=None if quota is None else f"lift the quota, or use at most {int(quota)} threads",
    )


def _smt(system: System) -> Capability:
    cores = len({cpu.core for cpu in system.cpus})
    on = len(system.cpus) > cores
    return Capability(
        name="SMT",
        available=on,
        detail=f"{len(system.cpus)} hardware threads on {cores} cores",
    )


def _bare_metal(virtualisation: Virtualisation) -> Capability:
    return Capability(
        name="bare metal",
        available=virtualisation.hypervisor is None,
        detail=virtualisation.label or "neither a hypervisor nor a container was detected",
        remedy="measure on the host to see the hardware alone"
        if virtualisation.hypervisor is not None
        else None,
    )


def _steal(tree: Tree, virtualisation: Virtualisation) -> Capability:
    words = (tree.text("/proc/stat") or "").partition("\n")[0].split()
    ticks = whole_number(words[8]) if len(words) > 8 else None
    known = ticks is not None
    silent = ticks == 0 and virtualisation.hypervisor is not None
    if not known:
        detail = "the kernel does not report it"
    elif silent:
        detail = "none since start: the hypervisor may not report it"
    else:
        detail = "reported in /proc/stat"
    return Capability(name="steal time", available=known and not silent, detail=detail)


def _clock(tree: Tree, system: System) -> Capability:
    source = tree.text(_CLOCK) or "unknown"
    flags = tree.fields("/proc/cpuinfo").get("flags")
    if flags is None:  # Arm and POWER have an architected constant-rate counter
        constant = system.architecture.startswith(("aarch64", "arm", "ppc64"))
    else:
        constant = {"constant_tsc", "nonstop_tsc"} <= set(flags.split())
    detail = f"{'invariant' if constant else 'not invariant'}; kernel clock source {source}"
    return Capability(name="invariant time-stamp counter", available=constant, detail=detail)


def _governor(system: System, virtualisation: Virtualisation) -> Capability:
    fixed = system.governor == "performance"
    if system.governor is not None:
        detail = system.governor
    elif virtualisation.hypervisor is not None:
        detail = "unknown: the host sets the frequency of a virtual machine"
    else:
        detail = "unknown: the kernel provides no cpufreq"
    remedy = "as root: cpupower frequency-set -g performance"
    return Capability(
        name="performance governor",
        available=fixed,
        detail=detail,
        remedy=remedy if system.governor is not None and not fixed else None,
    )


def _boost(tree: Tree) -> Capability:
    boost = boost_enabled(tree)
    words = {
        None: "unknown: the kernel does not report it",
        True: "on: the core clock follows load and heat",
        False: "off: the core clock is steadier",
    }
    return Capability(name="frequency boost", available=boost is True, detail=words[boost])
