"""`memgauge profile`: the program is as it would be without it, and the record tells what happened.

The programs here are small; that their speed is untouched is for benchmarks/profile.py to show.
"""

from __future__ import annotations

import os
import pty
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

import pytest
from tests.integration.command import command

import memgauge
from memgauge.counters.components import USUAL
from memgauge.model.errors import CommandNotFound, RequestError, RunFileError
from memgauge.model.records import Warning
from memgauge.model.run import Run
from memgauge.model.storage.lane_file import LaneReader
from memgauge.model.storage.run_file import read_run
from memgauge.runner.profiling.parameters import ProfileParameters
from memgauge.runner.profiling.profile import ProfileRequest, Watcher, opened
from memgauge.system.detect import detect

pytestmark = pytest.mark.native

WAITING = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done"
STUBBORN = "trap '' TERM; echo ready; while [ ! -e enough ]; do sleep 0.05; done; exit 9"


def profile(*arguments: str, quiet: bool = True) -> list[str]:
    options = ["--quiet", "--no-report"] if quiet else ["--no-report"]
    return command("profile", "--output", "run", *options, *arguments)


def done(
    *arguments: str,
    cwd: Path,
    quiet: bool = True,
    stdin: bytes = b"",
    prepare: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        profile(*arguments, quiet=quiet),
        cwd=cwd,
        input=stdin,
        capture_output=True,
        timeout=120,
        check=False,
        preexec_fn=prepare,
    )


def started(*arguments: str, cwd: Path, quiet: bool = True) -> subprocess.Popen[bytes]:
    """In a process group of its own, with signals as a terminal's shell sets them."""

    def prepare() -> None:
        os.setpgid(0, 0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)

    return subprocess.Popen(
        profile(*arguments, quiet=quiet),
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=prepare,  # noqa: PLW1509
    )


def ready(running: subprocess.Popen[bytes]) -> None:
    """Until the program has said so."""
    assert running.stdout is not None
    assert running.stdout.readline() == b"ready\n"


def child_of(run: Path) -> int:
    """The program's process, as soon as the record tells it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(RunFileError):  # nothing is written yet
            if found := read_run(run).processes:
                return found[0].pid
        time.sleep(0.02)
    raise AssertionError("no process was recorded")


def status(run: Run) -> str | None:
    return run.end.status if run.end else None


@pytest.mark.parametrize("code", [0, 1, 3, 125, 255])
def test_the_exit_code_is_the_programs(code: int, tmp_path: Path) -> None:
    assert done("sh", "-c", f"exit {code}", cwd=tmp_path).returncode == code
    run = read_run(tmp_path / "run")
    assert [process.exit_code for process in run.processes] == [code]
    assert status(run) == "complete"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_a_program_ended_by_a_signal_gives_the_shells_code(
    number: signal.Signals, tmp_path: Path
) -> None:
    assert done("sh", "-c", f"kill -{int(number)} $$", cwd=tmp_path).returncode == 128 + number
    (process,) = read_run(tmp_path / "run").processes
    assert (process.exit_code, process.signal) == (None, number)


def test_a_command_that_is_not_there_or_no_program_has_its_own_code(tmp_path: Path) -> None:
    missing = done("no-such-command", cwd=tmp_path)
    assert missing.returncode == 127
    assert missing.stderr == (
        b"memgauge: 'no-such-command': command not found; check its name and PATH\n"
    )
    (tmp_path / "plain").write_text("text")
    refused = done("./plain", cwd=tmp_path)
    assert refused.returncode == 126
    assert refused.stderr == (b"memgauge: './plain': is no file that you may run; check its mode\n")
    folder = done(str(tmp_path), cwd=tmp_path)
    assert folder.returncode == 126
    assert b": is a directory; name a program" in folder.stderr
    (tmp_path / "odd").write_text("#!/nowhere/interpreter\n")
    (tmp_path / "odd").chmod(0o755)
    assert done("./odd", cwd=tmp_path).returncode == 126


def test_failures_of_memgauge_before_the_start_have_one_code_and_one_line(tmp_path: Path) -> None:
    for arguments, said in [
        (("--counters", "perf:no-such-event", "true"), b"no-such-event"),
        (("--rate", "2000", "true"), b"samples a second"),
        ((), b"give either a command"),
    ]:
        failed = done(*arguments, cwd=tmp_path)
        assert failed.returncode == 125, failed.stderr
        assert said in failed.stderr
        assert failed.stderr.count(b"\n") == 1


def test_bytes_pass_through_the_program_untouched(tmp_path: Path) -> None:
    """Any bytes, more than a pipe holds, and nothing of ours among them."""
    given = bytes(range(256)) * 4096
    passed = done("cat", cwd=tmp_path, stdin=given, quiet=False)
    assert passed.stdout == given
    assert passed.stderr
    assert all(line.startswith(b"memgauge: ") for line in passed.stderr.splitlines())
    assert done("sh", "-c", "echo mine >&2", cwd=tmp_path / "run").stderr == b"mine\n"


def test_descriptors_directory_and_environment_reach_the_program(tmp_path: Path) -> None:
    script = (
        'echo "$MARK" >/proc/self/fd/$DESCRIPTOR; pwd; ulimit -S -n; grep SigIgn /proc/self/status'
    )
    reading, writing = os.pipe()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    with subprocess.Popen(
        profile("sh", "-c", script),
        cwd=tmp_path,
        env=os.environ | {"MARK": "passed", "DESCRIPTOR": str(writing)},
        pass_fds=[writing],
        stdout=subprocess.PIPE,
    ) as running:
        os.close(writing)
        said = running.communicate(timeout=60)[0].decode().split("\n")
    assert os.read(reading, 100) == b"passed\n"
    os.close(reading)
    assert said[0] == str(tmp_path)
    assert int(said[1]) == limit
    ignored = int(said[2].split()[1], 16)
    assert not ignored >> (signal.SIGPIPE - 1) & 1


def test_the_terminal_is_the_programs(tmp_path: Path) -> None:
    """Input and output are one, and the program is in its foreground."""
    script = "[ -t 0 ] && [ -t 1 ] && read word </dev/tty && echo got $word"
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.execv(sys.executable, profile("sh", "-c", script))  # noqa: S606
    os.write(terminal, b"typed\n")
    said = b""
    try:
        while piece := os.read(terminal, 1000):
            said += piece
    except OSError:
        pass
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert b"got typed" in said


def test_ctrl_c_is_for_the_program_and_the_record_is_whole(tmp_path: Path) -> None:
    with started("sh", "-c", WAITING.replace("TERM", "INT"), cwd=tmp_path) as running:
        ready(running)
        os.killpg(running.pid, signal.SIGINT)
        assert running.wait(60) == 7
    run = read_run(tmp_path / "run")
    assert status(run) == "complete"
    assert run.processes[0].end_ns is not None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_is_passed_on(number: signal.Signals, tmp_path: Path) -> None:
    script = WAITING.replace("TERM", number.name.removeprefix("SIG"))
    with started("sh", "-c", script, cwd=tmp_path) as running:
        ready(running)
        running.send_signal(number)
        assert running.wait(60) == 7
    assert status(read_run(tmp_path / "run")) == "complete"


def test_a_program_that_ignores_sigterm_is_watched_to_its_end(tmp_path: Path) -> None:
    with started("sh", "-c", STUBBORN, cwd=tmp_path) as running:
        ready(running)
        running.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        assert running.poll() is None
        (tmp_path / "enough").touch()
        assert running.wait(60) == 9
    assert read_run(tmp_path / "run").processes[0].exit_code == 9


def test_a_second_sigterm_ends_profiling_and_says_so(tmp_path: Path) -> None:
    with started("sh", "-c", STUBBORN, cwd=tmp_path) as running:
        ready(running)
        child = child_of(tmp_path / "run")
        running.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        running.send_signal(signal.SIGTERM)
        assert running.stderr is not None
        assert running.wait(60) == 128 + signal.SIGTERM
        os.kill(child, 0)
        (tmp_path / "enough").touch()  # it has the same stderr
        assert b"came a second time" in running.stderr.read()
    run = read_run(tmp_path / "run")
    assert status(run) == "interrupted"
    assert run.processes[0].end_ns is None


def test_stopping_and_going_on_is_left_to_the_kernel(tmp_path: Path) -> None:
    with started("sh", "-c", WAITING, cwd=tmp_path) as running:
        ready(running)
        os.killpg(running.pid, signal.SIGSTOP)
        _, how = os.waitpid(running.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(how)
        os.killpg(running.pid, signal.SIGCONT)
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 7


def test_a_killed_profile_can_be_read_and_the_program_goes_on(tmp_path: Path) -> None:
    with started("--rate", "500", "sh", "-c", STUBBORN, cwd=tmp_path) as running:
        ready(running)
        child = child_of(tmp_path / "run")
        time.sleep(2.5)
        running.kill()
        running.wait(60)
        os.kill(child, 0)
        (tmp_path / "enough").touch()
    run = read_run(tmp_path / "run")
    assert run.end is None
    assert run.processes[0].end_ns is None
    for lane in run.lanes:
        slots = run.counters[lane.counters].slots
        reader = LaneReader(tmp_path / "run" / lane.file, slots)
        assert sum(block.samples for block in reader.blocks()) > 0


def test_a_killed_profile_keeps_the_regions_of_its_program(tmp_path: Path) -> None:
    """The program goes on; what it marked until then is on the run's clock."""
    mark = (
        "import os, time; f = open(os.environ['MEMGAUGE_MARKS'], 'a');"
        "at = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW);"
        "print(f'B {at} 1 1 work\\nE {at + 10**8} 1 1 work', file=f)"
    )
    program = f'{sys.executable} -c "{mark}"; {STUBBORN}'
    with started("--rate", "500", "sh", "-c", program, cwd=tmp_path) as running:
        ready(running)
        child_of(tmp_path / "run")
        running.kill()
        running.wait(60)
        (tmp_path / "enough").touch()
    run = read_run(tmp_path / "run")
    assert run.end is None
    (region,) = run.regions
    assert (region.name, (region.end_ns or 0) - region.begin_ns) == ("work", 10**8)
    assert region.begin_ns > run.processes[0].begin_ns


def test_what_a_forking_program_does_is_in_the_record(tmp_path: Path) -> None:
    """Three children of 32 MiB of first touches, each waited for."""
    touch = f"{sys.executable} -c 'bytearray(32 << 20)'"
    assert done("sh", "-c", f"{touch}; {touch} & wait; exec {touch}", cwd=tmp_path).returncode == 0
    run = read_run(tmp_path / "run")
    counter = next(c for c in run.counters["process"].of if c.event == "proc:minor_faults")
    lane = next(lane for lane in run.lanes if lane.counters == "process")
    reader = LaneReader(tmp_path / "run" / lane.file, run.counters["process"].slots)
    last = [block.values(2 + counter.slot)[-1] for block in reader.blocks()][-1]
    assert last >= 3 * (32 << 20) / resource.getpagesize() * 0.1  # huge pages need few faults


def test_processes_that_outlive_the_program_hold_nothing_up_and_are_told(tmp_path: Path) -> None:
    script = "(sleep 60 </dev/null >/dev/null 2>&1 & echo $! >sleeper); exit 4"
    assert done("sh", "-c", script, cwd=tmp_path).returncode == 4
    os.kill(int((tmp_path / "sleeper").read_text()), signal.SIGKILL)
    warnings = read_run(tmp_path / "run").warnings
    assert [w.message for w in warnings if w.code == "left-behind"] == [
        "one process was still running when the program ended; what came after is not in here"
    ]


def test_a_process_that_runs_is_attached_to_until_it_ends(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "8"]) as sleeper:
        watched = done("--pid", str(sleeper.pid), cwd=tmp_path)
    assert watched.returncode == 0, watched.stderr
    (process,) = read_run(tmp_path / "run").processes
    assert (process.attached, process.pid, process.command) == (True, sleeper.pid, ["sleep", "8"])
    assert process.end_ns is not None
    assert (process.exit_code, process.signal) == (None, None)


def test_ctrl_c_ends_the_watch_of_an_attached_process_and_nothing_else(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        with started("--pid", str(sleeper.pid), cwd=tmp_path) as running:
            assert child_of(tmp_path / "run") == sleeper.pid
            running.send_signal(signal.SIGINT)
            assert running.wait(60) == 0
        assert sleeper.poll() is None
        sleeper.kill()
    run = read_run(tmp_path / "run")
    assert status(run) == "complete"
    assert run.processes[0].end_ns is None


def test_a_pid_of_nobody_is_one_clear_line(tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as ended:
        pass
    refused = done("--pid", str(ended.pid), cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr == (
        f"memgauge: --pid {ended.pid}: no such process is running; 'ps' lists running "
        "processes\n".encode()
    )
    assert not (tmp_path / "run").exists()


def become_nobody() -> None:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


def nobodys_python() -> list[str] | None:
    """An interpreter that user 65534 may run and that finds memgauge; None where there is none."""
    places = [place for place in sys.path if place and "zip" not in place]
    code = f"import sys; sys.path[:0] = {places!r}; "
    for path in (sys.executable, "/usr/bin/python3"):
        command = [path, "-c", code + "import memgauge._core, memgauge.commands.profile"]
        try:
            subprocess.run(
                command, check=True, capture_output=True, preexec_fn=become_nobody, cwd="/"
            )
        except (OSError, subprocess.SubprocessError):
            continue
        return [path, "-c", code + "from memgauge.__main__ import main; sys.exit(main())"]
    return None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_an_unprivileged_user_is_told_what_is_missing(tmp_path: Path) -> None:
    python = nobodys_python()
    if python is None:
        pytest.skip("no Python that another user may run finds memgauge")
    everyones = Path(tempfile.gettempdir())
    for place in takewhile(lambda place: place != everyones, (tmp_path, *tmp_path.parents)):
        place.chmod(0o777)

    def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*python, "profile", "--output", "run", "--no-report", *arguments],
            cwd=tmp_path,
            capture_output=True,
            timeout=120,
            check=False,
            preexec_fn=become_nobody,
        )

    refused = run("--pid", str(os.getpid()))
    assert refused.returncode == 2
    assert b"belongs to user 0 and you are user 65534" in refused.stderr
    made = run("sh", "-c", "exit 5")
    assert made.returncode == 5, made.stderr
    recorded = read_run(tmp_path / "run")
    known = {w.message.partition(":")[0] for w in recorded.warnings if w.code == "not-watched"}
    watched = {counters.partition("-")[0] for counters in recorded.counters}
    shared = {"net": "network", "perf": "software"}  # of those that share a lane
    back_ends = {counter.back_end for opened in recorded.counters.values() for counter in opened.of}
    watched |= {name for back_end, name in shared.items() if back_end in back_ends}
    assert "process" in watched
    assert known | watched >= set(USUAL)
    assert all(name.encode() in made.stderr for name in known)


def limited(which: int, most: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(which, (most, most))


def test_a_full_disk_ends_recording_and_not_the_program(tmp_path: Path) -> None:
    """The limit of file sizes stands in for it, raised again for the program by none."""
    full = done(
        *("--rate", "1000", "--components", "software,process,network"),
        *("sh", "-c", "sleep 4; echo through; exit 6"),
        cwd=tmp_path,
        prepare=limited(resource.RLIMIT_FSIZE, 40_000),
    )
    assert full.returncode == 6
    assert full.stdout == b"through\n"
    run = read_run(tmp_path / "run")
    assert any("could not be written: File too large" in w.message for w in run.warnings)


def test_few_descriptors_leave_components_out_and_say_so(tmp_path: Path) -> None:
    few = done("sh", "-c", "exit 8", cwd=tmp_path, prepare=limited(resource.RLIMIT_NOFILE, 16))
    assert few.returncode == 8, few.stderr
    if few.stderr:
        assert few.stderr.startswith(b"memgauge: profile: not recorded: ")
    else:
        warnings = read_run(tmp_path / "run").warnings
        assert any("Too many open files" in warning.message for warning in warnings)


def test_the_same_from_python(tmp_path: Path) -> None:
    result = memgauge.profile(
        ["sh", "-c", "exit 3"], rate=200, components=("process",), output=str(tmp_path / "run")
    )
    assert result.run.processes[0].exit_code == 3
    assert [lane.interval_ns for lane in result.run.lanes] == [20_000_000]
    assert list(result.run.counters) == ["process"]
    with pytest.raises(CommandNotFound):
        memgauge.profile(["no-such-command"], output=str(tmp_path / "other"))
    with pytest.raises(RequestError, match="either a command"):
        memgauge.profile(output=str(tmp_path / "other"))


def test_too_few_descriptors_are_the_reason_that_is_told(tmp_path: Path) -> None:
    few = done("true", cwd=tmp_path, quiet=False, prepare=limited(resource.RLIMIT_NOFILE, 20))
    for wrong in (b"does not exist", b"went away", b"Traceback"):
        assert wrong not in few.stderr, few.stderr


class _Interrupted(Watcher):
    """Ctrl-C between the first record and the program's first instruction."""

    def begins(self, warnings: Sequence[Warning]) -> None:
        raise KeyboardInterrupt


@pytest.mark.parametrize("watcher", [_Interrupted(), Watcher()], ids=["opening", "opened"])
def test_a_signal_before_the_program_starts_leaves_a_closed_record(
    watcher: Watcher, tmp_path: Path
) -> None:
    request = ProfileRequest(
        command=["true"],
        parameters=ProfileParameters(components=("process",)),
        directory=tmp_path / "run",
        system=detect(),
    )
    with pytest.raises(KeyboardInterrupt), opened(request, watcher):
        raise KeyboardInterrupt
    run = read_run(tmp_path / "run")
    assert run.end is not None
    assert (run.end.status, run.end.reason, run.processes) == ("interrupted", "Ctrl-C", [])
