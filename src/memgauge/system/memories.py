"""Memory that is opened for a run, and closed however the run ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from memgauge.model.errors import RequestError

if TYPE_CHECKING:
    from memgauge import _core
    from memgauge.model.memory import MemoryPlacement
    from memgauge.model.system import System


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
            RequestError: it has to be opened, and was not.
        """
        from memgauge import _core

        if not placement.is_area:
            return _core.Memory(placement.nodes, placement.weights)
        if placement not in self._areas:
            raise RequestError(f"--memory {placement}: was not opened")
        return self._areas[placement]


ORDINARY_POOL = "memory"


def room(system: System, placement: MemoryPlacement) -> tuple[object, int]:
    """What a placement takes its bytes from, and how many of that may be allocated."""
    del placement  # of another tier: see what it has
    return ORDINARY_POOL, system.available_bytes


ORDINARY = Memories()
"""Nothing opened."""


@contextmanager
def opened(
    wanted: Mapping[MemoryPlacement, int], *, keep: bool = False, overwrite: bool = False
) -> Iterator[Memories]:
    """Open the areas among `wanted`, each for so many bytes; all is closed on leaving.

    `keep` leaves files and pools there. `overwrite` allows to write to a device that holds data.

    Raises:
        RequestError: it cannot be opened: says why, and what to do.
    """
    with ExitStack() as stack:
        areas = {
            placement: _open(stack, placement, size, keep=keep, overwrite=overwrite)
            for placement, size in wanted.items()
            if placement.is_area
        }
        yield Memories(areas)


def _open(
    stack: ExitStack, placement: MemoryPlacement, size: int, *, keep: bool, overwrite: bool
) -> _core.Memory:
    """One area, closed by the stack."""
    del stack, size, keep, overwrite
    raise RequestError(f"--memory {placement}: this kind of memory cannot be opened yet")
