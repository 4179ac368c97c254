"""Commands in a fork of a process that has imported memgauge are as commands started anew."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from tests.integration import warm
from tests.integration.command import command

pytestmark = pytest.mark.native

COMMANDS = [
    ("--help",),
    ("machines", "--json"),
    ("stream", "--threads", "0"),
    ("report", "nowhere"),
    ("counters", "explain", "prf:cycles"),
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_exit_code_and_output_are_those_of_a_new_process(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    anew = subprocess.run(
        command(*arguments), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    done = warm.run(arguments, tmp_path, os.environ, 60)
    assert (done.returncode, done.stdout, done.stderr) == (
        anew.returncode,
        anew.stdout,
        anew.stderr,
    )


def test_directory_and_environment_are_those_given(tmp_path: Path) -> None:
    program = 'pwd; echo "$MARK ${HOME-none}"; exit 5'
    words = ("profile", "--quiet", "--no-report", "--output", "run", "--", "sh", "-c", program)
    given = {name: value for name, value in os.environ.items() if name != "HOME"}
    done = warm.run(words, tmp_path, given | {"MARK": "given"}, 60)
    assert (done.returncode, done.stdout) == (5, f"{tmp_path}\ngiven none\n"), done.stderr
    assert (tmp_path / "run" / "records.jsonl").exists()
    assert "MARK" not in warm.run(("--version",), tmp_path, os.environ, 60).stdout


def in_shell(line: str, place: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", line],
        cwd=place,
        env=warm.shell_environment(os.environ),
        input="given\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_shell_finds_a_command_that_is_run_in_a_fork(tmp_path: Path) -> None:
    """With its three streams, its exit code, beside others, on the CPUs and in the place it has."""
    cpu = min(os.sched_getaffinity(0))
    quiet = "memgauge profile --quiet --no-report --output"
    shows = 'sh -c "cat; pwd; taskset -pc \\$\\$; exit 5"'
    done = in_shell(f"taskset -c {cpu} {quiet} run -- {shows}; exit $?", tmp_path)
    assert done.returncode == 5, done.stderr
    read, where, cpus = done.stdout.splitlines()
    assert (read, where) == ("given", str(tmp_path))
    assert cpus.endswith(f": {cpu}")
    piped = in_shell("memgauge machines --json | grep -c hybrid-12; memgauge nothing", tmp_path)
    assert (piped.returncode, piped.stdout) == (2, "1\n")
    assert piped.stderr.startswith("memgauge: ")
    ended = in_shell(f"{quiet} other -- sh -c 'kill -KILL $PPID'", tmp_path)
    assert ended.returncode == -signal.SIGKILL


def test_a_command_that_does_not_end_is_killed(tmp_path: Path) -> None:
    words = ("profile", "--quiet", "--no-report", "--", "sh", "-c", "echo $$ >pid; exec sleep 60")
    with pytest.raises(subprocess.TimeoutExpired):
        warm.run(words, tmp_path, os.environ, 3)
    pid = tmp_path / "pid"
    if pid.exists():  # else it was too slow to begin
        os.kill(int(pid.read_text()), 9)
    assert warm.run(("--version",), tmp_path, os.environ, 60).returncode == 0


def test_what_a_process_reads_at_its_start_needs_one_that_starts() -> None:
    assert warm.suits(os.environ)
    assert warm.suits(dict(os.environ) | {"XDG_STATE_HOME": "/elsewhere"})
    assert not warm.suits(dict(os.environ) | {"LANG": "xx_YY.latin-1"})
    assert not warm.suits(dict(os.environ) | {"LD_LIBRARY_PATH": "/elsewhere"})
