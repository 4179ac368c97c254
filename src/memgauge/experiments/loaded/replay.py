"""A profile replayed as the load beside the probe: what a neighbour like it costs.

Question: how long does a load wait next to a program that moves what the profile counted?

Method: the generators of `loaded` make the rate and share of reads of each step of the profile, in
its order and for as long as it lasts there, all of it shortened alike where the budget is too short
for several replays at the profile's own time. The probe measures latency all the while, and before
and after each replay that of the memory without load, so that both are of the same minute. Pauses
are set once, when the run opens, by what memory moves for them.
Source: as for `loaded`; the traffic is that of the profile's counters.

What would invalidate it: what invalidates `loaded`; a neighbour whose effect is not that of its
traffic in memory, as by taking a shared cache, or by accesses that open a new row of DRAM each.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import ClassVar

from memgauge import _core
from memgauge.experiments.loaded.host import TIMED_LOADS, opened
from memgauge.experiments.loaded.parameters import LARGEST_DELAY, LoadedParameters
from memgauge.experiments.loaded.pauses import Setting, pause_for
from memgauge.experiments.loaded.plan import Pair, samples_of, warnings_about
from memgauge.experiments.loaded.replay_plan import (
    PASS_S,
    WALK_HOPS,
    Level,
    ReplayGroup,
    ReplayPlan,
    replay_pairs,
    replay_plan,
    replay_points,
)
from memgauge.experiments.shared.base import Bench, Experiment
from memgauge.experiments.shared.native import to_validation
from memgauge.experiments.shared.read_write_mix import Load
from memgauge.experiments.shared.rings import MEMORY_WARM_HOPS
from memgauge.model.record_kinds.replayed import Replayed
from memgauge.model.records import Point, Sample, Validation, Warning
from memgauge.model.system import System
from memgauge.system.memory.sources import ORDINARY, Memories

SETTING_HOPS = 2_000
SETTING_WALKS = 3
"""Beside which the traffic of a pause is counted: half a millisecond, in which a thread is seldom
switched out even on a busy machine;"""
SETTING_PASSES = 3
"""clean passes of that for each pause that is tried,"""
MOST_SETTING_PASSES = 16
"""and so many at most, where threads are switched out."""
FIRST_LOAD_NS = 150.0
"""Taken for a load until one was measured."""
MOST_WALKS = 1_000
"""Of a pass."""


class ReplayBench(Bench):
    """The profile's steps, ready to be replayed."""

    def __init__(
        self,
        plan: ReplayPlan,
        traffic: _core.Traffic,
        ring: _core.ChaseRing,
        pairs: Sequence[Pair],
    ) -> None:
        self._plan = plan
        self._traffic = traffic
        self._ring = ring
        self._unloaded, *self._steps = pairs
        self._walk_s = {pair.latency.point: FIRST_LOAD_NS * WALK_HOPS * 1e-9 for pair in pairs}
        self.points = replay_points(pairs)

    def measure(self, point: str, round_: int) -> list[Sample]:
        """One replay, between two looks at the memory without load."""
        del point
        samples = self._without_load(round_)
        for level, pair in zip(self._plan.levels[1:], self._steps, strict=True):
            samples += self._held(pair, round_, self._plan.seconds_of(level))
        return samples + self._without_load(round_)

    def _without_load(self, round_: int) -> list[Sample]:
        samples = []
        for _ in range(self._plan.unloaded_passes):
            samples += self._pass(self._unloaded, round_, PASS_S)
        return samples

    def _held(self, pair: Pair, round_: int, seconds: float) -> list[Sample]:
        """One step for its time, in passes of equal length; one pass at least."""
        end_s = time.monotonic() + seconds
        samples: list[Sample] = []
        left_s = seconds
        while not samples or left_s > self._walk_s[pair.latency.point] / 2:
            passes = max(1, round(left_s / PASS_S))
            samples += self._pass(pair, round_, left_s / passes)
            left_s = end_s - time.monotonic()
        return samples

    def _pass(self, pair: Pair, round_: int, seconds: float) -> list[Sample]:
        name = pair.latency.point
        walks = max(1, min(MOST_WALKS, round(seconds / self._walk_s[name])))
        began_s = time.monotonic()
        taken = self._traffic.run_loaded(
            pair.spec,
            self._ring,
            WALK_HOPS,
            warm_hops=MEMORY_WARM_HOPS,
            iterations=walks,
            timed_loads=TIMED_LOADS,
            pingpong=True,
        )
        self._walk_s[name] = max(1e-6, (time.monotonic() - began_s) / walks)
        return samples_of(pair, round_, taken)

    def validate(self) -> list[Validation]:
        """Every line the generators wrote holds what it must."""
        return [to_validation("loaded", self._plan.team.name, self._traffic.validate())]


class Replay(Experiment):
    """The experiment `loaded` with a profile as its load."""

    name: ClassVar[str] = "loaded"
    parameters: ClassVar[type[LoadedParameters]] = LoadedParameters

    def __init__(self, replayed: Replayed) -> None:
        """Replay these steps."""
        self.replayed = replayed

    def plan(self, parameters: LoadedParameters, system: System) -> list[ReplayGroup]:
        """One group: all steps by one team."""
        plan = replay_plan(self.replayed, parameters, system)
        return [
            ReplayGroup(
                name=f"replay of {len(plan.levels) - 1} steps",
                points=replay_points(replay_pairs(plan)),
                bytes=plan.team.total_bytes,
                plan=plan,
            )
        ]

    @contextmanager
    def open(
        self,
        group: ReplayGroup,
        parameters: LoadedParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Pin probe and generators, fill their memory, find the pause of each step.

        Args:
            group: All steps.
            parameters: What `group` was planned with; `pages` and `memory` are used.
            memories: Sources that the ring and the generators take their memory from.
        """
        plan = group.plan
        with opened(plan.team, parameters, memories) as (traffic, ring, prepared):
            settings = [_setting(level, traffic, ring) for level in plan.levels]
            yield ReplayBench(plan, traffic, ring, replay_pairs(plan, prepared, settings))

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        """Warnings about what spoils the figures of the team, or was left out of them.

        Args:
            point: Only the first point of the team records such facts.
            elapsed_ns: Not used: the facts recorded in `point` decide.
            system: Not used.
        """
        del elapsed_ns, system
        return warnings_about(point)


def _setting(level: Level, traffic: _core.Traffic, ring: _core.ChaseRing) -> Setting:
    if level.step is None:
        return Setting(delay=LARGEST_DELAY)

    def moved(delay: int) -> float:
        return _moved_gb_per_s(level.load, delay, traffic, ring)

    return pause_for(level.gb_per_s, moved)


def _moved_gb_per_s(load: Load, delay: int, traffic: _core.Traffic, ring: _core.ChaseRing) -> float:
    """What memory moves for the generators with this pause: the median of a few clean passes.

    On a machine so busy that hardly any pass is clean it is the most that was seen, since a thread
    that waits for its processor moves less.
    """
    clean: list[float] = []
    most = 0.0
    for _ in range(MOST_SETTING_PASSES):
        taken = traffic.run_loaded(
            load.spec(delay),
            ring,
            SETTING_HOPS,
            warm_hops=MEMORY_WARM_HOPS,
            iterations=SETTING_WALKS,
        )
        rate = _rate(load, taken)
        most = max(most, rate)
        if not any(thread.involuntary_switches for thread in taken.slice.threads):
            clean.append(rate)
        if len(clean) == SETTING_PASSES:
            break
    return median(clean) if clean else most


def _rate(load: Load, taken: _core.LoadedSlice) -> float:
    """GB/s that memory moved in a pass, write-allocate included."""
    threads = [thread for thread in taken.slice.threads[1:] if thread.begin_ns]
    if not threads:
        return 0.0
    counted = sum(thread.read_bytes + thread.write_bytes for thread in threads)
    begin_ns = min(thread.begin_ns[0] for thread in threads)
    end_ns = max(thread.end_ns[0] for thread in threads)
    each, of_each = load.bytes_of(load.reads + load.writes)
    return counted * of_each / each / max(1, end_ns - begin_ns)
