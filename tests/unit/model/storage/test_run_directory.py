import errno
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memgauge.model.errors import RequestError, SystemFailure
from memgauge.model.storage.run_directory import claim_directory, run_directory
from memgauge.model.storage.run_file import RunWriter

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
FIRST = "20260102T030405Z-survey"

CLAIMING = """
import sys
from datetime import UTC, datetime
from memgauge.model.storage.run_directory import claim_directory

sys.stdin.readline()
for _ in range(10):
    print(claim_directory("survey", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)).name)
"""


@pytest.fixture(autouse=True)
def _in_a_directory_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_name_tells_when_and_what_and_numbers_what_starts_in_the_same_second() -> None:
    claimed = [claim_directory("survey", NOW) for _ in range(3)]
    assert claimed == [Path("memgauge-runs") / (FIRST + end) for end in ("", "-2", "-3")]
    assert all(path.is_dir() for path in claimed)
    assert claim_directory("stream", NOW).name == "20260102T030405Z-stream"


def test_the_time_of_a_name_is_utc() -> None:
    east = NOW.astimezone(datetime.now().astimezone().tzinfo)
    assert claim_directory("survey", east).name == FIRST


def test_processes_that_start_in_the_same_second_never_meet() -> None:
    """Five at once claim ten names each, all for the same moment."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", CLAIMING],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(5)
    ]
    names = [name for one in started for name in one.communicate("go\n", timeout=60)[0].split()]
    assert len(names) == len(set(names)) == 50
    assert {path.name for path in Path("memgauge-runs").iterdir()} == set(names)
    assert all(name.startswith(FIRST) for name in names)


def test_few_names_are_tried_however_many_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ten thousand ranks each would else ask a shared file system for all names before its."""
    for _ in range(200):
        claim_directory("survey", NOW)
    tried = []
    real = Path.mkdir

    def counted(path: Path, **options: bool) -> None:
        tried.append(path)
        real(path, **options)

    monkeypatch.setattr(Path, "mkdir", counted)
    claim_directory("survey", NOW)
    assert len({path.name for path in tried}) <= 12


def test_what_stands_in_the_way_is_told() -> None:
    Path("memgauge-runs").touch()
    with pytest.raises(
        RequestError, match="memgauge-runs: cannot hold a run: it is not a directory"
    ):
        claim_directory("survey", NOW)


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, **_: bool) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(SystemFailure, match="No space left on device"):
        claim_directory("survey", NOW)


def test_a_parent_that_another_run_removes_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.mkdir
    removed: list[Path] = []

    def racing(path: Path, **options: bool) -> None:
        real(path, **options)
        if path.name == "memgauge-runs" and not removed:
            path.rmdir()
            removed.append(path)

    monkeypatch.setattr(Path, "mkdir", racing)
    assert claim_directory("survey", NOW).is_dir()
    assert removed


def test_what_was_claimed_and_not_used_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run_directory(None, "survey") as directory:
        with RunWriter(directory):
            assert directory.is_dir()
        monkeypatch.chdir("/")
    assert list(tmp_path.iterdir()) == []


def test_what_holds_something_stays() -> None:
    with run_directory(None, "survey") as directory:
        (directory / "records.jsonl").touch()
    assert directory.is_dir()


def test_what_was_asked_for_is_taken_as_it_is() -> None:
    with run_directory("mine", "survey") as directory:
        assert directory == Path("mine")
    assert not directory.exists()
