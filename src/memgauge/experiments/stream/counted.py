"""STREAM's kernels under counters: each alone, repeated, and counted around exactly that.

Question: how many bytes does memory itself move for the bytes that STREAM counts?

Method: one kernel is repeated over whole arrays, the first repetition before the counters are read;
a *region* is so many repetitions that it lasts long beside what reading the counters takes, each
stamped as STREAM does. Before some regions the team sleeps for as long, and the same counters are
read around that: what they count then is the traffic of others. Source: the published comparison of
STREAM's software and hardware bandwidth on Arm DMC-620 controllers, 100 repetitions of which the
first is left out.

What would invalidate it: other programs (their traffic is counted too, and shows in the idle
regions), and counters that are dead, mis-scaled or see only some controllers, which
`memgauge counters verify` finds out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Generic

import msgspec

from memgauge import _core
from memgauge.experiments.shared.counted import TeamCounters
from memgauge.experiments.shared.native import to_sample
from memgauge.experiments.stream.kernels import Spec
from memgauge.experiments.stream.parameters import StreamParameters
from memgauge.model.counting.event_names import NONE
from memgauge.model.points.counted import CountedActual
from memgauge.model.record_kinds.counters import CounterSet
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Sample

REGION_S = 0.05
"""What a region lasts at least: reading counters takes well under a thousandth of it."""

MOST_REPETITIONS = 99
"""Of one region, unless another number is requested."""

IDLE_EVERY = 4
"""Regions, before the first of which the team sleeps."""

LONGEST_IDLE_S = 10.0


def requested_counters(parameters: StreamParameters) -> tuple[str, ...]:
    """Events to count around kernels; empty: none were requested."""
    counters = parameters.counters or ()
    return () if counters == (NONE,) else counters


def traffic_facts(spec: Spec, elements: int) -> dict[str, Scalar]:
    """The recorded `CountedActual` of one repetition.

    Streaming stores read no line first. What others could make be read is that of the plain loop,
    whose stores are ordinary; on a GPU nothing.
    """
    ordinary = type(spec)(spec.operation, spec.element)
    return CountedActual(
        elements=elements,
        read_bytes=elements * spec.counted_read_bytes,
        write_bytes=elements * spec.counted_write_bytes,
        evadable_bytes=elements * ordinary.write_allocate_bytes,
    ).recorded()


class CountedKernels(Generic[Spec]):
    """The kernels over one team's or one GPU's arrays, repeated while counters are read."""

    def __init__(
        self,
        run: Callable[[Spec, int], _core.Slice],
        counters: TeamCounters,
        *,
        region_s: float,
        requested: int | None,
    ) -> None:
        """Take what repeats a kernel over the whole arrays.

        Args:
            run: Repeats a kernel as often as its second argument says.
            counters: Read around the repetitions.
            region_s: What a region lasts at least, with `MOST_REPETITIONS` at most.
            requested: Repetitions of a region, with the first, which is left out; None: as many as
                last that long.
        """
        self._run = run
        self._counters = counters
        self._region_s = region_s
        self._requested = requested

    @property
    def set(self) -> CounterSet:
        """The counters, to be recorded."""
        return self._counters.set

    def measure(self, spec: Spec, point: str, round_: int) -> Sample:
        """One region, with an idle one before it in some rounds.

        Args:
            spec: Kernel to repeat.
            point: Name of its point.
            round_: Number of the round, from 0; multiples of `IDLE_EVERY` have an idle region.
        """
        first_s = self._first(spec)
        repetitions = min(MOST_REPETITIONS, math.ceil(self._region_s / first_s))
        if self._requested is not None:
            repetitions = self._requested - 1
        idle = None
        if round_ % IDLE_EVERY == 0:
            idle = self._counters.idle(min(LONGEST_IDLE_S, repetitions * first_s))
            self._first(spec)
        taken, reading = self._counters.around(lambda: self._run(spec, repetitions))
        return msgspec.structs.replace(to_sample(point, round_, taken), reading=reading, idle=idle)

    def _first(self, spec: Spec) -> float:
        """Seconds of the repetition left out: it leaves in the caches what the next find."""
        taken = self._run(spec, 1)
        begin = min(thread.begin_ns[0] for thread in taken.threads)
        return max(1, max(thread.end_ns[-1] for thread in taken.threads) - begin) * 1e-9
