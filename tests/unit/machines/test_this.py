"""This machine from what its system shows, and what is said where it shows little."""

import msgspec
import pytest
from tests.unit.model.build import system

from memgauge.machines.library import load
from memgauge.model.cache_machine import CacheMachine
from memgauge.model.errors import RequestError
from memgauge.model.system import Cache, Cpu, System

KIB, MIB = 1 << 10, 1 << 20


def cache(level: int, size: int, ways: int | None, cpus: list[int], **changes: object) -> Cache:
    made = Cache(
        level=level,
        type="unified" if level > 1 else "data",
        bytes=size,
        line_bytes=64,
        ways=ways,
        sets=None,
        cpus=cpus,
    )
    return msgspec.structs.replace(made, **changes)


def a_system(caches: list[Cache], cpus: int = 4, **changes: object) -> System:
    """Two hardware threads a core."""
    listed = [Cpu(cpu=n, core=n // 2, socket=0, node=0, sibling=n % 2) for n in range(cpus)]
    fields = {"cpus": listed, "allowed_cpus": list(range(cpus)), "caches": caches, **changes}
    return msgspec.structs.replace(system(), **fields)


def of(caches: list[Cache], cpus: int = 4, **changes: object) -> CacheMachine:
    return load("this", a_system(caches, cpus, **changes))


THREE = [
    cache(1, 32 * KIB, 8, [0, 1]),
    cache(1, 32 * KIB, 8, [0, 1], type="instruction"),
    cache(2, MIB, 16, [0, 1]),
    cache(3, 32 * MIB, 16, [0, 1, 2, 3]),
]


def test_levels_ways_and_sharing_are_those_shown() -> None:
    machine = of(THREE)
    assert [(one.name, one.bytes, one.ways, one.cores) for one in machine.levels] == [
        ("L1", 32 * KIB, 8, 1),
        ("L2", MIB, 16, 1),
        ("L3", 32 * MIB, 16, 0),
    ]
    assert machine.machine_cores == 2
    assert machine.line_bytes == machine.sector_bytes == 64


def test_a_last_level_of_some_cores_only_keeps_their_number() -> None:
    machine = of([*THREE[:3], cache(3, 32 * MIB, 16, [0, 1, 2, 3])], cpus=16)
    assert machine.levels[-1].cores == 2
    assert machine.machine_cores == 8


def test_caches_are_those_of_the_first_cpu_that_may_be_used() -> None:
    other = [cache(1, 48 * KIB, 12, [2, 3]), cache(2, 2 * MIB, 16, [2, 3])]
    machine = of([*THREE[:3], *other], allowed_cpus=[2, 3])
    assert [one.bytes for one in machine.levels] == [48 * KIB, 2 * MIB]


def test_ways_that_are_not_shown_follow_from_the_sets() -> None:
    machine = of([cache(1, 32 * KIB, None, [0, 1], sets=64)])
    assert machine.levels[0].ways == 8
    assert not any("ways" in text for text in machine.assumptions)


def test_ways_that_nothing_tells_are_assumed_and_said() -> None:
    machine = of([cache(1, 32 * KIB, None, [0, 1])])
    assert machine.levels[0].ways == 16
    assert "the system does not show the ways of the L1: 16 are assumed" in machine.assumptions


@pytest.mark.parametrize(("architecture", "usual"), [("ppc64le", 128), ("x86_64", 64)])
def test_a_line_that_is_not_shown_is_the_usual_one(architecture: str, usual: int) -> None:
    machine = of([cache(1, 32 * KIB, 8, [0, 1], line_bytes=0)], architecture=architecture)
    assert machine.line_bytes == usual
    assert any(f"{usual} bytes are assumed" in text for text in machine.assumptions)


def test_a_cache_of_broken_sets_keeps_whole_ones() -> None:
    machine = of([cache(1, 33 * KIB, 7, [0, 1])])
    assert machine.levels[0].bytes == 33 * KIB // 448 * 448


def test_amd_has_an_l3_of_victims() -> None:
    assert [one.inclusion for one in of(THREE, cpu_model="AMD EPYC").levels] == [
        "non-inclusive",
        "inclusive",
        "exclusive",
    ]
    others = of(THREE, cpu_model="Other")
    assert {one.inclusion for one in others.levels} == {"non-inclusive"}
    assert sum("does not report it" in text for text in others.assumptions) == 2


def test_a_virtual_machine_says_that_others_use_the_last_level() -> None:
    assert any(
        "a kvm: others may use the last level" in text
        for text in of(THREE, virtualisation="kvm").assumptions
    )


def test_a_machine_that_shows_nothing_cannot_be_simulated() -> None:
    with pytest.raises(RequestError, match="shows no caches of this machine"):
        of([])
