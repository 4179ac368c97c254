"""Single keys from the terminal, read while a view waits; the terminal is left as it was found."""

from __future__ import annotations

import os
import select
import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import Any, Self


class Keys:
    """A context manager; without a terminal of one's own it reads nothing and merely waits."""

    def __init__(self) -> None:
        """Change nothing before it is entered."""
        self._descriptor: int | None = None
        self._before: list[Any] = []

    @property
    def are_read(self) -> bool:
        """Whether keys are read."""
        return self._descriptor is not None

    def __enter__(self) -> Self:
        with suppress(OSError, ValueError, ImportError):
            import termios
            import tty

            descriptor = sys.stdin.fileno()
            # Of a job in the background, to read a terminal means to be stopped.
            if os.isatty(descriptor) and os.tcgetpgrp(descriptor) == os.getpgrp():
                self._before = termios.tcgetattr(descriptor)
                tty.setcbreak(descriptor)
                self._descriptor = descriptor
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._descriptor is not None:
            import termios

            with suppress(OSError, termios.error):
                termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)
            self._descriptor = None

    def wait(self, seconds: float) -> str:
        """The key that is pressed within so many seconds; empty: none was.

        Args:
            seconds: How long to wait at most.
        """
        if self._descriptor is None:
            time.sleep(seconds)
            return ""
        ready, _, _ = select.select([self._descriptor], [], [], max(0.0, seconds))
        if not ready:
            return ""
        pressed = os.read(self._descriptor, 1)
        if not pressed:  # the terminal went away
            self._descriptor = None
        return pressed.decode("ascii", "ignore")
