"""The host's threads beside transfers: who works when; real threads, transfers that are made up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("memgauge._core")

from tests.unit.analysis.runs import start
from tests.unit.experiments.machines import MIB, a_machine
from tests.unit.experiments.made_up_gpus import GIB, FakeTransfers, a_gpu

from memgauge import _core
from memgauge.experiments.registry import for_memory, load
from memgauge.experiments.shared.base import Bench, Group
from memgauge.experiments.tiers import gpu as gpu_tiers
from memgauge.experiments.tiers.gpu import GpuTiers
from memgauge.experiments.tiers.gpu_bench import BesideBench
from memgauge.experiments.tiers.host import Tiers
from memgauge.experiments.tiers.parameters import TiersParameters
from memgauge.experiments.tiers.team import PreparedTeam
from memgauge.model.errors import RequestError
from memgauge.model.memory import on_gpu
from memgauge.model.parameters import build, texts
from memgauge.model.records import Sample
from memgauge.model.rules import StreamRules
from memgauge.system.detect import detect

CUDA = {"b": "cuda:0"}
SMALL = {**CUDA, "array_bytes": "1MiB", "threads": "1"}


@pytest.fixture(autouse=True)
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = a_gpu()
    monkeypatch.setattr(gpu_tiers, "opened_gpu", lambda placement: gpu)
    monkeypatch.setattr(gpu_tiers, "gpu_facts", lambda gpu: {"gpu": gpu.facts.name})
    monkeypatch.setattr(_core, "GpuTransfers", FakeTransfers, raising=False)
    monkeypatch.setattr(FakeTransfers, "now", _core.clock_now_ns)
    monkeypatch.setattr(FakeTransfers, "bytes_per_ns", 50)


def planned(cores: int = 4, **given: str) -> Sequence[Group]:
    return GpuTiers().plan(build(TiersParameters, **{**CUDA, **given}), a_machine(cores))


@contextmanager
def bench(**given: str) -> Iterator[Bench]:
    experiment, system = GpuTiers(), detect()
    parameters = build(TiersParameters, **{**SMALL, **given})
    (group,) = experiment.plan(parameters, system)
    with experiment.open(group, parameters) as made:
        assert [point.point for point in made.points] == [point.point for point in group.points]
        yield made


def visited(made: Bench) -> dict[str, Sample]:
    leaders = [point.point for point in made.points if point.measured_with is None]
    return {one.point: one for point in leaders for one in made.measure(point, 0)}


def test_each_is_visited_alone_and_beside_the_other() -> None:
    (group,) = planned(2, transfer="both,host-to-device")
    assert [point.point for point in group.points] == [
        "tiers/copy/2t/alone/a",
        "tiers/transfers/2t/host-to-device/host-to-device",
        "tiers/transfers/2t/both/host-to-device",
        "tiers/transfers/2t/both/device-to-host",
        "tiers/copy/2t/host-to-device/a",
        "tiers/copy/2t/host-to-device/host-to-device",
        "tiers/copy/2t/both/a",
        "tiers/copy/2t/both/host-to-device",
        "tiers/copy/2t/both/device-to-host",
    ]
    leaders = [point.point for point in group.points if point.measured_with is None]
    assert len(leaders) == 5
    threads = {point.point: point.threads for point in group.points}
    assert all(count == (2 if name.endswith("/a") else 1) for name, count in threads.items())


def test_every_number_of_threads_is_a_group_and_every_kernel_a_work() -> None:
    groups = planned(4, threads="1,4", kernel="copy,triad", transfer="both")
    assert [group.name for group in groups] == ["1 thread", "4 threads"]
    for group in groups:
        kernels = {point.requested.get("kernel") for point in group.points}
        assert kernels == {"copy", "triad", None}


def test_all_cpus_work_and_transfers_exceed_the_caches() -> None:
    (group,) = planned(4)
    assert group.points[0].threads == 4
    size = int(str(group.points[0].actual["transfer_bytes"]))
    assert size == 64 * MIB
    assert {str(where) for where in group.bytes_in} == {"dram", "cuda:0"}
    assert group.bytes_in[on_gpu(0)] == 2 * size
    (large,) = GpuTiers().plan(build(TiersParameters, **CUDA), a_machine(4, llc_bytes=256 * MIB))
    assert large.points[0].actual["transfer_bytes"] == 256 * MIB


def test_buffers_fit_a_small_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = a_gpu(free_bytes=60 * MIB)
    monkeypatch.setattr(gpu_tiers, "opened_gpu", lambda placement: gpu)
    (group,) = planned(2)
    assert group.points[0].actual["transfer_bytes"] == 4 * MIB


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": "cuda:1"}, "--a: threads of the host cannot access the memory of a GPU, cuda:1"),
        ({"b": "dram:cuda:0"}, "--b dram:cuda:0: a GPU must be alone in group B"),
        ({"a": "shm:"}, "--a shm:: transfers need memory that the driver can pin; choose dram"),
        ({"split": "1"}, "--split: beside transfers to a GPU all threads are in group A"),
        ({"delay_b": "5", "read_share": "50%"}, "--delay-b: beside transfers .* make no pauses"),
        ({"fixed_iterations": "3"}, "--fixed-iterations: beside transfers"),
        ({"access": "translated"}, "--access: beside transfers to a GPU no group uses a pool"),
        ({"threads": "9"}, "--threads 9: 9 threads need one CPU each, but only 4 can be used"),
    ],
)
def test_what_means_nothing_is_refused_by_name(given: dict[str, str], message: str) -> None:
    with pytest.raises(RequestError, match=message) as refused:
        planned(4, **given)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("given", [{"preset": "nvm-nvm"}, {"nvm": "dram"}])
def test_presets_are_for_two_memories_that_threads_reach(given: dict[str, str]) -> None:
    with pytest.raises(RequestError, match=r"--preset|--nvm|--b"):
        GpuTiers().plan(build(TiersParameters, memory="cuda:0", **given), a_machine(2))


def test_transfers_need_a_gpu() -> None:
    with pytest.raises(RequestError, match="--transfer: transfers go to and from a GPU; name one"):
        build(TiersParameters, b="shm:", transfer="both")


def test_the_gpus_experiment_takes_the_place_of_the_hosts() -> None:
    for given in (CUDA, {"memory": "cuda:0"}):
        found = for_memory(load("tiers"), build(TiersParameters, **given))
        assert type(found) is GpuTiers
    assert type(for_memory(load("tiers"), build(TiersParameters, b="shm:"))) is Tiers


def test_parameters_are_read_back() -> None:
    requested = build(TiersParameters, b="cuda:1", transfer="both", a="node:1")
    assert build(TiersParameters, **texts(requested)) == requested


@pytest.mark.native
def test_a_round_gives_a_sample_of_every_point() -> None:
    rules = StreamRules()
    with bench(transfer="host-to-device,both") as made:
        rules.check(start())
        for point in made.points:
            rules.check(point)
            assert point.bytes_counted > 0
        taken = visited(made)
        assert set(taken) == {point.point for point in made.points}
        for sample in taken.values():
            rules.check(sample)
            assert sample.window_ns is not None
        assert "gpu" not in made.points[0].actual
        assert made.points[1].actual["gpu"] == "GPU 0"


def outlast(host: Sample, moved: Sequence[Sample]) -> bool:
    """Whether transfers were still under way when the last thread had ended."""
    last = max(thread.end_ns[-1] for thread in host.threads)
    return all(one.threads[0].end_ns[-1] >= last for one in moved)


@pytest.mark.native
def test_samples_of_one_visit_have_one_window_inside_all_stamps() -> None:
    with bench(transfer="both") as made:
        visits = [made.measure("tiers/copy/1t/both/a", round_) for round_ in range(4)]
        for round_, taken in enumerate(visits):
            parts = [sample.point.rpartition("/")[2] for sample in taken]
            assert parts == ["a", "host-to-device", "device-to-host"]
            (window,) = {sample.window_ns for sample in taken}
            assert window is not None
            for sample in taken:
                assert sample.round == round_
                for thread in sample.threads:
                    assert thread.begin_ns[0] <= window[0] < window[1] <= thread.end_ns[-1]
            host, *moved = taken
            for one in moved:
                assert one.threads[0].begin_ns[0] <= host.threads[0].begin_ns[0], "queued before"
        assert any(outlast(host, moved) for host, *moved in visits)


@pytest.mark.native
def test_transfers_that_end_too_soon_are_more_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeTransfers, "bytes_per_ns", 20_000)
    with bench(transfer="host-to-device") as made:
        assert isinstance(made, BesideBench)
        made._host_ns = dict.fromkeys(made._host_ns, 1)  # as if the trial had been a lucky one
        point = "tiers/copy/1t/host-to-device/a"
        # Empty where the host's threads came to nothing, as happens on a busy machine.
        rounds = [taken for round_ in range(50) if (taken := made.measure(point, round_))]
        counts = [len(moved.threads[0].begin_ns) for _, moved in rounds]
        assert counts == sorted(counts)
        assert counts[0] < counts[-1]
        assert any(outlast(host, [moved]) for host, moved in rounds)


@pytest.mark.native
def test_queued_transfers_are_waited_for_even_where_threads_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with bench(transfer="both") as made:

        def fail(*args: Any, **more: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(PreparedTeam, "compete", fail)
        with pytest.raises(KeyboardInterrupt):
            made.measure("tiers/copy/1t/both/a", 0)
        assert FakeTransfers.latest.queued is None
    assert FakeTransfers.latest.calls[-1] == "close"


def test_a_probe_has_passes_of_its_own() -> None:
    (plain,) = planned(2, transfer="both")
    (group,) = planned(2, transfer="both", latency="true")
    assert group.name == "1 thread", "the probe takes a CPU"
    probes = [point.point for point in group.points if point.quantity == "latency"]
    assert probes == [
        "tiers/idle/1t/alone/latency",
        "tiers/copy/1t/alone/latency",
        "tiers/transfers/1t/both/latency",
        "tiers/copy/1t/both/latency",
    ]
    assert len(group.points) == len(plain.points) + len(probes)
    warnings = [w for point in group.points for w in GpuTiers().check(point, [], a_machine(2))]
    assert [warning.code for warning in warnings] == ["probe-took-a-cpu"]


@pytest.mark.native
@pytest.mark.skipif(len(detect().allowed_cpus) < 2, reason="needs two CPUs: one for the probe")
def test_a_probe_walks_while_all_or_none_are_at_work() -> None:
    rules = StreamRules()
    with bench(transfer="host-to-device", latency="true") as made:
        rules.check(start())
        for point in made.points:
            rules.check(point)
        probes = [point for point in made.points if point.quantity == "latency"]
        for point in probes:
            (sample,) = next(filter(None, (made.measure(point.point, at) for at in range(5))))
            rules.check(sample)
            assert len(sample.threads) == 1
            assert sample.threads[0].cpu == point.actual["probe_cpu"]
        assert FakeTransfers.latest.queued is None


@pytest.mark.native
def test_both_are_validated() -> None:
    with bench(transfer="both") as made:
        visited(made)
        subjects = [validation.subject for validation in made.validate()]
        assert subjects == ["1 thread", "1 thread, transfers"]


def test_a_machine_with_little_memory_still_has_transfers() -> None:
    assert planned(2)[0].bytes < 64 * GIB
