"""Of a large team, what is recorded gives the figures that all its threads would give."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.records import bandwidth_point

from memgauge.analysis.figures.speeds import (
    elapsed_ns,
    had_page_fault,
    iteration_seconds,
    moved_bytes,
    page_faults,
    sample_value,
    was_switched_out,
)
from memgauge.model.records import Point, Sample, ThreadSample
from memgauge.runner.large_teams import MOST_THREADS, condensed


@st.composite
def teams(draw: st.DrawFn) -> Sample:
    """A sample of a team larger than is recorded whole."""
    threads = draw(st.integers(MOST_THREADS + 1, 40))
    iterations = draw(st.integers(1, 3))
    few = st.integers(0, 1 << 30)
    rare = st.sampled_from([0, 0, 0, 1, 7])
    made = []
    for cpu in range(threads):
        begins = [1_000_000 * (at + 1) + draw(st.integers(0, 400_000)) for at in range(iterations)]
        made.append(
            ThreadSample(
                cpu=cpu,
                begin_ns=begins,
                end_ns=[begin + draw(st.integers(1, 500_000)) for begin in begins],
                involuntary_switches=draw(rare),
                page_faults=draw(rare),
                read_bytes=draw(few),
                write_bytes=draw(few),
            )
        )
    return Sample(point="p", round=0, threads=made)


@given(teams(), st.sampled_from(["fixed", "counted"]))
def test_every_figure_is_that_of_all_threads(whole: Sample, work: str) -> None:
    point = bandwidth_point(threads=len(whole.threads), work=work)
    made = condensed(point, whole)
    assert sample_value(point, made) == sample_value(point, whole)
    assert iteration_seconds(made) == iteration_seconds(whole)
    assert elapsed_ns(made) == elapsed_ns(whole)
    assert was_switched_out(made) == was_switched_out(whole)
    assert had_page_fault(made) == had_page_fault(whole)
    assert page_faults(made) == page_faults(whole)
    assert moved_bytes(made) == moved_bytes(whole)
    others = made.others.threads if made.others is not None else 0
    assert len(made.threads) + others == len(whole.threads)


@given(teams())
def test_the_first_and_last_threads_are_recorded_with_their_cpus(whole: Sample) -> None:
    made = condensed(bandwidth_point(threads=len(whole.threads)), whole)
    recorded = {thread.cpu: thread for thread in made.threads}
    assert all(whole.threads[cpu] == thread for cpu, thread in recorded.items())
    assert list(recorded) == sorted(recorded), "in the order of the team"
    for at in range(len(whole.threads[0].begin_ns)):
        for chosen in (min, max):
            begin = chosen(thread.begin_ns[at] for thread in whole.threads)
            end = chosen(thread.end_ns[at] for thread in whole.threads)
            assert any(thread.begin_ns[at] == begin for thread in made.threads)
            assert any(thread.end_ns[at] == end for thread in made.threads)


def team_of(threads: int) -> Sample:
    made = [ThreadSample(cpu=n, begin_ns=[n], end_ns=[1000 + n]) for n in range(threads)]
    return Sample(point="p", round=0, threads=made)


def in_a_window(threads: int) -> Point:
    return bandwidth_point(threads=threads, work="window")


def test_what_one_iteration_records_does_not_grow_with_the_team() -> None:
    for threads in (MOST_THREADS + 1, 192, 8192):
        made = condensed(bandwidth_point(threads=threads), team_of(threads))
        assert len(made.threads) <= 4
        assert len(msgspec.json.encode(made)) < 400


@pytest.mark.parametrize(
    ("point", "sample"),
    [
        (bandwidth_point(threads=MOST_THREADS), team_of(MOST_THREADS)),
        (in_a_window(20), team_of(20)),
        (
            bandwidth_point(threads=20),
            msgspec.structs.replace(
                team_of(20),
                threads=[
                    *team_of(19).threads,
                    ThreadSample(cpu=19, begin_ns=[1, 3], end_ns=[2, 4]),
                ],
            ),
        ),
    ],
    ids=["small", "window", "stamped unequally often"],
)
def test_samples_that_stay_as_they_are(point: Point, sample: Sample) -> None:
    assert condensed(point, sample) is sample
