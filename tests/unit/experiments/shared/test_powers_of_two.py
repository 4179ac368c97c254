"""Powers of two beside any number."""

from hypothesis import given
from hypothesis import strategies as st

from memgauge.experiments.shared.powers_of_two import power_above, power_below


@given(st.integers(1, 1 << 62))
def test_powers_enclose_a_number(number: int) -> None:
    below, above = power_below(number), power_above(number)
    assert below.bit_count() == above.bit_count() == 1
    assert below <= number < 2 * below
    assert above // 2 < number <= above


def test_no_power_lies_below_one() -> None:
    assert [power_below(0), power_below(-8)] == [0, 0]
