"""Signals that end a program, made to unwind it as Ctrl-C does, so that nothing is left behind."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from memgauge.model.startup import ENDING_SIGNALS, leave

_CALLBACK_S = 1e-3
"""Longer than a callback takes to return. One that takes longer drops the signal once more."""


def shell_exit_code(exit_code: int | None, signal_number: int | None) -> int:
    """Of a program that ended, as shells have it: 128 + N where signal N ended it.

    0 where neither is known.
    """
    return (exit_code or 0) if signal_number is None else 128 + signal_number


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, where `unwinding` takes it."""


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
    """Let Ctrl-C raise `Interrupted`, and the signals that would end the process `Terminated`.

    While one of them unwinds, a second signal is ignored, so that it does not tear what the first
    one closes and removes; a third ends the process at once. Outside of it they do what they did
    before, as end the process at once while memgauge starts. Signals that are ignored, as under
    nohup, or that have a handler of somebody else already stay as they are. Does nothing outside
    the main thread, which alone may set what signals do.

    Python drops an exception that leaves a callback, such as that of a weak reference or a
    destructor. A signal that came during one is sent again.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = (signal.SIG_DFL, signal.default_int_handler, leave)
    raising = _Raising()
    before: dict[int, Any] = {}
    usual_hook = sys.unraisablehook

    def hook(dropped: sys.UnraisableHookArgs) -> None:
        if raising.raised(dropped.exc_value):
            raising.send_again()
        else:
            usual_hook(dropped)

    try:
        sys.unraisablehook = hook
        for number in (signal.SIGINT, *ENDING_SIGNALS):
            if signal.getsignal(number) in usual:
                before[number] = signal.signal(number, raising)
        yield
    finally:
        for taken, handler in before.items():
            signal.signal(taken, handler)
        sys.unraisablehook = usual_hook


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


class _Raising:
    """A handler that raises, unless what it raised before is still on its way."""

    def __init__(self) -> None:
        self._raised: weakref.ref[KeyboardInterrupt] | None = None
        self._number: int = signal.SIGINT
        self._repeated = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self._raised is None or self._raised() is None:
            self._repeated = False
            self._number = number
            self._raise(Interrupted() if number == signal.SIGINT else Terminated(number))
        elif self._repeated:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self._repeated = True

    def raised(self, error: BaseException | None) -> bool:
        """Whether this handler raised this error, for the signal that came last."""
        return error is not None and self._raised is not None and self._raised() is error

    def send_again(self) -> None:
        """Send the last signal once more, from a thread, when the caller has returned.

        The hook for dropped exceptions would drop one that is raised in itself.
        """
        self._raised = None
        try:
            _thread.start_new_thread(_send_later, (threading.get_ident(), self._number))
        except RuntimeError:  # no thread may be started, and a signal must not be lost
            leave(self._number, None)

    def _raise(self, error: KeyboardInterrupt) -> NoReturn:
        self._raised = weakref.ref(error)
        try:
            raise error
        finally:
            del error  # else its traceback keeps it until the next garbage collection


def _send_later(thread_id: int, number: int) -> None:
    time.sleep(_CALLBACK_S)
    signal.pthread_kill(thread_id, number)
