import msgspec
import pytest
from tests.unit.runner.fakes import a_system

from memgauge.model.errors import RequestError
from memgauge.model.memory import parse_placement
from memgauge.model.parameters import CommonParameters
from memgauge.model.system import Node, System
from memgauge.runner.requirements import require_placement


def nodes(allowed: list[int] | None) -> System:
    made = [
        Node(node=number, cpus=[], bytes=size, distances={})
        for number, size in ((0, 1 << 30), (1, 0), (2, 1 << 30))
    ]
    return msgspec.structs.replace(a_system(), nodes=made, allowed_nodes=allowed)


def require(text: str, allowed: list[int] | None = None) -> None:
    memory = parse_placement(text, "--memory")
    require_placement(CommonParameters(memory=memory), nodes(allowed))


@pytest.mark.parametrize("text", ["dram", "node:0", "node:2", "interleave:0,2", "file:/x"])
def test_memory_that_is_there_may_be_asked_for(text: str) -> None:
    require(text)
    require(text, [0, 2])


@pytest.mark.parametrize(
    ("text", "allowed", "message"),
    [
        (
            "node:7",
            None,
            "this machine has no node 7 with memory; choose among 0, 2",
        ),
        ("node:1", None, "node 1 has no memory; choose among 0, 2"),
        ("node:2", [0], "the cgroup's cpuset excludes node 2 (cpuset.mems); choose among 0"),
        ("interleave:0,7", None, "this machine has no node 7"),
        ("interleave:0=3,1=1", None, "node 1 has no memory"),
        ("interleave:0,2", [0], "excludes node 2"),
    ],
)
def test_each_reason_is_one_clear_line(text: str, allowed: list[int] | None, message: str) -> None:
    with pytest.raises(RequestError) as error:
        require(text, allowed)
    assert str(error.value).startswith(f"memory {text}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_pages_of_the_host_are_not_asked_for_by_a_gpu() -> None:
    """That they say nothing of it is the experiment's own refusal."""
    memory = parse_placement("cuda:0", "--memory")
    require_placement(CommonParameters(memory=memory, pages="2m"), nodes(None))
    with pytest.raises(RequestError, match="no explicit huge page"):
        require_placement(CommonParameters(pages="2m"), nodes(None))
