"""The part of the section of `loaded` that is about a replayed profile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from memgauge.analysis.loaded.replay import ReplayFigures, StepFigures
from memgauge.analysis.loaded.replay_verdicts import asked, span, what
from memgauge.analysis.section import (
    AnswerFigure,
    AnswerLine,
    Axis,
    Band,
    Cell,
    Chart,
    Column,
    Panel,
    Series,
    Table,
)
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import bounds, has_interval
from memgauge.model.units import format_count

NOTE = (
    "From, to: on the profile's time. Asked: what the profile's counters counted. Got: what memory "
    "moved for the generators, by their own count and the model of write-allocate. Reads: of these "
    "bytes. Latency: median over replays of the mean over the step. Slower: times the latency "
    "without load just before and after. What a neighbour does to shared caches, and the order of "
    "its accesses, is not replayed."
)

_COLUMNS = [
    Column(title="step"),
    Column(title="from", unit="s", digits=2),
    Column(title="to", unit="s", digits=2, narrow=False),
    Column(title="asked", unit="GB/s"),
    Column(title="got", unit="GB/s"),
    Column(title="asked reads", unit="%", digits=0, narrow=False),
    Column(title="reads", unit="%", digits=0),
    Column(title="latency", unit="ns", digits=0),
    Column(title="slower", digits=2),
    *(
        Column(title=title, unit=unit, narrow=False, digits=digits)
        for title, unit, digits in (
            ("reached", None, 0),
            ("p50", "ns", 0),
            ("p99", "ns", 0),
            ("pause", "ns", 1),
            ("most without pause", "GB/s", 1),
            ("stores", None, 0),
            ("counted", "s", 2),
            ("read", "GB", 3),
            ("written", "GB", 3),
            ("replays", None, 0),
            ("passes", None, 0),
            ("set aside", None, 0),
        )
    ),
]


def replay_table(found: ReplayFigures) -> Table:
    """A row for each step, after one for the memory without load."""
    return Table(
        name="loaded-like",
        title=f"Replay of {what(found.replayed)}",
        columns=_COLUMNS,
        rows=[_row(one) for one in (found.unloaded, *found.steps)],
        note=NOTE,
    )


def _row(one: StepFigures) -> list[Cell]:
    step, actual, single = one.step, one.actual, one.times
    return [
        one.number if step is not None else "unloaded",
        None if step is None else step.begin_s,
        None if step is None else step.end_s,
        None if step is None else step.gb_per_s,
        one.gb_per_s,
        None if step is None else step.read_share,
        one.read_share,
        one.latency,
        one.slowdown,
        None if step is None else _reached(one),
        None if single is None else single.p50,
        None if single is None else single.p99,
        actual.delay_ns,
        actual.most_gb_per_s,
        actual.store or None,
        None if step is None else step.known_s,
        None if step is None else step.read_bytes * 1e-9,
        None if step is None else step.write_bytes * 1e-9,
        one.replays,
        one.passes,
        one.set_aside,
    ]


def _reached(one: StepFigures) -> str:
    """Whether the generators did what the step asks for."""
    if one.gb_per_s is None:
        return "not measured"
    parts = []
    if one.misses:
        parts.append("less" if one.falls_short else "more")
    if one.misses_share:
        parts.append("other share of reads")
    return ", ".join(parts) or "yes"


def replay_opening(found: ReplayFigures) -> list[AnswerLine]:
    """Mean latency, the worst step and what was replayed."""
    return [*_mean(found), *_worst(found), _replayed(found)]


def _mean(found: ReplayFigures) -> Iterator[AnswerLine]:
    if found.latency is None or found.slowdown is None:
        yield AnswerLine(label="Latency", figures=[], detail="cannot be told: no replay is whole")
        return
    least = "a lower bound; " if found.is_lower_bound else ""
    figures = [
        AnswerFigure(name="mean", value=found.latency, unit="ns", digits=0),
        AnswerFigure(name="times that without load", value=found.slowdown, digits=2),
    ]
    if found.unloaded.latency is not None:
        figures.append(
            AnswerFigure(name="without load", value=found.unloaded.latency, unit="ns", digits=0)
        )
    detail = f"{least}{format_count(found.whole_replays, 'replay')}, weighted by the profile's time"
    yield AnswerLine(label="Latency", figures=figures, detail=detail)


def _worst(found: ReplayFigures) -> Iterator[AnswerLine]:
    worst = found.worst
    if worst is None or worst.step is None or worst.latency is None:
        return
    figures = [AnswerFigure(name="", value=worst.latency, unit="ns", digits=0)]
    if worst.slowdown is not None:
        figures.append(AnswerFigure(name="times that without load", value=worst.slowdown, digits=2))
    detail = f"step {worst.number}, {span(worst.step)}, {asked(worst.step)}"
    yield AnswerLine(label="Worst step", figures=figures, detail=detail)


def _replayed(found: ReplayFigures) -> AnswerLine:
    missed = sum(1 for one in found.steps if one.misses or one.misses_share)
    steps = format_count(len(found.steps), "step")
    said = f", of which {missed} not as asked" if missed else ", all as asked"
    return AnswerLine(label="Replayed", figures=[], detail=f"{what(found.replayed)}: {steps}{said}")


def replay_chart(found: ReplayFigures) -> Chart | None:
    """Asked and achieved traffic, and latency, over the profile's time."""
    steps = [one for one in found.steps if one.step is not None]
    if not steps:
        return None
    replayed = found.replayed
    model = "" if replayed.basis == "measured" else f", {replayed.basis}"
    series = [
        _stairs(f"asked{model}", steps, _asked_of, dashed=replayed.basis != "measured"),
        _stairs("moved", steps, lambda one: one.gb_per_s),
        _stairs(f"reads asked{model}", steps, _share_of, dashed=replayed.basis != "measured"),
        _stairs("reads moved", steps, _share_moved),
        _stairs("beside the load", steps, lambda one: one.latency),
        _stairs("without load", steps, lambda _: found.unloaded.latency, muted=True),
    ]
    return Chart(
        name="loaded-like",
        title=f"Traffic and latency over the time of {what(replayed)}",
        kind="tracks",
        x=Axis(title="Time of the profile", unit="s"),
        y=Axis(title="Value", unit=""),
        series=series,
        panels=[
            Panel(
                y=Axis(title="traffic of memory", unit="GB/s", from_zero=True),
                series=[one.name for one in series[:2]],
            ),
            Panel(
                y=Axis(title="share of reads", unit="%", from_zero=True),
                series=[one.name for one in series[2:4]],
            ),
            Panel(
                y=Axis(title="latency", unit="ns", from_zero=True),
                series=[one.name for one in series[4:]],
            ),
        ],
        bands=[
            Band(label=str(one.number), start=one.step.begin_s, end=one.step.end_s)
            for one in steps
            if one.step is not None and len(steps) > 1
        ],
        note="Medians over replays; shaded: 95% interval. Numbers above are steps.",
    )


def _asked_of(one: StepFigures) -> Estimate | None:
    return _plain(None if one.step is None else one.step.gb_per_s)


def _share_of(one: StepFigures) -> Estimate | None:
    return _plain(None if one.step is None else one.step.read_share, 100.0)


def _share_moved(one: StepFigures) -> Estimate | None:
    """Nothing where none is asked for."""
    return None if _share_of(one) is None else _plain(one.read_share, 100.0)


def _plain(value: float | None, factor: float = 1.0) -> Estimate | None:
    """A value without an interval of its own."""
    return None if value is None else Estimate(*[value * factor] * 3)


def _stairs(
    name: str,
    steps: Sequence[StepFigures],
    value: Callable[[StepFigures], Estimate | None],
    *,
    dashed: bool = False,
    muted: bool = False,
) -> Series:
    """The same from the begin of a step to its end, with a gap where steps are apart."""
    x: list[float | str] = []
    found: list[Estimate | None] = []
    for one in steps:
        if one.step is None:
            continue
        if x and one.step.begin_s > float(x[-1]):
            x.append(x[-1])
            found.append(None)
        x += [one.step.begin_s, one.step.end_s]
        found += [value(one)] * 2
    ends = [None if one is None else bounds(one) for one in found]
    shaded = any(one is not None and has_interval(one) for one in found)
    return Series(
        name=name,
        x=x,
        y=[None if one is None else one.value for one in found],
        low=[None if one is None else one[0] for one in ends] if shaded else None,
        high=[None if one is None else one[1] for one in ends] if shaded else None,
        dashed=dashed,
        muted=muted,
    )
