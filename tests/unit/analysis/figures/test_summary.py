import math
import random

import pytest
from tests.unit.analysis.records import bandwidth_point, latency_point, sample_of, samples_of

from memgauge.analysis.figures.regimes import find_regimes
from memgauge.analysis.figures.speeds import (
    fast_quantile,
    iteration_seconds,
    pass_times,
    sample_value,
    values_of,
)
from memgauge.analysis.figures.summary import noise_of, summarise, worst_precision
from memgauge.analysis.statistics.intervals import sustained
from memgauge.model.records import Sample, ThreadSample


def two_threads(begins: list[list[int]], ends: list[list[int]]) -> Sample:
    threads = [
        ThreadSample(cpu=cpu, begin_ns=begin, end_ns=end)
        for cpu, (begin, end) in enumerate(zip(begins, ends, strict=True))
    ]
    return Sample(point="p", round=0, threads=threads)


def test_an_iteration_lasts_from_the_first_begin_to_the_last_end() -> None:
    sample = two_threads([[100, 300], [110, 290]], [[250, 500], [280, 480]])
    assert iteration_seconds(sample) == pytest.approx([180e-9, 210e-9])


def test_a_sample_is_all_its_work_over_all_its_time() -> None:
    sample = two_threads([[100, 300], [110, 290]], [[250, 500], [280, 480]])
    assert sample_value(bandwidth_point(bytes_counted=1000, threads=2), sample) == 2000 / 400


def test_counted_work_is_what_its_threads_say_over_their_window() -> None:
    point = bandwidth_point(work="counted", threads=2)
    threads = [
        ThreadSample(cpu=0, begin_ns=[100], end_ns=[300], read_bytes=600, write_bytes=200),
        ThreadSample(cpu=1, begin_ns=[100], end_ns=[300], read_bytes=150, write_bytes=50),
    ]
    sample = Sample(point="p", round=0, threads=threads)
    assert sample_value(point, sample) == pytest.approx(1000 / 200)
    idle = [ThreadSample(cpu=0, begin_ns=[100], end_ns=[300])]
    assert sample_value(point, Sample(point="p", round=0, threads=idle)) is None


def test_latency_is_time_over_accesses() -> None:
    sample = two_threads([[0, 1000]], [[1000, 3000]])
    assert sample_value(latency_point(accesses=100), sample) == 15.0


@pytest.mark.parametrize(
    "sample",
    [
        two_threads([], []),
        two_threads([[]], [[]]),
        two_threads([[100]], [[100]]),
        two_threads([[100]], [[50]]),
        two_threads([[1, 2], [1]], [[2, 3], [2]]),
    ],
)
def test_stamps_that_tell_nothing_are_no_value(sample: Sample) -> None:
    assert sample_value(bandwidth_point(), sample) is None
    assert values_of(bandwidth_point(), [sample]).unusable == 1


def test_disturbed_samples_are_set_aside_and_counted() -> None:
    point = bandwidth_point()
    samples = [
        sample_of(point, 10),
        sample_of(point, 1, switches=2),
        sample_of(point, 2, faults=1),
        sample_of(point, 3, switches=1, faults=1),
    ]
    values = values_of(point, samples)
    assert [value.value for value in values.clean] == pytest.approx([10])
    assert (values.switched_out, values.page_faults, values.set_aside) == (2, 1, 3)
    (figures,) = summarise([point], {"p": samples}, 0.01)["p"]
    assert (figures.samples, figures.set_aside, figures.switched_out) == (1, 3, 2)


def test_best_of_n_leaves_out_the_first_walk() -> None:
    point = bandwidth_point(role="pass")
    times = pass_times(point, samples_of(point, [50, 10, 20, 12.5]))
    assert times is not None
    assert times.best_gb_per_s == pytest.approx(20)
    assert (times.minimum_s, times.maximum_s) == pytest.approx((50e-6, 100e-6))
    assert times.average_s == pytest.approx((100e-6 + 50e-6 + 80e-6) / 3)
    assert times.passes == 3
    assert pass_times(point, samples_of(point, [50])) is None
    assert pass_times(point, []) is None


def test_first_walk_is_left_out_once_over_all_regimes() -> None:
    point = bandwidth_point(role="pass", threads=2)
    speeds = [90.0, *[10.0, 20.0] * 5]
    samples = [
        sample_of(point, speed, i, pingpong_ns=27 if speed == 10 else 175)
        for i, speed in enumerate(speeds)
    ]
    near, far = summarise([point], {"p": samples}, 0.01)["p"]
    assert near.passes is not None
    assert far.passes is not None
    assert near.passes.best_gb_per_s == pytest.approx(10)
    assert far.passes.best_gb_per_s == pytest.approx(20)
    assert (near.passes.passes, far.passes.passes) == (5, 5)


def test_fast_side_is_high_bandwidth_and_low_latency() -> None:
    values = [float(value) for value in range(1, 102)]
    for point, expected in [(bandwidth_point(), 91.0), (latency_point("p"), 11.0)]:
        (figures,) = summarise([point], {"p": samples_of(point, values)}, 0.01)["p"]
        assert figures.sustained is not None
        assert figures.sustained.value == pytest.approx(expected, rel=1e-3)
        assert sustained(values, fast_quantile(point)) is not None


def test_figures_are_given_per_regime_and_never_pooled() -> None:
    rng = random.Random(30)
    point = bandwidth_point(threads=2)
    samples = [
        sample_of(point, rng.gauss(28, 0.1), i, pingpong_ns=rng.gauss(27, 1))
        if rng.random() < 0.6
        else sample_of(point, rng.gauss(54, 0.1), i, pingpong_ns=rng.gauss(175, 5))
        for i in range(300)
    ]
    near, far = summarise([point], {"p": samples}, 0.01)["p"]
    assert near.regime == "same complex (27 ns)"
    assert far.regime == "across complexes (175 ns)"
    assert near.share == pytest.approx(0.6, abs=0.1)
    assert near.share is not None
    assert far.share == pytest.approx(1 - near.share)
    for figures, value in [(near, 28), (far, 54)]:
        assert figures.sustained is not None
        assert figures.sustained.value == pytest.approx(value, rel=0.01)
        assert figures.reached
    assert near.samples + far.samples + near.set_aside == 300


def test_regimes_are_found_over_all_points_of_a_team() -> None:
    first, second = (bandwidth_point(n, threads=2, actual={"cpus": "0-1"}) for n in "ab")
    samples = {
        "a": [sample_of(first, 20, i, pingpong_ns=27) for i in range(10)],
        "b": [sample_of(second, 40, i, pingpong_ns=175) for i in range(10)],
    }
    figures = summarise([first, second], samples, 0.01)
    assert [f.samples for f in figures["a"]] == [10, 0]
    assert [f.samples for f in figures["b"]] == [0, 10]
    assert figures["a"][1].sustained is None


def test_a_point_without_samples_has_no_figures() -> None:
    (figures,) = summarise([bandwidth_point()], {}, 0.01)["p"]
    assert not figures.has_figures
    assert not figures.reached
    assert (figures.share, figures.noise, figures.median) == (None, None, None)


def test_worst_precision_looks_at_regimes_that_matter() -> None:
    point = bandwidth_point(threads=2)
    rng = random.Random(32)
    often = [sample_of(point, rng.gauss(28, 0.1), i, pingpong_ns=27) for i in range(200)]
    seldom = [sample_of(point, 54, 200 + i, pingpong_ns=175) for i in range(10)]
    values = values_of(point, often + seldom).clean
    regimes = find_regimes([value.pingpong_ns for value in values])
    assert len(regimes.regimes) == 2
    assert worst_precision(values, regimes) < 0.01
    assert worst_precision([], regimes) == math.inf


def test_cycles_come_from_the_clock_measured_beside_each_sample() -> None:
    point = latency_point()
    samples = [sample_of(point, 2.0 + 0.01 * i, i, cycles_per_ns=4.0) for i in range(50)]
    (figures,) = summarise([point], {"l": samples}, 0.01)["l"]
    assert figures.cycles is not None
    assert figures.sustained is not None
    assert figures.cycles.value == pytest.approx(4 * figures.sustained.value)
    without = [sample_of(point, 2.0, 51), *samples]
    (figures,) = summarise([point], {"l": without}, 0.01)["l"]
    assert figures.cycles is None


def test_noise_is_the_middle_spread_over_the_median() -> None:
    assert noise_of([float(value) for value in range(1, 102)]) == pytest.approx(80 / 51)
    assert noise_of([7.0] * 20) == 0
    assert noise_of([7.0] * 9) is None
