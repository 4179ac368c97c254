"""What regions move, in words and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memgauge.analysis.diagnose.by_region.traffic import (
    Amount,
    Pair,
    RegionOnCurve,
    RegionTraffic,
)
from memgauge.analysis.figures.simulated_places import place_name
from memgauge.analysis.profile.totals import ranges_note, short_number
from memgauge.analysis.section import Cell, Column, Table, Verdict
from memgauge.model.text import plain

MOST_IN_WORDS = 4
"""Regions that are named in a sentence; the table has all."""
OTHERS = "the table has the others"
LEAST_SHOWN = 0.01
"""Of MB and GB/s: less is named as less."""


def region_traffic_verdicts(
    known: Mapping[str, RegionTraffic],
    places: Mapping[str, RegionOnCurve],
    not_simulated: str,
) -> Iterator[Verdict]:
    """A sentence for what was counted and one for what was simulated, and the places on a curve.

    Args:
        known: By name of the region, the longest first: counted, else simulated.
        places: On a curve of this machine, by name.
        not_simulated: Why it was not simulated by region; empty: it was, or nobody asked.
    """
    counted = {name: one for name, one in known.items() if one.basis == "counted"}
    simulated = {name: one for name, one in known.items() if one.basis == "simulated"}
    if counted:
        by = next(iter(counted.values())).by
        estimate = any(one.is_estimate for one in counted.values())
        yield Verdict(
            level="note",
            text=f"Counted by {by} in one run more, by region: {_each(counted)}. These are "
            "counters of the whole machine: other programs are in it."
            + (" The counters took turns: an estimate." if estimate else ""),
        )
    if simulated:
        yield Verdict(
            level="note",
            text=f"By a simulation of this machine's caches, by region: {_each(simulated)}. "
            "Not counted.",
        )
    elif not_simulated and not counted:
        yield Verdict(
            level="note",
            text=f"What its regions move was not simulated: {not_simulated}.",
            about="conditions",
        )
    for name, place in [*places.items()][:MOST_IN_WORDS]:
        yield Verdict(level="note", text=_place(name, place, known[name]))


def _each(known: Mapping[str, RegionTraffic]) -> str:
    words = [_moved(name, one) for name, one in [*known.items()][:MOST_IN_WORDS]]
    return "; ".join([*words, *([OTHERS] if len(known) > MOST_IN_WORDS else [])])


def _moved(name: str, one: RegionTraffic) -> str:
    """Such as `solve reads 80 to 82 MB and writes 40 to 41 MB in 0.1 s: 1.2 to 1.23 GB/s`."""
    rate = f"{shown(one.gb_per_s)} GB/s{_of_peak(one)}"
    if one.is_too_short:
        least, most = _number(one.total.least * 1e-6), _number(one.total.most * 1e-6)
        return (
            f"{plain(name)} is too short for {one.rate_hz:g} Hz: at least {least}, at most {most} "
            f"MB in {one.inside_s:.3g} s, {rate}"
        )
    if one.read is None or one.write is None:
        moved = f"reads and writes {_mb(one.total)} MB"
    else:
        moved = f"reads {_mb(one.read)} MB and writes {_mb(one.write)} MB"
    time = "of measured time" if one.basis == "simulated" else ""
    return f"{plain(name)} {moved} in {one.inside_s:.3g} s {time}".rstrip() + f": {rate}" + _by(one)


def _of_peak(one: RegionTraffic) -> str:
    share = one.peak_share
    return "" if share is None else f", {_percent(share)} of what one of its CPUs can stream"


def _by(one: RegionTraffic) -> str:
    """The function that makes most of what was simulated."""
    total = one.total.most
    if not one.places or not total:
        return ""
    first = one.places[0]
    share = (first.read_bytes + first.write_bytes) / total
    return f", {share:.0%} of it in {place_name(first)}"


def _place(name: str, place: RegionOnCurve, one: RegionTraffic) -> str:
    marked = "Simulated traffic" if one.basis == "simulated" else "Counted traffic"
    text = (
        f"{marked} of region {plain(name)} on the curve of run {place.run_id} ({place.load}): "
        f"{_percent((place.peak_share_least, place.peak_share_most))} of the measured peak of "
        f"{place.peak_gb_per_s:.1f} GB/s"
    )
    if place.latency_least_ns is None:
        return f"{text}, more than any load there moved: its place cannot be told."
    if place.latency_most_ns is None:
        return (
            f"{text}, where a load takes {place.latency_least_ns:.0f} ns or more: at most it moves "
            "more than any load there did."
        )
    return f"{text}, where a load takes {_latency(place)} ns{_to_knee(place)}."


def _latency(place: RegionOnCurve) -> str | None:
    least, most = place.latency_least_ns, place.latency_most_ns
    if least is None:
        return None
    return f"{least:.0f} or more" if most is None else shown((round(least), round(most)))


def _to_knee(place: RegionOnCurve) -> str:
    least, most = place.to_knee_least_gb_per_s, place.to_knee_most_gb_per_s
    if least is None or most is None:
        return "; the curve has no knee that could be resolved"
    if least >= 0:
        return f", {shown((least, most))} GB/s below the knee"
    if most < 0:
        return f", {shown((-most, -least))} GB/s beyond the knee"
    return ", on either side of the knee"


def region_traffic_table(
    known: Sequence[tuple[str, RegionTraffic]], places: Mapping[str, RegionOnCurve]
) -> Table | None:
    """A row for each region and each way in which its traffic is known; None: of none it is.

    Args:
        known: Names with their traffic; a region that was counted and simulated is in it twice.
        places: On a curve of this machine, by name.
    """
    if not known:
        return None
    intervals_ns = [round(1e9 / one.rate_hz) for _, one in known if one.rate_hz]
    return Table(
        name="diagnose-region-traffic",
        title="What its regions move",
        columns=[
            Column(title="region"),
            Column(title="basis"),
            Column(title="read", unit="MB"),
            Column(title="written", unit="MB"),
            Column(title="rate", unit="GB/s"),
            Column(title="of one CPU's peak"),
            Column(title="together", unit="MB", narrow=False),
            Column(title="time", unit="s", digits=3, narrow=False),
            Column(title="latency on the curve", unit="ns", narrow=False),
            Column(title="most of it in", narrow=False),
        ],
        rows=[_row(name, one, places.get(name)) for name, one in known],
        note="Counted: in one run more, that is in no other figure, with what other programs of "
        "the machine moved; from at least what was counted between the readings inside the region "
        "to at most what was counted between those around it. Simulated: bytes by the caches of "
        "this machine over measured time, while at least one thread was inside."
        + (f" {ranges_note(intervals_ns)}" if any(one.is_too_short for _, one in known) else ""),
    )


def _row(name: str, one: RegionTraffic, place: RegionOnCurve | None) -> list[Cell]:
    return [
        name,
        one.basis,
        _mb(one.read) if one.read else None,
        _mb(one.write) if one.write else None,
        shown(one.gb_per_s),
        _percent(one.peak_share) if one.peak_share else None,
        _mb(one.total),
        one.inside_s,
        _latency(place) if place else None,
        place_name(one.places[0]) if one.places else None,
    ]


def rate_words(name: str, one: RegionTraffic) -> str:
    """Such as `solve 1.2 to 1.23 GB/s (12% of what one CPU streams)`, in an answer."""
    share = one.peak_share
    of = "" if share is None else f" ({_percent(share)} of what one CPU streams)"
    return f"{plain(name)} {shown(one.gb_per_s)} GB/s{of}"


def _mb(amount: Amount) -> str:
    return shown((amount.least * 1e-6, amount.most * 1e-6))


def shown(pair: Pair) -> str:
    """One number where both look the same, else `LEAST to MOST`."""
    least, most = map(_number, pair)
    return least if least == most else f"{least} to {most}"


def _number(value: float) -> str:
    return "<0.01" if 0 < value < LEAST_SHOWN else short_number(value)


def _percent(pair: Pair) -> str:
    least, most = (f"{one:.0%}" for one in pair)
    return least if least == most else f"{least} to {most}"
