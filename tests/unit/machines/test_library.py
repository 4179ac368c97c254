"""Machines that ship, a user's own, and what is said of names that there are not."""

from pathlib import Path

import pytest

from memgauge.machines import library
from memgauge.model.cache_machine import CacheMachine
from memgauge.model.errors import RequestError

MIB = 1 << 20
OWN = """
name = "mine"
title = "a small one"
source = "made up"
[[levels]]
name = "L1"
bytes = 4096
ways = 4
"""


@pytest.fixture(params=library.SHIPPED)
def machine(request: pytest.FixtureRequest) -> CacheMachine:
    return library.load(request.param)


def test_a_name_gives_the_machine_of_that_name(machine: CacheMachine) -> None:
    assert library.load(machine.name) is machine
    assert machine.title
    assert machine.assumptions


def test_each_figure_has_its_source(machine: CacheMachine) -> None:
    assert machine.source
    assert all(level.source for level in machine.levels)
    assert bool(machine.store_streams.source) == bool(machine.store_streams.lines)


def test_levels_are_whole_sets_and_grow(machine: CacheMachine) -> None:
    for level in machine.levels:
        assert level.bytes % (machine.line_bytes * level.ways) == 0
    sizes = [level.bytes for level in machine.levels]
    assert sizes == sorted(set(sizes))
    assert machine.line_bytes % machine.sector_bytes == 0


@pytest.mark.parametrize(
    ("name", "cached"),
    [
        ("power9-5mb", 5 * MIB),
        ("power9-5mb-halves", 5 * MIB),
        ("power9-110mb", 110 * MIB),
        ("xeon-gold-6130", 23 * MIB),
        ("ampere-altra", 33 * MIB),
        ("hybrid-12", 18 * MIB),
    ],
)
def test_one_core_may_cache_what_the_sources_tell(name: str, cached: int) -> None:
    assert library.load(name).cached_bytes == cached


def test_the_hybrid_adds_up_to_the_totals_of_its_study() -> None:
    """448 KiB of L1d in 12, 9 MiB of L2 in 6: 4 cores as simulated, 8 with 32 KiB in fours."""
    machine = library.load("hybrid-12")
    first, second, _ = machine.levels
    assert machine.machine_cores * first.bytes + 8 * 32 * 1024 == 448 * 1024
    assert machine.machine_cores * second.bytes + 2 * 2 * MIB == 9 * MIB


@pytest.mark.parametrize(
    ("requested", "near"), [("power9", "power9-5mb"), ("Altra", "ampere-altra"), ("thsi", "this")]
)
def test_an_unknown_name_is_told_the_nearest_and_all(requested: str, near: str) -> None:
    with pytest.raises(RequestError) as caught:
        library.load(requested)
    message = str(caught.value)
    assert f"did you mean {near}?" in message
    assert all(name in message for name in library.NAMES)


def test_a_name_that_is_like_none_is_told_all() -> None:
    with pytest.raises(RequestError, match="no machine has this name; choose from this, power9"):
        library.load("zzzz")


def test_this_needs_a_system() -> None:
    with pytest.raises(RequestError, match="machine this: nothing is known here"):
        library.load("this")


def test_a_file_is_accepted_wherever_a_name_is(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    machine = library.load(str(path))
    assert machine.name == "mine"
    assert machine.cached_bytes == 4096


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name =", "is not valid TOML: invalid value"),
        (
            OWN.replace("ways = 4", "wais = 4"),
            "levels[0]: there is no key wais; did you mean ways?",
        ),
        ("sector = 32\n" + OWN, "there is no key sector; did you mean sector_bytes?"),
        (OWN.replace("ways = 4", ""), "levels[0]: ways is missing"),
        (OWN.replace("4096", "-1"), "levels[0].bytes: expected int >= 1"),
        (OWN.replace("4096", "99999999999999999999"), "levels[0].bytes: expected int <= "),
        ("store_streams = {gap = -1}\n" + OWN, "store_streams.gap: expected int >= 0"),
        (
            OWN + "replacement = 'fifo'",
            "levels[0].replacement: 'fifo' is not known; choose from lru, tree-plru;",
        ),
        (
            OWN + "inclusion = 'both'",
            "'both' is not known; choose from non-inclusive, inclusive, exclusive;",
        ),
        (OWN.replace("mine", "power9-5mb"), "is another machine's name"),
        ("cores = 3\n" + OWN, "3 cores at work and 0 idle are more than its machine_cores, 1"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(RequestError) as caught:
        library.load(str(path))
    assert why in str(caught.value)
    assert str(path)[:20] in str(caught.value)


def test_a_missing_file_says_so() -> None:
    with pytest.raises(RequestError, match=r"none\.toml': cannot be read: No such file"):
        library.load("none.toml")


def test_a_file_of_other_bytes_says_so(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(RequestError, match="is not UTF-8"):
        library.load(str(path))
