"""`cupti`: what NVIDIA GPUs move to and from their memory, counted by hardware, through CUPTI.

Two ways, chosen by whom the counters are for. Around work of this process (an experiment on a GPU)
a *range* is counted from one reading to the next, in this process's context: exact, and nothing of
the reading itself. For a program that is profiled the whole device is *sampled* by its hardware at
an interval, whichever process uses it, and a reading adds up what was sampled.

Nothing of CUDA is started on a machine that shows no NVIDIA GPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import msgspec

from memgauge import _core
from memgauge.counters.base import MACHINE, BackEnd, Opened, Probe, Target, counter_of
from memgauge.counters.cupti.devices import Device, devices, is_refused, library
from memgauge.counters.cupti.metrics import FIGURES, SOURCE, Figure, Metric
from memgauge.model.counting.events import Counter, Event, State, gpu_traffic
from memgauge.model.errors import CounterRefused, RequestError, UnknownEvent
from memgauge.model.text import quoted
from memgauge.system.gpu.devices import read_gpus
from memgauge.system.gpu.driver import is_started
from memgauge.system.gpu.pci_link import pci_place
from memgauge.system.gpu.untested import untested_on_gpu
from memgauge.system.tree import Tree, whole_number

if TYPE_CHECKING:
    from memgauge.counters.host import Host

NO_GPU = "the machine shows no NVIDIA GPU"
INTERVAL_NS = 2_000_000
"""Of sampling: 2 ms. Sums do not depend on it; a reading is behind by up to one."""
LONGEST_GAP_NS = 2_000_000_000
"""What the hardware's buffer has room for between two readings."""
RIGHTS_REMEDY = (
    "run as root or with CAP_SYS_ADMIN, or have the driver loaded with "
    "NVreg_RestrictProfilingToAdminUsers=0; end other profilers, or 'dcgmi profile --pause'"
)

_OF_MEMORY = (
    "of the whole device: copies over its links and other processes count too",
    "writes count when they leave the second-level cache: some may only after the closing reading",
    "in whole sectors of 32 bytes; whether bytes of error correction are among them is not known",
)
_OF_LINK = (
    "the library does not report the direction: nvml counts what is received and what is sent",
)


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """An event to be opened, and what counts it."""

    event: Event
    figure: Figure
    metric: Metric


class Cupti(BackEnd):
    """Events of each GPU, numbered as the driver does, as in `cuda:0`."""

    name: ClassVar[str] = "cupti"
    summary: ClassVar[str] = "reads and writes of NVIDIA GPUs' own memory"

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._is_named = False

    def probe(self) -> Probe:
        """Whether there is a GPU, and CUPTI loads, starts and may count on one."""
        if not self._is_worth_asking():
            return Probe(state="absent", reason=NO_GPU)
        try:
            found = devices()
        except RequestError as error:
            return Probe(state="absent", reason=str(error))
        if not found:
            return Probe(state="absent", reason="the NVIDIA driver shows no GPU")
        shut = {one.index: _shut(one) for one in found.values()}
        reasons = [f"GPU {index}: {reason}" for index, reason in shut.items() if reason]
        if len(reasons) < len(found):
            return Probe(state="ready", reason="; ".join(reasons) or None)
        refused = any(is_refused(reason) for reason in reasons)
        return Probe(
            state="refused" if refused else "absent",
            reason="; ".join(reasons),
            remedy=RIGHTS_REMEDY if refused else None,
        )

    def events(self) -> list[Event]:
        """Every figure of every GPU that CUPTI has a metric for."""
        return [self._event(one, figure) for one in self._found() for figure in FIGURES]

    def find(self, text: str) -> list[Event]:
        """As of any back end; where it is absent the error says why.

        Who names an event of a GPU has one: the driver is asked, whatever sysfs shows.
        """
        self._is_named = True
        probe = self.probe()
        if probe.state == "absent":
            raise UnknownEvent(f"event {quoted(f'{self.name}:{text}')}: {probe.reason}")
        return super().find(text)

    def open(self, events: Sequence[Event], target: Target = MACHINE) -> Opened:
        """By ranges around work of this process; where processes are meant, by sampling."""
        way = "sampling" if target.pids else "range"
        opened = Opened(sources=[], counters=[])
        closing: list[_Source] = []

        def close() -> None:
            for source in closing:
                source.close()

        opened.close = close
        try:
            for device, mine in self._by_device(events, way):
                source = _source(device, mine, way)
                closing.append(source)
                _add(opened, source, device, mine)
        except RequestError as error:
            close()
            if isinstance(error, CounterRefused):
                raise
            raise CounterRefused(f"{events[0].name}: {error}") from error
        return opened

    def _is_worth_asking(self) -> bool:
        """Starting CUDA takes a second, and means nothing where no GPU is."""
        return (
            self._is_named
            or is_started()
            or (not self.host.is_substituted and bool(read_gpus(Tree())))
        )

    def _found(self) -> list[Device]:
        if not self._is_worth_asking():
            return []
        try:
            return list(devices().values())
        except RequestError:
            return []

    def _event(self, device: Device, figure: Figure) -> Event:
        ways = {way: device.ways[way].metrics.get(figure.name) for way in figure.ways}
        known = {way: metric for way, metric in ways.items() if metric is not None}
        first = next(iter(known.values()), None)
        reasons = device.reasons(figure)
        state = _state(figure, reasons)
        return Event(
            name=f"{self.name}:{device.index}/{figure.name}",
            back_end=self.name,
            quantity=figure.quantity,
            domain="gpu",
            scope="device",
            unit="B",
            scale=first.scale if first else 1.0,
            scale_source=first.scale_source if first else "",
            meaning=f"{figure.meaning}{_metric_text(first)}",
            encoding="; ".join(f"{way}: {metric.name}" for way, metric in known.items()),
            instances=[device.instance],
            source=SOURCE,
            traffic=gpu_traffic(device.index) if figure.automatic else None,
            automatic=figure.automatic,
            pitfalls=list(_OF_MEMORY if figure.automatic else _OF_LINK),
            state=state,
            reason=None if state == "ready" else "; ".join(dict.fromkeys(reasons.values())),
            remedy=RIGHTS_REMEDY if state == "refused" else None,
        )

    def _by_device(
        self, events: Sequence[Event], way: str
    ) -> Iterator[tuple[Device, list[Chosen]]]:
        """The events of each GPU, which are counted together.

        Raises:
            CounterRefused: one cannot be counted in that way.
        """
        known = {one.index: one for one in self._found()}
        groups: dict[int, list[Chosen]] = {}
        for event in events:
            number, _, name = event.name.partition(":")[2].partition("/")
            index = whole_number(number)
            device = None if index is None else known.get(index)
            figure = next((one for one in FIGURES if one.name == name), None)
            if device is None or figure is None:
                raise CounterRefused(
                    f"{event.name}: this GPU is no longer available; list the counters again"
                )
            groups.setdefault(device.index, []).append(_chosen(event, figure, device, way))
        for index, mine in groups.items():
            yield known[index], mine


_Source: TypeAlias = _core.CuptiRangeSource | _core.CuptiSamplingSource


def _shut(device: Device) -> str:
    """Why nothing of a GPU can be counted; empty: something can."""
    reasons = [one.error for one in device.ways.values() if one.error]
    return "; ".join(dict.fromkeys(reasons)) if len(reasons) == len(device.ways) else ""


def _state(figure: Figure, reasons: dict[str, str]) -> State:
    if len(reasons) < len(figure.ways):
        return "ready"
    return "refused" if any(is_refused(reason) for reason in reasons.values()) else "absent"


def _metric_text(metric: Metric | None) -> str:
    return f'; in CUPTI\'s words: "{metric.description}"' if metric else ""


def _chosen(event: Event, figure: Figure, device: Device, way: str) -> Chosen:
    if way not in figure.ways:
        raise CounterRefused(
            f"{event.name}: can be counted only by sampling, as 'memgauge profile' does; to count "
            f"around an experiment, name nvml:{device.index}/pcie_received_bytes or "
            "pcie_sent_bytes"
        )
    lacking = device.ways[way].lacks(figure)
    if lacking:
        raise CounterRefused(f"{event.name}: not by {way}: {lacking}")
    return Chosen(event=event, figure=figure, metric=device.ways[way].metrics[figure.name])


def _source(device: Device, mine: Sequence[Chosen], way: str) -> _Source:
    metrics = [one.metric.name for one in mine]
    if way == "range":
        return _core.CuptiRangeSource(library(), device.index, metrics)
    return _core.CuptiSamplingSource(library(), device.index, metrics, INTERVAL_NS, LONGEST_GAP_NS)


def _add(opened: Opened, source: _Source, device: Device, mine: Sequence[Chosen]) -> None:
    first = sum(one.slots for one in opened.sources)
    is_sampled = isinstance(source, _core.CuptiSamplingSource)
    losses = first + len(mine) if is_sampled else None
    opened.sources.append(source)
    opened.counters += [_counter(one, device, first + at, losses) for at, one in enumerate(mine)]
    opened.notes += [_note(source, device), f"{device.instance}: {untested_on_gpu('CUPTI')}"]


def _counter(one: Chosen, device: Device, slot: int, losses: int | None) -> Counter:
    return counter_of(
        one.event,
        device.instance,
        slot=slot,
        route="library",
        scale=one.metric.scale,
        scale_source=one.metric.scale_source,
        node=_node(device),
        generation_slot=losses,
    )


def _node(device: Device) -> int | None:
    """The NUMA node that the GPU hangs on."""
    return pci_place(Tree(), device.bus_id).node


def _note(source: _Source, device: Device) -> str:
    if isinstance(source, _core.CuptiRangeSource):
        return (
            f"{device.instance}: CUPTI counts from reading to reading, what this process does; no "
            f"other profiler can count meanwhile"
        )
    roughly = " of clock cycles, roughly" if source.by_clock else ""
    return (
        f"{device.instance}: CUPTI samples every {INTERVAL_NS / 1e6:g} ms{roughly}, whichever "
        f"process uses it; a reading is behind by up to that; no other profiler can count meanwhile"
    )
