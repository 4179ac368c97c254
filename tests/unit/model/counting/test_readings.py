"""What two raw readings of a counter say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.model.counting.events import FULL_DUTY, Counter
from memgauge.model.counting.readings import counted

RAW = st.integers(0, (1 << 63) - 1)


def counter(**changes: object) -> Counter:
    fields: dict[str, object] = {
        "name": "perf:imc/read/@imc_0",
        "event": "perf:imc/read/",
        "back_end": "perf",
        "quantity": "read_bytes",
        "domain": "memory",
        "scope": "controller",
        "unit": "B",
        "scale": 64.0,
        "scale_source": "test",
        "instance": "imc_0",
        "slot": 2,
        "route": "group",
    }
    return Counter(**(fields | changes))  # type: ignore[arg-type]


GROUPED = counter(enabled_slot=0, running_slot=1)


@given(RAW, RAW)
def test_a_difference_is_scaled_and_exact(early: int, late: int) -> None:
    early, late = sorted((early, late))
    found = counted(counter(), [None, None, early], [None, None, late])
    assert found is not None
    assert found.raw == late - early
    assert found.value == (late - early) * 64.0
    assert not found.is_estimate


@pytest.mark.parametrize("missing", [([None], [5]), ([5], [None]), ([None], [None])])
def test_what_could_not_be_read_is_missing(missing: tuple[list[None], list[None]]) -> None:
    before, after = missing
    assert counted(counter(slot=0), before, after) is None


def test_a_counter_that_went_back_is_missing_unless_it_wraps() -> None:
    assert counted(counter(slot=0), [10], [4]) is None
    found = counted(counter(slot=0, wraps_at=1 << 8), [250], [4])
    assert found is not None
    assert found.raw == 10


def test_a_shared_counter_gives_an_estimate() -> None:
    found = counted(GROUPED, [100, 100, 7], [500, 200, 57])
    assert found is not None
    assert (found.raw, found.value, found.is_estimate) == (50, 50 * 64.0 * 4, True)


def test_a_counter_that_always_ran_gives_none() -> None:
    found = counted(GROUPED, [100, 90, 7], [500, 490, 57])
    assert found is not None
    assert (found.value, found.is_estimate) == (50 * 64.0, False)


def test_a_counter_that_never_ran_is_missing_and_not_zero() -> None:
    assert counted(GROUPED, [100, 90, 7], [500, 90, 7]) is None


@pytest.mark.parametrize("scope", ["process", "thread"])
def test_a_program_that_slept_counted_truly_zero(scope: str) -> None:
    """Its counters are enabled while it runs; times that are missing stay missing."""
    own = counter(enabled_slot=0, running_slot=1, scope=scope)
    found = counted(own, [100, 90, 7], [100, 90, 7])
    assert found is not None
    assert (found.raw, found.value, found.is_estimate) == (0, 0.0, False)
    assert counted(own, [100, 90, 7], [200, 90, 7]) is None
    assert counted(own, [100, None, 7], [100, 90, 7]) is None


def test_a_gauge_is_its_later_level() -> None:
    found = counted(counter(slot=0, gauge=True, scale=0.5), [10], [4])
    assert found is not None
    assert found.value == 2.0


RESTARTED = counter(slot=1, generation_slot=0)


def test_no_difference_is_taken_across_generations() -> None:
    assert counted(RESTARTED, [1, 10], [2, 40]) is None
    assert counted(RESTARTED, [None, 10], [None, 40]) is None
    found = counted(RESTARTED, [2, 10], [2, 40])
    assert found is not None
    assert found.raw == 30


@pytest.mark.parametrize(("duty", "is_estimate"), [(FULL_DUTY, False), (5, True), (None, True)])
def test_what_its_keeper_scaled_up_is_an_estimate_as_it_is(
    duty: int | None, is_estimate: bool
) -> None:
    found = counted(counter(slot=1, duty_slot=0), [FULL_DUTY, 10], [duty, 40])
    assert found is not None
    assert (found.value, found.is_estimate) == (30 * 64.0, is_estimate)
