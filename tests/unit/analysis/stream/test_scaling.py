"""The published thread sweep as if memgauge had measured it: what the section then says."""

import random
from collections.abc import Iterator

import pytest
from tests.unit.analysis.published import STREAM_KERNELS, stream_teams
from tests.unit.analysis.records import bandwidth_point, sample_of
from tests.unit.analysis.runs import start, system

from memgauge.analysis.figures.scaling import Team, scaling_of
from memgauge.analysis.figures.scaling_report import bands, cores_used, threads_axis, verdicts
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Section
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.stream.scaling import Line, charts
from memgauge.model.records import AnyRecord, Point
from memgauge.model.run import run_of
from memgauge.model.system import Cpu, System

THREADS = 32


def socket() -> System:
    """16 cores of two hardware threads; CPUs 16 to 31 are the second ones."""
    cpus = [Cpu(cpu=n, core=n % 16, socket=0, node=0, sibling=n // 16) for n in range(THREADS)]
    return system(cpus=cpus, allowed_cpus=list(range(THREADS)))


def points(sizes: int) -> Iterator[tuple[Point, float]]:
    for kernel in STREAM_KERNELS:
        for team in stream_teams(kernel)[:sizes]:
            yield (
                bandwidth_point(
                    f"stream/{kernel}/standard/double/{team.threads}t",
                    threads=team.threads,
                    requested={"kernel": kernel, "variant": "standard", "element": "double"},
                    actual={"cpus": f"0-{team.threads - 1}"},
                    bytes_counted=240_000_000,
                ),
                team.bandwidth.value,
            )


def stream_section(sizes: int = THREADS, rounds: int = 60) -> Section:
    rng = random.Random(1)
    declared = list(points(sizes))
    records: list[AnyRecord] = [start(socket()), *(point for point, _ in declared)]
    for round_ in range(rounds):
        records += [
            sample_of(point, value * rng.gauss(1, 0.004), round_) for point, value in declared
        ]
    (section,) = analyse_run(run_of(records)).sections
    return section


@pytest.fixture(scope="module")
def section() -> Section:
    return stream_section()


def test_taper_saturation_and_the_loss_at_the_sibling_are_put_in_words(section: Section) -> None:
    texts = [verdict.text for verdict in section.verdicts]
    saturates = "saturates gradually from 2 to 10 threads"
    assert any(saturates in text and "triad, standard" in text for text in texts)
    (sibling,) = (v for v in section.verdicts if "shares a core" in v.text)
    assert sibling.level == "warning"
    assert "costs 12.9%" in sibling.text or "costs 13.0%" in sibling.text
    assert "17 threads against 16" in sibling.text


def test_every_kernel_has_a_row(section: Section) -> None:
    (table,) = (table for table in section.tables if table.name == "stream-threads")
    titles = [column.title for column in table.columns]
    rows = [dict(zip(titles, row, strict=True)) for row in table.rows]
    assert [row["kernel"] for row in rows] == list(STREAM_KERNELS)
    assert all(row["tapers at"] == "gradually, 2 to 10" for row in rows)


def test_cores_and_hardware_threads_are_told_apart_in_the_picture(section: Section) -> None:
    chart = next(chart for chart in section.charts if chart.name == "stream-scaling")
    assert [band.label for band in chart.bands] == ["cores", "hardware threads"]
    assert chart.bands[0].start == 1
    assert 16 < chart.bands[0].end == chart.bands[1].start < 17
    assert [mark.label for mark in chart.marks] == ["saturates gradually around 5"]
    assert [series.name for series in chart.series] == [
        f"{kernel}, standard" for kernel in ("copy", "scale", "add", "triad")
    ]
    triad = next(series for series in chart.series if series.name == "triad, standard")
    for mark in chart.marks:
        assert triad.y[triad.x.index(mark.x)] == mark.y
    assert chart.x.scale == "linear"


def test_more_lines_than_can_be_told_apart_are_one_picture_for_each_variant() -> None:
    teams = [Team(n, Estimate(10.0 * n, 9.9 * n, 10.1 * n)) for n in (1, 2, 4)]
    found = scaling_of(teams)
    assert found is not None
    lines = [
        Line(kernel=kernel, variant=variant, element="double", pages="", teams=teams, scaling=found)
        for variant in ("standard", "tuned")
        for kernel in STREAM_KERNELS
    ]
    drawn = charts(lines, None, "")
    assert [chart.name for chart in drawn] == ["stream-scaling", "stream-scaling-tuned"]
    assert [chart.title for chart in drawn] == [
        "Bandwidth over threads, standard",
        "Bandwidth over threads, tuned",
    ]
    for chart in drawn:
        assert [series.name for series in chart.series] == ["copy", "scale", "add", "triad"]


def test_few_team_sizes_show_no_bend_and_say_so() -> None:
    texts = [verdict.text for verdict in stream_section(sizes=2).verdicts]
    assert any(
        text.startswith("2 team sizes are too few to show a bend of bandwidth over threads")
        and text.endswith("No team smaller than the best, 2 threads, comes within 5% of it.")
        for text in texts
    )
    assert not any("team" in verdict.text for verdict in stream_section(sizes=1).verdicts)
    assert not any("team" in verdict.text for verdict in stream_section(rounds=5).verdicts)


@pytest.mark.parametrize(("one", "begin"), [(30.0, "1 thread comes"), (20.0, "2 threads come")])
def test_the_smallest_team_near_the_best_is_named(one: float, begin: str) -> None:
    speeds = enumerate((one, 30.5, 31.0), 1)
    scaling = scaling_of([Team(n, Estimate(speed, speed, speed)) for n, speed in speeds])
    assert scaling is not None
    (verdict, *_) = verdicts("triad, tuned", scaling)
    assert f"{begin} within 5% of the best, which has 3." in verdict.text


def test_cores_of_a_team_come_from_the_topology() -> None:
    assert cores_used(socket(), "0-7,16-23") == 8
    assert cores_used(socket(), "0-31") == 16
    assert cores_used(socket(), "40") is None
    assert cores_used(socket(), "all of them") is None
    assert cores_used(socket(), "") is None


def test_no_bands_where_cores_are_not_told() -> None:
    assert bands(None, [1, 2]) == []
    assert threads_axis([1, 2, 4, 8, 16, 32]).scale == "log2"
