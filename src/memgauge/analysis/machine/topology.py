"""Where processors, caches and memory of a machine lie in each other, after hwloc's pictures.

Machine, packages, NUMA nodes, shared caches and cores, each in the smallest that holds all its
CPUs. Siblings that are alike are one box with their number, so that a machine of many sockets is no
larger than one of few. Memory without CPUs is in the package that the firmware's distances put it
nearest to. What the system does not show is missing: nothing is assumed.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import msgspec

from memgauge.analysis.section import Axis, Box, BoxRole, Chart
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.system import Cache, Node, System, Tier
from memgauge.model.text import plain
from memgauge.model.units import format_bytes, format_count

MOST_CELLS = 64
"""Cores of a box that are drawn one by one; of more the number says it."""
CELLS_OF_ROW = 16
LINE_CHARACTERS = 40
"""That fit a box in the narrowest page."""
LINE_PX, TITLE_PX, PAD_PX, GAP_PX, CELL_PX = 15.0, 20.0, 7.0, 6.0, 14.0
INDENT = 0.016
"""Of a box in the one around it, on either side, of the picture's width."""

_ORDER: tuple[BoxRole, ...] = ("machine", "package", "node", "cache", "core", "memory")
_SUFFIX = {"data": "d", "instruction": "i", "unified": ""}
_KINDS = {"cxl": "CXL", "nvdimm": "NVDIMM", "hbm": "HBM", "gpu": "GPU", "dram": "DRAM"}


class Part(msgspec.Struct, kw_only=True):
    """A part of the machine, or several that are alike in all they hold."""

    role: BoxRole
    what: str
    """Such as `NUMA node`, without number."""
    numbers: list[int]
    """By which the system calls them, of all that are alike; empty: it has none."""
    details: list[str]
    """What is known of one of them."""
    cpus: frozenset[int]
    kind: str = ""
    """Of a core on a hybrid processor."""
    count: int = 1
    """Alike, in each of what holds them."""
    parts: list[Part] = []

    @property
    def title(self) -> str:
        """Such as `package 0` or `4 x NUMA node`."""
        if self.count > 1:
            return f"{self.count} x {self.what}"
        return f"{self.what} {self.numbers[0]}" if len(self.numbers) == 1 else self.what

    @property
    def lines(self) -> list[str]:
        """Details, and the numbers of several."""
        listed = f"{_listed(self.role)} {format_cpu_list(self.numbers)}"
        return [*self.details, *([listed] if len(self.numbers) > 1 else [])]

    def alike(self) -> object:
        """What two parts have in common that are one box."""
        inside = [(part.count, part.alike()) for part in self.parts]
        return (self.role, self.what, self.details, self.kind, inside)


def topology_of(system: System) -> Part | None:
    """The machine with all its parts; None where no CPU is known."""
    if not system.cpus:
        return None
    everything = frozenset(cpu.cpu for cpu in system.cpus)
    machine = Part(
        role="machine", what="machine", numbers=[], details=_of_machine(system), cpus=everything
    )
    found = [*_packages(system), *_nodes(system), *_caches(system), *_cores(system)]
    found.sort(key=lambda part: (-len(part.cpus), _ORDER.index(part.role), min(part.cpus)))
    _place(machine, found)
    for memory, beside in _memories(system):
        around = _package_of(found, beside) or machine
        around.parts.append(memory)
    return _merged(machine)


def text_of(machine: Part, width: int) -> list[str]:
    """The picture as a tree of lines, each no longer than the width."""
    return [*_text(machine, "", "", width)]


def chart_of(machine: Part) -> Chart:
    """The picture as boxes in boxes."""
    boxes = [*_boxes(machine, 0.0, 1.0, 0.0)]
    return Chart(
        name="machine-topology",
        title="Processors, caches and memory",
        kind="boxes",
        x=Axis(title="", unit=""),
        y=Axis(title="", unit=""),
        series=[],
        boxes=boxes,
        note="As the operating system reports it; what it hides is missing. Parts that are alike "
        "are one box with their number; each small block is a core. Caches of one core are named "
        "with it.",
    )


def topology_chart(system: System) -> Chart | None:
    """The picture of a machine; None where no CPU is known."""
    machine = topology_of(system)
    return None if machine is None else chart_of(machine)


def _listed(role: BoxRole) -> str:
    return "CPUs" if role == "core" else "numbers"


def _of_machine(system: System) -> list[str]:
    allowed = len(system.allowed_cpus)
    threads = format_count(len(system.cpus), "hardware thread")
    limited = f", {allowed} allowed" if allowed != len(system.cpus) else ""
    return [f"{format_bytes(system.memory_bytes)}, {threads}{limited}"]


def _packages(system: System) -> Iterator[Part]:
    for socket in dict.fromkeys(cpu.socket for cpu in system.cpus):
        cpus = frozenset(cpu.cpu for cpu in system.cpus if cpu.socket == socket)
        yield Part(role="package", what="package", numbers=[socket], details=[], cpus=cpus)


def _nodes(system: System) -> Iterator[Part]:
    online = {cpu.cpu for cpu in system.cpus}
    tiers = {node: tier for tier in system.tiers[1:] for node in tier.nodes}
    for node in system.nodes:
        cpus = frozenset(node.cpus) & online
        if cpus:
            yield Part(
                role="node",
                what="NUMA node",
                numbers=[node.node],
                details=[_memory_of(node), *_side_caches(tiers.get(node.node))],
                cpus=cpus,
            )


def _memory_of(node: Node) -> str:
    return format_bytes(node.bytes) if node.bytes else "no memory of its own"


def _side_caches(tier: Tier | None) -> list[str]:
    if tier is None:
        return []
    return [f"memory-side cache {format_bytes(cache.bytes)}" for cache in tier.side_caches]


def _caches(system: System) -> Iterator[Part]:
    """Those that several cores share; the others are named with their core."""
    core_of = {cpu.cpu: cpu.core for cpu in system.cpus}
    for cache in system.caches:
        cpus = frozenset(cache.cpus) & core_of.keys()
        if cache.type == "instruction" or len({core_of[cpu] for cpu in cpus}) < 2:
            continue
        shared = format_count(len(cpus), "hardware thread")
        yield Part(
            role="cache",
            what=f"{_level(cache)} {format_bytes(cache.bytes)}",
            numbers=[],
            details=[f"shared by {shared}"],
            cpus=cpus,
        )


def _level(cache: Cache) -> str:
    return f"L{cache.level}{_SUFFIX[cache.type]}"


def _cpus_of_cores(system: System) -> dict[int, frozenset[int]]:
    cores: dict[int, set[int]] = {}
    for cpu in system.cpus:
        cores.setdefault(cpu.core, set()).add(cpu.cpu)
    return {core: frozenset(cpus) for core, cpus in cores.items()}


def _cores(system: System) -> Iterator[Part]:
    kinds = {cpu.core: cpu.core_type or "" for cpu in system.cpus}
    core_of = {cpu.cpu: cpu.core for cpu in system.cpus}
    caches: dict[int, list[Cache]] = {}
    for cache in system.caches:
        users = {core_of.get(cpu) for cpu in cache.cpus}
        for core in users if len(users) == 1 else ():
            if core is not None:
                caches.setdefault(core, []).append(cache)
    for core, cpus in _cpus_of_cores(system).items():
        own = sorted(caches.get(core, []), key=lambda cache: (-cache.level, cache.type))
        named = dict.fromkeys(f"{_level(cache)} {format_bytes(cache.bytes)}" for cache in own)
        threads = [format_count(len(cpus), "hardware thread")] if len(cpus) > 1 else []
        kind = plain(kinds[core])
        yield Part(
            role="core",
            what=f"{kind} core".strip(),
            numbers=sorted(cpus),
            details=[", ".join([*named, *threads])] if named or threads else [],
            cpus=cpus,
            kind=kind,
        )


def _memories(system: System) -> Iterator[tuple[Part, int | None]]:
    """Memory without CPUs, with the node that it is nearest to."""
    sizes = {node.node: node.bytes for node in system.nodes}
    known: set[int] = set()
    for tier in system.tiers[1:]:
        own = [node for node in tier.nodes if node in sizes]
        with_cpus = {node.node for node in system.nodes if node.cpus}
        if with_cpus & set(own):
            continue
        known |= set(own)
        bytes_ = sizes[own[0]] if len(own) == 1 else tier.bytes
        kind = _KINDS.get(tier.kind, "kind not known")
        yield (
            Part(
                role="memory",
                what="memory node" if own else plain(tier.device or tier.placement or "device"),
                numbers=own,
                details=[
                    f"{kind}, {format_bytes(bytes_)}" if bytes_ else kind,
                    *_side_caches(tier),
                ],
                cpus=frozenset(),
            ),
            tier.nearest_node,
        )
    for node in system.nodes:
        if not node.cpus and node.node not in known:
            yield (
                Part(
                    role="memory",
                    what="memory node",
                    numbers=[node.node],
                    details=[_memory_of(node)],
                    cpus=frozenset(),
                ),
                _nearest(node, system.nodes),
            )


def _nearest(node: Node, nodes: Sequence[Node]) -> int | None:
    """With CPUs, at the least distance; None where none or several are."""
    reached = [
        (node.distances[one.node], one.node)
        for one in nodes
        if one.cpus and one.node in node.distances
    ]
    least = min(reached, default=None)
    if least is None or sum(distance == least[0] for distance, _ in reached) > 1:
        return None
    return least[1]


def _place(machine: Part, found: Sequence[Part]) -> None:
    """Each part, the largest first, into the smallest placed one that holds all its CPUs."""
    innermost = dict.fromkeys(machine.cpus, machine)
    around: dict[int, Part] = {}
    for part in found:
        holder = innermost[min(part.cpus)]
        while not part.cpus <= holder.cpus:
            holder = around[id(holder)]
        holder.parts.append(part)
        around[id(part)] = holder
        innermost |= dict.fromkeys(part.cpus, part)


def _package_of(found: Sequence[Part], node: int | None) -> Part | None:
    cpus = next((part.cpus for part in found if part.role == "node" and node in part.numbers), None)
    if cpus is None:
        return None
    return next((part for part in found if part.role == "package" and cpus <= part.cpus), None)


def _merged(part: Part) -> Part:
    """With siblings that are alike made one, inside first."""
    found: list[tuple[object, Part]] = []
    for inside in map(_merged, part.parts):
        same = next((one for alike, one in found if alike == inside.alike()), None)
        if same is None:
            found.append((inside.alike(), inside))
        else:
            same.count += inside.count
            _take_numbers(same, inside)
    # Cores first, then what holds more, memory last: as it was placed.
    return msgspec.structs.replace(part, parts=[one for _, one in found])


def _take_numbers(into: Part, other: Part) -> None:
    into.numbers = sorted({*into.numbers, *other.numbers})
    for mine, its in zip(into.parts, other.parts, strict=True):
        _take_numbers(mine, its)


def _text(part: Part, first: str, rest: str, width: int) -> Iterator[str]:
    words = "; ".join([part.title, *part.lines])
    hanging = rest + ("│  " if part.parts else "   ")
    room = max(len(hanging) + 10, width)
    yield from textwrap.wrap(
        words, room, initial_indent=first, subsequent_indent=hanging, break_on_hyphens=False
    )
    for at, inside in enumerate(part.parts):
        last = at == len(part.parts) - 1
        yield from _text(
            inside, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "), width
        )


def _boxes(part: Part, left: float, right: float, top: float) -> Iterator[Box]:
    """A box, and those inside it, below its words."""
    lines = [wrapped for line in part.lines for wrapped in textwrap.wrap(line, LINE_CHARACTERS)]
    below = top + PAD_PX + TITLE_PX + LINE_PX * len(lines)
    cells = part.count if part.role == "core" and 1 < part.count <= MOST_CELLS else 0
    below += -(-cells // CELLS_OF_ROW) * CELL_PX
    inside: list[Box] = []
    for one in part.parts:
        found = [*_boxes(one, left + INDENT, right - INDENT, below + GAP_PX)]
        below = found[0].bottom
        inside += found
    yield Box(
        role=part.role,
        title=part.title,
        lines=lines,
        left=left,
        right=right,
        top=top,
        bottom=below + PAD_PX,
        cells=cells,
    )
    yield from inside
