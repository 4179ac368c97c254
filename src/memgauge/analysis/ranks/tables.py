"""Tables of a job of ranks: the ranks, how alike they are, sockets, phases, marked regions."""

from __future__ import annotations

from collections.abc import Sequence

from memgauge.analysis.profile.moments import begins, lasts
from memgauge.analysis.profile.units import shown_unit
from memgauge.analysis.ranks.job import Job
from memgauge.analysis.ranks.rank_runs import RankRun
from memgauge.analysis.ranks.sockets import SocketGroup
from memgauge.analysis.ranks.spreads import (
    RegionSpread,
    Spread,
    cpu_seconds,
    most_resident,
    spread_of,
)
from memgauge.analysis.section import Cell, Column, Table
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.text import plain

_NOT_OF_ONE = (
    "A counter of a socket tells nothing of one program: a rank's part is the socket's figure over "
    "the number of ranks on it, which is no measurement, and includes whatever else ran there."
)


def ranks_table(job: Job) -> Table:
    """One row a rank."""
    return Table(
        name="ranks",
        title="Ranks",
        columns=[
            Column(title="rank"),
            Column(title="node", narrow=len(job.nodes) > 1),
            Column(title="CPUs"),
            Column(title="begins", unit="s", digits=3),
            Column(title="lasts", unit="s", digits=2),
            Column(title="CPU time", unit="s", digits=2),
            Column(title="cores", digits=2),
            Column(title="most resident", unit="B"),
            Column(title="program"),
            Column(title="its run", narrow=False),
            Column(title="directory", narrow=False),
        ],
        rows=[_rank_row(job, rank) for rank in job.ranks],
        note="Begins: after the first rank. Cores: processor time over run time; an MPI library "
        "that waits actively counts as computing. Most resident: of what was read while the "
        "program ran.",
    )


def _rank_row(job: Job, rank: RankRun) -> list[Cell]:
    lasted, cpu = job.lasts_s(rank.rank), cpu_seconds(job, rank.rank)
    resident = most_resident(job, rank.rank)
    allowed = [] if rank.run is None else rank.run.start.system.allowed_cpus
    return [
        rank.rank,
        job.name_of(rank) or None,
        format_cpu_list(allowed) or None,
        job.begins_s(rank.rank),
        lasted,
        cpu,
        cpu / lasted if cpu is not None and lasted else None,
        None if resident is None else round(resident),
        ending_of(rank),
        plain(rank.problem) if rank.problem else "whole",
        plain(rank.directory.name),
    ]


def ending_of(rank: RankRun) -> str | None:
    """How a rank's program ended, in a word or two; None if that is not known."""
    process = rank.process
    if process is None:
        return None
    if process.signal is not None:
        return f"signal {process.signal}"
    return None if process.exit_code is None else f"exit {process.exit_code}"


def spreads_table(spreads: Sequence[Spread]) -> Table:
    """Each figure over ranks."""
    return Table(
        name="ranks-spread",
        title="How alike the ranks are",
        columns=[
            Column(title="figure"),
            Column(title="least", digits=2),
            Column(title="median", digits=2),
            Column(title="most", digits=2),
            Column(title="unit"),
            Column(title="imbalance", unit="%", digits=1),
            Column(title="most: rank"),
            Column(title="least: rank", narrow=False),
            Column(title="ranks", narrow=False),
        ],
        rows=[_spread_row(spread) for spread in spreads],
        note="Totals of each rank over its run. Imbalance: the most over the mean, less 1.",
    )


def _spread_row(one: Spread) -> list[Cell]:
    # Counts are shortened as rates are: 1,199 thousand.
    factor, unit = shown_unit(one.unit or "1/s", one.most)
    unit = unit if one.unit else unit.removesuffix("1/s").removesuffix("/s")
    return [
        one.name,
        *(_whole(value * factor, unit) for value in (one.least, one.median, one.most)),
        unit or None,
        one.imbalance,
        one.most_rank,
        one.least_rank,
        one.ranks,
    ]


def _whole(value: float, unit: str) -> float | int:
    """Of plain counts, which a reading beside the begin of the job may cut, whole ones."""
    return value if unit else round(value)


def sockets_table(groups: Sequence[SocketGroup]) -> Table | None:
    """What sockets counted, once, beside the ranks on them; None where nothing was."""
    if all(one.traffic_bytes is None and one.energy_j is None for one in groups):
        return None
    columns = [
        Column(title="node"),
        Column(title="sockets"),
        Column(title="ranks"),
        Column(title="read", unit="GB", digits=3),
        Column(title="written", unit="GB", digits=3),
        Column(title="traffic", unit="GB", digits=3, narrow=False),
        Column(title="traffic / rank", unit="GB", digits=3),
        Column(title="energy", unit="J", digits=1),
        Column(title="energy / rank", unit="J", digits=1),
        Column(title="counted", unit="%", digits=0, narrow=False),
        Column(title="by rank", narrow=False),
    ]
    rows: list[list[Cell]] = [
        [
            one.node,
            format_cpu_list(one.sockets) or None,
            format_cpu_list(one.ranks) or None,
            *(_gb(value) for value in (one.read_bytes, one.write_bytes, one.traffic_bytes)),
            _gb(one.share(one.traffic_bytes)),
            one.energy_j,
            one.share(one.energy_j),
            one.known,
            one.counted_by,
        ]
        for one in groups
    ]
    kept = [at for at in range(len(columns)) if at < 3 or any(row[at] is not None for row in rows)]
    return Table(
        name="ranks-sockets",
        title="Sockets",
        columns=[columns[at] for at in kept],
        rows=[[row[at] for at in kept] for row in rows],
        note=f"Counted once, by one rank of each node, while programs of the node's ranks ran. "
        f"{_NOT_OF_ONE} Sockets between which a rank may move are one row. One without ranks is "
        "shown too: ranks may use its memory. Counted: share of that time with readings.",
    )


def _gb(value: float | None) -> float | None:
    return None if value is None else value * 1e-9


def phases_table(job: Job) -> Table | None:
    """Phases of the whole job, each with the ranks in it; None where nothing was read."""
    if not job.phases:
        return None
    # Beside figures of nodes a terminal of 80 columns has no room for both ends.
    alone = all(
        phase.activity.traffic_bytes_per_s is None and phase.activity.power_w is None
        for phase in job.phases
    )
    columns = [
        Column(title="phase"),
        Column(title="begins", unit="s"),
        Column(title="lasts", unit="s"),
        Column(title="cores, all", digits=2),
        Column(title="least", digits=2, narrow=alone),
        Column(title="most", digits=2, narrow=alone),
        Column(title="most: rank"),
        Column(title="imbalance", unit="%", digits=1),
        Column(title="traffic", unit="GB/s", digits=2),
        Column(title="power", unit="W", digits=1),
        Column(title="page faults", unit="1/s", digits=0, narrow=False),
        Column(title="context switches", unit="1/s", digits=0, narrow=False),
    ]
    rows: list[list[Cell]] = []
    for at, phase in enumerate(job.phases):
        values = {rank: job.activity(rank, phase).cpu_cores for rank in job.timelines}
        cores = spread_of("cores", "", values)
        activity = phase.activity
        rows.append(
            [
                phase.number,
                begins(phase),
                lasts(job.phases, at),
                activity.cpu_cores,
                *(
                    (None,) * 4
                    if cores is None
                    else (cores.least, cores.most, cores.most_rank, cores.imbalance)
                ),
                _gb(activity.traffic_bytes_per_s),
                activity.power_w,
                activity.page_faults_per_s,
                activity.switches_per_s,
            ]
        )
    kept = [at for at in range(len(columns)) if at < 4 or any(row[at] is not None for row in rows)]
    return Table(
        name="ranks-phases",
        title="Phases of the job",
        columns=[columns[at] for at in kept],
        rows=[[row[at] for at in kept] for row in rows],
        note="Found over all ranks together, in one time: stretches in which every component keeps "
        "its level. Least and most: cores of one rank in that phase. Traffic and power are those "
        "of all nodes of the job, including other programs.",
    )


def regions_table(spreads: Sequence[RegionSpread]) -> Table | None:
    """Marked regions over ranks; None without any."""
    if not spreads:
        return None
    return Table(
        name="ranks-regions",
        title="Marked regions over ranks",
        columns=[
            Column(title="region"),
            Column(title="times"),
            Column(title="least", unit="s", digits=3),
            Column(title="median", unit="s", digits=3),
            Column(title="most", unit="s", digits=3),
            Column(title="imbalance", unit="%", digits=1),
            Column(title="slowest"),
            Column(title="first begins", unit="s", digits=3, narrow=False),
            Column(title="begin apart", unit="s", digits=3),
        ],
        rows=[
            [
                one.spread.name,
                one.times,
                *(one.spread.least, one.spread.median, one.spread.most),
                one.spread.imbalance,
                one.spread.most_rank,
                one.first_s,
                one.apart_s,
            ]
            for one in spreads
        ],
        note="Time of a rank in all regions of a name, once where they overlap, as those of "
        "threads do. Times: of the rank with most. Slowest: the rank that takes longest. Begin "
        "apart: from the first rank's first begin to the last rank's.",
    )
