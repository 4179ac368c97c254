import math
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.unit.analysis.runs import records, start, system

from memgauge.analysis.comparison.figures import (
    BEST,
    MEDIAN,
    SUSTAINED,
    Comparable,
    Source,
    of_reference,
    of_run,
    without_interval,
)
from memgauge.analysis.comparison.ratios import DIFFERS, compare_two, only, widen
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.significance import p_value, stand
from memgauge.model.records import AnyRecord, RunStart, Sample
from memgauge.model.run import Run, run_of
from memgauge.references.library import load

PRINTED = load("nvdimm-difference")


def comparable(name: str, estimate: Estimate, **changes: object) -> Comparable:
    fields: dict[str, object] = {
        "name": name,
        "unit": "GB/s",
        "direction": "higher",
        "estimate": estimate,
        "statistic": SUSTAINED,
        "label": name,
    }
    return Comparable(**(fields | changes))  # type: ignore[arg-type]


def source(comparables: Sequence[Comparable], **changes: object) -> Source:
    fields: dict[str, object] = {
        "name": "run",
        "comparables": list(comparables),
        "title": "a run",
        "machine_id": "m",
        "run_to_run_drift": 0.0,
    }
    return Source(**(fields | changes))  # type: ignore[arg-type]


def scaled(of: Source, factor: float) -> Source:
    return msgspec.structs.replace(
        of,
        comparables=[
            msgspec.structs.replace(
                one,
                estimate=Estimate(
                    one.estimate.value * factor,
                    one.estimate.low * factor,
                    one.estimate.high * factor,
                ),
            )
            for one in of.comparables
        ],
    )


@st.composite
def estimates(draw: st.DrawFn) -> Estimate:
    value = draw(st.floats(0.5, 500))
    below, above = draw(st.tuples(st.floats(1e-4, 0.5), st.floats(1e-4, 1)))
    return Estimate(value, value * (1 - below), value * (1 + above))


@st.composite
def sources(draw: st.DrawFn) -> Source:
    made = draw(st.lists(estimates(), min_size=1, max_size=12))
    directions = st.sampled_from(["higher", "lower"])
    return source(
        [
            comparable(f"f{at}", estimate, direction=draw(directions))
            for at, estimate in enumerate(made)
        ],
        run_to_run_drift=draw(st.none() | st.floats(0, 0.2)),
    )


@given(sources())
def test_a_source_beside_itself_is_the_same(one: Source) -> None:
    pair = compare_two(one, one)
    assert len(pair.rows) == len(one.comparables)
    assert pair.unpaired == []
    for row in pair.rows:
        assert row.ratio.value == 1
        assert row.outcome == "same"
        assert not row.stands
        assert row.differs == {}
        assert row.difference == 0


@given(sources(), st.floats(0.1, 10))
def test_scaling_all_figures_scales_all_ratios(one: Source, factor: float) -> None:
    for row in compare_two(one, scaled(one, factor)).rows:
        assert row.widened.value == pytest.approx(factor)
        assert row.widened.low <= row.widened.value <= row.widened.high


@given(sources(), sources())
def test_the_order_of_sources_reverses_the_ratios(one: Source, other: Source) -> None:
    mirrored = msgspec.structs.replace(
        other,
        comparables=[
            msgspec.structs.replace(theirs, direction=mine.direction)
            for mine, theirs in zip(one.comparables, other.comparables, strict=False)
        ],
    )
    there, back = compare_two(one, mirrored).rows, compare_two(mirrored, one).rows
    for row, again in zip(there, back, strict=True):
        assert again.widened.value == pytest.approx(1 / row.widened.value)
        assert again.widened.low == pytest.approx(1 / row.widened.high)
        assert again.widened.high == pytest.approx(1 / row.widened.low)
        assert abs(row.widened.low - 1) < 1e-9 or again.outcome == row.outcome


@given(sources(), st.floats(0, 1), st.data())
def test_noise_inside_the_interval_flips_no_verdict(
    one: Source, share: float, data: st.DataObject
) -> None:
    """A figure that comes out elsewhere in its own interval is still the same."""
    moved = []
    for mine in one.comparables:
        towards = data.draw(st.sampled_from([mine.estimate.low, mine.estimate.high]))
        step = mine.estimate.value + share * (towards - mine.estimate.value)
        by = step / mine.estimate.value
        estimate = mine.estimate
        moved.append(
            msgspec.structs.replace(
                mine, estimate=Estimate(step, estimate.low * by, estimate.high * by)
            )
        )
    for row in compare_two(one, source(moved)).rows:
        assert row.outcome == "same"


@given(estimates(), st.floats(0, 0.5))
def test_drift_only_widens(estimate: Estimate, drift: float) -> None:
    wide = widen(estimate, drift)
    assert wide.value == estimate.value
    assert wide.low <= estimate.low * (1 + 1e-9)
    assert wide.high >= estimate.high * (1 - 1e-9)


def test_drift_of_both_machines_keeps_a_small_difference_from_a_verdict() -> None:
    steady = comparable("f", Estimate(100.0, 99.9, 100.1))
    slower = comparable("f", Estimate(97.0, 96.9, 97.1))
    assert compare_two(source([steady]), source([slower])).rows[0].outcome == DIFFERS
    for drifts in ((0.05, 0.0), (0.0, 0.05), (0.03, 0.03)):
        one, other = (
            source([steady], run_to_run_drift=drifts[0]),
            source([slower], run_to_run_drift=drifts[1]),
        )
        assert compare_two(one, other).rows[0].outcome == "same"


def test_better_is_more_bandwidth_and_less_latency() -> None:
    low, high = Estimate(10.0, 9.9, 10.1), Estimate(20.0, 19.8, 20.2)
    for direction, speed in (("higher", 2), ("lower", 0.5)):
        one = source([comparable("f", low, direction=direction)])
        other = source([comparable("f", high, direction=direction)])
        row = compare_two(one, other).rows[0]
        assert row.outcome == DIFFERS
        assert row.ratio.value == 2
        assert row.speed.value == pytest.approx(speed)


def test_without_an_interval_nothing_is_told() -> None:
    one, other = (source([comparable("f", without_interval(v))]) for v in (10.0, 20.0))
    row = compare_two(one, other).rows[0]
    assert (row.outcome, row.p_value, row.ratio.value) == ("not known", None, 2)
    assert compare_two(one, other).slower_than(0.01) == []


@pytest.mark.parametrize(
    ("value", "half_width", "slower"),
    [(94.0, 0.5, True), (94.0, 1.5, False), (95.5, 0.1, False), (105.0, 0.1, False)],
)
def test_slower_by_more_than_a_share_is_wholly_beyond_it(
    value: float, half_width: float, slower: bool
) -> None:
    one = source([comparable("f", Estimate(100.0, 99.99, 100.01))])
    moved = Estimate(value, value - half_width, value + half_width)
    assert bool(compare_two(one, source([comparable("f", moved)])).slower_than(0.05)) == slower
    inverse = Estimate(1e4 / value, 1e4 / moved.high, 1e4 / moved.low)
    latency = source([comparable("f", Estimate(100.0, 99.99, 100.01), direction="lower")])
    other = source([comparable("f", inverse, direction="lower")])
    assert bool(compare_two(latency, other).slower_than(0.05)) == slower


@given(estimates())
def test_the_p_value_agrees_with_the_interval(estimate: Estimate) -> None:
    p = p_value(estimate)
    assert p is not None
    towards = estimate.low if estimate.value > 1 else estimate.high
    assume(abs(math.log(towards)) > 1e-6)
    assert (p < 0.05) == (not estimate.low <= 1 <= estimate.high)


def test_the_p_value_of_a_known_interval() -> None:
    """Altman and Bland 2011: a ratio of 0.81, interval 0.70 to 0.94, gives p = 0.005."""
    assert p_value(Estimate(0.81, 0.70, 0.94)) == pytest.approx(0.005, abs=0.001)


def test_differences_that_stand_are_those_of_the_published_example() -> None:
    """Benjamini and Hochberg 1995, section 4.1: fifteen tests, of which four stand at 5%."""
    published = (
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
        0.5719, 0.6528, 0.7590, 1.0,
    )  # fmt: skip
    assert stand(published) == [True] * 4 + [False] * 11
    assert stand([None, *published])[1:] == stand(published)
    assert stand([]) == []


@given(st.lists(st.floats(0, 1), max_size=30))
def test_what_stands_differs_by_itself_too(p_values: list[float]) -> None:
    for p, stands in zip(p_values, stand(p_values), strict=True):
        assert not stands or p <= 0.05


def test_figures_without_a_partner_are_kept_with_the_reason() -> None:
    figure = Estimate(1.0, 0.9, 1.1)
    one = source([comparable("a", figure), comparable("b", figure, regime="same complex")])
    other = source([comparable("c", figure), comparable("b", figure, regime="across complexes")])
    pair = compare_two(one, other)
    assert pair.rows == []
    assert [(u.name, u.source, u.why) for u in pair.unpaired] == [
        ("a", "baseline", "not measured there"),
        ("b", "baseline", "in another regime there"),
        ("c", "other", "not measured there"),
        ("b", "other", "in another regime there"),
    ]


@pytest.mark.parametrize(
    ("mine", "theirs", "together"),
    [
        (("same complex", 27.0), ("same complex", 31.0), True),
        (("same complex", 27.0), ("across complexes", 175.0), False),
        (("one regime", 30.0), ("same complex", 27.0), True),
        (("one regime", 30.0), ("across complexes", 175.0), False),
        (("one regime", 30.0), ("one regime", 175.0), True),
        (("", None), ("one regime", 30.0), True),
        (("", None), ("same complex", 27.0), False),
    ],
)
def test_only_like_regimes_are_compared(
    mine: tuple[str, float | None], theirs: tuple[str, float | None], together: bool
) -> None:
    figure = Estimate(1.0, 0.9, 1.1)
    one, other = (
        source([comparable("b", figure, regime=regime, pingpong_ns=ns)])
        for regime, ns in (mine, theirs)
    )
    for pair in (compare_two(one, other), compare_two(other, one)):
        assert bool(pair.rows) == together
        assert bool(pair.unpaired) != together


def test_a_like_statistic_is_preferred() -> None:
    ours = source(
        [
            comparable("f", Estimate(9.0, 8.0, 10.0)),
            comparable("f", without_interval(12.0), statistic=BEST),
        ]
    )
    published = source([comparable("f", without_interval(6.0), statistic=BEST)], published=True)
    mean = source([comparable("f", without_interval(6.0), statistic="mean")], published=True)
    assert compare_two(ours, ours).rows[0].statistic == SUSTAINED
    assert compare_two(ours, published).rows[0].ratio.value == 0.5
    assert compare_two(ours, mean).rows[0].statistic == f"{SUSTAINED} against mean"


def test_beside_a_median_stands_the_median() -> None:
    """A run with few samples has no 90th percentile; the other's would be faster by the noise."""
    few = source([comparable("f", Estimate(9.0, 8.5, 9.5), statistic=MEDIAN)])
    many = source([comparable("f", Estimate(10.0, 9.9, 10.1), median=Estimate(9.1, 9.0, 9.2))])
    for pair in (compare_two(few, many), compare_two(many, few)):
        (row,) = pair.rows
        assert row.statistic == MEDIAN
        assert sorted([row.baseline.value, row.other.value]) == [9.0, 9.1]
        assert row.outcome == "same"
    assert compare_two(many, many).rows[0].statistic == SUSTAINED
    unknown = source([comparable("f", Estimate(10.0, 9.9, 10.1))])
    assert compare_two(few, unknown).rows[0].statistic == f"{MEDIAN} against {SUSTAINED}"


def test_facts_that_differ_are_told() -> None:
    figure = Estimate(1.0, 0.9, 1.1)
    one = source([comparable("f", figure, facts={"pages": "thp", "share": 0.5, "cpus": "0"})])
    other = source([comparable("f", figure, facts={"pages": "4k", "share": 0.6, "cpus": "0"})])
    assert compare_two(one, other).rows[0].differs == {"pages": "thp against 4k"}


def test_two_machines_are_also_compared_by_their_best_teams() -> None:
    def machine(name: str, speeds: dict[int, float]) -> Source:
        made = [
            comparable(f"stream/copy/tuned/double/{n}t", Estimate(v, 0.9 * v, 1.1 * v))
            for n, v in speeds.items()
        ]
        return source(made, machine_id=name)

    small, large = machine("s", {1: 10.0, 2: 18.0}), machine("l", {8: 90.0, 16: 72.0})
    (row,) = compare_two(small, large).rows
    assert row.name == "stream/copy/tuned/double/best team"
    assert row.ratio.value == pytest.approx(5)
    assert row.differs == {"best team": "2 threads against 8 threads"}
    again = [row.name for row in compare_two(small, small).rows]
    assert again == ["stream/copy/tuned/double/1t", "stream/copy/tuned/double/2t"]


def test_two_machines_are_also_compared_at_the_ends_of_their_loaded_curves() -> None:
    def curve(machine: str, generators: int, delays: dict[int, tuple[float, float]]) -> Source:
        made = []
        for delay, (ns, speed) in delays.items():
            name = f"loaded/100r/sequential/{generators}g/d{delay}"
            made.append(comparable(name, without_interval(ns), unit="ns", direction="lower"))
            made.append(comparable(f"{name}/traffic", without_interval(speed)))
        return source(made, machine_id=machine)

    ours = curve("a", 1, {0: (160.0, 30.0), 900: (100.0, 1.0)})
    published = of_reference(load("hybrid12-loaded-latency"))
    rows = {row.name: row for row in compare_two(ours, published).rows}
    assert set(rows) == {"loaded/100r/unloaded", "loaded/100r/least-delay/traffic"}
    assert rows["loaded/100r/unloaded"].ratio.value == pytest.approx(1.1891)
    assert rows["loaded/100r/least-delay/traffic"].ratio.value == pytest.approx(55.4455 / 30)


def test_the_percentage_table_of_the_nvdimm_study_comes_out() -> None:
    pair = compare_two(*(of_reference(load(name)) for name in ("nvdimm-dram", "nvdimm")))
    rows = {row.name: row for row in pair.rows}
    assert len(rows) == 4 * 32
    percentages = [
        100 * rows[f"stream/copy/standard/double/{threads:.0f}t"].ratio.value
        for threads in PRINTED.column("threads")
    ]
    assert percentages == pytest.approx(PRINTED.column("nvdimm_over_dram_percent"), abs=0.05)
    assert {row.outcome for row in pair.rows} == {"not known"}


def test_only_keeps_figures_by_their_names() -> None:
    kept = only(of_reference(load("nvdimm")), "stream/copy/*")
    assert len(kept.comparables) == 32


@pytest.fixture(scope="module")
def whole_run() -> Run:
    return run_of(records())


def test_a_run_beside_itself_has_every_figure_the_same(whole_run: Run) -> None:
    of = of_run(figures_of(whole_run), "run")
    pair = compare_two(of, of)
    assert {row.outcome for row in pair.rows} == {"same"}
    assert pair.unpaired == []
    regimes = {row.regime for row in pair.rows if "/2t" in row.name}
    assert regimes == {"same complex", "across complexes"}
    assert {row.statistic for row in pair.rows} == {SUSTAINED}


def test_another_run_of_the_same_machine_stands_nowhere_apart(whole_run: Run) -> None:
    again = run_of(records(seed=2))
    pair = compare_two(of_run(figures_of(whole_run), "a"), of_run(figures_of(again), "b"))
    assert len(pair.judged) > 50
    assert len(pair.of(DIFFERS)) <= 0.05 * len(pair.rows)
    assert not any(row.stands for row in pair.rows)


def slowed(record: AnyRecord) -> AnyRecord:
    """The same, where a sample took 30% longer."""
    if not isinstance(record, Sample):
        return record
    threads = [
        msgspec.structs.replace(
            thread,
            end_ns=[
                begin + round(1.3 * (end - begin))
                for begin, end in zip(thread.begin_ns, thread.end_ns, strict=True)
            ],
        )
        for thread in record.threads
    ]
    return msgspec.structs.replace(record, threads=threads)


def test_a_slower_machine_is_seen(whole_run: Run) -> None:
    slow = run_of(map(slowed, records()))
    pair = compare_two(of_run(figures_of(whole_run), "a"), of_run(figures_of(slow), "b"))
    assert {row.outcome for row in pair.rows} == {DIFFERS}
    assert all(row.speed.high < 1 for row in pair.rows)
    assert not any(row.stands for row in pair.rows)
    assert {row.name for row in pair.slower_than(0.05)} == {row.name for row in pair.rows}


def test_sources_of_runs_tell_machine_and_parameters() -> None:
    begun = start(system(thp="always", kernel="Linux 7.0"))
    assert isinstance(begun, RunStart)
    of = of_run(figures_of(run_of([begun])), "run")
    assert of.traits["kernel"] == "Linux 7.0"
    assert of.traits["transparent huge pages"] == "always"
    assert of.settings["stream: threads"] == "not set"
    assert of.settings["version of memgauge"] == "0.1.0"
    assert not of.complete
