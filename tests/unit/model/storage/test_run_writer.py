import errno
import os
import resource
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import msgspec
import pytest
from tests.unit.model import build
from tests.unprivileged import directory_of_nobody

from memgauge.model.errors import MemgaugeError, RequestError, RunFileError, SystemFailure
from memgauge.model.records import RunEnd
from memgauge.model.storage.codec import encode
from memgauge.model.storage.run_file import RECORDS_NAME, RunWriter, read_run

FAILED = RunEnd(status="failed", reason="disk full", elapsed_s=1.0, rounds=1)


def data_of(directory: Path) -> bytes:
    return (directory / RECORDS_NAME).read_bytes()


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "a" / "run") as writer:
        for record in build.records():
            writer.write([record])
        writer.write([])
    assert data_of(tmp_path / "a" / "run") == b"".join(map(encode, build.records()))


def test_each_write_is_on_its_way_to_disk_when_it_returns(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        writer.write([build.start(), build.triad()])
        assert list(read_run(tmp_path).points) == ["stream/triad/2"]


def test_a_directory_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(RequestError, match="neither empty nor a run; name a new"):
        RunWriter(tmp_path)
    with pytest.raises(RequestError, match="cannot hold a run: it is not a directory"):
        RunWriter(tmp_path / "thesis.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_run_is_never_overwritten(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        writer.write([build.start()])
    with pytest.raises(RequestError, match="already holds a run; resume it or name another"):
        RunWriter(tmp_path)
    assert len(read_run(tmp_path).starts) == 1


def test_an_unwritable_directory_is_a_request_that_cannot_be_met() -> None:
    with directory_of_nobody() as place:
        place.chmod(0o555)
        with pytest.raises(RequestError, match="cannot hold a run: Permission denied; name"):
            RunWriter(place / "run")
        place.chmod(0o755)
        RunWriter(place / "run").close()


def test_a_directory_that_cannot_be_made_is_a_request_that_cannot_be_met() -> None:
    with pytest.raises(RequestError, match="/proc/none: cannot hold a run"):
        RunWriter("/proc/none")
    with pytest.raises(RequestError, match="name too long"):
        RunWriter("x" * 5000)


def test_a_run_without_a_record_leaves_nothing(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run"):
        pass
    assert not (tmp_path / "run").exists()
    with RunWriter(tmp_path / "runs" / "one"):
        (tmp_path / "runs" / "two").mkdir()
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["two"]
    shutil.rmtree(tmp_path / "runs")
    with RunWriter(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_two_writers_cannot_share_a_run(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        writer.write([build.start()])
        with pytest.raises(RequestError, match="another memgauge is writing this run"):
            RunWriter(tmp_path, resume=True)
    RunWriter(tmp_path, resume=True).close()


def test_of_two_that_begin_a_run_at_once_the_later_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both found the directory empty; the other's file of records appears just before ours."""
    real = os.open

    def other_first(path: Path, flags: int, mode: int = 0o777) -> int:
        os.close(real(path, os.O_CREAT | os.O_WRONLY))
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", other_first)
    with pytest.raises(RequestError, match="already holds a run"):
        RunWriter(tmp_path / "run")


def test_resuming_cuts_off_a_torn_line_and_goes_on(tmp_path: Path) -> None:
    lines = [encode(record) for record in build.records()]
    (tmp_path / RECORDS_NAME).write_bytes(b"".join(lines[:6]) + lines[6][:20])
    with RunWriter(tmp_path, resume=True) as writer:
        writer.write([build.start(resumed=True), build.sample(build.dram(), 7)])
        writer.write([FAILED])
    run = read_run(tmp_path)
    assert len(run.starts) == 2
    assert [sample.round for sample in run.samples_of("latency/dram")] == [7]
    assert len(run.samples_of("stream/triad/2")) == 1
    assert run.notes == []


def test_resuming_what_is_no_run_changes_nothing(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="no such file"):
        RunWriter(tmp_path, resume=True)
    (tmp_path / RECORDS_NAME).write_bytes(b"garbage\ngarbage")
    with pytest.raises(RunFileError, match="not a memgauge run"):
        RunWriter(tmp_path, resume=True)
    assert data_of(tmp_path) == b"garbage\ngarbage"


def test_resuming_does_not_write_through_a_link(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(encode(build.start()) + b"torn")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / RECORDS_NAME).symlink_to(target)
    with pytest.raises(RequestError, match="symbolic links"):
        RunWriter(tmp_path / "run", resume=True)
    assert target.read_bytes().endswith(b"torn")


def test_a_resumption_must_say_that_it_is_one(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        writer.write([build.start(), build.triad()])
    with RunWriter(tmp_path, resume=True) as writer, pytest.raises(MemgaugeError, match="defect"):
        writer.write([build.start()])
    with RunWriter(tmp_path, resume=True) as writer, pytest.raises(MemgaugeError, match="machine"):
        writer.write([build.start(resumed=True, machine_id="ff")])
    assert len(read_run(tmp_path).starts) == 1


def test_a_record_out_of_place_is_not_written_and_the_run_can_be_ended(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        writer.write([build.start()])
        with pytest.raises(MemgaugeError, match=r"Sample is a sample of point .* not declared"):
            writer.write([build.sample(build.triad(), 0)])
        with pytest.raises(SystemFailure, match="the run has ended"):
            writer.write([build.triad()])
        writer.write([FAILED])
    assert read_run(tmp_path).end == FAILED


def test_an_end_alone_is_not_written(tmp_path: Path) -> None:
    """Where the first record was refused there is no run to end."""
    with RunWriter(tmp_path / "run") as writer:
        with pytest.raises(MemgaugeError, match="Point"):
            writer.write([build.triad()])
        writer.write([FAILED])
    assert list(tmp_path.iterdir()) == []


def test_short_writes_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:7]))
    with RunWriter(tmp_path) as writer:
        writer.write(build.records())
    assert data_of(tmp_path) == b"".join(map(encode, build.records()))


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_a_write_that_fails_keeps_whole_lines_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    lines = list(map(encode, build.records()))
    kept = len(b"".join(lines[:7])) + 10
    write = os.write

    def failing(fd: int, data: bytes) -> int:
        size = os.fstat(fd).st_size
        if size == kept:
            raise error
        return write(fd, data[: kept - size])

    with RunWriter(tmp_path) as writer:
        writer.write(build.records()[:2])
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", failing)
            expected = SystemFailure if isinstance(error, OSError) else KeyboardInterrupt
            with pytest.raises(expected) as raised:
                writer.write(build.records()[2:])
        assert data_of(tmp_path) == b"".join(lines[:7])
        writer.write([FAILED])
    if isinstance(error, OSError):
        message = str(raised.value)
        assert "No space left; the records written before are kept; free some space" in message
    assert read_run(tmp_path).end == FAILED


FULL = """
    import resource, sys
    sys.path.insert(0, sys.argv[2])
    from tests.unit.model import build
    from memgauge.model.errors import SystemFailure
    from memgauge.model.storage.run_file import RunWriter

    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
    with RunWriter(sys.argv[1]) as writer:
        try:
            writer.write(build.records())
        except SystemFailure as failure:
            sys.exit(str(failure))
"""


def test_the_kernel_s_own_limit_keeps_whole_lines_only(tmp_path: Path) -> None:
    assert resource.RLIMIT_FSIZE
    lines = list(map(encode, build.records()))
    limit = len(b"".join(lines[:5])) + 3
    root = str(Path(__file__).parents[4])
    command = [sys.executable, "-c", textwrap.dedent(FULL), str(tmp_path), root, str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "File too large; the records written before are kept" in done.stderr
    assert data_of(tmp_path) == b"".join(lines[:5])


def test_closing_twice_is_harmless_and_writing_after_is_not(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path)
    writer.write([build.start()])
    writer.close()
    writer.close()
    with pytest.raises(SystemFailure, match="the run has ended"):
        writer.write([msgspec.structs.replace(FAILED)])
