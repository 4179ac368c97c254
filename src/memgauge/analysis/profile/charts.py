"""The picture of a profile: panels of tracks over one time axis, phases and regions on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from memgauge.analysis.profile.phases import Phase
from memgauge.analysis.profile.timeline import Timeline, Traced
from memgauge.analysis.profile.units import shown_unit
from memgauge.analysis.section import Axis, Band, Chart, Panel, Series
from memgauge.model.text import plain

MOST_POINTS = 16_000
"""In one picture, over all tracks: a page stays below 2 MB."""
MOST_REGIONS = 300


LEAST_BINS = 4
"""Fewer are no picture."""


def is_drawn(timeline: Timeline) -> bool:
    """Whether there is enough of it for a picture."""
    return timeline.bins >= LEAST_BINS


def chart_of(timeline: Timeline, phases: Sequence[Phase]) -> Chart:
    """All tracks; of long runs the mean and both extremes of every few bins."""
    width = max(1, math.ceil(timeline.bins * len(timeline.tracks) / MOST_POINTS))
    panels: dict[str, list[Traced]] = {}
    for traced in timeline.tracks:
        panels.setdefault(traced.track.panel, []).append(traced)
    made = [_panel(timeline, name, tracks, width) for name, tracks in panels.items()]
    regions = _regions(timeline)
    return Chart(
        name="profile-timeline",
        title="Timeline",
        kind="tracks",
        x=Axis(title="Time", unit="s"),
        y=Axis(title="Value", unit=""),
        series=[series for _, found in made for series in found],
        panels=[panel for panel, _ in made],
        bands=[
            Band(label=str(phase.number), start=phase.begin_s, end=phase.end_s)
            for phase in phases
            if len(phases) > 1
        ],
        regions=regions,
        note=_note(regions, len(timeline.regions) - len(regions)),
    )


def _note(regions: Sequence[Band], left_out: int) -> str:
    said = (
        "Drag to move along the run, turn the wheel while holding Ctrl or Alt to zoom, "
        "double-click to see the whole run; all tracks follow. Shaded: minimum to maximum, over "
        "the windows explained below. Numbers above are phases"
    )
    if regions:
        said += ", names are regions that the program marked"
    return said + (f" ({left_out} short ones are omitted)." if left_out else ".")


def _regions(timeline: Timeline) -> list[Band]:
    """The longest marked regions."""
    found = [
        Band(
            label=plain(region.name),
            start=(region.begin_ns - timeline.begin_ns) * 1e-9,
            end=((region.end_ns or timeline.end_ns) - timeline.begin_ns) * 1e-9,
        )
        for region in timeline.regions
    ]
    return sorted(found, key=lambda band: band.start - band.end)[:MOST_REGIONS]


def _panel(
    timeline: Timeline, name: str, tracks: Sequence[Traced], width: int
) -> tuple[Panel, list[Series]]:
    largest = max((abs(v) for traced in tracks for v in traced.high if v is not None), default=0.0)
    factor, unit = shown_unit(tracks[0].track.unit, largest)
    series = [_series(timeline, traced, width, factor) for traced in tracks]
    axis = Axis(title=name, unit=unit, from_zero=True)
    return Panel(y=axis, series=[one.name for one in series]), series


def _series(timeline: Timeline, traced: Traced, width: int, factor: float) -> Series:
    """Means of bins at their middles, and the extremes in them."""
    starts = range(0, timeline.bins, width)
    ends = [min(start + width, timeline.bins) for start in starts]
    middles = [
        (timeline.edge_s(start) + timeline.edge_s(end)) / 2
        for start, end in zip(starts, ends, strict=True)
    ]
    spans = list(zip(starts, ends, strict=True))
    return Series(
        name=traced.track.name,
        x=[*middles],
        y=[_times(_mean(traced, *span), factor) for span in spans],
        low=[_times(_extreme(traced.low[slice(*span)], min), factor) for span in spans],
        high=[_times(_extreme(traced.high[slice(*span)], max), factor) for span in spans],
        dashed=traced.track.basis != "measured",
    )


def _mean(traced: Traced, begin: int, end: int) -> float | None:
    """Over bins, what was counted in a window even over it: a counter's steps are no peaks."""
    covered = [traced.covered_s[at + 1] - traced.covered_s[at] for at in range(begin, end)]
    parts = [
        (value * seconds, seconds)
        for value, seconds in zip(traced.even[begin:end], covered, strict=True)
        if value is not None and seconds > 0
    ]
    covered_s = sum(seconds for _, seconds in parts)
    return sum(amount for amount, _ in parts) / covered_s if parts else None


def _extreme(
    values: Sequence[float | None], of: Callable[[Sequence[float]], float]
) -> float | None:
    known = [value for value in values if value is not None]
    return of(known) if known else None


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
