"""Memory that cannot be had: one clear line, exit code 2, and nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.integration import command
from tests.integration.mounts import mounted

import memgauge

SOURCE = Path(memgauge.__file__).parents[1]
NOBODY = 65534


def requested(
    memory: str, output: Path, *more: str, experiment: str = "stream"
) -> subprocess.CompletedProcess[str]:
    words = [experiment, "--memory", memory, "--budget", "2s", "--output", str(output), *more]
    return command.memgauge(*words, cwd="/")


def refused(done: subprocess.CompletedProcess[str], output: Path) -> str:
    """The one line that says why."""
    assert done.returncode == 2, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("memgauge: ")]
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert not (output / "records.jsonl").exists()
    return lines[0]


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        ("foo", "'foo' is not a kind of memory; choose from dram, node:N"),
        ("node:", "malformed; write node:N"),
        ("node:x", "is not a whole number"),
        ("node:1000", "this machine has no node 1000 with memory; choose among"),
        ("interleave:0", "interleaving needs two or more nodes"),
        ("interleave:0,0", "each named once"),
        ("interleave:0,1000", "this machine has no node 1000"),
        ("interleave:0=3,1", "give a weight to every node, or to none"),
        ("interleave:0=0,1=1", "is not a whole number from 1 to 255"),
        ("dram:1", "malformed; write dram"),
        ("shm:x", "malformed; write shm:"),
        ("file:", "malformed; write file:PATH"),
        ("file:/nonexistent/directory/x", "/nonexistent/directory/x: "),
        ("file:/proc/memgauge", "/proc/memgauge"),
        ("file:/etc/passwd", "/etc/passwd"),
        ("file:/dev/null", "/dev/null"),
        ("devdax:/dev/null", "is not a device of byte-addressable memory"),
        ("devdax:/dev/dax77.77", "/dev/dax77.77: no such"),
        ("pmemobj:/etc/passwd", "/etc/passwd"),
    ],
)
def test_bad_memory_is_refused_in_one_line(tmp_path: Path, memory: str, said: str) -> None:
    output = tmp_path / "run"
    before = Path("/etc/passwd").read_bytes()
    assert said in refused(requested(memory, output), output)
    assert Path("/etc/passwd").read_bytes() == before


def test_a_file_that_memgauge_did_not_make_is_left_as_it_is(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_bytes(b"do not lose this")
    refused(requested(f"file:{mine}", tmp_path / "run"), tmp_path / "run")
    assert mine.read_bytes() == b"do not lose this"


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory that every user may enter, as those of pytest are not."""
    with TemporaryDirectory(prefix="memgauge-errors-") as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


AS_NOBODY = """
import os, sys
from memgauge import _core
from memgauge.model.errors import RequestError
from memgauge.model.memory import parse_placement
from memgauge.system.areas import files, pools
from memgauge.system.memory.sources import opened
placement = parse_placement(sys.argv[1], "--memory")
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
try:
    with opened({placement: 1 << 20}):
        print("opened")
except RequestError as error:
    print(error)
    sys.exit(2)
"""
"""Becomes another user once all is imported: this Python may not be that user's to read."""


def opened_by_nobody(memory: str, state: Path) -> str:
    state.mkdir()
    os.chown(state, NOBODY, NOBODY)
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, memory],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | {"PYTHONPATH": str(SOURCE), "XDG_STATE_HOME": str(state)},
    )
    assert done.returncode == 2, done.stderr + done.stdout
    (line,) = done.stdout.splitlines()
    return line


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("kind", ["file", "pmemobj"])
def test_missing_permission_is_one_line(shared: Path, kind: str) -> None:
    closed = shared / "closed"
    closed.mkdir(mode=0o755)
    line = opened_by_nobody(f"{kind}:{closed}/x", shared / "state")
    if "libpmemobj" in line:
        pytest.skip("libpmemobj is missing here")
    assert line.startswith(f"memory {kind}:{closed}/x: ")
    assert "permission denied" in line
    assert list(closed.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's file")
@pytest.mark.parametrize("kind", ["file", "pmemobj"])
def test_a_file_of_another_user_is_left_as_it_is(shared: Path, kind: str) -> None:
    mine = shared / "mine"
    mine.write_bytes(b"do not lose this")
    mine.chmod(0o600)
    line = opened_by_nobody(f"{kind}:{mine}", shared / "state")
    assert str(mine) in line
    assert mine.read_bytes() == b"do not lose this"


@pytest.mark.parametrize("pages", ["2m", "thp"])
def test_pages_that_a_file_cannot_have_are_refused_in_one_line(tmp_path: Path, pages: str) -> None:
    """Base pages only: explicit ones are of hugetlbfs, transparent ones not of every tmpfs."""
    with mounted("tmpfs", "huge=never", tmp_path / "base-pages") as place:
        done = requested(
            f"file:{place}/area", tmp_path / "run", "--pages", pages, experiment="stride"
        )
        refused(done, tmp_path / "run")
        assert not (place / "area").exists()
