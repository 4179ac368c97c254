"""A store gives back what was added, by any number of writers, before and after compacting."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path

import pytest
from tests.unit.store.nights import of_night, usual_records

from memgauge.analysis.figures.run import figures_of
from memgauge.model.errors import RequestError, RunFileError
from memgauge.model.records import AnyRecord
from memgauge.model.run import Run, run_of
from memgauge.reports.export.figures import COLUMNS, figure_rows
from memgauge.store import compact as compacting
from memgauge.store import query as querying
from memgauge.store.add import add
from memgauge.store.compact import compact
from memgauge.store.layout import MARKER, files_of, is_store, month_path, run_path
from memgauge.store.query import query
from memgauge.store.rows import RUN_COLUMNS, STORE_COLUMNS, rows_of

pl = pytest.importorskip("polars")


@pytest.fixture(scope="module")
def usual() -> list[AnyRecord]:
    return usual_records()


def run(usual: list[AnyRecord], run_id: str = "abc", day: str = "2026-01-02") -> Run:
    return run_of(of_night(usual, run_id, day))


def values(store: Path, **asked: object) -> dict[str, dict[str, float]]:
    """By run, of each figure."""
    runs, observations = query(store, **asked)  # type: ignore[arg-type]
    found: dict[str, dict[str, float]] = {one.run: {} for of in runs.values() for one in of}
    for one in observations:
        assert one.key[0] not in found[one.run], "a figure counts twice"
        found[one.run][one.key[0] + one.key[1]] = one.value
    return found


def test_columns_are_those_of_exported_figures_and_of_the_run(usual: list[AnyRecord]) -> None:
    assert list(STORE_COLUMNS) == [*COLUMNS, *RUN_COLUMNS]
    one = run(usual)
    rows = rows_of(one, "node")
    assert [list(row) for row in rows] == [list(STORE_COLUMNS)] * len(rows)
    exported = [{name: row[name] for name in COLUMNS} for row in figure_rows(figures_of(one))]
    assert [{name: row[name] for name in COLUMNS} for row in rows] == exported


def test_what_was_added_is_found(usual: list[AnyRecord], tmp_path: Path) -> None:
    store = tmp_path / "store"
    path = add(store, "node1", run(usual))
    assert path == run_path(store, "node1", "2026-01-02", "abc")
    add(store, "node2", run(usual, "other", "2026-02-01"))
    before = values(store)
    assert set(before) == {"abc", "other"}
    assert before["abc"] == before["other"]
    assert len(before["abc"]) > 10
    frame = pl.read_parquet(path, hive_partitioning=False)
    assert frame.schema["day"] == pl.Date
    assert frame.schema["started_at"] == pl.Datetime("us", "UTC")
    assert values(store, machines=["node2"]) == {"other": before["other"]}
    assert set(values(store, since=timedelta(days=5))) == {"other"}
    only = values(store, is_kept=lambda name, machines: machines == 2 and "triad" in name)
    assert only["abc"]
    assert all("triad" in name for name in only["abc"])


def test_compacting_changes_no_answer(usual: list[AnyRecord], tmp_path: Path) -> None:
    store = tmp_path / "store"
    for at in range(4):
        add(store, f"node{at % 2}", run(usual, f"run{at}", f"2026-0{1 + at // 2}-02"))
    before = values(store)
    done = compact(store)
    assert (done.months, done.files) == (2, 4)
    assert files_of(store).runs == []
    assert not list(store.glob("machine=*"))
    assert values(store) == before
    add(store, "node0", run(usual, "late", "2026-02-03"))
    add(store, "node0", run(usual, "run2", "2026-02-02"))  # again: it counts once
    after = values(store)
    assert set(after) == {*before, "late"}
    assert compact(store).files == 3
    assert values(store) == after
    assert compact(store).files == 0
    assert values(store, machines=["node1"]).keys() == {"run1", "run3"}


def test_a_compaction_that_was_killed_leaves_a_store_that_reads_the_same(
    usual: list[AnyRecord], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    for at in range(2):
        add(store, "node", run(usual, f"run{at}"))
        compact(store)
    add(store, "node", run(usual, "run2"))
    before = values(store)
    with monkeypatch.context() as patched:
        patched.setattr(compacting, "_remove", lambda _path: False)
        compact(store)
    found = files_of(store)
    assert len(found.runs) == len(found.outdated) == 1
    assert values(store) == before
    compact(store)
    assert files_of(store).outdated == []
    assert values(store) == before


def test_a_reader_starts_again_if_files_were_compacted_meanwhile(
    usual: list[AnyRecord], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    add(store, "node", run(usual))
    listed = files_of(store)
    compact(store)
    answers = iter([listed])
    monkeypatch.setattr(
        querying, "files_of", lambda *asked: next(answers, None) or files_of(*asked)
    )
    assert set(values(store)) == {"abc"}


def test_a_second_compaction_is_refused(usual: list[AnyRecord], tmp_path: Path) -> None:
    store = tmp_path / "store"
    add(store, "node", run(usual))
    with (
        compacting._alone(store),
        pytest.raises(RequestError, match="another compaction is at work"),
    ):
        compact(store)


def test_many_writers_lose_nothing(usual: list[AnyRecord], tmp_path: Path) -> None:
    store = tmp_path / "store"
    runs = [run(usual, f"run{at}") for at in range(8)]
    threads = [threading.Thread(target=add, args=(store, "node", one)) for one in runs]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(files_of(store).runs) == 8
    assert not list(store.rglob("*.part"))


def test_a_directory_with_something_else_is_not_made_a_store(
    usual: list[AnyRecord], tmp_path: Path
) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(RequestError, match="holds something else than a store"):
        add(tmp_path, "node", run(usual))
    assert not is_store(tmp_path)


def test_a_run_without_figures_is_not_added(usual: list[AnyRecord], tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="has no figures to add"):
        add(tmp_path / "store", "node", run_of([usual[0]]))
    assert not (tmp_path / "store").exists()


def test_a_link_in_the_store_is_not_followed(usual: list[AnyRecord], tmp_path: Path) -> None:
    store, elsewhere = tmp_path / "store", tmp_path / "elsewhere"
    add(store, "node", run(usual))
    elsewhere.mkdir()
    (store / "machine=other").symlink_to(elsewhere)
    with pytest.raises(Exception, match="cannot be written"):
        add(store, "other", run(usual, "two"))
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"{}", "does not mark a store"), (b'{"format_version":9}', "a later memgauge")],
)
def test_a_marker_that_cannot_be_read_is_refused(
    content: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / MARKER).write_bytes(content)
    with pytest.raises(RunFileError, match=message):
        query(tmp_path)


def test_an_empty_store_and_a_foreign_file_are_one_line(
    usual: list[AnyRecord], tmp_path: Path
) -> None:
    store = tmp_path / "store"
    add(store, "node", run(usual))
    with pytest.raises(RequestError, match="holds no runs of nobody"):
        query(store, machines=["nobody"])
    month_path(store, "2026-01", 1).parent.mkdir(parents=True)
    month_path(store, "2026-01", 1).write_bytes(b"not parquet")
    with pytest.raises(RunFileError, match="a file of the store cannot be read") as refused:
        query(store)
    assert "\n" not in str(refused.value)


def test_names_of_runs_cannot_leave_the_store() -> None:
    path = run_path(Path("store"), "node", "2026-01-02", "../../etc/passwd")
    assert path.parent == Path("store/machine=node/day=2026-01-02")
    assert "/" not in path.name
