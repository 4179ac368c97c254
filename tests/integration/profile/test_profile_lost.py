"""`memgauge profile` never costs the program: what cannot be recorded is said, and it runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.command import command

import memgauge
from memgauge.model.errors import RequestError, SystemFailure
from memgauge.model.storage.run_file import read_run

pytestmark = pytest.mark.native

PROGRAM = ("sh", "-c", "echo ran; exit 7")
LOST = b"memgauge: profile: not recorded: "
LOST_LATER = b"memgauge: profile: not recorded to the end: "


def done(
    *words: str,
    cwd: Path,
    redirected: str = "",
) -> subprocess.CompletedProcess[bytes]:
    """`redirected`: what a shell does with the descriptors, such as `>&-`."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirected}', "sh", *words],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )


def profile(*arguments: str) -> list[str]:
    return command("profile", "--quiet", "--no-report", *arguments)


def taken(place: Path) -> tuple[str, ...]:
    (place / "run").mkdir()
    (place / "run" / "thesis.txt").touch()
    return ("--output", "run")


def under_a_file(place: Path) -> tuple[str, ...]:
    (place / "file").touch()
    return ("--output", "file/run")


def no_place_for_names(place: Path) -> tuple[str, ...]:
    (place / "memgauge-runs").touch()
    return ()


def nothing_to_watch(place: Path) -> tuple[str, ...]:
    return ("--counters", "pcp:no.such.daemon")


@pytest.mark.parametrize("prepare", [taken, under_a_file, no_place_for_names, nothing_to_watch])
def test_a_program_whose_record_cannot_be_made_runs_nevertheless(
    prepare: Callable[[Path], tuple[str, ...]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PCP_CONF", str(tmp_path / "none"))
    options = prepare(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    ran = done(*profile(*options, "--", *PROGRAM), cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (7, b"ran\n"), ran.stderr
    assert ran.stderr.startswith(LOST)
    assert ran.stderr.count(b"\n") == 1
    assert sorted(tmp_path.rglob("*")) == before, "nothing is left behind"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--rate", "2000", "--", *PROGRAM),
        ("--no-such-option", "--", *PROGRAM),
        ("--counters", "perf:no-such-event", "--", *PROGRAM),
        ("--counters", "nonsense", "--", *PROGRAM),
        ("--pid", "1", "--", *PROGRAM),
    ],
)
def test_what_is_wrong_on_any_machine_is_refused_before_the_start(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    refused = done(*profile(*arguments), cwd=tmp_path)
    assert refused.returncode == (2 if "--pid" in arguments else 125), refused.stderr
    assert refused.stdout == b""
    assert refused.stderr.count(b"\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_disk_without_room_for_anything_does_not_cost_the_program(tmp_path: Path) -> None:
    """The limit of file sizes stands in for it, set once memgauge is loaded."""
    ran = done(*broken("resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"), cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (7, b"ran\n"), ran.stderr
    assert ran.stderr.startswith(LOST)
    assert b"File too large" in ran.stderr
    assert list(tmp_path.iterdir()) == []


BROKEN = """
import os, resource, sys
from memgauge import _core
from memgauge.__main__ import main
from memgauge.commands import profile as commands_profile
from memgauge.model.errors import SystemFailure
from memgauge.runner.profiling import lanes as profile_lanes
from memgauge.runner.profiling import profile

def fails(*_, **__):
    raise {error}

def after(calls, real):
    def counted(*arguments):
        counted.calls += 1
        return real(*arguments) if counted.calls <= calls else fails()
    counted.calls = 0
    return counted

{change}
sys.exit(main())
"""


def broken(
    change: str, *options: str, error: str = "OSError(5, 'Input/output error')"
) -> list[str]:
    """A profile in which something of memgauge fails."""
    words = ["profile", "--quiet", "--no-report", "--components", "process", *options]
    code = BROKEN.format(change=change, error=error)
    program = ("sh", "-c", "sleep 1.5; echo ran; exit 7")
    chosen = PROGRAM if "RLIMIT" in change else program
    return [sys.executable, "-c", code, *words, "--output", "run", "--", *chosen]


BEFORE = [
    "commands_profile.api.system = fails",
    "profile.RunWriter = fails",
    "profile_lanes.plan_components = fails",
    "profile.run_start = fails",
    "profile.EnvironmentMonitor.start = fails",
    "profile.Program = fails",
]
LATER = [
    "profile.EnvironmentMonitor.sample = fails",
    "profile.RunWriter.write = after(2, profile.RunWriter.write)",
    "profile.RunWriter.close = fails",
    "profile.read_marks = fails",
    "profile_lanes.Lanes.remarks = fails",
]


@pytest.mark.parametrize("change", BEFORE)
@pytest.mark.parametrize("error", ["OSError(24, 'Too many open files')", "MemoryError()"])
def test_whatever_fails_before_the_start_the_program_runs_once(
    change: str, error: str, tmp_path: Path
) -> None:
    ran = done(*broken(change, error=error), cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (7, b"ran\n"), ran.stderr
    assert ran.stderr.startswith(LOST)
    assert ran.stderr.count(b"\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("change", LATER)
def test_whatever_fails_later_the_program_runs_once_to_its_end(change: str, tmp_path: Path) -> None:
    error = "SystemFailure('the disk is full')" if "RunWriter" in change else "MemoryError()"
    ran = done(*broken(change, error=error), cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (7, b"ran\n"), ran.stderr
    assert ran.stderr.startswith(LOST_LATER)
    assert ran.stderr.count(b"\n") == 1
    end = read_run(tmp_path / "run").end
    assert end is None or "RunWriter.close" in change or end.status == "failed"


def test_a_live_view_that_fails_does_not_cost_the_program(tmp_path: Path) -> None:
    words = broken("profile_lanes.Lanes.latest = fails", "--live")
    words.remove("--quiet")
    ran = done(*words, cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (7, b"ran\n"), ran.stderr
    assert ran.stderr.count(LOST_LATER) == 1


def test_a_record_that_cannot_be_read_again_does_not_cost_the_exit_code(tmp_path: Path) -> None:
    ran = done(*broken("profile.read_run = fails", error="SystemFailure('gone')"), cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (7, b"ran\n"), ran.stderr
    assert ran.stderr == LOST + b"gone\n"


def test_a_report_that_cannot_be_made_does_not_cost_the_exit_code(tmp_path: Path) -> None:
    words = broken("commands_profile.Result = fails")
    words.remove("--no-report")
    ran = done(*words, cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (7, b"ran\n"), ran.stderr
    assert ran.stderr == b"memgauge: profile: no report: Input/output error\n"


def test_a_program_that_is_not_recorded_is_not_changed_either(tmp_path: Path) -> None:
    """Limits, signals, descriptors and a signal that ends it are as without memgauge."""
    script = (
        "ulimit -S -n; grep SigIgn /proc/self/status; test -e /proc/$$/fd/0 || echo no stdin; "
        "kill -9 $$"
    )
    (tmp_path / "file").touch()
    plain = done("sh", "-c", script, cwd=tmp_path, redirected="<&-")
    ran = done(
        *profile("--output", "file/x", "--", "sh", "-c", script), cwd=tmp_path, redirected="<&-"
    )
    assert ran.stdout == plain.stdout
    assert b"no stdin" in ran.stdout
    assert ran.returncode == plain.returncode == -9


def test_a_command_that_cannot_be_run_has_its_code_whether_or_not_it_is_recorded(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "odd").write_text("#!/nowhere/interpreter\n")
    (tmp_path / "odd").chmod(0o755)
    assert done(*profile("--output", "file/x", "no-such"), cwd=tmp_path).returncode == 127
    assert done(*profile("--output", "file/x", "./odd"), cwd=tmp_path).returncode == 126


@pytest.mark.parametrize(
    "redirected", [">&-", "2>&-", "<&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full"]
)
@pytest.mark.parametrize("options", [(), ("--live",)])
def test_closed_and_full_streams_change_nothing_for_the_program(
    redirected: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    script = "for n in 0 1 2; do test -e /proc/$$/fd/$n && echo $n; done >seen; exit 7"
    plain = done("sh", "-c", script, cwd=tmp_path, redirected=redirected)
    expected = (tmp_path / "seen").read_text()
    words = command("profile", *options, "--output", "run", "--", "sh", "-c", script)
    ran = done(*words, cwd=tmp_path, redirected=redirected)
    assert (ran.returncode, plain.returncode) == (7, 7), ran.stderr
    assert (tmp_path / "seen").read_text() == expected
    run = read_run(tmp_path / "run")
    assert run.end is not None
    assert run.end.status == "complete"
    assert run.notes == []
    assert (tmp_path / "run" / "report.html").exists()


def ignore_children() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def test_a_parent_that_ignores_the_end_of_children_does_not_cost_the_exit_code(
    tmp_path: Path,
) -> None:
    words = profile("--output", "run", "--", "sh", "-c", "sleep 0.3; exit 7")
    ran = subprocess.run(  # without a shell, which would set it to its default
        words, cwd=tmp_path, preexec_fn=ignore_children, capture_output=True, check=False
    )
    assert ran.returncode == 7, ran.stderr


@pytest.mark.parametrize("limit", [9, 12, 16, 24])
def test_few_descriptors_never_cost_the_program(limit: int, tmp_path: Path) -> None:
    """Set once memgauge is loaded: what is lost depends on how many are left."""
    change = f"resource.setrlimit(resource.RLIMIT_NOFILE, ({limit}, {limit}))"
    ran = done(*broken(change), cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (7, b"ran\n"), ran.stderr


def test_programs_started_in_the_same_second_all_run_and_are_recorded(tmp_path: Path) -> None:
    time.sleep(1 - time.time() % 1)
    script = "echo $$ >ran.$$; exit 7"
    started = [
        subprocess.Popen(profile("--components", "process", "--", "sh", "-c", script), cwd=tmp_path)
        for _ in range(4)
    ]
    assert [one.wait(120) for one in started] == [7, 7, 7, 7]
    assert len(list(tmp_path.glob("ran.*"))) == 4
    runs = [read_run(path) for path in (tmp_path / "memgauge-runs").iterdir()]
    assert [run.processes[0].exit_code for run in runs] == [7, 7, 7, 7]


def test_a_process_attached_to_that_cannot_be_recorded_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    words = profile("--pid", str(os.getpid()), "--output", "file/run")
    refused = done(*words, cwd=tmp_path)
    assert refused.returncode == 2
    assert b"cannot hold a run" in refused.stderr


def test_the_python_api_raises_before_the_start(tmp_path: Path) -> None:
    """Its callers can tell, and decide."""
    (tmp_path / "file").touch()
    with pytest.raises(RequestError, match="cannot hold a run"):
        memgauge.profile(["touch", str(tmp_path / "ran")], output=str(tmp_path / "file" / "x"))
    assert not (tmp_path / "ran").exists()


def test_the_python_api_raises_where_nothing_of_the_record_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_: Path) -> None:
        raise SystemFailure("gone")

    monkeypatch.setattr("memgauge.runner.profiling.profile.read_run", gone)
    with pytest.raises(SystemFailure, match="profile: not recorded: gone"):
        memgauge.profile(["true"], components=("process",), output=str(tmp_path / "run"))
