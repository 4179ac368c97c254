"""The half-bandwidth point against closed forms."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.transfers.model import best, fit, half_of_best, steps

KIB, MIB = 1 << 10, 1 << 20
SIZES = [KIB << step for step in range(19)]

speeds = st.floats(0.5, 900)
halves = st.floats(4 * KIB, 4 * MIB)


def known(value: float, share: float = 0.01) -> Estimate:
    return Estimate(value, value * (1 - share), value * (1 + share))


def ideal(r_inf: float, half: float, share: float = 0.01) -> dict[int, Estimate]:
    """Hockney's curve itself."""
    return {size: known(r_inf * size / (size + half), share) for size in SIZES}


@given(speeds, halves)
def test_the_model_of_its_own_curve_is_found_again(r_inf: float, half: float) -> None:
    model = fit(ideal(r_inf, half))
    assert model is not None
    assert model.asymptote.value == pytest.approx(r_inf, rel=1e-6)
    assert model.half_bytes.value == pytest.approx(half, rel=1e-6)
    assert model.start_up_ns.value == pytest.approx(half / r_inf, rel=1e-6)
    assert abs(model.worst) < 1e-6
    assert model.is_followed
    for one in (model.asymptote, model.half_bytes, model.start_up_ns):
        assert one.low < one.value < one.high
    assert model.gb_per_s(round(half)) == pytest.approx(r_inf / 2, rel=1e-3)


@given(speeds, halves)
def test_half_of_the_best_is_read_from_the_curve(r_inf: float, half: float) -> None:
    """Half of the best measured one, which lies a little below r_inf."""
    curve = ideal(r_inf, half)
    found = half_of_best(curve)
    top = best(curve)
    assert found is not None
    assert top is not None
    assert top[0] == SIZES[-1]
    level = top[1].value / 2
    exact = half * level / (r_inf - level)
    assert found.value == pytest.approx(exact, rel=0.06), "between two powers of two"
    assert found.low <= found.value <= found.high
    assert found.high / found.low < 1.2


def test_wider_figures_have_wider_intervals() -> None:
    narrow, wide = (fit(ideal(25.0, 64 * KIB, share)) for share in (0.02, 0.2))
    assert narrow is not None
    assert wide is not None
    for one in ("asymptote", "half_bytes", "start_up_ns"):
        assert getattr(wide, one).precision > 3 * getattr(narrow, one).precision
    low, high = (half_of_best(ideal(25.0, 64 * KIB, share)) for share in (0.02, 0.2))
    assert low is not None
    assert high is not None
    assert high.low < low.low < low.high < high.high


def test_a_curve_that_bends_otherwise_is_not_followed() -> None:
    """Small transfers that go another way take a fifth of the time."""
    curve = ideal(25.0, 128 * KIB) | {
        size: known(25.0 * size / (size + 25 * KIB)) for size in SIZES if size <= 32 * KIB
    }
    curve = dict(sorted(curve.items()))
    model = fit(curve)
    assert model is not None
    assert not model.is_followed
    straight = fit(ideal(25.0, 128 * KIB))
    assert straight is not None
    assert model.half_bytes.precision > 2 * straight.half_bytes.precision
    (step,) = steps(curve)
    assert (step.below_bytes, step.bytes) == (32 * KIB, 64 * KIB)
    assert step.speed < 1


def test_a_larger_transfer_that_is_sooner_done_is_a_step() -> None:
    curve = {size: known(1.0) for size in SIZES[:6]} | {size: known(3.0) for size in SIZES[6:]}
    (step,) = steps(curve)
    assert (step.below_bytes, step.bytes) == (SIZES[5], SIZES[6])
    assert step.time == pytest.approx(2 / 3)


def test_noise_is_no_step() -> None:
    assert steps(ideal(25.0, 64 * KIB)) == []
    wide = {size: Estimate(one.value, 0.0, math.inf) for size, one in ideal(1.0, 1e5).items()}
    assert steps(wide) == []
    level = {size: known(10.0 if at % 2 else 9.8, 0.02) for at, size in enumerate(SIZES)}
    assert steps(level) == []


def test_nothing_is_made_of_too_little() -> None:
    assert fit({}) is None
    assert best({}) is None
    assert half_of_best({}) is None
    assert fit(dict(list(ideal(25.0, 1e5).items())[:3])) is None
    level = {size: known(10.0) for size in SIZES}
    assert half_of_best(level) is None, "the smallest reaches it"
    assert fit(level) is None or fit(level).start_up_ns.value < 1e-6  # type: ignore[union-attr]


@given(
    st.dictionaries(
        st.sampled_from(SIZES),
        st.tuples(
            st.floats(1e-6, 1e6), st.floats(0, 1), st.one_of(st.floats(1, 3), st.just(math.inf))
        ),
    )
)
def test_any_curve_is_judged(parts: dict[int, tuple[float, float, float]]) -> None:
    curve = {
        size: Estimate(value, value * low, value * high)
        for size, (value, low, high) in sorted(parts.items())
    }
    model, half = fit(curve), half_of_best(curve)
    if model is not None:
        assert model.start_up_ns.value > 0
        assert model.asymptote.low <= model.asymptote.value <= model.asymptote.high
        assert model.half_bytes.low <= model.half_bytes.value <= model.half_bytes.high
    if half is not None:
        assert half.low <= half.value <= half.high
    steps(curve)
