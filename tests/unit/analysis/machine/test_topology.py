"""What lies in what in a machine: nested by CPUs, alike parts as one, and nothing made up."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from tests.unit.analysis.runs import cache, start, system

from memgauge.analysis.machine.topology import Part, chart_of, text_of, topology_of
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Box
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.run import run_of
from memgauge.model.system import Cpu, Node, System, Tier
from memgauge.reports.charts.files import svg, vega_lite
from memgauge.reports.html.page import render as html
from memgauge.reports.terminal.report import render_system

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def server(sockets: int = 8, nodes: int = 4, cores: int = 8, *, memories: bool = True) -> System:
    """Two threads a core, an L3 for each node; of each socket an HBM and a CXL node."""
    whole = sockets * nodes * cores
    cpus = [
        Cpu(
            cpu=core + half * whole,
            core=core,
            socket=core // (nodes * cores),
            node=core // cores,
            sibling=half,
        )
        for half in range(2)
        for core in range(whole)
    ]
    of_node = [[cpu.cpu for cpu in cpus if cpu.node == at] for at in range(sockets * nodes)]
    caches = [cache(3, 32 * MIB, own) for own in of_node]
    for core in range(whole):
        both = [core, core + whole]
        caches += [cache(1, 48 * KIB, both, "data"), cache(2, 2 * MIB, both)]
    known = [
        Node(node=at, cpus=own, bytes=128 * GIB, distances={}) for at, own in enumerate(of_node)
    ]
    tiers = [Tier(kind="dram", placement="dram", bytes=None, nodes=[0], evidence="has CPUs")]
    for at in range(2 * sockets if memories else 0):
        kind, bytes_ = ("cxl", 512 * GIB) if at % 2 else ("hbm", 16 * GIB)
        number = sockets * nodes + at
        known.append(Node(node=number, cpus=[], bytes=bytes_, distances={}))
        tiers.append(
            Tier(
                kind=kind,  # type: ignore[arg-type]
                placement=f"node:{number}",
                bytes=bytes_,
                nodes=[number],
                evidence="test",
                nearest_node=at // 2 * nodes,
            )
        )
    return system(
        cpus=cpus,
        allowed_cpus=[cpu.cpu for cpu in cpus],
        caches=caches,
        nodes=known,
        tiers=tiers,
        memory_bytes=4096 * GIB,
    )


def of(machine: System) -> Part:
    found = topology_of(machine)
    assert found is not None
    return found


def tree(machine: System, width: int = 100) -> list[str]:
    return text_of(of(machine), width)


def parts(part: Part) -> Iterator[Part]:
    yield part
    for inside in part.parts:
        yield from parts(inside)


def test_two_cpus_are_five_lines() -> None:
    assert tree(system()) == [
        "machine; 16 GiB, 2 hardware threads",
        "└─ package 0",
        "   └─ NUMA node 0; 16 GiB",
        "      └─ L3 32 MiB; shared by 2 hardware threads",
        "         └─ 2 x core; L2 1 MiB, L1d 32 KiB, L1i 64 KiB; CPUs 0-1",
    ]


def test_a_large_machine_is_as_small_and_its_memory_lies_in_its_packages() -> None:
    assert tree(server()) == [
        "machine; 4 TiB, 512 hardware threads",
        "└─ 8 x package; numbers 0-7",
        "   ├─ 4 x NUMA node; 128 GiB; numbers 0-31",
        "   │  └─ L3 32 MiB; shared by 16 hardware threads",
        "   │     └─ 8 x core; L2 2 MiB, L1d 48 KiB, 2 hardware threads; CPUs 0-511",
        "   ├─ memory node; HBM, 16 GiB; numbers 32,34,36,38,40,42,44,46",
        "   └─ memory node; CXL, 512 GiB; numbers 33,35,37,39,41,43,45,47",
    ]


def test_what_differs_is_not_one_box() -> None:
    machine = server(2, 1, 2, memories=False)
    last = machine.nodes[-1]
    larger = Node(node=last.node, cpus=last.cpus, bytes=256 * GIB, distances={})
    found = of(
        system(
            **{name: getattr(machine, name) for name in ("cpus", "caches")}
            | {"allowed_cpus": [0], "nodes": [*machine.nodes[:-1], larger]}
        )
    )
    packages = [part for part in parts(found) if part.role == "package"]
    assert [(part.title, part.parts[0].lines) for part in packages] == [
        ("package 0", ["128 GiB"]),
        ("package 1", ["256 GiB"]),
    ]
    assert found.details == ["16 GiB, 8 hardware threads, 1 allowed"]


def test_sockets_within_a_node_and_caches_across_nodes_nest_by_their_cpus() -> None:
    cpus = [Cpu(cpu=at, core=at, socket=at, node=0, sibling=0) for at in range(4)]
    node = Node(node=0, cpus=[0, 1, 2, 3], bytes=GIB, distances={})
    assert tree(system(cpus=cpus, allowed_cpus=[0], caches=[cache(3, MIB, [1, 2])], nodes=[node]))[
        1:
    ] == [
        "└─ NUMA node 0; 1 GiB",
        "   ├─ L3 1 MiB; shared by 2 hardware threads",
        "   │  └─ 2 x package; numbers 1-2",
        "   │     └─ core; CPUs 1-2",
        "   └─ 2 x package; numbers 0,3",
        "      └─ core; CPUs 0,3",
    ]
    overlapping = [cache(2, MIB, [0, 1]), cache(2, MIB, [1, 2])]
    found = of(system(cpus=cpus, allowed_cpus=[0], caches=overlapping, nodes=[node]))
    cores = [part for part in parts(found) if part.role == "core"]
    assert sum(len(part.numbers) for part in cores) == 4


def test_memory_without_a_known_neighbour_is_the_machines() -> None:
    plain = system()
    far = Node(node=7, cpus=[], bytes=GIB, distances={})
    found = of(system(nodes=[*plain.nodes, far]))
    assert [(part.title, part.lines) for part in found.parts if part.role == "memory"] == [
        ("memory node 7", ["1 GiB"])
    ]
    near = Node(node=7, cpus=[], bytes=GIB, distances={0: 20, 7: 10})
    (package,) = of(system(nodes=[*plain.nodes, near])).parts
    assert [part.role for part in package.parts] == ["node", "memory"]


def test_cores_of_two_kinds_stay_apart() -> None:
    kinds = ["performance", "performance", "efficiency"]
    cpus = [
        Cpu(cpu=at, core=at, socket=0, node=0, sibling=0, core_type=kind)
        for at, kind in enumerate(kinds)
    ]
    found = of(system(cpus=cpus, allowed_cpus=[0, 1, 2], caches=[], nodes=[]))
    cores = {part.title: part for part in parts(found) if part.role == "core"}
    assert list(cores) == ["2 x performance core", "efficiency core 2"]


@pytest.mark.parametrize("width", [40, 60, 80])
def test_lines_fit_the_width(width: int) -> None:
    assert max(map(len, tree(server(), width))) <= width
    shown = render_system(server(), width=width, encoding="ascii")
    assert shown.isascii()
    assert "+- 8 x package" in shown


def test_every_box_lies_in_the_one_around_it_and_none_over_its_neighbour() -> None:
    boxes = chart_of(of(server())).boxes
    assert (boxes[0].left, boxes[0].right, boxes[0].top) == (0.0, 1.0, 0.0)

    def is_in(inner: Box, outer: Box) -> bool:
        across = outer.left < inner.left < inner.right < outer.right
        return across and outer.top < inner.top < inner.bottom < outer.bottom

    def is_apart(one: Box, other: Box) -> bool:
        return one.bottom < other.top or other.bottom < one.top

    for at, box in enumerate(boxes):
        for other in boxes[at + 1 :]:
            assert is_in(other, box) or is_apart(box, other)
        assert max(map(len, [box.title, *box.lines])) <= 40


def test_the_picture_is_drawn_with_a_colour_for_each_kind_of_part() -> None:
    chart = chart_of(of(server(2, 2, 3)))
    drawn = str(vega_lite(chart))
    for name in ("machine", "package", "NUMA node", "shared cache", "memory without CPUs"):
        assert name in drawn
    assert svg(chart).count("4 x NUMA node") == 0
    assert "2 x NUMA node" in svg(chart)


def test_a_page_holds_the_picture_in_its_section_of_the_machine() -> None:
    report = analyse_run(run_of([start(server())]))
    assert report.topology is not None
    page = html(report)
    assert "Processors, caches and memory: boxes in boxes" in page
    assert "numbers 32,34" in page


def test_thousands_of_cpus_take_no_time() -> None:
    machine = server(16, 4, 64)
    began = time.process_time()
    found = of(machine)
    assert time.process_time() - began < 2.0
    (cores,) = [part for part in parts(found) if part.role == "core"]
    assert format_cpu_list(cores.numbers) == "0-8191"


def test_without_cpus_there_is_no_picture() -> None:
    assert topology_of(system(cpus=[], allowed_cpus=[], nodes=[], caches=[])) is None
