"""Every seed and every finding that was kept goes through its target, without a fuzzer."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from tests.fuzz import corpora, json_lines
from tests.fuzz.archive import packed, parts_of
from tests.fuzz.campaign import Row, _count, table
from tests.fuzz.planted import LINK, Planted
from tests.fuzz.targets import NAMES, load

MOST_KEPT_BYTES = 1 << 20
SEEDS = 300


@pytest.mark.parametrize("name", NAMES)
def test_seeds_and_findings_are_read_or_refused(name: str) -> None:
    target = load(name)
    count = 0
    for label, data in corpora.inputs(target, name):
        count += 1
        try:
            target.run(data)
        except Exception as error:  # noqa: BLE001 - any is a failure, told with its input
            pytest.fail(f"{name}, {label}: {error!r}")
    assert count > len(corpora.kept(name))


def test_what_is_kept_belongs_to_a_target_and_is_small() -> None:
    native = {path.stem.removeprefix("fuzz_") for path in corpora.ROOT.glob("core/fuzz/fuzz_*.cpp")}
    directories = [path for path in corpora.KEPT.iterdir() if path.is_dir()]
    assert {path.name for path in directories} <= {*NAMES, *native}
    sizes = [path.stat().st_size for at in directories for path in at.iterdir()]
    assert sum(sizes) < MOST_KEPT_BYTES


def test_parts_come_back_from_an_archive() -> None:
    parts = [("a/b", b"x\n== y"), ("c", b""), ("d", b"\n\n"), ("e", b"\xff\0")]
    assert parts_of(packed(parts)) == [("a/b", b"x"), ("y", b""), *parts[1:]]
    assert parts_of(b"no part") == []


def test_a_planted_tree_holds_the_latest_files_alone(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    place = Planted(root)
    place.plant({"/a/b": b"1", "c": b"2", "../up": b"3", "a/b/d": b"4", "l": LINK + b"/c"})
    assert (root / "a/b/d").read_bytes() == b"4"
    assert (root / "l").read_bytes() == b"2"
    assert not (root.parent / "up").exists()
    place.plant({"a": b"5"})
    assert [path.relative_to(root).as_posix() for path in root.rglob("*")] == ["a"]


def test_mutants_of_json_are_json() -> None:
    data = b'{"torn\n12\n{"a":[1,2.5,null,{"b":"c"}],"d":true}\n3'
    for seed in range(SEEDS):
        for line in (json_lines.mutated(data, seed) or b"").split(b"\n"):
            if line.startswith(b'{"') and line != b'{"torn':
                json.loads(line)
    assert json_lines.mutated(b"torn", random.randrange(9)) is None


def test_the_table_tells_what_the_engine_printed() -> None:
    row = Row(name="texts", seconds=10.0)
    _count(row, "#2\tINITED cov: 3 ft: 4 corp: 1/2b\n#9\tNEW    cov: 33 ft: 44 corp: 5/6Kb lim: 9\n"
           "stat::number_of_executed_units: 1000\n")  # fmt: skip
    assert list(table([row]))[1].split() == ["texts", "1000", "100", "33", "44", "5", "0"]
