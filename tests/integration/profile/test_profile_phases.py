"""Programs that take turns have phases that are known: those a profile finds must be these.

The parts are marked by the program that starts them, so that their begins and ends are on the
run's own clock.
"""

from __future__ import annotations

import shutil
import sys

import pytest
from tests.integration.command import memgauge

from memgauge.analysis.profile.phases import Phase
from memgauge.analysis.profile.section import profile_of
from memgauge.model.record_kinds.programs import Region
from memgauge.model.run import Run
from memgauge.model.storage.run_file import read_run

pytestmark = pytest.mark.native

LASTS_S = 1.5
TOLERANCE_S = 0.3
"""Bins of phases are 0.06 s wide; on a machine that others load, programs start and end late."""
MOST_FALSE = 10
"""Cuts of some 125 bins that no change of programs explains: warming up, and true stops by a
neighbour's load. How often noise alone is cut is tested without a machine, in test_profile.py."""

MEMORY = "sysbench memory --memory-block-size=1M --memory-total-size=1000T --time=2 run"
SHA = "openssl speed -seconds 2 -evp sha256 -bytes 16384"
CPU = "sysbench cpu --threads=2 --time=2 run"

TURNS = f"""
import os, subprocess, sys, time

def mark(kind, name):
    stamp = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    line = f"{{kind}} {{stamp}} {{os.getpid()}} {{os.getpid()}} {{name}}\\n"
    with open(os.environ["MEMGAUGE_MARKS"], "ab", buffering=0) as marks:
        marks.write(line.encode())

for name, command in zip(("memory", "rest", "sha", "pause", "cpu"), sys.argv[1:]):
    mark("B", name)
    if command != "rest":
        run = subprocess.Popen(command.split(), stdout=-3, stderr=-3)
        time.sleep({LASTS_S})
        run.kill()
        run.wait()
    else:
        time.sleep({LASTS_S})
    mark("E", name)
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    for needed in ("sysbench", "openssl"):
        if shutil.which(needed) is None:
            pytest.skip(f"no {needed} on PATH (Debian: apt-get install {needed})")
    folder = tmp_path_factory.mktemp("turns")
    program = [sys.executable, "-c", TURNS, MEMORY, "rest", SHA, "rest", CPU]
    options = ["--quiet", "--no-report", "--output", "run"]
    done = memgauge("profile", *options, "--", *program, cwd=folder)
    assert done.returncode == 0, done.stderr
    return read_run(folder / "run")


@pytest.fixture(scope="module")
def parts(run: Run) -> dict[str, Region]:
    found = {region.name: region for region in run.regions}
    assert [*found] == ["memory", "rest", "sha", "pause", "cpu"]
    return found


@pytest.fixture(scope="module")
def phases(run: Run) -> list[Phase]:
    return profile_of(run).phases


def begins_s(run: Run, parts: dict[str, Region]) -> list[float]:
    """When each part but the first took over, in seconds of the timeline."""
    timeline = profile_of(run).timeline
    assert timeline is not None
    return [(region.begin_ns - timeline.begin_ns) * 1e-9 for region in [*parts.values()][1:]]


def test_each_change_of_programs_is_a_phase(
    run: Run, parts: dict[str, Region], phases: list[Phase]
) -> None:
    cuts = [(phase.begin_low_s, phase.begin_high_s) for phase in phases[1:]]
    for known in begins_s(run, parts):
        beyond = min(max(low - known, known - high) for low, high in cuts)
        assert beyond < TOLERANCE_S, (known, cuts)


def test_few_phases_are_found_that_are_none(
    run: Run, parts: dict[str, Region], phases: list[Phase]
) -> None:
    known = begins_s(run, parts)
    false = [
        phase.begin_s
        for phase in phases[1:]
        if min(abs(phase.begin_s - at) for at in known) >= TOLERANCE_S
    ]
    assert len(false) <= MOST_FALSE, (false, known)


def test_what_rests_is_idle_and_what_works_is_not(
    run: Run, parts: dict[str, Region], phases: list[Phase]
) -> None:
    known = begins_s(run, parts)
    rests = [(known[0], known[1]), (known[2], known[3])]
    for phase in phases[1:]:  # the first begins with the start of an interpreter, which may wait
        middle = (phase.begin_s + phase.end_s) / 2
        cores = phase.activity.cpu_cores
        if cores is None or phase.duration_s < LASTS_S / 2:
            continue
        resting = any(begin < middle < end for begin, end in rests)
        assert cores < 0.15 if resting else cores > 0.15, (phase.number, cores)


def test_processor_time_is_what_two_routes_say(run: Run) -> None:
    timeline = profile_of(run).timeline
    assert timeline is not None
    both = {
        traced.track.counters[0].event: traced.total(0, timeline.bins)
        for traced in (*timeline.tracks, *timeline.doubles)
    }
    if "perf:task-clock" not in both:
        pytest.skip("the kernel lets this user count nothing by perf")
    assert both["perf:task-clock"] == pytest.approx(both["proc:cpu_time"], rel=0.1)


def test_no_track_shows_more_processors_than_there_are(run: Run) -> None:
    timeline = profile_of(run).timeline
    assert timeline is not None
    tracks = [traced for traced in timeline.tracks if traced.track.unit == "cores"]
    assert tracks
    cpus = len(run.start.system.cpus)
    for traced in tracks:
        assert all(most <= cpus * (1 + 1e-9) for most in traced.high if most is not None)
