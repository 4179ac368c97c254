"""The run of a whole job: `DIR/records.jsonl`, beside which each rank has a run in `DIR/rank-K`.

It says what was asked, on what, and whether the result was right; when each phase ran stands in the
runs of the ranks, as they wrote it themselves.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Literal

from memgauge.analysis.fft3d_shape import NAME
from memgauge.fft3d.plan import Plan
from memgauge.fft3d.world import World
from memgauge.model.parameters import texts
from memgauge.model.records import FORMAT_VERSION, RunEnd, RunStart, Scalar, Validation
from memgauge.model.runfile import RunWriter
from memgauge.model.system import System
from memgauge.system.clock import clock_record, stamp_clock
from memgauge.system.software import software_versions


class Combined:
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
    versions = software_versions()
    asked: dict[str, Scalar] = {
        **texts(plan.parameters),
        "ranks": world.ranks,
        "nodes": " ".join(node.key for node in world.nodes),
        "steps": " ".join(f"{step.pencils.grid}:{step.pencils.size}" for step in plan.steps),
    }
    return RunStart(
        format_version=FORMAT_VERSION,
        memgauge_version=versions["memgauge"],
        run_id=uuid.uuid4().hex[:12],
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        experiments=[NAME],
        parameters={NAME: asked},
        budget_s=0.0,
        precision=0.0,
        clock=clock_record(),
        system=system,
        software=versions
        | {"mpi": world.library, "mpi4py": version("mpi4py"), "numpy": version("numpy")},
    )
