"""Finds, starts and waits for valgrind, which executes a program and reports its accesses.

Source: the Valgrind User Manual, sections 2 (core options) and 6 (callgrind). Valgrind executes the
threads of a program one at a time.
"""

from __future__ import annotations

import os
import signal
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import msgspec

from memgauge.model.errors import (
    CommandNotFound,
    ExitCode,
    MemgaugeError,
    RequestError,
    SimulationFailed,
)
from memgauge.model.termination import Terminated
from memgauge.model.text import plain, quoted
from memgauge.simulation.signals import ENDING, passing_on
from memgauge.system.programs.ending import kill_tree
from memgauge.system.programs.exit_with_parent import exit_with_parent
from memgauge.system.programs.program import Ended, candidates, check_startable, find_program

OPTIONS = ("--command-line-only=yes", "--vgdb=no")
"""Options for every tool: no options from elsewhere (VALGRIND_OPTS, .valgrindrc in the home and
working directory), which would change the counts, and no debugger pipes, which remain after a kill.
"""
INSTALL = "install it (Debian: apt-get install valgrind)"
_KILL_AFTER_S = 5.0


class Valgrind(msgspec.Struct, frozen=True):
    """The installed valgrind."""

    path: str
    version: str
    """Version, such as `3.19.0`."""


def find_valgrind() -> Valgrind:
    """Find valgrind in PATH.

    Raises:
        RequestError: it is not installed, or does not start.
    """
    path = find_program("valgrind")
    if path is None:
        raise RequestError(
            f"valgrind is not installed, and simulating a program needs it; {INSTALL}"
        )
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise RequestError(
            f"valgrind ({path}) does not start: {plain(str(error))}; {INSTALL}"
        ) from error
    return Valgrind(path, done.stdout.strip().removeprefix("valgrind-"))


def check_command(command: Sequence[str]) -> None:
    """Refuse what valgrind cannot execute.

    Raises:
        CommandNotFound, CommandNotExecutable: under the same conditions as in a shell.
        RequestError: the program is setuid or setgid.
    """
    check_startable(command[0], candidates(command[0], os.environ.get("PATH", os.defpath)))
    file = by_path(command)[0]
    if Path(file).stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
        raise RequestError(
            f"{quoted(command[0])}: is setuid or setgid, which valgrind cannot execute; simulate "
            "the program that it starts"
        )


def by_path(command: Sequence[str]) -> list[str]:
    """The command with the path of its program, because valgrind's own search differs.

    Valgrind searches the working directory if an entry of PATH is empty.
    """
    return [find_program(command[0]) or command[0], *command[1:]]


@contextmanager
def running(
    words: Sequence[str],
    *,
    output: int | IO[bytes] | None = None,
    keep: Sequence[int] = (),
    directory: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run valgrind; signals go to the program, and valgrind has ended on exit, even after an error.

    If this process is killed, valgrind ends too, with everything it started.

    Args:
        words: its command line.
        output: descriptor for the program's standard output; None for this process's own.
        keep: descriptors that it inherits.
        directory: its `work_directory`, which is removed if this process is killed.
        environment: its environment; None for that of this process.
    """
    try:
        child = subprocess.Popen(words, stdout=output, pass_fds=tuple(keep), env=environment)
    except OSError as error:
        raise SimulationFailed(
            f"valgrind cannot be started: {error.strerror}; {INSTALL}"
        ) from error
    try:
        with exit_with_parent(child.pid, directory), passing_on(child.pid):
            yield child
    finally:
        _end(child)


def how_it_ended(child: subprocess.Popen[bytes]) -> Ended:
    """Waits for it."""
    code = child.wait()
    return Ended(signal=-code) if code < 0 else Ended(exit_code=code)


def nothing_counted(command: Sequence[str], ended: Ended, known: str) -> MemgaugeError | Terminated:
    """The error for a program that was started without yielding a result.

    This is `Terminated` if a terminating signal came before its first instruction; the exit code is
    then that of the signal, as for a program that had begun.

    Args:
        command: The program and its arguments, as the user gave them.
        ended: Exit code or signal of valgrind's process.
        known: Last message of valgrind, which may say why; empty if it printed none.
    """
    if ended.signal in ENDING:
        return Terminated(ended.signal)
    how = f"exit code {ended.exit_code}" if ended.signal is None else _name(ended.signal)
    if ended.exit_code == ExitCode.NOT_FOUND:
        return CommandNotFound(f"{quoted(command[0])}: valgrind cannot find it; check its name")
    if ended.signal == signal.SIGKILL:
        return SimulationFailed(
            f"{quoted(command[0])}: was killed (SIGKILL) before valgrind could report its counts; "
            "end it with another signal"
        )
    why = f": {plain(known)}" if known else ""
    return SimulationFailed(
        f"{quoted(command[0])}: valgrind simulated none of it ({how}){why}; use a program built "
        "for this machine's architecture and word size"
    )


def _name(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill the process and everything it started, after an interrupted simulation."""
    if child.poll() is not None:
        return
    child.terminate()
    try:
        child.wait(_KILL_AFTER_S)
    except subprocess.TimeoutExpired:
        kill_tree(child.pid)
        child.wait()
