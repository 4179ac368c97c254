"""What `core_to_core` records about its points."""

from __future__ import annotations

from memgauge.model.points.facts import Facts
from memgauge.model.points.shared import Backing

STORE, SWAP, FETCH_ADD = "store", "compare-and-swap", "fetch-add"


class CoreToCoreRequested(Facts, frozen=True, kw_only=True):
    """A line that two CPUs hand over, or that a team contends for."""

    operation: str = ""
    """By which it is handed over: store or compare-and-swap; or what is done to it: fetch-add or
    compare-and-swap."""
    first_cpu: int | None = None
    """Of a pair: the line lies on its node. None: a team contends."""
    second_cpu: int | None = None
    threads: int | None = None
    """That contend. None: a pair."""


class CoreToCoreActual(Backing, frozen=True, kw_only=True):
    """Where the threads ran and the line lay, and how much was done in a sample."""

    cpus: str = ""
    round_trips: int | None = None
    """Of a pair, in each sample."""
    operations: int | None = None
    """Of a team, in each sample, all threads together."""
    pairs_possible: int | None = None
    """Of all CPUs that may be used. Recorded of the first point."""
    pairs_chosen: int | None = None
    """Of these, those that were to be measured. Recorded of the first point."""
    measured_cpus: str = ""
    """Among which the pairs are. Recorded of the first point."""
