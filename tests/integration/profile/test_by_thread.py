"""`memgauge profile --by-thread`: events of each thread of a real program."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.command import memgauge

from memgauge import _core
from memgauge.analysis.profile.threads_tables import value_of
from memgauge.counters.perf.generic import SOFTWARE
from memgauge.model.storage.run_file import read_run

pytestmark = pytest.mark.native

PAGES = (3000, 9000)
# Each thread waits to be found, touches pages of its own, and waits until that was read.
PROGRAM = f"""
import mmap, threading, time
def work(pages):
    time.sleep(1.5)
    memory = mmap.mmap(-1, pages * mmap.PAGESIZE)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    for page in range(pages):
        memory[page * mmap.PAGESIZE] = 1
    time.sleep(0.5)
threads = [threading.Thread(target=work, args=[pages]) for pages in {PAGES}]
for one in threads: one.start()
for one in threads: one.join()
"""


def profiled(*options: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return memgauge(
        "profile", "--output", "run", *options, "--", sys.executable, "-c", PROGRAM, cwd=cwd
    )


def test_page_faults_are_those_of_the_thread_that_made_them(tmp_path: Path) -> None:
    event = _core.PerfEvent(SOFTWARE, 2, exclude_kernel=True)
    refused = _core.perf_refusal(event, pid=0)
    if refused:
        pytest.skip(f"no counters of the kernel's own events: {errno.errorcode[refused]}")
    done = profiled("--by-thread", "--components", "process,software", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [process] = read_run(tmp_path / "run").processes
    names = [event.event for event in process.thread_events]
    at = names.index("perf:page-faults")
    assert "perf:task-clock" not in names, "the kernel accounts it to each thread"
    counted = sorted(
        value
        for thread in process.threads
        if thread.tid != process.pid
        and (value := value_of(thread, at, process.thread_events[at])) is not None
    )
    assert len(counted) == len(PAGES)
    for found, pages in zip(counted, PAGES, strict=True):
        assert pages <= found < pages + 1000
    assert "Threads: counted events" in done.stderr


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--components", "software"), "name it with --components too"),
        (("--components", "process"), "no event that is watched can be counted for a thread here"),
    ],
)
def test_what_cannot_be_counted_by_thread_is_said_in_one_line(
    options: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    done = profiled("--by-thread", *options, cwd=tmp_path)
    said = [line for line in done.stderr.splitlines() if "--by-thread" in line]
    assert len(said) == 1, done.stderr
    assert reason in said[0]
    assert "Traceback" not in done.stderr
