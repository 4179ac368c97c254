"""Bandwidth-latency curves: written, and read again by the readers of other tools' files."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.unit.analysis import runs
from tests.unit.analysis.loaded.runs import Traffic, loaded_records

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.loaded.measured import measured_curves
from memgauge.commands.export import command
from memgauge.model.errors import RequestError
from memgauge.model.records import MeasuredCurve
from memgauge.model.run import Run, run_of
from memgauge.model.storage.curve_files import MESS_PERCENTAGES, NOTE_NAME, mess_name
from memgauge.model.storage.run_file import read_run
from memgauge.model.storage.run_writer import RunWriter
from memgauge.references.foreign.files import read_foreign
from memgauge.reports.export.curves import mess_files
from memgauge.reports.export.registry import exported

LOADS = [
    Traffic(),
    Traffic(read_share=0.5, store="temporal", peak_gb_per_s=30.0),
    Traffic(read_share=0.5, store="non-temporal", peak_gb_per_s=40.0),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    place = tmp_path_factory.mktemp("run") / "loaded"
    with RunWriter(place) as writer:
        writer.write(loaded_records(LOADS, rounds=20))
    return read_run(place)


@pytest.fixture(scope="module")
def measured(run: Run) -> list[MeasuredCurve]:
    return sorted(measured_curves(figures_of(run)), key=lambda curve: curve.read_share)


def export(run: Run, *words: object) -> Result:
    arguments = [str(run.directory), *map(str, words)]
    return CliRunner().invoke(command, arguments, standalone_mode=False)


def test_a_simulator_finds_every_file_with_the_highest_load_first(
    run: Run, tmp_path: Path, measured: list[MeasuredCurve]
) -> None:
    done = export(run, "--format", "mess", "--output", tmp_path / "curves")
    assert done.exception is None
    assert "52 files; README.txt there says" in done.stderr
    names = {path.name for path in (tmp_path / "curves").iterdir()}
    assert names == {*map(mess_name, MESS_PERCENTAGES), NOTE_NAME}
    files = {name: (tmp_path / "curves" / name).read_text(encoding="utf-8") for name in names}
    # Half of what is written by ordinary stores is read first: 50% issued are 67% moved.
    assert [round(curve.read_share, 2) for curve in measured] == [0.5, 0.67, 1.0]
    for percent, curve in (
        (0, measured[0]),
        (50, measured[0]),
        (66, measured[1]),
        (98, measured[2]),
    ):
        points = [
            tuple(map(float, line.split())) for line in files[mess_name(percent)].splitlines()
        ]
        for (rate, latency), one in zip(points, reversed(curve.points), strict=True):
            assert rate == pytest.approx(1e3 * one.gb_per_s, abs=1e-3)
            assert latency == pytest.approx(one.latency_ns, abs=1e-3)
        assert [rate for rate, _ in points] == sorted((rate for rate, _ in points), reverse=True)
    assert "measured percentages of reads: 50, 66, 100\n" in files[NOTE_NAME]


def test_curves_come_back_from_mess_files(
    run: Run, tmp_path: Path, measured: list[MeasuredCurve]
) -> None:
    for name, content in mess_files(run).items():
        (tmp_path / name).write_bytes(content)
    found = read_foreign(tmp_path)
    assert found is not None
    known = {one.name: one.value for one in found.figures}
    points = sum(len(curve.points) for curve in measured)
    assert len(known) == 2 * points + 2
    for percent, curve in zip((50, 66, 100), measured, strict=True):
        for at, point in enumerate(curve.points):
            name = f"mess/{percent}r/p{at}"
            assert known[name] == pytest.approx(point.latency_ns, abs=1e-3)
            assert known[f"{name}/traffic"] == pytest.approx(point.gb_per_s, abs=1e-6)
    assert {one.statistic for one in found.figures} == {"median"}


@pytest.mark.parametrize("form", ["csv-curve", "ramulator"])
def test_curves_come_back_from_tables(
    run: Run, tmp_path: Path, measured: list[MeasuredCurve], form: str
) -> None:
    path = tmp_path / "curves.csv"
    assert export(run, "--format", form, "--output", path).exception is None
    found = read_foreign(path)
    assert found is not None
    known = {one.name: one.value for one in found.figures}
    assert len(known) == 2 * sum(len(curve.points) for curve in measured) + 2
    reads = measured[-1].points
    assert known["loaded/100r/unloaded"] == reads[0].latency_ns
    assert known["loaded/100r/least-delay/traffic"] == reads[-1].gb_per_s
    assert sorted(known.values()) == sorted(
        [value for c in measured for p in c.points for value in (p.gb_per_s, p.latency_ns)]
        + [reads[0].latency_ns, reads[-1].gb_per_s]
    )


def test_ramulators_table_has_the_columns_of_its_own_plot(run: Run) -> None:
    lines = export(run, "--format", "ramulator").stdout.splitlines()
    assert lines[0] == "Label,Bandwidth (GB/s),Avg Random Read Latency (ns)"
    assert {line.split(",")[0] for line in lines[1:]} == {"50% reads", "67% reads", "100% reads"}


def test_what_cannot_be_written_is_refused(run: Run, tmp_path: Path) -> None:
    error = export(run, "--format", "mess").exception
    assert isinstance(error, RequestError)
    assert "52 files; name a directory by --output" in str(error)
    error = export(run, "--format", "mess", "--table", "figures", "--output", tmp_path).exception
    assert isinstance(error, RequestError)
    assert "leave --table out" in str(error)
    with pytest.raises(RequestError, match="no curve of latency under load"):
        mess_files(run_of(runs.records(rounds=2)))
    with pytest.raises(RequestError, match="--table out"):
        exported(run, "csv-curve", "samples")
