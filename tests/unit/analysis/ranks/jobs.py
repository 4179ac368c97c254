"""Jobs of ranks made by hand: each rank a run whose clock began at a moment of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from tests.unit.analysis.profile.runs import Made, S, profile
from tests.unit.model import build

from memgauge.model.record_kinds.programs import Process, Region
from memgauge.model.records import AnyRecord, RankPlace, RunStart, Warning
from memgauge.model.storage.profile_job import JOB_NAME, JOB_VERSION, JobManifest, rank_directory
from memgauge.model.system import Cpu, System

WALL_NS = 1_800_000_000 * S
"""The wall clock when the job's raw clock showed zero."""


def manifest(ranks: int | None = 2, **changes: object) -> JobManifest:
    fields: dict[str, object] = {
        "format_version": JOB_VERSION,
        "memgauge_version": "0.1.0",
        "launcher": "mpirun of Open MPI",
        "ranks": ranks,
        "job": "0123456789ab",
        "job_host": "",
        "started_at": "2026-01-02T03:04:05Z",
        "command": ["app", "--fast"],
    }
    return JobManifest(**(fields | changes))  # type: ignore[arg-type]


def two_sockets(allowed: Sequence[int] = (0, 1, 2, 3)) -> System:
    """Two CPUs on each of two sockets."""
    cpus = [Cpu(cpu=n, core=n, socket=n // 2, node=n // 2, sibling=0) for n in range(4)]
    return msgspec.structs.replace(build.system(), cpus=cpus, allowed_cpus=[*allowed])


def ran(begin_s: float, end_s: float | None, exit_code: int | None = 0) -> Process:
    """A program that was started, on the clock of its run."""
    return Process(
        command=["app", "--fast"],
        pid=77,
        attached=False,
        begin_ns=round(begin_s * S),
        end_ns=None if end_s is None else round(end_s * S),
        exit_code=exit_code,
    )


def rank_run(
    job: Path,
    rank: int,
    *lanes: Made,
    process: Process | None,
    epoch_s: float = 0.0,
    hostname: str = "n0",
    boot: str = "b0",
    wall_s: float = 0.0,
    leads: bool | None = None,
    ranks: int = 2,
    system: System | None = None,
    regions: Sequence[Region] = (),
    warnings: Sequence[Warning] = (),
    killed: bool = False,
) -> None:
    """The run of a rank.

    Args:
        job: Directory of the job.
        rank: Its number.
        *lanes: What was sampled, on the clock of the run.
        process: Its program.
        epoch_s: The kernel's raw clock when the run's shows zero.
        hostname: Of its node.
        boot: Of its node.
        wall_s: The wall clock when the run's clock shows zero, after `WALL_NS`.
        leads: Whether it holds what is counted of its node; None: the first does.
        ranks: Of the job.
        system: Of its node, with the CPUs it may use.
        regions: It marked.
        warnings: It has.
        killed: Whether its run has no end.
    """
    directory = rank_directory(job, rank)
    directory.mkdir(parents=True)
    profile(directory, *lanes, regions=regions, warnings=warnings, process=process, killed=killed)
    place = RankPlace(
        rank=rank,
        ranks=ranks,
        launcher="mpirun of Open MPI",
        hostname=hostname,
        boot=boot,
        leads=rank == 0 if leads is None else leads,
        at_ns=0,
        wall_ns=WALL_NS + round(wall_s * S),
    )
    records = directory / "records.jsonl"
    first, _, rest = records.read_bytes().partition(b"\n")
    start = msgspec.json.decode(first, type=AnyRecord)
    assert isinstance(start, RunStart)
    clock = msgspec.structs.replace(start.clock, epoch_raw_ns=round(epoch_s * S))
    start = msgspec.structs.replace(start, rank=place, clock=clock, system=system or two_sockets())
    records.write_bytes(msgspec.json.encode(start) + b"\n" + rest)


def write_manifest(job: Path, found: JobManifest) -> None:
    job.mkdir(parents=True, exist_ok=True)
    (job / JOB_NAME).write_bytes(msgspec.json.encode(found))
