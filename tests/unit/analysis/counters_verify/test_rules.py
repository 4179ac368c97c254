"""Verdicts on counters: no false alarm on good ones, every injected fault found."""

import random
from collections.abc import Sequence
from statistics import median

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.analysis.counters_verify.runs import (
    Fault,
    Machine,
    counters_of,
    event_of,
    records,
    simulated,
)

from memgauge.analysis.counters_verify.faults import TOLERANCE
from memgauge.analysis.counters_verify.rules import SIGNATURES, signature
from memgauge.analysis.counters_verify.section import event_verdicts
from memgauge.analysis.report.document import json_document
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.paired import LEAST_ROUNDS, paired
from memgauge.model.counting.events import EventVerdict, Quantity
from memgauge.model.record_kinds.counters import RegionReading
from memgauge.model.records import Point, Sample
from memgauge.model.run import run_of

READ: Quantity = "read_bytes"
WRITE: Quantity = "write_bytes"
SOCKET_1 = frozenset(f"uncore_imc_{n}@cpu1" for n in range(4))


def verdicts(seed: int, machine: Machine | None = None, **faults: Fault) -> dict[str, EventVerdict]:
    injected: dict[Quantity, Fault] = {}
    if "read" in faults:
        injected[READ] = faults["read"]
    if "write" in faults:
        injected[WRITE] = faults["write"]
    return {one.event: one for one in event_verdicts(simulated(seed, machine, injected))}


def test_good_counters_are_verified_in_every_one_of_100_runs() -> None:
    for seed in range(100):
        rng = random.Random(seed)
        machine = Machine(
            sockets=rng.choice((1, 2)),
            controllers=rng.choice((1, 2, 4, 8)),
            idle_gb_per_s=rng.choice((0.0, 0.05, 0.5, 2.0)),
            noise=rng.choice((0.0, 0.3, 1.0)),
            allocate_share=rng.choice((0.0, 0.4, 1.0)),
            cached_share=rng.choice((0.0, 0.05, 0.1)),
            running_share=rng.choice((1.0, 1.0, 0.5)),
        )
        found = verdicts(seed, machine)
        assert {one.verdict for one in found.values()} == {"verified"}, (seed, machine, found)


@pytest.mark.parametrize("factor", sorted(SIGNATURES))
@pytest.mark.parametrize("seed", range(3))
def test_a_wrong_scale_is_found_and_snapped(factor: float, seed: int) -> None:
    found = verdicts(seed, write=Fault(factor=factor))
    assert found[event_of(WRITE)].verdict == "mis-scaled"
    assert found[event_of(WRITE)].factor == factor
    assert found[event_of(READ)].verdict == "verified"


@pytest.mark.parametrize("factor", [0.7, 1.37, 6.0, 20.0, 1000.0, 0.01])
def test_a_wrong_scale_of_no_known_signature_is_said_so(factor: float) -> None:
    found = verdicts(7, read=Fault(factor=factor))[event_of(READ)]
    assert found.verdict == "mis-scaled"
    assert found.factor is None
    assert "no known signature" in found.evidence
    assert found.ratio == pytest.approx(factor, rel=TOLERANCE)


@pytest.mark.parametrize("seed", range(10))
def test_a_missing_socket_is_partial_whether_silent_or_without_instances(seed: int) -> None:
    found = verdicts(seed, read=Fault(silent=SOCKET_1), write=Fault(leaves_out=frozenset({1})))
    assert found[event_of(READ)].verdict == "partial"
    assert set(found[event_of(READ)].missing) == SOCKET_1
    assert found[event_of(WRITE)].verdict == "partial"
    assert found[event_of(WRITE)].missing == ["socket 1"]


@pytest.mark.parametrize("seed", range(10))
def test_a_silent_channel_is_partial_and_named(seed: int) -> None:
    silent = frozenset({"uncore_imc_2@cpu1"})
    machine = Machine(controllers=3 + seed)
    found = verdicts(seed, machine, read=Fault(silent=silent))[event_of(READ)]
    assert found.verdict == "partial"
    assert set(found.missing) == silent


@pytest.mark.parametrize("controllers", [2, 4, 6])
def test_a_controller_without_memory_is_no_fault(controllers: int) -> None:
    empty = frozenset({f"uncore_imc_0@cpu{socket}" for socket in range(2)})
    for seed in range(20):
        machine = Machine(controllers=controllers)
        fault = Fault(silent=empty, factor=controllers / (controllers - 1))
        found = verdicts(seed, machine, read=fault, write=fault)
        assert {one.verdict for one in found.values()} == {"verified"}
        assert "the others account for all of it" in found[event_of(READ)].evidence


def test_a_channel_silent_in_all_events_whose_share_is_lacking_is_partial() -> None:
    silent = Fault(silent=frozenset({"uncore_imc_3@cpu0"}))
    found = verdicts(4, read=silent, write=silent)
    assert {one.verdict for one in found.values()} == {"partial"}


def test_a_missing_socket_does_not_hide_a_wrong_scale() -> None:
    found = verdicts(1, read=Fault(silent=SOCKET_1, factor=64.0))[event_of(READ)]
    assert found.verdict == "partial"
    assert found.factor == 64.0
    assert "what counts is off too" in found.evidence


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("idle", [0.0, 0.5])
def test_a_counter_of_nothing_is_dead(seed: int, idle: float) -> None:
    everything = frozenset(f"uncore_imc_{n}@cpu{s}" for n in range(4) for s in range(2))
    found = verdicts(seed, Machine(idle_gb_per_s=idle), read=Fault(silent=everything))
    assert found[event_of(READ)].verdict == "dead"
    assert "zero" in found[event_of(READ)].evidence
    assert found[event_of(WRITE)].verdict == "verified"


def test_a_counter_of_idle_traffic_only_is_dead() -> None:
    machine = Machine(sockets=2, idle_gb_per_s=0.2)
    found = verdicts(3, machine, read=Fault(factor=1.0, swapped=True))[event_of(READ)]
    assert found.verdict == "partial"  # swapped: each socket's traffic counted on the other
    assert "another socket" in found.evidence


@pytest.mark.parametrize("seed", range(20))
def test_too_much_traffic_of_others_is_noisy_and_never_an_alarm(seed: int) -> None:
    machine = Machine(idle_gb_per_s=300.0, noise=1.0)
    found = verdicts(seed, machine)
    assert {one.verdict for one in found.values()} <= {"noisy", "verified"}
    assert any(one.verdict == "noisy" for one in found.values())
    assert all("idle" in one.evidence for one in found.values() if one.verdict == "noisy")


def test_an_event_that_counts_both_ways_is_not_verified() -> None:
    found = verdicts(5, read=Fault(counts_other_way=True))[event_of(READ)]
    assert (found.verdict, found.fault) == ("faulty", "both directions")
    assert found.factor is None
    assert "counts writes too" in found.evidence


def test_writes_are_not_called_reads_because_lines_are_allocated() -> None:
    for share, words in ((1.0, "cause a write-allocate"), (0.0, "hardly a write-allocate")):
        found = verdicts(2, Machine(allocate_share=share))[event_of(READ)]
        assert found.verdict == "verified"
        assert words in found.evidence


def test_values_of_a_shared_counter_are_marked_as_estimates() -> None:
    found = verdicts(2, Machine(running_share=0.5))
    assert all("estimated" in one.evidence for one in found.values())
    assert "estimated" not in verdicts(2)[event_of(READ)].evidence


def test_too_few_rounds_tell_nothing() -> None:
    found = event_verdicts(simulated(1, rounds=LEAST_ROUNDS - 1))
    assert {one.verdict for one in found} == {"noisy"}
    assert all("rounds" in one.evidence for one in found)


def without(reading: RegionReading | None, slots: set[int]) -> RegionReading | None:
    """The same, but that these slots could not be read."""
    if reading is None:
        return None
    kept = [
        [None if at in slots else raw for at, raw in enumerate(values)]
        for values in (reading.before, reading.after)
    ]
    return msgspec.structs.replace(reading, before=kept[0], after=kept[1])


@pytest.mark.parametrize("gaps", [("reading", "idle"), ("idle",)])
def test_a_counter_that_cannot_be_read_is_absent_and_not_noisy(gaps: Sequence[str]) -> None:
    [first, *_] = counters_of(Machine(), {}, ("read_bytes",))
    found = event_verdicts(
        run_of(
            [
                msgspec.structs.replace(
                    record, **{gap: without(getattr(record, gap), {first.slot}) for gap in gaps}
                )
                if isinstance(record, Sample)
                else record
                for record in records(1, Machine(), {}, LEAST_ROUNDS, ("read_bytes",))
            ]
        )
    )
    assert [one.verdict for one in found] == ["absent"]
    assert found[0].evidence == f"could not be read on {first.instance}"
    assert (found[0].missing, found[0].ratio) == ([first.instance], None)


def test_the_document_holds_the_verdicts_and_other_runs_have_none() -> None:
    assert json_document(simulated(1)).counters == event_verdicts(simulated(1))
    other = run_of(
        [
            msgspec.structs.replace(record, experiment="stream")
            if isinstance(record, Point)
            else record
            for record in records(1, Machine(), {}, 2, ("read_bytes",))
        ]
    )
    assert event_verdicts(other) == []
    assert json_document(other).counters_compare == []


def test_together_counted_traffic_is_judged_on_reads() -> None:
    [found] = event_verdicts(simulated(1, quantities=("traffic_bytes",)))
    assert found.verdict == "verified"


@given(st.integers(0, 10**6), st.sampled_from(sorted(SIGNATURES)), st.floats(0, 0.6))
@settings(max_examples=25, deadline=None)
def test_no_noise_makes_another_signature_of_a_fault(
    seed: int, factor: float, idle_share: float
) -> None:
    machine = Machine(idle_gb_per_s=20 * idle_share, noise=1.0, controllers=2)
    found = verdicts(seed, machine, write=Fault(factor=factor))
    assert found[event_of(READ)].verdict in {"verified", "noisy"}
    assert found[event_of(WRITE)].verdict in {"mis-scaled", "noisy"}
    assert found[event_of(WRITE)].factor in {factor, None}


@pytest.mark.parametrize("factor", sorted(SIGNATURES))
def test_signatures_are_told_apart(factor: float) -> None:
    assert signature(Estimate(factor, factor * 0.98, factor * 1.02)) == factor
    assert signature(Estimate(factor, factor * 0.3, factor * 3)) is None


@given(st.lists(st.floats(-1e6, 1e6), min_size=LEAST_ROUNDS, max_size=60))
def test_the_interval_holds_the_median(values: list[float]) -> None:
    found = paired(values)
    assert found is not None
    assert found.low <= found.value <= found.high
    assert found.value == median(values)


def test_the_interval_covers_the_true_median_as_often_as_it_says() -> None:
    rng = random.Random(11)
    for count in (6, 11, 24):
        hits = 0
        for _ in range(2000):
            found = paired([rng.expovariate(1.0) for _ in range(count)])
            assert found is not None
            hits += found.low <= 0.6931471805599453 <= found.high
        assert hits >= 0.94 * 2000
    assert paired([1.0] * (LEAST_ROUNDS - 1)) is None
