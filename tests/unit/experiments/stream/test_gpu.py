"""Which kernels of STREAM a GPU runs, over which arrays, and what is refused."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import a_machine

from memgauge import _core
from memgauge.experiments.registry import BEHIND_COMMANDS, EXPERIMENTS, for_memory, load
from memgauge.experiments.shared.gpu import theoretical_bytes_per_s
from memgauge.experiments.stream import gpu as gpu_stream
from memgauge.experiments.stream.gpu import GpuStream, gpu_kernels_of, gpu_label
from memgauge.experiments.stream.parameters import KERNELS, StreamParameters
from memgauge.experiments.stream.plan import contests_of
from memgauge.experiments.stream.search import eliminated
from memgauge.experiments.stream.sizes import GPU_LEAST_BYTES, gpu_layout
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.memory import on_gpu
from memgauge.model.parameters import build
from memgauge.model.records import Point

SYSTEM = a_machine(2)
MIB, GIB = 1 << 20, 1 << 30


def facts(**changes: object) -> Any:
    known: dict[str, object] = {
        "name": "Example",
        "uuid": "GPU-1",
        "bus_id": "0000:3b:00.0",
        "compute": "9.0",
        "multiprocessors": 132,
        "memory_bytes": 80 * GIB,
        "l2_bytes": 50 * MIB,
        "memory_clock_khz": 2_619_000,
        "bus_bits": 5120,
        "ecc": True,
        "mig": False,
    }
    return SimpleNamespace(**(known | changes))


class FakeArrays:
    """As `_core.GpuStreamArrays`: 3 TB/s of what STREAM counts."""

    made: FakeArrays

    def __init__(self, gpu: Any, elements: int, element: str) -> None:
        self.gpu, self.elements, self.element = gpu, elements, element
        self.prepared: list[Any] = []
        self.runs: list[tuple[Any, int]] = []
        self.is_closed = False
        FakeArrays.made = self

    def prepare(self, specs: list[Any]) -> None:
        self.prepared = specs

    def run(self, spec: Any, *, lead_in_bytes: int = 0, iterations: int = 1) -> Any:
        assert spec in self.prepared
        self.runs.append((spec, lead_in_bytes))
        counted = spec.counted_read_bytes + spec.counted_write_bytes
        took_ns = self.elements * counted * iterations // 3_000
        thread = SimpleNamespace(
            cpu=0,
            begin_ns=[1000],
            end_ns=[1000 + took_ns],
            involuntary_switches=0,
            page_faults=0,
            read_bytes=0,
            write_bytes=0,
        )
        return SimpleNamespace(threads=[thread], pingpong_ns=None)

    def validate(self) -> list[Any]:
        return []

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Any:
    made = SimpleNamespace(facts=facts(), free_bytes=79 * GIB, compiler_version="13.0")
    monkeypatch.setattr(gpu_stream, "opened_gpu", lambda _: made)
    monkeypatch.setattr(_core, "GpuStreamArrays", FakeArrays)
    monkeypatch.setattr(
        "memgauge.experiments.shared.gpu.gpu_driver", lambda: SimpleNamespace(version="13.0")
    )
    return made


def requested(**given: object) -> StreamParameters:
    return build(StreamParameters, memory="cuda:0", **given)


def planned(**given: object) -> list[Point]:
    (group,) = GpuStream().plan(requested(**given), SYSTEM)
    return group.points


@given(
    st.sampled_from(["double", "float"]),
    st.one_of(st.none(), st.integers(1 << 16, 1 << 28)),
    st.integers(64 * MIB, 1 << 38),
)
def test_default_arrays_obey_the_rule_and_are_a_gibibyte_where_there_is_room(
    element: str, l2_bytes: int | None, free_bytes: int
) -> None:
    shape = gpu_layout(requested(element=element), facts(l2_bytes=l2_bytes), free_bytes)
    wanted = max(4 * (l2_bytes or 0), 1_000_000 * shape.element_bytes)
    step = 32 * shape.element_bytes
    assert shape.elements % 32 == 0
    assert 3 * shape.array_bytes <= free_bytes / 2 + 3 * step
    assert shape.conformant == (l2_bytes is not None and shape.array_bytes >= wanted)
    if free_bytes >= 6 * max(GPU_LEAST_BYTES, wanted):
        assert 0 <= shape.array_bytes - max(GPU_LEAST_BYTES, wanted) < step
    assert shape.lead_in_bytes == min(l2_bytes or 0, shape.array_bytes)


@given(st.integers(1, 1 << 34))
def test_a_size_that_was_asked_for_is_kept(array_bytes: int) -> None:
    shape = gpu_layout(requested(array_bytes=array_bytes), facts(), 1 << 36)
    assert 0 <= shape.array_bytes - array_bytes < 256
    assert shape.conformant == (shape.array_bytes >= 200 * MIB)


def test_points_are_those_of_a_processor_with_the_gpu_for_the_team(gpu: Any) -> None:
    del gpu
    points = {point.point: point for point in planned()}
    assert len(points) == 2 * (len(KERNELS) + 4)
    assert set(points) >= {
        "stream/triad/tuned/double/cuda:0",
        "stream/triad/standard/double/cuda:0/pass",
        "stream/read/tuned/double/cuda:0",
    }
    assert "stream/read/tuned/double/cuda:0/pass" not in points
    triad = points["stream/triad/tuned/double/cuda:0"]
    assert triad.requested["memory"] == "cuda:0"
    assert "threads" not in triad.requested
    assert triad.threads == 1
    assert {point.role for point in points.values()} == {"slice", "pass"}


def test_counters_add_regions(gpu: Any) -> None:
    del gpu
    regions = [point.point for point in planned(counters="modelled") if point.role == "counted"]
    assert regions == [
        f"stream/{kernel}/{variant}/double/cuda:0/counted"
        for variant in ("standard", "tuned")
        for kernel in KERNELS
    ]
    assert not any(point.role == "counted" for point in planned(counters="none"))


def test_a_search_has_a_point_for_each_candidate_and_gives_up_eliminated(gpu: Any) -> None:
    del gpu
    parameters = requested(kernel="triad", autotune=True)
    kernels = gpu_kernels_of(parameters, "slice")
    specs = _core.gpu_tuned_specs("triad", "double")
    labels = [one.candidate for one in kernels if one.candidate]
    assert labels == [gpu_label(spec) for spec in specs]
    assert len(set(labels)) == len(labels) > 8
    (group,) = GpuStream().plan(parameters, SYSTEM)
    points = [point.point for point in group.points if "candidate" in point.requested]
    assert len(points) == len(labels)
    speeds = {name: [3000.0 - 400 * (at == 1)] * 20 for at, name in enumerate(points)}
    speeds["stream/triad/standard/double/cuda:0"] = [1000.0] * 20
    assert list(contests_of(group.kernels)) == points
    assert eliminated(contests_of(group.kernels), speeds) == {points[1]}
    with GpuStream().open(group, parameters) as bench:
        assert bench.eliminated(speeds) == {points[1]}


def test_a_bench_walks_whole_arrays_and_slices_after_a_lead_in(gpu: Any) -> None:
    del gpu
    parameters = requested(kernel="triad,read")
    (group,) = GpuStream().plan(parameters, SYSTEM)
    assert group.bytes == 3 * GIB
    with GpuStream().open(group, parameters) as bench:
        arrays = FakeArrays.made
        assert arrays.elements == GIB // 8
        assert len(arrays.prepared) == len(group.points)
        for point in bench.points:
            (sample,) = bench.measure(point.point, 0)
            counted = {"triad": 24, "read": 8}[str(point.requested["kernel"])]
            assert point.bytes_counted == counted * arrays.elements
            assert point.bytes_moved == point.bytes_counted
            assert point.actual["array_bytes"] == GIB
            assert point.actual["gpu_uuid"] == "GPU-1"
            assert point.actual["timed_by"] == "device events"
            took_ns = sample.threads[0].end_ns[0] - sample.threads[0].begin_ns[0]
            assert point.bytes_counted / took_ns == pytest.approx(3000, rel=1e-4)
        roles = [point.role for point in bench.points]
        lead_ins = [lead_in for _, lead_in in arrays.runs]
        assert lead_ins == [50 * MIB if role == "slice" else 0 for role in roles]
    assert arrays.is_closed


def test_arrays_are_as_large_as_planned_though_less_is_free_then(gpu: Any) -> None:
    parameters = requested(kernel="copy")
    gpu.free_bytes = 600 * MIB
    (group,) = GpuStream().plan(parameters, SYSTEM)
    gpu.free_bytes = 10 * MIB
    with GpuStream().open(group, parameters):
        assert FakeArrays.made.elements * 8 == group.bytes // 3
    assert group.bytes <= 300 * MIB + 768


def test_small_arrays_and_an_unknown_cache_are_warned_of(gpu: Any) -> None:
    parameters = requested(kernel="copy", variant="tuned", array_bytes="8MiB")
    for l2_bytes, said in ((50 * MIB, "smaller than four times"), (None, "is not known")):
        gpu.facts = facts(l2_bytes=l2_bytes)
        (group,) = GpuStream().plan(parameters, SYSTEM)
        with GpuStream().open(group, parameters) as bench:
            found = [w for point in bench.points for w in GpuStream().check(point, [], SYSTEM)]
        assert [said in warning.message for warning in found] == [True]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("threads", "2"),
        ("cpus", "0"),
        ("nodes", "0"),
        ("pages", "2m"),
        ("keep", "true"),
        ("overwrite", "true"),
        ("access", "translated"),
        ("store", "flushed"),
        ("array_offset", "64B"),
    ],
)
def test_what_says_nothing_of_a_gpu_is_refused_by_name(option: str, value: str) -> None:
    flag = "--" + option.replace("_", "-")
    with pytest.raises(RequestError, match=f"^{flag}: does not apply to cuda:0") as refused:
        GpuStream().plan(requested(**{option: value}), SYSTEM)
    assert str(refused.value).endswith(f"leave {flag} out")


def test_theoretical_bandwidth_is_two_transfers_a_clock_or_not_known() -> None:
    known = theoretical_bytes_per_s(facts())
    assert known == pytest.approx(3.35232e12)  # as the data sheet of that memory, 3.35 TB/s
    for unknown in ({"mig": True}, {"memory_clock_khz": None}, {"bus_bits": None}):
        assert theoretical_bytes_per_s(facts(**unknown)) is None


def test_memory_of_a_gpu_picks_the_experiment_for_it() -> None:
    stream = load("stream")
    assert for_memory(stream, build(StreamParameters)) is stream
    chosen = for_memory(stream, requested())
    assert isinstance(chosen, GpuStream)
    assert (chosen.name, chosen.parameters) == (stream.name, stream.parameters)


@pytest.mark.parametrize(
    "name", [name for name, entry in (EXPERIMENTS | BEHIND_COMMANDS).items() if entry.gpu]
)
def test_an_experiment_on_a_gpu_has_the_name_and_parameters_of_the_other(name: str) -> None:
    experiment = load(name)
    parameters = SimpleNamespace(memories=(on_gpu(0),), memory=on_gpu(0))
    chosen = for_memory(experiment, parameters)  # type: ignore[arg-type]
    assert chosen.name == experiment.name
    assert issubclass(chosen.parameters, type(experiment).parameters)


def test_an_experiment_that_measures_no_gpu_says_which_do() -> None:
    stride = load("stride")
    with pytest.raises(NotPossibleHere) as refused:
        for_memory(stride, build(stride.parameters, memory="cuda:0"))
    assert str(refused.value).startswith("stride: cannot measure the memory of a GPU (cuda:0); use")
    assert "stream" in str(refused.value)
