"""Counters around a GPU's kernels: what is counted is what is moved, to the byte.

Kernels run on a stand-in, whose counters are its own totals of loads and stores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("memgauge._core")

from tests.gpu_stand_in import GpuStandIn, StandInFiles, build
from tests.unit.experiments.gpu_counting import Fault, GpuCounting, install

from memgauge.analysis.counters.bandwidth import hardware_bandwidth
from memgauge.analysis.counters.figures import counts_of
from memgauge.analysis.counters.gpu import agreement
from memgauge.analysis.counters_verify.section import event_verdicts
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.traffic.figures import curves_of
from memgauge.counters.host import Host
from memgauge.experiments.counters_verify.gpu import GpuCountersVerify
from memgauge.experiments.registry import load
from memgauge.experiments.stream import gpu_counted as gpu_stream_counted
from memgauge.model.counting.events import EventVerdict, Quantity
from memgauge.model.errors import CounterRefused, MemgaugeError, RequestError
from memgauge.model.memory import on_gpu
from memgauge.model.parameters import build as build_parameters
from memgauge.model.run import Run
from memgauge.runner.request import Request
from memgauge.runner.run import execute
from memgauge.system.detect import detect
from memgauge.system.gpu import driver as gpu_driver

READ, WRITE = "cupti:0/dram_read", "cupti:0/dram_write"
Measure = Callable[..., Run]

BUDGET_S = 15.0
"""On a busy machine; on another one runs are complete after a second or two."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> StandInFiles:
    stand_in = GpuStandIn(build.built(), tmp_path_factory.mktemp("gpu"))
    return stand_in.files(l2_bytes=1 << 16)


@pytest.fixture
def measure(
    files: StandInFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Measure]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def measured(name: str, faults: dict[Quantity, Fault] | None = None, **options: Any) -> Run:
        install(monkeypatch, tmp_path, files, faults)
        experiment = load(name)
        parameters = build_parameters(experiment.parameters, **({"memory": "cuda:0"} | options))
        request = Request(
            experiments=[(experiment, parameters.for_budget(BUDGET_S))],
            budget_s=BUDGET_S,
            precision=0.3,
            directory=tmp_path / f"run-{name}",
            system=detect(),
        )
        return execute(request)

    yield measured
    for opened in (gpu_driver._driver, gpu_driver._gpu):
        opened.cache_clear()


def verdicts(run: Run) -> dict[str, EventVerdict]:
    return {one.event: one for one in event_verdicts(run)}


def test_memory_moves_what_each_kernel_of_stream_counts(
    measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_stream_counted, "REGION_S", 0.001)
    kernels = ("copy", "add", "read", "update")
    run = measure("stream", counters="auto,modelled", kernel=kernels, array_bytes="64KiB")
    found = [hardware_bandwidth(counts) for counts in counts_of(figures_of(run))]
    assert [one.counts.basis for one in found].count("modelled") == 2 * len(kernels)
    assert len(found) == 4 * len(kernels)
    for one in found:
        assert one.ratio is not None, one.counts.kernel.name
        assert one.ratio.value == pytest.approx(1, rel=1e-3), one.counts.kernel.name
        assert agreement(one) == "agrees"
        assert one.counts.idle


def test_counters_that_count_all_are_verified(measure: Measure) -> None:
    run = measure("counters_verify", region="2ms")
    found = verdicts(run)
    assert {event: one.verdict for event, one in found.items()} == {
        READ: "verified",
        WRITE: "verified",
    }
    assert str(found[READ].gpu).startswith("Stand-in GPU, GPU-")
    loads = {str(point.requested["load"]) for point in run.points_of("counters_verify")}
    assert loads == {"read", "write", "copy"}
    assert all(validation.checks[0].passed for validation in run.validations)


def test_scaled_and_dead_counters_are_found(measure: Measure) -> None:
    faults: dict[Quantity, Fault] = {
        "read_bytes": Fault(factor=0.5),
        "write_bytes": Fault(factor=0),
    }
    found = verdicts(measure("counters_verify", faults, region="2ms"))
    assert (found[READ].verdict, found[READ].factor) == ("mis-scaled", 0.5)
    assert found[WRITE].verdict == "dead"


def test_a_refused_counter_is_absent_and_the_other_is_judged(measure: Measure) -> None:
    faults: dict[Quantity, Fault] = {"write_bytes": Fault(refused="ask the administrator")}
    found = verdicts(measure("counters_verify", faults, region="2ms", events=f"{READ},{WRITE}"))
    assert found[READ].verdict == "verified"
    assert (found[WRITE].verdict, found[WRITE].evidence) == (
        "absent",
        f"{WRITE}: ask the administrator",
    )


def test_loads_that_the_cache_may_hold_are_warned_of(measure: Measure) -> None:
    run = measure("counters_verify", region="2ms", events=READ)
    point = next(iter(run.points_of("counters_verify")))
    small = msgspec.structs.replace(
        point, actual=point.actual | {"exceeds_caches": False, "l2_bytes": None}
    )
    assert GpuCountersVerify().check(point, [], run.start.system) == []
    (warning,) = GpuCountersVerify().check(small, [], run.start.system)
    assert "the 4 MiB that loads go over are not known to be four times" in warning.message


def test_events_of_one_gpu_mean_its_memory(measure: Measure) -> None:
    run = measure("counters_verify", memory="dram", events=READ, region="2ms")
    assert {point.requested["memory"] for point in run.points_of("counters_verify")} == {"cuda:0"}


@pytest.mark.parametrize(
    ("kernel", "reads", "writes"),
    [("s1cf", 1.0, 1.0), ("triad", 1.0, 1.0), ("gemm", 16.0, 1.0)],
)
def test_a_nest_moves_what_its_threads_load_and_store(
    kernel: str, reads: float, writes: float, measure: Measure
) -> None:
    """No cache stands between: GEMM of N = 16 loads each element of A and B 16 times."""
    run = measure("traffic", kernel=kernel, sizes="16" if kernel != "triad" else "4096")
    (curve,) = curves_of(figures_of(run))
    (result,) = curve.results
    assert curve.gpu == "cuda:0"
    assert result.ratio("measured", "reads") == pytest.approx(reads, rel=1e-3)
    assert result.ratio("measured", "writes") == pytest.approx(writes, rel=1e-3)
    assert all(validation.checks[0].passed for validation in run.validations)


@pytest.mark.parametrize(
    ("name", "options", "error", "said"),
    [
        (
            "counters_verify",
            {"back_ends": "perf"},
            RequestError,
            "--back-ends: does not apply to cuda:0",
        ),
        (
            "counters_verify",
            {"events": "cupti:1/dram_read"},
            RequestError,
            "counts memory other than",
        ),
        (
            "counters_verify",
            {"events": "modelled"},
            RequestError,
            "is modelled, and a model cannot be ver",
        ),
        ("counters_verify", {"region": "9s"}, RequestError, "--region 9s"),
        ("stream", {"counters": "cupti:1/dram_read"}, RequestError, "memory other than cuda:0"),
        ("stream", {"threads": "2"}, RequestError, "--threads: does not apply to cuda:0"),
        ("traffic", {"batched": True}, RequestError, "--batched: does not apply to cuda:0"),
        ("traffic", {"machine": "power9-5mb"}, RequestError, "--machine: does not apply to cuda:0"),
        ("traffic", {"store_prefetch": True}, RequestError, "--store-prefetch: does not apply to"),
        ("traffic", {"sizes": "4096"}, RequestError, "of memory may be used: none fits"),
    ],
)
def test_what_makes_no_sense_there_is_refused(
    name: str, options: dict[str, Any], error: type[MemgaugeError], said: str, measure: Measure
) -> None:
    with pytest.raises(error, match=said):
        measure(name, **options)


@pytest.mark.parametrize(
    ("instance", "is_same"),
    [("GPU 1 00000000:3A:00.0", True), ("GPU 0 00000000:1B:00.0", False)],
)
def test_energy_is_that_of_the_same_gpu(instance: str, is_same: bool) -> None:
    event = msgspec.structs.replace(
        GpuCounting(Host()).events()[0], name="nvml:1/energy", instances=[instance]
    )
    with (
        nullcontext()
        if is_same
        else pytest.raises(RequestError, match="belongs to GPU 0 00000000:1B")
    ):
        gpu_stream_counted.require_same_gpu(event, on_gpu(0), "0000:3a:00.0")


def test_without_a_counter_that_opens_verify_says_why(measure: Measure) -> None:
    faults: dict[Quantity, Fault] = {
        "read_bytes": Fault(refused="ERR_NVGPUCTRPERM"),
        "write_bytes": Fault(refused="ERR_NVGPUCTRPERM"),
    }
    with pytest.raises(CounterRefused, match="ERR_NVGPUCTRPERM"):
        measure("counters_verify", faults)
