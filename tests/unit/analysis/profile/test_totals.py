"""Totals: every counter's, of the run and of regions; ranges where sampling is too slow."""

from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.profile.runs import (
    MS,
    Made,
    Rate,
    S,
    counter,
    cpu_time,
    every,
    of_process,
    profile,
    ran,
    reads,
    sampled,
    steps,
    writes,
)

from memgauge.analysis.profile.document import profile_figures
from memgauge.analysis.profile.phases import roles_of
from memgauge.analysis.profile.section import profile_of
from memgauge.analysis.profile.timeline import Timeline
from memgauge.analysis.profile.totals import Total, bounded, merged, seconds_in
from memgauge.analysis.profile.totals_tables import Marked, marked_of, whole_of
from memgauge.analysis.profile.usage import beside_of, peak_of
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Table
from memgauge.model.counting.events import Counter
from memgauge.model.record_kinds.programs import Region, ThreadUse, Usage
from memgauge.model.records import Environment
from memgauge.model.run import Run, run_of

SPANS = st.lists(
    st.tuples(st.integers(0, 100), st.integers(0, 100)).map(lambda ends: (min(ends), max(ends)))
)


def of_core(name: str, slot: int) -> Counter:
    quantity = {"cycles": "cycles", "instructions": "instructions"}.get(name, "count")
    if name.startswith("flops"):
        quantity = "flops"
    return counter(
        f"perf:{name}@thread 77",
        slot,
        quantity=quantity,
        domain="core",
        scope="thread",
        unit="",
        scale=float(name.partition("-")[2]) if quantity == "flops" else 1.0,
        socket=None,
    )


def constant(rate: float) -> Rate:
    return lambda _: rate


def timeline_of(run: Run) -> Timeline:
    timeline = profile_of(run).timeline
    assert timeline is not None
    return timeline


def by_name(totals: list[Total]) -> dict[str, Total]:
    return {total.name: total for total in totals}


def marked(run: Run) -> dict[str, Marked]:
    timeline = timeline_of(run)
    return {one.name: one for one in marked_of(timeline, roles_of(timeline))}


def table(run: Run, name: str) -> Table:
    (section,) = analyse_run(run).sections
    return next(one for one in section.tables if one.name == name)


def busy(directory: Path, regions: list[Region]) -> Run:
    """One core busy for a second, which reads 1 GB/s."""
    counters = [cpu_time(0), reads(1)]
    samples = sampled([lambda _: 1e9, lambda _: 1e9 / 64], counters, every(10 * MS, S))
    return profile(directory, Made(counters, samples), regions=regions, process=ran(1.0))


@given(SPANS)
def test_merged_spans_cover_each_moment_once(spans: list[tuple[int, int]]) -> None:
    made = merged(spans)
    assert made == sorted(made)
    assert all(one[1] < other[0] for one, other in pairwise(made))
    inside = {at for begin, end in spans for at in range(begin, end)}
    assert {at for begin, end in made for at in range(begin, end)} == inside


def test_a_region_in_three_threads_is_not_the_process_three_times(tmp_path: Path) -> None:
    regions = [
        Region(name="work", pid=77, tid=tid, begin_ns=at, end_ns=at + 400 * MS, cpu_ns=100 * MS)
        for tid, at in ((1, 100 * MS), (2, 200 * MS), (3, 300 * MS))
    ]
    one = marked(busy(tmp_path, regions))["work"]
    assert (one.times, one.threads) == (3, 3)
    assert one.lasts_s == pytest.approx(0.6)
    assert one.threads_s == pytest.approx(1.2)
    assert one.cpu_s == pytest.approx(0.3)
    assert by_name(one.totals)["CPU time"].counted.total == pytest.approx(0.6, rel=1e-3)
    assert by_name(one.totals)["memory read"].counted.total == pytest.approx(0.6e9, rel=1e-3)


def test_a_region_inside_one_of_its_name_adds_no_time_of_its_thread(tmp_path: Path) -> None:
    regions = [
        Region(name="solve", pid=77, tid=1, begin_ns=0, end_ns=500 * MS, cpu_ns=400 * MS),
        Region(name="solve", pid=77, tid=1, begin_ns=100 * MS, end_ns=200 * MS, cpu_ns=90 * MS),
    ]
    one = marked(busy(tmp_path, regions))["solve"]
    assert one.times == 2
    assert one.threads_s == pytest.approx(0.5)
    assert one.cpu_s == pytest.approx(0.4)


def test_time_of_threads_is_unknown_where_a_mark_lacks_it(tmp_path: Path) -> None:
    regions = [Region(name="solve", pid=77, tid=1, begin_ns=0, end_ns=500 * MS)]
    assert marked(busy(tmp_path, regions))["solve"].cpu_s is None


def test_totals_of_the_run_have_rates_and_shares(tmp_path: Path) -> None:
    names = ("cycles", "instructions", "branches", "branch-misses")
    counters = [cpu_time(0), *(of_core(name, at) for at, name in enumerate(names, start=1))]
    rates = [constant(rate) for rate in (0.5e9, 3e9, 6e9, 1e9, 2e7)]
    samples = sampled(rates, counters, every(10 * MS, 2 * S))
    run = profile(tmp_path, Made(counters, samples), process=ran(2.0))
    timeline = timeline_of(run)
    found = by_name(whole_of(timeline, roles_of(timeline)))
    assert found["instructions"].counted.total == pytest.approx(12e9, rel=1e-3)
    assert found["instructions"].per_s == pytest.approx(6e9, rel=1e-3)
    assert found["instructions"].ratio == pytest.approx(2.0, rel=1e-3)
    assert found["branch-misses"].ratio == pytest.approx(0.02, rel=1e-3)
    assert found["CPU time"].per_s == pytest.approx(0.5, rel=1e-3)
    rows = {row[0]: row for row in table(run, "profile-totals").rows}
    assert rows["instructions"][4] == "2.00 per cycle"
    assert rows["branch-misses"][4] == "2.00% of branches"
    assert rows["CPU time"][3] == "0.50 cores"


@pytest.mark.parametrize("has_traffic", [False, True])
def test_floating_point_operations_are_added_over_widths(has_traffic: bool, tmp_path: Path) -> None:
    """8 of a vector and 1 of a scalar instruction; for each byte, else for each cycle."""
    counters = [of_core("cycles", 0), of_core("flops-1", 1), of_core("flops-8", 2)]
    rates = [constant(2e9), constant(1e9), constant(5e8)]
    if has_traffic:
        counters += [reads(3), writes(4)]
        rates += [constant(1e9 / 64), constant(1e9 / 64)]
    samples = sampled(rates, counters, every(10 * MS, 2 * S))
    run = profile(tmp_path, Made(counters, samples), process=ran(2.0))
    timeline = timeline_of(run)
    found = by_name(whole_of(timeline, roles_of(timeline)))["floating-point operations"]
    assert found.group == "flops"
    assert found.counted.total == pytest.approx(10e9, rel=1e-3)
    assert found.ratio == pytest.approx(2.5, rel=1e-3)
    assert found.ratio_of == ("per byte of memory traffic" if has_traffic else "per cycle")


def test_the_terminal_has_every_column_of_totals(tmp_path: Path) -> None:
    run = busy(tmp_path, [Region(name="work", pid=77, tid=1, begin_ns=0, end_ns=S // 2)])
    (section,) = analyse_run(run).sections
    totals = [
        one for one in section.tables if one.name.startswith(("profile-totals", "profile-re"))
    ]
    assert len(totals) > 2
    assert all(column.narrow for one in totals for column in one.columns)


def test_what_is_too_short_for_sampling_has_bounds_that_hold(tmp_path: Path) -> None:
    """Bytes move only between 103 and 104 ms; regions lie inside one interval of 100 ms."""
    burst = steps((0.103, 0.0), (0.104, 1e9 / 64 * 1000), (9.0, 0.0))
    stamps = every(MS, 300 * MS)
    fine = sampled([burst], [reads(0)], stamps)
    samples = [one for at, one in enumerate(fine) if at % 100 == 0]
    regions = [
        Region(name="hit", pid=1, tid=1, begin_ns=102 * MS, end_ns=105 * MS),
        Region(name="miss", pid=1, tid=1, begin_ns=110 * MS, end_ns=130 * MS),
        Region(name="whole", pid=1, tid=1, begin_ns=100 * MS, end_ns=200 * MS),
    ]
    run = profile(tmp_path, Made([reads(0)], samples, 100 * MS), regions=regions)
    found = {name: by_name(one.totals)["memory read"].counted for name, one in marked(run).items()}
    first, last = fine[0][2], fine[-1][2]
    assert first is not None
    assert last is not None
    moved = (last - first) * 64
    assert found["whole"].total == pytest.approx(moved)
    for name in ("hit", "miss"):
        assert found[name].total is None
        assert found[name].least == 0.0
        assert found[name].most == pytest.approx(moved)
    said = table(run, "profile-regions-memory")
    assert "Too short for sampling at 10 Hz" in (said.note or "")


@given(data=st.data())
def test_bounds_hold_what_was_counted(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    steps_of = data.draw(st.lists(st.integers(0, 1000), min_size=40, max_size=40))
    counts = [0]
    for step in steps_of:
        counts.append(counts[-1] + step)
    begin = data.draw(st.integers(0, 38))
    end = data.draw(st.integers(begin + 1, 39))
    samples = [[at * MS, at * MS, counts[at]] for at in range(0, 41, 8)]
    regions = [Region(name="one", pid=1, tid=1, begin_ns=begin * MS, end_ns=end * MS)]
    run = profile(
        tmp_path_factory.mktemp("run"),
        Made([reads(0, scale=1.0)], samples, 8 * MS),  # type: ignore[arg-type]
        regions=regions,
    )
    timeline = timeline_of(run)
    spans = [(begin * MS, end * MS)]
    truth = counts[end] - counts[begin]
    around = timeline.around(timeline.tracks[0], *spans[0])
    low, high = around.inner[1] - around.inner[0], around.outer[1] - around.outer[0]
    assert low <= truth <= high
    found = bounded(timeline, timeline.tracks, spans)
    assert found.is_range == (end - begin < 8 and high - low > 0.02 * high)
    assert seconds_in(spans) == pytest.approx((end - begin) * 1e-3)


def test_regions_between_the_same_readings_have_no_more_than_was_counted_there(
    tmp_path: Path,
) -> None:
    regions = [
        Region(name="blink", pid=1, tid=1, begin_ns=at * MS, end_ns=(at + 5) * MS)
        for at in (210, 240, 270, 430)
    ]
    samples = sampled([constant(1e6)], [reads(0)], every(100 * MS, S))
    run = profile(tmp_path, Made([reads(0)], samples, 100 * MS), regions=regions)
    found = by_name(marked(run)["blink"].totals)["memory read"].counted
    assert found.least == 0.0
    assert found.most == pytest.approx(2 * 0.1 * 64e6)


def usage(peak_bytes: int) -> Usage:
    return Usage(
        user_s=1.0,
        system_s=0.5,
        peak_resident_bytes=peak_bytes,
        minor_faults=1,
        major_faults=0,
        voluntary_switches=2,
        involuntary_switches=3,
    )


def ended(directory: Path, **changes: object) -> Run:
    process = msgspec.structs.replace(ran(1.0), **changes)
    samples = sampled([lambda _: 1e9], [cpu_time(0)], every(10 * MS, S))
    return profile(directory, Made([cpu_time(0)], samples), process=process)


def test_the_peak_is_the_kernels_unless_that_is_memgauges_own(tmp_path: Path) -> None:
    large = peak_of(ended(tmp_path, usage=usage(90_000_000), peak_floor_bytes=20_000_000))
    assert large is not None
    assert (large.bytes, large.bound) == (90_000_000, "")
    small = peak_of(
        ended(
            tmp_path,
            usage=usage(20_000_000),
            peak_floor_bytes=20_000_000,
            seen_peak_bytes=2_000_000,
        )
    )
    assert small is not None
    assert (small.bytes, small.bound) == (2_000_000, "at least")
    assert small.words == "at least, at most 20.0 MB"


@pytest.mark.parametrize("seen_bytes", [None, 18_500_000, 20_000_000, 21_500_000])
def test_a_peak_that_may_be_memgauges_own_is_only_a_bound(
    tmp_path: Path, seen_bytes: int | None
) -> None:
    """A reading between the release of the process and its program still shows the copy."""
    facts = {"usage": usage(21_500_000), "peak_floor_bytes": 20_000_000}
    found = peak_of(ended(tmp_path, **facts, seen_peak_bytes=seen_bytes))
    assert found is not None
    assert (found.bytes, found.bound) == (21_500_000, "at most")


def test_the_verdict_says_what_the_program_used(tmp_path: Path) -> None:
    run = ended(tmp_path, usage=usage(90_000_000), peak_floor_bytes=20_000_000)
    (section,) = analyse_run(run).sections
    assert any(
        "of CPU time (1.50 cores); its largest process held" in one.text for one in section.verdicts
    )
    assert [row[1] for row in table(run, "profile-totals").rows[2:4]] == [1.0, 0.5]


def test_threads_are_told_with_what_they_waited(tmp_path: Path) -> None:
    use = ThreadUse(
        pid=77,
        tid=12_345,
        name="worker\x1b[0m",
        cpu_ns=S,
        run_delay_ns=S // 2,
        voluntary_switches=3,
        involuntary_switches=4,
    )
    run = ended(tmp_path, threads=[use], threads_left_out=5)
    found = table(run, "profile-threads")
    assert found.rows[0][1:] == ["12345", 1.0, 0.5, 3, 4]
    assert "\x1b" not in str(found.rows[0][0])
    assert "5 threads with less CPU time omitted" in (found.note or "")


def test_what_else_the_machine_did_is_told_with_its_share(tmp_path: Path) -> None:
    run = ended(tmp_path)
    around = Environment(
        at_ns=S,
        interval_s=2.0,
        steal_s=None,
        others_s=1.0,
        load_1min=None,
        frequency_khz=None,
        cpu_pressure_s=0.5,
    )
    process = run.processes[0]
    whole = run_of([run.start, process, around], directory=tmp_path)
    cpus = len(run.start.system.cpus)
    found = {one.what: one for one in beside_of(whole)}
    assert set(found) == {"other programs", "some task waited for a processor"}
    assert found["other programs"].share == pytest.approx(0.5 / cpus)
    assert found["some task waited for a processor"].share == pytest.approx(0.25)


def test_a_run_of_few_readings_has_no_picture(tmp_path: Path) -> None:
    samples = sampled([lambda _: 1e9], [cpu_time(0)], every(10 * MS, 30 * MS))
    run = profile(tmp_path, Made([cpu_time(0)], samples), process=ran(0.003))
    (section,) = analyse_run(run).sections
    assert section.charts == []
    assert section.tables
    assert profile_figures(run).totals[0].name == "CPU time"


def test_faults_of_the_program_are_its_kernels_work(tmp_path: Path) -> None:
    counters = [of_process(0, "page_faults")]
    samples = sampled([lambda _: 1000.0], counters, every(10 * MS, S))
    run = profile(tmp_path, Made(counters, samples), process=ran(1.0))
    timeline = timeline_of(run)
    (total,) = whole_of(timeline, roles_of(timeline))
    assert total.group == "system"
    assert total.counted.total == pytest.approx(1000, abs=2)
