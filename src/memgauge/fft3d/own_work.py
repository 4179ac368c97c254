"""Lets a profile watch work of this process itself, which a thread does and marks."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Generic, TypeVar

from memgauge.counters.marks import VARIABLE
from memgauge.fft3d.mpi_thread import MpiThread
from memgauge.model.storage.marks import MARKS_NAME
from memgauge.system.programs.program import Ended

Answer = TypeVar("Answer")


class OwnWork(Generic[Answer]):
    """A function that the MPI thread calls once the profile has opened all that it watches."""

    attached = True
    """The process ran before the profile began."""

    def __init__(self, thread: MpiThread, directory: Path, work: Callable[[], Answer]) -> None:
        self.pid = os.getpid()
        self.command = list(sys.argv)
        self._thread = thread
        self.directory = directory.absolute()
        """Where it is recorded."""
        self._marks = self.directory / MARKS_NAME
        self._work = work
        self._future: Future[Answer] | None = None

    @property
    def begun(self) -> bool:
        """Whether the profile has let it begin."""
        return self._future is not None

    @property
    def answer(self) -> Answer:
        """The function's result; raises what it raised."""
        if self._future is None:
            raise RuntimeError("the work was never begun")
        return self._future.result()

    def start(self) -> None:
        """Let it begin, with its marks kept."""
        os.environ[VARIABLE] = str(self._marks)
        self.start_unrecorded()

    def start_unrecorded(self) -> None:
        """Let it begin without a profile: nothing is marked."""
        self._future = self._thread.begin(self._work)

    def wait(self, timeout_s: float) -> Ended | None:
        """Whether it returned (0) or raised (1); None if it is still running after this time."""
        future = self._future
        if future is None or not wait([future], timeout_s).done:
            return None
        return Ended(exit_code=0 if future.exception() is None else 1)

    def close(self) -> None:
        """No more marks."""
        os.environ.pop(VARIABLE, None)
