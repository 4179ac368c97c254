"""Cross-checks on made-up runs in which both sides, and what stands between them, are known."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.analysis.records import bandwidth_point, latency_point, sample_of
from tests.unit.analysis.runs import MIB, start, whole_run

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.report.checks import Check, judged
from memgauge.analysis.report.cross_checks import crosschecks, section
from memgauge.analysis.report.level_checks import ceiling, nearest_ratio
from memgauge.analysis.report.run import analyse_run, sections_of
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.level import Level
from memgauge.model.records import AnyRecord, Point
from memgauge.model.run import Run, run_of

ROUNDS = 120
NEAR_NS, FAR_NS = 27.0, 175.0
Made = tuple[Point, float]


def loaded(
    latency_ns: float, gb_per_s: float, delay: int, generators: int = 1, reads: int = 1
) -> list[Made]:
    load = "100r" if reads == 1 else "50r-temporal"
    name = f"loaded/{load}/sequential/{generators}g/d{delay}"
    requested = {
        "read_share": 1.0 if reads == 1 else 0.5,
        "store": None if reads == 1 else "temporal",
        "order": "sequential",
        "generators": generators,
        "delay": delay,
    }
    facts = {"cpus": f"0-{generators}", "probe_cpu": 0, "pages": "thp", "node": 0}
    probe = latency_point(name, experiment="loaded", requested=requested, actual=facts)
    traffic = bandwidth_point(
        f"{name}/traffic",
        experiment="loaded",
        requested=requested,
        actual=facts,
        threads=generators,
        measured_with=name,
    )
    return [(probe, latency_ns), (traffic, gb_per_s)]


def mix(gb_per_s: float, threads: int = 1, share: float = 1.0, store: str | None = None) -> Made:
    cpus = "0" if threads == 1 else f"0-{threads - 1}"
    requested = {"read_share": share, "store": store, "order": "sequential", "threads": threads}
    name = f"mix/{round(100 * share)}r/sequential/{threads}t"
    facts = {"cpus": cpus, "pages": "thp"}
    return (
        bandwidth_point(name, experiment="mix", requested=requested, actual=facts, threads=threads),
        gb_per_s,
    )


def stream_read(gb_per_s: float, threads: int = 1) -> Made:
    cpus = "0" if threads == 1 else f"0-{threads - 1}"
    requested = {"kernel": "read", "variant": "tuned", "element": "double", "threads": threads}
    return (
        bandwidth_point(
            f"stream/read/tuned/double/{threads}t",
            requested=requested,
            actual={"cpus": cpus, "pages": "thp"},
            threads=threads,
        ),
        gb_per_s,
    )


def idle(latency_ns: float, pages: str = "thp", cpu: int = 0) -> Made:
    requested = {"level": "DRAM", "order": "block-random", "pages": pages}
    facts = {"cpus": str(cpu), "pages": pages, "node": 0}
    name = f"latency/DRAM/block-random/{pages}"
    return latency_point(name, experiment="latency", requested=requested, actual=facts), latency_ns


def made(
    points: Sequence[Made], noise: float = 0.002, *, moved: bool = False, seed: int = 3
) -> Run:
    """A run of these points; where the host moves threads, far teams read twice as fast."""
    draw = random.Random(seed)
    experiments = list(dict.fromkeys(point.experiment for point, _ in points))
    records: list[AnyRecord] = [msgspec.structs.replace(start(), experiments=experiments)]
    records += [point for point, _ in points]
    for round_ in range(ROUNDS):
        far = draw.random() < 0.5
        for point, value in points:
            taken = value * draw.gauss(1, noise)
            team = str(point.actual["cpus"]) != "0" and moved
            pingpong_ns = (FAR_NS if far else NEAR_NS) * draw.gauss(1, 0.01) if team else None
            fast = 2 if team and far and point.quantity == "bandwidth" else 1
            records.append(sample_of(point, taken * fast, round_, pingpong_ns=pingpong_ns))
    return run_of(records)


def checked(points: Sequence[Made], noise: float = 0.002, *, moved: bool = False) -> list[Check]:
    return crosschecks(figures_of(made(points, noise, moved=moved)))


def outcomes(checks: Sequence[Check]) -> list[str]:
    return [check.outcome for check in checks]


def test_a_run_of_one_experiment_has_nothing_to_check() -> None:
    run = made([idle(150), idle(160, "4k")])
    assert crosschecks(figures_of(run)) == []
    assert section(figures_of(run)) is None
    assert [one.name for one in sections_of(figures_of(run))] == ["latency"]


def test_loaded_latency_at_the_longest_delay_is_that_of_an_idle_machine() -> None:
    points = [*loaded(250, 30, 0), *loaded(150, 2, 20_000), idle(150)]
    (check,) = checked(points)
    assert check.one_name.endswith("/d20000")
    assert check.outcome == "agrees"
    assert check.difference == pytest.approx(0, abs=0.002)


def test_latencies_beyond_both_intervals_disagree() -> None:
    points = [*loaded(165, 2, 20_000), idle(150)]
    (check,) = checked(points)
    assert check.outcome == "disagrees"
    assert check.difference == pytest.approx(0.1, abs=0.003)
    found = section(figures_of(made(points)))
    assert found is not None
    (verdict,) = found.verdicts
    assert verdict.level == "warning"
    assert "disagree" in verdict.text
    assert "Likely causes" in verdict.text


def test_other_pages_or_another_cpu_are_not_compared() -> None:
    for other in (idle(150, "4k"), idle(150, "thp", cpu=1)):
        (check,) = checked([*loaded(150, 2, 20_000), other])
        assert check.outcome == "inconclusive"
        assert check.why == "no figure of idle latency from the same CPU, node and pages"


@pytest.mark.parametrize(
    ("lower", "expected"), [(0.98, "agrees"), (0.93, "disagrees"), (1.02, "agrees")]
)
def test_bandwidth_at_no_delay_is_that_without_a_probe(lower: float, expected: str) -> None:
    (check,) = checked([*loaded(200, 30 * lower, 0), mix(30)])
    assert check.outcome == expected


def test_what_the_probe_reads_is_allowed_for_where_the_generators_are_slower() -> None:
    # 64 B each 100 ns are 0.64 GB/s: 6.4% of 10 GB/s.
    slower, faster = (checked([*loaded(100, 10 * x, 0), mix(10)])[0] for x in (0.93, 1.07))
    assert slower.allowed == pytest.approx(0.03 + 0.064, abs=0.001)
    assert slower.outcome == "agrees"
    assert faster.allowed == pytest.approx(0.03)
    assert faster.outcome == "disagrees"


def test_only_the_same_load_is_compared() -> None:
    (same,) = checked([*loaded(200, 25, 0, reads=0), mix(30), mix(25, 1, 0.5, "temporal")])
    assert same.other_name == "mix/50r/sequential/1t"
    assert same.outcome == "agrees"
    assert checked([*loaded(200, 25, 0, reads=0), mix(25, 1, 0.5, "non-temporal")]) == []


def test_stream_takes_the_place_of_a_mix_that_was_not_measured() -> None:
    (check,) = checked([*loaded(200, 30, 0), stream_read(30)])
    assert check.other_name == "stream/read/tuned/double/1t"
    assert check.outcome == "agrees"


def test_a_probe_beside_one_thread_counts_where_they_share_least() -> None:
    """Near, the probe and the generator share a complex: only far is the generator as if alone."""
    (check,) = checked([*loaded(200, 15, 0), mix(30)], moved=True)
    assert "across complexes" in check.one_name
    assert check.outcome == "agrees"


def test_all_reads_are_compared_regime_by_regime() -> None:
    checks = checked([mix(20, 2), stream_read(20, 2)], moved=True)
    assert outcomes(checks) == ["agrees", "agrees"]
    near, far = checks
    assert near.one is not None
    assert far.one is not None
    assert far.one.value == pytest.approx(2 * near.one.value, rel=0.01)


def test_bandwidths_apart_by_more_than_3_percent_disagree() -> None:
    assert outcomes(checked([mix(20, 2), stream_read(20.4, 2)])) == ["agrees"]
    assert outcomes(checked([mix(20, 2), stream_read(21.2, 2)])) == ["disagrees"]


def test_teams_of_different_sizes_are_not_compared() -> None:
    assert checked([mix(20, 2), stream_read(20, 1)]) == []


def test_a_side_that_lost_all_its_samples_is_said() -> None:
    run = made([mix(20), stream_read(20)])
    lost = [
        msgspec.structs.replace(
            sample,
            threads=[msgspec.structs.replace(sample.threads[0], involuntary_switches=1)],
        )
        for sample in run.samples["stream/read/tuned/double/1t"]
    ]
    samples = run.samples | {"stream/read/tuned/double/1t": lost}
    (check,) = crosschecks(figures_of(msgspec.structs.replace(run, samples=samples)))
    assert check.outcome == "inconclusive"
    assert check.why == "one side has no figure: all its samples were set aside"


def test_noise_that_leaves_both_outcomes_possible_is_not_told() -> None:
    assert outcomes(checked([mix(20), stream_read(20.8)], noise=0.15)) == ["inconclusive"]


def test_hits_of_the_level_above_are_taken_out_of_a_plateau() -> None:
    above = level(latency_ns=4.0, capacity_bytes=MIB)
    # A quarter of the loads over 4 MiB hits the 1 MiB above: 0.75 * 16 + 0.25 * 4 = 13.
    mixed = level(latency_ns=13.0, capacity_bytes=32 * MIB)
    assert ceiling(mixed, above, 4 * MIB) == pytest.approx(16.0)
    assert ceiling(mixed, above, None) < 16.0
    assert ceiling(mixed, None, 4 * MIB) == 13.0


def level(latency_ns: float, capacity_bytes: int) -> Level:
    return Level(
        latency_ns=latency_ns,
        latency_low_ns=latency_ns,
        latency_high_ns=latency_ns,
        first_bytes=capacity_bytes // 4,
        fits_bytes=capacity_bytes,
        capacity_low_bytes=capacity_bytes,
        capacity_high_bytes=capacity_bytes,
    )


def test_levels_of_both_experiments_agree_on_the_made_up_machine() -> None:
    run = whole_run()
    checks = crosschecks(figures_of(run))
    assert [check.what for check in checks] == [
        f"latency of {level}" for level in ("L1", "L2", "L3", "memory")
    ]
    by_level = {check.what: check for check in checks}
    assert by_level["latency of L1"].outcome == "agrees"
    assert by_level["latency of L2"].outcome == "agrees"
    assert by_level["latency of L3"].outcome == "inconclusive"
    assert (by_level["latency of L3"].why or "").startswith("latency has no figure of L3")
    report = analyse_run(run)
    assert report.sections[-1].name == "crosschecks"
    texts = [verdict.text for verdict in report.sections[-1].verdicts]
    assert any(text.startswith("2 of 4 cross-checks are inconclusive: ") for text in texts)


def outcome_of(value: float, half: float, allowed: float, lacks: float = 0.0) -> str:
    check = Check(what="x", unit="ns", one_name="a", other_name="b")
    between = Estimate(value, value - half, value + half)
    return judged(check, between, allowed, lacks=lacks).outcome


@pytest.mark.parametrize(
    ("value", "half", "outcome"),
    [
        (1.02, 0.005, "agrees"),
        (1.02, 0.07, "agrees"),
        (1.0, 0.46, "inconclusive"),
        (1.02, 0.09, "inconclusive"),
        (1.06, 0.02, "inconclusive"),
        (1.08, 0.02, "disagrees"),
        (0.8, 0.1, "disagrees"),
        (0.9, 0.04, "disagrees"),
    ],
)
def test_an_outcome_follows_from_what_the_interval_allows(
    value: float, half: float, outcome: str
) -> None:
    assert outcome_of(value, half, 0.05) == outcome


def test_what_one_side_lacks_for_a_known_reason_counts_below_only() -> None:
    assert outcome_of(0.9, 0.01, 0.03, lacks=0.1) == "agrees"
    assert outcome_of(1.1, 0.01, 0.03, lacks=0.1) == "disagrees"


def test_a_latency_may_lie_anywhere_on_a_plateau() -> None:
    plateau = Estimate(10.0, 9.0, 11.0)
    assert nearest_ratio(Estimate(10.5, 10.4, 10.6), plateau).value == 1
    assert nearest_ratio(Estimate(12.0, 11.9, 12.1), plateau).value == pytest.approx(12 / 11)
    assert nearest_ratio(Estimate(10.0, 9.9, 10.1), plateau).low == pytest.approx(0.9)


@pytest.mark.parametrize(("apart", "outcome"), [(1.0, "agrees"), (1.12, "disagrees")])
def test_a_tenth_is_told_beside_noise_of_8_percent(apart: float, outcome: str) -> None:
    assert outcomes(checked([mix(20), stream_read(20 * apart)], noise=0.08)) == [outcome]


def test_latencies_apart_by_2_percent_agree() -> None:
    assert outcomes(checked([*loaded(153, 2, 20_000), idle(150)])) == ["agrees"]


@pytest.mark.parametrize("seed", range(8))
def test_noise_inside_the_intervals_flips_no_verdict(seed: int) -> None:
    points = [*loaded(150, 2, 20_000), *loaded(250, 30, 0), idle(150), mix(30), stream_read(33)]
    checks = crosschecks(figures_of(made(points, 0.004, seed=seed)))
    assert outcomes(checks) == ["agrees", "agrees", "disagrees"]


@settings(max_examples=20, deadline=None)
@given(st.floats(0.1, 10))
def test_the_unit_of_all_figures_does_not_matter(factor: float) -> None:
    points = [*loaded(150, 30, 0), mix(30)]
    (one,) = crosschecks(figures_of(made(points)))
    (other,) = crosschecks(figures_of(made([(p, v * factor) for p, v in points])))
    assert other.difference == pytest.approx(one.difference, abs=1e-3)
