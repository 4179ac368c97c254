"""The run in which the kernel shows what a program refers to."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("memgauge._core")

from memgauge.experiments.diagnose.program.program_runs import ProgramRuns
from memgauge.experiments.diagnose.program.working_set import NAME, working_set_run

CPU = min(os.sched_getaffinity(0))
BUSY = "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done"


def runs(script: str) -> ProgramRuns:
    return ProgramRuns(["sh", "-c", script], [CPU])


def test_a_run_shows_what_it_refers_to_or_why_not() -> None:
    found = working_set_run(runs(BUSY), 0.04, wanted=True)
    if found.not_tried:  # it may have ended before it was looked at, or the kernel does not tell
        assert [one.name for one in found.not_tried] == [NAME]
        assert found.found == []
        return
    ((referenced),) = found.found
    assert len(referenced.looks) >= 2
    for look in referenced.looks:
        assert look.interval_ns >= 10_000_000
        assert 0 <= look.referenced_bytes <= look.resident_bytes
    # On a busy machine the program may not run between two looks; before the first one it has.
    assert any(look.referenced_bytes for look in referenced.looks)


def test_a_short_run_is_not_run_again() -> None:
    found = working_set_run(runs("exit 3"), 0.02, wanted=True)
    assert found.found == []
    (one,) = found.not_tried
    assert (one.name, one.reason) == (
        "working set",
        "a run takes 20.0 ms, which is too short to look at what it refers to",
    )


def test_nothing_is_run_where_it_is_not_wanted() -> None:
    assert working_set_run(runs("exit 3"), 1.0, wanted=False).not_tried == []
