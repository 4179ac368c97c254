"""STREAM in a GPU's memory, on a stand-in that runs the kernels and counts every byte."""

import pytest

pytest.importorskip("memgauge._core")

from tests.gpu_stand_in import GpuStandIn, StandInFiles, Totals

from memgauge._core import (
    ArrayValidation,
    Gpu,
    GpuDriver,
    GpuKernelSpec,
    GpuStreamArrays,
    ModelledSource,
    Reader,
    StimulusSource,
    clock_now_ns,
    gpu_default_tuned_spec,
)
from memgauge.model.errors import RequestError

pytestmark = pytest.mark.native

OPERATIONS = ("copy", "scale", "add", "triad", "read", "write", "update")
ELEMENTS = 100_000
"""No whole tile of any kernel."""


def opened(files: StandInFiles) -> Gpu:
    return Gpu(GpuDriver(files.driver), 0, files.compiler)


def variants(operation: str, element: str) -> list[GpuKernelSpec]:
    """The simple kernel, the default, and one that goes on through the arrays."""
    return [
        GpuKernelSpec(operation, element, threads_per_block=1024),
        gpu_default_tuned_spec(operation, element),
        GpuKernelSpec(
            operation,
            element,
            "tuned",
            unroll=8,
            hint="streaming",
            threads_per_block=128,
            blocks_per_multiprocessor=1,
        ),
    ]


def failed(validations: list[ArrayValidation]) -> list[tuple[str, int, int]]:
    return [
        (one.array, one.failed_elements, one.first_failed) for one in validations if not one.passed
    ]


@pytest.mark.parametrize("element", ["double", "float"])
def test_kernels_compute_what_they_say_and_move_what_is_counted(
    gpu_stand_in: GpuStandIn, element: str
) -> None:
    files = gpu_stand_in.files()
    gpu = opened(files)
    arrays = GpuStreamArrays(gpu, ELEMENTS, element)
    assert arrays.elements == ELEMENTS
    seen: list[Totals] = []
    gpu.read_with(Reader([ModelledSource(), StimulusSource(lambda: seen.append(files.totals()))]))
    specs = [spec for operation in OPERATIONS for spec in variants(operation, element)]
    arrays.prepare(specs)
    compiled = files.calls("cuModuleLoadData")
    for spec in specs:
        arrays.run(spec, lead_in_bytes=20_000, iterations=3)
        before, after = seen[-2:]
        read = after.kernel_read_bytes - before.kernel_read_bytes
        written = after.kernel_write_bytes - before.kernel_write_bytes
        assert read == 3 * ELEMENTS * spec.counted_read_bytes, spec.operation
        assert written == 3 * ELEMENTS * spec.counted_write_bytes, spec.operation
        assert gpu.readings is not None
        (reads, writes), (later_reads, later_writes) = (one.values[:2] for one in gpu.readings)
        assert (later_reads or 0) - (reads or 0) == read, "modelled"
        assert (later_writes or 0) - (writes or 0) == written, "modelled"
        assert failed(arrays.validate()) == [], (spec.operation, spec.variant)
    assert files.calls("cuModuleLoadData") == compiled + 1  # the clocks' kernels


def test_contents_stay_bounded_however_long_they_are_used(gpu_stand_in: GpuStandIn) -> None:
    arrays = GpuStreamArrays(opened(gpu_stand_in.files()), 4096)
    for _ in range(8):
        for operation in ("add", "triad", "update", "scale"):
            arrays.run(gpu_default_tuned_spec(operation), iterations=40, lead_in_bytes=999)
    assert failed(arrays.validate()) == []


@pytest.mark.parametrize("element", ["double", "float"])
def test_one_wrong_element_is_found_wherever_it_is(gpu_stand_in: GpuStandIn, element: str) -> None:
    arrays = GpuStreamArrays(opened(gpu_stand_in.files()), ELEMENTS, element)
    arrays.run(gpu_default_tuned_spec("scale", element), lead_in_bytes=100_000)
    for array, at in (("a", 0), ("b", ELEMENTS - 1), ("c", 77_777)):
        arrays.corrupt(array, at)
        assert failed(arrays.validate()) == [(array, 1, at)]
        arrays.corrupt(array, at)
    assert failed(arrays.validate()) == []
    with pytest.raises(RequestError, match="no element 100000 in array 'a'"):
        arrays.corrupt("a", ELEMENTS)


def test_stamps_are_the_devices_own_and_lie_on_the_runs_clock(gpu_stand_in: GpuStandIn) -> None:
    launch_ns, ns_per_byte = 2000, 0.5
    files = gpu_stand_in.files(
        clock="scripted", launch_ns=launch_ns, kernel_ns_per_byte=ns_per_byte
    )
    gpu = opened(files)
    arrays = GpuStreamArrays(gpu, 32_000)
    before = clock_now_ns()
    (thread,) = arrays.run(GpuKernelSpec("triad"), iterations=5).threads
    assert gpu.clock_error_ns is not None
    truth = launch_ns + 24 * 32_000 * ns_per_byte
    for begin, end in zip(thread.begin_ns, thread.end_ns, strict=True):
        assert end - begin == pytest.approx(truth, rel=1e-4)
    assert thread.begin_ns[1:] == thread.end_ns[:-1]
    assert thread.begin_ns[0] >= before - gpu.clock_error_ns


def test_a_prefix_is_walked_exactly_as_often_as_asked(gpu_stand_in: GpuStandIn) -> None:
    files = gpu_stand_in.files()
    arrays = GpuStreamArrays(opened(files), ELEMENTS)
    for elements, repeats in ((32, 1), (32, 1000), (3232, 7), (ELEMENTS, 2)):
        arrays.run(GpuKernelSpec("read"), prefix_elements=elements)  # what is compiled is compiled
        before = files.totals()
        arrays.run(GpuKernelSpec("read"), prefix_elements=elements, repeats=repeats, iterations=2)
        walks = 2 * repeats + 1  # one untimed
        assert files.totals().kernel_read_bytes - before.kernel_read_bytes == walks * 8 * elements


@pytest.mark.parametrize(
    ("spec", "requested", "says"),
    [
        (GpuKernelSpec("read", "float"), {}, "cannot run a kernel for float on arrays of double"),
        (GpuKernelSpec("copy"), {"prefix_elements": 32}, "only read walks a prefix"),
        (GpuKernelSpec("read"), {"prefix_elements": 33}, "ask for whole 32"),
        (GpuKernelSpec("read"), {"prefix_elements": 1 << 20}, "no more than there are"),
        (GpuKernelSpec("read"), {"repeats": 2}, "only walks of a prefix are repeated"),
        (GpuKernelSpec("read"), {"iterations": 0}, "at least one iteration"),
    ],
)
def test_a_run_that_makes_no_sense_is_refused(
    gpu_stand_in: GpuStandIn, spec: GpuKernelSpec, requested: dict[str, int], says: str
) -> None:
    arrays = GpuStreamArrays(opened(gpu_stand_in.files()), 1000)
    assert arrays.elements == 1024
    with pytest.raises(RequestError, match=says):
        arrays.run(spec, **requested)


def test_more_than_there_is_room_for_says_what_is_free(gpu_stand_in: GpuStandIn) -> None:
    gpu = opened(gpu_stand_in.files())
    with pytest.raises(RequestError, match=r"cannot allocate 4294967296 bytes \(4096.0 MiB\)"):
        GpuStreamArrays(gpu, 1 << 29)
    with pytest.raises(RequestError, match="ask for 1 to 2"):
        GpuStreamArrays(gpu, 0)
    assert GpuStreamArrays(gpu, 1 << 20).elements == 1 << 20


def test_counters_are_read_around_the_timed_part_alone(gpu_stand_in: GpuStandIn) -> None:
    files = gpu_stand_in.files()
    gpu = opened(files)
    arrays = GpuStreamArrays(gpu, 32_000)
    arrays.prepare([GpuKernelSpec("copy")])
    seen: list[Totals] = []
    arrays.run(GpuKernelSpec("copy"), iterations=2)
    assert gpu.readings is None
    gpu.read_with(Reader([StimulusSource(lambda: seen.append(files.totals())), ModelledSource()]))
    (thread,) = arrays.run(GpuKernelSpec("copy"), lead_in_bytes=64_000, iterations=2).threads
    before, after = seen
    assert after.kernel_read_bytes - before.kernel_read_bytes == 2 * 8 * 32_000
    assert after.kernel_write_bytes - before.kernel_write_bytes == 2 * 8 * 32_000
    assert gpu.readings is not None
    first, last = gpu.readings
    error = gpu.clock_error_ns or 0.0
    assert first.end_ns <= thread.begin_ns[0] + error
    assert thread.end_ns[-1] - error <= last.begin_ns
    gpu.read_with(None)
    arrays.run(GpuKernelSpec("copy"))
    assert gpu.readings is None
