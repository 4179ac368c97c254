import csv
import io
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest
from tests.unit.model import build

from memgauge.model.errors import RequestError
from memgauge.model.records import AnyRecord, OtherThreads
from memgauge.model.run import Run, run_of
from memgauge.reports.export.formats import export_csv, export_json, export_parquet
from memgauge.reports.export.registry import EXPORTERS, exported, formats_help
from memgauge.reports.export.tables import columns


@pytest.fixture
def run() -> Run:
    return run_of(build.records())


def csv_rows(made: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(made.decode())))


def with_text(text: str) -> Run:
    point = msgspec.structs.replace(build.triad(), actual={"note": text, "offset": -5})
    return run_of([build.start(), point, build.sample(point, 0)])


def test_every_iteration_of_every_thread_has_a_row(run: Run) -> None:
    stamps = [
        begin
        for samples in run.samples.values()
        for sample in samples
        for thread in sample.threads
        for begin in thread.begin_ns
    ]
    rows = csv_rows(export_csv(run))
    assert [int(row["begin_ns"]) for row in rows] == stamps
    assert all(int(row["end_ns"]) - int(row["begin_ns"]) == int(row["duration_ns"]) for row in rows)


def test_threads_whose_stamps_are_not_recorded_have_one_row_of_sums() -> None:
    point = msgspec.structs.replace(build.triad(20), work="counted")
    others = OtherThreads(threads=19, involuntary_switches=3, page_faults=2, read_bytes=80)
    whole = build.sample(point, 0)
    sample = msgspec.structs.replace(whole, threads=whole.threads[7:8], others=others)
    *stamped, sums = json.loads(export_json(run_of([build.start(), point, sample])))
    assert [(row["rank"], row["cpu"], row["other_threads"]) for row in stamped] == 2 * [
        (None, 7, None)
    ]
    assert sums["cpu"] is sums["begin_ns"] is sums["iteration"] is None
    assert sums["other_threads"] == 19
    assert (sums["involuntary_switches"], sums["page_faults"]) == (3, 2)
    assert (sums["read_bytes"], sums["write_bytes"]) == (80, 0)


def test_what_was_not_measured_is_empty_and_not_zero(run: Run) -> None:
    rows = csv_rows(export_csv(run))
    latency = [row for row in rows if row["quantity"] == "latency"]
    assert latency
    for row in latency:
        assert row["accesses"] == "1000"
        assert row["bytes_counted"] == row["bytes_moved"] == row["pingpong_ns"] == ""
        assert row["requested.kernel"] == ""
    objects = json.loads(export_json(run))
    assert all(one["cycles_per_ns"] is None for one in objects)


def test_the_three_formats_hold_the_same_table(run: Run) -> None:
    objects: list[dict[str, Any]] = json.loads(export_json(run))
    frame = pl.read_parquet(io.BytesIO(export_parquet(run)))
    assert frame.columns == columns(run) == list(objects[0])
    assert frame.to_dicts() == objects
    for row, one in zip(csv_rows(export_csv(run)), objects, strict=True):
        for name, value in one.items():
            shown = "" if value is None else str(value)
            assert row[name] == (shown.lower() if isinstance(value, bool) else shown)


def test_columns_have_their_type_even_where_nothing_was_measured(run: Run) -> None:
    frame = pl.read_parquet(io.BytesIO(export_parquet(run)))
    assert frame.schema["cycles_per_ns"] == pl.Float64
    assert frame.schema["begin_ns"] == pl.Int64
    assert frame.schema["actual.tuned"] == pl.Boolean


def test_a_column_of_mixed_values_is_text() -> None:
    points = [
        msgspec.structs.replace(build.triad(n), requested={"x": x, "y": y})
        for n, (x, y) in enumerate([("auto", 1), (64, 2.5)], start=1)
    ]
    run = run_of([build.start(), *points, *(build.sample(point, 0) for point in points)])
    frame = pl.read_parquet(io.BytesIO(export_parquet(run)))
    assert frame["requested.x"].unique(maintain_order=True).to_list() == ["auto", "64"]
    assert frame["requested.y"].unique(maintain_order=True).to_list() == [1.0, 2.5]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\u200b=1"])
def test_text_never_becomes_a_formula(text: str) -> None:
    row = csv_rows(export_csv(with_text(text)))[0]
    assert row["actual.note"].startswith("'")
    assert row["actual.offset"] == "-5"
    assert json.loads(export_json(with_text(text)))[0]["actual.note"] == text


def test_csv_text_cannot_break_rows_or_steer_a_terminal() -> None:
    made = export_csv(with_text('a"b,c\nd\x1b[2Je'))
    rows = csv_rows(made)
    assert len(rows) == 4
    assert rows[0]["actual.note"] == 'a"b,c de'
    assert b"\x1b" not in made


def test_the_leg_of_a_sample_tells_whose_clock_its_stamps_are_on() -> None:
    point = build.triad(1)
    first: list[AnyRecord] = [build.start(), point, build.sample(point, 0)]
    run = run_of([*first, build.start(resumed=True), build.sample(point, 1)])
    rows = csv_rows(export_csv(run))
    assert [(row["leg"], row["round"]) for row in rows] == [("0", "0")] * 2 + [("1", "1")] * 2


def loaded() -> Run:
    """A probe whose loads are timed one by one, and the traffic beside it, which counts."""
    probe = msgspec.structs.replace(build.dram(), point="loaded/100r")
    traffic = msgspec.structs.replace(
        build.triad(2), point="loaded/100r/traffic", work="counted", measured_with=probe.point
    )
    timed = msgspec.structs.replace(build.sample(probe, 0), load_ns=[(95, 7), (104, 2)])
    moved = build.sample(traffic, 0)
    threads = [
        msgspec.structs.replace(thread, read_bytes=640 * at, write_bytes=64)
        for at, thread in enumerate(moved.threads)
    ]
    moved = msgspec.structs.replace(moved, threads=threads)
    return run_of([build.start(), probe, traffic, timed, moved])


def test_counted_work_is_that_of_each_thread_and_absent_elsewhere() -> None:
    rows = csv_rows(export_csv(loaded()))
    assert {(row["work"], row["read_bytes"], row["write_bytes"]) for row in rows} == {
        ("fixed", "", ""),
        ("counted", "0", "64"),
        ("counted", "640", "64"),
    }
    assert {row["measured_with"] for row in rows if row["work"] == "counted"} == {"loaded/100r"}


def test_single_loads_are_a_table_of_their_own() -> None:
    rows = csv_rows(export_csv(loaded(), "loads"))
    assert [(row["point"], row["load_ns"], row["loads"]) for row in rows] == [
        ("loaded/100r", "95", "7"),
        ("loaded/100r", "104", "2"),
    ]
    frame = pl.read_parquet(io.BytesIO(export_parquet(loaded(), "loads")))
    assert frame.to_dicts() == json.loads(export_json(loaded(), "loads"))
    assert frame.schema["load_ns"] == frame.schema["loads"] == pl.Int64
    assert frame["actual.pages"].to_list() == ["thp", "thp"]


ROWS_OF: dict[str, Callable[[bytes], Sequence[object]]] = {
    "csv": csv_rows,
    "json": json.loads,
    "parquet": lambda made: pl.read_parquet(io.BytesIO(made)).rows(),
    "arrow": lambda made: pl.read_ipc(io.BytesIO(made)).rows(),
}


@pytest.mark.parametrize("table", ["samples", "loads"])
@pytest.mark.parametrize("form", ROWS_OF)
def test_a_run_without_samples_is_a_table_without_rows(form: str, table: str) -> None:
    pieces = exported(run_of([build.start(), build.triad()]), form, table)
    assert len(ROWS_OF[form](b"".join(pieces))) == 0


def test_help_and_pages_name_every_format() -> None:
    for name, one in EXPORTERS.items():
        described = f"{name} (needs {one.extra})" if one.extra else name
        assert (described + f", {one.note}" * bool(one.note)) in formats_help()
    docs = Path(__file__).parents[4] / "docs"
    tables = "|".join(name for name, one in EXPORTERS.items() if one.table)
    assert f"--format {tables}`" in (docs / "records.md").read_text(encoding="utf-8")
    profiles = (docs / "profile_reading.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in profiles for name, one in EXPORTERS.items() if one.timeline)
    interchange = (docs / "interchange.md").read_text(encoding="utf-8")
    assert all(f"`--format {name}`" in interchange for name, one in EXPORTERS.items() if one.curves)


def test_without_polars_the_remedy_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(RequestError, match=r"pip install memgauge\[export\]"):
        export_parquet(run)
