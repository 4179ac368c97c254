"""Counters around runs of a program, with tracepoints that stand in for memory controllers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("memgauge._core")

from tests.counters_trees import tracepoints

from memgauge.counters.choice import memory_choice
from memgauge.counters.host import Host
from memgauge.counters.verdicts import keep, place_of
from memgauge.experiments.diagnose.program.program_runs import ProgramRuns
from memgauge.experiments.diagnose.program.run_counters import run_counters
from memgauge.experiments.diagnose.treatments import Treatment
from memgauge.model.counting.events import EventVerdict
from memgauge.model.counting.readings import counted

pytestmark = [pytest.mark.native, pytest.mark.whole_machine]

USUAL = Treatment(name="as it is", kind="variant")
OTHER = Treatment(name="other", kind="variant", baseline="as it is")
SCRIPT = "import os\nfor _ in range(3000): os.sched_rr_get_interval(0)\nos.sched_getparam(0)"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    reason = tracepoints.missing()
    if reason:
        pytest.skip(reason)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    tree = tracepoints.client(tmp_path / "tree")
    with tracepoints.alone():
        yield tree.host_as_we_are


def keep_verdicts(host: Host, word: str) -> None:
    place = place_of(host)
    fields = {
        "verdict": word,
        "evidence": "the test",
        "machine": place.machine,
        "kernel": place.kernel,
        "made_at": "2026-01-02T03:04:05+00:00",
    }
    keep(
        place,
        [
            msgspec.convert({**fields, "event": event.name}, EventVerdict)
            for event in memory_choice(host).events
        ],
    )


def test_verified_counters_are_read_around_the_usual_runs_alone(host: Host) -> None:
    keep_verdicts(host, "verified")
    with run_counters(wanted=True, host=host) as made:
        assert made.counters is not None, made.why_not
        runs = ProgramRuns([sys.executable, "-S", "-c", SCRIPT], [0], counters=made.counters)
        other, usual = runs.run(OTHER).use, runs.run(USUAL).use
    assert other is not None
    assert other.reading is None
    assert usual is not None
    reading = usual.reading
    assert reading is not None
    assert reading.before_ns[1] <= reading.after_ns[0]
    bytes_ = {}
    for counter in made.counters.set.of:
        found = counted(counter, reading.before, reading.after)
        assert found is not None
        bytes_[counter.quantity] = found.value
    assert bytes_ == {"read_bytes": 3000 * 64, "write_bytes": 64}


@pytest.mark.parametrize("word", [None, "dead", "mis-scaled"])
def test_counters_that_are_not_verified_are_not_read(host: Host, word: str | None) -> None:
    if word:
        keep_verdicts(host, word)
    with run_counters(wanted=True, host=host) as made:
        assert made.counters is None
    assert "memgauge counters verify" in made.why_not
    assert (word or "unverified") in made.why_not


def test_a_machine_without_counters_says_why(tmp_path: Path) -> None:
    (tmp_path / "devices").mkdir()
    with run_counters(wanted=True, host=Host(sysfs=tmp_path, procfs=tmp_path)) as made:
        assert made.counters is None
    assert "no counter of memory traffic can be opened" in made.why_not


def test_what_nobody_asked_for_has_no_reason(tmp_path: Path) -> None:
    with run_counters(wanted=False, host=Host(sysfs=tmp_path)) as made:
        assert (made.counters, made.why_not) == (None, "")
