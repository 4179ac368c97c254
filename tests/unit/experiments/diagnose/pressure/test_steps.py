"""Part doses of pressure: which there are, and the pauses that make them."""

from __future__ import annotations

import pytest

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import MIB, a_machine

from memgauge.experiments.diagnose.host import Diagnose
from memgauge.experiments.diagnose.parameters import DiagnoseParameters
from memgauge.experiments.diagnose.pressure.steps import FINENESS, LONGEST_PAUSE, pause_for
from memgauge.model.errors import RequestError
from memgauge.model.parameters import build
from memgauge.model.points.diagnose import PROGRAM, DiagnoseActual, DiagnoseRequested


def planned(steps: str) -> dict[str, tuple[DiagnoseRequested, DiagnoseActual]]:
    asked = build(DiagnoseParameters, command="true", only="interference", pressure_steps=steps)
    (group,) = Diagnose().plan(asked, a_machine(4))
    found = {}
    for point in group.points:
        requested = DiagnoseRequested.of(point.requested)
        if requested.subject == PROGRAM:
            found[requested.treatment] = (requested, DiagnoseActual.of(point.actual))
    return found


def test_there_are_none_unless_they_are_asked_for() -> None:
    assert not any(one.step_of for one, _ in planned("0").values())


def test_part_doses_lie_between_none_and_all_and_repeat_none() -> None:
    found = planned("3")
    steps = {name: (one.step_of, one.part) for name, (one, _) in found.items() if one.step_of}
    assert steps == {
        "write 25%": ("write", 0.25),
        "write 50%": ("write", 0.5),
        "write 75%": ("write", 0.75),
        "cache 25%": ("cache", 0.25),
        "cache 75%": ("cache", 0.75),
    }
    assert all(found[name][0].baseline == "compute" for name in steps)
    bytes_ = {name: actual.pressure_bytes for name, (_, actual) in found.items()}
    assert bytes_["write 25%"] == bytes_["write"]
    quarter, half = bytes_["cache 25%"], bytes_["cache"]
    assert quarter is not None
    assert half == 2 * quarter > MIB


@pytest.mark.parametrize("steps", ["8", "-1", "x"])
def test_other_numbers_are_refused(steps: str) -> None:
    with pytest.raises(RequestError, match="--pressure-steps"):
        planned(steps)


@pytest.mark.parametrize("part", [0.25, 0.5, 0.9])
@pytest.mark.parametrize("unit_ns", [0.3, 5.0])
@pytest.mark.parametrize("hidden", [0, 200])
def test_a_pause_leaves_its_part_of_the_traffic(part: float, unit_ns: float, hidden: int) -> None:
    def time_ns(units: int) -> float:
        # Shorter pauses hide behind stores that are under way.
        return 1000.0 + unit_ns * max(0, units - hidden)

    left = 1000.0 / time_ns(pause_for(part, time_ns))
    exact = hidden + (1000.0 / part - 1000.0) / unit_ns
    most = 1000.0 / time_ns(int(exact * (1 + 2 / FINENESS)) + 2)
    assert most <= left <= part + 1e-9


def test_a_pause_without_effect_is_bounded() -> None:
    assert pause_for(0.5, lambda _: 1000.0) <= LONGEST_PAUSE
    assert pause_for(1.0, lambda _: 1000.0) == 0
