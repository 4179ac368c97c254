"""What signals do while memgauge starts and leaves: they end the process at once, in silence.

Until a command is loaded there is nothing to unwind, and an exception raised somewhere inside an
import may be printed, or swallowed. This module is loaded first, so it imports next to nothing.
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
"""What users, terminals and batch systems send, and what ends a process that does nothing."""


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
