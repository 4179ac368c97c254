"""Verdicts on programs whose shares are known, on a machine made by formula."""

from __future__ import annotations

import msgspec
import pytest
from tests.unit.analysis.diagnose.programs import NEAR, diagnosed

from memgauge.analysis.diagnose.by_region.judged import pressures_of, treated_under
from memgauge.analysis.diagnose.figures import Diagnosis, PressurePasses, diagnosis_of
from memgauge.analysis.diagnose.judgement import Judgement, judge, judgement_of
from memgauge.analysis.diagnose.passes import MOVED, ONE_CORE, passes_of
from memgauge.analysis.diagnose.verdicts import verdicts
from memgauge.analysis.figures.run import Figures, figures_of


def found(figures: Figures) -> Diagnosis:
    diagnosis = diagnosis_of(figures)
    assert diagnosis is not None
    return diagnosis


def judged(figures: Figures, traffic_share: float | None = None) -> Judgement:
    return judge(found(figures).treated, traffic_share)


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75, 1.0])
def test_what_waits_is_told_by_its_share(share: float) -> None:
    judgement = judged(diagnosed(latency=share))
    assert judgement.kind == "memory"
    assert judgement.latency_share is not None
    assert judgement.latency_share.low <= share <= judgement.latency_share.high
    assert judged(diagnosed(latency=share), 0.05).kind == "latency"


def test_what_streams_is_told_by_its_share() -> None:
    judgement = judged(diagnosed(bandwidth=1.0))
    assert judgement.kind == "bandwidth"
    assert judgement.bandwidth_share is not None
    assert judgement.bandwidth_share.value == pytest.approx(1, abs=0.05)
    assert judged(diagnosed(bandwidth=1.0), 0.9).kind == "bandwidth"


def test_little_traffic_contradicts_bandwidth_and_much_traffic_latency() -> None:
    contradiction = judged(diagnosed(bandwidth=1.0), 0.02)
    assert contradiction.kind == "memory"
    assert "contradict" in contradiction.why
    assert judged(diagnosed(bandwidth=0.3), 0.3).kind == "memory"


def test_arithmetic_is_not_limited_by_memory() -> None:
    judgement = judged(diagnosed())
    assert judgement.kind == "not memory"
    assert judgement.latency_share is not None
    assert judgement.latency_share.high < 0.1


@pytest.mark.parametrize("share", [0.4, 1.0])
def test_what_lives_in_the_cache_is_told_before_memory(share: float) -> None:
    assert judged(diagnosed(cached=share)).kind == "cache"


def test_weak_pressure_tells_nothing_of_any_program() -> None:
    weak = {name: tuple(1 + 0.05 * (one - 1) for one in of) for name, of in NEAR.items()}
    for program in ({}, {"latency": 1.0}, {"bandwidth": 1.0}, {"cached": 1.0}):
        judgement = judged(diagnosed(**program, stretch=weak))
        assert judgement.kind == "cannot tell"
        assert "too little effect" in judgement.why


def test_a_dose_that_is_lost_in_noise_is_not_called_weak() -> None:
    judgement = judged(diagnosed(latency=1.0, noise=0.7))
    assert judgement.kind == "cannot tell"
    assert "What pressure does to memory lies within the noise: latency" in judgement.why


def test_few_rounds_and_an_unsteady_program_tell_nothing() -> None:
    few = judged(diagnosed(latency=1.0, rounds=7))
    assert few.kind == "cannot tell"
    assert "Only 7 rounds" in few.why
    unsteady = judged(diagnosed(latency=1.0, unsteady=1.2))
    assert unsteady.kind == "cannot tell"
    assert "the same treatment twice differs" in unsteady.why


def test_cores_that_move_are_told_apart_and_never_pooled() -> None:
    figures = diagnosed(latency=0.5, rounds=40, pingpongs_ns=(50.0, 50.0, 200.0))
    treated = [one for one in found(figures).treated if one.name == "write"]
    assert {one.regime for one in treated} == {"same complex", "across complexes"}
    assert sum(one.rounds for one in treated) <= 40
    assert judged(figures).kind == "memory"


@pytest.mark.parametrize(
    ("far", "regime"),
    [(0, "same complex"), (3, "same complex"), (4, MOVED), (16, MOVED), (17, "across complexes")],
)
def test_a_pass_is_of_the_distance_that_nearly_all_looks_found(far: int, regime: str) -> None:
    run = diagnosed(rounds=12, pingpongs_ns=(50.0, 200.0)).run
    passes = passes_of(
        run.points.values(),
        {
            name: [
                msgspec.structs.replace(one, pingpongs_ns=[50.0] * (20 - far) + [200.0] * far)
                if at == 3
                else one
                for at, one in enumerate(of)
            ]
            for name, of in run.samples.items()
        },
    )
    assert [of[3].regime for of in passes.values()] == [regime] * len(passes)


CROWDED = {**NEAR, "cache": (1.03, 1.03, 1.05)}
"""Others have taken the shared cache: pressure on it takes nothing away."""


def test_where_the_cache_cannot_be_pressed_it_cannot_be_told_from_memory() -> None:
    for shares in ({"latency": 0.5}, {"cached": 0.5}, {"bandwidth": 1.0}):
        judgement = judged(diagnosed(**shares, stretch=CROWDED))
        assert judgement.kind == "cannot tell"
        assert "whether it waits for memory or for the shared cache cannot be told" in judgement.why
        assert judgement.needs_traffic
    said = " ".join(one.remedy or "" for one in verdicts(found(diagnosed(0.5, stretch=CROWDED))))
    assert "--only interference,traffic" in said


@pytest.mark.parametrize(
    ("waits", "kind"),
    [((0.3, 0.3), "latency"), ((4.0, 5.0), "latency"), ((0.2, 0.2), "cannot tell")],
)
def test_traffic_tells_memory_from_the_cache(waits: tuple[float, float], kind: str) -> None:
    for stretch in (CROWDED, NEAR):
        treated = found(diagnosed(latency=0.5, stretch=stretch)).treated
        judgement = judge(treated, 0.05, waits=waits)
        assert judgement.kind == kind
        assert ("the two contradict each other" in judgement.why) == (kind == "cannot tell")


def test_a_distance_at_which_traffic_would_tell_comes_before_one_without_effect() -> None:
    stretches = {"same complex": (CROWDED, 10), "across complexes": ({"write": (1.04,) * 3}, 16)}
    treated = [
        msgspec.structs.replace(one, regime=regime)
        for regime, (stretch, rounds) in stretches.items()
        for one in found(diagnosed(latency=0.5, stretch=stretch, rounds=rounds)).treated
    ]
    for order in (treated, treated[::-1]):
        judgement = judge(order)
        assert (judgement.regime, judgement.needs_traffic) == ("same complex", True)


def test_bounds_of_traffic_that_leave_it_open_leave_it_to_pressure_on_the_cache() -> None:
    for stretch, kind in ((CROWDED, "cannot tell"), (NEAR, "latency")):
        treated = found(diagnosed(latency=0.5, stretch=stretch)).treated
        assert judge(treated, 0.05, is_most=True, waits=(0.0, 2.0)).kind == kind


def test_passes_on_one_core_are_in_no_figure() -> None:
    run = diagnosed(latency=0.5, rounds=24, pingpongs_ns=(33.0, 60.0, 60.0)).run
    samples = {
        name: [msgspec.structs.replace(one, one_core_below_ns=45.0) for one in of]
        for name, of in run.samples.items()
    }
    passes = passes_of(run.points.values(), samples)
    regimes = {one.regime for of in passes.values() for one in of}
    assert regimes == {ONE_CORE, "one regime"}
    treated = treated_under(pressures_of([*run.points.values()]), passes, 0.95)
    assert {one.regime for one in treated} == {"one regime"}
    always = {
        name: [msgspec.structs.replace(one, one_core_below_ns=1e12) for one in of]
        for name, of in run.samples.items()
    }
    alone = passes_of(run.points.values(), always)
    assert {one.regime for of in alone.values() for one in of} == {ONE_CORE}
    diagnosis = diagnosis_of(figures_of(msgspec.structs.replace(run, samples=always)))
    assert diagnosis is not None
    assert diagnosis.passes == PressurePasses(made=120, moved=0, on_one_core=120)
    said = [one.text for one in verdicts(diagnosis)]
    assert any(
        "In 120 of 120 runs under pressure the program and a generator" in one for one in said
    )


def test_pressure_of_which_no_run_could_be_paired_is_told_from_none() -> None:
    figures = diagnosed(latency=0.5, rounds=4)
    arithmetic = ("/compute", "/compute again")
    samples = {
        name: [] if name.endswith(arithmetic) else of for name, of in figures.run.samples.items()
    }
    diagnosis = diagnosis_of(figures_of(msgspec.structs.replace(figures.run, samples=samples)))
    assert diagnosis is not None
    assert not diagnosis.pressures
    judgement = judgement_of(diagnosis)
    assert judgement.kind == "cannot tell"
    assert "No run under pressure could be paired" in judgement.why
    assert any("could be paired" in one.text for one in verdicts(diagnosis))


def test_noise_is_no_verdict() -> None:
    judgement = judged(diagnosed(latency=0.03, noise=0.15))
    assert judgement.kind == "cannot tell"


def test_what_is_faster_under_pressure_is_not_said_to_need_no_memory() -> None:
    """Arithmetic beside it took 15% of its clock rate: what memory takes may be hidden."""
    judgement = judged(diagnosed(latency=-0.3))
    assert judgement.kind == "cannot tell"
    assert "faster beside writes than beside arithmetic: 0.8" in judgement.why
    assert judged(diagnosed(latency=-0.04)).kind == "not memory"


def test_the_pressure_that_is_within_the_noise_is_named() -> None:
    cache = {**NEAR, "cache": (1.0, 1.0, 1.5), "read": (1.0, 1.0, 1.0), "write": (1.4, 1.4, 1.0)}
    judgement = judged(diagnosed(cached=0.09, noise=0.02, stretch=cache))
    assert judgement.kind == "cannot tell"
    assert "within the noise" in judgement.why
    assert "under pressure on the shared cache." in judgement.why


def test_rounds_that_cores_moved_in_are_told_from_rounds_that_are_missing() -> None:
    moving = judged(diagnosed(latency=0.5, rounds=9, pingpongs_ns=(50.0, 200.0)))
    assert moving.kind == "cannot tell"
    assert "could be paired at one distance of the cores; 8 are needed" in moving.why
