"""`import memgauge`: the same runs as on the command line, as objects."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.analysis.cluster.nodes import manifest

import memgauge
from memgauge.cluster.combined import write_manifest
from memgauge.model.errors import RequestError, RunFileError


@pytest.mark.native
def test_a_run_is_measured_loaded_and_rendered(tmp_path: Path) -> None:
    result = memgauge.stream(
        kernel=("copy",),
        threads=1,
        array_bytes=8 << 20,
        budget="1s",
        output=str(tmp_path / "run"),
    )
    assert result.directory == tmp_path / "run"
    again = memgauge.load(tmp_path / "run")
    assert again.document() == result.document()
    assert again.text() == result.text()
    assert "copy" in result.text()
    assert result.html().startswith("<!doctype html>")
    assert not result.failed_validations


@pytest.mark.native
def test_unknown_options_are_named(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="treads"):
        memgauge.stream(treads=1, output=str(tmp_path / "run"))  # type: ignore[call-arg]


def test_a_run_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RunFileError):
        memgauge.load(tmp_path / "nowhere")


def test_combined_runs_are_loaded_by_a_function_of_their_own(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest(["one"]))
    assert "one has no figures" in memgauge.combined(tmp_path).text()
    with pytest.raises(RunFileError, match="a combined run of many nodes; give the run of one"):
        memgauge.load(tmp_path)
    with pytest.raises(RunFileError):
        memgauge.combined(tmp_path / "nowhere")


def test_names_are_those_promised() -> None:
    assert set(memgauge.__all__) <= set(dir(memgauge))
    with pytest.raises(AttributeError, match="no attribute 'bandwith'"):
        _ = memgauge.bandwith  # type: ignore[attr-defined]


def test_errors_are_caught_by_the_name_the_package_gives() -> None:
    with pytest.raises(memgauge.MemgaugeError, match="nowhere"):
        memgauge.load("nowhere")
