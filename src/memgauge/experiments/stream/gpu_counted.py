"""A GPU's kernels of STREAM under counters: each alone, repeated, and counted around exactly that.

Question: how many bytes does the GPU's memory itself move for the bytes that STREAM counts?

Method: as on the host (`counted`). One kernel is repeated over whole arrays, a launch each, the
first repetition before the counters are read: it leaves in the second-level cache what the next
finds. The device is idle at both readings. Before some regions it is left alone for as long, and
the same counters are read around that.

What would invalidate it: arrays that the second-level cache keeps in part; other programs on the
GPU; counters that are dead or mis-scaled: `memgauge counters verify --memory cuda:N` finds out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from memgauge import _core
from memgauge.counters.opening import find
from memgauge.experiments.shared.counted import gpu_counters
from memgauge.experiments.stream.counted import REGION_S, CountedKernels
from memgauge.model.counting.back_ends import entry_of
from memgauge.model.counting.event_names import WHOLE
from memgauge.model.counting.events import MEMORY_TRAFFIC, Event, gpu_traffic
from memgauge.model.errors import RequestError
from memgauge.model.memory import MemoryPlacement
from memgauge.system.gpu.driver import opened_gpu

ENERGY_REGION_S = 0.5
"""What a region lasts where energy is counted, which drivers report some ten times a second."""

MOST_REPETITIONS = 999
"""Of one region: each has a stamp of its own in the records."""


def gpu_events(requested: Sequence[str], memory: MemoryPlacement) -> list[Event]:
    """The requested events around kernels in a GPU's memory.

    Events of the host, and of the GPU's links and energy, are counted beside.

    Raises:
        RequestError: one is of another GPU, or is a gauge.
        UnknownEvent, CounterRefused: as `opening.find`.
    """
    events = find(requested, placement=memory)
    for event in events:
        if event.gauge:
            raise RequestError(
                f"event {event.name}: is a gauge, which shows a level at an instant and counts "
                f"nothing around a kernel; name a counter, such as nvml:N/energy, or sample it by "
                f"'memgauge profile'"
            )
        if event.domain == "gpu" and is_of_memory(event) and not counts_memory_of(event, memory):
            raise RequestError(
                f"event {event.name}: counts memory other than {memory}, which the kernels use; "
                "name events of that device, or auto"
            )
        if entry_of(event.back_end).gpus_by_bus_id:
            require_same_gpu(event, memory, opened_gpu(memory).facts.bus_id)
    return events


def require_same_gpu(event: Event, memory: MemoryPlacement, bus_id: str) -> None:
    """Refuse an event of NVML that is of another GPU: NVML numbers GPUs by their bus ids.

    Args:
        event: Event whose instances name bus ids; one that names none is accepted.
        memory: Placement of the GPU that runs the kernels; the message names it.
        bus_id: PCI bus id of that GPU as CUDA gives it, such as `0000:3b:00.0`; empty: not known.

    Raises:
        RequestError: the event is of another GPU; the message names where both are.
    """
    # NVML writes the domain of a bus id with 8 digits, CUDA with 4.
    places = [text.rpartition(" ")[2].lower() for text in event.instances if ":" in text]
    if places and bus_id and not any(place.endswith(bus_id.lower()) for place in places):
        raise RequestError(
            f"event {event.name}: belongs to {', '.join(event.instances)}, and {memory} is at "
            f"{bus_id}; 'memgauge counters --back-end nvml' lists which number has which bus id"
        )


def is_of_memory(event: Event) -> bool:
    """Whether it counts traffic of some memory, the host's or a GPU's."""
    return event.quantity in MEMORY_TRAFFIC


def counts_memory_of(event: Event, memory: MemoryPlacement) -> bool:
    """Whether it counts the traffic of that GPU's memory, by measurement or by a model."""
    return is_of_memory(event) and (
        event.back_end in WHOLE or event.traffic == gpu_traffic(str(memory))
    )


@contextmanager
def counted_gpu_kernels(
    arrays: _core.GpuStreamArrays,
    requested: Sequence[str],
    memory: MemoryPlacement,
    repetitions: int | None,
) -> Iterator[CountedKernels[_core.GpuKernelSpec]]:
    """Open counters around kernels that a GPU runs on these arrays.

    Args:
        arrays: Arrays in that GPU's memory, filled.
        requested: Names of events; `auto`: the traffic of that GPU's memory.
        memory: Placement of the GPU.
        repetitions: As requested of a region, with the first; None: as many as the time allows.

    Raises:
        RequestError, UnknownEvent, CounterRefused: as `gpu_events`, and one may not be opened.
    """
    events = gpu_events(requested, memory)
    region_s = ENERGY_REGION_S if any(e.quantity == "energy" for e in events) else REGION_S
    with gpu_counters(opened_gpu(memory), events, name=f"stream/{memory}") as counters:
        yield CountedKernels(
            lambda spec, iterations: arrays.run(spec, iterations=iterations),
            counters,
            region_s=region_s,
            requested=repetitions,
        )
