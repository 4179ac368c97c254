"""One run in a fresh process of its own, for series of runs whose differences are to be seen.

Runs of one process share the pages of their arrays, the addresses of their code and what the
allocator left; runs of several processes do not. A signal is handed on, so that the run at work
closes its records; if this process is killed, the kernel ends the run.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence

from memgauge.cluster.survey_child import SURVEY
from memgauge.model.errors import SystemFailure
from memgauge.model.termination import Terminated, deferred
from memgauge.system.programs.interpreter import isolated

_CLOSING_S = 30.0
"""Seconds in which a run closes its records after a signal."""


def measure_afresh(arguments: Sequence[str], *, quiet: bool) -> int:
    """One run to its end; its exit code, as in shells.

    Args:
        arguments: Of `memgauge`.
        quiet: Whether its report is not printed; it is in the run's directory.

    Raises:
        SystemFailure: no process can be started.
        KeyboardInterrupt: interrupted; the run has closed its records.
    """
    with deferred():
        process = _start(arguments, quiet=quiet)
    try:
        code = process.wait()
    except KeyboardInterrupt as error:
        number = error.signal_number if isinstance(error, Terminated) else signal.SIGINT
        process.send_signal(number)
        try:
            process.wait(_CLOSING_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        raise
    return code if code >= 0 else 128 - code


def _start(arguments: Sequence[str], *, quiet: bool) -> subprocess.Popen[bytes]:
    """In a session of its own: signals of the terminal reach it through this process only."""
    try:
        return subprocess.Popen(
            isolated(SURVEY, [str(os.getpid()), *arguments]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if quiet else None,
            start_new_session=True,
        )
    except OSError as error:
        raise SystemFailure(
            f"--repeat: a run cannot be started: {error.strerror}; raise the limits of this "
            "process (ulimit -u), or free memory"
        ) from error
