import random
from collections.abc import Sequence

import pytest
from tests.unit.analysis.records import bandwidth_point

from memgauge.analysis.figures.speeds import sample_value, values_of
from memgauge.analysis.figures.windows import (
    durations_in,
    iterations,
    lost_time,
    steady_window,
    value_in,
    warm_up_iterations,
    window_value,
)
from memgauge.model.records import Point, Sample, ThreadSample

BYTES = 1_000_000


def thread(durations: Sequence[int], begin: int = 0, switches: int = 0) -> ThreadSample:
    """Iterations without a pause between them."""
    begins = [begin + sum(durations[:at]) for at in range(len(durations))]
    ends = [at + took for at, took in zip(begins, durations, strict=True)]
    return ThreadSample(cpu=0, begin_ns=begins, end_ns=ends, involuntary_switches=switches)


def sample(threads: Sequence[ThreadSample], window: tuple[int, int] | None) -> Sample:
    return Sample(point="p", round=0, threads=list(threads), window_ns=window)


def common(threads: Sequence[ThreadSample]) -> tuple[int, int]:
    return max(t.begin_ns[0] for t in threads), min(t.end_ns[-1] for t in threads)


def point(threads: int = 1, *, fixed_iterations: int | None = None) -> Point:
    return bandwidth_point(
        work="window",
        threads=threads,
        bytes_counted=BYTES,
        requested={"fixed_iterations": fixed_iterations},
    )


def test_unequally_fast_threads_add_up_to_their_own_speeds() -> None:
    threads = [thread([1000] * 12), thread([3000] * 4), thread([1500] * 8)]
    made = sample(threads, common(threads))
    assert sample_value(point(3), made) == pytest.approx(BYTES * (1 / 1000 + 1 / 3000 + 1 / 1500))
    assert len(values_of(point(3), [made]).clean) == 1


@pytest.mark.parametrize(
    ("window", "inside"),
    [
        ((0, 4000), 4.0),
        ((500, 4000), 3.5),
        ((500, 3250), 2.75),
        ((1100, 1300), 0.2),
        ((1000, 2000), 1.0),
    ],
)
def test_an_iteration_counts_by_the_share_of_its_time_inside(
    window: tuple[int, int], inside: float
) -> None:
    made = sample([thread([1000] * 4)], None)
    length = window[1] - window[0]
    assert value_in(point(), made, window) == pytest.approx(BYTES * inside / length)


def test_nothing_is_told_where_no_time_is_left() -> None:
    early, late = thread([100] * 5), thread([100] * 5, begin=5000)
    assert window_value(point(2), sample([early, late], None)) is None
    assert window_value(point(2), sample([early, late], (5000, 500))) is None
    assert value_in(point(), sample([early], None), (5000, 6000)) is None
    assert iterations([sample([early, late], None)]) is None
    assert values_of(point(2), [sample([early, late], None)]).unusable == 1


@pytest.mark.parametrize("slow", [0, 1, 3, 9])
@pytest.mark.parametrize("factor", [0.5, 1.3, 4.0])
def test_a_warm_up_is_the_first_iterations_that_take_another_time(slow: int, factor: float) -> None:
    durations = [int(1000 * factor)] * slow + [1000] * (20 - slow)
    assert warm_up_iterations(durations) == slow


def test_a_ramp_ends_where_it_is_within_a_tenth() -> None:
    assert warm_up_iterations([3000, 2000, 1500, 1101, 1099, *[1000] * 10]) == 4


def test_a_warm_up_is_seen_though_the_thread_is_slow_now_and_then() -> None:
    """As the NVDIMM study had it: 25 iterations to start with, then drops to half of the speed."""
    rng = random.Random(7)
    for _ in range(50):
        warm = [3000 - 80 * at for at in range(25)]
        durations = [d * (2 if rng.random() < 0.05 else 1) for d in [*warm, *[1000] * 175]]
        assert 20 <= warm_up_iterations(durations) <= 30
        steady = [1000 * (2 if rng.random() < 0.05 else 1) for _ in range(200)]
        assert warm_up_iterations(steady) == 0


@pytest.mark.parametrize(
    "durations",
    [
        [],
        [5000, 1000, 1000],  # too few to tell
        [1000] * 30,
        [1000] * 300,
        [1000, 5000] * 100,
        [1000, 5000] * 10,  # fluctuates throughout
        [2000, *[1000] * 12, 2000, *[1000] * 6],  # as slow again later
        [*[3000] * 12, *[1000] * 8],  # longer than half: nothing to hold it against
    ],
    ids=["none", "few", "steady", "steady long", "fluctuates long", "fluctuates", "again", "long"],
)
def test_what_is_no_clear_warm_up_is_kept(durations: list[int]) -> None:
    assert warm_up_iterations(durations) == 0


def test_noise_alone_is_seldom_taken_for_a_warm_up() -> None:
    rng = random.Random(5)
    cut = [
        warm_up_iterations([round(rng.gauss(10_000, 300)) for _ in range(count)])
        for count in range(4, 120)
        for _ in range(20)
    ]
    assert sum(map(bool, cut)) < 0.01 * len(cut)


def test_all_threads_count_from_when_the_last_is_steady() -> None:
    quick, slow = thread([1000] * 20), thread([4000, *[1000] * 16])
    both = [sample([quick], (0, 20_000)), sample([slow], (0, 20_000))]
    assert steady_window(both) == (4000, 20_000)
    assert value_in(point(), both[0], (4000, 20_000)) == pytest.approx(BYTES / 1000)
    # Alone, the quick one needs to leave nothing out.
    assert steady_window(both[:1]) == (0, 20_000)
    known = iterations(both)
    assert known is not None
    assert (known.warm_up, known.inside, known.outside_ns) == (1, 32, 0)


def test_what_ran_while_others_had_ended_is_outside() -> None:
    """Ten iterations each, as with fixed iterations: the quick one ends at a third of the time."""
    quick, slow = thread([1000] * 10), thread([3000] * 10)
    made = sample([quick, slow], (0, 10_000))
    known = iterations([made])
    assert known is not None
    assert (known.outside_ns, known.all_ns) == (20_000, 40_000)
    assert window_value(point(2), made) == pytest.approx(BYTES * (1 / 1000 + 1 / 3000))
    assert durations_in(slow, (0, 10_000)) == [3000] * 3


def test_the_slow_threads_speed_up_later_is_not_seen() -> None:
    """What a thread did after the first had ended says nothing about its warm-up."""
    quick, slow = thread([1000] * 12), thread([2000] * 6 + [900] * 6)
    assert steady_window([sample([quick, slow], (0, 12_000))]) == (0, 12_000)
    assert window_value(point(2), sample([quick, slow], (0, 12_000))) == pytest.approx(1500)


def test_whole_runs_are_not_set_aside_for_a_moment_without_a_processor() -> None:
    made = [sample([thread([*[1000] * 7, 9000], switches=1)], (0, 16_000))]
    assert values_of(point(), made).switched_out == 1
    assert len(values_of(point(fixed_iterations=8), made).clean) == 1


@pytest.mark.parametrize(
    ("durations", "switches", "spoiled"),
    [
        ([1000] * 100, 3, False),  # switched out and back at once
        ([*[1000] * 50, 2500, *[1000] * 50], 1, False),  # 1.5% of the window
        ([*[1000] * 50, 4000, *[1000] * 50], 1, True),  # 3%
        ([*[1000] * 50, 4000, *[1000] * 50], 0, False),  # fluctuates by itself
        ([1500, 1000] * 50, 1, False),  # one of many slow ones may be the kernel's
        ([*[1000] * 40, 1900, *[1000] * 40, 1900, *[1000] * 20], 1, False),
        ([*[1000] * 40, 2900, *[1000] * 40, 2900, *[1000] * 20], 2, True),
        ([9000, 9000], 1, True),  # too few to tell what it cost
    ],
)
def test_being_switched_out_spoils_a_visit_where_it_cost_time(
    durations: list[int], switches: int, spoiled: bool
) -> None:
    made = sample([thread(durations, switches=switches)], (0, sum(durations)))
    assert lost_time(made) == spoiled
    assert values_of(point(), [made]).switched_out == spoiled


def test_many_iterations_take_no_quadratic_time() -> None:
    """Each thread is searched by halving and summed once: a million stamps are no burden."""
    count = 200_000
    begins = list(range(0, 1000 * count, 1000))
    long = ThreadSample(cpu=0, begin_ns=begins, end_ns=[b + 1000 for b in begins])
    assert window_value(point(), sample([long], (500, 1000 * count))) == pytest.approx(1000)
