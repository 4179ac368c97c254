"""Explicit huge pages reserved for a run: returned on every way out, noticed after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.huge_pages import alone
from tests.unit.system.trees import Files, plant, xeon

from memgauge.model.errors import RequestError, SystemFailure
from memgauge.model.termination import Terminated
from memgauge.system.memory.reservation import (
    PagesWanted,
    Pool,
    left_behind,
    reserved,
    return_left,
)
from memgauge.system.tree import Tree

MIB = 1 << 20
POOL = "/sys/kernel/mm/hugepages/hugepages-2048kB"
BOOT = "/proc/sys/kernel/random/boot_id"
FOUR = PagesWanted(page_bytes=2 * MIB, bytes=8 * MIB)


def machine(total: int = 0, boot: str = "boot-1") -> Files:
    return xeon() | {f"{POOL}/nr_hugepages": f"{total}\n", BOOT: f"{boot}\n"}


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return plant(tmp_path / "root", machine(total=3))


@pytest.fixture
def states(tmp_path: Path) -> Path:
    return tmp_path / "state"


def total(tree: Tree) -> int:
    return Pool(2 * MIB, tree).total()


def killed(tree: Tree, states: Path, pages: int = 4) -> None:
    """What a run that was killed leaves: its pages in the pool, its state file held by nobody."""
    context = reserved(PagesWanted(page_bytes=2 * MIB, bytes=pages * 2 * MIB), tree, states)
    context.__enter__()
    (path,) = states.iterdir()
    text = path.read_text(encoding="utf-8")
    context.__exit__(None, None, None)
    path.write_text(text, encoding="utf-8")
    Pool(2 * MIB, tree).resize(total(tree) + pages)


def test_pages_are_added_and_taken_away_again(tree: Tree, states: Path) -> None:
    with reserved(FOUR, tree, states) as notes:
        assert total(tree) == 7
        assert notes == []
    assert total(tree) == 3
    assert list(states.iterdir()) == []


def test_a_size_between_pages_is_rounded_up() -> None:
    assert PagesWanted(page_bytes=2 * MIB, bytes=8 * MIB).pages == 4
    assert PagesWanted(page_bytes=2 * MIB, bytes=8 * MIB + 1).pages == 5


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_pages_are_returned_whatever_is_raised(
    error: type[BaseException], tree: Tree, states: Path
) -> None:
    with pytest.raises(error), reserved(FOUR, tree, states):
        raise error
    assert total(tree) == 3


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_unwinds_and_what_it_does_is_put_back(
    number: signal.Signals, tree: Tree, states: Path
) -> None:
    with pytest.raises(Terminated) as caught, reserved(FOUR, tree, states):
        signal.raise_signal(number)
    assert caught.value.exit_code == 128 + number
    assert total(tree) == 3
    assert signal.getsignal(number) is signal.SIG_DFL


def test_a_signal_while_pages_are_being_added_waits_until_they_are_counted(
    tree: Tree, states: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resize(pool: Pool, pages: int) -> None:
        signal.raise_signal(signal.SIGINT)
        tree.path(pool.file).write_text(f"{pages}\n", encoding="ascii")

    monkeypatch.setattr(Pool, "resize", resize)
    with pytest.raises(KeyboardInterrupt), reserved(FOUR, tree, states):
        pytest.fail("the interruption was lost")
    assert total(tree) == 3


def test_only_what_was_added_is_taken_away_when_others_add_too(tree: Tree, states: Path) -> None:
    with reserved(FOUR, tree, states):
        Pool(2 * MIB, tree).resize(total(tree) + 10)
    assert total(tree) == 13


def test_outside_the_main_thread_too(tree: Tree, states: Path) -> None:
    seen: list[int] = []

    def run() -> None:
        with reserved(FOUR, tree, states):
            seen.append(total(tree))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert (seen, total(tree)) == ([7], 3)


def test_the_intention_is_on_disk_before_a_page_is_reserved(
    tree: Tree, states: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, object]] = []

    def resize(pool: Pool, pages: int) -> None:
        seen.extend(json.loads(path.read_text(encoding="utf-8")) for path in states.iterdir())
        tree.path(pool.file).write_text(f"{pages}\n", encoding="ascii")

    monkeypatch.setattr(Pool, "resize", resize)
    with reserved(FOUR, tree, states):
        pass
    assert seen[0] == {
        "pid": os.getpid(),
        "boot_id": "boot-1",
        "page_bytes": 2 * MIB,
        "before": 3,
        "wanted": 4,
    }


def give_at_most(pages: int, tree: Tree, monkeypatch: pytest.MonkeyPatch, before: int = 3) -> None:
    def resize(pool: Pool, wanted: int) -> None:
        given = min(wanted, before + pages)
        tree.path(pool.file).write_text(f"{given}\n", encoding="ascii")

    monkeypatch.setattr(Pool, "resize", resize)


def test_fewer_pages_than_asked_for_are_said_and_exactly_those_are_returned(
    tree: Tree, states: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_at_most(1, tree, monkeypatch)
    with reserved(FOUR, tree, states) as (note,):
        assert note.code == "huge-pages-fewer"
        assert note.message == "the kernel reserved only 1 of 4 huge pages of 2 MiB"
        assert total(tree) == 4
    assert total(tree) == 3


def test_no_page_at_all_is_refused(
    tree: Tree, states: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_at_most(0, tree, monkeypatch)
    with (
        pytest.raises(RequestError, match=r"no contiguous 2 MiB .*compact_memory"),
        reserved(FOUR, tree, states),
    ):
        pytest.fail("nothing was reserved")
    assert list(states.iterdir()) == []


@pytest.mark.parametrize("at_once", [True, False])
def test_without_the_right_it_is_one_line_with_the_remedy(
    at_once: bool, tree: Tree, states: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resize(pool: Pool, pages: int) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Pool, "is_writable", lambda _: not at_once)
    monkeypatch.setattr(Pool, "resize", resize)
    with pytest.raises(RequestError) as caught, reserved(FOUR, tree, states):
        pytest.fail("nothing was reserved")
    text = str(caught.value)
    assert text.startswith(f"--reserve-huge-pages: {POOL}/nr_hugepages cannot be written: Permis")
    assert "run as root" in text
    assert "\n" not in text
    assert not states.exists() or list(states.iterdir()) == []


def test_more_than_there_is_and_sizes_the_kernel_lacks_are_refused(
    tree: Tree, states: Path
) -> None:
    huge = PagesWanted(page_bytes=2 * MIB, bytes=1 << 40)
    for wanted, said in (
        (huge, "needs 1024.0 GiB"),
        (PagesWanted(page_bytes=1 << 30, bytes=1), "1 GiB"),
    ):
        with pytest.raises(RequestError, match=said), reserved(wanted, tree, states):
            pytest.fail("nothing was reserved")
    assert total(tree) == 3


def test_nothing_is_reserved_where_it_cannot_be_written_down(
    tree: Tree, states: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(SystemFailure, match=r"No space left on device; free space there, or set"),
        reserved(FOUR, tree, states),
    ):
        pytest.fail("nothing was reserved")
    assert total(tree) == 3


def test_pages_that_cannot_be_returned_are_said_and_stay_written_down(
    tree: Tree, states: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(pool: Pool, pages: int) -> None:
        raise PermissionError(13, "Permission denied")

    # It would be tried again when the tests end, and their files are gone.
    monkeypatch.setattr("atexit.register", lambda _: None)
    with (
        pytest.raises(SystemFailure, match="4 huge pages of 2 MiB could not be returned"),
        reserved(FOUR, tree, states),
    ):
        monkeypatch.setattr(Pool, "resize", refuse)
    assert len(list(states.iterdir())) == 1


def test_a_second_run_does_not_reserve_beside_the_first(tree: Tree, states: Path) -> None:
    with (
        reserved(FOUR, tree, states),
        pytest.raises(RequestError, match="another run holds reserved pages"),
        reserved(FOUR, tree, states),
    ):
        pytest.fail("two runs hold one state file")
    assert total(tree) == 3


def test_nothing_left_is_said_of_a_run_that_lives_or_ended(tree: Tree, states: Path) -> None:
    assert left_behind(tree, states) == []
    with reserved(FOUR, tree, states):
        assert left_behind(tree, states) == []
    assert left_behind(tree, states) == []


def test_what_a_killed_run_left_is_said_until_it_is_returned(tree: Tree, states: Path) -> None:
    killed(tree, states)
    for _ in range(2):
        (warning,) = left_behind(tree, states)
        assert warning.code == "huge-pages-left"
        assert (
            f"(process {os.getpid()}) left 4 huge pages of 2 MiB reserved, 8 MiB" in warning.message
        )
        assert warning.remedy is not None
        assert warning.remedy.startswith(f"as root: echo 3 > {POOL}/nr_hugepages")
    Pool(2 * MIB, tree).resize(3)
    assert left_behind(tree, states) == []
    assert list(states.iterdir()) == []


def test_the_next_run_that_reserves_returns_it_first(tree: Tree, states: Path) -> None:
    killed(tree, states)
    with reserved(FOUR, tree, states) as (note,):
        assert note.code == "huge-pages-returned"
        assert "had left 4 huge pages of 2 MiB reserved" in note.message
        assert total(tree) == 7
    assert total(tree) == 3


def test_never_more_is_called_left_than_is_still_there(tree: Tree, states: Path) -> None:
    killed(tree, states)
    Pool(2 * MIB, tree).resize(5)
    (warning,) = left_behind(tree, states)
    assert "left 2 huge pages" in warning.message
    Pool(2 * MIB, tree).resize(50)
    (warning,) = left_behind(tree, states)
    assert "left 4 huge pages" in warning.message


def test_a_state_file_of_another_boot_is_removed(tree: Tree, states: Path) -> None:
    killed(tree, states)
    tree.path(BOOT).write_text("boot-2\n", encoding="utf-8")
    assert left_behind(tree, states) == []
    assert list(states.iterdir()) == []
    assert total(tree) == 7


@pytest.mark.parametrize("text", ["", "{", '{"pid": 1}', "[]", "\0" * 100, "[" * 60_000])
def test_a_torn_state_file_means_that_nothing_was_reserved(
    text: str, tree: Tree, states: Path
) -> None:
    killed(tree, states)
    (path,) = states.iterdir()
    path.write_text(text, encoding="utf-8")
    assert left_behind(tree, states) == []
    with reserved(FOUR, tree, states):
        assert total(tree) == 11


def test_a_fifo_in_the_place_of_the_state_file_is_left_alone(tree: Tree, states: Path) -> None:
    killed(tree, states)
    (path,) = states.iterdir()
    path.unlink()
    os.mkfifo(path)
    assert left_behind(tree, states) == []
    assert return_left(tree, states) == []
    with (
        pytest.raises(SystemFailure, match="cannot record the reservation: it is not a regular"),
        reserved(FOUR, tree, states),
    ):
        pass
    assert total(tree) == 7
    assert path.is_fifo()


def test_a_link_in_the_place_of_a_pool_is_not_written_through(tree: Tree, tmp_path: Path) -> None:
    treasure = tmp_path / "treasure"
    treasure.write_text("mine", encoding="ascii")
    pool = Pool(2 * MIB, tree)
    tree.path(pool.file).unlink()
    tree.path(pool.file).symlink_to(treasure)
    with pytest.raises(OSError, match="symbolic links"):
        pool.resize(50)
    assert treasure.read_text(encoding="ascii") == "mine"


PROGRAM = """
import sys, time
from memgauge.model.errors import MemgaugeError
from memgauge.system.memory.reservation import PagesWanted, reserved

try:
    with reserved(PagesWanted(page_bytes=2 << 20, bytes=8 << 20)):
        print("reserved", flush=True)
        time.sleep(60)
except MemgaugeError as error:
    print(error)
"""


@pytest.fixture
def pool() -> Iterator[Pool]:
    """The machine's own pool, for one test at a time."""
    found = Pool(2 * MIB, Tree())
    with alone(Path(found.file)):
        yield found


def program(states: Path) -> subprocess.Popen[str]:
    started = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"XDG_STATE_HOME": str(states)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    line = started.stdout.readline()
    if line != "reserved\n":
        error = started.communicate()[1]
        assert line, error
        pytest.skip(line.rstrip())
    return started


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT])
def test_for_real_a_signal_returns_the_pages(
    number: signal.Signals, pool: Pool, tmp_path: Path
) -> None:
    before = pool.total()
    with program(tmp_path) as running:
        assert pool.total() > before
        running.send_signal(number)
        running.wait(30)
    assert pool.total() == before


def test_for_real_a_kill_is_noticed_and_made_good(pool: Pool, tmp_path: Path) -> None:
    before = pool.total()
    with program(tmp_path) as running:
        running.kill()
    (warning,) = left_behind(directory=tmp_path / "memgauge")
    assert f"(process {running.pid}) left {pool.total() - before} huge pages" in warning.message
    with reserved(FOUR, directory=tmp_path / "memgauge") as notes:
        assert notes[0].code == "huge-pages-returned"
    assert pool.total() == before


def test_pages_of_two_sizes_are_reserved_and_left_and_returned_each_for_itself(
    tree: Tree, states: Path
) -> None:
    large = "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"
    tree.path(large).parent.mkdir(parents=True)
    tree.path(large).write_text("1\n", encoding="utf-8")
    two = PagesWanted(page_bytes=1 << 30, bytes=2 << 30)
    with reserved(two, tree, states), reserved(FOUR, tree, states):
        assert (Pool(1 << 30, tree).total(), total(tree)) == (3, 7)
        texts = {path: path.read_text(encoding="utf-8") for path in states.iterdir()}
        assert len(texts) == 2
        assert left_behind(tree, states) == []
    assert (Pool(1 << 30, tree).total(), total(tree)) == (1, 3)
    assert list(states.iterdir()) == []
    for path, text in texts.items():  # as if the run had been killed
        path.write_text(text, encoding="utf-8")
    Pool(1 << 30, tree).resize(3)
    Pool(2 * MIB, tree).resize(7)
    said = [warning.message for warning in left_behind(tree, states)]
    assert len(said) == 2
    assert any("left 2 huge pages of 1 GiB" in one for one in said)
    assert any("left 4 huge pages of 2 MiB" in one for one in said)
    assert len(return_left(tree, states)) == 2
    assert (Pool(1 << 30, tree).total(), total(tree)) == (1, 3)
