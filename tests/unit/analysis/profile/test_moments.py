"""A boundary is printed with its uncertainty, and no finer."""

import pytest

from memgauge.analysis.profile.moments import begins, decimals, lasts
from memgauge.analysis.profile.phases import Activity, Phase


def phase(number: int, begin_s: float, within_s: float, end_s: float) -> Phase:
    return Phase(
        number=number,
        begin_bin=0,
        end_bin=1,
        begin_s=begin_s,
        begin_low_s=begin_s - within_s,
        begin_high_s=begin_s + within_s / 2,
        end_s=end_s,
        activity=Activity(),
    )


PHASES = [phase(1, 0, 0, 1203.4567), phase(2, 1203.4567, 1.8, 2400), phase(3, 2400, 30, 3600)]


@pytest.mark.parametrize(
    ("within_s", "digits"),
    [(0.0, 2), (0.001, 2), (0.01, 2), (0.05, 2), (0.3, 1), (1.0, 0), (1.8, 0), (40, 0)],
)
def test_digits_end_with_the_first_of_the_uncertainty(within_s: float, digits: int) -> None:
    assert decimals(within_s) == digits


def test_moments_and_durations_are_no_finer_than_what_is_known() -> None:
    assert [begins(one) for one in PHASES] == ["0", "1203 ±2", "2400 ±30"]
    assert [lasts(PHASES, at) for at in range(3)] == ["1203", "1197", "1200"]
    assert begins(phase(2, 0.6, 0.0004, 1)) == "0.60 ±0.01"
    assert lasts([phase(1, 0, 0, 2.5)], 0) == "2.50"
