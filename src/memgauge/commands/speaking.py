"""Of many ranks one says what is wrong with all; the others give it the time to, in silence."""

from __future__ import annotations

import signal
import time

GRACE_S = 2.0
"""Many a launcher ends all ranks at the first that fails: the one that speaks must have spoken."""


def wait_for_the_speaker() -> None:
    """A signal of the launcher meanwhile ends this process without a word."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    time.sleep(GRACE_S)
