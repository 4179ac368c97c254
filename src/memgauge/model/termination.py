"""Lets terminating signals unwind a program as Ctrl-C does, so that nothing is left behind."""

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
"""Seconds, longer than a callback takes to return; otherwise the signal is dropped once more."""


def shell_exit_code(exit_code: int | None, signal_number: int | None) -> int:
    """The exit code of a program as shells report it: 128 + N if signal N ended it.

    0 if neither is known.
    """
    return (exit_code or 0) if signal_number is None else 128 + signal_number


class Interrupted(KeyboardInterrupt):
    """Raised for Ctrl-C inside `unwinding`."""


class Terminated(KeyboardInterrupt):
    """A signal requested termination. Everything that unwinds on Ctrl-C unwinds on this."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal.Signals(signal_number).name)
        self.signal_number = signal_number

    @property
    def exit_code(self) -> int:
        """The exit code, as in shells."""
        return shell_exit_code(None, self.signal_number)


@contextmanager
def unwinding() -> Iterator[None]:
    """Let Ctrl-C raise `Interrupted`, and the signals that would end the process `Terminated`.

    While one of them unwinds, a second signal is ignored, so that it does not tear what the first
    one closes and removes; a third ends the process at once. Outside of this context, signals act
    as before, such as ending the process at once while memgauge starts. Signals that are ignored,
    as under nohup, or that have a handler of somebody else already stay as they are. Does nothing
    outside the main thread, which alone may set what signals do.

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

    For a few steps that must not be interrupted. Has no effect outside the main thread, where
    signals never raise.
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
    """A handler that raises, unless its previous exception is still propagating."""

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
        """Whether this handler raised this error for the latest signal."""
        return error is not None and self._raised is not None and self._raised() is error

    def send_again(self) -> None:
        """Send the last signal again, from a thread, once the caller has returned.

        An exception raised inside the hook for dropped exceptions would be dropped too.
        """
        self._raised = None
        try:
            _thread.start_new_thread(_send_later, (threading.get_ident(), self._number))
        except RuntimeError:  # if no thread can be started, the signal must not be lost
            leave(self._number, None)

    def _raise(self, error: KeyboardInterrupt) -> NoReturn:
        self._raised = weakref.ref(error)
        try:
            raise error
        finally:
            del error  # otherwise its traceback keeps it until the next garbage collection


def _send_later(thread_id: int, number: int) -> None:
    time.sleep(_CALLBACK_S)
    signal.pthread_kill(thread_id, number)
