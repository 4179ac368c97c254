"""Two routes to the same counters, around the same regions."""

from __future__ import annotations

import random

import msgspec
import pytest
from tests.unit.analysis.counters_verify.runs import Machine, simulated

from memgauge.analysis.counters_compare.document import route_figures
from memgauge.analysis.counters_compare.section import analyse, rows_of
from memgauge.analysis.figures.run import figures_of
from memgauge.model.counting.events import Counter
from memgauge.model.record_kinds.counters import CounterSet, RegionReading
from memgauge.model.records import AnyRecord, Point, RunStart, Sample
from memgauge.model.run import Run, run_of

Values = list[int | None]


def two_routes(
    seed: int, factor: float = 1.0, spread: float = 0.0005, lost: int = 0, rounds: int = 12
) -> Run:
    """A simulated run of perf, with a second route that reads `factor` times as much."""
    run = simulated(seed, Machine(), rounds=rounds)
    rng = random.Random(seed)
    [made] = run.counters.values()
    records: list[AnyRecord] = []
    start = msgspec.structs.replace(
        run.start,
        experiments=["counters_compare"],
        parameters={"counters_compare": {"back_ends": "perf,pcp"}},
    )
    assert isinstance(start, RunStart)
    records.append(start)
    others = [_other(counter, made.slots) for counter in made.of]
    records.append(
        CounterSet(
            counters="counters_verify", slots=made.slots + len(others), of=[*made.of, *others]
        )
    )
    records += [_renamed(point) for point in run.points.values()]
    for samples in run.samples.values():
        for sample in samples:
            scale = factor * rng.gauss(1, spread)
            missing = sample.round < lost
            records.append(_with_other(sample, made, scale, missing=missing))
    return run_of(records)


def _renamed(point: Point) -> Point:
    return msgspec.structs.replace(point, experiment="counters_compare")


def _other(counter: Counter, slots: int) -> Counter:
    return msgspec.structs.replace(
        counter,
        name=counter.name.replace("perf:", "pcp:"),
        event=counter.event.replace("perf:", "pcp:"),
        back_end="pcp",
        slot=slots + counter.slot - 2,
        enabled_slot=None,
        running_slot=None,
        route="daemon",
    )


def _with_other(sample: Sample, made: CounterSet, scale: float, *, missing: bool) -> Sample:
    def doubled(reading: RegionReading | None) -> RegionReading | None:
        if reading is None:
            return None
        first = [reading.before[c.slot] or 0 for c in made.of]
        last = [reading.after[c.slot] or 0 for c in made.of]
        after: Values = [
            None if missing else a + round((b - a) * scale)
            for a, b in zip(first, last, strict=True)
        ]
        return msgspec.structs.replace(
            reading, before=[*reading.before, *first], after=[*reading.after, *after]
        )

    return msgspec.structs.replace(
        sample, reading=doubled(sample.reading), idle=doubled(sample.idle)
    )


def words(run: Run) -> list[tuple[str, str]]:
    return [(v.level, v.text) for v in analyse(figures_of(run)).verdicts]


@pytest.mark.parametrize("seed", range(20))
def test_equal_routes_agree(seed: int) -> None:
    found = words(two_routes(seed))
    assert {level for level, _ in found} == {"good"}
    assert any(
        "the unprivileged route (pcp) agrees with the route perf" in text for _, text in found
    )


@pytest.mark.parametrize(
    ("factor", "text"), [(64.0, "factor 64"), (0.5, "factor 1/2"), (1.1, "1.1")]
)
def test_a_route_of_another_scale_is_told(factor: float, text: str) -> None:
    found = words(two_routes(1, factor))
    assert {level for level, _ in found} == {"problem"}
    assert all(text in said for _, said in found)
    assert all(("more" if factor > 1 else "less") in said for _, said in found)


def test_the_interval_holds_the_true_ratio_and_a_wide_one_says_so() -> None:
    hits = 0
    for seed in range(40):
        [row, *_] = rows_of(two_routes(seed, 1.003, 0.01))
        assert row.ratio is not None
        hits += row.ratio.low <= 1.003 <= row.ratio.high
    assert hits >= 35
    wide = words(two_routes(3, 1.0, 0.4, rounds=6))
    assert any("too wide" in text or "counts" in text for _, text in wide)


def test_each_socket_and_idle_times_are_compared() -> None:
    rows = rows_of(two_routes(2))
    assert {row.socket for row in rows} == {None, 0, 1}
    assert {"idle", "read", "write-temporal", "all loads"} <= {row.load for row in rows}


def test_the_document_holds_the_ratios() -> None:
    figures = route_figures(two_routes(2, 2.0))
    assert {one.quantity for one in figures} == {"read_bytes", "write_bytes"}
    assert all(one.ratio and one.ratio.value == pytest.approx(2, rel=0.01) for one in figures)


def test_regions_that_one_route_missed_are_left_out() -> None:
    some = rows_of(two_routes(2, lost=4))
    assert all(row.ratio is not None for row in some if row.load == "all loads")
    found = words(two_routes(2, lost=12))
    assert all(level == "warning" and "cannot be compared" in text for level, text in found)


def test_routes_without_a_common_quantity_are_not_compared() -> None:
    run = two_routes(1)
    [made] = run.counters.values()
    reads = [c for c in made.of if c.back_end == "perf" and c.quantity == "read_bytes"]
    writes = [c for c in made.of if c.back_end == "pcp" and c.quantity == "write_bytes"]
    run.counters["counters_verify"] = msgspec.structs.replace(made, of=[*reads, *writes])
    assert ("warning", "perf and pcp count no quantity in common: nothing is compared.") in words(
        run
    )
