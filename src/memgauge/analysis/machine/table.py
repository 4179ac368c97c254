"""What a machine is, in one line and as the table a renderer shows."""

from memgauge.analysis.section import Column, Table
from memgauge.model.memory_hardware import ecc_text, modules_text, peak_origin
from memgauge.model.system import Cache, MemoryHardware, Node, System
from memgauge.model.units import format_bytes, format_count

_CACHE_SUFFIX = {"data": "d", "instruction": "i", "unified": ""}


def system_table(system: System) -> Table:
    """Processor, threads, caches, NUMA nodes, memory and pages, one fact a row."""
    facts = [
        ("processor", system.cpu_model),
        ("architecture", system.architecture),
        ("kernel", system.kernel),
        ("virtualisation", system.virtualisation or "none seen"),
        ("threads", _threads(system)),
        *_caches(system.caches),
        *((f"node {node.node}", _node(node)) for node in system.nodes),
        ("memory", _memory(system)),
        ("pages", _pages(system)),
        ("transparent huge pages", system.thp or "not built into the kernel"),
        ("frequency governor", system.governor or "not known"),
        ("instruction sets", ", ".join(system.isas) or "portable code only"),
        ("theoretical bandwidth", _theoretical(system)),
        *_hardware(system.memory_hardware),
    ]
    return Table(
        name="system",
        title="Machine",
        columns=[Column(title="what"), Column(title="found")],
        rows=[[name, found] for name, found in facts],
    )


def _threads(system: System) -> str:
    cores = len({cpu.core for cpu in system.cpus})
    sockets = len({cpu.socket for cpu in system.cpus})
    types: dict[str, int] = {}
    for cpu in system.cpus:
        if cpu.core_type:
            types[cpu.core_type] = types.get(cpu.core_type, 0) + 1
    online = format_count(len(system.cpus), "thread")
    parts = [f"{online} on {format_count(cores, 'core')}, {format_count(sockets, 'socket')}"]
    parts += [f"{number} {kind}" for kind, number in types.items()]
    if len(system.allowed_cpus) != len(system.cpus):
        parts.append(f"{len(system.allowed_cpus)} allowed to this process")
    return "; ".join(parts)


def _memory(system: System) -> str:
    available = format_bytes(system.available_bytes)
    return f"{format_bytes(system.memory_bytes)}, {available} available"


def _caches(caches: list[Cache]) -> list[tuple[str, str]]:
    """One row for each kind of cache, with the number of its instances."""
    kinds: dict[tuple[int, str, int, int, int], int] = {}
    for cache in caches:
        kind = (cache.level, cache.type, cache.bytes, cache.line_bytes, len(cache.cpus))
        kinds[kind] = kinds.get(kind, 0) + 1
    rows = []
    for (level, type_, bytes_, line_bytes, sharers), instances in sorted(kinds.items()):
        found = f"{instances} x {format_bytes(bytes_)}, {line_bytes} B lines"
        shared = f", each shared by {sharers} threads" if sharers > 1 else ""
        rows.append((f"L{level}{_CACHE_SUFFIX[type_]}", found + shared))
    return rows


def _node(node: Node) -> str:
    cpus = format_count(len(node.cpus), "thread") if node.cpus else "no CPUs"
    return f"{format_bytes(node.bytes)}, {cpus}"


def _pages(system: System) -> str:
    pools = (
        f"{format_bytes(pool.page_bytes)}: {pool.free} free of {pool.total}"
        for pool in system.huge_pages
    )
    return "; ".join([f"base {format_bytes(system.base_page_bytes)}", *pools])


def _hardware(hardware: MemoryHardware | None) -> list[tuple[str, str]]:
    """Nothing where it is not readable. Errors are no property of the machine: not here."""
    if hardware is None:
        return []
    by = "" if hardware.source == "edac" else ", by the firmware"
    return [
        ("memory modules", modules_text(hardware) + by),
        ("ECC", ecc_text(hardware) + by),
    ]


def _theoretical(system: System) -> str:
    bytes_per_s = system.theoretical_bandwidth_bytes_per_s
    if bytes_per_s is None:
        return "not known"
    return f"{bytes_per_s / 1e9:.1f} GB/s, {peak_origin(system)}"


def machine_line(system: System) -> str:
    """Processor, threads, caches, memory, virtualisation and kernel in one line."""
    parts = [system.cpu_model or system.architecture, format_count(len(system.cpus), "thread")]
    sizes: dict[str, int] = {}
    for cache in system.caches:
        if cache.type != "instruction":
            sizes.setdefault(f"L{cache.level}", cache.bytes)
    parts += [f"{name} {format_bytes(sizes[name])}" for name in sorted(sizes)]
    parts.append(f"{format_bytes(system.memory_bytes)} of memory")
    if len(system.nodes) > 1:
        parts.append(format_count(len(system.nodes), "NUMA node"))
    parts += [part for part in (system.virtualisation, system.kernel) if part]
    return ", ".join(parts)
