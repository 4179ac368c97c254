"""The nearest caches that callgrind can simulate, and what is said to be different."""

import msgspec
import pytest

from memgauge.machines import library
from memgauge.model.cache_machine import CacheLevel, CacheMachine, Prefetchers
from memgauge.model.errors import RequestError
from memgauge.simulation.two_levels import Cache, nearest, two_levels

KIB, MIB = 1 << 10, 1 << 20


def sets(cache: Cache) -> int:
    whole, rest = divmod(cache.bytes, cache.ways * cache.line_bytes)
    assert rest == 0
    return whole


@pytest.mark.parametrize(
    ("size", "ways", "line", "expected"),
    [
        (32 * KIB, 8, 64, (32 * KIB, 8)),
        (48 * KIB, 12, 64, (48 * KIB, 12)),
        (18 * MIB, 12, 64, (18 * MIB, 9)),
        (23 * MIB, 11, 64, (23 * MIB, 23)),
        (5 * MIB, 20, 64, (5 * MIB, 20)),
        (4 * KIB, 0, 64, (4 * KIB, 64)),
        (64, 16, 64, (64, 1)),
    ],
)
def test_the_size_is_kept_where_sets_can_be_a_power_of_two(
    size: int, ways: int, line: int, expected: tuple[int, int]
) -> None:
    made = nearest(size, ways, line)
    assert (made.bytes, made.ways) == expected


@pytest.mark.parametrize("lines", [1, 3, 7, 100, 1000, 12345, 294912])
@pytest.mark.parametrize("ways", [1, 2, 3, 12, 16])
def test_sets_are_always_a_power_of_two_and_the_size_is_near(lines: int, ways: int) -> None:
    made = nearest(lines * 64, ways, 64)
    assert sets(made).bit_count() == 1
    assert abs(made.bytes - lines * 64) <= lines * 64 / (2 * min(ways, lines)) + 64


@pytest.mark.parametrize("name", library.SHIPPED)
def test_each_machine_has_its_nearest_and_says_so(name: str) -> None:
    machine = library.load(name)
    made = two_levels(machine)
    for cache in (made.instructions, made.first, made.last):
        assert sets(cache).bit_count() == 1
        assert cache.line_bytes == machine.sector_bytes
    assert made.last.bytes == pytest.approx(machine.cached_bytes, rel=0.01)
    assert "simulated levels" in made.notes[0]


def test_what_is_simulated_otherwise_is_said() -> None:
    said = " ".join(two_levels(library.load("power9-5mb")).notes)
    assert "lines are the 64 bytes that memory moves, not 128 in sectors" in said
    assert "to simulate stores that bypass the caches" in said
    said = " ".join(two_levels(library.load("ampere-altra")).notes)
    assert "L1 tree-plru; L2 inclusive; SLC exclusive" in said


def test_prefetchers_are_said_to_need_the_other_engine() -> None:
    machine = msgspec.structs.replace(
        library.load("hybrid-12"), prefetchers=Prefetchers(next_line=True)
    )
    assert any(
        "to simulate the machine's prefetchers" in note for note in two_levels(machine).notes
    )


def test_lines_that_callgrind_has_not_are_refused() -> None:
    machine = CacheMachine(
        name="short",
        title="short lines",
        source="made up",
        line_bytes=8,
        sector_bytes=8,
        levels=[CacheLevel(name="L1", bytes=64, ways=1)],
    )
    with pytest.raises(RequestError, match="cannot simulate lines of 8 bytes; use --engine trace"):
        two_levels(machine)
