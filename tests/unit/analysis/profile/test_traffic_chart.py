"""Measured traffic by phase: means that lie within their ranges; no picture without traffic."""

from pathlib import Path

import pytest
from tests.unit.analysis.profile.runs import (
    MS,
    Made,
    S,
    cpu_time,
    every,
    profile,
    ran,
    reads,
    sampled,
    steps,
    writes,
)

from memgauge.analysis.profile.phases import roles_of
from memgauge.analysis.profile.section import profile_of
from memgauge.analysis.profile.traffic_chart import traffic_chart
from memgauge.analysis.section import Chart
from memgauge.model.counting.events import Counter

LINE = 64.0


def chart(
    directory: Path, counters: list[Counter], *rates: list[tuple[float, float]]
) -> Chart | None:
    directory.mkdir(exist_ok=True)
    samples = sampled([steps(*one) for one in rates], counters, every(10 * MS, 20 * S))
    found = profile_of(profile(directory, Made(counters, samples), process=ran(20.0)))
    assert found.timeline is not None
    return traffic_chart(roles_of(found.timeline), found.phases)


def test_each_phase_has_its_mean_and_its_range(tmp_path: Path) -> None:
    """Reads of 1 and 4 GB/s on each of two sockets, writes of 1 GB/s on one throughout."""
    counters = [reads(0, socket=0), reads(1, socket=1), writes(2, socket=0)]
    rising = [(10.0, 1e9 / LINE), (20.0, 4e9 / LINE)]
    made = chart(tmp_path, counters, rising, rising, [(20.0, 1e9 / LINE)])
    assert made is not None
    read, written = made.series
    assert (read.name, written.name) == ("read", "written")
    assert len(read.x) == len(set(read.x)) == 2
    assert read.y == pytest.approx([2.0, 8.0], rel=0.01)
    assert written.y == pytest.approx([1.0, 1.0], rel=0.01)
    for series in made.series:
        assert series.low is not None
        assert series.high is not None
        for low, mean, high in zip(series.low, series.y, series.high, strict=True):
            assert low is not None
            assert mean is not None
            assert high is not None
            assert low * 0.999 <= mean <= high * 1.001
    assert read.high is not None
    assert read.high[0] is not None
    assert read.high[0] < 3.0, "what is read at the border of the phases is in neither range"


def test_one_phase_and_no_traffic_are_no_picture(tmp_path: Path) -> None:
    steady = [(20.0, 1e9 / LINE)]
    assert chart(tmp_path / "one", [reads(0), writes(1)], steady, steady) is None
    busy_then_idle = [(10.0, 1e9), (20.0, 0.0)]
    assert chart(tmp_path / "none", [cpu_time(0)], busy_then_idle) is None
