"""Walks of dependent loads on a GPU: what `latency` and `workingset` share.

One thread walks, timed inside the kernel by the GPU's own timer, because an L1 does not outlive a
kernel. On many GPUs that timer goes on in steps of about a microsecond. So the loads of one pass
are many, and where they still take less than 500 steps the walk is repeated within the pass: the
timer's step is then 0.2% of what is timed, and less than 0.3% where a walk is faster than the one
by which that was decided.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from statistics import median

from memgauge import _core
from memgauge.experiments.shared.native import to_sample
from memgauge.experiments.shared.rings import Walk
from memgauge.model.points.rings import RingActual, RingRequested
from memgauge.model.records import Point, Sample, Warning

LINE_BYTES = 128
"""Of L1 and L2 on all of NVIDIA's GPUs: four sectors of 32 bytes."""
PAGE_BYTES = 2 << 20
"""In which the driver maps device memory."""

TIMER_SHARE = 0.002
COARSE_SHARE = 0.003
MOST_REPETITIONS = 64


class GpuWalk(Walk, frozen=True, kw_only=True):
    """A ring to walk on a GPU; all multiprocessors make its sweeps."""

    node_bytes: int = LINE_BYTES
    through: str = "l1"
    """l1: loads look there first, as plain ones do; l2: they bypass it (ld.cg)."""

    def requested(self, memory: str) -> RingRequested:
        """The ring in this memory as points record it."""
        return RingRequested(
            footprint_bytes=self.footprint_bytes,
            node_bytes=self.node_bytes,
            order=self.order,
            through=self.through,
            memory=memory,
        )


class GpuRing:
    """A walk on a GPU whose ring is linked."""

    def __init__(self, gpu: _core.Gpu, walk: GpuWalk, stack: ExitStack) -> None:
        """Link the ring, which is freed with the stack, and find how often a pass walks it."""
        self._walk = walk
        self._chase = _core.GpuChase(
            gpu,
            walk.footprint_bytes,
            walk.node_bytes,
            through=walk.through,
            order=walk.order,
            block_bytes=PAGE_BYTES if walk.order == "block-random" else 0,
        )
        stack.callback(self._chase.close)
        self._repetitions = 1
        first = self._run()
        self._repetitions = repetitions(elapsed_ns(first.slice), first.timer_resolution_ns)
        self.facts = RingActual(
            nodes=self._chase.nodes, timer_resolution_ns=first.timer_resolution_ns
        ).recorded()

    def sample(self, point: str, round_: int) -> Sample:
        """Walk on from where the last walk ended, with the multiprocessor's clock beside it."""
        taken = self._run()
        return to_sample(point, round_, taken.slice, cycles_per_ns=taken.cycles_per_ns)

    def _run(self) -> _core.GpuWalk:
        walk = self._walk
        return self._chase.run(walk.hops, walk.warm_hops, self._repetitions, sweeps=walk.sweeps)


def repetitions(elapsed: int, resolution_ns: int) -> int:
    """How often a walk that took so long is repeated, for the timer's step to be below 0.2%."""
    wanted = resolution_ns / (TIMER_SHARE * max(1, elapsed))
    return max(1, min(MOST_REPETITIONS, math.ceil(wanted)))


def elapsed_ns(taken: _core.Slice) -> int:
    """From the first begin to the last end."""
    thread = taken.threads[0]
    return thread.end_ns[-1] - thread.begin_ns[0]


def timer_warnings(point: Point, elapsed_ns: Sequence[int]) -> list[Warning]:
    """Where the GPU's timer is too coarse for what was timed all the same.

    Args:
        point: Its actual facts hold the timer's step.
        elapsed_ns: Time of each of its samples; empty gives no warning.
    """
    step = RingActual.of(point.actual).timer_resolution_ns
    if not elapsed_ns or step is None:
        return []
    elapsed = median(elapsed_ns)
    if step <= COARSE_SHARE * elapsed:
        return []
    return [
        Warning(
            code="timer-coarse",
            message=(
                f"the GPU's timer goes on in steps of {step:.0f} ns, {step / elapsed:.1%} of what "
                f"is timed at {point.point}: its figures are no better than that"
            ),
            experiment=point.experiment,
            point=point.point,
        )
    ]
