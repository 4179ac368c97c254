"""`nvml`: figures of NVIDIA GPUs by the driver's management library, loaded at run time.

What the library's PCIe throughput call gives is never used: it blocks for its window of 20 ms and
more, and gives a rate of that window only. Totals of bytes are read instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import ClassVar

import msgspec

from memgauge import _core
from memgauge.counters.base import MACHINE, BackEnd, Opened, Probe, Target, counter_of
from memgauge.counters.nvml.figures import FIGURES, SOURCE, Figure, QueryMethod
from memgauge.model.counting.events import Counter, Event, State
from memgauge.model.errors import CounterRefused, RequestError
from memgauge.system.gpu.untested import untested_on_gpu
from memgauge.system.tree import Tree, whole_number

LIBRARY = "libnvidia-ml.so.1"
DRIVER_REMEDY = "install the NVIDIA driver, and pass its devices and library into a container"
RIGHTS_REMEDY = "run as root, or ask the administrator to open the GPU's counters to users"
SLOW_NS = 500_000
_NO_PERMISSION = 4  # NVML_ERROR_NO_PERMISSION
_WORTH_ASKING = 3  # of a few calls the quickest is the call itself, the others were disturbed


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """How one figure of one GPU can be read, or why it cannot."""

    figure: Figure
    device: int
    way: QueryMethod
    bits: int = 64
    took_ns: int = 0
    state: State = "ready"
    reason: str | None = None

    @property
    def name(self) -> str:
        """As it is asked for, after the back end's colon."""
        return f"{self.device}/{self.figure.name}"


@cache
def _library(file: str) -> _core.NvmlLibrary:
    """Started once for this process: a start takes a second where no GPU is in use."""
    return _core.NvmlLibrary(file)


class Nvml(BackEnd):
    """Events of each GPU, numbered as the library does."""

    name: ClassVar[str] = "nvml"
    summary: ClassVar[str] = "power, energy, clocks, memory and link traffic of NVIDIA GPUs"

    def probe(self) -> Probe:
        """Whether the library loads, starts, and finds a GPU."""
        try:
            devices = _library(LIBRARY).devices
        except RequestError as error:
            return Probe(state="absent", reason=str(error), remedy=DRIVER_REMEDY)
        if not devices:
            return Probe(state="absent", reason="the NVIDIA driver shows no GPU")
        unusable = [f"GPU {device.index}: {device.error}" for device in devices if device.error]
        if len(unusable) == len(devices):
            return Probe(state="refused", reason="; ".join(unusable), remedy=RIGHTS_REMEDY)
        return Probe(state="ready", reason="; ".join(unusable) or None)

    def events(self) -> list[Event]:
        """Every figure of every usable GPU; each is asked for once to see whether it is there."""
        try:
            library = _library(LIBRARY)
        except RequestError:
            return []
        return [
            self._event(device, tried(library, device.index, figure))
            for device in library.devices
            if not device.error
            for figure in FIGURES
        ]

    def open(self, events: Sequence[Event], target: Target = MACHINE) -> Opened:  # noqa: ARG002
        """Bind to the GPUs; notes tell slow calls, averages, and GPUs that are partitioned."""
        try:
            library = _library(LIBRARY)
        except RequestError as error:
            raise CounterRefused(f"{events[0].name}: {error}; {DRIVER_REMEDY}") from error
        devices = {device.index: device for device in library.devices if not device.error}
        readings = [_reading(library, devices, event) for event in events]
        source = _core.NvmlSource(library, [_query(one.device, one.way) for one in readings])
        tree = Tree(self.host.sysfs)
        nodes = {number: _node(tree, device) for number, device in devices.items()}
        counters = [
            _counter(event, one, slot, nodes[one.device])
            for slot, (event, one) in enumerate(zip(events, readings, strict=True))
        ]
        return Opened(sources=[source], counters=counters, notes=_notes(readings, devices))

    def _event(self, device: _core.NvmlDevice, one: Reading) -> Event:
        figure = one.figure
        refused = one.state == "refused"
        mode = "; MIG is on: of the whole GPU" if device.partitioned else ""
        way = f" ({one.way.note})" if one.way.note else ""
        return Event(
            name=f"{self.name}:{one.name}",
            back_end=self.name,
            quantity=figure.quantity,
            domain="gpu",
            scope="device",
            unit=figure.unit,
            scale=figure.scale,
            scale_source=SOURCE,
            gauge=figure.gauge,
            meaning=f"{figure.meaning}{way}{mode}",
            encoding=one.way.encoding,
            instances=[_instance(device)],
            source=SOURCE,
            pitfalls=list(figure.pitfalls),
            state=one.state,
            reason=one.reason,
            remedy=RIGHTS_REMEDY if refused else None,
        )


def tried(library: _core.NvmlLibrary, device: int, figure: Figure) -> Reading:
    """Read a figure in the first way that works; if none does, say why the last did not.

    Args:
        library: NVIDIA's management library, started.
        device: Number of the GPU in the library's order, from 0.
        figure: What to read, with the ways to ask for it, best first.
    """
    for way in figure.ways:
        answer = library.ask(_query(device, way))
        if answer.value is not None:
            return Reading(
                figure=figure, device=device, way=way, bits=answer.bits, took_ns=answer.took_ns
            )
    refused = answer.code == _NO_PERMISSION
    return Reading(
        figure=figure,
        device=device,
        way=way,
        state="refused" if refused else "absent",
        reason=answer.error,
    )


def _query(device: int, way: QueryMethod) -> _core.NvmlQuery:
    return _core.NvmlQuery(device, way.call, way.argument, way.scope)


def _reading(
    library: _core.NvmlLibrary, devices: dict[int, _core.NvmlDevice], event: Event
) -> Reading:
    number, _, name = event.name.partition(":")[2].partition("/")
    figure = next((one for one in FIGURES if one.name == name), None)
    index = whole_number(number)
    if figure is None or index is None or index not in devices:
        raise CounterRefused(
            f"{event.name}: this GPU is no longer available; list the counters again"
        )
    requested = [tried(library, index, figure) for _ in range(_WORTH_ASKING)]
    best = min(requested, key=lambda one: (one.state != "ready", one.took_ns))
    if best.state != "ready":
        remedy = f"; {RIGHTS_REMEDY}" if best.state == "refused" else ""
        raise CounterRefused(f"{event.name}: {best.reason}{remedy}")
    return best


def _counter(event: Event, one: Reading, slot: int, node: int | None) -> Counter:
    return counter_of(
        event,
        event.instances[0],
        slot=slot,
        route="library",
        node=node,
        wraps_at=1 << one.bits if one.bits < 64 and not event.gauge else None,
    )


def _instance(device: _core.NvmlDevice) -> str:
    place = f" {device.bus_id}" if device.bus_id else ""
    return f"GPU {device.index}{place}"


def _node(tree: Tree, device: _core.NvmlDevice) -> int | None:
    """The NUMA node that the GPU hangs on; the library's bus numbers have 8 digits of domain."""
    domain, _, rest = device.bus_id.lower().partition(":")
    node = tree.integer(f"/bus/pci/devices/{domain[-4:]}:{rest}/numa_node") if rest else None
    return node if node is not None and node >= 0 else None


def _notes(readings: Sequence[Reading], devices: dict[int, _core.NvmlDevice]) -> list[str]:
    slow = [
        f"nvml:{one.name}: a read takes {one.took_ns / 1e6:.1f} ms here: sample it slowly"
        for one in readings
        if one.took_ns >= SLOW_NS
    ]
    meant = [f"nvml:{one.name}: {one.way.note}" for one in readings if one.way.note]
    mixed = [
        f"GPU {number}: MIG is on; figures are of the whole GPU, not of an instance"
        for number in sorted({one.device for one in readings})
        if devices[number].partitioned
    ]
    untested = [f"nvml: {untested_on_gpu('NVML')}"] if readings else []
    return slow + meant + mixed + untested
