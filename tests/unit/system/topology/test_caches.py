from pathlib import Path

from tests.unit.system.trees import (
    CPUS,
    Files,
    cache,
    guest,
    hybrid,
    node_directory,
    plant,
    power9,
    xeon,
)

from memgauge.model.system import Cache
from memgauge.system.detect import detect
from memgauge.system.topology.caches import parse_size, read_caches
from memgauge.system.topology.cpus import online_cpus


def caches_of(root: Path, files: Files) -> list[Cache]:
    tree = plant(root, files)
    return read_caches(tree, online_cpus(tree)).caches


def notes_of(root: Path, files: Files) -> str:
    plant(root, files)
    return " | ".join(detect(root).topology_notes)


def test_each_cache_is_told_once(tmp_path: Path) -> None:
    found = caches_of(tmp_path, xeon())
    count = {
        (level, kind): sum(c.level == level and c.type == kind for c in found)
        for level, kind in {(c.level, c.type) for c in found}
    }
    assert count == {(1, "data"): 8, (1, "instruction"): 8, (2, "unified"): 8, (3, "unified"): 2}
    last = [c for c in found if c.level == 3]
    assert [c.bytes for c in last] == [22 << 20, 22 << 20]
    assert last[0].cpus == [0, 1, 2, 3, 8, 9, 10, 11]


def test_a_hybrid_has_caches_of_two_kinds_on_one_level(tmp_path: Path) -> None:
    second = [c for c in caches_of(tmp_path, hybrid()) if c.level == 2]
    assert [(c.bytes >> 10, len(c.cpus)) for c in second] == [(1280, 2)] * 4 + [(2048, 4)]


def test_what_is_not_told_is_none(tmp_path: Path) -> None:
    found = caches_of(tmp_path, power9())
    assert {c.ways for c in found} == {None}
    assert {c.sets for c in found} == {None}
    assert sum(c.level == 3 for c in found) == 4


def test_a_cache_without_a_size_is_left_out_and_said(tmp_path: Path) -> None:
    files = {
        path: text
        for path, text in xeon().items()
        if not (path.endswith("/size") and "index3" in path)
    }
    tree = plant(tmp_path, files)
    found = read_caches(tree, online_cpus(tree))
    assert max(c.level for c in found.caches) == 2
    assert found.notes == [
        "the L3 unified cache of CPUs 0-15 is reported without a size and left out"
    ]


def test_a_line_size_that_is_not_told_is_said(tmp_path: Path) -> None:
    files = {path: text for path, text in xeon().items() if "coherency" not in path}
    assert notes_of(tmp_path, files) == "the line size of L1, L2, L3 caches is not reported"


def test_a_guest_without_l3_is_said(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, guest())
    assert "no cache above L2 is reported" in notes
    assert "each CPU as a socket" in notes
    assert "no SMT siblings" in notes


def test_a_guest_with_l3_is_told_that_it_is_shared(tmp_path: Path) -> None:
    assert "other guests may occupy part of it" in notes_of(
        tmp_path, guest() | cache(3, 3, "Unified", 32768, range(4))
    )


def test_contradictions_are_said(tmp_path: Path) -> None:
    small = notes_of(tmp_path / "small", xeon() | cache(3, 3, "Unified", 512, range(16)))
    assert "the L3 cache is reported to be no larger than the L2 cache (0.5 MiB and 1 MiB)" in small
    files = xeon()
    files[f"{CPUS}/cpu4/cache/index3/shared_cpu_list"] = "0-7\n"
    assert "L3 caches contradict each other" in notes_of(tmp_path / "overlap", files)
    gap = {path: text for path, text in xeon().items() if "cache/index2" not in path}
    assert "no L2 cache is reported though L3 is" in notes_of(tmp_path / "gap", gap)


def test_nodes_that_do_not_add_up_to_the_system_are_said(tmp_path: Path) -> None:
    files = guest() | node_directory(0, range(4), 3 << 20, "10")
    assert "the NUMA nodes hold 3.0 GiB by their own count, the system 8.0 GiB" in notes_of(
        tmp_path, files
    )


def test_a_sound_machine_has_no_notes(tmp_path: Path) -> None:
    assert notes_of(tmp_path / "xeon", xeon()) == ""
    assert notes_of(tmp_path / "hybrid", hybrid()) == ""


def test_sizes() -> None:
    assert parse_size("32768K") == 32 << 20
    assert parse_size("1M") == 1 << 20
    assert parse_size("512") == 512
    for text in ("", "K", "-1K", "1.5M", "many"):
        assert parse_size(text) is None
