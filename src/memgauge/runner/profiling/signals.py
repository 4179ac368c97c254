"""What memgauge does with signals while it watches a program.

Ctrl-C and SIGQUIT are the program's, which the terminal sends them to as well. Signals sent to
memgauge by hand or by a batch system are passed on. Stopping (Ctrl-Z) and going on is left to the
kernel: both stop, and both go on.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import msgspec

from memgauge.model.termination import Terminated, heed
from memgauge.system.programs.program import send

IGNORED = (signal.SIGINT, signal.SIGQUIT)
ENDING = (signal.SIGTERM, signal.SIGHUP)
PASSED_ON = (signal.SIGUSR1, signal.SIGUSR2)


class Received(msgspec.Struct):
    """What came."""

    ending: int | None = None
    """The first signal that asked for the end."""


@contextmanager
def passing_on(pid: int) -> Iterator[Received]:
    """Pass signals on to a process; a second one that asks for the end raises `Terminated`.

    One that came before raises on entering, where Python dropped it.

    What is ignored, as under nohup, stays ignored, but for SIGCHLD: a kernel that ignores it tells
    nobody how a child ended. Nothing is changed outside of the main thread.
    """
    received = Received()
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def pass_on(number: int, frame: FrameType | None) -> None:
        del frame
        if number in ENDING and received.ending is not None:
            raise Terminated(number)
        if number in ENDING:
            received.ending = number
        send(number, [pid])

    before = {}
    try:
        for number in (*ENDING, *PASSED_ON):
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, pass_on)
        if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
            before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number in IGNORED:
            before[number] = signal.signal(number, signal.SIG_IGN)
        heed()
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
