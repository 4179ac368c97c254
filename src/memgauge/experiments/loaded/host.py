"""Loaded latency: how long does a load wait while other cores use the memory?

Question: latency of memory as a function of the bandwidth that others draw, for mixes of reads and
writes, from an idle memory to a saturated one: where is the knee, and what lies beyond it?

Method: one pinned probe chases pointers over a ring like that of `latency` for memory, while other
pinned threads issue whole-line reads and writes with a calibrated pause after every 16 lines.
Delays are swept, and the sweep is refined where the curve bends. The bandwidth is the generators'
own count over the window in which all of them and the probe ran; single loads of the probe, timed
one by one in the same window, give the tail.
Source: Intel Memory Latency Checker (loaded latency with injected delays), multichase's multiload,
and the bandwidth-latency families of Mess (Esmaili-Dokht et al., MICRO 2024).

What would invalidate it: a generator on a hardware thread of the probe's core (warned of); traffic
that fits the caches; virtual CPUs moved by the host between two passes (distinguished by the
ping-pong); anything else that loads the memory.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from statistics import linear_regression, median
from typing import ClassVar

from memgauge import _core
from memgauge.experiments.loaded.parameters import LoadedParameters
from memgauge.experiments.loaded.plan import (
    HOPS,
    Curve,
    LoadedGroup,
    Pair,
    PreparedTeam,
    TeamPlan,
    groups,
    pair,
    pairs_of,
    points_of,
    samples_of,
    team_plans,
    warnings_about,
)
from memgauge.experiments.loaded.refine import further_delays
from memgauge.experiments.shared.base import Bench, Experiment, Values
from memgauge.experiments.shared.native import backing_facts, to_validation
from memgauge.experiments.shared.read_write_mix import Load, issued_share
from memgauge.experiments.shared.rings import BLOCK_BYTES, MEMORY_NODE_BYTES, MEMORY_WARM_HOPS
from memgauge.model.errors import RequestError
from memgauge.model.records import Point, Sample, Validation, Warning
from memgauge.model.system import System
from memgauge.system.memory.sources import ORDINARY, Memories

TIMED_LOADS = 300
"""Loads timed one by one, for the tail."""

CALIBRATION_UNITS = (2_000, 5_000, 10_000, 20_000)

LEAST_VALUES = 6
"""Of every point of a curve, before delays are added to it."""
ENOUGH_VALUES = 24
"""A curve without a bend by then is looked at no more."""


class LoadedBench(Bench):
    """A probe's ring and the generators' memory."""

    def __init__(
        self, plan: TeamPlan, traffic: _core.Traffic, ring: _core.ChaseRing, prepared: PreparedTeam
    ) -> None:
        self._plan = plan
        self._traffic = traffic
        self._ring = ring
        self._prepared = prepared
        self._pairs = pairs_of(plan, prepared)
        self._pair_of = {one.latency.point: one for one in self._pairs}
        self._bending = [curve for curve in plan.curves if curve.further]
        self._led_in: tuple[int, str] | None = None
        self.points = points_of(self._pairs)

    def keep(self, names: Collection[str]) -> None:
        """Fewer delays; a curve that lost some is not refined."""
        self._pairs = [one for one in self._pairs if one.latency.point in names]
        delays = Counter(one.load.name for one in self._pairs)
        self._bending = [
            curve for curve in self._bending if delays[curve.load.name] == len(curve.delays)
        ]
        self.points = points_of(self._pairs)

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Chase under load: the latency and the bandwidth of the same moment."""
        pair = self._pair_of[point]
        self._lead_in(pair.load, round_)
        taken = self._traffic.run_loaded(
            pair.spec,
            self._ring,
            HOPS,
            warm_hops=MEMORY_WARM_HOPS,
            timed_loads=TIMED_LOADS,
            pingpong=True,
        )
        return samples_of(pair, round_, taken)

    def _lead_in(self, load: Load, round_: int) -> None:
        """Fill the caches with lines of this load, lest others' dirty ones be charged to it.

        Once for each curve and round: its delays are measured one after the other.
        """
        if self._led_in != (round_, load.name):
            self._traffic.run(load.spec(), self._plan.sizes.lead_in_bytes)
            self._led_in = (round_, load.name)

    def refine(self, values: Values) -> list[Point]:
        """Delays where curves bend: half of those that may be added, later half of the others."""
        added = [
            pair(self._plan, curve.load, delay, self._prepared)
            for curve in list(self._bending)
            for delay in self._further(curve, values)
        ]
        self._pairs += added
        self._pair_of |= {one.latency.point: one for one in added}
        return points_of(added)

    def _further(self, curve: Curve, values: Values) -> list[int]:
        """Delays to add to a curve; it is looked at no more once that is settled."""
        there = [one for one in self._pairs if one.load == curve.load]
        left = curve.further - (len(there) - len(curve.delays))
        seen = _seen(there, values) if left else {}
        fewest = min((len(side) for sides in seen.values() for side in sides), default=math.inf)
        if fewest < LEAST_VALUES:
            return []
        places = {delay: (median(moved), median(ns)) for delay, (moved, ns) in seen.items()}
        delays = further_delays(places, (left + 1) // 2)
        if not delays and fewest >= ENOUGH_VALUES:
            self._bending.remove(curve)
        return delays

    def validate(self) -> list[Validation]:
        """Every line the generators wrote holds what it must."""
        return [to_validation("loaded", self._plan.name, self._traffic.validate())]


class Loaded(Experiment):
    """The `loaded` experiment."""

    name: ClassVar[str] = "loaded"
    parameters: ClassVar[type[LoadedParameters]] = LoadedParameters

    def plan(self, parameters: LoadedParameters, system: System) -> list[LoadedGroup]:
        """One group for each number of generators."""
        if parameters.steps is not None and parameters.like is None:
            raise RequestError("--steps: condenses the profile of --like, which is missing; add it")
        return groups(team_plans(parameters, system))

    @contextmanager
    def open(
        self,
        group: LoadedGroup,
        parameters: LoadedParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Pin probe and generators, link the ring, fill the generators' memory.

        Args:
            group: One number of generators, with all curves to measure.
            parameters: What `group` was planned with; `pages` and `memory` are used.
            memories: Sources that the ring and the generators take their memory from.
        """
        with opened(group.plan, parameters, memories) as (traffic, ring, prepared):
            yield LoadedBench(group.plan, traffic, ring, prepared)

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        """Warnings about what spoils the figures of a team, or was left out of them.

        Args:
            point: Only the first point of a team records such facts.
            elapsed_ns: Not used: the facts recorded in `point` decide.
            system: Not used.
        """
        del elapsed_ns, system
        return warnings_about(point)


@contextmanager
def opened(
    plan: TeamPlan, parameters: LoadedParameters, memories: Memories
) -> Iterator[tuple[_core.Traffic, _core.ChaseRing, PreparedTeam]]:
    """Generators and the ring of the probe, with what is known of both.

    Args:
        plan: One number of generators, with the loads that they will make.
        parameters: What `plan` was made of; `pages` and `memory` are used.
        memories: Sources that the ring and the generators take their memory from.
    """
    memory = memories.of(parameters.memory)
    team = _core.Team(plan.cpus)
    with (
        closing(
            _core.ChaseRing(
                team,
                plan.ring_bytes,
                node_bytes=MEMORY_NODE_BYTES,
                block_bytes=BLOCK_BYTES,
                order="block-random",
                pages=parameters.pages,
                memory=memory,
                linkers=_core.Team(plan.linkers),
            )
        ) as ring,
        closing(
            _core.Traffic(
                team,
                plan.sizes.region_bytes,
                first_rank=1,
                pages=parameters.pages,
                memory=memory,
            )
        ) as traffic,
    ):
        prepared = PreparedTeam(
            ns_per_unit=_ns_per_unit(team),
            issued_shares={
                curve.load.name: issued_share(traffic, curve.load) for curve in plan.curves
            },
            ring=backing_facts([ring.backing()], parameters.pages),
            traffic=backing_facts(traffic.backing(), parameters.pages),
        )
        yield traffic, ring, prepared


def _seen(
    pairs: Sequence[Pair], values: Values
) -> dict[int, tuple[Sequence[float], Sequence[float]]]:
    """Bandwidths and latencies by delay."""
    return {one.delay: (values[one.traffic.point], values[one.latency.point]) for one in pairs}


def _ns_per_unit(team: _core.Team) -> float:
    """Of the pause, on the first generator."""
    times_ns = [_core.pause_ns(team, units, rank=1) for units in CALIBRATION_UNITS]
    return linear_regression(CALIBRATION_UNITS, times_ns, proportional=True).slope
