import dataclasses
import itertools
import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.model.errors import RequestError
from memgauge.model.system import Cache, Cpu, Node, System
from memgauge.system.topology.placement import (
    MOST_TOUCHING,
    POLICIES,
    Touching,
    caches_of,
    cpus_for,
    default_team_sizes,
    hides_caches,
    last_level_caches,
    within,
)


@dataclasses.dataclass
class Shape:
    sockets: int = 1
    nodes_per_socket: int = 1
    cores_per_node: int = 4
    threads_per_core: int = 1
    efficiency_cores: int = 0


def machine(shape: Shape, allowed: list[int] | None = None) -> System:
    """CPUs numbered as Linux does on x86: first threads of all cores, then the siblings."""
    places = [
        (socket, socket * shape.nodes_per_socket + node)
        for socket in range(shape.sockets)
        for node in range(shape.nodes_per_socket)
        for _ in range(shape.cores_per_node)
    ]
    cpus = [
        Cpu(
            cpu=sibling * len(places) + core,
            core=core,
            socket=socket,
            node=node,
            sibling=sibling,
            core_type="performance" if shape.efficiency_cores else None,
        )
        for sibling in range(shape.threads_per_core)
        for core, (socket, node) in enumerate(places)
    ]
    cpus += [
        Cpu(
            cpu=shape.threads_per_core * len(places) + extra,
            core=len(places) + extra,
            socket=0,
            node=0,
            sibling=0,
            core_type="efficiency",
        )
        for extra in range(shape.efficiency_cores)
    ]
    numbers = {cpu.node for cpu in cpus}
    return System(
        machine_id="0",
        architecture="x86_64",
        cpu_model="Example",
        kernel="6.1",
        virtualisation=None,
        cpus=cpus,
        allowed_cpus=[cpu.cpu for cpu in cpus] if allowed is None else allowed,
        caches=[
            Cache(
                level=level,
                type="unified",
                bytes=size,
                line_bytes=64,
                ways=8,
                sets=None,
                cpus=[cpu.cpu for cpu in cpus if of(cpu) == group],
            )
            for level, size, of in ((2, 1 << 20, _core), (3, 32 << 20, _socket))
            for group in sorted({of(cpu) for cpu in cpus})
        ],
        nodes=[
            Node(node=n, cpus=[c.cpu for c in cpus if c.node == n], bytes=1 << 30, distances={})
            for n in sorted(numbers)
        ],
        memory_bytes=1 << 30,
        available_bytes=1 << 30,
        base_page_bytes=4096,
        thp=None,
        huge_pages=[],
        governor=None,
        isas=[],
    )


def _core(cpu: Cpu) -> int:
    return cpu.core


def _socket(cpu: Cpu) -> int:
    return cpu.socket


def physical_cores(system: System) -> int:
    return len({cpu.core for cpu in system.cpus if cpu.cpu in system.allowed_cpus})


shapes = st.builds(
    Shape,
    sockets=st.integers(1, 3),
    nodes_per_socket=st.integers(1, 3),
    cores_per_node=st.integers(1, 4),
    threads_per_core=st.integers(1, 4),
    efficiency_cores=st.integers(0, 4),
)


@st.composite
def machines(draw: st.DrawFn) -> System:
    whole = machine(draw(shapes))
    numbers = [cpu.cpu for cpu in whole.cpus]
    allowed = draw(st.lists(st.sampled_from(numbers), min_size=1, unique=True))
    shuffled = list(whole.cpus)
    random.Random(draw(st.integers(0, 9))).shuffle(shuffled)
    return msgspec.structs.replace(whole, cpus=shuffled, allowed_cpus=sorted(allowed))


@given(machines(), st.sampled_from(POLICIES))
def test_every_policy_names_distinct_allowed_cpus_and_grows_by_adding(
    system: System, policy: str
) -> None:
    offered = cpus_for(policy, None, system)
    assert len(set(offered)) == len(offered)
    assert set(offered) <= set(system.allowed_cpus)
    most = physical_cores(system) if policy == "cores" else len(system.allowed_cpus)
    assert len(offered) == most
    for threads in range(1, most + 1):
        assert cpus_for(policy, threads, system) == offered[:threads]
    with pytest.raises(RequestError, match="use at most"):
        cpus_for(policy, most + 1, system)


@given(machines())
def test_no_sibling_is_used_before_every_core_is(system: System) -> None:
    core = {cpu.cpu: cpu.core for cpu in system.cpus}
    cores = physical_cores(system)
    for policy in ("cores", "scatter"):
        first = cpus_for(policy, cores, system)
        assert len({core[cpu] for cpu in first}) == cores


@given(machines())
def test_scatter_spreads_evenly_over_sockets_with_free_cores(system: System) -> None:
    socket = {cpu.cpu: cpu.socket for cpu in system.cpus}
    usable = {socket[cpu] for cpu in system.allowed_cpus}
    assert len({socket[cpu] for cpu in cpus_for("scatter", len(usable), system)}) == len(usable)


@given(machines())
def test_compact_leaves_no_core_half_used(system: System) -> None:
    core = {cpu.cpu: cpu.core for cpu in system.cpus}
    visited = [core[cpu] for cpu in cpus_for("compact", None, system)]
    changes = sum(one != other for one, other in itertools.pairwise(visited))
    assert changes == len(set(visited)) - 1


@given(machines())
def test_default_team_sizes_double_and_hold_all_threads_and_all_cores(system: System) -> None:
    sizes = default_team_sizes(system)
    most = len(system.allowed_cpus)
    assert sizes[0] == 1
    assert sizes[-1] == most
    cores = physical_cores(system)
    assert {cores, min(cores + 1, most)} <= set(sizes)
    assert {1 << n for n in range(most.bit_length())} <= set(sizes)
    assert list(sizes) == sorted(set(sizes))


def test_orders_of_two_sockets_with_smt() -> None:
    system = machine(Shape(sockets=2, cores_per_node=2, threads_per_core=2))
    assert cpus_for("compact", None, system) == [0, 4, 1, 5, 2, 6, 3, 7]
    assert cpus_for("scatter", None, system) == [0, 2, 1, 3, 4, 6, 5, 7]
    assert cpus_for("cores", None, system) == [0, 1, 2, 3]


def test_scatter_alternates_sockets_before_nodes() -> None:
    system = machine(Shape(sockets=2, nodes_per_socket=2, cores_per_node=1))
    assert cpus_for("scatter", None, system) == [0, 2, 1, 3]


def test_performance_cores_come_first() -> None:
    system = machine(Shape(cores_per_node=2, threads_per_core=2, efficiency_cores=2))
    assert cpus_for("cores", None, system) == [0, 1, 4, 5]
    assert cpus_for("scatter", None, system) == [0, 1, 4, 5, 2, 3]


def test_a_core_whose_first_thread_is_not_allowed_is_still_a_core() -> None:
    system = machine(Shape(cores_per_node=2, threads_per_core=2), allowed=[1, 2, 3])
    assert cpus_for("cores", None, system) == [2, 1]
    assert cpus_for("scatter", None, system) == [2, 1, 3]


def test_lists_keep_their_order_as_text_and_as_numbers() -> None:
    system = machine(Shape(cores_per_node=8))
    assert cpus_for("6,0-2", None, system) == [6, 0, 1, 2]
    assert cpus_for((6, 0, 1, 2), 2, system) == [6, 0]
    assert default_team_sizes(system, (6, 0, 1)) == (1, 2, 3)


@pytest.mark.parametrize(
    ("policy", "threads", "message"),
    [
        (
            "compact",
            10**9,
            "1000000000 threads need one CPU each, but only 3 can be used by this process",
        ),
        (
            "cores",
            3,
            "need a physical core each, 2 can be used; use at most 2, or use --cpus",
        ),
        ("scatter", 0, "0 threads cannot be run: use at least 1"),
        ("scatter", -1, "-1 threads cannot be run: use at least 1"),
        (
            "1,2",
            3,
            (
                "--threads 3: 3 threads need one CPU each, but only 2 are listed by --cpus; use at "
                "most 2"
            ),
        ),
        ("0", 1, "CPU 0 is outside this process's affinity mask: choose among those allowed, 1-3"),
        ("7", 1, "CPU 7 is offline or missing: choose among those online, 0-3"),
        ((1, 7, 8, 9), None, "CPUs 7-9 are offline or missing: choose among those online, 0-3"),
        ("1,1", None, "CPU list '1,1' cannot be used: names 1 twice; give compact, scatter, cores"),
        ((1, 1), None, "CPU list '1,1' names a CPU twice: name each once"),
        ("nearby", None, "CPU list 'nearby' cannot be used: 'nearby' is neither a number nor a ra"),
        ("", None, "the CPU list names no CPU: give numbers such as 0-3,8"),
        ((), None, "the CPU list names no CPU: give numbers such as 0-3,8"),
    ],
)
def test_refusals_are_one_line(
    policy: str | tuple[int, ...], threads: int | None, message: str
) -> None:
    system = machine(Shape(cores_per_node=2, threads_per_core=2), allowed=[1, 2, 3])
    with pytest.raises(RequestError) as caught:
        cpus_for(policy, threads, system)
    assert str(caught.value).startswith(message) or message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("threads", [None, 1])
def test_no_allowed_cpu_is_refused(threads: int | None) -> None:
    with pytest.raises(RequestError, match="this process may not use any CPU"):
        cpus_for("compact", threads, machine(Shape(), allowed=[]))


@given(machines())
def test_last_level_caches_are_the_distinct_ones_of_the_sockets_used(system: System) -> None:
    used = cpus_for("scatter", None, system)
    socket = {cpu.cpu: cpu.socket for cpu in system.cpus}
    last = last_level_caches(used, system)
    assert len(last.caches) == len({socket[cpu] for cpu in used})
    assert last.bytes == len(last.caches) * (32 << 20)
    assert {cache.level for cache in last.caches} == {3}


def test_caches_by_level_and_their_absence() -> None:
    system = machine(Shape(sockets=2))
    assert {level: cache.bytes for level, cache in caches_of(0, system).items()} == {
        2: 1 << 20,
        3: 32 << 20,
    }
    hidden = msgspec.structs.replace(system, caches=[c for c in system.caches if 0 not in c.cpus])
    assert caches_of(0, hidden) == {}
    assert last_level_caches([0], hidden) == ([], 0)
    assert hides_caches([0, 4], hidden)
    assert not hides_caches([4], hidden)


def test_an_instruction_cache_is_no_last_level() -> None:
    system = machine(Shape())
    instruction = msgspec.structs.replace(system.caches[0], type="instruction", level=4)
    system = msgspec.structs.replace(system, caches=[*system.caches, instruction])
    assert max(caches_of(0, system)) == 3


def test_memory_of_a_node_is_touched_by_one_thread_of_each_of_its_cores() -> None:
    system = machine(Shape(sockets=2, cores_per_node=3, threads_per_core=2))
    assert Touching(system).cpus(0, None) == [0, 1, 2]
    assert Touching(system).cpus(0, 0) == [0, 1, 2]
    assert Touching(system).cpus(0, 1) == [3, 4, 5], "by those that are near it"
    assert Touching(system).cpus(7, None) == [7, 0, 2], "the second thread of CPU 1's core"


def test_memory_without_cpus_of_its_own_is_touched_by_those_of_the_user() -> None:
    system = machine(Shape(sockets=2, cores_per_node=3))
    assert Touching(system).cpus(4, 9) == [4, 3, 5]
    few = msgspec.structs.replace(system, allowed_cpus=[1, 4])
    assert Touching(few).cpus(1, 1) == [4]
    assert Touching(few).cpus(1, None) == [1]
    assert Touching(few).cpus(8, None) == [8]


def test_no_more_touch_than_the_kernel_gives_pages_to() -> None:
    assert len(Touching(machine(Shape(cores_per_node=200))).cpus(3, 0)) == MOST_TOUCHING


def test_nodes_narrow_every_policy_to_their_cpus() -> None:
    system = machine(Shape(sockets=2, cores_per_node=2, threads_per_core=2))
    assert within(system, None) is system
    assert cpus_for("scatter", None, within(system, (1,))) == [2, 3, 6, 7]
    assert default_team_sizes(within(system, (1,))) == (1, 2, 3, 4)


@pytest.mark.parametrize(
    ("nodes", "allowed", "message"),
    [
        ((7,), None, "--nodes 7: this machine has no such node; choose among 0-1"),
        ((1,), [0], "--nodes 1: has no CPU that this process may use"),
    ],
)
def test_nodes_that_cannot_be_used_are_refused(
    nodes: tuple[int, ...], allowed: list[int] | None, message: str
) -> None:
    with pytest.raises(RequestError, match=message):
        within(machine(Shape(sockets=2), allowed), nodes)
