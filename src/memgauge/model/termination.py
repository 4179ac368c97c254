"""Signals that end a program, made to unwind it as Ctrl-C does, so that nothing is left behind."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING_SIGNALS = (
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGXCPU,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
"""What users, terminals and batch systems send, and what ends a process that does nothing."""


def shell_exit_code(exit_code: int | None, signal_number: int | None) -> int:
    """Of a program that ended, as shells have it: 128 + N where signal N ended it.

    0 where neither is told.
    """
    return (exit_code or 0) if signal_number is None else 128 + signal_number


class Terminated(KeyboardInterrupt):
    """A signal asked the program to end. What unwinds on Ctrl-C unwinds on this."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal.Signals(signal_number).name)
        self.signal_number = signal_number

    @property
    def exit_code(self) -> int:
        """As shells have it."""
        return shell_exit_code(None, self.signal_number)


@contextmanager
def unwinding() -> Iterator[None]:
    """Let the signals that would end the process raise `Terminated` in here.

    Those that are ignored, as under nohup, or that have a handler already stay as they are. Does
    nothing outside the main thread, which alone may say what signals do.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    taken = [number for number in ENDING_SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in taken:
            signal.signal(number, _raise)
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def deferred() -> Iterator[None]:
    """Hold back Ctrl-C and the ending signals until this is left, then deliver the first one.

    For a few steps that must not be torn apart. Does nothing outside the main thread, where no
    signal raises.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    before = {}
    try:
        for number in (signal.SIGINT, *ENDING_SIGNALS):
            if callable(signal.getsignal(number)):
                before[number] = signal.signal(number, lambda taken, _frame: held.append(taken))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if held:
            signal.raise_signal(held[0])


def _raise(number: int, frame: FrameType | None) -> None:
    del frame
    raise Terminated(number)
