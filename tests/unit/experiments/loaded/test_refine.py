"""Where delays are added to a bandwidth-latency curve."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.experiments.loaded.refine import further_delays

SWEPT = (0, 10, 30, 80, 200, 700, 20_000)

curves = st.dictionaries(
    st.integers(0, 20_000),
    st.tuples(st.floats(0.01, 1000), st.floats(1, 10_000)),
    max_size=20,
)


def queueing(
    delays: tuple[int, ...], peak: float = 30.0, own_ns: float = 40.0
) -> dict[int, tuple[float, float]]:
    """A memory whose latency grows as 1 / (1 - load), offered ever less as delays grow."""
    curve = {}
    for delay in delays:
        load = 0.97 * own_ns / (own_ns + delay)
        curve[delay] = (peak * load, 100 * (0.9 + 0.1 / (1 - load)))
    return curve


@given(curves, st.integers(0, 5))
def test_no_more_than_asked_all_new_and_inside_the_sweep(
    curve: dict[int, tuple[float, float]], most: int
) -> None:
    added = further_delays(curve, most)
    assert len(added) <= most
    assert len(set(added)) == len(added)
    assert not set(added) & set(curve)
    assert all(min(curve) < delay < max(curve) for delay in added)
    assert added == further_delays(dict(reversed(curve.items())), most)


scales = st.integers(-6, 6).map(lambda power: 2.0**power)


@given(curves, scales, scales)
def test_units_do_not_matter(
    curve: dict[int, tuple[float, float]], of_bandwidth: float, of_latency: float
) -> None:
    def rounded(places: dict[int, tuple[float, float]], x: float, y: float) -> list[int]:
        scaled = {delay: (b * x, latency * y) for delay, (b, latency) in places.items()}
        return sorted(further_delays(scaled, len(scaled)))

    assert rounded(curve, 1, 1) == rounded(curve, of_bandwidth, of_latency)


def test_the_bend_gets_the_points() -> None:
    curve = {
        20_000: (1.0, 100.0),
        700: (5.0, 101.0),
        200: (10.0, 102.0),
        80: (15.0, 103.0),
        30: (20.0, 105.0),
        10: (28.0, 110.0),
        0: (30.0, 300.0),
    }
    first, *_ = further_delays(curve, 3)
    assert 0 < first < 10
    assert all(delay < 30 for delay in further_delays(curve, 2))


def test_points_gather_where_latency_begins_to_climb() -> None:
    delays: tuple[int, ...] = SWEPT
    for _ in range(4):
        delays += tuple(further_delays(queueing(delays), 1))
    assert len(delays) > len(SWEPT)
    assert all(delay < 200 for delay in delays[len(SWEPT) :])


@pytest.mark.parametrize(
    "curve",
    [
        {},
        {0: (30.0, 200.0)},
        {0: (30.0, 200.0), 20_000: (1.0, 100.0)},
        {0: (3.0, 300.0), 10: (2.0, 200.0), 100: (1.0, 100.0)},  # straight
        {0: (3.0, 100.0), 10: (2.0, 190.0), 100: (1.0, 200.0)},  # bent the other way
        {0: (3.0, 300.0), 1: (2.9, 150.0), 2: (1.0, 100.0)},  # no room between the delays
    ],
)
def test_nothing_is_added_where_nothing_bends_or_fits(
    curve: dict[int, tuple[float, float]],
) -> None:
    assert further_delays(curve, 3) == []


def test_a_curve_that_hardly_rises_is_not_blown_up() -> None:
    curve = {0: (30.0, 100.5), 20: (20.0, 100.0), 100: (10.0, 100.3), 900: (1.0, 100.0)}
    assert further_delays(curve, 3) == []
