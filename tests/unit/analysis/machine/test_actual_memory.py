import msgspec
import pytest
from tests.unit.model.build import system as machine
from tests.unit.model.build import triad

from memgauge.analysis.machine.actual_memory import described, memory_verdicts
from memgauge.analysis.section import Verdict
from memgauge.model.points.memory import AreaFacts
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point
from memgauge.model.system import Tier


def verdicts(requested: dict[str, Scalar], actual: dict[str, Scalar]) -> list[Verdict]:
    point = msgspec.structs.replace(
        triad(), requested=triad().requested | requested, actual=triad().actual | actual
    )
    return list(memory_verdicts([point], machine()))


def test_plain_dram_needs_no_word() -> None:
    assert verdicts({"memory": "dram"}, {}) == []
    assert verdicts({}, {}) == []


def test_dax_in_effect_is_said_with_map_sync() -> None:
    facts: dict[str, Scalar] = {"file_system": "ext4", "dax": True, "map_sync": True}
    (verdict,) = verdicts({"memory": "file:/mnt/x"}, facts)
    assert verdict.level == "note"
    assert "file:/mnt/x (ext4, DAX, MAP_SYNC granted)" in verdict.text
    (refused,) = verdicts({"memory": "file:/mnt/x"}, facts | {"map_sync": False})
    assert "MAP_SYNC refused" in refused.text


@pytest.mark.parametrize("kind", ["file", "pmemobj"])
def test_a_file_without_dax_is_a_warning_that_dram_was_measured(kind: str) -> None:
    facts: dict[str, Scalar] = {"file_system": "ext4", "dax": False, "map_sync": False}
    (verdict,) = verdicts({"memory": f"{kind}:/home/x"}, facts)
    assert verdict.level == "warning"
    got = "ext4 without DAX, MAP_SYNC refused"
    assert f"{kind}:/home/x ({got}): this measures the page cache, which is DRAM" in verdict.text
    assert verdict.remedy is not None
    assert "dax=always" in verdict.remedy


def test_unknown_dax_is_never_taken_for_dax() -> None:
    (verdict,) = verdicts({"memory": "file:/mnt/x"}, {"file_system": "9p"})
    assert verdict.level == "warning"
    assert "nothing shows whether DAX was in effect" in verdict.text


def test_a_file_system_in_memory_is_said_to_be_dram() -> None:
    (verdict,) = verdicts({"memory": "file:/dev/shm/x"}, {"file_system": "tmpfs", "dax": False})
    assert verdict.level == "note"
    assert "is in DRAM, which was measured" in verdict.text


def test_source_and_destination_are_said_each() -> None:
    said = verdicts(
        {"memory": "dram", "source": "dram", "destination": "devdax:/dev/dax0.0"},
        {"destination_dax": True, "destination_medium_page_bytes": 2 << 20},
    )
    assert [verdict.text for verdict in said] == [
        "The arrays were in devdax:/dev/dax0.0 (DAX, pages of 2 MiB)."
    ]


def test_one_memory_of_many_points_is_said_once() -> None:
    points = [
        msgspec.structs.replace(triad(), point=name, requested={"memory": "shm:"}) for name in "ab"
    ]
    assert len(list(memory_verdicts(points, machine()))) == 1


def test_nodes_are_said_with_what_they_are_made_of() -> None:
    tier = Tier(kind="cxl", placement="node:2", bytes=1, nodes=[2], evidence="made up")
    point = msgspec.structs.replace(triad(), requested={"memory": "interleave:0=3,2=1"})
    (verdict,) = memory_verdicts([point], msgspec.structs.replace(machine(), tiers=[tier]))
    assert verdict.text == "The arrays were in interleave:0=3,2=1: node 2 is CXL memory."


def test_what_is_no_placement_is_shown_as_it_is() -> None:
    assert described("dram:node:2", AreaFacts(dax=True)) == "dram:node:2"
    assert verdicts({"memory": "dram:node:2"}, {}) == []


def test_nodes_that_an_experiment_compares_are_left_to_its_tables() -> None:
    def at(node: int) -> Point:
        requested: dict[str, Scalar] = {"memory": f"node:{node}", "memory_node": node}
        return msgspec.structs.replace(triad(), requested=requested)

    assert not list(memory_verdicts([at(0), at(1)], machine()))
    (verdict,) = memory_verdicts([at(1), at(1)], machine())
    assert "node:1" in verdict.text
