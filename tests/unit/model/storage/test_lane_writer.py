"""What this process writes into a lane is what the reader of lanes reads."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge.analysis.watch.rows import rows_of
from memgauge.model.errors import SystemFailure
from memgauge.model.storage.lane_writer import ROWS_PER_BLOCK, LaneWriter

VALUES = st.one_of(st.none(), st.integers(0, 300), st.integers(0, (1 << 63) - 1))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(VALUES, VALUES), max_size=3 * ROWS_PER_BLOCK))
def test_rows_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, values: list[tuple[int | None, int | None]]
) -> None:
    path = tmp_path_factory.mktemp("lane") / "a.lane"
    with LaneWriter(path, 2) as writer:
        for at, row in enumerate(values):
            writer.append(10 * at, 10 * at + 4, row)
    notes: list[str] = []
    read = [(row.begin_ns, row.end_ns, tuple(row.values)) for row in rows_of(path, 2, notes)]
    assert read == [(10 * at, 10 * at + 4, row) for at, row in enumerate(values)]
    assert notes == []
    assert path.stat().st_size == writer.bytes


def test_whole_blocks_are_on_disk_before_the_end(tmp_path: Path) -> None:
    writer = LaneWriter(tmp_path / "a.lane", 1)
    for at in range(ROWS_PER_BLOCK + 5):
        writer.append(at, at, [at])
    assert len([*rows_of(tmp_path / "a.lane", 1, [])]) == ROWS_PER_BLOCK
    writer.close()
    writer.close()
    assert len([*rows_of(tmp_path / "a.lane", 1, [])]) == ROWS_PER_BLOCK + 5


def test_rows_that_hardly_change_take_few_bytes(tmp_path: Path) -> None:
    with LaneWriter(tmp_path / "a.lane", 20) as writer:
        for at in range(3000):
            writer.append(at * 10**9, at * 10**9 + 50_000, [at % 100] + [7] * 19)
    assert writer.bytes < 3000 * 25


def test_a_value_beyond_what_a_lane_holds_is_missing(tmp_path: Path) -> None:
    with LaneWriter(tmp_path / "a.lane", 2) as writer:
        writer.append(1, 2, [1 << 63, -1])
    assert [row.values for row in rows_of(tmp_path / "a.lane", 2, [])] == [[None, None]]


def test_a_file_that_exists_and_a_full_disk_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.lane").touch()
    with pytest.raises(SystemFailure, match=r"a\.lane: cannot be written: File exists"):
        LaneWriter(tmp_path / "a.lane", 1)
