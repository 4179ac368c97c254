"""Processes of a command: started in a session of their own, and found to the last descendant."""

from __future__ import annotations

import ctypes
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from tests.kills.scenarios import SHARED_MEMORY

from memgauge.__main__ import main
from memgauge.model.errors import ExitCode
from memgauge.system.programs.program import adopt_orphans, tree_of

if TYPE_CHECKING:
    from tests.kills.place import Place

GRACE_S = 60.0
"""For what ends, or is to end: a busy machine may stop a process for long."""
_POLL_S = 0.01
_CLONE_NEWNS = 0x20000
_MS_REC_PRIVATE = (1 << 14) | (1 << 18)


class Ended(msgspec.Struct, frozen=True):
    """How a command ended."""

    code: int
    """As shells have it."""
    out: str
    error: str

    @property
    def is_empty(self) -> bool:
        """Whether its budget ended before anything was measured."""
        return self.code == ExitCode.FAILED and "nothing was measured" in self.error


def be_alone() -> Path | None:
    """Adopt what loses its parent, and have a shared memory of one's own.

    Returns where that is; None where this process may not (it is root's to do).
    """
    adopt_orphans(on=True)
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(_CLONE_NEWNS):
        return None
    library.mount(None, b"/", None, _MS_REC_PRIVATE, None)
    where = str(SHARED_MEMORY).encode()
    return None if library.mount(b"none", where, b"tmpfs", 0, None) else SHARED_MEMORY


def obey_signals() -> None:
    """What a background job ignores is ignored by all that it starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


class Running:
    """A command under way."""

    def __init__(self, words: Sequence[str], place: Place, *, terminal: bool) -> None:
        self._files = [place.root / "out", place.root / "error"]
        self._terminal: int | None = None
        with self._files[0].open("wb") as out, self._files[1].open("wb") as error:
            stderr = self._open_terminal(error.fileno()) if terminal else error.fileno()
            self.process = subprocess.Popen(
                words,
                cwd=place.work,
                env=place.environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=stderr,
                start_new_session=True,
            )
        if terminal:
            os.close(stderr)

    def _open_terminal(self, copy_to: int) -> int:
        """Its other end, copied by a thread that ends with the last holder."""
        self._terminal, other = pty.openpty()
        threading.Thread(target=_copy, args=(self._terminal, os.dup(copy_to)), daemon=True).start()
        return other

    def lasts(self, seconds: float) -> bool:
        """Whether it still runs after so long."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
            return False
        return True

    def send(self, number: int, *, to_group: bool) -> None:
        """A signal, to the process or to its process group; none to what has ended."""
        with suppress(ProcessLookupError):
            (os.killpg if to_group else os.kill)(self.process.pid, number)

    def ended(self) -> Ended | None:
        """Waits for it; None: it does not end."""
        if self.lasts(GRACE_S):
            return None
        code = self.process.returncode
        out, error = (path.read_text(encoding="utf-8", errors="replace") for path in self._files)
        return Ended(code if code >= 0 else 128 - code, out, error)


def _copy(source: int, target: int) -> None:
    with suppress(OSError):  # the last holder of the other end has closed it
        while got := os.read(source, 1 << 16):
            os.write(target, got)
    os.close(source)
    os.close(target)


@contextmanager
def nothing_outlives() -> Iterator[None]:
    """Kill what is still there on leaving."""
    try:
        yield
    finally:
        for pid in descendants():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        until(lambda: not descendants())


def descendants() -> dict[int, str]:
    """Processes that this one is the ancestor of, with their command lines; the dead are reaped."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return {pid: _command_line(pid) for pid in tree_of(os.getpid())[1:]}


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ").strip()
    except OSError:
        return "?"


def until(happens: Callable[[], object], seconds: float = GRACE_S) -> bool:
    """Whether it happens within the time."""
    deadline = time.monotonic() + seconds
    while not happens():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def called(place: Place, *arguments: str) -> Ended:
    """`memgauge` as a process that need not start: a fork of this one."""
    files = [place.root / "called-out", place.root / "called-error"]
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            os.environ.clear()
            os.environ.update(place.environment)
            os.chdir(place.work)
            for number, path in enumerate(files, 1):
                os.dup2(os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), number)
            code = main(arguments)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    out, error = (path.read_text(encoding="utf-8", errors="replace") for path in files)
    for path in files:
        path.unlink()
    return Ended(code, out, error)
