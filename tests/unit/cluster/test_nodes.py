import os

import pytest

from memgauge.cluster.messages import Hello
from memgauge.cluster.nodes import hello, nodes_of, take_cpus
from memgauge.model.storage.cluster import is_name


def at(hostname: str, boot: str = "b", cpus: tuple[int, ...] = (0,)) -> Hello:
    return Hello(hostname=hostname, boot=boot, cpus=list(cpus))


def test_ranks_of_one_host_are_one_node_whatever_their_order() -> None:
    nodes = nodes_of({3: at("b"), 0: at("a", cpus=(0, 1)), 2: at("a", cpus=(1, 2)), 1: at("b")})
    assert [(node.name, node.ranks, node.bound) for node in nodes] == [
        ("a", [0, 2], [0, 1, 2]),
        ("b", [1, 3], [0]),
    ]


@pytest.mark.parametrize(
    ("hellos", "names"),
    [
        ([at("n1.site.org"), at("n2.site.org")], ["n1", "n2"]),
        ([at("n1.east"), at("n1.west")], ["n1.east", "n1.west"]),
        # Two machines of one name run under two boots.
        ([at("localhost", "x"), at("localhost", "y")], ["localhost", "localhost-2"]),
        ([at("../../etc"), at("a b;c\n")], ["etc", "a-b-c"]),
        ([at("", "x"), at("-", "y")], ["node", "node-2"]),
    ],
)
def test_names_tell_nodes_apart_and_are_names_of_directories(
    hellos: list[Hello], names: list[str]
) -> None:
    found = [node.name for node in nodes_of(dict(enumerate(hellos)))]
    assert all(map(is_name, found))
    assert len(set(found)) == len(hellos)
    if hellos[0].hostname != "../../etc":
        assert found == names


def test_this_process_tells_where_it_is() -> None:
    found = hello()
    assert found.hostname
    assert found.cpus == sorted(os.sched_getaffinity(0))
    assert found == hello()


class Kernel:
    """Affinity of a process whose cpuset is given."""

    def __init__(self, cpuset: set[int], bound: set[int]) -> None:
        self.cpuset, self.mine = cpuset, bound

    def bind(self, pid: int, cpus: list[int]) -> None:
        self.mine = set(cpus) & self.cpuset

    def affinity(self, pid: int) -> set[int]:
        return self.mine


@pytest.mark.parametrize(
    ("bound", "granted", "taken", "why"),
    [
        ({0}, "", {0, 1, 2, 3}, "all 4 CPUs of the cpuset, though the launcher"),
        ({0, 1, 2, 3}, "", {0, 1, 2, 3}, ""),
        ({0, 1}, "4", {0, 1, 2, 3}, "all 4 CPUs"),
        ({0, 1}, "2", {0, 1}, "the 2 CPUs that the ranks are bound to"),
    ],
)  # fmt: skip
def test_a_survey_gets_the_cpus_of_its_node(
    bound: set[int], granted: str, taken: set[int], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel({0, 1, 2, 3}, {0})
    monkeypatch.setattr(os, "sched_setaffinity", kernel.bind)
    monkeypatch.setattr(os, "sched_getaffinity", kernel.affinity)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    count, said = take_cpus(sorted(bound), {"SLURM_CPUS_ON_NODE": granted})
    assert kernel.mine == taken
    assert count == len(taken)
    assert why in said
    assert bool(why) == bool(said)
