"""Every kernel, compiled by the real NVRTC for the GPUs that matter: no GPU is needed.

The sources are those that the product gives NVRTC: taken down by its stand-in while everything that
compiles kernels is made once.
"""

import re

import pytest

pytest.importorskip("memgauge._core")

from tests.gpu_stand_in import GpuStandIn, build
from tests.unit.gpu.real_nvrtc import CompiledKernel, Nvrtc

from memgauge._core import (
    Gpu,
    GpuChase,
    GpuDriver,
    GpuKernelSpec,
    GpuNest,
    GpuStreamArrays,
    GpuTraffic,
    GpuTransfers,
    NestSpec,
    gpu_default_tuned_spec,
    gpu_tuned_specs,
)
from memgauge.model.errors import RequestError
from memgauge.system.gpu.libraries import nvrtc_file

OPERATIONS = ("copy", "scale", "add", "triad", "read", "write", "update")
ELEMENTS = {"float": r"(?:v4\.[fb]32|v2\.b64)", "double": r"v2\.[fb]64"}
"""What a vector is in PTX: of numbers, or, by newer compilers, of bits."""
SCALARS = {"float": r"[fb]32", "double": r"[fb]64"}
HINTS = {
    "default": (r"(?:\.ca)?", r"(?:\.wb)?"),
    "streaming": (r"\.cs", r"\.cs"),
    "no-allocate": (r"\.cg", r"\.cg"),
}
"""Of loads and of stores; default is what an instruction without a hint does."""
SOURCES = {"copy": 1, "scale": 1, "add": 2, "triad": 2, "read": 1, "write": 0, "update": 2}
"""Arrays that are read."""
MIXES = [(1, 0), (0, 1), (1, 1), (2, 1), (5, 3), (100, 1)]
REGISTERS = 65536
"""Of a multiprocessor, from compute capability 3.0 to 12.0 (CUDA C++ Programming Guide)."""


def stream_specs(element: str) -> list[GpuKernelSpec]:
    """Of each operation the simple kernel and the default, of add the largest, triad with hints."""
    simple = [GpuKernelSpec(operation, element) for operation in OPERATIONS]
    usual = [gpu_default_tuned_spec(operation, element) for operation in OPERATIONS]
    largest = max(gpu_tuned_specs("add", element), key=lambda s: s.unroll * s.threads_per_block)
    hinted = {spec.hint: spec for spec in gpu_tuned_specs("triad", element) if spec.unroll == 4}
    return [*simple, *usual, largest, *hinted.values()]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[bytes, list[str]]]:
    """What NVRTC is given for all there is, and with what options."""
    place = tmp_path_factory.mktemp("sources")
    stand_in = GpuStandIn(build.built(), tmp_path_factory.mktemp("gpu"))
    files = stand_in.files(sources=place)
    gpu = Gpu(GpuDriver(files.driver), 0, files.compiler)
    for element in ELEMENTS:
        GpuStreamArrays(gpu, 1024, element).prepare(stream_specs(element))
    traffic = GpuTraffic(gpu, 1 << 20)
    traffic.prepare(MIXES)
    traffic.run(2, 1, bytes=1 << 16, hint="streaming")
    GpuChase(gpu, 1 << 16).run(10)
    GpuTransfers(gpu, 64)
    GpuNest(gpu, NestSpec("copy", n=64))
    GpuNest(gpu, NestSpec("gemm", n=16))
    return [
        (path.read_bytes(), path.with_suffix(".options").read_text("utf-8").splitlines())
        for path in sorted(place.glob("*.cu"))
    ]


@pytest.fixture(scope="module")
def nvrtc() -> Nvrtc:
    try:
        return Nvrtc(nvrtc_file())
    except RequestError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module", params=["80", "90", "newest"])
def kernels(
    request: pytest.FixtureRequest, nvrtc: Nvrtc, sources: list[tuple[bytes, list[str]]]
) -> dict[str, CompiledKernel]:
    """All kernels, by name, for one architecture."""
    arch = max(nvrtc.archs()) if request.param == "newest" else int(request.param)
    if arch not in nvrtc.archs():
        pytest.skip(f"this NVRTC makes no code for sm_{arch}")
    chosen = f"--gpu-architecture=sm_{arch}"
    found: dict[str, CompiledKernel] = {}
    for source, options in sources:
        assert options[0].startswith("--gpu-architecture=")
        found |= {kernel.name: kernel for kernel in nvrtc.compiled(source, [chosen, *options[1:]])}
    return found


def test_no_kernel_keeps_anything_in_memory_of_its_own(kernels: dict[str, CompiledKernel]) -> None:
    specs = [spec for element in ELEMENTS for spec in stream_specs(element)]
    assert set(kernels) >= {named(spec) for spec in specs} | {"hold", "walk_l1", "check_told"}
    for name, kernel in kernels.items():
        assert (kernel.stack_bytes, kernel.spill_bytes) == (0, 0), name
        assert ".local" not in kernel.ptx, name


def test_a_block_fits_into_a_multiprocessor(kernels: dict[str, CompiledKernel]) -> None:
    for name, kernel in kernels.items():
        threads = re.search(r"\.maxntid (\d+)", kernel.ptx)
        assert kernel.registers * int(threads[1] if threads else 256) <= REGISTERS, name


def test_nothing_is_fused_that_the_host_replays(kernels: dict[str, CompiledKernel]) -> None:
    for name, kernel in kernels.items():
        assert not re.search(r"\sfma\.", kernel.ptx), name


@pytest.mark.parametrize("element", ELEMENTS)
def test_tuned_kernels_move_whole_vectors_with_their_hint(
    kernels: dict[str, CompiledKernel], element: str
) -> None:
    for spec in (spec for spec in stream_specs(element) if spec.variant == "tuned"):
        kernel = kernels[named(spec)]
        load, store = HINTS[spec.hint]
        loads = kernel.count(rf"ld\.global{load}\.{ELEMENTS[element]}")
        stores = kernel.count(rf"st\.global{store}\.{ELEMENTS[element]}")
        written = 0 if spec.operation == "read" else 1
        # Once for whole tiles and once for the last; more where a compiler unrolls the walk.
        tiles = (loads + stores) // ((SOURCES[spec.operation] + written) * spec.unroll)
        assert tiles >= 2, kernel.name
        assert loads == tiles * SOURCES[spec.operation] * spec.unroll, kernel.name
        assert stores == tiles * written * spec.unroll, kernel.name
        accesses = kernel.count(r"(?:ld|st)\.global\S*")
        assert accesses == loads + stores + (1 - written), kernel.name  # of a sum


@pytest.mark.parametrize("element", ELEMENTS)
def test_standard_kernels_move_one_element_at_a_time(
    kernels: dict[str, CompiledKernel], element: str
) -> None:
    scalar = SCALARS[element]
    load, store = HINTS["default"]
    for operation in OPERATIONS:
        kernel = kernels[named(GpuKernelSpec(operation, element))]
        loads = kernel.count(rf"ld\.global{load}\.{scalar}")
        stores = kernel.count(rf"st\.global{store}\.{scalar}")
        assert (loads, stores) == (SOURCES[operation], 1), operation
        assert kernel.count(r"(?:ld|st)\.global\S*") == loads + stores, operation


def test_mixes_load_and_store_as_often_as_their_ratio_says(
    kernels: dict[str, CompiledKernel],
) -> None:
    mixed = {name: kernel for name, kernel in kernels.items() if name.startswith("mixed_")}
    assert len(mixed) == len(MIXES) + 1
    for name, kernel in mixed.items():
        reads, writes = (int(part) for part in name.split("_")[1:3])
        hint = r"\.cs" if name.endswith("streaming") else ""
        assert kernel.count(rf"ld\.global{hint}\.v4\.[ub]32") == reads, name
        assert kernel.count(rf"st\.global(?:{hint})?\.v4\.[ub]32") == writes + 1, name  # one never
        assert kernel.count(r"(?:ld|st)\.global\S*") == reads + writes + 1, name


def test_walks_pass_by_the_l1_or_do_not_and_hold_the_clock_back(
    kernels: dict[str, CompiledKernel],
) -> None:
    for name, hint, others in (
        ("walk_l1", r"(?:\.ca)?", 0),
        ("walk_l2", r"\.cg", 1),  # where it begins
    ):
        kernel = kernels[name]
        hops = kernel.count(rf"ld\.global{hint}\.[ub]64")
        assert hops >= 16, name  # unrolled, warm and timed
        assert kernel.count(r"ld\.global\S*") == hops + others, name
        assert kernel.count(r"mov\.[ub]64\s+%rd\d+, %globaltimer") == 2, name
        assert kernel.count(r"mov\.[ub]64\s+%rd\d+, %clock64") == 2, name


def named(spec: GpuKernelSpec) -> str:
    """The kernel's name, as gpu/kernel_spec.cpp gives it."""
    hint = {"default": "as_usual", "no-allocate": "no_allocate"}.get(spec.hint, spec.hint)
    shape = "standard" if spec.variant == "standard" else f"{hint}_u{spec.unroll}"
    return f"{spec.operation}_{spec.element}_{shape}_t{spec.threads_per_block}"
