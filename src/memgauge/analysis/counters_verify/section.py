"""What the `counters_verify` points show: a verdict on each event, with its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from memgauge.analysis.counters_verify.faults import pooled
from memgauge.analysis.counters_verify.figures import EventSeries, Where, event_series
from memgauge.analysis.counters_verify.rules import Finding, judge, judged_loads, verdict_of
from memgauge.analysis.figures.gpu_points import gpu_of
from memgauge.analysis.figures.run import Figures, series
from memgauge.analysis.section import (
    Axis,
    Cell,
    Chart,
    Column,
    Level,
    Rule,
    Section,
    Series,
    Table,
    Verdict,
    section_of,
)
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.counting.back_ends import entry_of
from memgauge.model.counting.calibration import CALIBRATION_VARIABLE, calibrated_text
from memgauge.model.counting.events import EventVerdict, VerdictWord
from memgauge.model.loads import LOADS
from memgauge.model.points.gpu import GpuDevice
from memgauge.model.run import Run
from memgauge.model.units import format_bytes

NAME = "counters_verify"

_LOADS_OF_CPUS = "Of ordinary writes, reads are between 0 (write-allocate evaded) and 1."
_LOADS_OF_GPUS = "Of copies, those of the event's direction. A GPU reads nothing before it writes."

_LEVELS: dict[VerdictWord, tuple[Level, str | None]] = {
    "verified": ("good", None),
    "mis-scaled": ("problem", None),
    "faulty": ("problem", "do not use it, by any factor: another event or back end may count"),
    "partial": ("problem", "sums of it are too small; take one that sees all controllers"),
    "dead": ("problem", "do not use it: another event or back end may count"),
    "noisy": ("warning", "repeat it while the machine is idle"),
    "absent": ("note", None),
}


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """An event with what was found of it."""

    event: str
    finding: Finding
    series: EventSeries | None
    """None: it could not be opened."""


def judged_events(run: Run) -> list[Judged]:
    """All events that were to be verified, those that could not be opened last."""
    if not run.points_of(NAME):
        return []
    opened = event_series(run, NAME)
    found = []
    for one in opened:
        finding = judge(one, [peer for peer in opened if peer is not one])
        found += [Judged(event=event, finding=finding, series=one) for event in one.events]
    refused = {event: why for made in run.counters.values() for event, why in made.refused.items()}
    absent = [
        Judged(event=event, finding=Finding(verdict="absent", evidence=why), series=None)
        for event, why in refused.items()
    ]
    return found + absent


def event_verdicts(run: Run) -> list[EventVerdict]:
    """What is kept: one verdict for each event, of the machine and kernel of the run."""
    start = run.start
    return [
        msgspec.structs.replace(
            verdict_of(
                one.finding,
                one.event,
                machine=start.system.machine_id,
                kernel=start.system.kernel,
                at=start.started_at,
            ),
            **_subject(one),
            gpu=_gpu(run, one),
            instance=one.series.counters[0].instance if one.series and _gpu(run, one) else None,
        )
        for one in judged_events(run)
    ]


def _subject(one: Judged) -> dict[str, Any]:
    """The encoding that the verdict is on, and the scale, where all places have the same."""
    mine = [c for c in one.series.counters if c.event == one.event] if one.series else []
    scales = {counter.documented_scale for counter in mine}
    return {
        "encoding": mine[0].encoding if mine else None,
        "scale": scales.pop() if len(scales) == 1 else None,
    }


def _gpu(run: Run, one: Judged) -> str | None:
    """Which GPU was loaded, by its driver's name and UUID; None: CPUs made the loads."""
    points = run.points_of(NAME)
    if one.series is None or not any(of.where.gpu for of in one.series.of):
        return None
    device = GpuDevice.of(next(point.actual for point in points if gpu_of(point)))
    return ", ".join(filter(None, (device.gpu, device.gpu_uuid))) or None


def analyse(figures: Figures) -> Section:
    """Verdicts, tables and a picture."""
    found = judged_events(figures.run)
    opened = [one for one in found if one.series is not None]
    return section_of(
        NAME,
        verdicts=[*_summary(found), *(_verdict(one) for one in found)],
        tables=[_verdict_table(found), *([_load_table(opened)] if opened else [])],
        charts=[_chart(opened)] if opened else [],
    )


def _summary(found: Sequence[Judged]) -> Iterator[Verdict]:
    good = sum(one.finding.verdict == "verified" for one in found)
    if not found:
        yield Verdict(level="warning", text="No counter was read.")
        return
    level: Level = "good" if good == len(found) else "note"
    text = f"{good} of {len(found)} events of memory traffic count what is known to be moved."
    yield Verdict(level=level, text=text)


def _verdict(one: Judged) -> Verdict:
    finding = one.finding
    level, remedy = _LEVELS[finding.verdict]
    word = f"{finding.verdict} ({finding.fault})" if finding.fault else finding.verdict
    text = f"{one.event} is {word}: {finding.evidence}."
    if finding.verdict == "mis-scaled":
        remedy = _correction(finding)
    return Verdict(level=level, text=text, remedy=remedy)


def _correction(finding: Finding) -> str:
    """What becomes of a wrong scale in later runs."""
    report = "report it to who maintains the scale"
    if finding.factor is not None:
        mark = calibrated_text(1 / finding.factor)
        return f"later runs have it {mark}, unless {CALIBRATION_VARIABLE}=none; {report}"
    if finding.fault is None and finding.ratio is not None and finding.ratio.value > 0:
        mark = calibrated_text(1 / finding.ratio.value)
        return f"do not use it unscaled; {CALIBRATION_VARIABLE}=any has it {mark}; {report}"
    return f"do not use it unscaled; {report}"


def _verdict_table(found: Sequence[Judged]) -> Table:
    return Table(
        name="counters_verify",
        title="Counted over known bytes",
        columns=[
            Column(title="event"),
            Column(title="verdict"),
            Column(title="fault", narrow=False),
            Column(title="ratio", digits=3),
            Column(title="while idle", unit="GB/s", digits=3),
            Column(title="places", narrow=False),
            Column(title="silent", narrow=False),
            Column(title="route", narrow=False),
        ],
        rows=[_verdict_row(one) for one in found],
        note="Ratio: median of rounds of counted over known bytes, idle traffic of the same length "
        "taken off, with an interval of at least 95% between order statistics. Read events are "
        f"judged on reads, write events on writes{'' if _on_gpu(found) else ' past the caches'}.",
    )


def _verdict_row(one: Judged) -> list[Cell]:
    counted = one.series
    if counted is None:
        return [one.event, one.finding.verdict, *[None] * 6]
    missing = ", ".join(one.finding.missing) or None
    return [
        one.event,
        one.finding.verdict,
        one.finding.fault,
        one.finding.ratio,
        _idle(counted),
        len(counted.counters),
        missing,
        counted.counters[0].route,
    ]


def _idle(event: EventSeries) -> Cell:
    rates = [load.idle_gb_per_s(event.names) for load in judged_loads(event)]
    known = [rate for rate in rates if rate is not None]
    return _cell(max(known, key=lambda rate: rate.value, default=None))


def _load_table(opened: Sequence[Judged]) -> Table:
    return Table(
        name="verify-loads",
        title="Each load",
        columns=[
            Column(title="event"),
            Column(title="load"),
            Column(title="memory of"),
            Column(title="counted over moved", digits=3),
            Column(title="while idle", unit="GB/s", digits=3, narrow=False),
            Column(title="rounds", narrow=False),
            Column(title="estimated", narrow=False),
        ],
        rows=[row for event in _event_series(opened) for row in _load_rows(event)],
        note="Moved: bytes read by a load of reads, bytes written by one of writes. "
        f"{_LOADS_OF_GPUS if _on_gpu(opened) else _LOADS_OF_CPUS} Estimated: the counter shared "
        "its hardware and counted for a part of the time.",
    )


def _on_gpu(found: Sequence[Judged]) -> bool:
    return any(of.where.gpu for one in found if one.series for of in one.series.of)


def _event_series(opened: Sequence[Judged]) -> list[EventSeries]:
    """Each once, where several events are judged together."""
    return list({id(one.series): one.series for one in opened if one.series}.values())


def _load_rows(event: EventSeries) -> Iterator[list[Cell]]:
    for of in event.of:
        yield [
            " + ".join(event.events),
            of.where.load,
            _place(of.where),
            _cell(of.ratio(event.names)),
            _cell(of.idle_gb_per_s(event.names)),
            len(of.rounds),
            of.is_estimate,
        ]


def _place(where: Where) -> str:
    if where.gpu:
        return f"{where.gpu}, {format_bytes(where.bytes)}" if where.bytes else where.gpu
    if where.is_local:
        return f"node {where.memory_node}"
    return f"node {where.memory_node}, from {where.cpu_node}"


def _cell(ratio: Estimate | None) -> Cell:
    """Without an interval where it holds zero: a share of nothing means nothing."""
    return ratio.value if ratio is not None and ratio.low <= 0 <= ratio.high else ratio


def _chart(opened: Sequence[Judged]) -> Chart:
    """A set of bars for each load, an event beside the other."""
    events = _event_series(opened)
    return Chart(
        name="verify-ratios",
        title="Counted over known bytes",
        kind="bar",
        x=Axis(title="Event", unit=""),
        y=Axis(title="Counted over known bytes", unit="", from_zero=True),
        series=[_bars(load, events) for load in LOADS if any(one.under(load) for one in events)],
        rules=[Rule(label="all that was moved", axis="y", value=1.0)],
        note=None if _on_gpu(opened) else "Reads of ordinary writes are those of write-allocate.",
    )


def _bars(load: str, events: Sequence[EventSeries]) -> Series:
    return series(load, _labels(events), [pooled(one.under(load), one.names) for one in events])


def _labels(events: Sequence[EventSeries]) -> list[float | str]:
    """Short names where they distinguish the events: a picture has little room."""
    whole = [" + ".join(one.events) for one in events]
    short = [" + ".join(map(_short, one.events)) for one in events]
    return [*(short if len(set(short)) == len(short) else whole)]


def _short(event: str) -> str:
    """EVENT of `perf:PMU/EVENT/` and other back ends with terms; else what follows the colon."""
    back_end, _, text = event.partition(":")
    parts = [part for part in text.split("/") if part]
    return parts[1] if entry_of(back_end).has_terms and len(parts) > 1 else text
