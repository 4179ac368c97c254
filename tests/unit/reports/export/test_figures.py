"""The figures of a run as a table."""

import io
import json
import sys

import polars as pl
import pytest
from tests.unit.analysis.runs import records, whole_run

from memgauge.analysis.figures.run import figures_of
from memgauge.model.errors import RequestError
from memgauge.model.records import Sample
from memgauge.model.run import Run, run_of
from memgauge.reports.export.figures import COLUMNS, FigureTable
from memgauge.reports.export.formats import export_arrow, export_csv, export_json, export_parquet


@pytest.fixture(scope="module")
def run() -> Run:
    return whole_run()


def test_each_point_has_a_row_in_each_regime_with_the_figure_of_the_analysis(run: Run) -> None:
    figures = figures_of(run)
    rows = FigureTable(figures).to_dicts()
    assert len(rows) == sum(len(figures.summaries[name]) for name in run.points)
    near, far = [row for row in rows if row["point"] == "stream/triad/tuned/double/2t"]
    summaries = figures.summaries["stream/triad/tuned/double/2t"]
    for row, summary in zip((near, far), summaries, strict=True):
        assert summary.sustained is not None
        assert (row["value"], row["low"]) == (summary.sustained.value, summary.sustained.low)
        assert row["regime"] == summary.regime
        assert row["requested.kernel"] == "triad"
    assert near["share"] + far["share"] == pytest.approx(1.0)  # type: ignore[operator]


def test_a_figure_without_an_interval_has_no_ends_and_none_without_samples() -> None:
    few = [r for r in records() if not isinstance(r, Sample) or r.round < 2]
    row = FigureTable(figures_of(run_of(few))).to_dicts()[0]
    assert row["value"] is not None
    assert row["low"] is row["high"] is None
    bare = [r for r in records() if not isinstance(r, Sample)]
    assert {row["value"] for row in FigureTable(figures_of(run_of(bare)))} == {None}


def test_all_forms_hold_the_same_table(run: Run) -> None:
    table = FigureTable(figures_of(run))
    rows = table.to_dicts()
    assert table.columns[: len(COLUMNS)] == list(COLUMNS)
    assert len(table) == len(rows)
    assert json.loads(export_json(run, "figures")) == rows
    assert export_csv(run, "figures").count(b"\n") == len(rows) + 1
    frame = table.to_polars()
    assert frame.to_dicts() == rows
    assert frame.schema["value"] == pl.Float64
    assert frame.schema["reached"] == pl.Boolean
    for made, read in ((export_parquet, pl.read_parquet), (export_arrow, pl.read_ipc)):
        assert read(io.BytesIO(made(run, "figures"))).equals(frame)


def test_a_table_can_be_changed_without_changing_the_next(run: Run) -> None:
    table = FigureTable(figures_of(run))
    table.to_dicts()[0]["value"] = 0.0
    assert table.to_dicts()[0]["value"] != 0.0
    assert repr(table) == f"<{len(table)} figures of run abc>"


def test_without_pandas_the_remedy_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(RequestError, match="pip install pandas"):
        FigureTable(figures_of(run)).to_pandas()
