"""How the two groups' memory is written, and what stands for the second tier."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import a_machine

from memgauge.experiments.tiers.memory_pairs import DRAM, RequestedSide, parse_side
from memgauge.experiments.tiers.parameters import TiersParameters
from memgauge.experiments.tiers.sides import Side, sides
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.memory import MemoryPlacement, parse_placement
from memgauge.model.parameters import build, texts
from memgauge.model.system import System, Tier
from memgauge.model.tier_names import TIER_NAMES

PLACEMENTS = (
    "dram",
    "node:2",
    "interleave:0,1",
    "interleave:0=3,1=1",
    "file:/mnt/x",
    "devdax:/dev/dax0.0",
    "pmemobj:/mnt/pool",
    "shm:",
)

memories = st.sampled_from([*PLACEMENTS, *TIER_NAMES])


def memory_of(text: str) -> MemoryPlacement | str:
    return text if text in TIER_NAMES else parse_placement(text, "--b")


def tier(kind: str, placement: str | None, **more: object) -> Tier:
    made: dict[str, object] = {
        "kind": kind,
        "placement": placement,
        "bytes": 1 << 30,
        "nodes": [],
        "evidence": "made",
    }
    return msgspec.convert(made | more, Tier)


def having(*tiers: Tier, sockets: int = 1) -> System:
    dram = tier("dram", "dram", nodes=list(range(sockets)))
    return msgspec.structs.replace(a_machine(4, sockets=sockets), tiers=[dram, *tiers])


def second(system: System, **given: str) -> tuple[str, str]:
    a, b = sides(build(TiersParameters, **given), system, system.allowed_cpus)
    return written(a), written(b)


def written(side: Side) -> str:
    both = (str(side.source), str(side.destination))
    return ":".join(dict.fromkeys(both))


@given(memories, memories)
def test_any_two_memories_are_told_apart(source: str, destination: str) -> None:
    found = parse_side(f"{source}:{destination}", "--b")
    assert found == RequestedSide(memory_of(source), memory_of(destination))
    assert parse_side(str(found), "--b") == found


@given(memories)
def test_one_memory_stands_for_both(memory: str) -> None:
    assert parse_side(memory, "--b") == RequestedSide(memory_of(memory), memory_of(memory))


def test_a_path_may_hold_a_colon() -> None:
    odd = parse_placement("file:/mnt/a:b", "--b")
    assert parse_side("file:/mnt/a:b", "--b") == RequestedSide(odd, odd)
    assert parse_side("file:/mnt/a:b:dram", "--b") == RequestedSide(odd, DRAM)


def test_what_can_be_read_in_two_ways_is_refused() -> None:
    with pytest.raises(RequestError) as refused:
        parse_side("file:/a:file:/b:dram", "--b")
    assert str(refused.value) == (
        "--b 'file:/a:file:/b:dram' can be read as file:/a to file:/b:dram or "
        "file:/a:file:/b to dram; use paths without a colon"
    )


@pytest.mark.parametrize("text", ["", ":", "dram:", ":dram", "nvram", "dram:dram:dram", "node:x"])
def test_what_makes_no_sense_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(
        RequestError, match=r"--a .* is not of the form SOURCE:DESTINATION; write two"
    ) as refused:
        parse_side(text, "--a")
    assert "\n" not in str(refused.value)


def test_the_default_is_dram_beside_the_second_tier() -> None:
    machine = having(tier("cxl", "node:2", nodes=[2]))
    assert second(machine) == ("dram", "node:2")


def test_a_tier_that_is_no_dram_comes_before_remote_dram() -> None:
    remote = tier("dram", "node:1", nodes=[1])
    assert second(having(remote, tier("nvdimm", "devdax:/dev/dax0.0"), sockets=2)) == (
        "dram",
        "devdax:/dev/dax0.0",
    )


def test_dram_of_a_node_whose_cpus_are_not_used_is_a_second_tier() -> None:
    both = [tier("dram", f"node:{n}", nodes=[n]) for n in (0, 1)]
    machine = having(*both, sockets=2)
    found = sides(TiersParameters(), machine, machine.nodes[0].cpus)
    assert found == (Side(DRAM, DRAM), Side(*[MemoryPlacement("node", (1,))] * 2))
    with pytest.raises(NotPossibleHere, match=r"keep to the CPUs of one node \(--nodes 0\)"):
        sides(TiersParameters(), machine, machine.allowed_cpus)


def test_one_tier_is_not_enough_and_says_how_to_name_another() -> None:
    with pytest.raises(NotPossibleHere) as refused:
        second(having())
    assert str(refused.value) == (
        "tiers: this machine has one tier of memory, its DRAM; name another with "
        "--b or --memory, such as file:PATH, node:N or pmemobj:PATH"
    )


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("nvm-nvm", "file:/mnt/x"),
        ("nvm-dram", "file:/mnt/x:dram"),
        ("dram-nvm", "dram:file:/mnt/x"),
    ],
)
def test_presets_are_the_studys(preset: str, expected: str) -> None:
    assert second(having(), preset=preset, nvm="file:/mnt/x") == ("dram", expected)
    assert second(having(), preset=preset, memory="file:/mnt/x") == ("dram", expected)


def test_memory_names_the_second_memory() -> None:
    assert second(having(), memory="shm:") == ("dram", "shm:")
    assert second(having(), memory="shm:", a="node:1") == ("node:1", "shm:")


def test_words_stand_for_tiers() -> None:
    machine = having(tier("nvdimm", "file:/mnt/p"), tier("cxl", "node:2", nodes=[2]))
    assert second(machine, a="cxl:dram", b="nvdimm") == ("node:2:dram", "file:/mnt/p")
    assert second(machine, nvm="cxl", preset="dram-nvm") == ("dram", "dram:node:2")
    with pytest.raises(RequestError, match="--b hbm: no such tier was found"):
        second(machine, b="dram:hbm")


def test_all_named_memory_is_known_before_it_is_planned() -> None:
    named = build(TiersParameters, a="dram:node:1", b="shm::nvdimm").memories
    assert named == (DRAM, MemoryPlacement("node", (1,)), MemoryPlacement("shm"))
    assert TiersParameters().memories == (DRAM,)
    assert build(TiersParameters, memory="shm:").memories == (DRAM, MemoryPlacement("shm"))
    assert build(TiersParameters, nvm="node:3").memories == (DRAM, MemoryPlacement("node", (3,)))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"a": "dram", "b": "file:/x:nvdimm"},
        {"preset": "dram-nvm", "nvm": "cxl"},
        {"memory": "node:2", "threads": "2,4", "split": "0-4"},
        {"read_share": "100%,67%", "delay_b": "0,200", "threads": "4"},
        {"access": "direct,translated", "b": "pmemobj:/p", "fixed_iterations": "20"},
    ],
)
def test_records_keep_what_was_asked(given: dict[str, str]) -> None:
    requested = build(TiersParameters, **given)
    written = {name: text for name, text in texts(requested).items() if text is not None}
    assert build(TiersParameters, **written) == requested
