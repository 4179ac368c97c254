"""Opens memory for a run, and closes it however the run ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from memgauge.model.errors import RequestError
from memgauge.model.termination import unwinding

if TYPE_CHECKING:
    from memgauge import _core
    from memgauge.model.memory import MemoryPlacement


class Memories:
    """What buffers take their pages from, by placement.

    Ordinary memory (`dram`, `node:N`, `interleave:...`) need not be opened; files, devices and
    pools are available only after they were opened.
    """

    def __init__(self, areas: Mapping[MemoryPlacement, _core.Memory] | None = None) -> None:
        self._areas = dict(areas or {})

    def of(self, placement: MemoryPlacement) -> _core.Memory:
        """The source of a placement's memory.

        Raises:
            RequestError: the memory must be opened first and was not, or it belongs to a GPU and
                the
                host's threads cannot access it.
        """
        from memgauge import _core

        if placement.is_gpu:
            raise RequestError(
                f"memory {placement}: only the GPU's kernels can access it, not threads of the "
                "host; choose host memory here"
            )
        if not placement.is_area:
            return _core.Memory(placement.nodes, placement.weights)
        if placement not in self._areas:
            raise RequestError(f"memory {placement}: was not opened")
        return self._areas[placement]


ORDINARY = Memories()
"""Nothing opened."""


@contextmanager
def opened(
    wanted: Mapping[MemoryPlacement, int], *, keep: bool = False, overwrite: bool = False
) -> Iterator[Memories]:
    """Open files, devices and pools for a run, and close them on exit.

    Args:
        wanted: Total bytes of arrays by placement; placements in ordinary memory and on GPUs are
            skipped.
        keep: Whether files, pools and data on devices stay for later runs; otherwise they are
            removed on exit, even after an error. What an earlier run kept stays anyway.
        overwrite: Whether to write to a device that holds data of others.

    Raises:
        RequestError: an area cannot be opened; the message states why and what to do.
    """
    with unwinding(), ExitStack() as stack:
        yield Memories(
            {
                placement: stack.enter_context(
                    _OPENED[placement.kind](Wanted(placement.path, size, keep, overwrite))
                )
                for placement, size in wanted.items()
                if placement.is_area
            }
        )


class Wanted(NamedTuple):
    """Options that apply to opening an area."""

    path: str
    bytes: int
    keep: bool
    overwrite: bool


@contextmanager
def _closed(area: _core.Memory) -> Iterator[_core.Memory]:
    try:
        yield area
    finally:
        area.close()


@contextmanager
def _file(wanted: Wanted) -> Iterator[_core.Memory]:
    from memgauge import _core
    from memgauge.system.areas import files as area_files

    with area_files.opened(wanted.path, wanted.bytes, keep=wanted.keep) as file:
        area = _core.open_file_area(file.descriptor, wanted.path, wanted.bytes, file.reserved_bytes)
        with _closed(area):
            yield area


@contextmanager
def _devdax(wanted: Wanted) -> Iterator[_core.Memory]:
    from memgauge import _core
    from memgauge.system.areas import devices as area_devices

    with area_devices.opened(
        wanted.path, wanted.bytes, keep=wanted.keep, overwrite=wanted.overwrite
    ) as device:
        area = _core.open_devdax_area(
            device.descriptor,
            wanted.path,
            device.bytes,
            device.page_bytes,
            device.reserved_bytes,
            device.node,
        )
        with _closed(area):
            yield area


@contextmanager
def _shm(wanted: Wanted) -> Iterator[_core.Memory]:
    from memgauge import _core

    del wanted  # each buffer is a piece of its own
    with _closed(_core.open_shm_area()) as area:
        yield area


def _pool(wanted: Wanted) -> AbstractContextManager[_core.Memory]:
    from memgauge.system.areas import pools as area_pools

    return area_pools.opened(wanted.path, wanted.bytes, keep=wanted.keep)


_OPENED: dict[str, Callable[[Wanted], AbstractContextManager[_core.Memory]]] = {
    "file": _file,
    "devdax": _devdax,
    "pmemobj": _pool,
    "shm": _shm,
}
"""The function that opens each kind of memory other than ordinary memory."""
