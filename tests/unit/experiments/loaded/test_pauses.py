"""The pause with which generators move as many bytes as requested."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.experiments.loaded.parameters import LARGEST_DELAY
from memgauge.experiments.loaded.pauses import CLOSE_ENOUGH, MOST_TRIES, pause_for


class Memory:
    """Generators that need so many units for their accesses, before a memory with a peak."""

    def __init__(self, own: float, peak: float) -> None:
        self.tried: list[int] = []
        self._own, self._peak = own, peak

    def __call__(self, delay: int) -> float:
        self.tried.append(delay)
        return min(self._peak, 2000.0 / (self._own + delay))


@given(st.floats(1, 300), st.floats(1, 100), st.floats(0.05, 0.95))
def test_a_rate_that_can_be_reached_is_reached(own: float, peak: float, share: float) -> None:
    memory = Memory(own, peak)
    most = memory(0)
    # Whole units allow no closer rate where few of them separate two rates.
    rate = min(share * most, 2000.0 / (own + 60))
    setting = pause_for(rate, memory)
    assert memory(setting.delay) == pytest.approx(rate, rel=CLOSE_ENOUGH)
    assert (setting.most, setting.least) == (None, None)
    assert len(memory.tried) <= MOST_TRIES + 4


def test_a_rate_beyond_the_generators_is_made_without_a_pause_and_told() -> None:
    setting = pause_for(30.0, Memory(100, 50))
    assert (setting.delay, setting.most, setting.least) == (0, 20.0, None)
    assert pause_for(20.2, Memory(100, 50)).most is None


def test_a_rate_below_the_longest_pause_is_told() -> None:
    setting = pause_for(0.0, Memory(100, 50))
    assert (setting.delay, setting.most) == (LARGEST_DELAY, None)
    assert setting.least == pytest.approx(2000 / (LARGEST_DELAY + 100))


def test_a_memory_that_answers_at_random_ends_the_search() -> None:
    answers = iter([50.0, *[60.0, 0.001] * 20])
    setting = pause_for(10.0, lambda _: next(answers))
    assert 0 <= setting.delay <= LARGEST_DELAY
