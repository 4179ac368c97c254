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


def interruption_behind(error: BaseException | None) -> KeyboardInterrupt | None:
    """The interruption that an error was made of; None: it is an error of its own.

    Python 3.11 turns whatever leaves a `__set_name__`, as while a module is imported, into an error
    with that as its cause.
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error


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
    _RAISING.append(raising)
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
        _RAISING.remove(raising)


def heed() -> None:
    """Raise for a signal that came before and did not unwind, at a step that none may precede.

    C code can drop an exception without a word, such as one that is raised while a dictionary
    compares two keys. Where this is called, the exception of a signal inside the same `unwinding`
    would have unwound otherwise.

    Raises:
        KeyboardInterrupt: Ctrl-C or an ending signal had come, and was dropped.
    """
    if threading.current_thread() is threading.main_thread() and _RAISING:
        _RAISING[-1].heed()


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


_RAISING: list[_Raising] = []
"""Of the contexts of `unwinding`, the innermost last."""


class _Raising:
    """A handler that raises, unless its previous exception is still propagating."""

    def __init__(self) -> None:
        self._raised: weakref.ref[KeyboardInterrupt] | None = None
        self._number: int = signal.SIGINT
        self._repeated = False
        self._came = False

    def heed(self) -> None:
        """Raise again what was raised for a signal."""
        if self._came:
            self._raise(_error_for(self._number))

    def __call__(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self._raised is None or self._raised() is None:
            self._repeated = False
            self._number = number
            self._came = True
            self._raise(_error_for(number))
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


def _error_for(number: int) -> KeyboardInterrupt:
    return Interrupted() if number == signal.SIGINT else Terminated(number)
