"""One transform on one rank, over time: what its timeline holds between two marks."""

from __future__ import annotations

import msgspec

from memgauge.analysis.fft3d.phases import Timelines, title_of
from memgauge.analysis.fft3d.ranks import Rank, on
from memgauge.analysis.fft3d.shape import Pencils
from memgauge.analysis.profile.charts import chart_of
from memgauge.analysis.section import Band, Chart, Series

LEFT_OUT = frozenset(
    {"threads", "processes", "storage", "migrations", "page faults", "resident memory"}
)
"""Panels that tell nothing of a transform, whose arrays were touched before; the rank's own run has
them."""
LEAST_BINS = 20
"""Of a timeline in a transform: with fewer nothing can be seen in it."""


def transform_chart(rank: Rank, step: Pencils, timelines: Timelines) -> Chart | None:
    """The rank's latest transform of a step; None where it is too short for its timeline.

    Args:
        rank: Rank that is drawn; one without a transform of the step gives None.
        step: The step; its grid tells on how many ranks the transform ran.
        timelines: Timelines of the ranks' runs; a rank without a reading gives None.
    """
    taken = on(rank, step)
    timeline = timelines.of(rank) if taken else None
    if timeline is None:
        return None
    spans = [(phase, *span) for phase, parts in taken[-1].spans.items() for span in parts]
    begin_ns = min((begin for _, begin, _ in spans), default=0)
    end_ns = max((end for _, _, end in spans), default=0)
    if end_ns - begin_ns < LEAST_BINS * timeline.bin_ns:
        return None
    from_s = (begin_ns - timeline.begin_ns) * 1e-9
    bin_s, lasts_s = timeline.bin_ns * 1e-9, (end_ns - begin_ns) * 1e-9
    whole = chart_of(timeline, [])
    panels = [panel for panel in whole.panels if panel.y.title not in LEFT_OUT]
    shown = {name for panel in panels for name in panel.series}
    return msgspec.structs.replace(
        whole,
        name="fft3d-transform",
        title=f"One transform on rank {rank.rank}, {step.size}^3 on {step.grid}",
        panels=panels,
        series=[_cut(one, from_s, lasts_s, bin_s) for one in whole.series if one.name in shown],
        regions=[
            Band(
                label=title_of(phase),
                start=(begin - begin_ns) * 1e-9,
                end=(end - begin_ns) * 1e-9,
            )
            for phase, begin, end in sorted(spans, key=lambda span: span[1])
        ],
        note="The last transform of the rank; the whole timeline is in the rank's own run. "
        "Shaded: minimum to maximum between readings.",
    )


def _cut(series: Series, from_s: float, lasts_s: float, bin_s: float) -> Series:
    """The part in the span, and one point either side; time begins with the span."""
    kept = [
        at
        for at, x in enumerate(series.x)
        if isinstance(x, float) and -bin_s <= x - from_s <= lasts_s + bin_s
    ]

    def part(values: list[float | None]) -> list[float | None]:
        return [values[at] for at in kept]

    return msgspec.structs.replace(
        series,
        x=[float(series.x[at]) - from_s for at in kept],
        y=part(series.y),
        low=None if series.low is None else part(series.low),
        high=None if series.high is None else part(series.high),
        notes=None if series.notes is None else [series.notes[at] for at in kept],
    )
