from itertools import pairwise

import pytest
from tests.unit.analysis.runs import start
from tests.unit.analysis.tiers.runs import BYTES, cores, even, points, tiers_run, visit, worker

from memgauge.analysis.comparison.published_tiers import published_contest
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.section import Chart
from memgauge.analysis.tiers.figures import contests
from memgauge.analysis.tiers.threads import drawn, threads_chart
from memgauge.model.records import AnyRecord
from memgauge.model.run import Run, run_of
from memgauge.references.library import load


def chart(run: Run) -> Chart:
    made = threads_chart(contests(figures_of(run))[0])
    assert made is not None
    return made


def test_a_line_for_each_thread_with_a_gap_between() -> None:
    made = chart(tiers_run(4, even(4, 2), rounds=8))
    assert made.name == "tiers-threads-4t-k2"
    assert [one.y.count(None) for one in made.series] == [2, 2]
    for one, speed in zip(made.series, (4, 2), strict=True):
        assert [y for y in one.y if y is not None] == pytest.approx(
            [speed] * (len(one.y) - 2), rel=0.02
        )
        assert len(one.x) == len(one.y) == len(one.notes or [])
    assert not made.bands, "nothing was left out"


def test_a_line_is_level_from_the_begin_of_an_iteration_to_its_end() -> None:
    groups = points(1, threads=2)
    records: list[AnyRecord] = [start(cores(2)), *groups.values()]
    records += visit(groups, lambda group, _: {"a": [1000, 4000], "b": [5000]}[group])
    one = chart(run_of(records)).series[0]
    assert one.y[0] == one.y[1] == pytest.approx(4 * (one.y[2] or 0)) == pytest.approx(BYTES / 1000)
    assert [float(x) for x in one.x[:4]] == pytest.approx([0.0, 0.001, 0.001, 0.005])


def test_the_split_that_varies_far_more_than_the_middle_one_is_drawn() -> None:
    assert chart(tiers_run(6, even(4, 4), rounds=6)).name == "tiers-threads-6t-k3"
    run = tiers_run(
        6, lambda k: (4, 4), rounds=6, b_factors=(1, 1, 1, 1, 1, 1, 2), splits=[0, 1, 3, 4]
    )
    assert chart(run).name == "tiers-threads-6t-k3", "as uneven as the others"


def test_long_runs_keep_the_fastest_and_the_slowest_of_each_stretch() -> None:
    durations = [1000] * 10_000
    durations[777], durations[7777] = 9000, 100
    found = list(drawn(worker(0, durations), 100))
    assert len(found) <= 100
    assert {777, 7777} <= set(found)
    assert all(one < other for one, other in pairwise(found))
    assert list(drawn(worker(0, [BYTES] * 50), 100)) == list(range(50))


def test_published_tables_tell_no_thread() -> None:
    assert threads_chart(published_contest(load("nvdimm-nvm-nvm"))) is None


def test_the_time_that_counts_is_shaded_where_some_does_not() -> None:
    groups = points(1, threads=2, fixed_iterations=100)
    records: list[AnyRecord] = [start(cores(2)), *groups.values()]
    took = {"a": [1000] * 100, "b": [3000] * 100}
    records += visit(groups, lambda group, _: took[group])
    (band,) = chart(run_of(records)).bands
    assert (band.label, band.start) == ("all at work, steady", 0.0)
    assert band.end == pytest.approx(0.1)
