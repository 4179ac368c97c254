"""What the machine did beside the measurement, stretch by stretch of about a second.

The environment records cut a run into stretches. Where the kernel tells no clock frequency, as in
most virtual machines, it is the median of what the samples of the stretch measured of it. Stamps of
the legs of a resumed run are on different clocks, so each leg has its own stretches.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

import msgspec

from memgauge.analysis.figures.conditions import OTHERS_SHARE, STEAL_SHARE, others_s
from memgauge.analysis.report.verdicts import FREQUENCY_SPREAD
from memgauge.model.records import Environment, Sample
from memgauge.model.run import Run

LEAST_SECONDS = 0.03
"""Of steal or of other programs in one stretch: the kernel counts in ticks, 10 ms mostly."""
LEAST_CLOCKS = 5
"""Measurements of the clock in one stretch, for a median."""

STEAL = f"the hypervisor took more than {STEAL_SHARE:.0%} of the processors' time"
OTHERS = f"other programs used more than {OTHERS_SHARE:.0%} of the processors' time"
SLOW = f"the core clock was more than {FREQUENCY_SPREAD:.0%} below its highest"


class Stretch(msgspec.Struct, frozen=True):
    """The time between two environment records, on the clock of its leg."""

    begin_ns: int
    end_ns: int
    reasons: tuple[str, ...] = ()
    """Why samples in it are disturbed; empty where they are not."""


Stretches = Mapping[int, Sequence[Stretch]]
"""By leg of the run, in order of time."""


def stretches_of(run: Run) -> Stretches:
    """What the environment records of each leg, and the clocks measured meanwhile, say."""
    records: dict[int, list[Environment]] = {}
    for record, leg in zip(run.environment, run.environment_legs, strict=True):
        records.setdefault(leg, []).append(record)
    bare = {leg: [_bare(record) for record in known] for leg, known in records.items()}
    clocks = _clocks_ghz(run, records, bare)
    highest = max((clock for known in clocks.values() for clock in known if clock), default=0.0)
    return {
        leg: [
            msgspec.structs.replace(
                stretch,
                reasons=(
                    *_taken(run, record, len(run.starts[leg].system.cpus)),
                    *([SLOW] if clock and clock < (1 - FREQUENCY_SPREAD) * highest else []),
                ),
            )
            for stretch, record, clock in zip(bare[leg], known, clocks[leg], strict=True)
        ]
        for leg, known in records.items()
    }


def stretch_at(sample: Sample, stretches: Sequence[Stretch]) -> Stretch | None:
    """The stretch in which the sample ended; None where no record tells of that time."""
    index = _index_at(sample, stretches)
    return None if index is None else stretches[index]


def _index_at(sample: Sample, stretches: Sequence[Stretch]) -> int | None:
    end_ns = max((thread.end_ns[-1] for thread in sample.threads), default=0)
    index = bisect_left(stretches, end_ns, key=lambda stretch: stretch.end_ns)
    if index == len(stretches) or end_ns < stretches[index].begin_ns:
        return None
    return index


def _bare(record: Environment) -> Stretch:
    """No stretch begins before the clock did, however long its record says it was."""
    interval_ns = min(record.interval_s * 1e9, float(record.at_ns))
    return Stretch(record.at_ns - round(interval_ns), record.at_ns)


def _taken(run: Run, record: Environment, cpus: int) -> Iterator[str]:
    """Who took more of the processors' time than is usual."""
    time_s = record.interval_s * cpus
    for seconds, share, reason in (
        (record.steal_s, STEAL_SHARE, STEAL),
        (others_s(run, record), OTHERS_SHARE, OTHERS),
    ):
        if seconds is not None and seconds > max(LEAST_SECONDS, share * time_s):
            yield reason


def _clocks_ghz(
    run: Run, records: Mapping[int, Sequence[Environment]], bare: Stretches
) -> dict[int, list[float | None]]:
    """Of each stretch, as the kernel tells it anywhere in the run, else as it was measured."""
    if any(record.frequency_khz for record in run.environment):
        return {
            leg: [record.frequency_khz * 1e-6 if record.frequency_khz else None for record in known]
            for leg, known in records.items()
        }
    found: dict[int, list[list[float]]] = {leg: [[] for _ in known] for leg, known in bare.items()}
    for name, samples in run.samples.items():
        for sample, leg in zip(samples, run.legs[name], strict=True):
            if sample.cycles_per_ns is not None and leg in bare:
                index = _index_at(sample, bare[leg])
                if index is not None:
                    found[leg][index].append(sample.cycles_per_ns)
    return {
        leg: [median(clocks) if len(clocks) >= LEAST_CLOCKS else None for clocks in known]
        for leg, known in found.items()
    }
