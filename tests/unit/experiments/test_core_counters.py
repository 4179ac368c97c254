"""Counters of the core beside `misses` and `pages`: opened where they can be, else said why not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import pytest

pytest.importorskip("memgauge._core")

from memgauge import _core
from memgauge.counters.base import MACHINE, BackEnd, Opened, Probe, Target
from memgauge.experiments.base import Experiment
from memgauge.experiments.core_counters import EVENTS, CoreCounters, core_counters, counted_call
from memgauge.experiments.misses import Misses, MissesParameters
from memgauge.experiments.pages import Pages
from memgauge.experiments.pages_cases import PagesParameters
from memgauge.model.counters import Counter, Event, State
from memgauge.model.errors import CounterRefused, UnknownEvent
from memgauge.model.parameters import CommonParameters
from memgauge.model.readings import counted
from memgauge.system.detect import detect

TYPES = ("performance", "efficiency")


class FakeCore(BackEnd):
    """A hybrid core: counters of two types, each the account of this process's kernels."""

    name = "perf"
    summary = "test"
    state: ClassVar[State] = "ready"
    refuses: ClassVar[bool] = False
    targets: ClassVar[list[Target]] = []

    def probe(self) -> Probe:
        return Probe(state="ready")

    def events(self) -> list[Event]:
        """All but page walks, as on a PMU that does not publish them."""
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
            )
            for name in EVENTS[:-1]
        ]

    def open(self, events: Sequence[Event], target: Target = MACHINE) -> Opened:
        self.targets.append(target)
        if self.refuses:
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


def opened(team: _core.Team, *asked: str) -> CoreCounters:
    with core_counters(team, asked, name="misses") as made:
        assert made is not None
        return made


def test_counters_are_bound_to_the_thread_of_the_team(
    core: type[FakeCore], team: _core.Team
) -> None:
    made = opened(team, "auto")
    assert {counter.core_type for counter in made.set.of} == set(TYPES)
    assert {counter.event for counter in made.set.of} == set(EVENTS[:-1])
    assert made.set.refused == {EVENTS[-1]: "no PMU of a core publishes it"}
    assert [list(target.threads) for target in core.targets] == [team.thread_ids()]


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


@pytest.mark.parametrize(
    ("experiment", "parameters"),
    [(Misses(), MissesParameters()), (Pages(), PagesParameters(largest_bytes=4 << 20, pages="4k"))],
)
def test_misses_and_pages_keep_a_reading_with_each_walk(
    experiment: Experiment, parameters: CommonParameters, core: type[FakeCore]
) -> None:
    del core
    system = detect()
    group = experiment.plan(parameters, system)[0]
    with experiment.open(group, parameters, system) as bench:
        (made,) = bench.counters
        samples = [s for point in bench.points[-2:] for s in bench.measure(point.point, 0)]
    assert made.counters.partition("/")[0] == experiment.name
    assert all(sample.reading is not None for sample in samples)
