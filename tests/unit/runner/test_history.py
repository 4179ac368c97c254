"""What the runner remembers of a point's samples is what their records would give."""

from __future__ import annotations

import random
import tracemalloc

import msgspec
from tests.unit.analysis.records import bandwidth_point, latency_point, sample_of

from memgauge.analysis.figures.speeds import values_of
from memgauge.model.records import Point, Sample
from memgauge.runner.history import History


def samples(point: Point, count: int) -> list[Sample]:
    draw = random.Random(2)
    made = [
        sample_of(
            point,
            draw.uniform(1.0, 9.0),
            round_,
            pingpong_ns=draw.choice([None, 30.0, 180.0]),
            cycles_per_ns=draw.choice([None, 2.5]),
            switches=draw.random() < 0.1,
            faults=draw.random() < 0.1,
        )
        for round_ in range(count)
    ]
    return [msgspec.structs.replace(one, stands_for=draw.choice([1, 2, 4])) for one in made]


def test_the_values_are_those_of_the_samples() -> None:
    for point in (bandwidth_point(threads=3), latency_point()):
        taken = samples(point, 200)
        history = History(point)
        for sample in taken:
            history.add(sample)
        clean = values_of(point, taken).clean
        assert 100 < len(clean) < 200
        assert history.clean() == clean
        assert history.values() == [value.value for value in clean]
        assert history.taken == history.iterations == 200
        known = [sample.pingpong_ns for sample in taken if sample.pingpong_ns is not None]
        assert history.pingpongs_ns.tolist() == known
        spans = [sample.threads[0].end_ns[0] - sample.threads[0].begin_ns[0] for sample in taken]
        assert history.elapsed_ns.tolist() == spans


def test_a_sample_without_threads_counts_as_taken_and_gives_nothing_else() -> None:
    history = History(bandwidth_point())
    history.add(Sample(point="p", round=0, threads=[]))
    assert history.taken == 1
    assert history.iterations == 0
    assert not history.elapsed_ns
    assert history.clean() == []


def test_a_sample_takes_few_bytes_whatever_its_team() -> None:
    rounds = 2000
    for threads in (1, 64):
        point = bandwidth_point(threads=threads)
        taken = sample_of(point, 5.0, pingpong_ns=30.0)
        history = History(point)
        tracemalloc.start()
        for _ in range(rounds):
            history.add(taken)
        kept_bytes, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert kept_bytes < 80 * rounds
