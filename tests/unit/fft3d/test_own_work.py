import os
import threading
from pathlib import Path

import pytest

from memgauge.counters.marks import VARIABLE
from memgauge.fft3d.mpi_thread import MpiThread
from memgauge.fft3d.own_work import OwnWork
from memgauge.model.storage.marks import MARKS_NAME
from memgauge.model.storage.run_file import read_run
from memgauge.runner.profiling.parameters import ProfileParameters
from memgauge.runner.profiling.profile import ProfileRequest, profile
from memgauge.system.detect import detect


def test_all_calls_are_made_by_one_thread_that_is_not_this_one() -> None:
    thread = MpiThread()
    threads = {thread.call(threading.get_ident) for _ in range(3)}
    assert len(threads) == 1
    assert threads != {threading.get_ident()}


def test_what_a_call_raises_comes_out_and_the_next_is_made() -> None:
    thread = MpiThread()
    with pytest.raises(ZeroDivisionError):
        thread.call(lambda: 1 / 0)
    assert thread.call(lambda: 2) == 2


def test_work_begins_when_it_is_let(tmp_path: Path) -> None:
    work = OwnWork(MpiThread(), tmp_path, lambda: os.environ[VARIABLE])
    assert not work.begun
    assert work.wait(0) is None
    with pytest.raises(RuntimeError, match="never begun"):
        _ = work.answer
    work.start()
    assert work.begun
    assert work.answer == str(tmp_path / MARKS_NAME)
    ended = work.wait(5)
    assert ended is not None
    assert ended.exit_code == 0
    work.close()
    assert VARIABLE not in os.environ


def test_work_that_raises_ends_with_one(tmp_path: Path) -> None:
    work = OwnWork(MpiThread(), tmp_path, lambda: 1 / 0)
    work.start()
    ended = work.wait(5)
    work.close()
    assert ended is not None
    assert ended.exit_code == 1
    with pytest.raises(ZeroDivisionError):
        _ = work.answer


def _marked() -> str:
    from memgauge.counters.marks import region

    with region("outer"), region("fft"):
        return "done"


def _profile(work: OwnWork[str], directory: Path) -> None:
    profile(
        ProfileRequest(
            command=work.command,
            parameters=ProfileParameters(components=("process",)),
            directory=directory,
            system=detect(),
            own_work=work,
        )
    )


@pytest.mark.native
def test_a_profile_records_the_work_of_its_own_process(tmp_path: Path) -> None:
    work = OwnWork(MpiThread(), tmp_path / "run", _marked)
    _profile(work, tmp_path / "run")
    assert work.answer == "done"
    run = read_run(tmp_path / "run")
    assert [(one.name, one.pid) for one in run.regions] == [
        ("outer", os.getpid()),
        ("fft", os.getpid()),
    ]
    assert all(one.end_ns is not None for one in run.regions)
    assert run.processes[-1].exit_code == 0
    assert run.end is not None
    assert run.end.status == "complete"
    assert not (tmp_path / "run" / MARKS_NAME).exists()


class _Interrupted(OwnWork[str]):
    """Ctrl-C comes while it works."""

    def wait(self, timeout_s: float) -> None:
        raise KeyboardInterrupt


@pytest.mark.native
def test_ctrl_c_ends_the_profile_of_own_work_and_is_told(tmp_path: Path) -> None:
    work = _Interrupted(MpiThread(), tmp_path / "run", _marked)
    with pytest.raises(KeyboardInterrupt):
        _profile(work, tmp_path / "run")
    end = read_run(tmp_path / "run").end
    assert end is not None
    assert (end.status, end.reason) == ("interrupted", "Ctrl-C")
