"""`modelled`: the traffic that memgauge's own kernels are known to cause, as if it were counted.

What the loads and stores of STREAM's kernels ask of memory when no cache keeps anything: each line
read once, each line written once, and each line that an ordinary store writes read first
(write-allocate). Whether the hardware does that is what counters are for: a modelled value says
what to expect, never what was. Everything from here carries the basis `modelled`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from memgauge import _core
from memgauge.counters.base import MACHINE, BackEnd, Opened, Probe, Target, counter_of
from memgauge.model.counting.events import Counter, Event, Quantity

SOURCE = "memgauge's own kernels: core/include/memgauge/counters/modelled.hpp"
NOTE = "modelled: what memgauge's kernels are known to ask of memory; nothing here was measured"
_SLOTS: dict[str, tuple[Quantity, int]] = {
    "read_bytes": ("read_bytes", 0),
    "write_bytes": ("write_bytes", 1),
}
_MEANINGS = {
    "read_bytes": "Bytes that memgauge's kernels read if no cache keeps anything, a line that an "
    "ordinary store writes being read first.",
    "write_bytes": "Bytes that memgauge's kernels write.",
}


class Modelled(BackEnd):
    """The account of this process's kernels."""

    name: ClassVar[str] = "modelled"
    summary: ClassVar[str] = "traffic that memgauge's own kernels are known to cause; a model"

    def probe(self) -> Probe:
        """Always there."""
        return Probe(state="ready")

    def events(self) -> list[Event]:
        """Reads and writes."""
        return [
            Event(
                name=f"{self.name}:{text}",
                back_end=self.name,
                quantity=quantity,
                domain="memory",
                scope="process",
                unit="B",
                scale=1.0,
                meaning=_MEANINGS[text],
                encoding=f"slot {slot} of the kernels' account",
                instances=["memgauge"],
                source=SOURCE,
                state="ready",
            )
            for text, (quantity, slot) in _SLOTS.items()
        ]

    def open(self, events: Sequence[Event], target: Target = MACHINE) -> Opened:
        """One source with both counts; it is of this process, whatever the target."""
        del target
        return Opened(
            sources=[_core.ModelledSource()],
            counters=[_counter(event) for event in events],
            notes=[NOTE],
        )


def _counter(event: Event) -> Counter:
    _, text = event.name.split(":")
    _, slot = _SLOTS[text]
    return counter_of(
        event,
        "memgauge",
        slot=slot,
        route="account of the kernels",
        scale_source="the kernels count bytes",
        basis="modelled",
    )
