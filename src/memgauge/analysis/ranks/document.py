"""A job of profiled ranks as plain data: what `report --format json` prints of it."""

from __future__ import annotations

import msgspec

from memgauge.analysis.profile.phases import Activity, Phase
from memgauge.analysis.ranks.job import Job
from memgauge.analysis.ranks.rank_runs import RankRun
from memgauge.analysis.ranks.report import ProfiledRanks, report_of, status_line
from memgauge.analysis.ranks.sockets import SocketGroup, sockets_of
from memgauge.analysis.ranks.spreads import RegionSpread, Spread, cpu_seconds, most_resident
from memgauge.analysis.section import Verdict
from memgauge.model.storage.profile_job import JOB_VERSION, JobManifest


class RankDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One rank."""

    rank: int
    node: str | None
    """None: its run does not record it, or is missing."""
    directory: str
    run_id: str | None
    problem: str | None
    """What is missing of its run; None: it is whole."""
    cpus: list[int]
    """Those it was bound to."""
    sockets: list[int]
    leads: bool | None
    """Whether its run holds what is counted of its whole node."""
    begins_s: float | None
    """After the first rank."""
    lasts_s: float | None
    cpu_s: float | None
    most_resident_bytes: float | None
    exit_code: int | None
    signal: int | None


class JobPhase(msgspec.Struct, frozen=True, kw_only=True):
    """A phase of the job, found over all ranks."""

    number: int
    begin_s: float
    begin_low_s: float
    begin_high_s: float
    duration_s: float
    activity: Activity
    """Of all ranks and nodes together."""
    ranks: dict[int, Activity]
    """Of each rank's program; what is counted of whole nodes stands with the rank that counted."""


class RanksDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A job of ranks."""

    format_version: int
    manifest: JobManifest
    status: str
    nodes: list[str]
    verdicts: list[Verdict]
    ranks: list[RankDocument]
    spreads: list[Spread]
    sockets: list[SocketGroup]
    phases: list[JobPhase]
    regions: list[RegionSpread]


def ranks_document(found: ProfiledRanks) -> RanksDocument:
    """Works on a job of which some ranks, or all, are missing."""
    parts = found.parts
    (section,) = report_of(found).sections
    return RanksDocument(
        format_version=JOB_VERSION,
        manifest=found.manifest,
        status=status_line(found),
        nodes=[*parts.job.nodes.values()],
        verdicts=section.verdicts,
        ranks=[_rank(parts.job, rank) for rank in parts.job.ranks],
        spreads=parts.spreads,
        sockets=parts.sockets,
        phases=[_phase(parts.job, phase) for phase in parts.job.phases],
        regions=parts.regions,
    )


def _rank(job: Job, rank: RankRun) -> RankDocument:
    process = rank.process
    return RankDocument(
        rank=rank.rank,
        node=job.name_of(rank) or None,
        directory=str(rank.directory),
        run_id=None if rank.run is None else rank.run.start.run_id,
        problem=rank.problem,
        cpus=[] if rank.run is None else rank.run.start.system.allowed_cpus,
        sockets=sockets_of(rank),
        leads=None if rank.place is None else rank.place.leads,
        begins_s=job.begins_s(rank.rank),
        lasts_s=job.lasts_s(rank.rank),
        cpu_s=cpu_seconds(job, rank.rank),
        most_resident_bytes=most_resident(job, rank.rank),
        exit_code=None if process is None else process.exit_code,
        signal=None if process is None else process.signal,
    )


def _phase(job: Job, phase: Phase) -> JobPhase:
    return JobPhase(
        number=phase.number,
        begin_s=phase.begin_s,
        begin_low_s=phase.begin_low_s,
        begin_high_s=phase.begin_high_s,
        duration_s=phase.duration_s,
        activity=phase.activity,
        ranks={rank: job.activity(rank, phase) for rank in job.timelines},
    )
