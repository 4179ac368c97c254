"""Where a limit is low, vl-convert is tried in another process, which alone it may end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.reports.synthetic import survey

import memgauge
from memgauge.model.errors import RequestError
from memgauge.reports.charts import files as figures
from memgauge.reports.charts import package_trial
from memgauge.reports.html import page as html

PROGRAM = """
import resource, sys
from memgauge.reports.charts.package_trial import obstacle
number, limit = getattr(resource, sys.argv[1]), int(sys.argv[2])
resource.setrlimit(number, (limit, resource.getrlimit(number)[1]))
print(obstacle(sys.argv[3]))
"""
GIB = 1 << 30
SOURCE = Path(memgauge.__file__).parents[1]


def obstacle_under(limit: str, value: int, task: str = "picture") -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, limit, str(value), task],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.strip()


def test_addresses_that_the_engine_cannot_reserve_are_named() -> None:
    pytest.importorskip("vl_convert")
    said = obstacle_under("RLIMIT_AS", 2 * GIB)
    assert said.endswith("limits of this process: address space 2097152 (ulimit -v)")


def test_few_descriptors_are_named() -> None:
    pytest.importorskip("vl_convert")
    assert "open files 8 (ulimit -n)" in obstacle_under("RLIMIT_NOFILE", 8)


def test_a_limit_that_leaves_enough_is_none() -> None:
    pytest.importorskip("vl_convert")
    assert obstacle_under("RLIMIT_AS", 1 << 40) == "None"


def test_the_script_needs_less_than_pictures() -> None:
    pytest.importorskip("vl_convert")
    assert obstacle_under("RLIMIT_AS", 3 * GIB, "script") == "None"


def test_parquet_needs_what_polars_needs() -> None:
    pytest.importorskip("polars")
    said = obstacle_under("RLIMIT_AS", 100 << 20, "parquet")
    assert (
        said == "polars does not work within the limits of this process: address space 102400 "
        "(ulimit -v)"
    )


def test_without_low_limits_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_trial, "_LIMITS", ())
    monkeypatch.setattr(subprocess, "run", None)
    assert package_trial.obstacle.__wrapped__("picture") is None


def test_a_page_without_its_script_has_tables_and_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused() -> str:
        raise RequestError("cannot draw charts: address space 500000 (ulimit -v)")

    monkeypatch.setattr(figures, "javascript", refused)
    page = html.render(survey())
    assert "No charts: cannot draw charts: address space 500000 (ulimit -v)." in page
    assert "<table>" in page
    assert "<script" not in page
