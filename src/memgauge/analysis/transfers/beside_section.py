"""Table, pictures and verdicts of the host's threads beside transfers to a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.figures.regimes import regime_kind
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.section import (
    AnswerFigure,
    AnswerLine,
    Cell,
    Column,
    Section,
    Table,
    Verdict,
)
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.transfers.beside import Beside, besides
from memgauge.analysis.transfers.beside_charts import charts
from memgauge.analysis.transfers.beside_latency import (
    latency_table,
    latency_verdicts,
    loads_of,
)
from memgauge.analysis.transfers.directions import short_way
from memgauge.analysis.transfers.verdicts import gb_text, share_interval
from memgauge.model.units import format_count

TITLE = "The host's bandwidth beside transfers to a GPU"
QUESTION = "What do transfers cost the host's threads, and what do these cost transfers?"
NOTE = (
    "GB/s, medians over passes and their 95% interval, over the time in which threads and "
    "transfers were at work. Keep: of what each reaches alone. All: through the host's memory, "
    "each byte that is transferred once."
)
NOTHING = 0.02
"""Of what threads or transfers reach alone: a loss below it is none to speak of."""
MOST_TEAMS = 6
MOST_LINES = 5


def section(figures: Figures) -> Section:
    """Of a run of `tiers` whose group B is a GPU."""
    found, loads = besides(figures), loads_of(figures)
    where = list(dict.fromkeys((one.memory, one.gpu) for one in found))
    known = f" Threads: {where[0][0]}. Transfers: {where[0][1]}." if len(where) == 1 else ""
    return Section(
        name="tiers",
        title=TITLE,
        question=QUESTION + known,
        verdicts=[*_verdicts(found), *latency_verdicts(loads)],
        tables=[*([_table(found)] if found else []), *([latency_table(loads)] if loads else [])],
        charts=charts(found),
        opening=_opening(found),
    )


def _opening(found: Sequence[Beside]) -> list[AnswerLine]:
    """Of the largest team that did the first kind of work: what each keeps, by transfer."""
    if not found:
        why = "threads and transfers never ran at the same time in a usable sample"
        return [AnswerLine(label="Beside", figures=[], detail=f"cannot be told: {why}")]
    team = max(found, key=lambda one: one.threads).team
    lines = []
    for one in [one for one in found if one.team == team][:MOST_LINES]:
        shares = {"threads keep": one.host_keeps, "transfers keep": one.transfers_keep}
        figures = [
            AnswerFigure(name=name, value=share, unit="%", digits=0)
            for name, share in shares.items()
            if share is not None
        ]
        both = f"{gb_text(one.host)} and {gb_text(one.transfers)} beside each other, {one.team}"
        unknown = "" if figures else "; what each keeps of itself alone cannot be told"
        lines.append(AnswerLine(label=one.way, figures=figures, detail=both + unknown))
    return lines


def _table(found: Sequence[Beside]) -> Table:
    """A row for each kind of work beside each kind of transfer."""
    several = len({(one.work, one.threads) for one in found}) > 1
    regimes = any(one.regime for one in found)
    columns = [
        Column(title="work", narrow=several),
        Column(title="by", narrow=len({one.threads for one in found}) > 1),
        Column(title="regime", narrow=regimes),
        Column(title="transfers"),
        Column(title="threads", unit="GB/s"),
        Column(title="keep", unit="%", digits=0),
        Column(title="transfers", unit="GB/s"),
        Column(title="keep", unit="%", digits=0),
        Column(title="all", unit="GB/s", narrow=not (several and regimes)),
        Column(title="threads alone", unit="GB/s", narrow=False),
        Column(title="transfers alone", unit="GB/s", narrow=False),
        Column(title="all, threads alone", unit="GB/s", narrow=False),
        Column(title="threads lose for each GB/s", unit="GB/s", digits=2, narrow=False),
        Column(title="to the GPU", unit="GB/s", narrow=False),
        Column(title="from the GPU", unit="GB/s", narrow=False),
        Column(title="passes", narrow=False),
        Column(title="set aside", narrow=False),
    ]
    return Table(
        name="tiers-transfers",
        title="Threads and transfers beside each other",
        columns=columns,
        rows=[_row(one) for one in found],
        note=NOTE,
    )


def _row(one: Beside) -> list[Cell]:
    return [
        one.work,
        one.threads,
        regime_kind(one.regime) or None,
        short_way(one.transfer),
        one.host,
        one.host_keeps,
        one.transfers,
        one.transfers_keep,
        one.moved,
        one.host_alone,
        one.transfers_alone,
        one.moved_alone,
        one.cost,
        one.by_direction.get("host-to-device"),
        one.by_direction.get("device-to-host"),
        one.passes,
        one.set_aside,
    ]


def _verdicts(found: Sequence[Beside]) -> Iterator[Verdict]:
    if not found:
        yield Verdict(
            level="warning",
            text="Threads and transfers never ran at the same time in a usable sample.",
            remedy="increase --budget, use fewer --threads, or measure on a quiet machine",
        )
        return
    teams: dict[str, list[Beside]] = {}
    for one in sorted(found, key=lambda one: -one.threads):
        teams.setdefault(one.team, []).append(one)
    first, *others = teams.values()
    for one in first:
        yield Verdict(level="note", text=_cost(one))
    for members in others[:MOST_TEAMS]:
        yield from _in_short(members)
    if len(others) > MOST_TEAMS:
        more = format_count(len(others) - MOST_TEAMS, "further team")
        yield Verdict(level="note", text=f"The table lists {more}.")
    largest = [one for one in found if one.threads == first[0].threads]
    yield from _transfers(largest)
    yield from _shared(max(largest, key=_lost))


def _lost(one: Beside) -> float:
    return 1 - one.host_keeps.value if one.host_keeps else 0.0


def _cost(one: Beside) -> str:
    """What transfers cost the threads: the answer in one sentence."""
    rate = f"{gb_text(one.transfers)} are transferred ({one.way})"
    keeps = one.host_keeps
    if keeps is None or one.host_alone is None:
        return f"The threads ({one.team}) reach {gb_text(one.host)} while {rate}."
    alone = gb_text(one.host_alone)
    text = f"{share_interval(keeps)} of its {alone} alone while {rate}"
    if not has_interval(keeps):
        return f"Host STREAM ({one.team}) keeps {text}; too few passes for an interval."
    if keeps.high >= 1 or keeps.value > 1 - NOTHING:
        return f"Transfers cost host STREAM nothing to speak of ({one.team}): it keeps {text}."
    lost = one.host_alone.value - one.host.value
    text = f"Transfers cost host STREAM {lost:.1f} GB/s ({one.team}): it keeps {text}"
    return f"{text}, {one.cost:.2f} GB/s lost for each one transferred."


def _in_short(members: Sequence[Beside]) -> Iterator[Verdict]:
    """What another team keeps, at least and at most."""
    known = [(one.host_keeps, one) for one in members if one.host_keeps is not None]
    if not known:
        return
    least, with_least = min(known, key=lambda pair: pair[0].value)
    most, with_most = max(known, key=lambda pair: pair[0].value)
    text = f"{with_least.team}: keeps {share_interval(least)} ({with_least.way})"
    if with_most is not with_least:
        text += f" to {share_interval(most)} ({with_most.way})"
    yield Verdict(level="note", text=f"{text} of what it reaches alone.")


def _transfers(found: Sequence[Beside]) -> Iterator[Verdict]:
    """What the threads cost transfers, where they lose most, each way."""
    for way in dict.fromkeys(one.way for one in found):
        known = [one for one in found if one.way == way and has_interval(one.transfers_keep)]
        worst = min(known, key=lambda one: _kept(one).value, default=None)
        if worst is None or worst.transfers_alone is None:
            continue
        keep = _kept(worst)
        nothing = keep.high >= 1 or keep.value > 1 - NOTHING
        text = (
            f"Transfers ({way}) lose nothing to speak of to the threads: they keep"
            if nothing
            else f"The threads cost transfers ({way}): they keep"
        )
        yield Verdict(
            level="note",
            text=f"{text} {share_interval(keep)} of their {gb_text(worst.transfers_alone)} alone "
            f"(beside {worst.team}).",
        )


def _kept(one: Beside) -> Estimate:
    return one.transfers_keep or Estimate(1.0, 0.0, float("inf"))


def _shared(one: Beside) -> Iterator[Verdict]:
    """Whether the host's memory is what they share."""
    if one.moved_alone is None or _lost(one) < NOTHING or not has_interval(one.host_keeps):
        return
    share = one.moved.value / one.moved_alone.value
    text = (
        f"Threads and transfers together move {gb_text(one.moved)} through the host's memory, "
        f"{share:.0%} of what the threads move alone ({one.team}; {one.way})"
    )
    if share < 1 - NOTHING:
        text += ": transfers cost that memory more than their own bytes"
    elif share <= 1 + NOTHING:
        text += ": it is what they share, and each byte transferred is one less for the threads"
    yield Verdict(level="note", text=f"{text}.")
