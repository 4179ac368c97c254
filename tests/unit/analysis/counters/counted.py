"""Counted kernels made by hand, with exactly known traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memgauge.analysis.counters.figures import CountedRegion, HardwareCounts, Kernel
from memgauge.model.counting.events import Basis, Counter, EventVerdict, Quantity
from memgauge.model.counting.readings import Counted

ELEMENTS = 1_000_000
Place = tuple[str, int | None]


def add_kernel(*, streams: bool = False) -> Kernel:
    return Kernel(
        name="add, standard, 2 threads",
        elements=ELEMENTS,
        read_bytes=16 * ELEMENTS,
        write_bytes=8 * ELEMENTS,
        evadable_bytes=8 * ELEMENTS,
        streams=streams,
    )


def counter(
    quantity: Quantity,
    place: Place,
    *,
    basis: Basis = "measured",
    verdict: EventVerdict | None = None,
    slot: int = 0,
) -> Counter:
    name, socket = place
    event = f"perf:imc/{quantity}/"
    return Counter(
        name=f"{event}@{name}",
        event=event,
        back_end="perf",
        quantity=quantity,
        domain="memory",
        scope="controller",
        unit="B",
        scale=64.0,
        scale_source="test",
        basis=basis,
        instance=name,
        controller=name,
        socket=socket,
        slot=slot,
        route="group",
        verdict=verdict,
    )


def verdict(word: str, **changes: object) -> EventVerdict:
    fields: dict[str, object] = {
        "event": "perf:imc/read_bytes/",
        "verdict": word,
        "evidence": "counted so much.",
        "machine": "m",
        "kernel": "k",
        "made_at": "2026-01-01T00:00:00+00:00",
    }
    return EventVerdict(**(fields | changes))  # type: ignore[arg-type]


def region(
    counters: Sequence[Counter],
    bytes_: Mapping[str, float | None],
    *,
    seconds: float = 0.1,
    repetitions: int = 10,
    is_estimate: bool = False,
) -> CountedRegion:
    """Each counter's bytes, by name or by quantity."""
    counts = {}
    for one in counters:
        value = bytes_.get(one.name, bytes_.get(one.quantity))
        counts[one.name] = (
            None
            if value is None
            else Counted(value=value, raw=int(value / 64), is_estimate=is_estimate)
        )
    return CountedRegion(seconds=seconds, repetitions=repetitions, counts=counts)


def counts(
    reads_each: float | None,
    writes_each: float | None,
    *,
    idle_each: float | None = None,
    places: Sequence[Place] = (("imc_0", 0),),
    streams: bool = False,
    basis: Basis = "measured",
    trusted: EventVerdict | None = None,
    is_estimate: bool = False,
    regions: int = 12,
) -> HardwareCounts:
    """Regions of add in which all places together see so many bytes an element."""
    counters = [
        counter(quantity, place, basis=basis, verdict=trusted)
        for place in places
        for quantity in ("read_bytes", "write_bytes")
    ]
    share = ELEMENTS * 10 / len(places)
    seen = {"read_bytes": reads_each, "write_bytes": writes_each}
    moved = {way: None if each is None else each * share for way, each in seen.items()}
    idle = []
    if idle_each is not None:
        quiet = dict.fromkeys(seen, idle_each * share / 2)
        idle = [region(counters, quiet, repetitions=0) for _ in range(3)]
    return HardwareCounts(
        kernel=add_kernel(streams=streams),
        back_end="perf",
        basis=basis,
        counters=counters,
        regions=[region(counters, moved, is_estimate=is_estimate) for _ in range(regions)],
        idle=idle,
    )
