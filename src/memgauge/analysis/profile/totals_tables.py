"""Tables of what was counted: in the whole run, in marked regions, and beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from memgauge.analysis.profile.phases import Roles
from memgauge.analysis.profile.timeline import Timeline
from memgauge.analysis.profile.totals import (
    GROUPS,
    Total,
    merged,
    ranges_note,
    ratio_unit,
    seconds_in,
    shown_counted,
    shown_rate,
    shown_ratio,
    totals_of,
)
from memgauge.analysis.profile.usage import Beside, beside_of, peak_of, usage_of
from memgauge.analysis.section import Cell, Column, Table
from memgauge.model.record_kinds.programs import Region
from memgauge.model.run import Run
from memgauge.model.text import plain

MOST_REGION_ROWS = 200
WHOLE_RUN = "whole run"


class Marked(msgspec.Struct, frozen=True, kw_only=True):
    """What was counted while the program was in any region of one name."""

    name: str
    times: int
    lasts_s: float
    """Time in which at least one thread was in it."""
    threads: int
    """That were in it,"""
    threads_s: float
    """and the time that they spent in it, added up."""
    cpu_s: float | None
    """Processor time of these threads in it, by marks; None: a mark does not have it."""
    totals: list[Total]
    """Of the whole program, in the time in which some thread was in it."""


def whole_of(timeline: Timeline, roles: Roles) -> list[Total]:
    """Figures of the whole run."""
    return totals_of(timeline, roles, [(timeline.begin_ns, timeline.end_ns)])


def marked_of(timeline: Timeline, roles: Roles) -> list[Marked]:
    """One for each name of a region."""
    groups: dict[str, list[Region]] = {}
    for region in timeline.regions:
        groups.setdefault(plain(region.name), []).append(region)
    return [_marked(name, found, timeline, roles) for name, found in groups.items()]


def _marked(name: str, found: Sequence[Region], timeline: Timeline, roles: Roles) -> Marked:
    spans = [(region.begin_ns, region.end_ns or timeline.end_ns) for region in found]
    covered = merged(spans)
    cpu_ns = [region.cpu_ns for region in _outermost(found) if region.cpu_ns is not None]
    return Marked(
        name=name,
        times=len(found),
        lasts_s=seconds_in(covered),
        threads=len({(region.pid, region.tid) for region in found}),
        threads_s=sum(seconds_in(merged(of)) for of in _by_thread(found, timeline)),
        cpu_s=sum(cpu_ns) * 1e-9 if len(cpu_ns) == len(_outermost(found)) else None,
        totals=totals_of(timeline, roles, covered),
    )


def _by_thread(found: Sequence[Region], timeline: Timeline) -> list[list[tuple[int, int]]]:
    spans: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for region in found:
        end_ns = region.end_ns or timeline.end_ns
        spans.setdefault((region.pid, region.tid), []).append((region.begin_ns, end_ns))
    return list(spans.values())


def _outermost(found: Sequence[Region]) -> list[Region]:
    """Without those inside another one of their thread, whose time is in that one's."""
    kept: list[Region] = []
    open_until: dict[tuple[int, int], int] = {}
    for region in sorted(found, key=lambda one: (one.begin_ns, -(one.end_ns or 1 << 63))):
        key = (region.pid, region.tid)
        end_ns = region.end_ns or 1 << 63
        if end_ns > open_until.get(key, -1):
            kept.append(region)
            open_until[key] = end_ns
    return kept


def totals_table(run: Run, timeline: Timeline, totals: Sequence[Total]) -> Table:
    """Every counter's total, its rate, and what it is a share of.

    Args:
        run: Run of the profile, for what the kernel accounts to the program at its end.
        timeline: Timeline of the run.
        totals: Figures of the whole run.
    """
    rows: list[list[Cell]] = [
        ["elapsed", (timeline.end_ns - timeline.begin_ns) * 1e-9, "s", None, None]
    ]
    rows += [
        [
            total.name,
            *shown_counted(total.counted, total.unit),
            shown_rate(total),
            "; ".join(filter(None, (shown_ratio(total), "estimate" if total.is_estimate else None)))
            or None,
        ]
        for total in totals
        if not (usage_of(run) and total.name in {"CPU time, user", "CPU time, kernel"})
    ]
    rows[2:2] = ([name, seconds, "s", None, "wait4"] for name, seconds in _by_wait(run))
    peak = peak_of(run)
    if peak is not None:
        rows.append(["peak resident size", peak.bytes * 1e-6, "MB", None, peak.words])
    has_ranges = any(total.counted.is_range for total in totals)
    note = (
        "Of the program and all it started; memory traffic, energy and network are those of the "
        "whole machine. Rates are over the elapsed time: of CPU time the cores used, of waiting "
        "the threads that could have run and did not. wait4: as the kernel hands it to who waits "
        "for the program, exact but without descendants that nobody waited for. A dash means not "
        "counted throughout."
    )
    return Table(
        name="profile-totals",
        title="Totals",
        columns=[
            Column(title="what"),
            Column(title="total", digits=3),
            Column(title="unit"),
            Column(title="rate"),
            Column(title="share"),
        ],
        rows=rows,
        note=f"{note} {_ranges(timeline)}" if has_ranges else note,
    )


def _by_wait(run: Run) -> Iterator[tuple[str, float]]:
    usage = usage_of(run)
    if usage is not None:
        yield "CPU time, user", usage.user_s
        yield "CPU time, kernel", usage.system_s


def _ranges(timeline: Timeline) -> str:
    return ranges_note({pace.requested_ns for pace in timeline.paces})


def region_tables(
    timeline: Timeline, whole: Sequence[Total], marked: Sequence[Marked]
) -> list[Table]:
    """One for the time in regions, and one for each group of counters; none without regions.

    Args:
        timeline: Timeline of the run.
        whole: Figures of the whole run.
        marked: What was counted in the regions of each name.
    """
    if not marked:
        return []
    shown = marked[:MOST_REGION_ROWS]
    groups = [group for group in GROUPS if any(total.group == group for total in whole)]
    made = [_times_table(shown)]
    made += [
        table
        for group in groups
        if (table := _group_table(group, timeline, whole, shown)) is not None
    ]
    return made


def _times_table(marked: Sequence[Marked]) -> Table:
    rows: list[list[Cell]] = [
        [one.name, one.times, one.threads, one.lasts_s, one.threads_s, one.cpu_s] for one in marked
    ]
    return Table(
        name="profile-regions",
        title="Totals of marked regions",
        columns=[
            Column(title="region"),
            Column(title="times"),
            Column(title="threads"),
            Column(title="lasts", unit="s", digits=3),
            Column(title="in all threads", unit="s", digits=3),
            Column(title="their CPU time", unit="s", digits=3),
        ],
        rows=rows,
        note="Lasts: the time in which at least one thread was in the region. Their CPU time: of "
        "the threads that marked it, between their marks, exact. The tables below count the whole "
        "program while some thread was in the region, each moment once.",
    )


def _group_table(
    group: str, timeline: Timeline, whole: Sequence[Total], marked: Sequence[Marked]
) -> Table | None:
    at = [index for index, total in enumerate(whole) if total.group == group]
    at = [
        index
        for index in at
        if any(one.totals[index].counted.total or one.totals[index].counted.most for one in marked)
    ]
    if not at:
        return None
    columns = [Column(title="region")]
    cells: list[list[Cell]] = [[name] for name in (WHOLE_RUN, *(one.name for one in marked))]
    every = [whole, *(one.totals for one in marked)]
    for index in at:
        unit = "GB" if whole[index].unit == "B" else whole[index].unit
        columns.append(Column(title=whole[index].name, unit=unit or None, digits=3))
        for row, totals in zip(cells, every, strict=True):
            row.append(_cell(totals[index]))
        if any(totals[index].ratio is not None for totals in every):
            columns.append(
                Column(
                    title=whole[index].ratio_of, digits=3, unit=ratio_unit(whole[index].ratio_of)
                )
            )
            for row, totals in zip(cells, every, strict=True):
                row.append(totals[index].ratio)
    has_ranges = any(totals[index].counted.is_range for totals in every for index in at)
    return Table(
        name=f"profile-regions-{group.lower()}",
        title=f"Marked regions: {GROUPS[group]}",  # type: ignore[index]
        columns=columns,
        rows=cells,
        note=_ranges(timeline) if has_ranges else None,
    )


def _cell(total: Total) -> Cell:
    factor = 1e-9 if total.unit == "B" else 1.0
    found = total.counted
    if found.is_range and found.least is not None and found.most is not None:
        return f"{found.least * factor:.3g} to {found.most * factor:.3g}"
    if found.total is None:
        return None
    return found.total * factor if total.unit else round(found.total)


def beside_table(run: Run) -> Table | None:
    """What else the machine did; None where nothing of it is known."""
    rows = [_beside_row(one) for one in beside_of(run)]
    if not rows:
        return None
    return Table(
        name="profile-beside",
        title="The machine meanwhile",
        columns=[
            Column(title="what"),
            Column(title="time", unit="s", digits=3),
            Column(title="share", unit="%", digits=1),
            Column(title="of"),
        ],
        rows=rows,
        note="Other programs: CPU time of the machine without the program's and memgauge's, in the "
        "kernel's ticks. Steal: taken by the hypervisor. Waited: the time in which some task of "
        "the machine, the program's included, waited (PSI).",
    )


def _beside_row(one: Beside) -> list[Cell]:
    return [one.what, one.seconds, one.share, one.of]
