"""A noisy neighbour: a program that streams through memory in bursts, on one CPU."""

from __future__ import annotations

import os
import random
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

BURST_S = (0.2, 2.0)
"""Length of a burst, and of the pause after it: uniformly between these."""


@contextmanager
def neighbour(command: Sequence[str]) -> Iterator[None]:
    """Run a command in bursts until the block ends, on the last CPU that this process may use.

    Args:
        command: Runs longer than a burst; it is killed at the end of each.
    """
    ended = threading.Event()
    thread = threading.Thread(target=_bursts, args=(command, ended))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _bursts(command: Sequence[str], ended: threading.Event) -> None:
    cpu = max(os.sched_getaffinity(0))
    while not ended.is_set():
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            os.sched_setaffinity(process.pid, {cpu})
            ended.wait(random.uniform(*BURST_S))
            process.kill()
        ended.wait(random.uniform(*BURST_S))
