"""Signal handling while memgauge starts and exits: signals end the process at once and silently.

Until a command is loaded there is nothing to unwind, and an exception raised inside an import may
be printed or swallowed. This module is loaded first, so it imports almost nothing.
"""

import os
import signal
from types import FrameType

ENDING_SIGNALS = (
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGXCPU,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
"""Signals that users, terminals and batch systems send, and that end a process by default."""


def leave(number: int, frame: FrameType | None) -> None:
    """End the process with the exit code that shells have for the signal."""
    del frame
    os._exit(128 + number)


def leave_on_signals() -> None:
    """Let Ctrl-C and the ending signals `leave`; those that are ignored stay ignored.

    `termination.unwinding` takes over from it, and gives back. Only in the main thread.
    """
    for number in (signal.SIGINT, *ENDING_SIGNALS):
        if signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler}:
            signal.signal(number, leave)
