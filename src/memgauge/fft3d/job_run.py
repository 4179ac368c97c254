"""The run of a whole job: `DIR/records.jsonl`, beside which each rank has a run in `DIR/rank-K`.

It records the request, the machine, and whether the result was correct; each rank records in its
own run when its phases ran.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from memgauge.analysis.fft3d.shape import NAME
from memgauge.fft3d.plan import Plan
from memgauge.fft3d.world import World
from memgauge.model.parameters import texts
from memgauge.model.points.fft3d import JobRequested
from memgauge.model.records import RunEnd, RunStart, Validation, Warning
from memgauge.model.storage.run_file import RunWriter
from memgauge.model.system import System
from memgauge.runner.start import run_start
from memgauge.system.environment.clock import stamp_clock

DEVICE_NOTE = "fft-device"
"""Code of warnings about how the FFTs were computed."""


class JobRun:
    """Written by the first rank.

    Raises:
        RequestError, SystemFailure: the run cannot be written there.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what its first record holds
        self,
        world: World,
        plan: Plan,
        directory: Path,
        system: System,
        devices: Mapping[str, str],
        libraries: Mapping[str, str],
    ) -> None:
        """Open and begin it.

        Args:
            world: all ranks.
            plan: what they will do.
            directory: where it is recorded.
            system: of the first rank.
            devices: what computes the FFTs, where there is a choice, and the ranks that use it.
            libraries: versions of what the first rank computes with.
        """
        self._clock_ns = stamp_clock()
        self._begin_ns = self._clock_ns()
        self._ended = False
        self._writer = RunWriter(directory)
        try:
            self._writer.write([_start(world, plan, system, devices, libraries)])
        except BaseException:
            self._writer.close()
            raise

    def end(
        self,
        status: Literal["complete", "interrupted", "failed"],
        reason: str | None = None,
        validations: Sequence[Validation] = (),
        notes: Sequence[str] = (),
    ) -> None:
        """Record how the job ended; a second call has no effect.

        Args:
            status: `interrupted` if a signal ended the job, `failed` if an error did.
            reason: Why the job is not complete; None if it is.
            validations: Checks of the results.
            notes: Notes for readers on how the FFTs were computed; each becomes a warning.
        """
        if self._ended:
            return
        self._ended = True
        elapsed_s = max(0.0, (self._clock_ns() - self._begin_ns) * 1e-9)
        end = RunEnd(status=status, reason=reason, elapsed_s=elapsed_s, rounds=0)
        try:
            warnings = [Warning(code=DEVICE_NOTE, message=note) for note in notes]
            self._writer.write([*validations, *warnings, end])
        finally:
            self._writer.close()


def _start(
    world: World,
    plan: Plan,
    system: System,
    devices: Mapping[str, str],
    libraries: Mapping[str, str],
) -> RunStart:
    job = JobRequested(
        ranks=world.ranks,
        nodes=" ".join(node.key for node in world.nodes),
        steps=" ".join(f"{step.pencils.grid}:{step.pencils.size}" for step in plan.steps),
        gpus="; ".join(f"{ranks}: {device}" for device, ranks in devices.items()),
    )
    requested = texts(plan.parameters) | job.recorded()
    software = {
        "mpi": world.library,
        "mpi4py": version("mpi4py"),
        "numpy": version("numpy"),
        **libraries,
    }
    return run_start({NAME: requested}, system, software=software)
