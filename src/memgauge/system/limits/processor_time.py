"""Lets a command that reaches its limit on processor time close its records and report it."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager

NOTICE_S = 1
"""Seconds reserved for closing the records and reporting the end."""


@contextmanager
def notice_before_kill() -> Iterator[None]:
    """Let SIGXCPU arrive before the kernel kills the process for its processor time (`ulimit -t`).

    A shell sets both limits to the same value, and the kernel then kills without a signal that a
    process could handle.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard == resource.RLIM_INFINITY or hard <= NOTICE_S or 0 <= soft <= hard - NOTICE_S:
        yield
        return
    resource.setrlimit(resource.RLIMIT_CPU, (hard - NOTICE_S, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
