import threading

import pytest

from memgauge.fft3d.mpi_thread import MpiThread
from memgauge.model.errors import SystemFailure


def test_a_thread_that_cannot_be_started_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    with pytest.raises(SystemFailure, match=r"can't start new thread.*ulimit -u"):
        MpiThread()
