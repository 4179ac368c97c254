"""`fft3d` under a real mpirun: 1 to 8 ranks of this machine; refused, killed and interrupted."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.counters_trees import tracepoints
from tests.integration.command import OPEN_MPI, command, memgauge
from tests.integration.ranks.two_hosts import (
    environment,
    missing_for_hosts,
    missing_for_ranks,
    two_hosts,
)

from memgauge.model.storage.marks import MARKS_NAME
from memgauge.model.storage.run_file import Run, read_run

MPIRUN = shutil.which("mpirun")
LACKING = [name for name in ("mpi4py", "numpy") if find_spec(name) is None]

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(
        MPIRUN is None, reason="no mpirun on PATH (Debian: apt-get install openmpi-bin)"
    ),
    pytest.mark.skipif(
        bool(LACKING), reason=f"{' and '.join(LACKING)} not installed (pip install 'memgauge[mpi]')"
    ),
]

# Open MPI's mpirun gives ranks a terminal.
ALLOWED = OPEN_MPI | {"NO_COLOR": "1"}
ENVIRONMENT = os.environ | ALLOWED
TIMEOUT_S = 90


def launched(ranks: int | None, *arguments: str) -> list[str]:
    launch = [] if ranks is None else [str(MPIRUN), "-n", str(ranks)]
    return [*launch, *command("fft3d", *arguments)]


def run(ranks: int | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        launched(ranks, *arguments),
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def own_lines(text: str) -> list[str]:
    """What memgauge said, without what mpirun adds."""
    return [line for line in text.splitlines() if line.startswith("memgauge: ")]


def report(path: Path) -> str:
    done = memgauge("report", path, "--format", "summary")
    assert done.returncode == 0, done.stderr
    return done.stdout


def right(job: Run, checks: int = 1) -> bool:
    found = [check for validation in job.validations for check in validation.checks]
    return len(found) == checks and all(
        check.passed and check.average_relative_error <= check.epsilon < 1e-11 for check in found
    )


@pytest.mark.parametrize(
    ("ranks", "arguments"),
    [
        (2, ("--grid", "2x1", "--check", "waves", "--tile", "3")),
        (8, ("--grid", "2x4", "--rate", "200")),
        (4, ("--grid", "2x2", "--tile", "8")),
    ],
)
def test_ranks_transform_together(ranks: int, arguments: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "job"
    done = run(ranks, "--size", "32", "--repetitions", "2", "--output", str(out), *arguments)
    assert done.returncode == 0, done.stderr
    job = read_run(out)
    assert right(job)
    assert job.end is not None
    assert job.end.status == "complete"
    assert sorted(path.name for path in out.glob("rank-*")) == [f"rank-{n}" for n in range(ranks)]
    for rank in range(ranks):
        own = read_run(out / f"rank-{rank}")
        assert own.end is not None
        assert own.end.status == "complete"
        names = [region.name for region in own.regions]
        # One transform before the timed ones.
        assert names.count("resort 4") == names.count("fft") // 3 == 3
        assert all(region.end_ns is not None for region in own.regions)
    assert "re-sort 3" in done.stdout
    assert "within the" in done.stdout
    assert f"{ranks} ranks, recorded in {out}" in own_lines(done.stderr)[0]


def test_a_job_and_each_of_its_ranks_can_be_reported_again(tmp_path: Path) -> None:
    out = tmp_path / "job"
    assert run(4, "--size", "48", "--output", str(out)).returncode == 0
    assert report(out).rstrip() == (out / "summary.txt").read_text(encoding="utf-8").rstrip()
    known = report(out / "rank-3")
    assert "Totals of marked regions" in known
    for phase in ("fft", "resort 1", "all2all", "resort 4"):
        assert f"\n{phase} " in known


def test_without_mpirun_one_rank_does_it_all(tmp_path: Path) -> None:
    done = run(None, "--size", "20", "--output", str(tmp_path / "job"), "--json")
    assert done.returncode == 0, done.stderr
    assert right(read_run(tmp_path / "job"))
    known = json.loads(done.stdout)
    assert known["sections"][0]["name"] == "fft3d"
    assert [step["grid"] for step in known["fft3d"]["steps"]] == ["1x1"]


@pytest.mark.parametrize("kind", ["strong", "weak"])
def test_scaling_times_growing_numbers_of_ranks(kind: str, tmp_path: Path) -> None:
    out = tmp_path / "job"
    done = run(4, "--scaling", kind, "--size", "16", "--repetitions", "2", "--output", str(out))
    assert done.returncode == 0, done.stderr
    assert right(read_run(out), checks=3)
    known = (out / "summary.txt").read_text(encoding="utf-8")
    rows = known.split(f"{kind.capitalize()} scaling\n")[1].splitlines()
    assert [row.split()[:2] for row in rows if row[:5].strip().isdigit()][:3] == [
        ["1", "1x1"],
        ["2", "1x2"],
        ["4", "2x2"],
    ]


@pytest.mark.parametrize(
    ("ranks", "arguments", "said"),
    [
        (2, ("--grid", "2x4"), "needs 8 ranks, but 2 ranks run; start it with 'mpirun -n 8'"),
        (2, ("--size", "32768"), "(ranks 0-1) needs"),
        (2, ("--nothing",), "no such option '--nothing'"),
        (None, ("--grid", "1x2"), "one rank runs; start it with 'mpirun -n 2'"),
    ],
)
def test_what_cannot_be_done_is_said_once(
    ranks: int | None, arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    out = tmp_path / "job"
    done = run(ranks, *arguments, "--output", str(out))
    assert done.returncode == 2, done.stderr
    (line,) = own_lines(done.stderr)
    assert said in line
    assert done.stdout == ""
    assert not out.exists()


def test_a_directory_with_a_run_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "job"
    out.mkdir()
    (out / "records.jsonl").write_text("{}\n", encoding="utf-8")
    done = run(2, "--size", "8", "--output", str(out))
    assert done.returncode == 2
    (line,) = own_lines(done.stderr)
    assert "already holds a run" in line
    assert [path.name for path in out.iterdir()] == ["records.jsonl"]


def three_ranks(program: str, out: Path) -> subprocess.CompletedProcess[str]:
    """A job of three ranks whose Python program may change what one of them does."""
    arguments = ["fft3d", "--size", "9", "--output", str(out)]
    return subprocess.run(
        [str(MPIRUN), "-n", "3", sys.executable, "-c", program, *arguments],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


FAULTY = """
import os, sys
from memgauge.__main__ import main
from memgauge.fft3d.devices import Cpu

def no_memory(self, pencils):
    raise MemoryError("nothing left")

if "1" in {os.environ.get(name) for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")}:
    Cpu.fft = no_memory
sys.exit(main(sys.argv[1:]))
"""


def test_a_rank_that_fails_alone_says_why_and_ends_all(tmp_path: Path) -> None:
    out = tmp_path / "job"
    done = three_ranks(FAULTY, out)
    assert done.returncode != 0
    assert any("rank 1: the transform failed: nothing left" in it for it in own_lines(done.stderr))
    assert "Rank 1 of 3: its work failed" in report(out)


UNRECORDED = """
import os, sys
from memgauge.__main__ import main
from memgauge.model.errors import SystemFailure
from memgauge.runner.profiling import profile

class Full(profile.RunWriter):
    def __init__(self, directory):
        raise SystemFailure("the disk of this node is full")

if "1" in {os.environ.get(name) for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")}:
    profile.RunWriter = Full
sys.exit(main(sys.argv[1:]))
"""


def test_a_rank_that_cannot_be_recorded_does_its_part_and_says_so(tmp_path: Path) -> None:
    out = tmp_path / "job"
    done = three_ranks(UNRECORDED, out)
    assert done.returncode == 0, done.stderr
    assert right(read_run(out))
    said = "memgauge: fft3d: rank 1: not recorded: the disk of this node is full"
    assert own_lines(done.stderr).count(said) == 1
    assert sorted(path.name for path in out.glob("rank-*")) == ["rank-0", "rank-2"]
    assert "within the" in done.stdout


COUNTED = """
import os, sys, time
from memgauge.__main__ import main
from memgauge.fft3d import rounds
from memgauge.fft3d.resorting import by_nest

def resort(which, given, stored, *, tile):
    time.sleep(0.05)  # what is counted stays clear of the marks on both sides
    by_nest(which, given, stored, tile=tile)
    for _ in range(1000 if which.name == "resort 1" else 0):
        os.sched_rr_get_interval(0)
    for _ in range(500 if which.name == "resort 4" else 0):
        os.sched_getparam(0)
    time.sleep(0.05)

rounds.by_nest = resort
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.whole_machine
def test_traffic_of_re_sorting_is_measured_where_counters_can_be_read(tmp_path: Path) -> None:
    """On a made-up machine of two channels, each of which counts every call as a line."""
    if (reason := tracepoints.missing()) is not None:
        pytest.skip(reason)
    tree = tracepoints.intel_server(tmp_path / "tree")
    out = tmp_path / "job"
    arguments = ["fft3d", "--size", "8", "--repetitions", "2", "--components", "memory", "--json"]
    with tracepoints.alone():
        done = subprocess.run(
            [sys.executable, "-c", COUNTED, *arguments, "--output", str(out)],
            env=ENVIRONMENT | {"MEMGAUGE_SYSFS": str(tree.sysfs)},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    (step,) = json.loads(done.stdout)["fft3d"]["steps"]
    measured = {
        phase["title"]: (phase["measured_read_bytes"], phase["measured_write_bytes"])
        for phase in step["phases"]
    }
    lines = 2 * 64
    assert measured["re-sort 1"] == pytest.approx((1000 * lines, 0), abs=8 * lines)
    assert measured["re-sort 2"] == pytest.approx((0, 0), abs=8 * lines)
    assert measured["re-sort 4"] == pytest.approx((0, 500 * lines), abs=8 * lines)
    assert measured["FFT 1"] == (None, None)
    assert "measured read" in (out / "report.html").read_text(encoding="utf-8")
    assert "was not measured" not in " ".join(report(out).split())


@pytest.fixture
def long_job(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A job of four ranks that would take minutes, at work."""
    out = tmp_path / "job"
    process = subprocess.Popen(
        launched(4, "--size", "32", "--repetitions", "10000", "--output", str(out)),
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    until = time.monotonic() + TIMEOUT_S
    while not all(marked(out, rank) for rank in range(4)):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.05)
    yield process, out
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def marked(out: Path, rank: int) -> bool:
    """Whether a rank is done with two whole transforms."""
    path = out / f"rank-{rank}" / MARKS_NAME
    return path.exists() and path.read_bytes().count(b"resort 4") > 6


def pid_of(out: Path, rank: int) -> int:
    return int((out / f"rank-{rank}" / MARKS_NAME).read_bytes().split()[2])


def test_a_killed_rank_ends_the_job_and_the_rest_is_kept(
    long_job: tuple[subprocess.Popen[str], Path],
) -> None:
    process, out = long_job
    os.kill(pid_of(out, 2), signal.SIGKILL)
    stdout, stderr = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode != 0
    assert "signal 9" in stdout + stderr
    known = report(out)
    assert "Rank" in known
    assert "killed before its" in known
    assert "The result was not checked" in known
    for rank in range(4):
        own = read_run(out / f"rank-{rank}")
        assert sum(region.name == "resort 4" for region in own.regions) > 2
    assert read_run(out / "rank-2").end is None
    assert "killed before its end" in report(out / "rank-2")


def test_ctrl_c_ends_the_job_and_what_was_recorded_is_kept(
    long_job: tuple[subprocess.Popen[str], Path],
) -> None:
    process, out = long_job
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode != 0
    assert "Traceback" not in stderr
    assert f"recorded in {out}" in stderr
    known = report(out)
    assert "interrupted" in known or "killed before its" in known
    assert "re-sort 4" in known


def test_two_hosts_transform_together_and_what_lies_on_the_other_is_told(tmp_path: Path) -> None:
    """Each has a directory of its own by the same name."""
    reason = missing_for_ranks() or missing_for_hosts()
    if reason is not None:
        pytest.skip(reason)
    out = tmp_path / "job"
    out.mkdir()
    program = launched(None, "--size", "32", "--grid", "2x2", "--output", str(out))
    with two_hosts(tmp_path) as hosts:
        done = subprocess.run(
            hosts.command(4, program, hide=str(out)),
            env=ENVIRONMENT | environment() | ALLOWED,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    job = read_run(out)
    assert right(job)
    assert job.start.parameters["fft3d"]["nodes"] == "mga:0,2 mgb:1,3"
    assert "Ranks 1,3 of 4: no run was found." in " ".join(report(out).split())
    assert [(out / f"rank-{rank}").is_dir() for rank in range(4)] == [True, False, True, False]
