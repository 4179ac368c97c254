import random
from statistics import NormalDist

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.analysis.cluster.nodes import figure

from memgauge.analysis.cluster.outliers import (
    LEAST_NODES,
    chance,
    judge,
    spread_of,
)
from memgauge.analysis.statistics.intervals import MAD_TO_SIGMA
from memgauge.model.storage.cluster import FigureOfNode

Nodes = dict[str, list[FigureOfNode]]


def nodes(count: int, figures: int, rng: random.Random, spread: float = 0.01) -> Nodes:
    return {
        f"n{at}": [figure(f"f{k}", 100 * rng.gauss(1, spread)) for k in range(figures)]
        for at in range(count)
    }


def slowed(made: Nodes, name: str, factor: float) -> Nodes:
    return made | {
        name: [
            msgspec.structs.replace(
                one,
                value=one.value * factor,
                low=None if one.low is None else one.low * factor,
                high=None if one.high is None else one.high * factor,
            )
            for one in made[name]
        ]
    }


def test_the_spread_is_that_of_the_definition() -> None:
    values = [10.0, 11.0, 12.0, 14.0, 90.0]
    found = spread_of({f"n{at}": figure("f", value) for at, value in enumerate(values)})
    assert found.median == 12.0
    assert found.scale == pytest.approx(MAD_TO_SIGMA * 2.0)
    assert found.lowest == ("n0", 10.0)
    assert found.highest == ("n4", 90.0)


@pytest.mark.parametrize("count", [LEAST_NODES, 8, 12, 32, 128])
def test_a_cluster_without_an_outlier_names_one_in_a_twentieth_of_runs_at_most(count: int) -> None:
    rng = random.Random(count)
    trials = 300 if count < 100 else 60
    alarms = sum(bool(judge(nodes(count, 12, rng)).outliers) for _ in range(trials))
    # Three standard errors of a binomial above 5%.
    assert alarms <= trials * 0.05 + 3 * (trials * 0.05 * 0.95) ** 0.5


@pytest.mark.parametrize(
    ("count", "factor"), [(8, 0.8), (12, 0.9), (32, 0.93), (256, 0.93), (32, 1.07)]
)
def test_a_node_far_from_the_others_is_named(count: int, factor: float) -> None:
    rng = random.Random(7)
    for _ in range(20):
        found = judge(slowed(nodes(count, 12, rng), "n3", factor))
        assert "n3" in {one.node for one in found.outliers}
        worst = next(one for one in found.outliers if one.node == "n3")
        assert worst.is_worse == (factor < 1)
        assert worst.departure == pytest.approx(factor - 1, abs=0.05)


def test_of_the_nodes_named_few_are_false_though_some_are_true() -> None:
    """Slow nodes, all of whose figures are slow, must not let others in."""
    rng = random.Random(3)
    named: list[str] = []
    true = {f"n{at}" for at in range(0, 200, 20)}
    for _ in range(10):
        made = nodes(200, 40, rng)
        for name in true:
            made = slowed(made, name, 0.85)
        named += {one.node for one in judge(made).outliers}
    false = [name for name in named if name not in true]
    assert len(named) - len(false) == 10 * len(true)
    assert len(false) <= 0.15 * len(named)


def test_outliers_do_not_hide_each_other() -> None:
    rng = random.Random(5)
    made = nodes(40, 5, rng)
    slow = {f"n{at}" for at in range(15)}
    for name in slow:
        made = slowed(made, name, 0.5)
    assert {one.node for one in judge(made).outliers} == slow


def test_tiny_spreads_flag_no_noise() -> None:
    made: Nodes = {f"n{at}": [figure("f", 100 + at * 1e-6)] for at in range(30)}
    made["n30"] = [figure("f", 101.0)]  # 1% off where the floor of the scale is 0.5%
    assert judge(made).outliers == []
    made["n30"] = [figure("f", 110.0)]
    assert [one.node for one in judge(made).outliers] == ["n30"]


def test_a_figure_that_is_badly_known_is_no_outlier() -> None:
    made: Nodes = {f"n{at}": [figure("f", 100.0)] for at in range(30)}
    made["n30"] = [figure("f", 70.0, share=0.5)]
    assert judge(made).outliers == []
    made["n30"] = [figure("f", 70.0, share=None)]
    found = judge(made)
    assert found.outliers == []
    assert (found.tests, found.spreads["f", ""].nodes, found.spreads["f", ""].tested) == (
        30,
        31,
        30,
    )


def test_too_few_nodes_are_not_tested() -> None:
    made: Nodes = {f"n{at}": [figure("f", 100.0)] for at in range(LEAST_NODES - 2)}
    made["slow"] = [figure("f", 1.0)]
    found = judge(made)
    assert (found.tests, found.outliers) == (0, [])


@given(st.integers(6, 400), st.floats(0, 50))
def test_the_chance_is_one_and_falls(count: int, score: float) -> None:
    assert 0 <= chance(score, count) <= 1
    assert chance(score + 0.5, count) <= chance(score, count)
    assert chance(score, count) == chance(-score, count)


def test_the_chance_is_that_of_a_normal_value_among_very_many() -> None:
    for score in (1.0, 2.0, 3.5):
        assert chance(score, 10**7) == pytest.approx(2 * NormalDist().cdf(-score), rel=1e-3)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=20),
    st.floats(0.01, 100),
)
def test_units_do_not_matter(values: list[float], scale: float) -> None:
    one = judge({f"n{at}": [figure("f", value)] for at, value in enumerate(values)})
    other = judge({f"n{at}": [figure("f", value * scale)] for at, value in enumerate(values)})
    assert {found.node for found in one.outliers} == {found.node for found in other.outliers}
