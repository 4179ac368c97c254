"""Published counts of memory controllers, as the objects that a run's own counts become."""

from __future__ import annotations

from memgauge.analysis.hardware_bandwidth import hardware_bandwidth
from memgauge.analysis.hardware_counts import CountedRegion, HardwareCounts, Kernel
from memgauge.analysis.hardware_report import QUESTION, charts, tables
from memgauge.analysis.hardware_summary import verdicts
from memgauge.analysis.published import study_report
from memgauge.analysis.section import Report, Section
from memgauge.model.addresses import sockets_by_address
from memgauge.model.counters import Counter, Quantity
from memgauge.model.errors import RequestError
from memgauge.model.readings import Counted
from memgauge.references.library import PREFIX, Counts, Reference


def published_counts(reference: Reference) -> HardwareCounts:
    """The counts of a published table: one region, as long as the printed bandwidth makes it.

    Raises:
        RequestError: the data set holds no counts of controllers.
    """
    told = reference.description.counts
    if told is None:
        raise RequestError(
            f"{PREFIX}{reference.name}: holds no counts of memory controllers and no splits of "
            f"threads between two memories; compare it with 'memgauge compare'"
        )
    devices = [row[told.device] for row in reference.rows]
    sockets = sockets_by_address(devices, told.sockets)
    counters: list[Counter] = []
    counts: dict[str, Counted | None] = {}
    for row, device, socket in zip(reference.rows, devices, sockets, strict=True):
        ways: tuple[tuple[Quantity, str], ...] = (
            ("read_bytes", told.reads),
            ("write_bytes", told.writes),
        )
        for quantity, column in ways:
            counter = _counter(told, device, socket, quantity, slot=len(counters))
            raw = int(row[column])
            counters.append(counter)
            counts[counter.name] = Counted(value=raw * counter.scale, raw=raw)
    kernel = _kernel(told)
    seconds = told.repetitions * kernel.counted_bytes / (told.software_MBps * 1e6)
    return HardwareCounts(
        kernel=kernel,
        back_end="published",
        basis="measured",
        counters=counters,
        regions=[CountedRegion(seconds=seconds, repetitions=told.repetitions, counts=counts)],
        idle=[],
        notes=reference.description.caveats,
        published=True,
    )


def _kernel(told: Counts) -> Kernel:
    return Kernel(
        name=told.kernel,
        elements=told.elements,
        read_bytes=told.elements * told.read_bytes,
        write_bytes=told.elements * told.write_bytes,
        evadable_bytes=told.elements * told.evadable_bytes,
        streams=False,
    )


def _counter(
    told: Counts, device: str, socket: int | None, quantity: Quantity, *, slot: int
) -> Counter:
    event = f"published:{quantity}"
    return Counter(
        name=f"{event}@{device}",
        event=event,
        back_end="published",
        quantity=quantity,
        domain="memory",
        scope="controller",
        unit="B",
        scale=told.bytes_per_count,
        scale_source=told.scale_source,
        instance=device,
        controller=device,
        socket=socket,
        slot=slot,
        route="published table",
    )


def published_report(reference: Reference) -> Report:
    """The published counts as a report: what explains them, tables and picture.

    Raises:
        RequestError: the data set holds no counts of controllers.
    """
    every = [hardware_bandwidth(published_counts(reference))]
    section = Section(
        name="hardware",
        title="Software and hardware bandwidth",
        question=QUESTION,
        verdicts=verdicts(every),
        tables=tables(every),
        charts=charts(every),
    )
    return study_report(reference, section, of="counts")
