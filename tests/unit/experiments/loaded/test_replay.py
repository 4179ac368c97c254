"""What a replay plans, which mixes it makes, and what one replay gives."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.analysis.loaded.replays import Step, replayed
from tests.unit.analysis.profile.runs import counted_profile
from tests.unit.experiments.machines import MIB, a_machine

import memgauge
from memgauge.experiments.loaded import plan as loaded_plan
from memgauge.experiments.loaded.host import Loaded
from memgauge.experiments.loaded.parameters import LoadedParameters
from memgauge.experiments.loaded.replay import Replay
from memgauge.experiments.loaded.replay_plan import LEAST_REPLAYS, load_of, moved_share
from memgauge.experiments.registry import load
from memgauge.experiments.shared import read_write_mix
from memgauge.experiments.shared.read_write_mix import STORES
from memgauge.measuring import measure
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.parameters import RunOptions, build
from memgauge.model.points.loaded import ReplayActual
from memgauge.model.points.shared import AnyActual
from memgauge.system.detect import detect

STEPS = [
    Step(seconds=0.02, gb_per_s=0.5, read_share=1.0),
    Step(seconds=0.04, gb_per_s=1.0, read_share=0.5),
    Step(seconds=0.02, gb_per_s=5000.0, read_share=0.75),
]

two_cpus = pytest.mark.skipif(
    len(detect().allowed_cpus) < 2, reason="needs two CPUs: a probe and a generator"
)


@given(st.floats(0, 1))
def test_a_mix_moves_the_share_of_reads_that_is_asked(share: float) -> None:
    """Ordinary stores read each line they write: a mix of q reads moves 1 / (2 - q) of reads."""
    load = load_of(share, STORES, "sequential")
    if share >= 0.5 or read_write_mix.has_non_temporal_stores():
        assert moved_share(load) == pytest.approx(share, abs=0.002)
    if 0.5 <= share < 0.999:
        assert load.store == "temporal"
        assert load.read_share == pytest.approx(2 - 1 / share, abs=1e-6)


def test_a_share_that_stores_cannot_make_becomes_the_nearest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert moved_share(load_of(0.2, ("temporal",), "sequential")) == 0.5
    monkeypatch.setattr(read_write_mix, "has_non_temporal_stores", lambda: False)
    load = load_of(0.2, STORES, "sequential")
    assert (load.reads, load.writes, load.store) == (0, 1, "temporal")


def test_points_keep_the_order_of_time_and_are_all_measured_with_the_first() -> None:
    (group,) = Replay(replayed(STEPS)).plan(LoadedParameters(), a_machine(8))
    first, *others = group.points
    assert first.point == "loaded/like-p1/unloaded"
    assert {one.measured_with for one in others} == {first.point}
    names = [one.point for one in group.points if one.quantity == "latency"]
    assert names[1:] == [f"loaded/like-p1/{at}-of-3" for at in (1, 2, 3)]
    assert {one.threads for one in others if one.quantity == "bandwidth"} == {7}
    assert group.bytes == group.plan.team.total_bytes


def test_a_run_lasts_for_some_replays_however_precise_they_are() -> None:
    (group,) = Replay(replayed(STEPS)).plan(LoadedParameters(), a_machine(8))
    leader = group.points[0]
    passes = AnyActual.of(leader.actual).passes
    assert (leader.role, passes) == ("run", 2 * LEAST_REPLAYS * group.plan.unloaded_passes)


def test_steps_keep_their_share_of_a_shortened_replay() -> None:
    (group,) = Replay(replayed(STEPS, replay_s=0.02)).plan(LoadedParameters(), a_machine(8))
    seconds = [group.plan.seconds_of(level) for level in group.plan.levels]
    assert seconds == pytest.approx([0, 0.005, 0.01, 0.005])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"delay": "10"}, "--delay: does not apply to --like"),
        ({"threads": "1,2"}, "--threads 1-2: --like replays with one number of threads"),
        ({"order": "sequential,random"}, "--order: --like replays in one order"),
    ],
)
def test_options_without_meaning_for_a_replay_are_refused(
    given: dict[str, str], message: str
) -> None:
    with pytest.raises(RequestError, match=message):
        Replay(replayed(STEPS)).plan(build(LoadedParameters, like="p", **given), a_machine(8))


def test_one_cpu_is_not_enough() -> None:
    with pytest.raises(NotPossibleHere, match="only one CPU can be used"):
        Replay(replayed(STEPS)).plan(LoadedParameters(), a_machine(8, allowed=[3]))


def test_steps_without_a_profile_are_refused() -> None:
    with pytest.raises(RequestError, match="--steps: condenses the profile of --like"):
        Loaded().plan(build(LoadedParameters, steps="3"), a_machine(4))


@pytest.fixture
def small_rings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loaded_plan, "memory_footprint", lambda *_: 8 * MIB)


@two_cpus
@pytest.mark.usefixtures("small_rings")
def test_a_replay_takes_the_steps_in_turn_between_two_looks_without_load() -> None:
    experiment, system = Replay(replayed(STEPS)), detect()
    parameters = build(LoadedParameters, like="p", threads="1")
    (group,) = experiment.plan(parameters, system)
    with experiment.open(group, parameters) as bench:
        assert [one.point for one in bench.points] == [one.point for one in group.points]
        points = {one.point: one for one in bench.points}
        samples = bench.measure(bench.points[0].point, 4)
        (validation,) = bench.validate()
        assert all(check.passed for check in validation.checks)
    assert {one.round for one in samples} == {4}
    order = list(dict.fromkeys(one.point for one in samples))
    assert order == [one.point for one in bench.points]
    assert samples[-1].point == bench.points[1].point
    assert {one.point for one in samples} == set(points)
    for sample in samples:
        point = points[sample.point]
        assert len(sample.threads) == point.threads
        assert (sample.load_ns != []) == (point.quantity == "latency")
    actual = [ReplayActual.of(one.actual) for one in bench.points if one.quantity == "latency"]
    assert [one.most_gb_per_s is not None for one in actual] == [False, False, False, True]
    assert actual[3].delay_ns == 0
    assert (actual[2].reads, actual[2].writes, actual[2].store) == (0, 1, "temporal")


@two_cpus
def test_a_profile_is_replayed_and_a_killed_replay_completed_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loaded_plan, "memory_footprint", lambda *_: 8 * MIB)
    counted_profile(tmp_path / "neighbour")
    result = memgauge.loaded(
        like=str(tmp_path / "neighbour"),
        threads="1",
        store="temporal",
        budget="1s",
        output=str(tmp_path / "run"),
    )
    (recorded,) = result.run.replays
    assert recorded.basis == "measured"
    assert sum(one.read_bytes for one in recorded.steps) == pytest.approx(64 * 0.2 * 45e6, rel=0.02)
    document = result.document()["replay"]
    assert len(document["steps"]) == len(recorded.steps) == 2
    assert document["compression"] == pytest.approx(0.4 / 0.07, rel=0.02)
    assert document["replays"] == result.run.rounds
    assert "Replay of app --fast" in result.text()
    shutil.rmtree(tmp_path / "neighbour")
    requested = {k: v for k, v in result.run.parameters["loaded"].items() if v is not None}
    chosen = [(load("loaded"), build(LoadedParameters, **requested))]
    again = measure(chosen, build(RunOptions, budget="1s"), name="loaded", resume=tmp_path / "run")
    assert (len(again.run.starts), again.run.replays) == (2, [recorded])
    assert len(again.run.points) == len(result.run.points)
    assert again.run.rounds >= result.run.rounds


@two_cpus
def test_a_profile_without_traffic_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    run = memgauge.profile(["true"], components="process", output=str(tmp_path / "p"))
    with pytest.raises(RequestError, match="has no counted memory traffic"):
        memgauge.loaded(like=str(run.directory), output=str(tmp_path / "run"))
    assert not (tmp_path / "run").exists()
