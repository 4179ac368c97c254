"""Marks of regions: one line a mark, in the format of the C header, and nothing when not asked."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memgauge
from memgauge.counters import marks

Mark = tuple[str, int, int, int, str]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "marks"
    path.touch()
    monkeypatch.setenv(marks.VARIABLE, str(path))
    return path


def lines(path: Path) -> list[Mark]:
    found = []
    for line in path.read_text().splitlines():
        kind, stamp, pid, tid, cpu_ns, name = line.split(" ", 5)
        assert 0 < int(cpu_ns) <= time.clock_gettime_ns(time.CLOCK_PROCESS_CPUTIME_ID)
        found.append((kind, int(stamp), int(pid), int(tid), name))
    return found


def test_a_region_leaves_its_begin_and_its_end(kept: Path) -> None:
    early = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    with memgauge.region("outer phase"), memgauge.region("inner"):
        pass
    late = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    found = lines(kept)
    assert [(kind, name) for kind, *_, name in found] == [
        ("b", "outer phase"),
        ("b", "inner"),
        ("e", "inner"),
        ("e", "outer phase"),
    ]
    stamps = [early, *(stamp for _, stamp, *_ in found), late]
    assert stamps == sorted(stamps)
    assert {(pid, tid) for _, _, pid, tid, _ in found} == {(os.getpid(), threading.get_native_id())}


def test_a_region_that_raises_ends(kept: Path) -> None:
    with pytest.raises(ValueError, match="oops"), memgauge.region("work"):
        raise ValueError("oops")
    assert [kind for kind, *_ in lines(kept)] == ["b", "e"]


def test_nothing_happens_where_nobody_profiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(marks.VARIABLE, raising=False)
    assert not marks.enabled()
    with memgauge.region("work"):
        pass
    monkeypatch.setenv(marks.VARIABLE, str(tmp_path / "nowhere"))
    with memgauge.region("work"):
        pass
    assert not (tmp_path / "nowhere").exists()


def test_a_process_and_its_fork_share_the_file(kept: Path) -> None:
    marks.begin("parent")
    child = os.fork()
    if not child:
        marks.begin("child")
        os._exit(0)
    os.waitpid(child, 0)
    assert {pid: name for _, _, pid, _, name in lines(kept)} == {
        os.getpid(): "parent",
        child: "child",
    }


def test_something_else_than_a_file_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    monkeypatch.setenv(marks.VARIABLE, str(pipe))
    assert not marks.enabled()
    os.close(reader)


@given(st.text())
def test_every_name_makes_one_line(name: str) -> None:
    kept = marks.kept_name(name)
    assert 1 <= len(kept) <= marks.NAME_BYTES
    assert all(byte >= 0x20 and byte != 0x7F for byte in kept)
    kept.decode()


def test_a_long_name_ends_with_a_whole_character() -> None:
    assert marks.kept_name("x" + "\u20ac" * 100) == ("x" + "\u20ac" * 66).encode()
    assert marks.kept_name("") == b"?"
    assert marks.kept_name("a\nb\x7f") == b"a_b_"
