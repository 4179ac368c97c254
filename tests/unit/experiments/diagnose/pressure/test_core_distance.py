"""Cores that a hypervisor moves are brought near, kept near, and looked at while a program runs."""

from __future__ import annotations

import random
import time
from contextlib import ExitStack

import pytest

pytest.importorskip("memgauge._core")

from memgauge.experiments.diagnose.pressure.core_distance import (
    AGAIN_AFTER_S,
    FIRST_LOOKS,
    KEPT,
    LOOK_EVERY_S,
    MOST_FAILURES,
    CoreDistance,
    border_between,
)
from memgauge.system.detect import detect

ONE_CORE_NS, NEAR_NS, FAR_NS = 33.0, 60.0, 240.0


class Hypervisor:
    """Moves two CPUs apart as they work, and together as they wake each other."""

    def __init__(
        self,
        *,
        apart: float = 0.0,
        together: float = 1.0,
        onto_one_core: float = 0.0,
        seed: int = 1,
    ) -> None:
        self.ns = NEAR_NS
        self.wakes = 0
        self.looks = 0
        self.now_s = 1000.0
        self.apart = apart
        self.together = together
        self.onto_one_core = onto_one_core
        self._random = random.Random(seed)

    def pingpong_ns(self) -> float:
        self.looks += 1
        return self.ns * self._random.uniform(0.92, 1.08)

    def shares_core(self) -> bool:
        return self.ns == ONE_CORE_NS

    def wake(self) -> None:
        self.wakes += 1
        if self.ns != NEAR_NS and self._random.random() < self.together:
            is_one = self._random.random() < self.onto_one_core
            self.ns = ONE_CORE_NS if is_one else NEAR_NS
        elif self.looks < FIRST_LOOKS and self.apart and self.looks % 2 == 0:
            self.ns = FAR_NS  # at first they are seen at both

    def work(self, seconds: float) -> None:
        self.now_s += seconds
        if self._random.random() < self.apart:
            self.ns = FAR_NS


@pytest.fixture
def hypervisor(monkeypatch: pytest.MonkeyPatch) -> Hypervisor:
    made = Hypervisor(apart=0.1)
    monkeypatch.setattr(time, "monotonic", lambda: made.now_s)
    return made


def distance_by(one: Hypervisor) -> CoreDistance:
    return CoreDistance(one.pingpong_ns, one.shares_core, one.wake)


def pass_by(distance: CoreDistance, one: Hypervisor, pieces: int = 60) -> list[float]:
    distance.begin()
    for _ in range(pieces):
        one.work(LOOK_EVERY_S / 2)
        distance.keep()
    return distance.end()


def test_moving_cores_are_near_for_nearly_all_of_every_pass(hypervisor: Hypervisor) -> None:
    distance = distance_by(hypervisor)
    passes = [pass_by(distance, hypervisor) for _ in range(20)]
    far = [ns > 2 * NEAR_NS for seen in passes for ns in seen]
    assert 0 < sum(far) / len(far) < 0.2
    alone = Hypervisor(apart=0.1)
    alone.work(0)
    for _ in range(1000):
        alone.work(LOOK_EVERY_S)
    assert alone.ns == FAR_NS


def test_a_pass_begins_near(hypervisor: Hypervisor) -> None:
    distance = distance_by(hypervisor)
    pass_by(distance, hypervisor)
    hypervisor.ns = FAR_NS
    hypervisor.together = 0.3
    distance.begin()
    assert hypervisor.ns == NEAR_NS


def test_cores_that_stay_where_they_are_are_looked_at_before_and_after_a_pass_only(
    hypervisor: Hypervisor,
) -> None:
    hypervisor.apart = 0.0
    distance = distance_by(hypervisor)
    pass_by(distance, hypervisor)
    wakes, looks = hypervisor.wakes, hypervisor.looks
    assert wakes == FIRST_LOOKS
    seen = pass_by(distance, hypervisor)
    assert hypervisor.wakes == wakes
    assert hypervisor.looks == looks + 2
    assert len(seen) == 2


def test_where_waking_does_not_help_it_is_given_up_and_tried_again_later(
    hypervisor: Hypervisor,
) -> None:
    distance = distance_by(hypervisor)
    pass_by(distance, hypervisor)
    hypervisor.apart, hypervisor.together = 1.0, 0.0
    for _ in range(2):
        pass_by(distance, hypervisor, pieces=2 * MOST_FAILURES)
    wakes = hypervisor.wakes
    seen = pass_by(distance, hypervisor)
    assert hypervisor.wakes == wakes
    assert min(seen) > 2 * NEAR_NS, "the far distance is recorded"
    hypervisor.now_s += AGAIN_AFTER_S
    hypervisor.together = 1.0
    distance.begin()
    assert hypervisor.wakes > wakes
    assert hypervisor.ns == NEAR_NS


def test_where_the_distance_is_not_to_be_had_nothing_is_woken() -> None:
    one = Hypervisor()
    distance = CoreDistance(lambda: None, one.shares_core, one.wake)
    assert pass_by(distance, one) == []
    assert one.wakes == 0


def test_cpus_that_are_moved_onto_one_core_are_moved_off_it(hypervisor: Hypervisor) -> None:
    distance = distance_by(hypervisor)
    pass_by(distance, hypervisor)
    assert distance.one_core_below_ns is None
    hypervisor.onto_one_core = 0.5
    for _ in range(20):
        pass_by(distance, hypervisor)
    below_ns = distance.one_core_below_ns
    assert below_ns is not None
    assert 1.08 * ONE_CORE_NS < below_ns < 0.92 * NEAR_NS
    passes = [pass_by(distance, hypervisor) for _ in range(20)]
    one_core = [ns < below_ns for seen in passes for ns in seen]
    assert 0 < sum(one_core) / len(one_core) < 0.2
    hypervisor.ns = ONE_CORE_NS
    distance.begin()
    assert hypervisor.ns == NEAR_NS


def test_where_both_cpus_are_always_one_core_no_distance_is_that_of_two(
    hypervisor: Hypervisor,
) -> None:
    hypervisor.apart = 0.0
    hypervisor.ns = ONE_CORE_NS
    hypervisor.together = 0.0
    distance = distance_by(hypervisor)
    seen = pass_by(distance, hypervisor)
    assert distance.one_core_below_ns is not None
    assert distance.one_core_below_ns > max(seen)


def test_a_test_that_errs_now_and_then_parts_nothing(hypervisor: Hypervisor) -> None:
    errs = iter(range(10**6))
    distance = CoreDistance(hypervisor.pingpong_ns, lambda: next(errs) % 5 == 0, hypervisor.wake)
    for _ in range(40):
        pass_by(distance, hypervisor)
    assert distance.one_core_below_ns is None


def test_a_long_pass_records_a_few_distances_from_the_least_to_the_greatest(
    hypervisor: Hypervisor,
) -> None:
    distance = distance_by(hypervisor)
    seen = pass_by(distance, hypervisor, pieces=4000)
    assert len(seen) == KEPT
    assert seen == sorted(seen)
    assert pass_by(distance, hypervisor, pieces=4) != seen


@pytest.mark.parametrize(
    ("seen_ns", "border_ns"),
    [
        ([], None),
        ([50, 200], None),
        ([50, 51, 200], None),
        ([50, 51, 200, 201], pytest.approx((51 * 200) ** 0.5)),
        ([33, 34, 50, 55, 60, 66, 70], None),
        ([33, 34, 50, 55, 60, 66, 70, 240, 250], pytest.approx((70 * 240) ** 0.5)),
        ([60, 62, 64, 66, 4000], None),
        ([100, 101, 128, 129], None),
    ],
)
def test_near_and_far_are_parted_where_values_leave_a_gap(
    seen_ns: list[float], border_ns: float | None
) -> None:
    assert border_between(seen_ns) == border_ns
    assert border_between(seen_ns[::-1]) == border_ns


def test_two_real_cpus_wake_each_other_and_go_on() -> None:
    cpus = detect().allowed_cpus
    if len(cpus) < 2:
        pytest.skip("one CPU is allowed")
    begin_s = time.monotonic()
    with ExitStack() as stack:
        distance = CoreDistance.between(cpus[:2], stack)
        distance.begin()
        distance.keep()
        seen = distance.end()
    assert all(ns > 0 for ns in seen)
    assert time.monotonic() - begin_s < 30
