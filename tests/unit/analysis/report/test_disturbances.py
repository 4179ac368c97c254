"""Disturbed samples are counted where they are, and said in the section whose figures they are."""

from __future__ import annotations

import random

import msgspec
import pytest
from tests.unit.analysis.records import latency_point, sample_of
from tests.unit.analysis.runs import environment, start

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.report.conditions import OTHERS, SLOW, STEAL, stretches_of
from memgauge.analysis.report.disturbances import with_disturbances
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Verdict
from memgauge.model.records import AnyRecord, Environment, Point, Sample
from memgauge.model.run import Run, run_of

SECOND = 1_000_000_000
A = latency_point("latency/A", experiment="latency", accesses=1000)
B = latency_point("latency/B", experiment="latency", accesses=1000)


def at(
    point: Point, time_s: float, round_: int = 0, value: float = 100.0, switches: int = 0
) -> Sample:
    """A sample that begins then."""
    sample = sample_of(point, value, round_, switches=switches)
    moved = [
        msgspec.structs.replace(
            thread,
            begin_ns=[round(time_s * SECOND)],
            end_ns=[round(time_s * SECOND) + thread.end_ns[0] - thread.begin_ns[0]],
        )
        for thread in sample.threads
    ]
    return msgspec.structs.replace(sample, threads=moved)


def second(number: int, **changes: float | None) -> Environment:
    """The record of the second that ends at `number`; two CPUs."""
    return environment(at_ns=number * SECOND, interval_s=1.0, **changes)


def made(samples: list[Sample], environments: list[Environment]) -> Run:
    begin = msgspec.structs.replace(start(), experiments=["latency"])
    return run_of([begin, A, B, *samples, *environments])


def verdicts(run: Run) -> list[Verdict]:
    return with_disturbances(figures_of(run), ["latency"])["latency"]


QUIET = [at(A, second_ + 0.5, second_) for second_ in range(10)]


def test_a_quiet_run_says_nothing() -> None:
    assert verdicts(made(QUIET, [second(n) for n in range(1, 11)])) == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"steal_s": 0.05}, STEAL), ({"others_s": 0.2}, OTHERS), ({"frequency_khz": 2_000_000}, SLOW)],
)
def test_the_share_of_samples_in_disturbed_seconds_is_said(
    changes: dict[str, float], reason: str
) -> None:
    environments = [
        second(n, **({"frequency_khz": 3_000_000} | (changes if n in {3, 4} else {})))
        for n in range(1, 11)
    ]
    (verdict,) = verdicts(made(QUIET, environments))
    assert verdict.text == f"20% of the samples were taken while {reason}."
    assert verdict.level == "warning"


def test_a_clock_measured_beside_the_samples_tells_where_the_kernel_does_not() -> None:
    samples = [
        msgspec.structs.replace(at(A, n / 10 + 0.05, n), cycles_per_ns=3.0 if n < 20 else 3.7)
        for n in range(50)
    ]
    (verdict,) = verdicts(made(samples, [second(n) for n in range(1, 6)]))
    assert verdict.text == f"40% of the samples were taken while {SLOW}."
    few = [msgspec.structs.replace(s, cycles_per_ns=None) for s in samples[4:]]
    assert verdicts(made([*samples[:4], *few], [second(n) for n in range(1, 6)])) == []


def test_small_amounts_and_single_ticks_are_no_disturbance() -> None:
    small = [second(n, steal_s=0.01, others_s=0.05) for n in range(1, 11)]
    short = [environment(at_ns=SECOND, interval_s=0.05, steal_s=0.02, others_s=0.02)]
    assert verdicts(made(QUIET, small)) == []
    assert not any(one.reasons for one in stretches_of(made([], short))[0])


def test_what_the_kernel_does_not_tell_is_not_judged() -> None:
    unknown = [second(n, steal_s=None, others_s=None) for n in range(1, 11)]
    assert verdicts(made(QUIET, unknown)) == []
    assert verdicts(made(QUIET, [])) == []


def test_no_stretch_begins_before_the_clock() -> None:
    absurd = environment(at_ns=3 * SECOND, interval_s=1.7e308)
    (stretch,) = stretches_of(made(QUIET, [absurd]))[0]
    assert (stretch.begin_ns, stretch.end_ns) == (0, 3 * SECOND)


def test_points_far_worse_off_are_named() -> None:
    steady = [at(A, n % 8 + 0.25, n) for n in range(36)]
    late = [at(B, 9.5, n) for n in range(4)]
    environments = [second(n, others_s=0.5 if n == 10 else 0.0) for n in range(1, 11)]
    (verdict,) = verdicts(made([*steady, *late], environments))
    assert verdict.text.startswith("10% of the samples were taken while other programs")
    assert verdict.text.endswith(", most of all latency/B (100%).")
    assert verdict.level == "note"


def test_slices_set_aside_are_counted() -> None:
    samples = [at(A, 0.5, n, switches=int(n < 3)) for n in range(30)]
    (verdict,) = verdicts(made(samples, [second(1)]))
    assert verdict.text == "3 of 30 samples were set aside because a thread was switched out."


def test_stamps_of_a_resumption_are_on_its_own_clock() -> None:
    """Both legs have a sample in their first second; only that of the second leg was disturbed."""
    begin = msgspec.structs.replace(start(), experiments=["latency"])
    again = msgspec.structs.replace(start(resumed=True), experiments=["latency"])
    records: list[AnyRecord] = [begin, A, B, at(A, 0.5), second(1), again]
    records += [at(A, 0.5, 1), at(A, 0.6, 2), at(A, 0.7, 3), second(1, others_s=1.0)]
    run = run_of(records)
    assert [[bool(one.reasons) for one in leg] for leg in stretches_of(run).values()] == [
        [False],
        [True],
    ]
    (verdict,) = verdicts(run)
    assert verdict.text.startswith("75% of the samples")


def test_a_spread_that_grows_is_said_with_the_worst_point() -> None:
    draw = random.Random(5)
    samples = []
    for n in range(120):
        samples.append(at(A, n / 100, n, 100 * draw.gauss(1, 0.004)))
        samples.append(at(B, n / 100, n, 100 * draw.gauss(1, 0.004 if n < 60 else 0.06)))
    (verdict,) = verdicts(made(samples, [second(1), second(2)]))
    assert verdict.text.startswith("The spread of 1 of 2 points grew while measuring; most of all")
    assert "latency/B, from 1." in verdict.text


def test_every_section_carries_its_own() -> None:
    environments = [second(n, others_s=1.0) for n in range(1, 11)]
    report = analyse_run(made(QUIET, environments))
    (section,) = report.sections
    assert any("100% of the samples" in verdict.text for verdict in section.verdicts)
