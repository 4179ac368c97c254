"""Memory that cannot be had: one clear line, exit code 2, and nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import memgauge

SOURCE = Path(memgauge.__file__).parents[1]
NOBODY = 65534


def asked(
    memory: str, output: Path, *more: str, user: int | None = None, experiment: str = "stream"
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memgauge", experiment, "--memory", memory]
    command += ["--budget", "2s", "--output", str(output), *more]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        env=os.environ | {"PYTHONPATH": str(SOURCE), "HOME": "/nonexistent"},
        cwd="/",
    )


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
        ("foo", "'foo' is no kind of memory; choose from dram, node:N"),
        ("node:", "incomplete or has too much; write node:N"),
        ("node:x", "is not a whole number"),
        ("node:1000", "this machine has no node 1000 with memory; choose among"),
        ("interleave:0", "interleaving is over two nodes or more"),
        ("interleave:0,0", "each named once"),
        ("interleave:0,1000", "this machine has no node 1000"),
        ("interleave:0=3,1", "give every node a weight, or none"),
        ("interleave:0=0,1=1", "is not a whole number from 1 to 255"),
        ("dram:1", "incomplete or has too much; write dram"),
        ("shm:x", "incomplete or has too much; write shm:"),
        ("file:", "incomplete or has too much; write file:PATH"),
        ("file:/nonexistent/directory/x", "/nonexistent/directory/x: "),
        ("file:/proc/memgauge", "/proc/memgauge"),
        ("file:/etc/passwd", "/etc/passwd"),
        ("file:/dev/null", "/dev/null"),
        ("devdax:/dev/null", "no device of byte-addressable memory"),
        ("devdax:/dev/dax77.77", "/dev/dax77.77: no such"),
        ("pmemobj:/etc/passwd", "/etc/passwd"),
    ],
)
def test_bad_memory_is_refused_in_one_line(tmp_path: Path, memory: str, said: str) -> None:
    output = tmp_path / "run"
    before = Path("/etc/passwd").read_bytes()
    assert said in refused(asked(memory, output), output)
    assert Path("/etc/passwd").read_bytes() == before


def test_a_file_that_memgauge_did_not_make_is_left_as_it_is(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_bytes(b"do not lose this")
    refused(asked(f"file:{mine}", tmp_path / "run"), tmp_path / "run")
    assert mine.read_bytes() == b"do not lose this"


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory that every user may enter, as those of pytest are not."""
    with TemporaryDirectory(prefix="memgauge-errors-") as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("kind", ["file", "pmemobj"])
def test_missing_permission_is_refused_in_one_line(shared: Path, kind: str) -> None:
    """As a user who may write the run's directory, and not the one that the memory is in."""
    closed, output = shared / "closed", shared / "open"
    closed.mkdir(mode=0o755)
    output.mkdir()
    os.chown(output, NOBODY, NOBODY)
    done = asked(f"{kind}:{closed}/x", output / "run", user=NOBODY)
    if "No module named" in done.stderr or "can't open" in done.stderr:
        pytest.skip("another user may not read this installation")
    line = refused(done, output / "run")
    assert f"{closed}/x" in line
    assert "permission denied" in line.lower()
    assert list(closed.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's file")
def test_a_file_of_another_user_is_refused_and_left_as_it_is(shared: Path) -> None:
    mine, output = shared / "mine", shared / "open"
    mine.write_bytes(b"do not lose this")
    mine.chmod(0o600)
    output.mkdir()
    os.chown(output, NOBODY, NOBODY)
    done = asked(f"file:{mine}", output / "run", user=NOBODY)
    if "No module named" in done.stderr or "can't open" in done.stderr:
        pytest.skip("another user may not read this installation")
    refused(done, output / "run")
    assert mine.read_bytes() == b"do not lose this"


@pytest.mark.parametrize("pages", ["2m", "thp"])
def test_pages_that_a_file_cannot_have_are_refused_in_one_line(tmp_path: Path, pages: str) -> None:
    """Base pages only: explicit ones are of hugetlbfs, transparent ones not of every tmpfs."""
    done = asked(f"file:{tmp_path}/area", tmp_path / "run", "--pages", pages, experiment="stride")
    if done.returncode == 0:
        pytest.skip(f"this file system has pages of the policy {pages}")
    refused(done, tmp_path / "run")
    assert not (tmp_path / "area").exists()
