"""Traffic by formula: what is found of it, and what is said."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec
import pytest
from tests.unit.analysis.traffic import runs as made
from tests.unit.analysis.traffic.runs import MIB, SIZES, Noise, gemm_in, gemm_point, machine

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.report.document import json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Section, Verdict
from memgauge.analysis.traffic.departures import Departure, departures, place
from memgauge.analysis.traffic.figures import Curve, curves_of
from memgauge.analysis.traffic.measured import MEASURED
from memgauge.analysis.traffic.section import analyse
from memgauge.model.cache_machine import CacheLevel, Prefetchers, StoreStreams
from memgauge.model.record_kinds.simulated import Simulated
from memgauge.model.records import Point
from memgauge.model.run import Run
from memgauge.reports.charts.files import vega_lite
from memgauge.reports.terminal.report import render

IN_5_MIB = 5 * MIB


def gemm_run(sizes: Sequence[int] = SIZES, threads: int = 1, **changes: object) -> Run:
    """On a machine whose model says what counters count."""
    points = [gemm_point(size, threads) for size in sizes]
    fields: dict[str, object] = {
        "machines": [machine()],
        "predictions": [gemm_in(point, IN_5_MIB) for point in points],
        "counted": lambda point: both(gemm_in(point, IN_5_MIB)),
    }
    return made.run(points, **(fields | changes))  # type: ignore[arg-type]


def both(one: Simulated) -> tuple[float, float]:
    """Reads and writes of one core."""
    return one.read_bytes / one.cores, one.write_bytes / one.cores


def only(run: Run) -> Curve:
    (curve,) = curves_of(figures_of(run))
    return curve


def section(run: Run) -> Section:
    return analyse(figures_of(run))


def said(run: Run, word: str) -> Verdict:
    """The one verdict that holds a word."""
    (found,) = [one for one in section(run).verdicts if word in one.text]
    return found


# Figures


def test_figures_are_of_one_execution_by_one_core() -> None:
    for threads in (1, 2):
        curve = only(gemm_run(threads=threads))
        for result in curve.results[:5]:
            square = 8 * result.size**2
            assert result.expected.read_bytes == 3 * square
            assert result.moved("this", "reads") == 3 * square
            assert result.moved(MEASURED, "reads") == pytest.approx(3 * square, rel=0.15)
            assert result.per_element(3 * square) == 3.0


def test_idle_traffic_is_taken_off() -> None:
    noise = Noise(idle_bytes_per_s=1e9, spread=0.0)
    curve = only(gemm_run((800,), noise=noise))
    flow = curve.results[0].flow("reads")
    assert flow is not None
    assert flow.bytes.value == pytest.approx(3 * 8 * 800**2, rel=0.03)
    assert flow.idle_share == pytest.approx(5e7 / (5e7 + 10 * 3 * 8 * 800**2), rel=0.1)


def test_the_least_and_the_most_of_the_regions_stand_around_the_median() -> None:
    flow = only(gemm_run((800,), noise=Noise(spread=0.05))).results[0].flow("reads")
    assert flow is not None
    assert flow.least <= flow.bytes.low <= flow.bytes.value <= flow.bytes.high <= flow.most
    assert flow.most > 1.02 * flow.least


def test_nothing_is_measured_without_counters() -> None:
    run = gemm_run(counted=None)
    curve = only(run)
    assert curve.sources == ["this"]
    assert all(result.moved(MEASURED, "reads") is None for result in curve.results)
    assert "There is no measured column" in said(run, "measured column").text
    titles = [column.title for table in section(run).tables for column in table.columns]
    assert not any("measured" in title for title in titles)


# Departures


def test_a_departure_begins_where_the_ratio_stays_above() -> None:
    (found,) = departures(only(gemm_run()), "this")
    assert (found.direction, found.above, found.first, found.before) == ("reads", True, 1024, 800)
    assert found.ratio == pytest.approx((2 + 8 * 1024) / 3)


def test_a_size_that_stands_alone_is_no_departure() -> None:
    points = [gemm_point(size) for size in SIZES]
    room = {256: 0}
    predictions = [
        gemm_in(point, room.get(int(str(point.requested["size"])), 1 << 40)) for point in points
    ]
    run = gemm_run(predictions=predictions, counted=None)
    assert departures(only(run), "this") == []
    assert (
        "but for N = 256 (reads 683 times at N = 256, where addresses a power"
        in said(run, "Simulated on").text
    )


def test_a_size_that_stands_alone_is_named_beside_a_departure_too() -> None:
    points = [gemm_point(size) for size in SIZES]
    room = {256: 0, 1024: 0}
    predictions = [
        gemm_in(point, room.get(int(str(point.requested["size"])), 1 << 40)) for point in points
    ]
    run = gemm_run(predictions=predictions, counted=None)
    (found,) = departures(only(run), "this")
    assert found.first == 1024
    text = said(run, "Simulated on").text
    assert "from N = 1024 on" in text
    assert "smaller sizes are off, and larger ones return: N = 256 (reads 683 times at" in text


@pytest.mark.parametrize(
    ("before", "first", "where"),
    [
        (448, 512, "inside"),
        (800, 1024, "inside"),
        (384, 440, "before"),
        (384, 448, "inside"),
        (None, 440, "before"),
        (None, 512, "inside"),
        (None, 1024, None),
        (832, 1024, "behind"),
    ],
)
def test_a_departure_stands_beside_the_band(
    before: int | None, first: int, where: str | None
) -> None:
    found = Departure(
        source="this",
        direction="reads",
        above=True,
        first=first,
        ratio=2.0,
        before=before,
        most=first,
        most_ratio=2.0,
    )
    assert place(found, (467, 809)) == where


# The study's numbers


def test_gemm_in_5_mib_ends_caching_from_467_to_809() -> None:
    band = only(gemm_run()).band("this")
    assert band is not None
    assert (band.all_fit, band.one_fits) == (467, 809)


def test_the_second_nest_of_s1cf_ends_caching_at_724_on_a_grid_of_2_by_4() -> None:
    points = [made.resort_point("s1cf-second", size, ["tmp", "out"]) for size in (512, 1024)]
    curve = only(made.run(points, machines=[machine()]))
    band = curve.band_for(IN_5_MIB)
    assert band is not None
    assert band.all_fit == 724


# Readings of what was simulated


def test_a_departure_inside_the_band_is_good_and_says_which_array() -> None:
    found = said(gemm_run(), "Simulated on this machine")
    assert found.level == "good"
    assert (
        "reads (2,731 times at N = 1024) lie above the expectation from N = 1024 on" in found.text
    )
    assert "as caching ends (at N = 467 to 809)" in found.text
    assert "From N = 1024 on B is read 8,192 times" in found.text
    assert "64 B are read for each element of 8 B" in found.text
    assert "Each line is read before it is stored (write-allocate, 1.00 B" in found.text


def test_a_departure_before_the_band_is_warned_of() -> None:
    points = [gemm_point(size) for size in SIZES]
    run = gemm_run(predictions=[gemm_in(point, MIB // 4) for point in points], counted=None)
    found = said(run, "Simulated on this machine")
    assert found.level == "warning"
    assert "before N = 467 to 809, where caching ends" in found.text


def test_conflicts_are_suspected_where_there_is_room() -> None:
    points = [gemm_point(size) for size in (96, 160, 256)]
    predictions = [gemm_in(point, 8 * 200**2) for point in points]
    text = said(gemm_run(predictions=predictions, sizes=(96, 160, 256), counted=None), "Simu").text
    assert (
        "N = 256 is a multiple of 256, and addresses a power of two apart may meet in few" in text
    )
    assert "its stride is longer" not in text


def test_stores_that_bypass_are_said_to() -> None:
    run = copies(lambda point, half: {"allocated": 0.0, "written": 0.0, "bypassed": half})
    text = said(run, "Simulated on this machine").text
    assert "Stores bypass the caches (100% of what is written): nothing is read for them" in text


def test_stores_that_are_prefetched_are_said_to() -> None:
    run = copies(lambda point, half: {"prefetched": half, "written": half})
    text = said(run, "Simulated on this machine").text
    assert "software prefetch reads the lines that are stored next (1.00 B for each B" in text


def test_stores_that_change_their_ways_are_told_by_size() -> None:
    def stores(point: Point, half: float) -> dict[str, float]:
        if int(str(point.requested["size"])) < 512:
            return {"allocated": half, "written": half}
        return {"written": 0.0, "bypassed": half}

    text = said(copies(stores), "Simulated on this machine").text
    assert "N = 128 to 256: each line is read before it is stored" in text
    assert "N = 512 to 1024: stores bypass the caches" in text


def copies(stores: object, **changes: object) -> Run:
    """S1CF's first loop nest, whose stores are treated as said."""
    points = [
        made.resort_point("s1cf-first", size, ["in", "tmp"]) for size in (128, 256, 512, 1024)
    ]
    streams = machine(store_streams=StoreStreams(lines=2))
    predictions = []
    for point in points:
        half = float(str(point.actual["in_bytes"]))
        arrays = {"in": half, "tmp": 0.0}
        more = stores(point, half)  # type: ignore[operator]
        predictions.append(made.simulated(point, arrays=arrays, **more))
    return made.run(points, machines=[streams], predictions=predictions, **changes)  # type: ignore[arg-type]


def test_a_stride_past_the_caches_takes_a_line_for_each_element() -> None:
    points = [
        made.resort_point("s1cf-second", size, ["tmp", "out"]) for size in (512, 640, 768, 1024)
    ]
    predictions = []
    for point in points:
        own = float(str(point.actual["tmp_bytes"]))
        lines = 4.0 if int(str(point.requested["size"])) > 724 else 1.0
        arrays = {"tmp": own * lines, "out": 0.0}
        predictions.append(made.simulated(point, arrays=arrays, allocated=own, written=own))
    run = made.run(points, machines=[machine()], predictions=predictions)
    text = said(run, "Simulated on this machine").text
    assert "From N = 768 on tmp is read 4.00 times" in text
    assert "64 B are read for each element of 16 B" in text
    assert "as caching ends (at N = 724 to 809)" in text
    each = only(run).results[-1]
    assert each.per_element(each.moved("this", "reads") or 0) == 5.0


def test_idle_cores_that_lend_their_slices_are_named() -> None:
    level = CacheLevel(name="L3", bytes=10 * MIB, ways=20, cores=2, borrows_idle=True)
    lender = machine(levels=[level], machine_cores=22)
    points = [gemm_point(size) for size in (512, 1024, 1536)]
    predictions = [gemm_in(point, 110 * MIB) for point in points]
    run = made.run(points, machines=[lender], predictions=predictions)
    text = said(run, "Simulated on this machine").text
    assert "up to N = 1536 reads stay on the expectation" in text
    assert "slices of 21 idle cores hold what its own 10 MiB do not" in text.lower().replace(
        "mib", "MiB"
    )
    assert "where caching would end at N = 660 to 1144" in text


def test_prefetchers_that_read_beyond_are_said_to() -> None:
    points = [gemm_point(size) for size in (128, 256)]
    run = made.run(
        points,
        machines=[machine(prefetchers=Prefetchers(next_line=True))],
        predictions=[
            msgspec.structs.replace(
                gemm_in(point, IN_5_MIB),
                hardware_prefetch_read_bytes=int(str(point.requested["size"])) ** 2,
            )
            for point in points
        ],
    )
    text = said(run, "Simulated").text
    assert "Prefetchers ask for 4% of what is read at N = 256" in text
    assert "1.04 times the expectation: they read beyond what is used" in text


# Readings of what was measured


def test_too_little_work_is_told_with_what_drowns_it() -> None:
    run = gemm_run((32, 800), noise=Noise(idle_bytes_per_s=1e8))
    found = said(run, "Too little work")
    assert found.level == "warning"
    assert "reads and writes at N = 32: at N = 32 a region lasts 50.0 ms" in found.text
    assert departures(only(run), MEASURED) == []


def test_regions_that_are_all_set_aside_are_told() -> None:
    run = gemm_run((64, 512))
    (name, *_), samples = run.points, run.samples
    samples[name][:] = [
        msgspec.structs.replace(
            sample,
            threads=[msgspec.structs.replace(one, page_faults=99) for one in sample.threads],
        )
        for sample in samples[name]
    ]
    found = said(run, "no region can be used")
    assert found.text.startswith("At N = 64 no region can be used: pages came and went in each")
    assert only(run).results[0].moved(MEASURED, "reads") is None


def test_write_allocate_is_told_from_counts() -> None:
    text = said(gemm_run(), "Measured (5").text
    assert "Each line is read before it is stored (write-allocate): 1.0" in text


def test_stores_that_bypass_are_told_from_counts() -> None:
    def evaded(point: Point) -> tuple[float, float]:
        square = 8.0 * int(str(point.requested["size"])) ** 2
        return 2 * square, square

    text = said(gemm_run((256, 512), counted=evaded), "Measured (5").text
    assert "lie below the expectation from N = 256 on" in text
    assert "Stores bypass the caches, or their lines are not read first" in text


def test_more_cache_than_a_share_is_told_from_counts() -> None:
    run = gemm_run(counted=lambda point: both(gemm_in(point, 110 * MIB)))
    text = said(run, "Measured (5").text
    assert "past N = 467 to 809, where caching ends" in text
    assert "it uses more of the caches than its share, such as slices of idle cores" in text


def test_a_line_for_each_trip_is_told_from_counts() -> None:
    text = said(gemm_run(), "Measured (5").text
    assert "are read for each trip of the innermost loop, about a line of 64 B" in text


# Simulated against measured


def test_agreement_is_said() -> None:
    found = [one for one in section(gemm_run()).verdicts if one.text.startswith("Measured reads")]
    assert [(one.level, "within 10%" in one.text) for one in found] == [("good", True)]


def test_caches_that_hold_less_than_modelled_are_suspected() -> None:
    run = gemm_run(counted=lambda point: both(gemm_in(point, 2 * MIB)))
    found = said(run, "Measured reads differ")
    assert found.level == "warning"
    assert "seem to hold less than its model's" in found.text


def test_caches_that_hold_more_than_modelled_are_suspected() -> None:
    run = gemm_run(counted=lambda point: both(gemm_in(point, 110 * MIB)))
    assert "seem to hold more than its model's" in said(run, "Measured reads differ").text


# Tables and pictures


@pytest.mark.parametrize("counted", [False, True])
def test_tables_of_many_machines_fit_a_terminal(counted: bool) -> None:
    names = ["this", "power9-5mb", "power9-110mb", "xeon-gold-6130"]
    points = [gemm_point(size) for size in SIZES]
    run = made.run(
        points,
        machines=[machine(name) for name in names],
        predictions=[gemm_in(point, IN_5_MIB, name) for point in points for name in names],
        counted=(lambda point: both(gemm_in(point, IN_5_MIB))) if counted else None,
    )
    text = render(analyse_run(run), 80)
    assert max(map(len, text.splitlines())) <= 80
    assert "N: 64" not in text, "a table too wide is written cell by cell"
    rows = [line for line in text.splitlines() if line.lstrip().startswith("1024 ")]
    tables = 4 if counted else 2
    assert len(rows) == 2 * tables, "of reads and of writes"
    assert sum("8194" in line for line in rows) == tables


def test_a_narrow_terminal_shows_reads_writes_and_their_ratios_by_size() -> None:
    names = ["this", "power9-5mb"]
    points = [gemm_point(size) for size in SIZES]
    run = made.run(
        points,
        machines=[machine(name) for name in names],
        predictions=[gemm_in(point, IN_5_MIB, name) for point in points for name in names],
    )
    text = render(analyse_run(run), 60)
    assert max(map(len, text.splitlines())) <= 60
    words = " ".join(text.split())
    assert "gemm, 1 core: elements of 8 B read per element of the result" in words
    assert "gemm, 1 core: elements of 8 B written per element of the result" in words
    rows = [line.split() for line in text.splitlines()]
    assert ["1024", "3.00", "8194", "2731", "8194", "2731"] in rows
    assert ["1024", *["1.00"] * 5] in rows
    assert words.count("Ratio: of the figure before it to the expectation.") == 1


def only_simulated(*missing: int, executed: bool = False) -> Run:
    """Without measurements; of `missing` sizes nothing was simulated either."""
    points = [
        gemm_point(size, cpus="0") if executed else gemm_point(size, regions=0) for size in SIZES
    ]
    found = [gemm_in(p, IN_5_MIB) for p in points if p.requested["size"] not in missing]
    return made.run(points, machines=[machine()], predictions=found)


def test_where_nothing_is_run_nothing_is_said_of_what_may_disturb_it() -> None:
    assert analyse_run(only_simulated(executed=True)).verdicts, "huge pages at least"
    assert analyse_run(only_simulated()).verdicts == []


def test_how_much_of_what_was_asked_was_simulated_is_told() -> None:
    whole, part, none = (
        analyse_run(only_simulated(*missing)) for missing in ((), SIZES[-2:], SIZES)
    )
    assert whole.status.startswith("complete; 8 of 8 simulations; nothing was run")
    assert part.status.startswith("ended by --simulate-up-to; 6 of 8 simulations")
    assert none.status.startswith("ended by --simulate-up-to; 0 of 8 simulations")
    assert "round" not in whole.status
    texts = [verdict.text for one in (none,) for verdict in one.sections[0].verdicts]
    assert "Nothing was simulated." in texts
    assert not any("ended while it prepared" in verdict.text for verdict in none.verdicts)


def test_sizes_that_were_not_executed_are_named_where_nothing_counts() -> None:
    found = said(only_simulated(executed=True), "gemm, 1 core: not executed before")
    assert found.level == "note"
    assert "N = 64, 128" in found.text
    assert "only their speed is missing" in found.text
    nothing_run = section(only_simulated()).verdicts
    assert not any("not executed" in verdict.text for verdict in nothing_run)


def test_a_picture_has_both_ways_of_each_source_and_what_is_expected() -> None:
    (chart,) = section(gemm_run()).charts
    assert [one.name for one in chart.series] == [
        *("reads simulated on this machine", "writes simulated on this machine"),
        *("measured reads", "measured writes", "expected reads", "expected writes"),
    ]
    assert [one.dashed for one in chart.series] == [False] * 4 + [True] * 2
    (band,) = chart.bands
    assert (band.start, band.end) == (467.0, 809.0)
    measured = chart.series[2]
    assert measured.low is not None
    assert measured.high is not None
    around = zip(measured.low, measured.y, measured.high, strict=True)
    assert all((low or 0) < (y or 0) < (high or 0) for low, y, high in around)
    assert chart.y.unit == "B"
    known = json.dumps(vega_lite(chart))
    assert "least and most of the regions" in known
    assert "95% interval" not in known


def test_a_resort_is_drawn_in_elements() -> None:
    (chart,) = section(copies(lambda point, half: {"allocated": half, "written": half})).charts
    assert "Elements of 16 B moved" in chart.y.title
    assert chart.y.from_zero
    assert [one.y[0] for one in chart.series] == [2.0, 1.0, 2.0, 1.0]


def test_a_document_has_all_three_columns() -> None:
    (found,) = json_document(gemm_run()).traffic
    assert (found.kernel, found.cores) == ("gemm", 1)
    assert [one.source for one in found.sources] == ["this", "measured"]
    assert [(one.all_fit, one.one_fits) for one in found.sources] == [(467, 809)] * 2
    (gone,) = found.sources[0].departures
    assert (gone.first, gone.place) == (1024, "inside")
    last = found.sizes[-1]
    assert last.expected.read_bytes == 3 * 8 * 1024**2
    assert last.simulated[0].array_read_bytes["B"] == 64 * 1024**3
    assert last.measured is not None
    assert last.measured.read is not None
    assert last.measured.read.to_expected == pytest.approx(2731, rel=0.02)
