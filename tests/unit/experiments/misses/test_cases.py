"""Walks asked for one by one: every pair of the published profile occurs under its name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.experiments.misses.test_host import GIB, KIB, MIB, PLENTY, caches

from memgauge import _core
from memgauge.experiments.misses.cases import Case, parse_cases, walks_of, write_cases
from memgauge.experiments.misses.host import Misses, MissesParameters
from memgauge.experiments.misses.plan import MEMORY
from memgauge.model.errors import DoesNotFit, RequestError
from memgauge.model.parameters import build
from memgauge.references.library import load
from memgauge.system.detect import detect

STUDY = "sequential/3MiB,stride-16KiB/256MiB,random/128MiB"


def test_the_published_profile_s_figures_are_the_names_of_its_cases() -> None:
    names = {walk.name for walk in walks_of(parse_cases(STUDY, "--cases"), caches(), PLENTY)}
    assert names == {figure.name for figure in load("hybrid12-cache-miss").figures}


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("sequential/16KiB", "L1"),
        ("stride/48KiB", "L1"),
        ("random/64KiB", "L2"),
        ("sequential/3MiB", "L3"),
        ("random/32MiB", "L3"),
        ("sequential/33MiB", MEMORY),
        ("stride-4KiB/1GiB", MEMORY),
    ],
)
def test_a_case_is_of_the_first_level_that_its_footprint_fits(text: str, level: str) -> None:
    (walk,) = walks_of(parse_cases(text, "--cases"), caches(), PLENTY)
    assert walk.level == level
    assert 0 <= walk.warm_accesses <= walk.slots


@given(
    st.lists(
        st.builds(
            Case,
            st.just("stride"),
            st.sampled_from([64, 256, 4096, 16384]),
            st.integers(2, 9).map(lambda n: n << 21),
        ),
        min_size=1,
        max_size=4,
        unique=True,
    )
)
def test_what_is_written_is_read_back(cases: list[Case]) -> None:
    assert parse_cases(write_cases(cases), "--cases") == tuple(cases)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("random", "write cases such as sequential/3MiB"),
        ("walk/3MiB", "write cases such as"),
        ("random-64/1MiB", "only a stride has a distance; write random/SIZE"),
        ("random/3MiB", "a scrambled order needs a power of two; use 2 MiB or 4 MiB"),
        ("stride-6/1MiB", "is not a multiple of a float's 4"),
        ("stride-64KiB/1MiB", "are not at least 64 places"),
        ("sequential/1KiB", "are not at least 64 places"),
        ("sequential/x", "x"),
    ],
)
def test_what_cannot_be_walked_is_refused_with_what_can(text: str, why: str) -> None:
    with pytest.raises(RequestError) as refused:
        parse_cases(text, "--cases")
    assert why in str(refused.value)
    assert "--cases" in str(refused.value)


def test_more_than_memory_holds_does_not_fit() -> None:
    with pytest.raises(DoesNotFit, match="more than half of the 1 GiB that may be used"):
        walks_of(parse_cases("random/1GiB", "--cases"), caches(), GIB)


def test_cases_take_the_place_of_the_usual_walks_and_levels_stay() -> None:
    parameters = build(MissesParameters, cases="sequential/48KiB,random/64KiB", pages="4k")
    (group,) = Misses().plan(parameters, detect())
    walked = [name for name, walk in group.walks.items() if walk.kind == "saxpy"]
    assert walked == [f"misses/sequential/{48 * KIB}", f"misses/random/{64 * KIB}"]
    assert "misses/level/DRAM" in group.walks
    assert group.rings
    assert group.buffer_bytes >= group.walks["misses/level/DRAM"].footprint_bytes


def test_a_footprint_that_is_no_power_of_two_is_really_walked() -> None:
    (walk,) = walks_of(parse_cases("sequential/3MiB", "--cases"), caches(), PLENTY)
    buffer = _core.AccessBuffer(_core.Team([detect().allowed_cpus[0]]), 4 * MIB)
    taken = buffer.run("saxpy", walk.order, 8, walk.stride_bytes, walk.slots, 2 * walk.slots)
    assert taken.threads[0].end_ns[-1] > taken.threads[0].begin_ns[0]
    buffer.close()
