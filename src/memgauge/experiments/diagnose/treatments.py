"""What is done to a program: pressure beside it, or another way to start it."""

from __future__ import annotations

from typing import Literal

import msgspec

from memgauge import _core
from memgauge.experiments.diagnose.places import Places
from memgauge.model.errors import RequestError
from memgauge.model.points.diagnose import (
    AS_IT_IS,
    AS_IT_IS_AGAIN,
    CACHE,
    CACHE_PART,
    COMPUTE,
    COMPUTE_AGAIN,
    READ,
    WRITE,
)
from memgauge.system.memory.policy import MemoryPolicy
from memgauge.system.settings.registers import Prefetchers

MIB = 1 << 20
MEMORY_LEAST_BYTES = 128 * MIB
UNKNOWN_LLC_BYTES = 32 * MIB
"""Taken for the size of a last-level cache that the system hides."""
ARITHMETIC_BYTES = 64 << 10
ARITHMETIC_UNITS = 100_000
"""Of a pause after every 16 lines: about 0.1 ms of multiplications."""


class Pressure(msgspec.Struct, frozen=True, kw_only=True):
    """What each generator does."""

    bytes: int
    """Read from as many and written to as many others."""
    reads: int = 1
    writes: int = 0
    store: str = "temporal"
    delay: int = 0
    """Units of a pause after every 16 lines."""
    part: float = 1.0
    """Of the traffic without pauses, that pauses leave: below 1, the generators find the delay."""

    def spec(self) -> _core.TrafficSpec:
        """As the native generators take it."""
        return _core.TrafficSpec(self.reads, self.writes, self.store, "sequential", self.delay)


class Treatment(msgspec.Struct, frozen=True, kw_only=True):
    """One way to run the program."""

    name: str
    kind: str
    baseline: str = ""
    """What it is compared with; empty: it is a baseline."""
    pressure: Pressure | None = None
    words: list[str] | None = None
    """Another command; None: the one that is diagnosed."""
    environment: dict[str, str] = {}
    """Variables that differ."""
    transparent_huge_pages: bool = True
    """False: switched off for the process (prctl PR_SET_THP_DISABLE)."""
    cpus: list[int] | None = None
    """Other CPUs; None: the program's."""
    memory_policy: MemoryPolicy | None = None
    """That the program starts with; None: as memgauge was started."""
    large_block_policy: MemoryPolicy | None = None
    """That the preloaded library gives its large blocks; None: it gives none."""
    large_block_weights: dict[int, int] = {}
    """Of nodes, by which the preloaded library places stretches of large blocks; empty: it does
    not."""
    unit_bytes: int | None = None
    """Of such a stretch, for each unit of weight."""
    prefetch_off: Prefetchers | None = None
    """Hardware prefetchers of the program's CPUs that are off while it runs; None: as they are."""
    huge_pages_for_all: bool = False
    """Whether transparent huge pages of the whole machine are set to `always` while it runs."""
    pages_wanted: Literal["", "huge", "base"] = ""
    """What its memory is to be on where pages are what differs."""
    change: str = ""
    step_of: str = ""
    """Of a part dose: the treatment that applies the same pressure."""
    part: float | None = None
    """Of a part dose: its part, as `DiagnoseRequested` has it."""
    schemata: list[str] = []
    """Limits of the kernel that the program and the references are within; empty: none."""

    @property
    def keeps_uses(self) -> bool:
        """Whether what its runs used is kept: of the usual way, and of other pages beside it."""
        return not self.baseline or bool(self.pages_wanted) or self.name == AS_IT_IS_AGAIN

    @property
    def nodes_wanted(self) -> list[int]:
        """Nodes on which its memory is to be; empty: they are not what differs."""
        if self.large_block_weights:
            return [*self.large_block_weights]
        policy = self.memory_policy or self.large_block_policy
        return policy.nodes if policy else []


class NotTried(msgspec.Struct, frozen=True):
    """What could change the program's time and is not tried."""

    name: str
    reason: str


def pressures(places: Places) -> list[Treatment]:
    """Treatments by generators, the control first and then what matters most."""
    generators = len(places.pressure)
    llc_bytes = places.llc_bytes or UNKNOWN_LLC_BYTES
    memory_bytes = max(MEMORY_LEAST_BYTES, 4 * llc_bytes // generators)
    arithmetic = Pressure(bytes=ARITHMETIC_BYTES, delay=ARITHMETIC_UNITS)
    made = {
        COMPUTE: arithmetic,
        COMPUTE_AGAIN: arithmetic,
        WRITE: Pressure(bytes=memory_bytes, reads=0, writes=1, store=_store()),
        CACHE: on_cache(CACHE_PART, places),
        READ: Pressure(bytes=memory_bytes),
    }
    return [
        Treatment(
            name=name,
            kind="pressure",
            baseline="" if name == COMPUTE else COMPUTE,
            pressure=pressure,
        )
        for name, pressure in made.items()
    ]


def on_cache(part: float, places: Places) -> Pressure:
    """Reads of arrays that together fill a part of the last-level cache.

    Args:
        part: Of the cache, from 0 to 1.
        places: With the generators' CPUs and the size of the cache.
    """
    llc_bytes = places.llc_bytes or UNKNOWN_LLC_BYTES
    return Pressure(bytes=max(MIB, int(part * llc_bytes) // len(places.pressure)))


def _store() -> str:
    """Stores past the caches press hardest; not every processor has them."""
    try:
        _core.TrafficSpec(0, 1, "non-temporal")
    except RequestError:
        return "temporal"
    return "non-temporal"


def variant(name: str, change: str) -> Treatment:
    """Another way to start the program, compared with the usual one; what differs is to be added.

    Args:
        name: Of the treatment, unique in the run; those of users have no blank.
        change: What is different, as a user would write it.
    """
    return Treatment(name=name, kind="variant", baseline=AS_IT_IS, change=change)
