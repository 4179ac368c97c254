"""What the page of a traffic run begins with: what each nest should move, and what it moved.

Measured figures have their interval; simulated ones and the closed form are exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.figures.run import scaled
from memgauge.analysis.section import AnswerFigure, AnswerLine, Cell, digits_for
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.traffic.figures import DIRECTIONS, Curve, Direction, SizeResult
from memgauge.analysis.traffic.measured import MEASURED, is_measured
from memgauge.analysis.traffic.verdicts import where
from memgauge.model.cache_machine import machine_name
from memgauge.model.units import format_count

MOST_LINES = 5


def opening(curves: Sequence[Curve]) -> list[AnswerLine]:
    """Of one nest what is expected, each source and the speed; of several a line each."""
    if not curves:
        return []
    found = [*_of_one(curves[0])] if len(curves) == 1 else [*_of_each(curves)]
    return found[:MOST_LINES]


def _of_one(curve: Curve) -> Iterator[AnswerLine]:
    result = curve.results[-1]
    figures = [
        _figure(direction, result.per_element(result.expected_bytes(direction)))
        for direction in DIRECTIONS
    ]
    yield AnswerLine(
        label="Expected",
        figures=figures,
        detail=f"elements for each of the result at N = {result.size}, while caches hold what is "
        "needed again",
    )
    for source in curve.sources[: MOST_LINES - 2]:
        label = "Measured" if is_measured(source) else "Simulated"
        yield _line(curve, source, label, _how(source))
    if not curve.sources:
        yield _cannot_be_told("What it moves")
    ran = [one for one in curve.results if one.speed is not None]
    if ran:
        yield AnswerLine(
            label="Speed",
            figures=[AnswerFigure(name="", value=ran[-1].speed, unit="GB/s")],
            detail=f"of elements read and written by "
            f"{curve.gpu or format_count(curve.threads, 'core')}, N = {ran[-1].size}",
        )


def _of_each(curves: Sequence[Curve]) -> Iterator[AnswerLine]:
    """By what was measured, else by the first machine that was simulated."""
    most = MOST_LINES - 1 if len(curves) > MOST_LINES else MOST_LINES
    for curve in curves[:most]:
        source = next(iter([*curve.measured_sources, *curve.sources]), None)
        if source is None:
            yield _cannot_be_told(curve.title)
        else:
            how = "measured" if is_measured(source) else "simulated"
            yield _line(curve, source, curve.title, f", {how}{_how(source)}")
    if len(curves) > most:
        more = format_count(len(curves) - most, "more loop nest")
        yield AnswerLine(label="", figures=[], detail=f"the tables have {more}")


def _line(curve: Curve, source: str, label: str, how: str) -> AnswerLine:
    """Both ways at the largest size that shows any, and where they leave the expectation."""
    shown = {size for direction in DIRECTIONS for size, _ in curve.ratios(source, direction)}
    if not shown:
        return _cannot_be_told(label, f"nothing can be determined at any size{how}")
    result = curve.result(max(shown))
    figures = [
        _figure(direction, ratio)
        for direction in DIRECTIONS
        if (ratio := _ratio(result, source, direction)) is not None
    ]
    at = f"times the expectation at N = {result.size}{how}"
    return AnswerLine(label=label, figures=figures, detail=f"{at}; {where(curve, source)}")


def _ratio(result: SizeResult, source: str, direction: Direction) -> Estimate | float | None:
    """To the expectation; with its interval where it was measured."""
    if not is_measured(source):
        return result.ratio(source, direction)
    flow, expected = result.flow(direction, source), result.expected_bytes(direction)
    if flow is None or not expected or flow.is_drowned:
        return None
    return scaled(flow.bytes, 1 / expected)


def _figure(name: str, value: Cell) -> AnswerFigure:
    known = value.value if isinstance(value, Estimate) else value
    digits = digits_for([known]) if isinstance(known, float) else 2
    return AnswerFigure(name=name, value=value, digits=min(digits, 2))


def _how(source: str) -> str:
    """By which route, or on which machine, to be written behind something."""
    if is_measured(source):
        return source.removeprefix(MEASURED)
    return f" on {machine_name(source)}"


def _cannot_be_told(
    label: str, why: str = "nothing was simulated and nothing counted"
) -> AnswerLine:
    return AnswerLine(label=label, figures=[], detail=f"cannot be told: {why}")
