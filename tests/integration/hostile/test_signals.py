"""Signals while measuring: records are closed, reserved pages returned, and exit codes told."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.huge_pages import alone
from tests.integration.command import command
from tests.integration.live_run import start, wait_for_samples

from memgauge.model.storage.run_file import read_run
from memgauge.system.memory.reservation import Pool
from memgauge.system.tree import Tree

pytestmark = [pytest.mark.native, pytest.mark.whole_machine]

LONG = ("latency", "--budget", "60s", "--precision", "0.0001%", "--output", "run")
RESERVING = (
    *("pages", "--pages", "2m", "--reserve-huge-pages", "8MiB"),
    *("--budget", "60s", "--precision", "0.0001%", "--output", "run"),
)
ENDING = [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]


def interrupted(number: signal.Signals, arguments: tuple[str, ...], cwd: Path) -> tuple[int, str]:
    """Exit code and last line of stderr of a run that is sent a signal while it measures."""
    with start(*arguments, cwd=cwd) as running:
        wait_for_samples(running, cwd / "run")
        running.send_signal(number)
        error = running.communicate(timeout=60)[1]
    return running.returncode, error.rstrip().splitlines()[-1]


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_closes_the_record_and_is_in_the_exit_code(
    number: signal.Signals, tmp_path: Path
) -> None:
    code, said = interrupted(number, LONG, tmp_path)
    assert code == 128 + number
    assert said == f"memgauge: ended by {number.name}"
    end = read_run(tmp_path / "run").end
    assert end is not None
    assert (end.status, end.reason) == ("interrupted", number.name)


def test_ctrl_c_has_its_own_exit_code(tmp_path: Path) -> None:
    code, said = interrupted(signal.SIGINT, LONG, tmp_path)
    assert (code, said) == (130, "memgauge: interrupted")
    end = read_run(tmp_path / "run").end
    assert end is not None
    assert end.reason == "Ctrl-C"


def test_what_nohup_ignores_stays_ignored(tmp_path: Path) -> None:
    words = ["nohup", *command(*LONG)]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL) as running:
        deadline = time.monotonic() + 90
        records = tmp_path / "run" / "records.jsonl"
        while not (records.exists() and records.stat().st_size):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        running.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        assert running.poll() is None
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 128 + signal.SIGTERM


@pytest.fixture
def pool() -> Iterator[Pool]:
    """The machine's own pool of 2 MiB pages, for one test at a time."""
    found = Pool(2 << 20, Tree())
    with alone(Path(found.file)):
        yield found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_reserved_pages_are_returned_when_a_run_is_ended(
    number: signal.Signals, pool: Pool, tmp_path: Path
) -> None:
    before = pool.total()
    code, _ = interrupted(number, RESERVING, tmp_path)
    assert code == 128 + number
    assert pool.total() == before
    assert list((tmp_path / "state" / "memgauge").iterdir()) == []


def test_the_run_after_a_kill_says_what_was_left_and_the_next_reserving_one_returns_it(
    pool: Pool, tmp_path: Path
) -> None:
    before = pool.total()
    with start(*RESERVING, cwd=tmp_path) as running:
        wait_for_samples(running, tmp_path / "run")
        running.kill()
    left = pool.total() - before
    assert left > 0

    said = f"a run that was killed (process {running.pid}) left {left} huge pages of 2 MiB"
    for name in ("one", "two"):
        requested = ("pages", "--pages", "4k", "--budget", "3s", "--output", name)
        with start(*requested, cwd=tmp_path) as after:
            error = after.communicate(timeout=60)[1]
        assert error.startswith(f"memgauge: {said}")
        assert after.returncode == 0
        assert "huge-pages-left" in [w.code for w in read_run(tmp_path / name).warnings]

    requested = ("pages", "--reserve-huge-pages", "8MiB", "--budget", "3s", "--output", "three")
    with start(*requested, cwd=tmp_path) as last:
        error = last.communicate(timeout=60)[1]
    assert f"had left {left} huge pages of 2 MiB reserved; they were returned" in error
    assert pool.total() == before


@pytest.mark.parametrize(
    ("requested", "said"),
    [
        (("--pages", "4k", "--reserve-huge-pages", "8MiB"), "no reserved page is used with"),
        (("--reserve-huge-pages", "0"), "is zero"),
        (("--reserve-huge-pages", "900TiB"), "reserve less"),
    ],
)
def test_a_reservation_that_cannot_be_is_one_line(
    requested: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    with start("pages", *requested, cwd=tmp_path) as refused:
        error = refused.communicate(timeout=60)[1]
    assert refused.returncode == 2
    assert error.count("\n") == 1
    assert error.startswith("memgauge: --reserve-huge-pages")
    assert said in error
    assert not (tmp_path / "memgauge-runs").exists()
