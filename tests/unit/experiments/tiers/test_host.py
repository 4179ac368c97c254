"""What `tiers` plans, who works where, and what a visit gives."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import MIB, a_machine

from memgauge.experiments.shared.base import Bench, Group
from memgauge.experiments.tiers.host import Tiers, TiersBench
from memgauge.experiments.tiers.parameters import TiersParameters
from memgauge.experiments.tiers.plan import sampling_passes, team_plans
from memgauge.experiments.tiers.team import TRIES, samples_of
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.memory import MemoryPlacement
from memgauge.model.parameters import build
from memgauge.model.points.tiers import TiersRequested
from memgauge.model.records import Point, Sample
from memgauge.model.rules import StreamRules
from memgauge.system.detect import detect
from memgauge.system.memory.sources import opened

DRAM = MemoryPlacement()
SHM = MemoryPlacement("shm")
SMALL = {"b": "dram:dram", "array_bytes": "1MiB"}

two_cpus = pytest.mark.skipif(
    len(detect().allowed_cpus) < 2, reason="needs two CPUs: one for each group"
)


def planned(cores: int = 4, **given: str) -> Group:
    (group,) = Tiers().plan(build(TiersParameters, **given), a_machine(cores))
    return group


def names(group: Group) -> list[str]:
    return [point.point for point in group.points]


@contextmanager
def bench(**given: str) -> Iterator[Bench]:
    experiment, system = Tiers(), detect()
    parameters = build(TiersParameters, **{**SMALL, **given})
    (group,) = experiment.plan(parameters, system)
    with (
        opened(group.bytes_in) as memories,
        experiment.open(group, parameters, memories) as made,
    ):
        assert [point.point for point in made.points] == names(group)
        yield made


def visited(made: Bench, round_: int = 0) -> dict[str, Sample]:
    """One round: samples by point."""
    leaders = [point.point for point in made.points if point.measured_with is None]
    taken = [sample for point in leaders for sample in made.measure(point, round_)]
    assert len({sample.point for sample in taken}) == len(taken)
    return {sample.point: sample for sample in taken}


def test_every_split_gives_the_points_of_its_groups() -> None:
    group = planned(2, b="shm:")
    assert names(group) == [
        "tiers/copy/2t/k0/a",
        "tiers/copy/2t/k1/a",
        "tiers/copy/2t/k1/b",
        "tiers/copy/2t/k2/b",
    ]
    assert [point.measured_with for point in group.points] == [
        None,
        None,
        "tiers/copy/2t/k1/a",
        None,
    ]
    assert all(point.work == "window" for point in group.points)


def test_a_probe_adds_passes_of_its_own() -> None:
    group = planned(3, b="shm:", latency="true", split="1")
    assert names(group) == [
        "tiers/copy/2t/k1/a",
        "tiers/copy/2t/k1/b",
        "tiers/copy/2t/k1/latency-a",
        "tiers/copy/2t/k1/latency-b",
    ]
    assert [point.quantity for point in group.points[2:]] == ["latency"] * 2
    assert all(point.measured_with is None for point in group.points[2:])
    same = planned(3, b="dram:shm:", latency="true", split="1")
    assert names(same)[2:] == ["tiers/copy/2t/k1/latency-a"], "both read the same memory"


def test_mixes_and_pauses_are_in_the_names() -> None:
    group = planned(2, b="shm:", read_share="100%,66.7%", delay_b="0,200")
    whats = dict.fromkeys(name.partition("/2t/")[0] for name in names(group))
    assert list(whats) == [
        "tiers/100r",
        "tiers/100r/d0-200",
        "tiers/66.7r",
        "tiers/66.7r/d0-200",
    ]
    for point in group.points:
        assert point.point.startswith(f"tiers/{TiersRequested.of(point.requested).name}/2t/")
    last = group.points[-1]
    assert (
        last.requested["delay_ns"],
        last.requested["delay_a_ns"],
        last.requested["delay_b_ns"],
    ) == (
        200,
        0,
        200,
    )


def test_what_was_asked_is_in_every_point() -> None:
    group = planned(4, a="dram:node:1", b="shm::dram", kernel="scale,triad", fixed_iterations="7")
    for point in group.points:
        requested = point.requested
        assert requested["kernel"] in {"scale", "triad"}
        assert (requested["threads"], requested["fixed_iterations"]) == (4, 7)
        a, k = requested["group"] == "a", requested["b_threads"]
        assert isinstance(k, int)
        assert requested["group_threads"] == point.threads == (4 - k if a else k)
        assert (requested["source"], requested["destination"]) == (
            ("dram", "node:1") if a else ("shm:", "dram")
        )


@given(st.integers(1, 24), st.booleans(), st.data())
def test_threads_keep_their_cpus_and_b_has_the_last(
    threads: int, latency: bool, data: st.DataObject
) -> None:
    k_list = data.draw(st.lists(st.integers(0, threads), min_size=1, unique=True))
    parameters = TiersParameters(
        threads=(threads,), latency=latency, split=tuple(k_list), memory=SHM, cpus="compact"
    )
    (plan,) = team_plans(parameters, a_machine(32))
    working = plan.cpus[int(latency) :]
    assert len(working) == threads
    for k in k_list:
        assert plan.group_cpus("a", k) == working[: threads - k]
        assert plan.group_cpus("b", k) == working[threads - k :]
        needed = {
            *(("a", n) for n in plan.places("a", k)),
            *(("b", n) for n in plan.places("b", k)),
        }
        assert needed <= set(plan.members)
    assert len(set(plan.members)) == len(plan.members)


def test_only_arrays_that_some_split_uses_are_allocated() -> None:
    every = planned(4, b="shm:", array_bytes="2MiB")
    assert every.bytes_in == {DRAM: 4 * 2 * 2 * MIB, SHM: 4 * 2 * 2 * MIB}
    assert every.bytes == sum(every.bytes_in.values())
    one = planned(4, b="shm:", array_bytes="2MiB", split="1")
    assert one.bytes_in == {DRAM: 3 * 2 * 2 * MIB, SHM: 2 * 2 * MIB}
    triad = planned(4, b="shm::dram", array_bytes="2MiB", split="4", kernel="triad")
    assert triad.bytes_in == {SHM: 4 * 2 * 2 * MIB, DRAM: 4 * 2 * MIB}
    reads = planned(4, b="shm::dram", array_bytes="2MiB", split="4", kernel="read")
    assert reads.bytes_in == {SHM: 4 * 2 * MIB}


def test_several_numbers_of_threads_are_several_groups() -> None:
    groups = Tiers().plan(build(TiersParameters, b="shm:", threads="1,4"), a_machine(4))
    assert [group.name for group in groups] == ["1 thread", "4 threads"]
    assert len({point.point for group in groups for point in group.points}) == 2 + 8


def test_one_tier_is_left_out_of_a_survey() -> None:
    with pytest.raises(NotPossibleHere, match="this machine has one tier of memory"):
        Tiers().plan(TiersParameters(), a_machine(4))


def test_translation_needs_a_pool() -> None:
    with pytest.raises(RequestError, match=r"--access translated: .* name one with --b pmemobj"):
        planned(2, b="shm:", access="translated")


def test_small_arrays_and_a_probe_are_warned_of_once() -> None:
    group = planned(3, b="shm:", array_bytes="1MiB", latency="true")
    warnings = [w for point in group.points for w in Tiers().check(point, [], a_machine(3))]
    assert [warning.code for warning in warnings] == ["arrays-in-caches", "probe-took-a-cpu"]
    assert "CPU 0 probes the latency, so that one CPU less" in warnings[1].message
    quiet = planned(3, b="shm:", threads="2", latency="true")
    assert not [w for point in quiet.points for w in Tiers().check(point, [], a_machine(3))]


def check_shapes(points: list[Point], taken: dict[str, Sample]) -> None:
    """What the rules of a run want, and that windows are common."""
    for point in points:
        sample = taken[point.point]
        assert len(sample.threads) == point.threads
        assert (sample.window_ns is None) == (point.quantity == "latency")
        for thread in sample.threads:
            assert len(thread.begin_ns) == len(thread.end_ns) >= 1
        if point.measured_with is not None:
            assert sample.window_ns == taken[point.measured_with].window_ns


@two_cpus
def test_a_visit_gives_both_groups_of_the_same_moment() -> None:
    with bench(threads="2") as made:
        taken = visited(made)
        check_shapes(made.points, taken)
        cpus = [taken[f"tiers/copy/2t/k1/{group}"].threads[0].cpu for group in "ab"]
        assert [t.cpu for t in taken["tiers/copy/2t/k0/a"].threads] == cpus
        assert [t.cpu for t in taken["tiers/copy/2t/k2/b"].threads] == cpus
        (validation,) = made.validate()
        assert validation.checks
        assert all(check.passed for check in validation.checks)


def a_slice(*switches: int) -> Any:
    threads = [
        SimpleNamespace(
            cpu=cpu,
            begin_ns=[10, 20],
            end_ns=[20, 30],
            involuntary_switches=count,
            page_faults=0,
            read_bytes=64,
            write_bytes=64,
        )
        for cpu, count in enumerate(switches)
    ]
    return SimpleNamespace(
        slice=SimpleNamespace(threads=threads, pingpong_ns=30.0), window_ns=(10, 30), load_ns=[]
    )


def test_each_thread_is_recorded_with_its_own_group() -> None:
    parameters = build(TiersParameters, b="shm:", threads="3", split="1")
    (plan,) = team_plans(parameters, a_machine(3))
    (planned_pass,) = sampling_passes(plan)
    a, b = samples_of(planned_pass.points.values(), 4, a_slice(0, 2, 5))
    assert (a.point, b.point) == ("tiers/copy/3t/k1/a", "tiers/copy/3t/k1/b")
    assert [[(t.cpu, t.involuntary_switches) for t in s.threads] for s in (a, b)] == [
        [(0, 0), (1, 2)],
        [(2, 5)],
    ]
    assert a.window_ns == b.window_ns == (10, 30)
    assert a.round == b.round == 4
    assert {(t.read_bytes, t.write_bytes) for s in (a, b) for t in s.threads} == {(0, 0)}


@two_cpus
@pytest.mark.parametrize("kernel", ["copy", "scale", "add", "triad", "read", "write", "update"])
@pytest.mark.parametrize("variant", ["standard", "tuned"])
def test_every_kernel_counts_the_bytes_of_one_iteration(kernel: str, variant: str) -> None:
    arrays = {"copy": 2, "scale": 2, "add": 3, "triad": 3, "read": 1, "write": 1, "update": 3}
    with bench(threads="2", kernel=kernel, variant=variant, split="1") as made:
        for point in made.points:
            assert point.actual["iteration_bytes"] == MIB // 4
            assert point.bytes_counted == arrays[kernel] * MIB // 4
            assert point.bytes_moved >= point.bytes_counted
            assert point.actual["variant"] == variant
        check_shapes(made.points, visited(made))
        assert all(check.passed for one in made.validate() for check in one.checks)


@two_cpus
def test_fixed_iterations_are_as_many_as_were_asked_for() -> None:
    with bench(threads="2", fixed_iterations="5") as made:
        for sample in visited(made).values():
            assert {len(thread.begin_ns) for thread in sample.threads} == {5}
        for point in made.points:
            assert point.bytes_counted == 2 * MIB
            assert "pass_ns" not in point.actual


@two_cpus
def test_mixes_with_pauses_say_what_the_pauses_are() -> None:
    with bench(threads="2", read_share="100%,50%", delay_b="0,500", split="1") as made:
        taken = visited(made)
        check_shapes(made.points, taken)
        for point in made.points:
            requested = point.requested["delay_ns"]
            if requested:
                assert isinstance(got := point.actual["delay_ns"], float)
                assert got == pytest.approx(requested, rel=0.05)
            assert point.bytes_moved >= point.bytes_counted > 0


@two_cpus
def test_a_probe_walks_while_the_others_work() -> None:
    with bench(a="shm:", b="dram", latency="true", threads="1") as made:
        taken = visited(made)
        check_shapes(made.points, taken)
        probes = {name: sample for name, sample in taken.items() if "latency" in name}
        assert len(probes) == 4
        for sample in probes.values():
            (thread,) = sample.threads
            assert thread.cpu == made.points[0].actual["probe_cpu"]
            assert sum(count for _, count in sample.load_ns) > 0


@two_cpus
def test_memory_that_was_got_is_beside_what_was_asked() -> None:
    with bench(threads="2", b="dram:shm:") as made:
        for point in made.points:
            facts: dict[str, Any] = point.actual
            assert facts["source_pages"]
            assert facts["destination_pages"]
            assert facts["array_bytes"] == MIB
            assert point.requested.get("memory") == (
                "dram" if point.requested["group"] == "a" else None
            )


@two_cpus
def test_addresses_in_a_pool_are_translated_or_not(tmp_path: Path) -> None:
    try:
        ctypes.CDLL("libpmemobj.so.1")
    except OSError:
        pytest.skip("libpmemobj.so.1 is not installed")
    requested = {"b": f"dram:pmemobj:{tmp_path}/pool", "access": "direct,translated"}
    with bench(threads="2", split="1", kernel="copy,triad", **requested) as made:
        check_shapes(made.points, visited(made))
        how = {
            (p.requested["access"], p.requested["group"]): p.actual["access"] for p in made.points
        }
        assert how == {
            ("direct", "a"): "direct",
            ("direct", "b"): "direct",
            ("translated", "a"): "direct",
            ("translated", "b"): "translated-destination",
        }
        assert {point.actual["variant"] for point in made.points} == {"standard"}
        assert all(check.passed for one in made.validate() for check in one.checks)
    assert not (tmp_path / "pool").exists()


@two_cpus
@pytest.mark.parametrize(("pages", "codes"), [("auto", ["pages-differ"]), ("4k", [])])
def test_pages_that_differ_are_warned_of_once(pages: str, codes: list[str]) -> None:
    system = detect()
    if pages == "auto" and system.thp not in {"always", "madvise"}:
        pytest.skip("this kernel gives no transparent huge pages")
    with bench(threads="2", b="shm:", pages=pages, array_bytes="4MiB", split="0,2") as made:
        found = [w for point in made.points for w in Tiers().check(point, [], system)]
        assert [w.code for w in found if w.code != "arrays-in-caches"] == codes


@two_cpus
def test_records_of_a_round_keep_the_rules_of_a_run() -> None:
    with bench(threads="2") as made:
        rules = StreamRules()
        for point in made.points:
            assert point.bytes_counted > 0
            rules._check_point(point)
        for sample in visited(made).values():
            rules._check_sample(msgspec.json.decode(msgspec.json.encode(sample), type=Sample))


@two_cpus
def test_damage_is_found_by_the_validation() -> None:
    with bench(threads="2", split="1") as made:
        visited(made)
        assert isinstance(made, TiersBench)
        made._team.competition.corrupt(0, 17)
        (validation,) = made.validate()
        assert [check.passed for check in validation.checks].count(False) == 1


class Late:
    """A competition in whose first runs one thread never came to run."""

    def __init__(self, competition: Any, late: int) -> None:
        self._competition = competition
        self.late = late

    def run(self, *given: Any, **named: Any) -> Any:
        taken = self._competition.run(*given, **named)
        self.late -= 1
        if self.late < 0:
            return taken
        threads = [SimpleNamespace(begin_ns=[]), *taken.slice.threads[1:]]
        cut = SimpleNamespace(threads=threads, pingpong_ns=taken.slice.pingpong_ns)
        return SimpleNamespace(slice=cut, window_ns=None)


@two_cpus
@pytest.mark.parametrize(("late", "samples"), [(0, 2), (TRIES - 1, 2), (TRIES, 0)])
def test_a_thread_that_never_ran_spoils_the_visit(late: int, samples: int) -> None:
    with bench(threads="2", split="1") as made:
        assert isinstance(made, TiersBench)
        competition: Any = Late(made._team.competition, late)
        made._team = msgspec.structs.replace(made._team, competition=competition)
        assert len(made.measure(made.points[0].point, 0)) == samples
