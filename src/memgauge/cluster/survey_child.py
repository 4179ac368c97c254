"""The survey of one node: a separate process that the leading rank starts, and that ends with it.

The process is not a rank: the launcher's variables are removed from its environment. It has its own
session, so that a signal to the ranks reaches it only through its leader, which lets it close its
records; if the leader is killed, the kernel sends it SIGTERM.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from memgauge.cluster.launch import without_launch
from memgauge.model.errors import SystemFailure
from memgauge.model.storage.files import open_new, read_end
from memgauge.model.text import plain
from memgauge.system.programs.interpreter import isolated

_PR_SET_PDEATHSIG = 1
SURVEY = "memgauge.cluster.survey_child"
"""The module to run; its arguments are its leader's process number and those of `memgauge`."""


class SurveyChild:
    """A running survey."""

    def __init__(self, arguments: Sequence[str], log: Path) -> None:
        self._log = log
        self._began_s = time.monotonic()
        try:
            with open_new(log) as output:
                self._process = subprocess.Popen(
                    isolated(SURVEY, [str(os.getpid()), *arguments]),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=without_launch(),
                    start_new_session=True,
                )
        except OSError as error:
            raise SystemFailure(f"the survey cannot be started: {error}") from error

    @property
    def elapsed_s(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self._began_s

    def poll(self) -> int | None:
        """Its exit code, as in shells; None while it is running."""
        code = self._process.poll()
        return code if code is None or code >= 0 else 128 - code

    def stop(self, wait_s: float) -> int | None:
        """Ask it to end, as Ctrl-C does, wait for a moment, and return its exit code."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(wait_s)
            except subprocess.TimeoutExpired:
                return None
        return self.poll()

    def last_line(self) -> str:
        """Its last message, which states why it failed."""
        try:
            tail = read_end(self._log, 2000).decode("utf-8", "replace")
        except OSError:
            return ""
        lines = [line for line in tail.splitlines() if line.strip()]
        return plain(lines[-1]).removeprefix("memgauge: ") if lines else ""


def end_with(leader: int) -> bool:
    """Let this process end with its leader; False if the leader has already ended."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    return os.getppid() == leader


def main(arguments: Sequence[str]) -> int:
    """Run the child: end with the leader, whose number comes first, and become `memgauge`."""
    if end_with(int(arguments[0])):
        os.execv(sys.executable, isolated("memgauge", arguments[1:]))  # noqa: S606
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
