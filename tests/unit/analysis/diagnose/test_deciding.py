"""When treatments get no more rounds: on intervals of 99.9%, after few numbers of rounds."""

from __future__ import annotations

import random

import pytest
from tests.unit.analysis.diagnose.programs import diagnosed

from memgauge.analysis.diagnose.deciding import (
    LEAST_DECIDED_ROUNDS,
    decided,
    decided_treatments,
    next_look,
)
from memgauge.analysis.diagnose.passes import Pass
from memgauge.model.points.diagnose import DiagnoseRequested

PRESSURES = {"compute", "compute again", "write", "cache", "read"}


def treatments_decided(**program: object) -> set[str]:
    run = diagnosed(**program).run  # type: ignore[arg-type]
    names = decided(run.points_of("diagnose"), run.samples)
    assert all(name.startswith("diagnose/program/") for name in names)
    return {name.rpartition("/")[2] for name in names}


@pytest.mark.parametrize(
    "shares", [{}, {"latency": 0.5}, {"bandwidth": 1.0}, {"cached": 1.0}, {"latency": 0.25}]
)
def test_a_clear_verdict_ends_all_pressure_and_no_variant(shares: dict[str, float]) -> None:
    found = treatments_decided(**shares, rounds=LEAST_DECIDED_ROUNDS, noise=0.002)
    assert found == PRESSURES


@pytest.mark.parametrize("shares", [{}, {"latency": 0.5}, {"bandwidth": 1.0}])
def test_nothing_is_decided_before_the_least_number_of_rounds(shares: dict[str, float]) -> None:
    found = treatments_decided(**shares, rounds=LEAST_DECIDED_ROUNDS - 1, noise=0.0001)
    assert found == set()


def test_what_noise_hides_goes_on() -> None:
    assert treatments_decided(latency=0.5, rounds=12, noise=0.1) == set()
    assert treatments_decided(latency=0.5, rounds=40, noise=0.001, unsteady=1.1) == set()
    # A share that may be that of what streams or not is not settled.
    assert treatments_decided(bandwidth=0.7, rounds=40, noise=0.005) == set()


def test_each_variant_is_decided_for_itself_and_the_usual_way_with_the_last() -> None:
    variants = {"faster": 0.8, "slower": 1.2, "same": 1.0, "open": 0.98}
    found = treatments_decided(latency=0.5, rounds=16, noise=0.003, variants=variants)
    assert found - PRESSURES == {"faster", "slower", "same"}
    del variants["open"]
    found = treatments_decided(latency=0.5, rounds=16, noise=0.003, variants=variants)
    assert found - PRESSURES == {*variants, "as it is", "as it is again"}


def test_looks_are_few_and_fixed() -> None:
    looks = [next_look(0)]
    while looks[-1] < 1000:
        looks.append(next_look(looks[-1]))
    assert looks[:6] == [12, 16, 21, 27, 34, 43]
    assert len(looks) < 25


@pytest.mark.parametrize("gain", [1.0, 0.985])
def test_a_variant_without_a_gain_that_matters_is_seldom_called_faster(gain: float) -> None:
    draw = random.Random(3)
    requested = {
        "as it is": DiagnoseRequested(subject="program", treatment="as it is", kind="variant"),
        "v": DiagnoseRequested(
            subject="program", treatment="v", kind="variant", baseline="as it is", change="x"
        ),
    }
    wrong = 0
    for _ in range(200):
        passes: dict[str, list[Pass]] = {"as it is": [], "v": []}
        for round_ in range(40):
            for name, time in (("as it is", 1.0), ("v", gain)):
                program = time * draw.lognormvariate(0, 0.01)
                passes[name].append(Pass(round=round_, regime="", program=program))
        look = next_look(0)
        while look <= 40:
            first = {name: of[:look] for name, of in passes.items()}
            if decided_treatments(requested, first):
                ratios = sorted(
                    one.program / base.program
                    for one, base in zip(first["v"], first["as it is"], strict=True)
                )
                wrong += ratios[-1] < 0.98
                break
            look = next_look(look)
    assert wrong <= 2
