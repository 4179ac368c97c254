"""Machines of the model as the native cache model takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memgauge.machines.library import load
from memgauge.model.errors import RequestError, SystemFailure
from memgauge.model.text import quoted
from memgauge.system.native import load_core

if TYPE_CHECKING:
    from memgauge import _core
    from memgauge.model.cache_machine import CacheMachine
    from memgauge.model.system import System


def load_simulable(name: str, system: System | None = None) -> CacheMachine:
    """The machine of that name or file, which the cache model takes.

    Without the native core, which alone can tell, it is given as it is.

    Raises:
        RequestError: as `machines.library.load`; or the caches make no sense together, such as a
            size that whole sets do not fill.
    """
    machine = load(name, system)
    try:
        cache_model(machine)
    except SystemFailure:
        pass
    except (RequestError, MemoryError) as error:
        why = str(error).removeprefix(f"cache model of {machine.name}: ") or "too many lines"
        raise RequestError(
            f"machine {quoted(name)}: cannot be simulated: {why}; see docs/machines.md"
        ) from error
    return machine


def native_machine(machine: CacheMachine) -> _core.CacheMachine:
    """The same machine, for `CacheModel`."""
    core = load_core()
    stores, prefetch = machine.store_streams, machine.prefetchers
    native: _core.CacheMachine = core.CacheMachine(
        name=machine.name,
        levels=[
            core.CacheLevel(
                name=level.name,
                bytes=level.bytes,
                ways=level.ways,
                cores=level.cores,
                replacement=level.replacement,
                inclusion=level.inclusion,
                borrows_idle=level.borrows_idle,
            )
            for level in machine.levels
        ],
        line_bytes=machine.line_bytes,
        sector_bytes=machine.sector_bytes,
        cores=machine.cores,
        idle_cores=machine.idle_cores,
        store_lines=stores.lines,
        store_streams=stores.streams,
        store_gap=stores.gap,
        strided_steps=stores.strided,
        strided_window=stores.window,
        next_line=prefetch.next_line,
        stride=prefetch.stride,
        stride_ahead=prefetch.stride_ahead,
    )
    return native


def cache_model(machine: CacheMachine, threads: int = 1) -> _core.CacheModel:
    """Its caches, which hold nothing.

    Raises:
        RequestError: a machine that makes no sense, or whose sets do not part over threads.
    """
    model: _core.CacheModel = load_core().CacheModel(native_machine(machine), threads)
    return model
