"""Groups that a PMU refuses, or takes and never counts: smaller ones, down to single events."""

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from tests.counters_trees import tracepoints
from tests.counters_trees.sysfs import FakePmu, plant

from memgauge import _core as core
from memgauge.counters.base import Opened
from memgauge.counters.host import Host
from memgauge.counters.perf import opening as perf_opening
from memgauge.counters.perf.access import Access
from memgauge.counters.perf.back_end import PerfBackEnd
from memgauge.counters.perf.encoding import Words
from memgauge.counters.perf.places import Place
from memgauge.counters.perf.scale import Worth
from memgauge.model.errors import CounterRefused

pytestmark = [pytest.mark.native, pytest.mark.whole_machine]

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


def smallest_source() -> core.CounterSource:
    """Of an event that counts nothing, on this thread."""
    event = core.PerfEvent(1, 9, exclude_kernel=True)
    refusal = core.perf_refusal(event, 0)
    if refusal:
        pytest.skip(f"perf_event_open is refused here: {os.strerror(refusal)}")
    return core.open_perf_single(event, 0)


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


class Turns:
    """A reader of a group that is enabled and counts from the n-th look on."""

    def __init__(self, counts_from: int, enabled: int = 1000) -> None:
        self.looks = 0
        self.counts_from = counts_from
        self.enabled = enabled

    def __call__(self, sources: object) -> "Turns":
        return self

    def read(self) -> "Turns":
        self.looks += 1
        return self

    @property
    def values(self) -> list[int | None]:
        counting = self.looks > self.counts_from
        return [self.enabled, 500 if counting else 0, 7 if counting else None]


@pytest.mark.parametrize(
    ("turns", "never"), [(Turns(0), False), (Turns(2), False), (Turns(99), True),
                         (Turns(99, enabled=0), False)],
)  # fmt: skip
def test_a_group_that_waits_for_its_turn_is_kept(
    turns: Turns, never: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last is bound to a thread that sleeps: it was never enabled."""
    monkeypatch.setattr(core, "Reader", turns)
    monkeypatch.setattr(perf_opening, "_TURN_S", 0.0)
    source = smallest_source()
    assert perf_opening._never_runs(source) == never


def test_times_of_a_thread_on_a_hybrid_processor_are_no_multiplexing() -> None:
    """It is away from a core type for part of the time, in which nothing was to be counted."""
    worth = Worth(quantity="cycles", unit="", scale=1.0, source="x")
    bound = Place(
        pmu="cpu_core", type=0, words=Words(4 << 32), cpu=-1, pid=7, instance="cpu_core thread 7",
        core_type="performance", worth=worth,
    )  # fmt: skip
    everywhere = msgspec.structs.replace(bound, cpu=3, pid=-1, instance="cpu_core@cpu3")
    event = PerfBackEnd(Host()).find("task-clock")[0]
    source = smallest_source()
    made = perf_opening.counters_of(
        [perf_opening.Piece(source, [perf_opening.Wanted(event, place)], perf_opening.SINGLE)
         for place in (bound, everywhere)]
    )  # fmt: skip
    assert [one.core_type for one in made] == ["performance", "performance"]
    assert [(one.slot, one.enabled_slot, one.running_slot) for one in made] == [
        (2, None, None), (5, 3, 4),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("most", "bound", "core_type", "said"),
    [
        (2, True, "performance", "with each other and with other programs'"),
        (5, True, "performance", "shared their hardware with other programs'"),
        (2, True, None, None),
        (2, False, "performance", None),
    ],
)
def test_turns_that_times_do_not_tell_are_noted(
    most: int, bound: bool, core_type: str | None, said: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    source = smallest_source()
    monkeypatch.setattr(core, "open_perf_group", lambda *_: source)
    monkeypatch.setattr(core, "open_perf_single", lambda *_: source)
    monkeypatch.setattr(perf_opening, "_never_runs", lambda _: False)
    refuse_above(monkeypatch, most, errno.EINVAL)
    worth = Worth(quantity="cycles", unit="", scale=1.0, source="x")
    place = Place(
        pmu="cpu_core", type=0, words=Words(4 << 32), cpu=-1 if bound else 3,
        pid=7 if bound else -1, instance="cpu_core thread 7", core_type=core_type, worth=worth,
    )  # fmt: skip
    event = PerfBackEnd(Host()).find("task-clock")[0]
    attempt = perf_opening.Session(Access(paranoid=2, entitled=False), perf_opening.Options())
    attempt.open([perf_opening.Wanted(event, place)] * EVENTS)
    notes = [note for note in attempt.notes if "neither scaled up nor marked" in note]
    assert len(notes) == (said is not None)
    assert all(note.startswith("cpu_core counts threads") and str(said) in note for note in notes)


def test_a_missing_privilege_is_no_reason_to_halve(
    back_end: PerfBackEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_above(monkeypatch, 2, errno.EACCES)
    with pytest.raises(CounterRefused, match="perf:uncore_x/e2/: cannot be opened"):
        opened(back_end)
