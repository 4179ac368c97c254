"""The trial round keeps what fits as it is measured, on a scripted clock."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping

import pytest
from tests.unit.runner.fakes import FakeExperiment, a_point

from memgauge.experiments.shared.base import Bench, Group
from memgauge.experiments.shared.importance import Importance, Part, Work
from memgauge.model.errors import DoesNotFit
from memgauge.model.parameters import CommonParameters
from memgauge.model.records import Sample
from memgauge.runner.batches import Planned
from memgauge.runner.budget import Budget
from memgauge.runner.costs import CostModel
from memgauge.runner.thinning import OTHERS_STRIDE, ROUNDS, LeftPoints
from memgauge.runner.trial import Trial

MODEL = CostModel(cpu_nodes=1)
SHARE_S = 10.0
MOST_S = SHARE_S / (ROUNDS + 1)
"""Of a round in which only essential points are sampled."""
FITTING_S = OTHERS_STRIDE * MOST_S
"""Of other points, each sampled in one round of two."""


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s


class Weighed(Group, frozen=True, kw_only=True):
    importance: Importance

    def parts(self) -> list[Part]:
        """Each point for itself."""
        return [
            Part(importance=self.importance, points=[one.point], works=[Work(seconds=0.01)])
            for one in self.points
        ]


class Timed(Bench):
    """Each point takes its time."""

    def __init__(self, clock: Clock, seconds: Mapping[str, float]) -> None:
        self.points = [a_point(name) for name in seconds]
        self.kept: Collection[str] = ()
        self._clock = clock
        self._seconds = seconds

    def measure(self, point: str, round_: int) -> list[Sample]:
        self._clock.now_s += self._seconds[point]
        if self._seconds[point] == 0:
            raise DoesNotFit(point)
        return []

    def keep(self, names: Collection[str]) -> None:
        self.kept = names


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "monotonic", made.monotonic)
    return made


def tried(
    *benches: tuple[Timed, Importance], forced: Collection[str] = ()
) -> list[tuple[str, str]]:
    """Run a trial; what it leaves out, by experiment."""
    return ran(*benches, forced=forced)[0]


def ran(
    *benches: tuple[Timed, Importance], forced: Collection[str] = ()
) -> tuple[list[tuple[str, str]], int]:
    """What a trial leaves out, and how seldom points are sampled that are not essential."""
    opened: dict[Bench, Planned] = {}
    for bench, importance in benches:
        group = Weighed(name="g", points=bench.points, bytes=1, importance=importance)
        opened[bench] = (FakeExperiment({}), CommonParameters(), group)
    left = LeftPoints([*opened.values()], SHARE_S)
    trial = Trial(budget=Budget(SHARE_S), model=MODEL, left=left, forced=forced)
    stride = trial.run(opened, SHARE_S)
    return [*left.taken_messages()], stride


@pytest.mark.parametrize(
    ("essential_s", "other_s", "stride"),
    [(MOST_S / 2, MOST_S / 4, 1), (MOST_S / 2, MOST_S * 0.9, 2), (MOST_S * 0.9, MOST_S / 4, 1)],
)
def test_essential_points_are_sampled_more_often_where_time_is_short(
    clock: Clock, essential_s: float, other_s: float, stride: int
) -> None:
    major, minor = Timed(clock, {"e": essential_s}), Timed(clock, {"m": other_s})
    left, found = ran((major, Importance.ESSENTIAL), (minor, Importance.LEVELS))
    assert found == stride
    assert "e" in major.kept
    assert bool(left) == (essential_s + other_s / OTHERS_STRIDE > MOST_S)


def test_what_fits_is_kept(clock: Clock) -> None:
    bench = Timed(clock, {"a": FITTING_S / 4, "b": FITTING_S / 4, "c": FITTING_S / 4})
    assert not tried((bench, Importance.SHAPES))
    assert set(bench.kept) == {"a", "b", "c"}


def test_what_matters_less_is_left_out_with_the_budget_that_fits_it(clock: Clock) -> None:
    minor = Timed(clock, {"m1": FITTING_S / 4, "m2": FITTING_S / 2})
    major = Timed(clock, {"a1": FITTING_S / 2, "a2": FITTING_S / 4})
    ((name, message),) = tried((minor, Importance.SHAPES), (major, Importance.LEVELS))
    assert set(major.kept) == {"a1", "a2"}
    assert set(minor.kept) == {"m1"}
    assert name == "fake"
    assert message.startswith("fake: 1 of 4 points are left out")
    assert "use --budget " in message


def test_what_is_essential_or_forced_is_kept_however_long_it_takes(clock: Clock) -> None:
    essential = Timed(clock, {"e1": 2 * MOST_S, "e2": 2 * MOST_S})
    resumed = Timed(clock, {"r1": FITTING_S, "r2": FITTING_S, "r3": FITTING_S})
    tried((essential, Importance.ESSENTIAL), (resumed, Importance.SHAPES), forced={"r2"})
    assert set(essential.kept) == {"e1", "e2"}
    assert set(resumed.kept) == {"r1", "r2"}, "a group's first point stays, so that it has one"


def test_a_bench_without_memory_is_left_to_the_first_round(clock: Clock) -> None:
    bench = Timed(clock, {"a": 0.0, "b": FITTING_S / 4})
    assert not tried((bench, Importance.LEVELS))
    assert set(bench.kept) == {"a", "b"}
