import msgspec
import pytest
from tests.unit.model.build import system as machine

from memgauge.model.errors import RequestError
from memgauge.model.memory import MemoryPlacement
from memgauge.model.system import Cpu, System, Tier
from memgauge.model.tier_names import TIER_NAMES, second_tiers, tier_named

DRAM = Tier(kind="dram", placement="dram", bytes=1 << 34, nodes=[0], evidence="has CPUs")


def tier(kind: str, placement: str | None, **more: object) -> Tier:
    fields = {"bytes": 1 << 30, "nodes": [], "evidence": "made up", **more}
    return msgspec.convert({"kind": kind, "placement": placement, **fields}, Tier)


def having(*tiers: Tier) -> System:
    return msgspec.structs.replace(machine(), tiers=[DRAM, *tiers])


@pytest.mark.parametrize("word", ["nvdimm", "cxl", "hbm", "gpu"])
def test_a_word_stands_for_the_one_tier_of_its_kind(word: str) -> None:
    found = having(tier(word, "node:2", nodes=[2]), tier("unknown", "node:3", nodes=[3]))
    assert tier_named(found, word) == MemoryPlacement("node", (2,))


def test_two_tiers_of_a_kind_are_both_named() -> None:
    found = having(
        tier("nvdimm", "devdax:/dev/dax0.0"),
        tier("nvdimm", "file:/mnt/pmem0"),
    )
    with pytest.raises(RequestError) as error:
        tier_named(found, "nvdimm", "--nvm")
    assert str(error.value) == (
        "--nvm nvdimm: 2 tiers match; write one of them, devdax:/dev/dax0.0 or file:/mnt/pmem0"
    )


@pytest.mark.parametrize("word", TIER_NAMES)
def test_a_missing_tier_is_an_error_that_names_what_there_is(word: str) -> None:
    with pytest.raises(RequestError, match=rf"--a {word}: no such tier.*it has dram \(dram\)"):
        tier_named(having(), word, "--a")


def test_a_tier_that_cannot_hold_arrays_gives_its_remedy() -> None:
    found = having(tier("nvdimm", None, device="pmem0", remedy="mount it with -o dax"))
    with pytest.raises(
        RequestError,
        match="pmem0 cannot hold arrays in its present configuration; mount it with -o",
    ):
        tier_named(found, "nvdimm")
    assert second_tiers(found) == []


def test_remote_is_dram_of_a_node_whose_cpus_are_not_used() -> None:
    cpus = [Cpu(cpu=n, core=n, socket=n, node=n, sibling=0) for n in (0, 1)]
    both = msgspec.structs.replace(
        having(
            tier("dram", "node:0", nodes=[0]),
            tier("dram", "node:1", nodes=[1]),
            tier("cxl", "node:2", nodes=[2]),
        ),
        cpus=cpus,
        allowed_cpus=[0, 1],
    )
    assert tier_named(both, "remote", cpus=[0]) == MemoryPlacement("node", (1,))
    near = msgspec.structs.replace(both, allowed_cpus=[1])
    assert tier_named(near, "remote") == MemoryPlacement("node", (0,))
    with pytest.raises(RequestError, match="so none is remote; use those of one node only"):
        tier_named(both, "remote")


def test_no_word_is_an_error_that_lists_them() -> None:
    with pytest.raises(
        RequestError, match="'optane' is not the name of a tier; choose from nvdimm"
    ):
        tier_named(having(), "optane")
