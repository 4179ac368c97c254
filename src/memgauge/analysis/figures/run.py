"""A run with the figures of all its points: what the analysis of each experiment starts from."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import TypeVar

import msgspec

from memgauge.analysis.figures.regimes import Regimes, TeamKey, regimes_of_teams
from memgauge.analysis.figures.run_drift import run_to_run_drift
from memgauge.analysis.figures.summary import PointSummary, summarise
from memgauge.analysis.section import Series
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.model.records import Point
from memgauge.model.run import Run

Made = TypeVar("Made")


class Figures(msgspec.Struct, frozen=True, dict=True):
    """A run and what is known of each point in each regime, with all that was computed from it."""

    run: Run
    summaries: dict[str, list[PointSummary]]
    """By name of point; near regimes first."""

    teams: dict[TeamKey, Regimes]
    """The regimes that each team was seen in, over all its points."""

    run_to_run_drift: float | None
    """How far the machine's pace may lie elsewhere in another run, as a share; None: not known."""

    @property
    def precision(self) -> float:
        """Asked, by the latest start."""
        return self.run.starts[-1].precision

    def of(self, experiment: str) -> Iterator[tuple[Point, PointSummary]]:
        """Points of an experiment with their figures, one for each regime."""
        for point in self.run.points_of(experiment):
            for summary in self.summaries[point.point]:
                yield point, summary

    def slices(self, experiment: str) -> Iterator[tuple[Point, PointSummary]]:
        """Those that are measured to a precision, where something was measured."""
        for point, summary in self.of(experiment):
            if point.role == "slice" and summary.sustained is not None:
                yield point, summary


def figures_of(run: Run) -> Figures:
    """The figures of a run; regimes are found over all of it."""
    teams = regimes_of_teams(run.points.values(), run.samples)
    return Figures(
        run,
        summarise(run.points.values(), run.samples, run.starts[-1].precision, teams),
        teams,
        run_to_run_drift(run.points, run.samples, run.rounds),
    )


def once(compute: Callable[[Figures], Made]) -> Callable[[Figures], Made]:
    """Compute it once for a run, whoever asks first: its section, a headline or the document."""
    name = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def computed(figures: Figures) -> Made:
        known: dict[str, Made] = vars(figures)
        if name not in known:
            known[name] = compute(figures)
        return known[name]

    return computed


def scaled(estimate: Estimate | None, factor: float) -> Estimate | None:
    """The estimate in another unit."""
    if estimate is None:
        return None
    return Estimate(estimate.value * factor, estimate.low * factor, estimate.high * factor)


def series(name: str, x: list[float | str], cells: list[Estimate | None]) -> Series:
    """A line or set of bars with intervals; where there is none, the value stands alone.

    Args:
        name: Label of the series in the legend.
        x: Places on the x axis, one for each cell: numbers, or names of bars.
        cells: Values on the y axis in the order of `x`; None leaves a gap.
    """
    return Series(
        name=name,
        x=x,
        y=[None if cell is None else cell.value for cell in cells],
        low=[cell.low if cell is not None and has_interval(cell) else None for cell in cells],
        high=[cell.high if cell is not None and has_interval(cell) else None for cell in cells],
    )


def slug(*words: str) -> str:
    """A name of a chart, of what may be any words; empty ones leave no trace."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", " ".join(words)).strip("-")


def stacked(rows: Iterable[tuple[str, str, float]]) -> list[Series]:
    """Bars of parts, a series for each part; of bar, part and value. A bar may lack a part."""
    parts: dict[str, dict[float | str, float]] = {}
    bars: dict[float | str, None] = {}
    for bar, part, value in rows:
        bars.setdefault(bar)
        parts.setdefault(part, {})[bar] = value
    return [
        Series(name=part, x=[*bars], y=[of.get(bar) for bar in bars]) for part, of in parts.items()
    ]
