"""Counters of the core beside `misses` and `pages`: opened where they can be, else said why not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import msgspec
import pytest

pytest.importorskip("memgauge._core")

from tests.unit.analysis.runs import start

from memgauge import _core
from memgauge.analysis.counters import core_counts
from memgauge.analysis.figures.run import figures_of
from memgauge.counters.base import MACHINE, BackEnd, Opened, Probe, Target
from memgauge.experiments.misses.host import EVENTS as OF_MISSES
from memgauge.experiments.misses.host import Misses, MissesParameters
from memgauge.experiments.pages.host import Pages
from memgauge.experiments.pages.plan import PagesParameters
from memgauge.experiments.shared.base import Experiment
from memgauge.experiments.shared.core_counters import (
    EVENTS,
    Automatic,
    CoreCounters,
    core_counters,
    counted_call,
)
from memgauge.model.counting.events import Counter, Event, State
from memgauge.model.counting.readings import counted
from memgauge.model.errors import CounterRefused, UnknownEvent
from memgauge.model.parameters import CommonParameters
from memgauge.model.records import Sample
from memgauge.model.run import run_of
from memgauge.system.detect import detect

TYPES = ("performance", "efficiency")


class FakeCore(BackEnd):
    """A hybrid core: counters of two types, each the account of this process's kernels."""

    name = "perf"
    summary = "test"
    state: ClassVar[State] = "ready"
    refuses: ClassVar[bool] = False
    closed: ClassVar[Sequence[str]] = ()
    """Those that are ready and cannot be opened all the same."""
    targets: ClassVar[list[Target]] = []
    names: ClassVar[Sequence[str]] = EVENTS[:-1]
    """All but page walks, as on a processor for which no encoding is known."""
    same_as: ClassVar[dict[str, str]] = {}

    def probe(self) -> Probe:
        return Probe(state="ready")

    def events(self) -> list[Event]:
        """Those of `names`."""
        return [
            Event(
                name=name,
                back_end="perf",
                quantity="count",
                domain="core",
                scope="core",
                unit="",
                scale=1.0,
                meaning="test",
                encoding="",
                instances=[],
                source="test",
                state=self.state,
                reason=None if self.state == "ready" else "no PMU here",
                same_as=self.same_as.get(name),
            )
            for name in self.names
        ]

    def open(self, events: Sequence[Event], target: Target = MACHINE) -> Opened:
        self.targets.append(target)
        if self.refuses or any(event.name in self.closed for event in events):
            raise CounterRefused("perf: too many open files")
        counters = [
            Counter(
                name=f"{event.name}@{kind}",
                event=event.name,
                back_end="perf",
                quantity="count",
                domain="core",
                scope="thread",
                unit="",
                scale=1.0,
                scale_source="test",
                instance=kind,
                core_type=kind,
                slot=2 * at,
                route="test",
            )
            for event in events
            for at, kind in enumerate(TYPES)
        ]
        return Opened(sources=[_core.ModelledSource() for _ in TYPES], counters=counters)


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> type[FakeCore]:
    def load(name: str, host: object) -> BackEnd:
        assert name == "perf"
        return FakeCore(host)  # type: ignore[arg-type]

    monkeypatch.setattr("memgauge.counters.opening.load", load)
    monkeypatch.setattr(FakeCore, "targets", [])
    return FakeCore


@pytest.fixture(scope="module")
def team() -> _core.Team:
    return _core.Team([detect().allowed_cpus[0]])


def opened(team: _core.Team, *requested: str) -> CoreCounters:
    with core_counters(team, requested, name="misses") as made:
        assert made is not None
        return made


def test_counters_are_bound_to_the_thread_of_the_team(
    core: type[FakeCore], team: _core.Team
) -> None:
    made = opened(team, "auto")
    assert {counter.core_type for counter in made.set.of} == set(TYPES)
    assert {counter.event for counter in made.set.of} == set(EVENTS[:-1])
    why = "no PMU of a core publishes it, and no encoding is known here"
    assert made.set.refused == {EVENTS[-1]: why}
    assert [list(target.threads) for target in core.targets] == [team.thread_ids()]


def test_one_counter_stands_for_two_names_of_one_event(
    core: type[FakeCore], team: _core.Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else five events would take turns on the four counters that many cores have."""
    misses, walks = "perf:dtlb-load-misses", "perf:page-walks"
    monkeypatch.setattr(core, "names", EVENTS)
    monkeypatch.setattr(core, "same_as", {misses: walks})
    with core_counters(team, ("auto",), name="misses") as made:
        assert made is not None
        assert made.opened is not None
        assert misses not in {counter.event for counter in made.opened.set.of}
    slots = {(one.event, one.core_type): one.slot for one in made.set.of}
    assert {event for event, _ in slots} == set(EVENTS)
    assert all(slots[misses, kind] == slots[walks, kind] for kind in TYPES)
    assert made.set.refused == {}
    assert any(f"{misses} is {walks}" in note for note in made.set.notes)
    assert len({one.name for one in made.set.of}) == len(made.set.of)


@pytest.mark.parametrize("state", ["refused", "absent"])
def test_what_cannot_be_opened_is_left_out_with_its_reason(
    state: State, core: type[FakeCore], team: _core.Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "state", state)
    made = opened(team, "auto")
    assert made.opened is None
    assert made.set.of == []
    assert made.set.refused["perf:llc-loads"] == "no PMU here"


def test_a_refusal_on_opening_is_a_reason_too(
    core: type[FakeCore], team: _core.Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "refuses", True)
    made = opened(team, "auto")
    assert made.opened is None
    assert made.set.refused["perf:llc-loads"] == "perf: too many open files"
    with pytest.raises(CounterRefused, match="too many open files"):
        opened(team, "perf:llc-loads")


def test_what_lies_beside_the_cores_never_keeps_the_cores_from_being_counted(
    core: type[FakeCore], team: _core.Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = "perf:amd_l3/l3_misses/"
    automatic = Automatic(("perf:llc-loads",), (beside,))
    with core_counters(team, ("auto",), name="misses", automatic=automatic) as made:
        assert made is not None
        assert {counter.event for counter in made.set.of} == {"perf:llc-loads"}
        assert made.set.refused == {}, "a processor without it lacks nothing"
    monkeypatch.setattr(core, "names", ["perf:llc-loads", beside])
    with core_counters(team, ("auto",), name="misses", automatic=automatic) as made:
        assert made is not None
        assert {counter.event for counter in made.set.of} == {"perf:llc-loads", beside}
    monkeypatch.setattr(core, "closed", [beside])
    with core_counters(team, ("auto",), name="misses", automatic=automatic) as made:
        assert made is not None
        assert {counter.event for counter in made.set.of} == {"perf:llc-loads"}
        assert made.set.refused == {beside: "perf: too many open files"}
    monkeypatch.setattr(core, "closed", [beside, "perf:llc-loads"])
    with core_counters(team, ("auto",), name="misses", automatic=automatic) as made:
        assert made is not None
        assert made.opened is None
        assert set(made.set.refused) == {"perf:llc-loads", beside}


def test_what_is_named_must_be_known(core: type[FakeCore], team: _core.Team) -> None:
    del core
    with pytest.raises(UnknownEvent, match="did you mean perf:llc-loads"):
        opened(team, "perf:llc-load")


def test_none_opens_nothing(core: type[FakeCore], team: _core.Team) -> None:
    with core_counters(team, ("none",), name="misses") as made:
        assert made is None
    assert core.targets == []


def test_the_call_alone_is_counted(core: type[FakeCore], team: _core.Team) -> None:
    del core
    arrays = _core.StreamArrays(team, elements=1 << 14, blocks=4)
    with core_counters(team, ("auto",), name="misses") as made:
        assert made is not None
        arrays.run(_core.KernelSpec("copy"), blocks=4)
        _, reading = counted_call(made, lambda: arrays.run(_core.KernelSpec("read"), blocks=4))
        arrays.run(_core.KernelSpec("copy"), blocks=4)
        assert reading is not None
        for counter in made.set.of:
            found = counted(counter, reading.before, reading.after)
            assert found is not None
            assert found.value == 8 * arrays.elements
    arrays.close()


def quiet(sample: Sample) -> Sample:
    """As on a machine that leaves the thread alone, and whose every counter counts 7."""
    assert sample.reading is not None
    after = [(early or 0) + 7 for early in sample.reading.before]
    reading = msgspec.structs.replace(sample.reading, after=after)
    threads = [
        msgspec.structs.replace(thread, involuntary_switches=0, page_faults=0)
        for thread in sample.threads
    ]
    return msgspec.structs.replace(sample, threads=threads, reading=reading)


@pytest.mark.parametrize(
    ("experiment", "parameters", "events"),
    [
        (Misses(), MissesParameters(), OF_MISSES),
        (Pages(), PagesParameters(largest_bytes=4 << 20, pages="4k"), EVENTS),
    ],
)
def test_misses_and_pages_keep_a_reading_with_each_walk(
    experiment: Experiment,
    parameters: CommonParameters,
    events: Sequence[str],
    core: type[FakeCore],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(core, "names", dict.fromkeys([*OF_MISSES, *EVENTS]))
    system = detect()
    group = experiment.plan(parameters, system)[0]
    with experiment.open(group, parameters) as bench:
        (made,) = bench.counters
        samples = [s for point in bench.points[-2:] for s in bench.measure(point.point, 0)]
    assert made.counters.partition("/")[0] == experiment.name
    assert all(sample.reading is not None for sample in samples)
    run = run_of([start(), made, *bench.points, *(12 * [quiet(sample) for sample in samples])])
    found = core_counts.core_counts(figures_of(run), experiment.name)
    [table] = core_counts.table(found, experiment.name, "access", [], lambda _: [])
    titles = [column.title for column in table.columns]
    named = [core_counts.TITLES[event] for event in events]
    assert titles == ["core type", *(f"{title}, counted" for title in named)]
