"""A program's own figures are of the time in which it ran, and of no other."""

from pathlib import Path

import msgspec
import pytest
from tests.unit.analysis.profile.runs import MS, Made, cpu_time, gpu_power, of_process, profile
from tests.unit.model.storage.lanes import Sample

from memgauge.analysis.profile.timeline import Timeline, Traced, timeline_of
from memgauge.model.counting.events import Counter
from memgauge.model.record_kinds.programs import Process

HELD, OWN = 8_000_000, 3_000_000


def lived(begin_ns: int, started_ns: int | None, end_ns: int | None) -> Process:
    return Process(
        command=["app"],
        pid=77,
        attached=False,
        begin_ns=begin_ns,
        started_ns=started_ns,
        end_ns=end_ns,
    )


def timeline_(path: Path, samples: list[Sample], process: Process, *of: Counter) -> Timeline:
    made, notes = timeline_of(profile(path, Made(list(of), samples), process=process))
    assert made is not None
    assert not notes
    return made


def one(timeline: Timeline) -> Traced:
    (traced,) = timeline.tracks
    return traced


def levels(*values: int) -> list[Sample]:
    return [[at * 10 * MS, at * 10 * MS, value] for at, value in enumerate(values)]


def test_levels_of_what_waits_to_be_the_program_and_of_what_is_left_are_missing(
    tmp_path: Path,
) -> None:
    samples = levels(HELD, HELD, OWN, OWN, OWN, 0, 0)
    process = lived(5 * MS, 12 * MS, 45 * MS)
    timeline = timeline_(tmp_path, samples, process, of_process(0, "used_bytes"))
    traced = one(timeline)
    assert {traced.low[at] for at in range(timeline.bins)} <= {None, OWN}
    assert traced.mean(0, timeline.bins) == pytest.approx(OWN)
    assert traced.covered_s[-1] == pytest.approx(0.020)


def test_a_reading_between_exit_and_its_stamp_is_no_level_of_the_program(tmp_path: Path) -> None:
    samples = levels(OWN, OWN, OWN, 0, 0)
    timeline = timeline_(tmp_path, samples, lived(0, 0, 35 * MS), of_process(0, "used_bytes"))
    assert one(timeline).mean(0, timeline.bins) == pytest.approx(OWN)


def test_a_program_shorter_than_an_interval_has_no_level_but_all_of_its_counts(
    tmp_path: Path,
) -> None:
    samples: list[Sample] = [[0, 0, HELD, 0], [10 * MS, 10 * MS, 0, 1_500_000]]
    counters = [of_process(0, "used_bytes"), cpu_time(1)]
    timeline = timeline_(tmp_path, samples, lived(4 * MS, 5 * MS, 6 * MS), *counters)
    resident, time = timeline.tracks
    assert resident.mean(0, timeline.bins) is None
    assert timeline.values(resident) == [None] * timeline.bins
    assert time.total(0, timeline.bins) == pytest.approx(0.0015)
    assert time.mean(0, timeline.bins) == pytest.approx(0.75)


def test_levels_of_the_machine_are_there_whoever_runs(tmp_path: Path) -> None:
    samples = levels(100_000, 100_000, 100_000)
    timeline = timeline_(tmp_path, samples, lived(4 * MS, 5 * MS, 16 * MS), gpu_power(0))
    assert one(timeline).mean(0, timeline.bins) == pytest.approx(100.0)
    covered_s = one(timeline).covered_s
    assert covered_s[-1] - covered_s[0] == pytest.approx(0.012)


def test_a_control_group_was_there_before(tmp_path: Path) -> None:
    group = msgspec.structs.replace(of_process(0, "used_bytes"), back_end="cgroup")
    timeline = timeline_(tmp_path, levels(7, 7, 7), lived(4 * MS, 5 * MS, 16 * MS), group)
    covered_s = one(timeline).covered_s
    assert covered_s[-1] - covered_s[0] == pytest.approx(0.012)
