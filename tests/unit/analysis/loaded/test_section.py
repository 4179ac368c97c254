import math

import pytest
from tests.unit.analysis.cells import rows, value
from tests.unit.analysis.loaded.runs import CLOCK_NS, DELAYS, IDLE_NS, Traffic, cores, loaded_run
from tests.unit.analysis.runs import system

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.loaded.charts import MOST_LINES
from memgauge.analysis.loaded.figures import LoadedCurve, loaded_curves, read_share_text
from memgauge.analysis.loaded.section import analyse
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Section
from memgauge.model.run import Run
from memgauge.model.system import Cpu

FAMILY = [
    Traffic(),
    Traffic(order="random", peak_gb_per_s=30.0),
    *(
        Traffic(read_share=share, store=store, peak_gb_per_s=peak - 10 * (1 - share))
        for share in (0.75, 0.5, 0.0)
        for store, peak in (("temporal", 36.0), ("non-temporal", 48.0))
    ),
]


@pytest.fixture(scope="module")
def run() -> Run:
    return loaded_run(FAMILY)


@pytest.fixture(scope="module")
def section(run: Run) -> Section:
    return analyse(figures_of(run))


def one_curve(traffic: Traffic, **changes: object) -> LoadedCurve:
    (curve,) = loaded_curves(figures_of(loaded_run([traffic], **changes)))  # type: ignore[arg-type]
    return curve


def texts(section: Section) -> str:
    return "\n".join(verdict.text for verdict in section.verdicts)


def test_a_curve_runs_from_the_longest_delay_to_none_with_what_was_put_in() -> None:
    traffic = Traffic()
    curve = one_curve(traffic)
    assert [point.delay for point in curve.points] == sorted(DELAYS, reverse=True)
    for point in curve.points:
        gb_per_s, ns = traffic.at(point.delay)
        assert value(point.bandwidth) == pytest.approx(gb_per_s, rel=0.005)
        assert value(point.latency) == pytest.approx(ns, rel=0.005)
        assert value(point.in_flight) == pytest.approx(gb_per_s * ns / 64, rel=0.01)
        assert point.in_flight_moved is None
        assert point.delay_ns == 1.5 * point.delay
    assert curve.unloaded is not None
    assert curve.unloaded.delay == 20_000
    assert curve.saturated.delay == 0
    assert curve.full_speed is curve.points[-1]


def test_the_knee_of_the_curve_lies_where_the_formula_has_it() -> None:
    """Of 1 / (1 - load) from load a to b: at 1 - sqrt((1 - a) (1 - b))."""
    curve = one_curve(Traffic())
    assert curve.knee.bandwidth is not None
    low, high = 0.96 / (1 + 20_000 / 50), 0.96
    assert curve.knee.bandwidth.low <= 50 * (1 - math.sqrt((1 - low) * (1 - high)))
    assert curve.knee.bandwidth.high >= 50 * (1 - math.sqrt((1 - low) * (1 - high)))
    assert curve.at_knee is not None
    assert curve.at_knee.bandwidth.value == curve.knee.bandwidth.value


def test_single_loads_are_pooled_and_the_clock_is_taken_off() -> None:
    """Three of four loads take up to the walk's time, one three times it."""
    curve = one_curve(Traffic(), noise=0.0)
    assert CLOCK_NS > 0
    for point in curve.points:
        walk = point.latency.value
        assert point.times.loads == 40 * 200
        assert point.times.p50 is not None
        assert 0.89 * walk < point.times.p50.value < 1.01 * walk
        assert value(point.times.p99) == pytest.approx(3 * walk, abs=1)


def test_ordinary_stores_move_and_hold_more_lines_than_are_counted() -> None:
    curve = one_curve(Traffic(read_share=0.5, store="temporal"))
    for point in curve.points:
        assert value(point.moved) == pytest.approx(1.5 * value(point.bandwidth), rel=1e-6)
        assert value(point.in_flight_moved) == pytest.approx(1.5 * value(point.in_flight), rel=1e-6)
    past = one_curve(Traffic(read_share=0.5, store="non-temporal"))
    assert all(point.in_flight_moved is None for point in past.points)


def test_each_distance_of_a_team_has_its_own_curve() -> None:
    run = loaded_run([Traffic(generators=1)], far_share=0.4, rounds=60)
    near, far = loaded_curves(figures_of(run))
    assert near.regime.startswith("same complex (27 ns)")
    assert far.regime.startswith("across complexes (175 ns)")
    assert len(near.points) == len(far.points) == len(DELAYS)
    for slow, fast in zip(near.points, far.points, strict=True):
        assert fast.bandwidth.value == pytest.approx(2 * slow.bandwidth.value, rel=0.01)
        assert slow.times.loads + fast.times.loads == 60 * 200
    section = analyse(figures_of(run))
    assert {chart.name for chart in section.charts} == {
        "loaded-sequential-same-complex",
        "loaded-sequential-across-complexes",
    }
    assert len({v.text for v in section.verdicts if v.level == "good"}) == 2


def test_a_regime_hardly_seen_is_no_curve() -> None:
    run = loaded_run([Traffic(generators=1)], far_share=0.03, rounds=40)
    for curve in loaded_curves(figures_of(run)):
        assert all(point.samples >= 3 for point in curve.points)


def test_the_table_has_a_row_for_each_curve_and_fits_a_terminal(section: Section) -> None:
    table, points = section.tables
    found = rows(table)
    assert len(found) == len(FAMILY)
    assert [row["traffic"] for row in found[:4]] == [
        "all reads",
        "all reads, random",
        "75% reads",
        "75% reads, NT",
    ]
    for row, traffic in zip(found, FAMILY, strict=True):
        assert value(row["idle"]) == pytest.approx(IDLE_NS, rel=0.01)
        assert value(row["most"]) == pytest.approx(traffic.at(0)[0], rel=0.01)
        assert row["of most"] == pytest.approx(value(row["knee"]) / value(row["most"]))
        assert (row["stores"], row["order"]) == (traffic.store, traffic.order)
    assert sum(column.narrow for column in table.columns) <= 6
    assert len(points.rows) == len(FAMILY) * len(DELAYS)
    assert not any(column.narrow for column in points.columns)


def test_the_verdicts_lead_with_latency_knee_and_what_stores_cost(section: Section) -> None:
    first, second, third = section.verdicts[:3]
    assert first.level == "good"
    assert first.text.startswith("A load from memory takes 120 ns without load and 40")
    assert "while others move 48.0 GB/s" in first.text
    assert second.text.startswith("The knee is at 40.0 GB/s, 83% of the most (between 30.")
    assert "lines in flight" in second.text
    assert third.text.startswith("Non-temporal stores reach 1.46 times the bandwidth of ordinary")
    assert "(all writes, sequential, 7 generators)" in third.text
    assert "if each line is read before it is written, 25.0 GB/s of these move 49.9" in third.text


def test_generators_that_do_not_saturate_are_said_and_no_knee_is_made_up() -> None:
    section = analyse(figures_of(loaded_run([Traffic(bends=False)])))
    assert "These generators do not saturate the memory" in texts(section)
    (row,) = rows(section.tables[0])
    assert (row["knee"], row["of most"], row["lines"]) == (None, None, None)
    assert row["knee is"] == "none"
    assert section.charts[0].marks == []


def test_where_all_reads_do_not_saturate_the_knee_of_another_load_is_told() -> None:
    writes = Traffic(read_share=0.0, store="non-temporal", peak_gb_per_s=30.0)
    section = analyse(figures_of(loaded_run([Traffic(bends=False), writes])))
    knees = [v.text for v in section.verdicts if v.text.startswith("The knee is at 24.")]
    assert len(knees) == 1
    assert knees[0].endswith("(all writes, non-temporal stores, sequential, 7 generators).")


@pytest.mark.parametrize("bends", [True, False])
@pytest.mark.parametrize("noise", [0.004, 0.02])
def test_other_rounds_of_the_same_machine_flip_no_verdict(bends: bool, noise: float) -> None:
    """Figures differ by what their intervals allow: knees overlap, and none is made up."""
    knees = [
        one_curve(Traffic(bends=bends), noise=noise, seed=seed, rounds=25).knee
        for seed in range(10)
    ]
    assert {knee.status for knee in knees} == ({"knee"} if bends else {"none"})
    found = [knee.bandwidth for knee in knees if knee.bandwidth is not None]
    assert all(a.low <= b.value <= a.high for a in found for b in found)


def test_few_delays_show_no_knee() -> None:
    section = analyse(figures_of(loaded_run([Traffic(delays=(0, 20_000))])))
    assert "2 delays are too few to find a knee" in texts(section)
    assert section.charts == []


def test_a_longest_delay_that_still_loads_gives_no_unloaded_latency() -> None:
    section = analyse(figures_of(loaded_run([Traffic(delays=(0, 5, 10, 20, 40))])))
    assert rows(section.tables[0])[0]["idle"] is None
    assert "no unloaded latency is given" in texts(section)
    assert "without load" not in texts(section)


def test_a_mix_issued_otherwise_than_asked_is_said() -> None:
    section = analyse(
        figures_of(loaded_run([Traffic(read_share=0.5, issued=0.4, store="temporal")]))
    )
    assert "1 mix was issued otherwise than requested" in texts(section)
    assert "40.0% reads for 50% reads" in texts(section)


def test_where_adding_generators_stops_paying() -> None:
    """Ten GB/s each, and at most 40 together."""
    counts = range(1, 8)
    teams = [
        Traffic(generators=n, peak_gb_per_s=min(10.0 * n, 40.0), delays=(0, 20_000)) for n in counts
    ]
    section = analyse(figures_of(loaded_run(teams, of=cores(8))))
    assert "hardly beyond" in texts(section)
    assert "4 threads" in texts(section)
    chart = next(chart for chart in section.charts if chart.name == "loaded-scaling")
    assert chart.series[0].x == [float(n) for n in counts]
    assert chart.bands == []


def test_generators_beside_the_probe_on_its_core_are_told_apart() -> None:
    """Four cores of two threads: the fourth generator is the first to share a core."""
    cpus = [Cpu(cpu=n, core=n % 4, socket=0, node=0, sibling=n // 4) for n in range(8)]
    shared = system(cpus=cpus, allowed_cpus=list(range(8)))
    teams = [
        Traffic(generators=n, peak_gb_per_s=9.0 * min(n, 3), delays=(0, 20_000))
        for n in range(1, 8)
    ]
    section = analyse(figures_of(loaded_run(teams, of=shared)))
    chart = next(chart for chart in section.charts if chart.name == "loaded-scaling")
    assert [band.label for band in chart.bands] == ["cores", "hardware threads"]
    assert 3 < chart.bands[0].end < 4


def test_families_hold_all_reads_beside_one_kind_of_stores(section: Section) -> None:
    names = [chart.name for chart in section.charts]
    assert names == [
        "loaded-sequential-temporal",
        "loaded-sequential-non-temporal",
        "loaded-random",
    ]
    for chart in section.charts[:2]:
        assert [s.name for s in chart.series] == [
            "all reads",
            "75% reads",
            "50% reads",
            "all writes",
        ]
        assert [mark.label for mark in chart.marks] == [f"knee, {s.name}" for s in chart.series]
        for series in chart.series:
            assert series.notes is not None
            assert series.notes[0] == "delay 20000 (30000 ns)"
            assert series.notes[-1] == "delay 0 (0 ns)"
            assert len(series.x) == len(series.y) == len(series.notes)
            assert series.x[0] == min(series.x)
    assert [mark.label for mark in section.charts[2].marks] == ["knee"]


def test_a_fine_family_is_thinned_to_lines_that_can_be_told_apart() -> None:
    shares = [at / 10 for at in range(10, -1, -1)]
    fine = [Traffic(read_share=s, store=None if s == 1 else "temporal") for s in shares]
    (chart,) = analyse(figures_of(loaded_run(fine, rounds=8))).charts
    names = [series.name for series in chart.series]
    assert len(names) == MOST_LINES
    assert (names[0], names[-1]) == ("all reads", "all writes")
    assert chart.note is not None
    assert "the mixes between" in chart.note


def test_all_reads_by_several_full_teams_are_a_picture_of_their_own() -> None:
    teams = [Traffic(generators=n, peak_gb_per_s=10.0 * n) for n in (1, 4)]
    charts = {chart.name: chart for chart in analyse(figures_of(loaded_run(teams))).charts}
    assert set(charts) == {"loaded-sequential", "loaded-generators-sequential"}
    names = [series.name for series in charts["loaded-generators-sequential"].series]
    assert names == ["1 generator", "4 generators"]


def test_a_run_without_pairs_says_that_nothing_was_measured() -> None:
    run = loaded_run([Traffic()], rounds=0)
    assert texts(analyse(figures_of(run))) == "No latency under load was measured."
    assert [section.name for section in analyse_run(run).sections] == ["loaded"]


def test_mixes_in_words() -> None:
    assert [read_share_text(share) for share in (1.0, 2 / 3, 0.5, 0.0)] == [
        "all reads",
        "66.7% reads",
        "50% reads",
        "all writes",
    ]
