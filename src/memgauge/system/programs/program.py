"""A program that memgauge starts or attaches to: how it begins, and how its end is detected."""

from __future__ import annotations

import errno
import os
import resource
import select
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, Protocol

import msgspec

from memgauge.model.errors import (
    CommandNotExecutable,
    CommandNotFound,
    RequestError,
    SystemFailure,
)
from memgauge.model.record_kinds.programs import Usage
from memgauge.model.text import quoted
from memgauge.system.native import load_core
from memgauge.system.tree import ROOT, Tree, whole_number

_POLL_S = 0.02
"""Seconds between two checks where the kernel does not wake us (before Linux 5.3)."""


class Ended(msgspec.Struct, frozen=True):
    """How a program ended.

    Both fields are None if unknown, as for a process that is not a child.
    """

    exit_code: int | None = None
    signal: int | None = None


class Subject(Protocol):
    """A program to profile."""

    pid: int
    attached: bool
    command: list[str]

    def start(self) -> None:
        """Let the program run if it is not running yet."""

    def wait(self, timeout_s: float) -> Ended | None:
        """How it ended; None: it still runs after so long."""

    def close(self) -> None:
        """Let go of it."""


class Program:
    """A command of our own, held before its first instruction until `start`.

    Its working directory, descriptors, terminal, process group, limits and signals are those that
    memgauge was started with.

    Raises:
        CommandNotFound: no such file.
        CommandNotExecutable: a file that may not be run.
    """

    attached = False

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.command = list(command)
        self._held = load_core().HeldProcess(*_startable(command, environment))
        self.pid: int = self._held.pid
        self._ended: Ended | None = None
        self._reaped = False
        self._usage: Usage | None = None
        self.peak_floor_bytes = resident_peak(self.pid)
        """The largest resident size of its process before the program, a copy of this one."""
        self._descriptor = _pidfd(self.pid)

    def start(self) -> None:
        """Let the program begin.

        Raises:
            CommandNotExecutable: the kernel refused to run it; its process is gone.
        """
        error = self._held.release()
        if error:
            raise _not_started(self.command[0], error)

    def wait(self, timeout_s: float) -> Ended | None:
        """How it ended; None: it still runs after so long.

        Its files in procfs can be read until `usage`, `reap_orphans` or `close` is called.
        """
        if self._ended is None and _sleep_until_end(self._descriptor, timeout_s, self._look):
            self._look()
        return self._ended

    def reap_orphans(self) -> int:
        """Reap adopted orphans that have ended; return how many living ones remain.

        Call this only in a process all of whose children belong to this program.
        """
        while True:
            try:
                pid, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return 0
            if pid == 0:
                return len(children_of(os.getpid()) - {self.pid})
            if pid == self.pid:
                self._ended, self._reaped, self._usage = _ended(status), True, _usage(used)

    def usage(self) -> Usage | None:
        """What the kernel accounts to it, once it has ended; its process is gone then."""
        if self._ended is not None and not self._reaped:
            *_, used = os.wait4(self.pid, 0)
            self._reaped, self._usage = True, _usage(used)
        return self._usage

    def close(self) -> None:
        """Release the program; one that was never started is ended."""
        self.usage()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        del self._held

    def _look(self) -> bool:
        if self._ended is None:
            left = os.WEXITED | os.WNOHANG | os.WNOWAIT
            found = os.waitid(os.P_PID, self.pid, left)
            self._ended = _told(found) if found else None
        return self._ended is not None


class Attached:
    """A process that was already running.

    Args:
        pid: Its number.
        root: Of procfs.
        any_user: Whether another user's process will do, where only its life is watched.

    Raises:
        RequestError: no process has this number, it has ended, or it belongs to another user.
    """

    attached = True

    def __init__(self, pid: int, root: Path = ROOT, *, any_user: bool = False) -> None:
        self.pid = pid
        self._tree = Tree(root)
        self._began = start_ticks_of(pid, self._tree)
        if self._began is None:
            raise RequestError(
                f"--pid {pid}: no such process is running; 'ps' lists running processes"
            )
        self._check(any_user=any_user)
        words = (self._tree.raw(f"/proc/{pid}/cmdline") or b"").rstrip(b"\0").split(b"\0")
        name = self._tree.text(f"/proc/{pid}/comm") or ""
        known = [word.decode("utf-8", "replace") for word in words]
        self.command = known if any(known) else [f"[{name}]"]
        self._descriptor = _pidfd(pid)

    def start(self) -> None:
        """Do nothing: the process is already running."""

    def wait(self, timeout_s: float) -> Ended | None:
        """An `Ended` without details, because only the parent learns how a process ended."""
        if _sleep_until_end(self._descriptor, timeout_s, self._look) or self._look():
            return Ended()
        return None

    def close(self) -> None:
        """Release the process; it continues to run."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _look(self) -> bool:
        return start_ticks_of(self.pid, self._tree) != self._began

    def _check(self, *, any_user: bool) -> None:
        status = self._tree.text(f"/proc/{self.pid}/status") or ""
        said = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        leader = said.get("Tgid", str(self.pid)).strip()
        if leader != str(self.pid):
            raise RequestError(
                f"--pid {self.pid}: is a thread of process {leader}; give --pid {leader}"
            )
        owner = (said.get("Uid", "").split() or [str(os.geteuid())])[0]
        if not any_user and os.geteuid() not in {0, whole_number(owner)}:
            raise RequestError(
                f"--pid {self.pid}: belongs to user {owner} and you are user {os.geteuid()}; "
                "run memgauge as that user or as root"
            )


def become(command: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Replace this process with a command, which then runs as if started without memgauge.

    Raises:
        CommandNotFound: no such file.
        CommandNotExecutable: the file may not be executed, or the kernel refuses to run it.
    """
    error = load_core().become_program(*_startable(command, environment))
    raise _not_started(command[0], error)


def _startable(
    command: Sequence[str], environment: Mapping[str, str]
) -> tuple[list[bytes], list[bytes], list[bytes]]:
    """Arguments, files to try in turn, and the environment, in the form the native core expects."""
    paths = candidates(command[0], environment.get("PATH", os.defpath))
    check_startable(command[0], paths)
    return (
        [os.fsencode(word) for word in command],
        [os.fsencode(path) for path in paths],
        [os.fsencode(f"{name}={value}") for name, value in environment.items()],
    )


def _not_started(name: str, error: int) -> CommandNotExecutable:
    return CommandNotExecutable(
        f"{quoted(name)}: cannot be started: {os.strerror(error)}; "
        "check the file and the interpreter it names"
    )


def candidates(name: str, path: str) -> list[str]:
    """The files that a command may mean, as execvp(3) tries them.

    Empty and relative entries of PATH are skipped: they depend on the working directory, whose
    programs are run only if named with a slash.
    """
    if "/" in name:
        return [name]
    return [os.path.join(folder, name) for folder in path.split(":") if folder.startswith("/")]  # noqa: PTH118 - bytes stay as given


def find_program(name: str) -> str | None:
    """The file of a program that memgauge itself runs, found in PATH; None if there is none."""
    paths = candidates(name, os.environ.get("PATH", os.defpath))
    return next((path for path in paths if _is_program(path)), None)


def check_startable(name: str, paths: Sequence[str]) -> None:
    """Refuse commands that cannot be run before anything is created for them.

    Raises:
        CommandNotFound: none of the files exists.
        CommandNotExecutable: the files that exist may not be executed.
    """
    found = [path for path in paths if name and os.path.exists(path)]  # noqa: PTH110
    if not found:
        remedy = "check its name and PATH"
        if "/" not in name and os.path.exists(name):  # noqa: PTH110
            remedy = f"to run the program in this directory, write {quoted('./' + name)}"
        raise CommandNotFound(f"{quoted(name)}: command not found; {remedy}")
    if not any(map(_is_program, found)):
        where = f" ({quoted(found[0])})" if found[0] != name else ""
        what = "a directory" if os.path.isdir(found[0]) else "no file that you may run"  # noqa: PTH112
        remedy = "name a program" if what == "a directory" else "check its mode"
        raise CommandNotExecutable(f"{quoted(name)}{where}: is {what}; {remedy}")


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)  # noqa: PTH113


def adopt_orphans(*, on: bool) -> None:
    """Whether descendants whose parent ended become children of this process (prctl(2))."""
    load_core().adopt_orphans(on)


def children_of(pid: int, root: Path = ROOT) -> set[int]:
    """Living children of a process, found in the kernel's list of all processes."""
    return {child for child, parent in _parents(Tree(root)).items() if parent == pid}


def tree_of(pid: int, root: Path = ROOT) -> list[int]:
    """A process and its descendants."""
    parents = _parents(Tree(root))
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def parent_of(pid: int, tree: Tree) -> int | None:
    """The parent of a process; None if there is no such process."""
    fields = _stat(tree, pid)
    return whole_number(fields[1]) if len(fields) > 1 else None


def start_ticks_of(pid: int, tree: Tree) -> str | None:
    """Start time in ticks since boot, which distinguishes reused numbers; None if it has ended."""
    fields = _stat(tree, pid)
    return None if len(fields) < 20 or fields[0] in "ZX" else fields[19]


def lives(pid: int, root: Path = ROOT) -> bool:
    """Whether a process exists and is not a zombie."""
    return start_ticks_of(pid, Tree(root)) is not None


def send(number: int, processes: Iterable[int]) -> None:
    """Send a signal to those processes that exist and may be signalled."""
    for pid in processes:
        with suppress(OSError):  # it may just have ended, or belong to another user
            os.kill(pid, number)


def _parents(tree: Tree) -> dict[int, int]:
    """The parent of each process that is not a zombie."""
    parents = {}
    for name in tree.names("/proc"):
        pid = whole_number(name)
        fields = [] if pid is None else _stat(tree, pid)
        parent = whole_number(fields[1]) if len(fields) > 1 and fields[0] not in "ZX" else None
        if pid is not None and parent is not None:
            parents[pid] = parent
    return parents


def _stat(tree: Tree, pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the state on (proc(5)).

    The name before may contain anything.
    """
    return (tree.text(f"/proc/{pid}/stat") or "").rpartition(")")[2].split()


def _pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except OSError as error:
        if error.errno in {errno.ENOSYS, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.ESRCH}:
            return None
        raise SystemFailure(f"process {pid}: cannot be watched: {error.strerror}") from error


def _sleep_until_end(descriptor: int | None, timeout_s: float, look: Callable[[], bool]) -> bool:
    """Whether the process ended within the time."""
    if descriptor is not None:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(timeout_s * 1000))
    until = time.monotonic() + timeout_s
    while not look():
        if (left_s := until - time.monotonic()) <= 0:
            return False
        time.sleep(min(left_s, _POLL_S))
    return True


def resident_peak(pid: int, root: Path = ROOT) -> int | None:
    """The largest resident size so far of a process, in bytes; None: not known."""
    status = Tree(root).text(f"/proc/{pid}/status") or ""
    lines = (line.split() for line in status.splitlines() if line.startswith("VmHWM:"))
    known = [whole_number(words[1]) for words in lines if len(words) > 1]
    return known[0] * 1024 if known and known[0] is not None else None


def _usage(used: resource.struct_rusage) -> Usage:
    return Usage(
        user_s=max(0.0, used.ru_utime),
        system_s=max(0.0, used.ru_stime),
        peak_resident_bytes=used.ru_maxrss * 1024,
        minor_faults=used.ru_minflt,
        major_faults=used.ru_majflt,
        voluntary_switches=used.ru_nvcsw,
        involuntary_switches=used.ru_nivcsw,
    )


def _told(found: os.waitid_result) -> Ended:
    if found.si_code == os.CLD_EXITED:
        return Ended(exit_code=found.si_status)
    return Ended(signal=found.si_status)


def _ended(status: int) -> Ended:
    if os.WIFSIGNALED(status):
        return Ended(signal=os.WTERMSIG(status))
    return Ended(exit_code=os.WEXITSTATUS(status))
