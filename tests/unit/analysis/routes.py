"""A run whose counters are read by a second route too, which counts so many times as much."""

from __future__ import annotations

import msgspec

from memgauge.model.counting.events import Counter
from memgauge.model.record_kinds.counters import CounterSet, RegionReading
from memgauge.model.records import Sample
from memgauge.model.run import Run

FIRST, SECOND = "perf", "pcp"


def with_second_route(run: Run, factor: float) -> Run:
    """The run itself, changed: each counter of memory stands in it twice.

    Args:
        run: A run with counters, whose back end becomes `FIRST`.
        factor: What `SECOND` counts for each count of the first.
    """
    for name, made in run.counters.items():
        first = [msgspec.structs.replace(one, back_end=FIRST) for one in made.of]
        second = [_second(one, made.slots + at) for at, one in enumerate(made.of)]
        run.counters[name] = msgspec.structs.replace(
            made, slots=made.slots + len(second), of=[*first, *second]
        )
        for point, samples in run.samples.items():
            run.samples[point] = [_twice(one, made, factor) for one in samples]
    return run


def _second(one: Counter, slot: int) -> Counter:
    return msgspec.structs.replace(
        one,
        name=f"{SECOND}:{one.name.partition(':')[2]}",
        event=f"{SECOND}:{one.event.partition(':')[2]}",
        back_end=SECOND,
        slot=slot,
        enabled_slot=None,
        running_slot=None,
        route="daemon",
    )


def _twice(sample: Sample, made: CounterSet, factor: float) -> Sample:
    def twice(reading: RegionReading | None) -> RegionReading | None:
        if reading is None or reading.counters != made.counters:
            return reading
        before = [reading.before[one.slot] or 0 for one in made.of]
        after = [reading.after[one.slot] or 0 for one in made.of]
        late = [a + round((b - a) * factor) for a, b in zip(before, after, strict=True)]
        return msgspec.structs.replace(
            reading, before=[*reading.before, *before], after=[*reading.after, *late]
        )

    return msgspec.structs.replace(sample, reading=twice(sample.reading), idle=twice(sample.idle))
