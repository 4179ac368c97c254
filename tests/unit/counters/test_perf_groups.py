"""Groups that a PMU refuses, or takes and never counts: smaller ones, down to single events."""

import errno
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.counters_trees import tracepoints
from tests.counters_trees.sysfs import FakePmu, plant

from memgauge import _core as core
from memgauge.counters import perf_opening
from memgauge.counters.base import Opened
from memgauge.counters.perf import PerfBackEnd
from memgauge.model.errors import CounterRefused

pytestmark = pytest.mark.native

EVENTS = 5


@pytest.fixture
def back_end(tmp_path: Path) -> PerfBackEnd:
    """One PMU with five events, which count the same call."""
    reason = tracepoints.missing()
    if reason:
        pytest.skip(reason)
    unit = FakePmu(
        name="uncore_x",
        type=tracepoints.TRACEPOINT,
        cpumask="1",
        format={"event": "config:0-31"},
        events={f"e{at}": f"event={tracepoints.READ.id}" for at in range(EVENTS)},
    )
    return PerfBackEnd(plant(tmp_path, [unit], tracepoints.SOCKETS).host_as_we_are)


def opened(back_end: PerfBackEnd) -> Opened:
    return back_end.open([back_end.find(f"uncore_x/e{at}/")[0] for at in range(EVENTS)])


def refuse_above(monkeypatch: pytest.MonkeyPatch, most: int, number: int) -> None:
    real = core.open_perf_group

    def picky(
        events: Sequence[core.PerfEvent], pid: int, cpu: int, inherit: bool
    ) -> core.CounterSource:
        if len(events) > most:
            error = CounterRefused("no")
            error.error_number, error.event_index = number, most
            raise error
        return real(events, pid, cpu, inherit)

    monkeypatch.setattr(core, "open_perf_group", picky)


@pytest.mark.parametrize(("most", "sizes"), [(5, [5]), (3, [3, 2]), (2, [2, 1, 2]), (0, [1] * 5)])
def test_a_group_that_is_refused_is_halved(
    back_end: PerfBackEnd, monkeypatch: pytest.MonkeyPatch, most: int, sizes: list[int]
) -> None:
    refuse_above(monkeypatch, most, errno.EINVAL)
    made = opened(back_end)
    assert [source.slots - 2 for source in made.sources] == sizes
    assert [one.event for one in made.counters] == [f"perf:uncore_x/e{at}/" for at in range(EVENTS)]
    routes = [
        perf_opening.GROUP if size > 1 else perf_opening.SINGLE
        for size in sizes
        for _ in range(size)
    ]
    assert [one.route for one in made.counters] == routes
    assert any("uncore_x refuses groups of 5" in note for note in made.notes) == (most < EVENTS)
    reader = core.Reader(made.sources)
    with tracepoints.alone():
        before = reader.read().values
        tracepoints._make(tracepoints.READ, 100, 1)
        after = reader.read().values
    pairs = ((before[one.slot], after[one.slot]) for one in made.counters)
    assert [b - a for a, b in pairs if a is not None and b is not None] == [100] * EVENTS


def test_a_group_that_never_counts_is_halved(
    back_end: PerfBackEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some PMUs open more events than they have counters, and then count none of them."""
    monkeypatch.setattr(perf_opening, "_never_runs", lambda source: source.slots > 2 + 4)
    made = opened(back_end)
    assert [source.slots - 2 for source in made.sources] == [3, 2]
    assert any("has not counters enough for 5 events at once" in note for note in made.notes)


def test_a_missing_privilege_is_no_reason_to_halve(
    back_end: PerfBackEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_above(monkeypatch, 2, errno.EACCES)
    with pytest.raises(CounterRefused, match="perf:uncore_x/e2/: cannot be opened"):
        opened(back_end)
