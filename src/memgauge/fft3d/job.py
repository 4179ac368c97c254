"""One job of the mini-app on this rank: agree, record, transform, check."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec

from memgauge.analysis.fft3d.shape import NAME
from memgauge.cluster.this_rank import place_of
from memgauge.fft3d.devices import Device
from memgauge.fft3d.job_run import JobRun
from memgauge.fft3d.mpi_thread import MpiThread
from memgauge.fft3d.own_work import OwnWork
from memgauge.fft3d.parameters import Fft3dParameters
from memgauge.fft3d.plan import Plan, agreed_plan
from memgauge.fft3d.rounds import Found, agreed_device, all_rounds, ranks_by
from memgauge.fft3d.world import AgreedError, World, open_world
from memgauge.model.errors import MemgaugeError, SystemFailure, reason_of
from memgauge.model.storage.profile_job import rank_directory
from memgauge.model.storage.run_file import run_directory
from memgauge.model.system import System
from memgauge.runner.profiling.parameters import ProfileParameters
from memgauge.runner.profiling.profile import ProfileRequest, profile
from memgauge.system.limits.memory import available_bytes

_LOOK_S = 1.0
"""Seconds between two checks whether unmonitored work has ended."""
_PATIENCE_S = 5.0
"""Seconds to wait for an MPI thread that should end all ranks and may be blocked."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a job that ran to its end."""

    directory: Path
    speaks: bool
    """Whether this is the rank that reports."""


class RankFailed(SystemFailure):
    """Only this rank failed; the others are unaware and must be ended."""


class Job:
    """A job of which this process is a rank. The main thread calls its methods."""

    def __init__(self, *, speaks: bool) -> None:
        """`speaks`: whether this is the launcher's first rank, or there is no launcher."""
        self._speaks = speaks
        self._thread = MpiThread()
        self._world: World | None = None
        self._run: JobRun | None = None
        self.directory: Path | None = None
        """Of the job, once it is agreed."""

    @property
    def speaks(self) -> bool:
        """Whether this rank reports what concerns all ranks."""
        return self._speaks if self._world is None else self._world.rank == 0

    def run(
        self,
        parameters: Fft3dParameters,
        system: System,
        on_begin: Callable[[Path, int], None] = lambda _directory, _ranks: None,
        on_loss: Callable[[str], None] = lambda _lost: None,
    ) -> Outcome:
        """Run the whole job.

        A rank whose timeline cannot be recorded, or not to the end, transforms nevertheless. MPI
        has ended for this rank when this returns or raises AgreedError.

        Args:
            parameters: The request, the same on all ranks.
            system: The machine of this rank.
            on_begin: Called with the job's directory and number of ranks before any transform.
            on_loss: Called with the reason if this rank's timeline is missing or incomplete.

        Raises:
            RequestError: MPI is missing.
            AgreedError: the job cannot be done.
            RankFailed: this rank cannot continue; call `end_all` after reporting the error.
            KeyboardInterrupt: Ctrl-C or a signal; call `interrupted`, and exit with os._exit,
                because the MPI thread may be waiting for a rank that is gone.
        """
        world = self._thread.call(open_world)
        self._world = world
        try:
            plan = self._thread.call(agreed_plan, world, parameters, available_bytes())
            device = self._thread.call(agreed_device, world, plan)
            directory = self._open_run(world, plan, device, system)
            on_begin(directory, world.ranks)
            work = OwnWork(
                self._thread,
                rank_directory(directory, world.rank),
                partial(all_rounds, world, plan, device),
            )
            lost = self._watch(world, work, parameters, system)
            if lost is not None:
                on_loss(f"rank {world.rank}: {lost}")
            found = _answer(work)
            # Of all ranks, so that what is read now is whole.
            self._thread.call(world.wait_for_all)
            if self._run is not None:
                self._run.end("complete", validations=found.validations, notes=found.notes)
        except AgreedError as error:
            self._give_up(str(error))
            self._thread.call(world.leave)
            raise
        except MemgaugeError as error:
            self._give_up(str(error))
            raise RankFailed(f"rank {world.rank}: {error}") from error
        self._thread.call(world.leave)
        return Outcome(directory=directory, speaks=world.rank == 0)

    def interrupted(self, reason: str) -> None:
        """Record that a signal ended it."""
        if self._run is not None:
            with suppress(MemgaugeError):
                self._run.end("interrupted", reason)

    def end_all(self) -> None:
        """End every rank, this one too."""
        if self._world is not None:
            with suppress(TimeoutError):
                self._thread.begin(self._world.end_all).result(timeout=_PATIENCE_S)
            os._exit(1)

    def _give_up(self, reason: str) -> None:
        if self._run is not None:
            with suppress(MemgaugeError):
                self._run.end("failed", reason)

    def _open_run(self, world: World, plan: Plan, device: Device, system: System) -> Path:
        """Begin the run of the job; the directory that all ranks record in."""
        problem, chosen = None, Path()
        devices = self._thread.call(ranks_by, world, [device.facts])
        if world.rank == 0:
            try:
                with run_directory(plan.parameters.output, NAME) as found:
                    chosen = found.absolute()
                    self._run = JobRun(world, plan, chosen, system, devices, device.libraries)
            except MemgaugeError as error:
                problem = str(error)
        self._thread.call(world.agree, problem)
        self.directory = Path(self._thread.call(world.comm.bcast, str(chosen)))
        return self.directory

    def _watch(
        self, world: World, work: OwnWork[Found], parameters: Fft3dParameters, system: System
    ) -> str | None:
        """Do the work while recording this rank's timeline.

        Return what was lost of it, if anything.
        """
        request = ProfileRequest(
            command=work.command,
            parameters=ProfileParameters(
                pid=os.getpid(), rate_hz=parameters.rate_hz, components=parameters.components
            ),
            directory=work.directory,
            system=system,
            rank=place_of(world.rank, world.ranks, "MPI", leads=world.rank == world.node.ranks[0]),
            own_work=work,
        )
        try:
            done = profile(request)
        except Exception as error:
            if work.begun:
                raise
            # The other ranks wait for this one's part of the transform.
            work.start_unrecorded()
            while work.wait(_LOOK_S) is None:
                pass
            return f"not recorded: {reason_of(error)}"
        lost = done.failure or done.lane_failure
        return None if lost is None else f"recorded only in part: {lost}"


def _answer(work: OwnWork[Found]) -> Found:
    try:
        return work.answer
    except MemgaugeError:
        raise
    except Exception as error:
        raise SystemFailure(
            f"the transform failed: {error}; see its run in {work.directory}"
        ) from error
