"""What a region costs: its two readings of 16 counters that live on the reading CPU.

python -m benchmarks.regions

The counters are software events, which every machine lets a process open for itself, so that what
is timed is system call, group and memgauge's own path; a hardware counter adds the reading of its
register (tens of nanoseconds each). One group of 16, eight groups of two as eight controllers have,
and 16 descriptors are timed in turns, and so is the region of `memgauge.counters`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from statistics import median, quantiles

from memgauge import _core
from memgauge.counters.regions import Counters

ROUNDS = 400
PAIRS = 50
COUNTERS = 16
SOFTWARE_PMU = 1
PAGE_FAULTS = 2


def sources(group: int) -> list[_core.CounterSource]:
    """All counters, in groups of so many."""
    event = _core.PerfEvent(SOFTWARE_PMU, PAGE_FAULTS, exclude_kernel=True, exclude_hv=True)
    return [_core.open_perf_group([event] * group, pid=0) for _ in range(COUNTERS // group)]


def native(reader: _core.Reader) -> None:
    """Begin and end of a region."""
    reader.read()
    reader.read()


def microseconds(pair: Callable[[], None]) -> float:
    """Mean of some pairs."""
    began = time.perf_counter_ns()
    for _ in range(PAIRS):
        pair()
    return (time.perf_counter_ns() - began) / PAIRS / 1e3


def region(counters: Counters) -> None:
    """The same by the public API."""
    with counters.region("empty"):
        pass


def main() -> None:
    """Time all of them in turns, and print medians with the middle half."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    readers = {group: _core.Reader(sources(group)) for group in (16, 2, 1)}
    events = ["perf:page-faults", "perf:minor-faults", "perf:major-faults", "perf:context-switches"]
    with Counters(*events).opened() as counters:
        pairs: dict[str, Callable[[], None]] = {
            f"native, {COUNTERS // group} groups of {group}": lambda one=reader: native(one)  # type: ignore[misc]
            for group, reader in readers.items()
        }
        pairs[f"memgauge.counters, {len(counters.counters)} counters"] = lambda: region(counters)
        times: dict[str, list[float]] = {name: [] for name in pairs}
        for _ in range(ROUNDS):
            for name, pair in pairs.items():
                times[name].append(microseconds(pair))
    for name, taken in times.items():
        low, _, high = quantiles(taken, n=4)
        print(
            f"{name}: begin and end {median(taken):.2f} us ({low:.2f}..{high:.2f}, best "
            f"{min(taken):.2f}, n={len(taken)})"
        )


if __name__ == "__main__":
    main()
