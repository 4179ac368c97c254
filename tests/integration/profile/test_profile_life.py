"""What a profile tells of programs that hardly run, or hardly do anything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.integration.command import memgauge

from memgauge.analysis.profile.section import profile_of
from memgauge.analysis.profile.timeline import Timeline
from memgauge.model.run import Run
from memgauge.model.storage.run_file import read_run
from memgauge.system.programs.program import Ended, Program

pytestmark = pytest.mark.native

SMALL_BYTES = 6e6
"""`sleep` and `false` hold less; memgauge's own process, copied before the start, holds more."""


def profiled(path: Path, *program: str) -> tuple[Run, Timeline]:
    options = ["--quiet", "--no-report", "--components", "process", "--output", str(path / "run")]
    memgauge("profile", *options, "--", *program)
    run = read_run(path / "run")
    timeline = profile_of(run).timeline
    assert timeline is not None
    return run, timeline


def events(timeline: Timeline) -> dict[str, list[float | None]]:
    """Of each event the total and the mean."""
    tracks = [*timeline.tracks, *timeline.doubles]
    return {
        t.track.counters[0].event: [t.total(0, timeline.bins), t.mean(0, timeline.bins)]
        for t in tracks
    }


def test_all_that_a_program_of_a_moment_did_is_counted_and_no_memory_but_its_own(
    tmp_path: Path,
) -> None:
    run, timeline = profiled(tmp_path, "false")
    (process,) = run.processes
    assert process.started_ns is not None
    assert process.end_ns is not None
    assert process.begin_ns <= process.started_ns <= process.end_ns
    found = events(timeline)
    faults, _ = found["proc:minor_faults"]
    assert faults is not None
    assert faults > 10  # a start alone maps and touches this much
    time_s, _ = found["proc:cpu_time"]
    assert time_s is not None
    assert time_s > 0
    _, resident = found["proc:resident_bytes"]
    assert resident is None or resident < SMALL_BYTES


def test_a_program_that_sleeps_is_one_process_of_one_thread_throughout(tmp_path: Path) -> None:
    _, timeline = profiled(tmp_path, "sleep", "0.3")
    found = events(timeline)
    assert found["proc:processes"][1] == 1
    assert found["proc:threads"][1] == 1
    _, resident = found["proc:resident_bytes"]
    assert resident is not None
    assert 0 < resident < SMALL_BYTES


@pytest.mark.parametrize(
    ("script", "known"), [("exit 3", Ended(exit_code=3)), ("kill -9 $$", Ended(signal=9))]
)
def test_what_a_program_used_can_be_read_until_it_is_let_go_of(script: str, known: Ended) -> None:
    program = Program(["sh", "-c", script], dict(os.environ))
    try:
        program.start()
        assert program.wait(60) == known
        stat = Path(f"/proc/{program.pid}/stat").read_text()
        assert stat.rpartition(")")[2].split()[0] == "Z"
        assert program.wait(0) == known
    finally:
        program.close()
    assert not Path(f"/proc/{program.pid}").exists()
