"""The bandwidth that a report leads with is the same quantity in every run."""

import random

import pytest
from tests.unit.analysis.records import bandwidth_point, sample_of
from tests.unit.analysis.runs import start, system

from memgauge.analysis.figures.run import Figures, figures_of
from memgauge.analysis.report.headlines import headline_figures, headlines
from memgauge.analysis.section import Headline
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.records import AnyRecord, RunEnd
from memgauge.model.run import run_of

NEAR_NS, FAR_NS = 30.0, 200.0
SPEEDS = {
    ("scale", "tuned", 2): (90.0, 60.0),
    ("triad", "standard", 2): (85.0, 55.0),
    ("triad", "tuned", 2): (80.0, 50.0),
    ("triad", "tuned", 1): (95.0, 95.0),
}
"""Of each kernel, variant and team, where threads are near and where they are far."""


def figures_for(
    *left_out: tuple[str, str, int], rounds_near: int = 10, rounds: int = 60
) -> Figures:
    rng = random.Random(4)
    points = {
        key: bandwidth_point(
            "stream/{}/{}/double/{}t".format(*key),
            threads=key[2],
            requested={"kernel": key[0], "variant": key[1], "element": "double"},
            actual={"cpus": ",".join(map(str, range(key[2])))},
            bytes_counted=240_000_000,
        )
        for key in SPEEDS
        if key not in left_out
    }
    records: list[AnyRecord] = [start(system()), *points.values()]
    for round_ in range(rounds):
        is_near = round_ < rounds_near
        for key, point in points.items():
            value = SPEEDS[key][0 if is_near else 1] * rng.gauss(1, 0.004)
            pingpong_ns = (NEAR_NS if is_near else FAR_NS) if key[2] > 1 else None
            records.append(sample_of(point, value, round_, pingpong_ns=pingpong_ns))
    records.append(RunEnd(status="complete", elapsed_s=60.0, rounds=rounds))
    return figures_of(run_of(records))


def bandwidth(figures: Figures) -> tuple[Headline, float]:
    (found,) = [one for one in headlines(figures) if one.label == "Bandwidth"]
    assert isinstance(found.value, Estimate)
    return found, found.value.value


def test_it_is_tuned_triad_of_all_threads_where_they_were_most_of_the_time() -> None:
    found, value = bandwidth(figures_for())
    assert value == pytest.approx(50.0, rel=0.02)
    assert found.detail == "triad, tuned, 2 threads, across complexes (200 ns) in 83% of passes"


def test_a_faster_kernel_or_regime_of_few_passes_does_not_change_it() -> None:
    fewer = figures_for(("scale", "tuned", 2), ("triad", "tuned", 1), rounds_near=0)
    same, other = bandwidth(figures_for()), bandwidth(fewer)
    assert same[1] == pytest.approx(other[1], rel=0.02)
    assert same[0].key == other[0].key
    assert headline_figures(fewer).keys() == headline_figures(figures_for()).keys()


def test_runs_without_tuned_triad_have_other_keys() -> None:
    plain, value = bandwidth(figures_for(("triad", "tuned", 2), ("triad", "tuned", 1)))
    assert value == pytest.approx(55.0, rel=0.02)
    assert plain.detail is not None
    assert plain.detail.startswith("triad, standard, 2 threads")
    without = [key for key in SPEEDS if key[0] == "triad"]
    scale, value = bandwidth(figures_for(*without))
    assert value == pytest.approx(60.0, rel=0.02)
    assert len({plain.key, scale.key, bandwidth(figures_for())[0].key}) == 3
