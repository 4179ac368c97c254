"""Faults with names: each is recognised, and noise of honest counters is not taken for one."""

import random

import pytest
from tests.unit.analysis.counters_verify.runs import LOAD_BYTES, Fault, Machine, event_of, simulated

from memgauge.analysis.counters_verify.section import event_verdicts
from memgauge.model.counting.calibration import calibration_of
from memgauge.model.counting.events import EventVerdict, Quantity

READ: Quantity = "read_bytes"
WRITE: Quantity = "write_bytes"
SEEDS = range(8)
ON_0 = frozenset(f"uncore_imc_{n}@cpu0" for n in range(4))


def judged(
    seed: int, fault: Fault, machine: Machine | None = None, quantity: Quantity = READ
) -> EventVerdict:
    machine = machine or a_machine(seed)
    faults: dict[Quantity, Fault] = {quantity: fault}
    found = {one.event: one for one in event_verdicts(simulated(seed, machine, faults))}
    others = [one for one in found.values() if one.event != event_of(quantity)]
    assert {one.verdict for one in others} == {"verified"}
    return found[event_of(quantity)]


def a_machine(seed: int, **changes: object) -> Machine:
    rng = random.Random(seed)
    facts = {
        "idle_gb_per_s": rng.choice((0.01, 0.05, 0.5, 2.0)),
        "noise": rng.choice((0.3, 1.0)),
        "cached_share": rng.choice((0.0, 0.05, 0.1)),
        "running_share": rng.choice((1.0, 1.0, 0.5)),
    }
    return Machine(**(facts | changes))  # type: ignore[arg-type]


def is_uncorrected(verdict: EventVerdict) -> bool:
    return calibration_of(verdict, "any") is None


@pytest.mark.parametrize("seed", SEEDS)
def test_swapped_directions_are_named(seed: int) -> None:
    for quantity, instead in ((READ, "writes"), (WRITE, "reads")):
        found = judged(seed, Fault(other_way_only=True), quantity=quantity)
        assert (found.verdict, found.fault) == ("faulty", "swapped directions")
        assert f"of {instead}: its directions are swapped" in found.evidence
        assert is_uncorrected(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_swapped_directions_of_a_wrong_scale_are_named_too(seed: int) -> None:
    found = judged(seed, Fault(other_way_only=True, factor=64.0))
    assert found.fault == "swapped directions"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_direction_counted_beside_its_own_is_named_at_any_scale(seed: int) -> None:
    for factor in (1.0, 1 / 64, 2.0, 64.0):
        found = judged(seed, Fault(counts_other_way=True, factor=factor))
        assert (found.verdict, found.fault) == ("faulty", "both directions")
        assert is_uncorrected(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_controller_listed_twice_is_named_and_has_no_factor(seed: int) -> None:
    """Each of the pair counts what one of two controllers does: three halves in all."""
    twins = frozenset({"uncore_imc_0@cpu0", "uncore_imc_1@cpu0"})
    machine = a_machine(seed, sockets=1, controllers=3)
    found = judged(seed, Fault(twins=twins, factor=1.5), machine)
    assert (found.verdict, found.fault, found.factor) == ("mis-scaled", "listed twice", None)
    assert is_uncorrected(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_all_controllers_listed_twice_have_a_factor(seed: int) -> None:
    """One socket of one controller that is listed under two names."""
    twins = frozenset({"uncore_imc_0@cpu0", "uncore_imc_1@cpu0"})
    machine = a_machine(seed, sockets=1, controllers=2)
    found = judged(seed, Fault(twins=twins, factor=2.0), machine)
    assert (found.verdict, found.fault, found.factor) == ("mis-scaled", "listed twice", 2.0)
    assert "uncore_imc_0@cpu0 and uncore_imc_1@cpu0" in found.evidence
    assert calibration_of(found, "known") is None  # simulated counters have no encoding


@pytest.mark.parametrize("seed", SEEDS)
def test_equal_shares_of_a_wrong_scale_are_not_called_twins(seed: int) -> None:
    machine = a_machine(seed, sockets=1, controllers=2)
    found = judged(seed, Fault(factor=2.0), machine)
    assert (found.verdict, found.fault, found.factor) == ("mis-scaled", None, 2.0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("of_the_load", [0.7, 0.8, 0.9])
def test_a_counter_that_wraps_is_named(seed: int, of_the_load: float) -> None:
    fault = Fault(wraps_at=int(LOAD_BYTES * of_the_load))
    found = judged(seed, fault, a_machine(seed, idle_gb_per_s=0.05, cached_share=0.03))
    assert (found.verdict, found.fault) == ("faulty", "wraps")
    assert "depends on the bytes moved" in found.evidence
    assert is_uncorrected(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_wrap_that_shows_as_a_decrease_is_named(seed: int) -> None:
    found = judged(seed, Fault(goes_back=True), Machine(sockets=1, controllers=1))
    assert (found.verdict, found.fault) == ("faulty", "wraps")
    assert "decreased in" in found.evidence


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("share", [0.2, 0.5])
def test_a_counter_that_stops_within_a_region_is_named(seed: int, share: float) -> None:
    found = judged(seed, Fault(limit=int(LOAD_BYTES * share)), a_machine(seed, idle_gb_per_s=0.05))
    assert (found.verdict, found.fault) == ("faulty", "stops")
    assert "of a region" in found.evidence


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("round_", [2, 6, 9])
def test_a_counter_that_stops_half_way_is_named(seed: int, round_: int) -> None:
    """Its median would be right, or zero, or between."""
    found = judged(seed, Fault(stops_in_round=round_))
    assert (found.verdict, found.fault) == ("faulty", "stops")
    assert f"up to round {round_} of 12, and then nothing" in found.evidence


@pytest.mark.parametrize("seed", SEEDS)
def test_a_controller_that_stops_half_way_is_named_with_its_place(seed: int) -> None:
    one = "uncore_imc_3@cpu1"
    found = judged(seed, Fault(stops_in_round=7, stops=frozenset({one})))
    assert (found.verdict, found.fault, found.missing) == ("faulty", "stops", [one])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("factors", [(1.0, 2.0), (0.5, 1.0), (1.0, 64.0), (2.0, 0.5)])
def test_a_fault_of_one_socket_is_named(seed: int, factors: tuple[float, float]) -> None:
    found = judged(seed, Fault(socket_factors=factors))
    assert (found.verdict, found.fault, found.factor) == ("mis-scaled", "one socket", None)
    assert "socket 0" in found.evidence
    assert "socket 1" in found.evidence
    assert is_uncorrected(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_silent_socket_is_named_as_one(seed: int) -> None:
    found = judged(seed, Fault(silent=ON_0))
    assert (found.verdict, found.fault) == ("partial", "one socket")
    found = judged(seed, Fault(swapped=True))
    assert (found.verdict, found.fault) == ("partial", "swapped sockets")


@pytest.mark.parametrize("seed", SEEDS)
def test_sockets_that_count_all_traffic_have_their_number_as_factor(seed: int) -> None:
    found = judged(seed, Fault(everywhere=True), a_machine(seed, idle_gb_per_s=0.05))
    assert (found.verdict, found.fault) == ("mis-scaled", "all sockets everywhere")
    assert found.factor == 2.0


def test_honest_counters_on_noisy_machines_have_no_fault() -> None:
    """Traffic of others is up to five times the load; docs/counters_verify.md has the rate."""
    alarms = []
    for seed in range(80):
        rng = random.Random(1000 + seed)
        machine = Machine(
            sockets=rng.choice((1, 2)),
            controllers=rng.choice((1, 2, 4, 8)),
            idle_gb_per_s=rng.choice((0.0, 0.05, 2.0, 20.0, 100.0)),
            noise=rng.choice((0.0, 0.3, 1.0)),
            allocate_share=rng.choice((0.0, 0.4, 1.0)),
            cached_share=rng.choice((0.0, 0.05, 0.1)),
            running_share=rng.choice((1.0, 0.5)),
        )
        found = event_verdicts(simulated(seed, machine))
        alarms += [(seed, one) for one in found if one.verdict not in {"verified", "noisy"}]
    assert alarms == []
