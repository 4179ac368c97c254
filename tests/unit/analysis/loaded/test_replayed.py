"""What is made of a profile that is to be replayed, and when it is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from tests.unit.analysis.profile.runs import (
    MS,
    Made,
    Rate,
    S,
    counter,
    energy,
    every,
    profile,
    ran,
    reads,
    sampled,
    steps,
    writes,
)

from memgauge.analysis.loaded.replayed import Wanted, replayed_of
from memgauge.model.counting.events import Counter
from memgauge.model.errors import RequestError
from memgauge.model.record_kinds.replayed import Replayed
from memgauge.model.records import Warning
from memgauge.model.run import Run

LINES = 64.0
READ = steps((2.0, 10e9 / LINES), (3.0, 2e9 / LINES), (6.0, 20e9 / LINES))
WRITTEN = steps((2.0, 0.0), (3.0, 2e9 / LINES), (6.0, 10e9 / LINES))
"""Three phases of 2, 1 and 3 s: 10 GB/s of reads, 4 GB/s half and half, 30 GB/s two to one."""


def profiled(
    place: Path,
    rates: Sequence[Rate] = (READ, WRITTEN),
    counters: Sequence[Counter] | None = None,
    warnings: Sequence[Warning] = (),
    end_s: float = 6.0,
) -> Run:
    made = counters if counters is not None else [reads(0), writes(1)]
    lane = Made([*made], sampled(rates, made, every(10 * MS, round(end_s * S))))
    return profile(place, lane, process=ran(end_s), warnings=warnings)


def replayed(run: Run, most: int = 12, longest_s: float = 100.0, **wanted: float) -> Replayed:
    return replayed_of(run, "'p'", Wanted(steps=most, longest_s=longest_s, **wanted))


def test_phases_become_steps_with_their_rate_their_share_of_reads_and_their_time(
    tmp_path: Path,
) -> None:
    made = replayed(profiled(tmp_path))
    assert (made.pieces_of, made.pieces, made.basis) == ("phases", 3, "measured")
    assert [one.begin_s for one in made.steps] == pytest.approx([0, 2, 3], abs=0.06)
    assert [one.gb_per_s for one in made.steps] == pytest.approx([10, 4, 30], rel=0.05)
    assert [one.read_share for one in made.steps] == pytest.approx([1, 0.5, 2 / 3], abs=0.03)
    assert made.variation_kept is not None
    assert made.variation_kept > 0.95
    assert made.busiest_gb_per_s == pytest.approx(30, rel=0.01)
    assert (made.command, made.unknown_s, made.trust) == ("app --fast", 0, "never verified")
    assert made.compression == 1


@pytest.mark.parametrize("most", [1, 2, 3, 12])
def test_bytes_and_time_are_those_of_the_profile_however_few_steps(
    tmp_path: Path, most: int
) -> None:
    made = replayed(profiled(tmp_path), most)
    assert len(made.steps) == min(most, 3)
    assert sum(one.read_bytes for one in made.steps) == pytest.approx(82e9, rel=1e-6)
    assert sum(one.write_bytes for one in made.steps) == pytest.approx(32e9, rel=1e-6)
    assert made.steps_s == pytest.approx(6)
    assert made.profile_s == pytest.approx(6)


def test_the_steps_that_are_most_alike_are_merged(tmp_path: Path) -> None:
    made = replayed(profiled(tmp_path), 2)
    assert [one.gb_per_s for one in made.steps] == pytest.approx([8, 30], rel=0.05)
    assert made.variation_kept is not None
    assert 0.8 < made.variation_kept < 0.99


def test_all_steps_are_shortened_alike_where_a_replay_may_not_last_as_long(tmp_path: Path) -> None:
    made = replayed(profiled(tmp_path), longest_s=1.5)
    assert made.replay_s == 1.5
    assert made.compression == pytest.approx(4)


def test_a_profile_without_phases_is_cut_into_stretches_of_its_time(tmp_path: Path) -> None:
    made = replayed(profiled(tmp_path, [steps((9, 1e8)), steps((9, 0.0))]))
    assert (made.pieces_of, len(made.steps)) == ("bins", 1)
    assert made.variation_kept is None
    assert made.steps[0].read_share == 1


def test_what_is_modelled_is_called_so(tmp_path: Path) -> None:
    counters = [reads(0, basis="modelled"), writes(1, basis="modelled")]
    made = replayed(profiled(tmp_path, counters=counters))
    assert made.basis == "modelled"
    assert all("modelled" in name for name in made.counters)


def test_time_without_readings_is_not_replayed_and_is_told(tmp_path: Path) -> None:
    counters = [reads(0), writes(1)]
    early = sampled([READ, WRITTEN], counters, every(10 * MS, 2 * S))
    lane = Made(counters, early)
    other = Made([energy(0)], sampled([steps((9, 1e6))], [energy(0)], every(10 * MS, 6 * S)))
    other.name = "slow"
    made = replayed(profile(tmp_path, lane, other, process=ran(6.0)))
    assert made.unknown_s == pytest.approx(6 - made.steps_s)
    assert made.profile_s == pytest.approx(6)
    assert sum(one.read_bytes for one in made.steps) == pytest.approx(20e9, rel=0.02)


def traffic(slot: int) -> Counter:
    return counter("resctrl:mbm_total@L3", slot, quantity="traffic_bytes")


def test_counters_of_both_together_need_a_share_of_reads(tmp_path: Path) -> None:
    run = profiled(tmp_path, [READ], [traffic(0)])
    with pytest.raises(RequestError, match=r"--like 'p': .* do not distinguish .*--read-share 67%"):
        replayed(run)
    made = replayed(run, read_share=0.75)
    assert made.read_share_given == 0.75
    assert {round(one.read_share or 0, 6) for one in made.steps} == {0.75}
    assert sum(one.read_bytes for one in made.steps) == pytest.approx(0.75 * 82e9, rel=1e-6)


def test_a_share_of_reads_is_refused_where_the_profile_has_its_own(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="--read-share: the profile 'p' has its own"):
        replayed(profiled(tmp_path), read_share=0.5)


def test_a_profile_without_counted_traffic_is_refused_with_the_recorded_reason(
    tmp_path: Path,
) -> None:
    refused = Warning(code="not-watched", message="memory: no counter is open to this user")
    run = profiled(tmp_path, [steps((9, 1e6))], [energy(0)], [refused])
    with pytest.raises(RequestError, match=r"no counted memory traffic") as error:
        replayed(run)
    assert "(memory: no counter is open to this user)" in str(error.value)
    assert "'memgauge counters'" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("made", "message"),
    [([reads(0)], "has counted reads of memory and no writes"), ([writes(0)], "and no reads")],
)
def test_one_side_alone_is_refused(tmp_path: Path, made: list[Counter], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        replayed(profiled(tmp_path, [READ], made))


def test_a_profile_of_an_idle_memory_is_refused(tmp_path: Path) -> None:
    none = steps((9, 0.0))
    with pytest.raises(RequestError, match="counted no traffic of memory"):
        replayed(profiled(tmp_path, [none, none]))


def test_a_run_that_is_no_profile_is_refused(tmp_path: Path) -> None:
    run = profiled(tmp_path)
    other = msgspec.structs.replace(run.start, experiments=["stream"])
    with pytest.raises(RequestError, match="is no profile, but a run of stream"):
        replayed(msgspec.structs.replace(run, starts=[other]))
