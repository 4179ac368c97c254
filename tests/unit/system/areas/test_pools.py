"""Pools to put arrays in: whose they are, what becomes of them, and what is refused."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memgauge import _core
from memgauge.model.errors import RequestError
from memgauge.model.memory import MemoryPlacement
from memgauge.system import leftovers
from memgauge.system.areas import journal as area_journal
from memgauge.system.areas import pools as area_pools
from memgauge.system.areas.cleaned import State
from memgauge.system.memory import sources as memories
from memgauge.system.owner import Owner

MIB = 1 << 20
SIZE = 4 * MIB


def _installed() -> bool:
    try:
        ctypes.CDLL("libpmemobj.so.1")
    except OSError:
        return False
    return True


pytestmark = [
    pytest.mark.usefixtures("state"),
    pytest.mark.native,
    pytest.mark.skipif(not _installed(), reason="libpmemobj.so.1 is not installed"),
]


@pytest.fixture
def path(tmp_path: Path, unnamed_files: bool) -> str:
    """Where a pool may be made, with and without a file system that has unnamed files."""
    del unnamed_files
    return str(tmp_path / "pool")


@contextmanager
def used(path: str, *, keep: bool = False, size: int = SIZE) -> Iterator[_core.Memory]:
    placement = MemoryPlacement("pmemobj", path=path)
    with memories.opened({placement: size}, keep=keep) as opened:
        yield opened.of(placement)


def test_a_pool_is_gone_after_the_run(path: str) -> None:
    with used(path) as memory:
        facts = memory.facts
        assert facts is not None
        assert (facts.kind, facts.path) == ("pmemobj", path)
        assert not Path(path).exists()
    assert list(Path(path).parent.iterdir()) == []
    assert area_journal.entries() == []


def test_a_pool_to_be_kept_is_there_after_the_run_used_again_and_kept_by_cleaning(
    path: str,
) -> None:
    with used(path, keep=True):
        pass
    made = Path(path).stat()
    assert made.st_size >= SIZE
    with used(path) as memory:
        assert memory.facts is not None
    assert Path(path).stat().st_ino == made.st_ino
    (line,) = [line for line in leftovers.clean() if path in line]
    assert State.KEPT.value in line
    assert f"rm {path}" in line
    assert Path(path).exists()


def test_a_run_that_fails_keeps_no_new_pool(path: str) -> None:
    with pytest.raises(ZeroDivisionError), used(path, keep=True):
        raise ZeroDivisionError
    assert list(Path(path).parent.iterdir()) == []
    assert area_journal.entries() == []


def test_a_pool_that_is_too_small_is_refused_and_stays(path: str) -> None:
    with used(path, keep=True):
        pass
    with pytest.raises(RequestError, match=r"too little for arrays of .*; remove it \(rm "):
        used(path, size=200 * MIB).__enter__()
    assert Path(path).exists()


@pytest.mark.parametrize("content", [b"precious", b"PMEMOBJ\0", bytes(9 * MIB)])
@pytest.mark.parametrize("keep", [False, True])
def test_what_is_no_pool_of_memgauge_is_left_as_it_is(
    tmp_path: Path, content: bytes, keep: bool
) -> None:
    file = tmp_path / "theirs"
    file.write_bytes(content)
    with pytest.raises(RequestError, match="memgauge did not create it and leaves it unchanged"):
        used(str(file), keep=keep).__enter__()
    assert file.read_bytes() == content


def test_a_pool_of_another_layout_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "theirs"
    head = b"PMEMOBJ\0".ljust(4096, b"\0") + b"their layout\0"
    content = head.ljust(9 * MIB, b"\0")
    file.write_bytes(content)
    with pytest.raises(RequestError, match="is a pool of the layout 'their layout'"):
        used(str(file)).__enter__()
    assert file.read_bytes() == content


def test_a_damaged_pool_is_refused_in_one_line(path: str) -> None:
    with used(path, keep=True):
        pass
    with Path(path).open("r+b") as file:
        file.seek(24)
        file.write(b"\xff" * 64)  # the header's checksum no longer fits
    with pytest.raises(RequestError, match="cannot open the pool") as refused:
        used(path).__enter__()
    assert path in str(refused.value)
    assert "/proc/self" not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert Path(path).exists()


def test_a_pool_in_use_is_refused(path: str) -> None:
    with used(path, keep=True):
        pass
    with used(path), pytest.raises(RequestError, match="another process has it open"):
        used(path).__enter__()
    assert Path(path).exists()


def test_a_file_system_without_space_says_how_much_is_needed_and_left(path: str) -> None:
    with pytest.raises(RequestError, match=r"a pool of .* is needed, and its file system has"):
        used(path, size=1 << 55).__enter__()
    assert list(Path(path).parent.iterdir()) == []


@pytest.mark.parametrize("kept", [False, True])
def test_a_pool_that_a_killed_run_left_is_removed_and_a_kept_one_is_not(
    path: str, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with used(path, keep=True):
        pass
    dead = Owner(pid=2**22 + 1, boot_id="another boot", start_ticks=1)
    monkeypatch.setattr(area_journal, "this_process", lambda: dead)
    area_journal.register(area_pools.KIND, path, kept=kept)
    lines = leftovers.clean()
    assert Path(path).exists() == kept
    if not kept:
        assert any(line.startswith(f"{path}: removed, ") for line in lines)
        assert area_journal.entries() == []


def test_cleaning_leaves_what_memgauge_did_not_make(tmp_path: Path) -> None:
    file = tmp_path / "theirs"
    file.write_bytes(b"precious")
    area_journal.register(area_pools.KIND, str(file))
    (line,) = [line for line in leftovers.clean() if str(file) in line]
    assert State.FOREIGN.value in line
    assert file.read_bytes() == b"precious"


_KILLED = """
import os, signal, sys
from tests.unit.system.areas.test_pools import used
with used(sys.argv[1], keep=sys.argv[2] == "keep"):
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("keep", ["keep", "remove"])
def test_a_killed_run_leaves_no_pool(tmp_path: Path, keep: str) -> None:
    path = tmp_path / "pool"
    ended = subprocess.run([sys.executable, "-c", _KILLED, str(path), keep], check=False)
    assert ended.returncode == -signal.SIGKILL
    leftovers.clean()
    assert list(tmp_path.iterdir()) == []
    assert area_journal.entries() == []
