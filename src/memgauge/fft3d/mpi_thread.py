"""The one thread that talks to MPI.

The main thread of a Python program alone may handle signals, and cannot while it waits inside an
MPI library for a rank that has died. So MPI is initialised, used and finalised by a thread of its
own, which every library allows (MPI_THREAD_FUNNELED). The main thread keeps the records, ends them
when a signal arrives, and never blocks.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, ParamSpec, TypeVar

from memgauge.model.errors import SystemFailure

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


class MpiThread:
    """Calls functions one after the other, in the order given. Gone with the process.

    Raises:
        SystemFailure: this process may start no other thread.
    """

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()
        # A daemon thread, so that exiting does not wait for a call that waits for a dead rank.
        self._thread = threading.Thread(target=self._run, name="mpi", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            raise SystemFailure(
                f"fft3d: the thread that calls MPI cannot be started ({error}); raise the limit "
                "on processes (ulimit -u, or the cgroup's pids.max)"
            ) from error

    def begin(
        self,
        function: Callable[Arguments, Answer],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Future[Answer]:
        """Queue a call; its result or exception is available later."""
        answer: Future[Answer] = Future()
        self._work.put((answer, lambda: function(*args, **kwargs)))
        return answer

    def call(
        self,
        function: Callable[Arguments, Answer],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Answer:
        """Queue a call and wait for it; signals are handled meanwhile."""
        return self.begin(function, *args, **kwargs).result()

    def _run(self) -> None:
        while True:
            answer, function = self._work.get()
            try:
                answer.set_result(function())
            except BaseException as error:  # noqa: BLE001 - whoever waits for the answer gets it
                answer.set_exception(error)
