"""The run of a whole job: `DIR/records.jsonl`, beside which each rank has a run in `DIR/rank-K`.

It says what was asked, on what, and whether the result was right; when each phase ran stands in the
runs of the ranks, as they wrote it themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Literal

from memgauge.analysis.fft3d_shape import NAME
from memgauge.fft3d.plan import Plan
from memgauge.fft3d.world import World
from memgauge.model.parameters import texts
from memgauge.model.records import RunEnd, RunStart, Scalar, Validation
from memgauge.model.runfile import RunWriter
from memgauge.model.system import System
from memgauge.runner.start import run_start
from memgauge.system.clock import stamp_clock


class JobRun:
    """Written by the first rank.

    Raises:
        RequestError, SystemFailure: it cannot be written there.
    """

    def __init__(self, world: World, plan: Plan, system: System) -> None:
        self._clock_ns = stamp_clock()
        self._begin_ns = self._clock_ns()
        self._ended = False
        self._writer = RunWriter(plan.directory)
        try:
            self._writer.write([_start(world, plan, system)])
        except BaseException:
            self._writer.close()
            raise

    def end(
        self,
        status: Literal["complete", "interrupted", "failed"],
        reason: str | None = None,
        validations: Sequence[Validation] = (),
    ) -> None:
        """Write how it ended; a second call does nothing."""
        if self._ended:
            return
        self._ended = True
        elapsed_s = max(0.0, (self._clock_ns() - self._begin_ns) * 1e-9)
        end = RunEnd(status=status, reason=reason, elapsed_s=elapsed_s, rounds=0)
        try:
            self._writer.write([*validations, end])
        finally:
            self._writer.close()


def _start(world: World, plan: Plan, system: System) -> RunStart:
    asked: dict[str, Scalar] = {
        **texts(plan.parameters),
        "ranks": world.ranks,
        "nodes": " ".join(node.key for node in world.nodes),
        "steps": " ".join(f"{step.pencils.grid}:{step.pencils.size}" for step in plan.steps),
    }
    libraries = {"mpi": world.library, "mpi4py": version("mpi4py"), "numpy": version("numpy")}
    return run_start({NAME: asked}, system, software=libraries)
