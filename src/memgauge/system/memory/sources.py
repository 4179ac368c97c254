"""Memory that is opened for a run, and closed however the run ends."""

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

    Ordinary memory (`dram`, `node:N`, `interleave:...`) needs no opening; files, devices and pools
    are there when they were opened.
    """

    def __init__(self, areas: Mapping[MemoryPlacement, _core.Memory] | None = None) -> None:
        self._areas = dict(areas or {})

    def of(self, placement: MemoryPlacement) -> _core.Memory:
        """The source of that memory.

        Raises:
            RequestError: it has to be opened, and was not; or it is a GPU's, which the host's
                threads cannot reach.
        """
        from memgauge import _core

        if placement.is_gpu:
            raise RequestError(
                f"memory {placement}: is reached by the GPU's kernels, not by threads of the host; "
                "choose memory of the host here"
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
    """Open the areas among `wanted`, each for so many bytes; all is closed on leaving.

    What was made for it is removed then, however it is left. `keep` leaves files and pools there.
    `overwrite` allows to write to a device that holds data.

    Raises:
        RequestError: it cannot be opened: says why, and what to do.
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
    """What is asked of an area."""

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
"""How each kind is opened; all but ordinary memory is here."""
