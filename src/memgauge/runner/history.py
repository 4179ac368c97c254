"""What the runner keeps of a point's samples: a few numbers of each, whatever the team's size.

The samples themselves are in the record as soon as their round ends. Some 60 bytes of each suffice
for deciding how precise a point is; objects of Python would take ten times that for a sample of one
thread.
"""

from __future__ import annotations

import math
from array import array

from memgauge.analysis.figures.speeds import Value, elapsed_ns, values_of
from memgauge.model.records import Point, Sample


class History:
    """Numbers of one point's samples, in order of time."""

    def __init__(self, point: Point) -> None:
        self.taken = 0
        """Samples, also those that take no part in the figures,"""
        self.iterations = 0
        """and their iterations, each of all threads together."""
        self.elapsed_ns = array("q")
        """Time of each sample with stamps, from the first begin to the last end."""
        self.pingpongs_ns = array("d")
        """Of the samples that have one."""
        self._point = point
        self._rounds = array("q")
        self._values = array("d")
        self._pingpongs_ns = array("d")
        self._cycles_per_ns = array("d")
        self._weights = array("l")

    def add(self, sample: Sample) -> None:
        """Take over the numbers of the next sample."""
        self.taken += 1
        self.iterations += len(sample.threads[0].begin_ns) if sample.threads else 0
        took_ns = elapsed_ns(sample)
        if took_ns is not None:
            self.elapsed_ns.append(took_ns)
        if sample.pingpong_ns is not None:
            self.pingpongs_ns.append(sample.pingpong_ns)
        for value in values_of(self._point, [sample]).clean:
            self._rounds.append(value.round)
            self._values.append(value.value)
            self._pingpongs_ns.append(_or_nan(value.pingpong_ns))
            self._cycles_per_ns.append(_or_nan(value.cycles_per_ns))
            self._weights.append(value.weight)

    def values(self) -> list[float]:
        """GB/s or ns of all samples that count."""
        return self._values.tolist()

    def clean(self) -> list[Value]:
        """All samples that count."""
        columns = (
            self._rounds,
            self._values,
            self._pingpongs_ns,
            self._cycles_per_ns,
            self._weights,
        )
        return [
            Value(round_, value, _or_none(pingpong_ns), _or_none(cycles_per_ns), weight)
            for round_, value, pingpong_ns, cycles_per_ns, weight in zip(*columns, strict=True)
        ]


def _or_nan(known: float | None) -> float:
    return math.nan if known is None else known


def _or_none(stored: float) -> float | None:
    return None if math.isnan(stored) else stored
