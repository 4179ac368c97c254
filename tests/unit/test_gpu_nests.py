"""Loop nests by a GPU: its threads write what the nest says, and move what it loads and stores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("memgauge._core")

from tests.gpu_stand_in import GpuStandIn, StandInFiles, build

from memgauge import _core
from memgauge.model.errors import RequestError

RESORT = {"planes": 6, "rows": 5, "cols": 7}
NESTS: dict[str, dict[str, int]] = {
    "gemv": {"m": 37, "n": 20, "cap": 15},
    "gemm": {"n": 33},
    "copy": {"n": 1000},
    "scale": {"n": 1000},
    "add": {"n": 1000},
    "triad": {"n": 1000},
    "strided-copy": {"n": 300, "stride": 5},
    "transpose": {"m": 31, "n": 17},
    "s1cf-first": RESORT,
    "s1cf-second": RESORT,
    "s1cf": RESORT,
    "s1pf-first": RESORT,
    "s1pf-second": RESORT,
    "s1pf": RESORT,
    "s2cf": {"y": 3, "planes": 4, "x": 5, "rows": 6},
    "s2pf": {"y": 3, "cols": 4, "x": 5, "rows": 6},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> StandInFiles:
    return GpuStandIn(build.built(), tmp_path_factory.mktemp("gpu")).files()


@pytest.fixture(scope="module")
def gpu(files: StandInFiles) -> Iterator[_core.Gpu]:
    opened = _core.Gpu(_core.GpuDriver(files.driver), 0, files.compiler)
    yield opened
    opened.close()


def spec_of(kind: str) -> _core.NestSpec:
    return _core.NestSpec(kind, store_prefetch=False, load_prefetch=False, **NESTS[kind])


def loaded_and_stored(kind: str, spec: _core.NestSpec) -> tuple[int, int]:
    """Bytes of one execution by its loads and stores alone, no cache keeping anything."""
    written = spec.arrays[-1]
    if kind in {"gemv", "gemm"}:
        return 16 * spec.trips, written.bytes
    inputs = len(spec.arrays) - 1
    return inputs * written.element_bytes * spec.trips, written.element_bytes * spec.trips


def test_every_kind_is_here() -> None:
    assert set(NESTS) == set(_core.NEST_KINDS)


@pytest.mark.parametrize("kind", NESTS)
def test_each_nest_writes_what_it_must_and_moves_what_it_loads(
    kind: str, gpu: _core.Gpu, files: StandInFiles
) -> None:
    spec = spec_of(kind)
    nest = _core.GpuNest(gpu, spec, copies=2)
    assert nest.validate() == []
    before = files.totals()
    (thread,) = nest.run(3).threads
    after = files.totals()
    assert len(thread.begin_ns) == 3
    moved = (
        after.kernel_read_bytes - before.kernel_read_bytes,
        after.kernel_write_bytes - before.kernel_write_bytes,
    )
    assert moved == tuple(3 * bytes_ for bytes_ in loaded_and_stored(kind, spec))
    (made,) = nest.validate()
    assert made.passed
    assert made.elements > 0
    nest.corrupt(len(spec.arrays) - 1, 5)
    (broken,) = nest.validate()
    assert not broken.passed
    nest.close()


def test_what_a_nest_is_known_to_move_is_booked(gpu: _core.Gpu) -> None:
    nest = _core.GpuNest(gpu, spec_of("triad"))
    gpu.read_with(_core.Reader([_core.ModelledSource()]))
    try:
        nest.run(2)
        assert gpu.readings is not None
        before, after = (reading.values for reading in gpu.readings)
    finally:
        gpu.read_with(None)
    assert [(late or 0) - (early or 0) for early, late in zip(before, after, strict=True)] == [
        2 * 2 * 8000,
        2 * 8000,
    ]


@pytest.mark.parametrize(
    ("copies", "prefetch", "said"),
    [(0, False, "0 copies of its arrays leave nothing"), (1, True, "a GPU prefetches nothing")],
)
def test_what_makes_no_sense_is_refused(
    copies: int, prefetch: bool, said: str, gpu: _core.Gpu
) -> None:
    spec = _core.NestSpec("copy", n=8, store_prefetch=prefetch)
    with pytest.raises(RequestError, match=said):
        _core.GpuNest(gpu, spec, copies=copies)


def test_more_than_the_device_has_is_refused(gpu: _core.Gpu) -> None:
    with pytest.raises(RequestError, match="cuda:0"):
        _core.GpuNest(gpu, _core.NestSpec("copy", n=1 << 30))
