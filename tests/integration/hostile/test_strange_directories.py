"""A run from elsewhere, in a directory that somebody prepared, costs no file of the user's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.analysis.cluster.nodes import manifest
from tests.unit.analysis.runs import records

from memgauge.__main__ import main
from memgauge.cluster.combined import write_manifest
from memgauge.model.storage.codec import encode

TREASURE = "what the user wrote"


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    """A FIFO that is opened for writing waits for ever: that is a failure, not a hang."""

    def too_long(*_: object) -> None:
        pytest.fail("it waits")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(300)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def treasure(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "home" / "treasure"
    path.parent.mkdir()
    path.write_text(TREASURE, encoding="ascii")
    yield path
    assert path.read_text(encoding="ascii") == TREASURE
    assert [entry.name for entry in path.parent.iterdir()] == ["treasure"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    directory = tmp_path / "run"
    directory.mkdir()
    (directory / "records.jsonl").write_bytes(b"".join(map(encode, records(4))))
    return directory


def test_a_link_for_each_process_number_catches_no_page(run: Path, treasure: Path) -> None:
    """As temporary names were made of the process number, and opened through links."""
    last = int(Path("/proc/sys/kernel/pid_max").read_text(encoding="ascii"))
    with subprocess.Popen(["true"]) as newest:
        pass
    for pid in (1 + (newest.pid + later) % last for later in range(5000)):
        for name in ("report.html", "summary.txt"):
            os.symlink(treasure, run / f".{name}.{pid}")  # noqa: PTH211 - quicker, of so many
    done = subprocess.run(
        [sys.executable, "-m", "memgauge", "report", str(run)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (run / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("name", ["report.html", "summary.txt"])
def test_a_link_in_the_place_of_a_result_is_replaced(name: str, run: Path, treasure: Path) -> None:
    (run / name).symlink_to(treasure)
    assert main(["report", str(run)]) == 0
    assert (run / name).is_file()
    assert not (run / name).is_symlink()


@pytest.mark.parametrize("name", ["report.html", "summary.txt"])
def test_a_fifo_in_the_place_of_a_result_is_refused(
    name: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(run / name)
    assert main(["report", str(run)]) == 1
    error = capsys.readouterr().err
    assert f"{name}: cannot be written: a FIFO exists there; " in error
    assert error.count("\n") == 1
    assert (run / name).is_fifo()


def test_pictures_are_not_written_through_a_link(
    run: Path, treasure: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / "figures").symlink_to(treasure.parent)
    assert main(["figures", str(run)]) == 1
    assert "cannot be written: Not a directory" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["export", "figures"])
def test_a_named_output_is_not_opened_where_it_is_a_fifo(
    command: str, run: Path, tmp_path: Path
) -> None:
    output = tmp_path / "output"
    os.mkfifo(output)
    assert main([command, str(run), "--output", str(output)]) == 1
    assert output.is_fifo()


def test_a_combined_run_writes_nothing_outside(tmp_path: Path, treasure: Path) -> None:
    directory = tmp_path / "nodes-of-a-stranger"
    directory.mkdir()
    write_manifest(directory, manifest(["one", "other"]))
    (directory / "nodes").symlink_to(treasure.parent)
    (directory / "report.html").symlink_to(treasure)
    (directory / "logs").mkdir()
    os.mkfifo(directory / "logs" / "one.log")
    main(["report", str(directory)])
    assert not (directory / "report.html").is_symlink()
