"""Published counts of memory controllers, as the objects that a run's own counts become."""

from __future__ import annotations

from memgauge.analysis.counters.bandwidth import hardware_bandwidth
from memgauge.analysis.counters.figures import CountedRegion, HardwareCounts, Kernel
from memgauge.analysis.counters.summary import verdicts
from memgauge.analysis.counters.tables import QUESTION, charts, tables
from memgauge.analysis.published import study_report
from memgauge.analysis.section import Report, Section
from memgauge.model.addresses import sockets_by_address
from memgauge.model.counting.events import Counter, Quantity
from memgauge.model.counting.readings import Counted
from memgauge.model.errors import RequestError
from memgauge.references.library import PREFIX, Counts, Reference


def published_counts(reference: Reference) -> HardwareCounts:
    """The counts of a published table: one region, as long as the printed bandwidth makes it.

    Raises:
        RequestError: the data set holds no counts of controllers.
    """
    known = reference.description.counts
    if known is None:
        raise RequestError(
            f"{PREFIX}{reference.name}: holds no counts of memory controllers; "
            f"to read it: memgauge report {PREFIX}{reference.name}"
        )
    devices = [row[known.device] for row in reference.rows]
    sockets = sockets_by_address(devices, known.sockets)
    counters: list[Counter] = []
    counts: dict[str, Counted | None] = {}
    for row, device, socket in zip(reference.rows, devices, sockets, strict=True):
        ways: tuple[tuple[Quantity, str], ...] = (
            ("read_bytes", known.reads),
            ("write_bytes", known.writes),
        )
        for quantity, column in ways:
            counter = _counter(known, device, socket, quantity, slot=len(counters))
            raw = int(row[column])
            counters.append(counter)
            counts[counter.name] = Counted(value=raw * counter.scale, raw=raw)
    kernel = _kernel(known)
    seconds = known.repetitions * kernel.counted_bytes / (known.software_MBps * 1e6)
    return HardwareCounts(
        kernel=kernel,
        back_end="published",
        basis="measured",
        counters=counters,
        regions=[CountedRegion(seconds=seconds, repetitions=known.repetitions, counts=counts)],
        idle=[],
        notes=reference.description.caveats,
        published=True,
    )


def _kernel(known: Counts) -> Kernel:
    return Kernel(
        name=known.kernel,
        elements=known.elements,
        read_bytes=known.elements * known.read_bytes,
        write_bytes=known.elements * known.write_bytes,
        evadable_bytes=known.elements * known.evadable_bytes,
        streams=False,
    )


def _counter(
    known: Counts, device: str, socket: int | None, quantity: Quantity, *, slot: int
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
        scale=known.bytes_per_count,
        scale_source=known.scale_source,
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
