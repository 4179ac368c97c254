from memgauge.analysis.comparison.figures import Comparable, Source
from memgauge.analysis.comparison.memory import memory_verdicts
from memgauge.analysis.comparison.ratios import compare_two
from memgauge.analysis.comparison.verdicts import pair_verdicts
from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.record_kinds.fields import Scalar


def source(name: str, **facts: Scalar) -> Source:
    one = Comparable(
        name="stream/copy/standard/2",
        unit="GB/s",
        direction="higher",
        estimate=Estimate(20.0, 19.8, 20.2),
        statistic="90th percentile of speed",
        label="copy",
        facts=facts,
    )
    return Source(name=name, comparables=[one], title=name, run_id=name, machine_id="m")


def said(one: Source, other: Source) -> list[Verdict]:
    return list(memory_verdicts("B", compare_two(one, other)))


DRAM = source("a", memory="dram", access="direct")


def test_two_memories_are_named_with_what_was_in_effect() -> None:
    file = source("b", memory="file:/mnt/x", file_system="ext4", dax=True, map_sync=True)
    (verdict,) = said(DRAM, file)
    assert verdict.level == "note"
    assert "dram against file:/mnt/x (ext4, DAX, MAP_SYNC granted) (1 figure)" in verdict.text


def test_one_file_with_and_without_dax_are_two_memories() -> None:
    with_dax = source("a", memory="file:/mnt/x", file_system="ext4", dax=True)
    without = source("b", memory="file:/mnt/x", file_system="ext4", dax=False)
    (verdict,) = said(with_dax, without)
    assert "(ext4, DAX) against file:/mnt/x (ext4 without DAX)" in verdict.text
    assert not any(
        "not measured alike" in v.text for v in pair_verdicts("B", compare_two(with_dax, without))
    )


def test_translated_access_against_direct_is_a_warning() -> None:
    pool = source("b", memory="pmemobj:/mnt/x", access="translated")
    memories, accesses = said(DRAM, pool)
    assert memories.level == "note"
    assert accesses.level == "warning"
    assert "direct against translated" in accesses.text
    assert accesses.remedy == "measure both with --access direct"


def test_roles_are_named() -> None:
    one = source("a", memory="dram:dram", source="dram", destination="dram")
    other = source("b", memory="dram:node:2", source="dram", destination="node:2")
    (verdict,) = said(one, other)
    assert "source dram, destination dram against source dram, destination node:2" in verdict.text


def test_the_same_memory_and_memory_not_told_need_no_word() -> None:
    assert said(DRAM, source("b", memory="dram")) == []
    assert said(source("a"), source("b", memory="dram")) == []
