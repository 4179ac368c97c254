"""The stand-ins themselves: what they count, when they say no, and how time is scripted."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from tests.gpu_stand_in import GpuStandIn, StandInFiles

ELEMENTS = 1 << 12
KERNELS = b"""
extern "C" __global__ void __launch_bounds__(256)
triad(double* __restrict__ a, const double* b, const double* c, double s, unsigned long long n) {
    const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = b[i] + s * c[i];
}
extern "C" __global__ void copied(double2* to, const double2* from) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double2 got;
    asm volatile("ld.global.L1::no_allocate.v2.f64 {%0, %1}, [%2];"
                 : "=d"(got.x), "=d"(got.y) : "l"(from + i));
    __stcs(to + i, got);
}
"""


def addressed(value: object) -> ctypes.c_void_p:
    return ctypes.cast(ctypes.pointer(value), ctypes.c_void_p)  # type: ignore[type-var]


@dataclass
class Machine:
    """A device of the stand-in, driven by its C interface alone."""

    files: StandInFiles

    def __post_init__(self) -> None:
        self.driver = ctypes.CDLL(self.files.driver)
        self.compiler = ctypes.CDLL(self.files.compiler)
        assert self.driver.cuInit(0) == 0
        context = ctypes.c_void_p()
        assert self.driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
        assert self.driver.cuCtxSetCurrent(context) == 0

    def compiled(self, source: bytes, arch: bytes = b"sm_90") -> tuple[int, bytes]:
        """The result of a compilation, and its binary or its log."""
        program = ctypes.c_void_p()
        compiler = self.compiler
        compiler.nvrtcCreateProgram(ctypes.byref(program), source, b"kernels.cu", 0, None, None)
        options = (ctypes.c_char_p * 1)(b"--gpu-architecture=" + arch)
        result = compiler.nvrtcCompileProgram(program, 1, options)
        what = "CUBIN" if result == 0 else "ProgramLog"
        length = ctypes.c_size_t()
        getattr(compiler, f"nvrtcGet{what}Size")(program, ctypes.byref(length))
        into = ctypes.create_string_buffer(length.value)
        getattr(compiler, f"nvrtcGet{what}")(program, into)
        return result, into.raw

    def function(self, image: bytes, name: bytes) -> ctypes.c_void_p:
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        assert self.driver.cuModuleLoadData(ctypes.byref(module), image) == 0
        assert self.driver.cuModuleGetFunction(ctypes.byref(function), module, name) == 0
        return function

    def allocated(self, content: list[float]) -> ctypes.c_ulonglong:
        at = ctypes.c_ulonglong()
        bytes_each = ctypes.c_size_t(8 * len(content))
        assert self.driver.cuMemAlloc_v2(ctypes.byref(at), bytes_each) == 0
        host = (ctypes.c_double * len(content))(*content)
        assert self.driver.cuMemcpyHtoD_v2(at, host, bytes_each) == 0
        return at

    def content(self, at: ctypes.c_ulonglong) -> list[float]:
        host = (ctypes.c_double * ELEMENTS)()
        assert self.driver.cuMemcpyDtoH_v2(host, at, ctypes.c_size_t(8 * ELEMENTS)) == 0
        return list(host)

    def launched(self, function: ctypes.c_void_p, blocks: int, *arguments: object) -> int:
        """Launch, and what the device says when it is done."""
        given = (ctypes.c_void_p * len(arguments))(*(addressed(each) for each in arguments))
        launch = self.driver.cuLaunchKernel
        assert launch(function, blocks, 1, 1, 256, 1, 1, 0, None, given, None) == 0
        return int(self.driver.cuCtxSynchronize())

    def elapsed_ns(self, work: Callable[[], object]) -> float:
        events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in events:
            assert self.driver.cuEventCreate(ctypes.byref(event), 0) == 0
        assert self.driver.cuEventRecord(events[0], None) == 0
        work()
        assert self.driver.cuEventRecord(events[1], None) == 0
        assert self.driver.cuEventSynchronize(events[1]) == 0
        took_ms = ctypes.c_float()
        assert self.driver.cuEventElapsedTime(ctypes.byref(took_ms), *events) == 0
        return took_ms.value * 1e6


def three_arrays(machine: Machine) -> list[ctypes.c_ulonglong]:
    ramp = [float(i) for i in range(ELEMENTS)]
    return [machine.allocated(ramp) for _ in "abc"]


def test_kernels_run_and_every_byte_they_move_is_counted(gpu_stand_in: GpuStandIn) -> None:
    machine = Machine(gpu_stand_in.files(clock="scripted", launch_ns=500, kernel_ns_per_byte=0.25))
    result, image = machine.compiled(KERNELS)
    assert result == 0, image.decode()
    a, b, c = three_arrays(machine)
    triad = machine.function(image, b"triad")
    blocks = ELEMENTS // 256
    took_ns = machine.elapsed_ns(
        lambda: machine.launched(
            triad, blocks, a, b, c, ctypes.c_double(2.0), ctypes.c_ulonglong(ELEMENTS)
        )
    )
    assert took_ns == pytest.approx(500 + 24 * ELEMENTS * 0.25, rel=1e-6)
    assert machine.content(a) == [3.0 * i for i in range(ELEMENTS)]
    totals = machine.files.totals()
    assert (totals.kernel_read_bytes, totals.kernel_write_bytes) == (16 * ELEMENTS, 8 * ELEMENTS)
    assert (totals.from_host_bytes, totals.to_host_bytes) == (24 * ELEMENTS, 8 * ELEMENTS)
    assert machine.launched(machine.function(image, b"copied"), blocks // 2, b, a) == 0
    assert machine.content(b) == machine.content(a)
    assert machine.files.totals().kernel_read_bytes == (16 + 8) * ELEMENTS


def test_an_access_beyond_an_allocation_breaks_the_context(gpu_stand_in: GpuStandIn) -> None:
    machine = Machine(gpu_stand_in.files())
    _, image = machine.compiled(KERNELS)
    arguments = [*three_arrays(machine), ctypes.c_double(2.0), ctypes.c_ulonglong(ELEMENTS + 1)]
    triad = machine.function(image, b"triad")
    assert machine.launched(triad, ELEMENTS // 256 + 1, *arguments) == 700
    assert machine.driver.cuMemAlloc_v2(ctypes.byref(ctypes.c_ulonglong()), 8) == 700


def test_a_compile_error_is_told_in_the_log(gpu_stand_in: GpuStandIn) -> None:
    result, log = Machine(gpu_stand_in.files()).compiled(b"__global__ void k() { nonsense(); }")
    assert result == 6
    assert b"nonsense" in log
    result, log = Machine(gpu_stand_in.files()).compiled(KERNELS, b"sm_42")
    assert result == 5
    assert b"invalid value for --gpu-architecture" in log


def test_memory_ends_where_the_knob_says(gpu_stand_in: GpuStandIn) -> None:
    driver = Machine(gpu_stand_in.files(memory=1 << 20)).driver
    kept, refused = ctypes.c_ulonglong(), ctypes.c_ulonglong()
    assert driver.cuMemAlloc_v2(ctypes.byref(kept), ctypes.c_size_t(3 << 18)) == 0
    assert driver.cuMemAlloc_v2(ctypes.byref(refused), ctypes.c_size_t(3 << 18)) == 2
    assert driver.cuMemFree_v2(kept) == 0
    assert driver.cuMemAlloc_v2(ctypes.byref(refused), ctypes.c_size_t(3 << 18)) == 0


def test_calls_fail_and_lack_as_told(gpu_stand_in: GpuStandIn) -> None:
    files = gpu_stand_in.files(
        fail={"cuMemAlloc_v2": "2@2", "cuInit": 0}, without=("cuDeviceGetUuid_v2",)
    )
    driver = Machine(files).driver
    at = ctypes.c_ulonglong()
    assert [driver.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(8)) for _ in "123"] == [0, 2, 2]
    assert files.calls("cuMemAlloc_v2") == 3
    assert not hasattr(driver, "cuDeviceGetUuid_v2")
    none = ctypes.CDLL(gpu_stand_in.files(devices=0).driver)
    assert none.cuInit(0) == 100


@pytest.mark.parametrize(
    ("footprint", "through", "load_ns"),
    [(1 << 12, "l1", 10), (1 << 12, "l2", 100), (1 << 15, "l1", 100), (1 << 20, "l1", 500)],
)
def test_a_walk_takes_what_the_cache_takes_that_holds_the_ring(
    gpu_stand_in: GpuStandIn, footprint: int, through: str, load_ns: int
) -> None:
    from memgauge._core import Gpu, GpuChase, GpuDriver

    files = gpu_stand_in.files(
        clock="scripted",
        kernel_ns_per_byte=0,
        globaltimer_step_ns=1,
        l1_bytes=1 << 13,
        l2_bytes=1 << 16,
        l1_load_ns=10,
        l2_load_ns=100,
        memory_load_ns=500,
    )
    ring = GpuChase(Gpu(GpuDriver(files.driver), 0, files.compiler), footprint, through=through)
    walk = ring.run(1000, warm_hops=2 * ring.nodes, iterations=2)
    (thread,) = walk.slice.threads
    for begin, end in zip(thread.begin_ns, thread.end_ns, strict=True):
        assert end - begin == pytest.approx(1000 * load_ns, rel=0.01)
