"""Valgrind, which executes a program and tells its accesses: found, started, waited for.

Source: the Valgrind User Manual, sections 2 (core options) and 6 (callgrind). Valgrind executes the
threads of a program one at a time.
"""

from __future__ import annotations

import os
import signal
import stat
import subprocess
from collections.abc import Iterator, Sequence
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
from memgauge.system.programs.exit_with_parent import exit_with_parent, kill_tree
from memgauge.system.programs.program import Ended, candidates, check_startable, find_program

OPTIONS = ("--command-line-only=yes", "--vgdb=no")
"""For every tool: no options from elsewhere (VALGRIND_OPTS, .valgrindrc in the home and the working
directory), which would change what is counted, and no pipes for a debugger, which outlive a kill.
"""
INSTALL = "install it (Debian: apt-get install valgrind)"
_KILL_AFTER_S = 5.0


class Valgrind(msgspec.Struct, frozen=True):
    """The one that is installed."""

    path: str
    version: str
    """Such as `3.19.0`."""


def find_valgrind() -> Valgrind:
    """The one on the PATH.

    Raises:
        RequestError: there is none, or it does not start.
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
        CommandNotFound, CommandNotExecutable: as a shell would have it.
        RequestError: a program that takes other rights when it starts.
    """
    check_startable(command[0], candidates(command[0], os.environ.get("PATH", os.defpath)))
    file = by_path(command)[0]
    if Path(file).stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
        raise RequestError(
            f"{quoted(command[0])}: is setuid or setgid, which valgrind cannot execute; simulate "
            "the program that it starts"
        )


def by_path(command: Sequence[str]) -> list[str]:
    """The command with its program named by its file: valgrind would look it up in its own way.

    That way searches the working directory where an entry of PATH is empty.
    """
    return [find_program(command[0]) or command[0], *command[1:]]


@contextmanager
def running(
    words: Sequence[str],
    *,
    output: int | IO[bytes] | None = None,
    keep: Sequence[int] = (),
    directory: Path | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Valgrind at work; signals go to the program, and however this is left, it has ended.

    Should this process be killed, it ends too, with what it started.

    Args:
        words: its command line.
        output: where the program's standard output goes; None: where ours goes.
        keep: descriptors that it inherits.
        directory: a `work_directory` that it writes to, which is then removed.
    """
    try:
        child = subprocess.Popen(words, stdout=output, pass_fds=tuple(keep))
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
    """Why there is nothing to report of a program that was started.

    `Terminated` where a signal that asks for the end came before its first instruction: the exit
    code is then that of the signal, as of a program that had begun.
    """
    if ended.signal in ENDING:
        return Terminated(ended.signal)
    how = f"exit code {ended.exit_code}" if ended.signal is None else _name(ended.signal)
    if ended.exit_code == ExitCode.NOT_FOUND:
        return CommandNotFound(f"{quoted(command[0])}: valgrind does not find it; check its name")
    if ended.signal == signal.SIGKILL:
        return SimulationFailed(
            f"{quoted(command[0])}: was killed (SIGKILL) before valgrind could report "
            "what it counted; end it by another signal"
        )
    why = f": {plain(known)}" if known else ""
    return SimulationFailed(
        f"{quoted(command[0])}: valgrind simulated nothing of it ({how}){why}; give a program of "
        "this machine's own architecture and word size"
    )


def _name(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"


def _end(child: subprocess.Popen[bytes]) -> None:
    """So that nothing of it is left where simulating was broken off."""
    if child.poll() is not None:
        return
    child.terminate()
    try:
        child.wait(_KILL_AFTER_S)
    except subprocess.TimeoutExpired:
        kill_tree(child.pid)
        child.wait()
