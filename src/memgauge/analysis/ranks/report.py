"""A job of profiled ranks as a report: what every renderer takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from memgauge.analysis.machine.table import machine_line, system_table
from memgauge.analysis.profile.verdicts import command_of
from memgauge.analysis.ranks.parts import Parts, parts_of
from memgauge.analysis.ranks.rank_runs import MOST_RANKS, RankRun, rank_run
from memgauge.analysis.ranks.spreads import Spread
from memgauge.analysis.ranks.tables import ranks_table
from memgauge.analysis.ranks.verdicts import verdicts_of
from memgauge.analysis.section import Cell, Column, Headline, Report, Section, Table, Verdict
from memgauge.model.storage.profile_job import JobManifest
from memgauge.model.text import plain
from memgauge.model.units import format_count, format_duration

TITLE = "Profile of a job"
QUESTION = "What did the ranks of a job do at each time, and are they alike?"


class ProfiledRanks(msgspec.Struct, frozen=True, kw_only=True):
    """A job as read: its manifest and what there is of its ranks."""

    directory: Path
    manifest: JobManifest
    parts: Parts


def ranks_in(directory: Path, manifest: JobManifest) -> list[RankRun]:
    """All ranks that the job has; those that are there, where their number is not known."""
    count = manifest.ranks
    if count is None:
        found = [path.name.removeprefix("rank-") for path in directory.glob("rank-*")]
        numbers = sorted(int(name) for name in found if name.isdecimal() and len(name) < 7)
    else:
        numbers = [*range(min(count, MOST_RANKS))]
    return [rank_run(directory, number) for number in numbers]


def profiled_ranks(directory: Path, manifest: JobManifest) -> ProfiledRanks:
    """Analyse the job in a directory."""
    parts = parts_of(ranks_in(directory, manifest))
    return ProfiledRanks(directory=directory, manifest=manifest, parts=parts)


def report_of(found: ProfiledRanks) -> Report:
    """Works on a job of which some ranks, or all, are missing."""
    job, manifest = found.parts.job, found.manifest
    place = plain(str(found.directory))
    first = next((rank for rank in job.ranks if rank.run is not None), None)
    verdicts = verdicts_of(job, found.parts.sockets, found.parts.regions)
    if first is not None:
        verdicts.append(
            Verdict(
                level="note",
                text=f"Each rank is a run of its own: 'memgauge report {place}/"
                f"{first.directory.name}' shows that of rank {first.rank}.",
                about="conditions",
            )
        )
    if job.whole is None:
        text = "No rank has a usable reading, so there is no timeline."
        verdicts.insert(0, Verdict(level="problem", text=text))
    return Report(
        run_id=manifest.job,
        started_at=manifest.started_at,
        title=TITLE,
        machine=_machines(job.ranks),
        complete=all(rank.problem is None for rank in job.ranks) and bool(job.ranks),
        status=status_line(found),
        verdicts=[],
        sections=[
            Section(
                name="ranks",
                title="Ranks over time",
                question=QUESTION,
                verdicts=verdicts,
                tables=[ranks_table(job), *found.parts.tables()],
                charts=found.parts.charts(),
            )
        ],
        system=_facts(found, first),
        headlines=_headlines(found.parts),
        pictures_first=True,
    )


def status_line(found: ProfiledRanks) -> str:
    """How many ranks there are, where, and for how long they ran."""
    job = found.parts.job
    read = sum(1 for rank in job.ranks if rank.run is not None)
    parts = [f"{read} of {format_count(len(job.ranks), 'rank')} recorded"]
    if job.nodes:
        parts.append(f"on {format_count(len(job.nodes), 'node')}")
    if job.spans:
        begin_ns = min(span.begin_ns for span in job.spans.values())
        end_ns = max(span.end_ns for span in job.spans.values())
        parts.append(format_duration((end_ns - begin_ns) * 1e-9))
    cut = sum(1 for rank in job.ranks if rank.run is not None and rank.problem is not None)
    if cut:
        parts.append(f"{format_count(cut, 'rank')} not to the end")
    return "; ".join(parts)


def _machines(ranks: Sequence[RankRun]) -> str:
    """What the nodes are, each kind once."""
    seen: dict[object, str] = {}
    for rank in ranks:
        if rank.run is not None and rank.node not in seen:
            seen[rank.node] = machine_line(rank.run.start.system)
    kinds = Counter(seen.values())
    if len(seen) < 2:
        return next(iter(kinds), "no rank was recorded")
    return "; ".join(f"{format_count(count, 'node')} of {kind}" for kind, count in kinds.items())


def _facts(found: ProfiledRanks, first: RankRun | None) -> Table:
    """How the job was started, and the machine of its first rank."""
    manifest = found.manifest
    rows: list[list[Cell]] = [
        ["launcher", plain(manifest.launcher)],
        ["ranks", manifest.ranks],
        ["command", _command(found, first)],
        ["nodes", ", ".join(found.parts.job.nodes.values()) or None],
    ]
    if first is None or first.run is None:
        columns = [Column(title="fact"), Column(title="value")]
        return Table(name="system", title="System", columns=columns, rows=rows)
    machine = system_table(first.run.start.system)
    filled = [row + [None] * (len(machine.columns) - len(row)) for row in rows]
    return msgspec.structs.replace(machine, rows=[*filled, *machine.rows])


def _command(found: ProfiledRanks, first: RankRun | None) -> str:
    if first is not None and first.process is not None:
        return command_of(first.process)
    return plain(" ".join(found.manifest.command))


def _headlines(parts: Parts) -> list[Headline]:
    by_name = {spread.name: spread for spread in parts.spreads}
    found = [
        _headline("Longest run of a rank", by_name.get("run time")),
        _headline("Most processor time", by_name.get("CPU time")),
    ]
    cpu = by_name.get("CPU time")
    if cpu is not None and cpu.imbalance is not None and cpu.ranks > 1:
        found.append(
            Headline(
                label="Imbalance of processor time",
                value=cpu.imbalance,
                unit="%",
                detail="most over mean, less 1",
            )
        )
    if parts.regions and parts.regions[0].spread.imbalance is not None:
        region = parts.regions[0].spread
        found.append(
            Headline(
                label="Imbalance of the longest region",
                value=region.imbalance,
                unit="%",
                detail=region.name,
            )
        )
    return [headline for headline in found if headline is not None]


def _headline(label: str, spread: Spread | None) -> Headline | None:
    if spread is None:
        return None
    detail = f"rank {spread.most_rank}; median of {spread.ranks} {spread.median:.2f} s"
    return Headline(label=label, value=spread.most, unit="s", digits=2, detail=detail)
