"""A run from its first record to its last, over a scripted experiment."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from tests.unit.runner.fakes import FakeBench, FakeExperiment, a_point, a_system, steady

from memgauge.experiments.shared.base import Bench, Group, Values
from memgauge.model.counting.partial import PartialSum
from memgauge.model.errors import NotPossibleHere, RequestError, SystemFailure
from memgauge.model.parameters import CommonParameters
from memgauge.model.record_kinds.counters import CounterSet
from memgauge.model.records import Point, Sample
from memgauge.model.storage.run_file import read_run
from memgauge.model.system import System
from memgauge.runner.budget import FIRST_ROUNDS, Beginning, least_stretch_s
from memgauge.runner.fitting import planned_groups
from memgauge.runner.point_progress import FIRST_LOOK, PASSES
from memgauge.runner.request import Progress, Request
from memgauge.runner.run import execute
from memgauge.system.memory.sources import ORDINARY, Memories

pytestmark = pytest.mark.usefixtures("no_native_core")


def request(
    experiment: FakeExperiment,
    directory: Path,
    *,
    budget_s: float = 5.0,
    precision: float = 0.2,
    available_bytes: int = 1 << 30,
    resume: bool = False,
    machine_id: str = "m1",
    began: Beginning | None = None,
) -> Request:
    return Request(
        experiments=[(experiment, CommonParameters())],
        budget_s=budget_s,
        precision=precision,
        directory=directory,
        system=a_system(available_bytes, machine_id),
        resume=resume,
        began=began,
    )


def test_a_sum_that_lacks_a_controller_is_a_warning_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = "3 of 4 controllers counted: uncore_imc_2 is left out, its cpumask is empty"
    lacks = PartialSum(
        counted=3, listed=4, left_out={"uncore_imc_2": "its cpumask is empty"}, text=note
    )
    looks_alike = "1 of 2 controllers counted: words alone are no fact"
    notes = [note, looks_alike]
    made = CounterSet(counters="traffic", slots=0, of=[], notes=notes, partial=[lacks, lacks])
    monkeypatch.setattr(FakeBench, "counters", [made])
    run = execute(request(FakeExperiment({"g": ["a"]}), tmp_path / "r", budget_s=0.5))
    assert [(one.code, one.message) for one in run.warnings] == [("controllers-left-out", note)]


def test_a_steady_machine_reaches_the_precision_and_ends_early(tmp_path: Path) -> None:
    run = execute(request(FakeExperiment({"g": ["a", "b"]}), tmp_path / "r"))
    assert run.end is not None
    assert run.end.status == "complete"
    assert least_stretch_s(0.2) <= run.end.elapsed_s < 4.0
    assert all(len(samples) >= FIRST_LOOK for samples in run.samples.values())


def test_a_run_whose_time_went_before_it_began_has_its_first_rounds(tmp_path: Path) -> None:
    """82 of 100 s were left for measuring, because the machine is slow, and 84 are over."""
    began = Beginning(time.monotonic() - 84.0, time.process_time())
    experiment = FakeExperiment({"g": ["a", "b"]})
    run = execute(request(experiment, tmp_path / "r", budget_s=100.0, began=began))
    assert run.rounds == FIRST_ROUNDS
    assert run.end is not None
    assert run.end.status == "budget"


def test_every_point_is_sampled_once_in_each_round_in_random_order(tmp_path: Path) -> None:
    experiment = FakeExperiment({"g": ["a", "b"], "h": ["c"]})
    execute(request(experiment, tmp_path / "r"))
    first, second = experiment.benches
    assert [round_ for _, round_ in second.visits[:FIRST_LOOK]] == list(range(FIRST_LOOK))
    rounds = [first.visits[at : at + 2] for at in range(0, 2 * FIRST_LOOK, 2)]
    assert [{round_ for _, round_ in pair} for pair in rounds] == [{n} for n in range(FIRST_LOOK)]
    orders = {tuple(point for point, _ in pair) for pair in rounds}
    assert orders == {("a", "b"), ("b", "a")}, "one order alone: one chance in 2**15"


def test_a_precise_point_is_sampled_to_the_end_in_fewer_rounds(tmp_path: Path) -> None:
    """Another one is never precise: each sample of the precise one stands for several rounds."""
    draw = random.Random(4)

    def duration(point: str, _round: int) -> int:
        return 100_000 + (point == "noisy") * draw.randrange(700_000)

    experiment = FakeExperiment({"g": ["steady", "noisy"]}, duration)
    run = execute(request(experiment, tmp_path / "r", budget_s=1.0, precision=0.01))
    noisy, steady = run.samples["noisy"], run.samples["steady"]
    assert {sample.stands_for for sample in noisy} == {1}
    assert [sample.round for sample in noisy] == list(range(len(noisy)))
    assert steady[-1].round >= len(noisy) - 8
    late = [sample for sample in steady if sample.round >= 64]
    assert {sample.stands_for for sample in late} == {4}
    blocks = [sample.round // 4 for sample in late]
    assert blocks == list(range(blocks[0], blocks[0] + len(blocks)))
    assert len({sample.round % 4 for sample in late}) == 4, "at random, out of a hundred and more"


def test_a_noisy_machine_uses_the_budget_and_says_so(tmp_path: Path) -> None:
    experiment = FakeExperiment({"g": ["a"]}, steady(noise=3.0))
    run = execute(request(experiment, tmp_path / "r", budget_s=0.5, precision=1e-9))
    assert run.end is not None
    assert run.end.status == "budget"
    assert 0.3 < run.end.elapsed_s < 2.0


def test_what_time_was_not_enough_for_is_missed_only_where_it_is_needed(tmp_path: Path) -> None:
    experiment = FakeExperiment({"g": ["a"]}, steady(noise=3.0), needed=False)
    run = execute(request(experiment, tmp_path / "r", budget_s=0.5, precision=1e-9))
    assert run.end is not None
    assert run.end.status == "complete"


def test_what_is_planned_is_checked_without_opening_anything() -> None:
    experiment = FakeExperiment({"g": ["a"]})
    groups = planned_groups(experiment, CommonParameters(), a_system())
    assert [group.name for group in groups] == ["g"]
    with pytest.raises(RequestError, match="--pages 1g: no explicit huge page"):
        planned_groups(experiment, CommonParameters(pages="1g"), a_system())
    assert not experiment.benches


def test_passes_are_counted_not_made_precise(tmp_path: Path) -> None:
    experiment = FakeExperiment({"g": ["a/pass"]}, steady(noise=3.0))
    run = execute(request(experiment, tmp_path / "r"))
    assert len(run.samples["a/pass"]) == PASSES
    assert run.end is not None
    assert run.end.status == "complete"


def test_all_groups_are_open_together_when_they_fit(tmp_path: Path) -> None:
    experiment = FakeExperiment({"g": ["a"], "h": ["b"]})
    execute(request(experiment, tmp_path / "r"))
    assert experiment.open_at_once == 2
    assert not experiment.open_now


def test_groups_that_do_not_fit_together_are_opened_in_turn(tmp_path: Path) -> None:
    experiment = FakeExperiment({"g": ["a"], "h": ["b"]}, group_bytes=700)
    run = execute(request(experiment, tmp_path / "r", available_bytes=1000))
    assert experiment.open_at_once == 1
    assert all(run.samples.values())


def test_a_group_larger_than_memory_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    experiment = FakeExperiment({"g": ["a"]}, group_bytes=1 << 40)
    with pytest.raises(
        RequestError,
        match=r"fake: 1024.0 GiB are needed \(g\), but only .* available .*; free memory",
    ):
        execute(request(experiment, tmp_path / "r"))
    assert not experiment.benches
    assert not (tmp_path / "r").exists()


def test_what_a_search_gave_up_is_visited_no_more_and_kept(tmp_path: Path) -> None:
    experiment = FakeExperiment({"g": ["a", "b"]}, eliminated=frozenset({"b"}))
    run = execute(request(experiment, tmp_path / "r"))
    assert 0 < len(run.samples["b"]) <= 4
    assert len(run.samples["a"]) > len(run.samples["b"])
    assert run.end is not None
    assert run.end.status == "complete"


def test_failed_validation_is_recorded(tmp_path: Path) -> None:
    run = execute(request(FakeExperiment({"g": ["a"]}, valid=False), tmp_path / "r"))
    assert [check.passed for v in run.validations for check in v.checks] == [False]


def test_ctrl_c_keeps_the_samples_of_the_round_under_way(tmp_path: Path) -> None:
    visited: Counter[int] = Counter()

    def interrupted(_point: str, round_: int) -> int:
        visited[round_] += 1
        if visited[3] == 2:
            raise KeyboardInterrupt
        return 100_000

    experiment = FakeExperiment({"g": ["a", "b"]}, interrupted)
    with pytest.raises(KeyboardInterrupt):
        execute(request(experiment, tmp_path / "r"))
    run = read_run(tmp_path / "r")
    assert sorted(len(samples) for samples in run.samples.values()) == [3, 4]
    assert run.end is not None
    assert run.end.status == "interrupted"
    assert not experiment.open_now


def test_a_failure_is_recorded_and_raised(tmp_path: Path) -> None:
    def failing(point: str, round_: int) -> int:
        raise SystemFailure(f"{point}: gone")

    with pytest.raises(SystemFailure, match="a: gone"):
        execute(request(FakeExperiment({"g": ["a"]}, failing), tmp_path / "r"))
    run = read_run(tmp_path / "r")
    assert run.end is not None
    assert (run.end.status, run.end.reason) == ("failed", "a: gone")


def test_a_resumed_run_goes_on_where_it_was_and_repeats_nothing(tmp_path: Path) -> None:
    def interrupted(point: str, round_: int) -> int:
        if round_ == 10:
            raise KeyboardInterrupt
        return 100_000

    with pytest.raises(KeyboardInterrupt):
        execute(request(FakeExperiment({"g": ["a", "b"]}, interrupted), tmp_path / "r"))
    second = FakeExperiment({"g": ["a", "b"]})
    run = execute(request(second, tmp_path / "r", resume=True))
    assert len(run.starts) == 2
    assert run.starts[1].resumed
    assert second.benches[0].visits[0][1] == 10
    assert [sample.round for sample in run.samples["a"]][:12] == list(range(12))
    assert run.end is not None
    assert run.end.status == "complete"


def test_a_run_of_another_machine_is_not_resumed(tmp_path: Path) -> None:
    execute(request(FakeExperiment({"g": ["a"]}), tmp_path / "r"))
    other = request(FakeExperiment({"g": ["a"]}), tmp_path / "r", resume=True, machine_id="m2")
    with pytest.raises(RequestError, match=r"was measured on another machine \(Scripted CPU\)"):
        execute(other)


def test_a_point_whose_work_became_another_is_not_resumed(tmp_path: Path) -> None:
    class Larger(FakeExperiment):
        def plan(self, parameters: CommonParameters, system: System) -> list[Group]:
            groups = super().plan(parameters, system)
            for group in groups:
                group.points[:] = [
                    msgspec.structs.replace(point, bytes_counted=2 * point.bytes_counted)
                    for point in group.points
                ]
            return groups

    execute(request(FakeExperiment({"g": ["a"]}), tmp_path / "r"))
    before = len(read_run(tmp_path / "r").samples["a"])
    with pytest.raises(RequestError, match=r"a was measured with different work before"):
        execute(request(Larger({"g": ["a"]}), tmp_path / "r", resume=True))
    assert len(read_run(tmp_path / "r").samples["a"]) == before


def test_samples_of_two_gpus_are_never_put_into_one_run(tmp_path: Path) -> None:
    class OnGpu(FakeExperiment):
        uuid = "GPU-1"

        def plan(self, parameters: CommonParameters, system: System) -> list[Group]:
            groups = super().plan(parameters, system)
            for group in groups:
                group.points[:] = [
                    msgspec.structs.replace(point, actual={"gpu": "H", "gpu_uuid": self.uuid})
                    for point in group.points
                ]
            return groups

    class OnAnother(OnGpu):
        uuid = "GPU-2"

    execute(request(OnGpu({"g": ["a"]}), tmp_path / "r"))
    execute(request(OnGpu({"g": ["a"]}), tmp_path / "r", resume=True))
    with pytest.raises(RequestError, match=r"a was measured on another GPU \(H, GPU-1\)"):
        execute(request(OnAnother({"g": ["a"]}), tmp_path / "r", resume=True))


def test_progress_never_goes_back(tmp_path: Path) -> None:
    seen: list[Progress] = []
    execute(request(FakeExperiment({"g": ["a"]}), tmp_path / "r"), seen.append)
    shares = [progress.done_share for progress in seen]
    assert shares == sorted(shares)
    assert {progress.phase for progress in seen} >= {"measuring", "validating"}
    assert all(0 <= progress.remaining_s <= 5.0 for progress in seen)


class PairBench(FakeBench):
    """Each visit of `a` also measures `a/traffic`; a search adds `b` once."""

    def __init__(self, points: list[Point]) -> None:
        super().__init__(points, steady(), valid=True)
        self.requested: list[int] = []

    def measure(self, point: str, round_: int) -> list[Sample]:
        (own,) = super().measure(point, round_)
        return [own, msgspec.structs.replace(own, point=f"{point}/traffic")]

    def refine(self, values: Values) -> list[Point]:
        self.requested.append(len(values["a"]))
        return _pair("b") if len(self.requested) == 1 else []


class PairExperiment(FakeExperiment):
    @contextmanager
    def open(
        self,
        group: Group,
        parameters: CommonParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        del memories
        bench = PairBench(_pair("a"))
        self.benches.append(bench)
        yield bench


def _pair(name: str) -> list[Point]:
    follower = msgspec.structs.replace(a_point(f"{name}/traffic"), measured_with=name)
    return [a_point(name), follower]


def test_a_point_measured_with_another_gets_a_sample_of_each_of_its_visits(tmp_path: Path) -> None:
    experiment = PairExperiment({"g": ["a"]})
    run = execute(request(experiment, tmp_path / "r"))
    (bench,) = experiment.benches
    assert {point for point, _ in bench.visits} == {"a", "b"}
    assert len(run.samples["a"]) == len(run.samples["a/traffic"]) > 30
    assert run.end is not None
    assert run.end.status == "complete"


def test_points_that_a_bench_adds_are_declared_and_visited(tmp_path: Path) -> None:
    experiment = PairExperiment({"g": ["a"]})
    run = execute(request(experiment, tmp_path / "r"))
    (bench,) = experiment.benches
    assert isinstance(bench, PairBench)
    assert bench.requested[0] == 4
    assert list(run.points) == ["a", "a/traffic", "b", "b/traffic"]
    assert run.samples["b"][0].round == 4


class ImpossibleExperiment(FakeExperiment):
    name = "impossible"

    def plan(self, parameters: CommonParameters, system: object) -> list[Group]:
        raise NotPossibleHere("impossible: needs two CPUs, one may be used; allow another")


def test_a_survey_goes_on_without_what_the_machine_cannot_do(tmp_path: Path) -> None:
    requested = request(FakeExperiment({"g": ["a"]}), tmp_path / "r")
    both = [*requested.experiments, (ImpossibleExperiment({}), CommonParameters())]
    run = execute(msgspec.structs.replace(requested, experiments=both))
    (warning,) = run.warnings
    assert (warning.code, warning.experiment) == ("left-out", "impossible")
    assert "needs two CPUs" in warning.message
    assert run.samples["a"]


def test_what_the_machine_cannot_do_is_refused_when_it_was_all_that_was_asked(
    tmp_path: Path,
) -> None:
    with pytest.raises(NotPossibleHere, match="needs two CPUs"):
        execute(request(ImpossibleExperiment({}), tmp_path / "r"))
    assert not (tmp_path / "r").exists()
