"""Part doses of pressure: less bandwidth taken by pauses, less cache taken by smaller arrays.

They show below which bandwidth, and with how little of the shared cache, a program slows down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from memgauge.experiments.diagnose.places import Places
from memgauge.experiments.diagnose.treatments import Pressure, Treatment, on_cache
from memgauge.model.points.diagnose import CACHE, CACHE_PART, COMPUTE, WRITE

LONGEST_PAUSE = 1 << 20
"""Units: about a millisecond after every KiB."""
FINENESS = 16
"""A pause is found to within one part in so many: what it does to memory is measured anyway."""


def steps(count: int, full: Sequence[Treatment], places: Places) -> list[Treatment]:
    """Part doses of writes, and of the cache beside the part that `cache` takes.

    Args:
        count: Of parts between none and all: 3 are a quarter, half and three quarters.
        full: Treatments by generators, among them `write`.
        places: With the generators' CPUs and the size of the cache.
    """
    write = next(one.pressure for one in full if one.name == WRITE)
    if write is None:
        return []
    parts = [step / (count + 1) for step in range(1, count + 1)]
    return [
        *(_step(WRITE, part, msgspec.structs.replace(write, part=part)) for part in parts),
        *(_step(CACHE, part, on_cache(part, places)) for part in parts if part != CACHE_PART),
    ]


def _step(of: str, part: float, pressure: Pressure) -> Treatment:
    return Treatment(
        name=f"{of} {part:.0%}",
        kind="pressure",
        baseline=COMPUTE,
        pressure=pressure,
        step_of=of,
        part=part,
    )


def pause_for(part: float, time_ns: Callable[[int], float]) -> int:
    """Units of the pause that leaves this part of the traffic.

    Args:
        part: Above 0, at most 1.
        time_ns: Time of a fixed amount of traffic with a pause of so many units.

    Returns:
        The pause, at most `LONGEST_PAUSE`; 0 for all of the traffic.
    """
    if part >= 1:
        return 0
    target_ns = time_ns(0) / part
    low, high = 0, 1
    while high < LONGEST_PAUSE and time_ns(high) < target_ns:
        low, high = high, 2 * high
    while high - low > max(1, high // FINENESS):
        middle = (low + high) // 2
        if time_ns(middle) < target_ns:
            low = middle
        else:
            high = middle
    return high
