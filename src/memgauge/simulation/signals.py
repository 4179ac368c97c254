"""Forwards signals to a program while it is simulated, whoever sends them.

A terminal sends Ctrl-C to the program as well as to memgauge; a signal sent to memgauge alone, as
by kill or a batch system, is forwarded. The kernel reports the sender. Source: sigaction(2),
si_code.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from memgauge.model.termination import Terminated
from memgauge.system.programs.ending import await_end, kill_tree
from memgauge.system.programs.program import send, tree_of

ENDING = frozenset({signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP})
PASSED_ON = frozenset({signal.SIGUSR1, signal.SIGUSR2})
_POLL_S = 0.1
_OUTLIVING_S = 3.0
"""Seconds for processes that received the signal too, so that they can write their counts."""


@contextmanager
def passing_on(pid: int) -> Iterator[None]:
    """Forward signals to a process; those that request termination, also to everything it started.

    A second signal that requests termination kills them. Ignored signals, as under nohup, stay
    ignored. On exit, all processes that received such a signal have ended. This has no effect
    outside the main thread.

    Raises:
        Terminated: a second signal requested termination.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    watched = {
        number for number in ENDING | PASSED_ON if signal.getsignal(number) is not signal.SIG_IGN
    }
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    passing = _Passing(pid, watched)
    passing.start()
    try:
        yield
    finally:
        passing.stop()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if passing.killed_by is not None:
        raise Terminated(passing.killed_by)


class _Passing(threading.Thread):
    """Receives the signals that the main thread blocks."""

    def __init__(self, pid: int, watched: set[signal.Signals]) -> None:
        super().__init__(name="signals", daemon=True)
        self.killed_by: int | None = None
        self._pid = pid
        self._watched = watched
        self._requested = False
        self._told: list[int] = []
        self._over = threading.Event()

    def run(self) -> None:
        """Receive signals until stopped."""
        while not self._over.is_set():
            found = signal.sigtimedwait(self._watched, _POLL_S)
            if found is not None:
                self._take(found.si_signo, by_terminal=found.si_code > 0)

    def stop(self) -> None:
        """Stop, and wait for the thread and for all processes that were asked to end."""
        self._over.set()
        self.join()
        await_end(self._told, _OUTLIVING_S)

    def _take(self, number: int, *, by_terminal: bool) -> None:
        if number not in ENDING:
            send(number, [self._pid])
        elif self._requested:
            self.killed_by = self.killed_by or number
            kill_tree(self._pid)
        else:
            self._requested = True
            if not by_terminal:
                self._told = tree_of(self._pid)
                send(number, self._told)
