"""A survey measures what fits the memory it may use, and says what did not and why."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.integration.command import command
from tests.integration.commands import small_caches
from tests.integration.commands.small_caches import read_small_caches

from memgauge.experiments.registry import load
from memgauge.model.parameters import build
from memgauge.model.run import Run
from memgauge.model.storage.run_file import read_run
from memgauge.runner.fitting import planned_groups
from memgauge.system.detect import detect

pytestmark = pytest.mark.native

PROGRAM = [sys.executable, small_caches.__file__]
MIB = 1 << 20
CGROUP_BYTES = 400 * MIB
V1, V2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")


def limited(which: int, most: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(which, (most, most))


def run_limited(
    *arguments: object, prepare: Callable[[], None]
) -> subprocess.CompletedProcess[str]:
    """The tool, on a machine of small caches."""
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        preexec_fn=prepare,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def surveyed(directory: Path, only: str, prepare: Callable[[], None]) -> Run:
    done = run_limited(
        *("survey", "--only", only, "--threads", 1, "--output", directory),
        *("--budget", "40s", "--precision", "90%"),  # ends soon, where memory is soon to be had
        prepare=prepare,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    is_late = "no page, because the budget had no time left for it" in done.stderr
    assert (directory / "report.html").exists() or is_late, done.stderr
    assert (directory / "summary.txt").exists()
    return read_run(directory)


def reasons(run: Run) -> dict[str | None, str]:
    """Of what was left out for another reason than time, which a busy machine lacks."""
    return {
        one.experiment: one.message
        for one in run.warnings
        if one.code == "left-out" and "the budget of" not in one.message
    }


def measured(run: Run) -> set[str]:
    return {run.points[name].experiment for name, samples in run.samples.items() if samples}


def too_little_for_workingset(monkeypatch: pytest.MonkeyPatch) -> int:
    """Its arrays would fit, but the program that measures them would not beside them."""
    monkeypatch.setattr("memgauge.system.detect.read_caches", read_small_caches)
    experiment = load("workingset")
    groups = planned_groups(experiment, build(experiment.parameters), detect())
    return sum(group.bytes for group in groups) + 100 * MIB


def test_an_address_space_limit_leaves_experiments_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = limited(resource.RLIMIT_AS, too_little_for_workingset(monkeypatch))
    run = surveyed(tmp_path / "run", "workingset,stream", limit)
    assert measured(run) == {"stream"}
    found = reasons(run)
    assert set(found) == {"workingset"}
    assert "(address space limit " in found["workingset"]
    assert "Working sets:" in (tmp_path / "run/summary.txt").read_text(encoding="utf-8")


def test_one_experiment_that_does_not_fit_is_refused_with_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = run_limited(
        *("workingset", "--budget", "1s", "--output", tmp_path / "run"),
        prepare=limited(resource.RLIMIT_AS, too_little_for_workingset(monkeypatch)),
    )
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert "are needed (" in refused.stderr
    assert "(address space limit " in refused.stderr
    assert not (tmp_path / "run").exists()


def test_a_survey_of_which_nothing_fits_is_one_line(tmp_path: Path) -> None:
    refused = run_limited(
        *("survey", "--only", "workingset,latency", "--budget", "1s"),
        *("--output", tmp_path / "run"),
        prepare=limited(resource.RLIMIT_DATA, 120 * MIB),
    )
    assert refused.returncode == 2, refused.stderr
    assert refused.stderr.startswith("memgauge: nothing can be measured here: workingset: ")
    assert "(data size limit 120.0 MiB, ulimit -d)" in refused.stderr
    assert "(and 1 more experiment cannot be measured either)" in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.fixture
def cgroup() -> Iterator[Path]:
    """A group of its own with a limit of 400 MB; the process that joins it writes its id."""
    group = (V1 if V1.is_dir() else V2) / f"memgauge-test-{os.getpid()}"
    limit = "memory.limit_in_bytes" if V1.is_dir() else "memory.max"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error.strerror}")
    try:
        try:
            (group / limit).write_text(str(CGROUP_BYTES), encoding="ascii")
        except OSError as error:
            pytest.skip(f"the control group takes no limit of memory: {error.strerror}")
        yield group
    finally:
        group.rmdir()


def test_a_survey_stays_within_its_control_group(tmp_path: Path, cgroup: Path) -> None:
    def join() -> None:
        (cgroup / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")

    run = surveyed(tmp_path / "run", "workingset,stream,latency", join)
    assert "stream" in measured(run)
    for reason in reasons(run).values():
        assert f"cgroup limit 400.0 MiB in {cgroup}" in reason


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv")
def test_a_thread_that_may_not_be_started_names_the_limit_on_processes(tmp_path: Path) -> None:
    """Which binds other users than root: so one without root's rights over it is asked for."""
    program = (
        "import os, resource\n"
        "from memgauge import _core\n"
        "from memgauge.model.errors import SystemFailure\n"
        "os.setgroups([]); os.setgid(64123); os.setuid(64123)\n"
        "resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))\n"
        "try:\n"
        "    _core.Team([min(os.sched_getaffinity(0))])\n"
        "except SystemFailure as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [command()[0], "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd="/",
    )
    assert "cannot start thread 0 of a team of 1" in done.stdout, done.stderr
    assert "ulimit -u, now 1" in done.stdout


def test_a_thread_without_addresses_for_its_stack_does_not_fit() -> None:
    program = (
        "import os, resource\n"
        "from memgauge import _core\n"
        "from memgauge.model.errors import DoesNotFit\n"
        "pages = int(open('/proc/self/statm').read().split()[0])\n"
        "most = pages * resource.getpagesize() + (1 << 20)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (most, most))\n"
        "try:\n"
        "    _core.Team([min(os.sched_getaffinity(0))])\n"
        "except DoesNotFit as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [command()[0], "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert "no address space is left for its stack; raise ulimit -v" in done.stdout, done.stderr
