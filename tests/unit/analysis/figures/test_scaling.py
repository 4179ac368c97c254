import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.published import STREAM_KERNELS, alone, stream_teams

from memgauge.analysis.figures.scaling import Scaling, Team, cores_first, scaling_of
from memgauge.analysis.statistics.estimate import Estimate


def pieces(
    places: list[int], slopes: list[float], last: int, share: float = 0.01, seed: int | None = None
) -> list[Team]:
    """A line through the origin whose slope changes at each place; noise inside its intervals."""
    rng = random.Random(seed)
    teams, value = [], 0.0
    for threads in range(1, last + 1):
        value += slopes[sum(threads > place for place in places)]
        moved = value * (1 + (rng.gauss(0, share / 1.96) if seed is not None else 0))
        teams.append(Team(threads, Estimate(moved, moved * (1 - share), moved * (1 + share))))
    return teams


def scaling(teams: list[Team]) -> Scaling:
    found = scaling_of(teams)
    assert found is not None
    return found


@pytest.mark.parametrize("kernel", STREAM_KERNELS)
@pytest.mark.parametrize("cores", [16, None])
def test_published_bandwidth_saturates_by_and_by_up_to_10_and_drops_at_17(
    kernel: str, cores: int | None
) -> None:
    """Two bends fit it no better than a slope that falls throughout."""
    found = scaling(stream_teams(kernel, cores=cores))
    assert found.taper is not None
    assert found.taper.is_gradual
    assert (found.taper.low, found.taper.place, found.taper.high) == (2, 5, 10)
    assert found.saturation == found.taper
    assert found.drop is not None
    assert (found.drop.before, found.drop.threads) == (16, 17)
    assert found.cores == cores
    if cores is not None:
        assert found.sibling == found.drop


@pytest.mark.parametrize(
    ("kernel", "enough", "kept"),
    [("copy", 11, 0.845), ("scale", 11, 0.891), ("add", 10, 0.863), ("triad", 10, 0.871)],
)
def test_published_smallest_team_and_loss_at_the_first_sibling(
    kernel: str, enough: int, kept: float
) -> None:
    found = scaling(stream_teams(kernel))
    assert (found.enough, found.enough_low, found.enough_high) == (enough, enough, enough)
    assert found.sibling is not None
    assert found.sibling.ratio.value == pytest.approx(kept, abs=0.0006)
    assert math.isinf(found.sibling.ratio.high)


@pytest.mark.parametrize("seed", range(20))
def test_bends_of_straight_pieces_are_found_within_noise(seed: int) -> None:
    found = scaling(pieces([6, 14], [10.0, 4.0, 0.1], 24, seed=seed))
    assert found.taper is not None
    assert found.saturation is not None
    assert found.taper.low <= 6 <= found.taper.high
    assert found.saturation.low <= 14 <= found.saturation.high
    assert found.taper.gain_before == pytest.approx(10, rel=0.05)
    assert found.saturation.gain_after < 1
    assert found.drop is None
    assert (found.cores, found.sibling) == (None, None)


@pytest.mark.parametrize("last", [5, 6, 8, 12, 32])
@pytest.mark.parametrize("seed", range(8))
def test_noise_on_a_straight_line_is_no_bend(last: int, seed: int) -> None:
    found = scaling(pieces([], [10.0], last, share=0.02, seed=seed))
    assert found.taper is None
    assert found.saturation is None


@given(st.integers(0, 10**6))
def test_noise_inside_the_intervals_flips_no_verdict(seed: int) -> None:
    plain = scaling(pieces([6, 14], [10.0, 4.0, 0.1], 24))
    noisy = scaling(pieces([6, 14], [10.0, 4.0, 0.1], 24, seed=seed))
    for before, after in ((plain.taper, noisy.taper), (plain.saturation, noisy.saturation)):
        assert before is not None
        assert after is not None
        assert after.low <= before.high
        assert before.low <= after.high
    assert noisy.enough_low <= plain.enough <= noisy.enough_high
    assert noisy.drop is None


@given(st.floats(0.01, 1000))
def test_scaling_bandwidth_moves_no_bend(factor: float) -> None:
    teams = stream_teams("triad")
    scaled = [Team(t.threads, alone(t.bandwidth.value * factor), t.cores) for t in teams]
    plain, found = scaling(teams), scaling(scaled)
    assert plain.taper is not None
    assert found.taper is not None
    assert found.taper.place == plain.taper.place
    assert found.taper.gain_before == pytest.approx(factor * plain.taper.gain_before)
    assert found.enough == plain.enough


def test_a_team_that_saturates_at_once_tapers_and_saturates_there() -> None:
    found = scaling(pieces([2], [20.0, 0.2], 8))
    assert found.taper == found.saturation
    assert found.taper is not None
    assert found.taper.place == 2
    assert (found.enough, found.best.threads) == (2, 8)


@pytest.mark.parametrize("sizes", [1, 2, 3, 4])
def test_few_team_sizes_show_no_bend(sizes: int) -> None:
    found = scaling(pieces([2], [20.0, 0.0], sizes))
    assert found.teams == sizes
    assert (found.taper, found.saturation) == (None, None)


def test_no_team_shows_nothing() -> None:
    assert scaling_of([]) is None
    assert scaling_of([Team(1, alone(0.0))]) is None


def test_teams_that_share_cores_before_all_are_used_are_not_told_apart() -> None:
    compact = [Team(n, alone(10.0 * n), (n + 1) // 2) for n in range(1, 9)]
    assert cores_first(compact) is None
    whole = [Team(n, alone(10.0 * n), n) for n in range(1, 9)]
    assert cores_first(whole) is None
    assert cores_first([*whole, Team(16, alone(70.0), 8)]) == 8
    assert cores_first([*whole, Team(16, alone(70.0))]) is None


def test_the_loss_at_siblings_is_that_of_the_smallest_team_that_shares_cores() -> None:
    teams = [Team(n, Estimate(10.0 * n, 9.9 * n, 10.1 * n), n) for n in (1, 2, 4)]
    shared = Team(8, Estimate(30.0, 29.0, 31.0), 4)
    found = scaling([*teams, shared])
    assert found.cores == 4
    assert found.sibling == found.drop
    assert found.drop is not None
    assert (found.drop.before, found.drop.threads) == (4, 8)
    assert scaling([*teams[:2], shared]).sibling is None
    found = scaling([*teams, Team(5, Estimate(39.0, 38.9, 39.1), 4), shared])
    assert found.sibling is not None
    assert found.sibling.threads == 5
    assert found.sibling.ratio.low < 39 / 40 < found.sibling.ratio.high
    assert found.drop is not None
    assert found.drop.threads == 8


def test_a_fall_within_the_intervals_is_no_drop() -> None:
    unsure = [Team(1, Estimate(10.0, 8.0, 12.0)), Team(2, Estimate(9.0, 7.0, 11.0))]
    assert scaling(unsure).drop is None
    sure = [Team(1, Estimate(10.0, 9.9, 10.1)), Team(2, Estimate(9.0, 8.9, 9.1))]
    assert scaling(sure).drop is not None


def test_an_open_interval_widens_the_smallest_team() -> None:
    teams = [
        Team(1, Estimate(50.0, 49.0, 51.0)),
        Team(2, Estimate(94.0, 90.0, 97.0)),
        Team(3, Estimate(98.0, 97.5, 99.0)),
        Team(4, Estimate(100.0, 99.0, 101.0)),
    ]
    found = scaling(teams)
    assert (found.enough, found.enough_low, found.enough_high) == (3, 2, 3)
