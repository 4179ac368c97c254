import msgspec
import pytest
from tests.unit.runner.fakes import a_point

from memgauge.model.memory import MemoryPlacement, parse_placement
from memgauge.model.parameters import CommonParameters
from memgauge.model.points.memory import AreaFacts
from memgauge.model.record_kinds.fields import Scalar
from memgauge.runner.actual_memory import page_name, with_memory
from memgauge.system.memory.sources import Memories, opened


def file_in(path: object) -> MemoryPlacement:
    return parse_placement(f"file:{path}", "--memory")


def test_every_point_says_which_memory_it_asked_for() -> None:
    known = with_memory(a_point("p"), CommonParameters(), Memories())
    assert known.requested == {"memory": "dram"}
    assert known.actual == {}
    said = msgspec.structs.replace(a_point("p"), requested={"memory": "node:3"})
    assert with_memory(said, CommonParameters(), Memories()).requested["memory"] == "node:3"


def test_the_facts_of_an_area_are_those_the_kernel_told(tmp_path: object) -> None:
    placement = file_in(f"{tmp_path}/area")
    with opened({placement: 1 << 20}) as memories:
        facts = memories.of(placement).facts
        assert facts is not None
        known = with_memory(a_point("p"), CommonParameters(memory=placement), memories)
    assert known.requested["memory"] == str(placement)
    assert AreaFacts.of(known.actual) == AreaFacts(
        file_system=facts.file_system,
        dax=facts.dax,
        map_sync=facts.map_sync,
        medium_node=facts.node,
        medium_page_bytes=facts.page_bytes or None,
    )
    assert set(known.actual) <= set(AreaFacts.keys("memory"))


def test_facts_of_two_roles_are_kept_apart(tmp_path: object) -> None:
    placement = file_in(f"{tmp_path}/area")
    requested: dict[str, Scalar] = {
        "memory": "dram:x",
        "source": "dram",
        "destination": str(placement),
    }
    point = msgspec.structs.replace(a_point("p"), requested=requested)
    with opened({placement: 1 << 20}) as memories:
        known = with_memory(point, CommonParameters(), memories)
    assert known.requested == requested
    assert "destination_file_system" in known.actual
    assert "source_file_system" not in known.actual
    assert "file_system" not in known.actual


def test_memory_that_was_not_opened_here_has_no_facts() -> None:
    point = msgspec.structs.replace(a_point("p"), requested={"source": "file:/not/opened"})
    assert with_memory(point, CommonParameters(), Memories()).actual == {}


@pytest.mark.parametrize(
    ("size", "name"), [(4096, "4k"), (65536, "64k"), (2 << 20, "2m"), (1 << 30, "1g")]
)
def test_page_sizes_are_named_as_policies(size: int, name: str) -> None:
    assert page_name(size) == name
