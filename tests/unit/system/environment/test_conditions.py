import itertools
import os
import sys
from pathlib import Path

import pytest
from tests.unit.system.trees import CPUS, Files, guest, plant, xeon

from memgauge.model.errors import SystemFailure
from memgauge.system.environment.clock import clock_record, stamp_clock
from memgauge.system.environment.conditions import (
    EnvironmentMonitor,
    parse_cpu_times,
    parse_pressure,
)
from memgauge.system.environment.software import software_versions

TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def stat(*columns: int) -> Files:
    return {"/proc/stat": "cpu  " + " ".join(map(str, columns)) + "\ncpu0 1 1 1 1\n"}


def monitor(root: Path, files: Files, cpus: list[int]) -> EnvironmentMonitor:
    seconds = itertools.count(5_000_000_000, 1_000_000_000)
    return EnvironmentMonitor(cpus, lambda: next(seconds), tree=plant(root, files))


def test_differences_since_the_last_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = iter([1.0, 1.25, 2.0])
    monkeypatch.setattr(
        "memgauge.system.environment.conditions.time.process_time", lambda: next(own)
    )
    before = xeon() | stat(100, 10, 50, 999, 7, 3, 2, 20, 55, 0)
    with monitor(tmp_path, before, [0]) as watched:
        plant(tmp_path, stat(200, 20, 60, 999, 9, 4, 4, 25, 77, 0))
        first = watched.sample()
        assert first.at_ns == 6_000_000_000
        assert first.interval_s == pytest.approx(1.0)
        assert first.steal_s == pytest.approx(5 * TICK_S)
        # guest time (the ninth column) is part of user time and must not count twice
        assert first.others_s == pytest.approx((100 + 10 + 10 + 1 + 2) * TICK_S - 0.25)
        assert first.load_1min == 1.25
        second = watched.sample()
        assert second.steal_s == 0.0
        assert second.others_s == 0.0  # less than nothing is the rounding to ticks


def test_a_programs_time_is_not_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memgauge.system.environment.conditions.time.process_time", lambda: 0.0)
    with monitor(tmp_path, xeon() | stat(100, 0, 0, 0, 0, 0, 0), []) as watched:
        plant(tmp_path, stat(200, 0, 0, 0, 0, 0, 0))
        assert watched.sample(40 * TICK_S).others_s == pytest.approx(60 * TICK_S)
        plant(tmp_path, stat(300, 0, 0, 0, 0, 0, 0))
        assert watched.sample(None).others_s is None


def test_pressure_is_the_time_in_which_some_task_waited(tmp_path: Path) -> None:
    line = "some avg10=1.00 avg60=0.00 avg300=0.00 total={}\nfull avg10=0.00 total=0\n"
    before = xeon() | stat(1) | {"/proc/pressure/cpu": line.format(2_000_000)}
    with monitor(tmp_path, before, []) as watched:
        plant(tmp_path, {"/proc/pressure/cpu": line.format(2_250_000)})
        sample = watched.sample()
    assert sample.cpu_pressure_s == pytest.approx(0.25)
    assert (sample.memory_pressure_s, sample.io_pressure_s) == (None, None)
    assert [parse_pressure(text) for text in (b"", b"some total=x", b"full total=1")] == [None] * 3


def test_counters_that_step_back_are_no_time(tmp_path: Path) -> None:
    with monitor(tmp_path, xeon() | stat(100, 0, 0, 0, 0, 0, 0, 9), []) as watched:
        plant(tmp_path, stat(50, 0, 0, 0, 0, 0, 0, 4))
        sample = watched.sample()
    assert (sample.steal_s, sample.others_s) == (0.0, 0.0)


def test_steal_is_unknown_until_a_guest_has_seen_any(tmp_path: Path) -> None:
    with monitor(tmp_path, guest() | stat(1, 0, 0, 0, 0, 0, 0, 0), []) as watched:
        assert watched.sample().steal_s is None
        plant(tmp_path, stat(1, 0, 0, 0, 0, 0, 0, 3))
        assert watched.sample().steal_s == pytest.approx(3 * TICK_S)


def test_on_bare_metal_no_steal_is_none_stolen(tmp_path: Path) -> None:
    with monitor(tmp_path, xeon() | stat(1, 0, 0, 0, 0, 0, 0, 0), []) as watched:
        assert watched.sample().steal_s == 0.0


def test_frequency_is_the_mean_of_the_cpus_asked(tmp_path: Path) -> None:
    files = xeon()
    for cpu, khz in ((0, 3_000_000), (1, 2_000_000), (2, 800_000)):
        files[f"{CPUS}/cpu{cpu}/cpufreq/scaling_cur_freq"] = f"{khz}\n"
    with monitor(tmp_path, files, [0, 1, 7]) as watched:
        assert watched.sample().frequency_khz == 2_500_000


def test_what_is_hidden_is_none(tmp_path: Path) -> None:
    with monitor(tmp_path, {}, [0]) as watched:
        sample = watched.sample()
    assert (sample.steal_s, sample.others_s) == (None, None)
    assert (sample.load_1min, sample.frequency_khz) == (None, None)


def test_closing_frees_all_files_and_may_be_repeated(tmp_path: Path) -> None:
    """Of pressures none is kept open."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    line = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n"
    pressures = {f"/proc/pressure/{name}": line for name in ("cpu", "memory", "io")}
    watched = monitor(tmp_path, xeon() | pressures, [0, 1])
    assert len(list(Path("/proc/self/fd").iterdir())) == before + 2
    watched.close()
    watched.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("text", [b"", b"cpu", b"cpu  x 1 2 3\n", b"intr 1 2\n", b"cpu  1 2 3"])
def test_a_stat_that_tells_nothing(text: bytes) -> None:
    assert parse_cpu_times(text, 100) == (None, None)


def test_this_machine_is_watched() -> None:
    with EnvironmentMonitor([0]) as watched:
        sample = watched.sample()
    assert sample.interval_s >= 0
    assert sample.others_s is not None


def test_versions_are_told() -> None:
    versions = software_versions()
    assert {"memgauge", "kernel", "python"} <= set(versions)
    assert all(versions.values())


def test_the_clock_of_a_machine_without_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "memgauge._core", None)
    with pytest.raises(SystemFailure, match=r"without the native core: .*; run 'pip install"):
        clock_record()
    assert stamp_clock()() > 0
    assert "compiler" not in software_versions()


@pytest.mark.native
def test_the_clock_of_the_core() -> None:
    record = clock_record()
    assert record.ns_per_tick > 0
    now = stamp_clock()
    assert now() <= now()
