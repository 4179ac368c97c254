"""Expected, simulated and measured traffic as pictures, as the traffic study draws them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from memgauge.analysis.section import Axis, Chart, Rule, Series
from memgauge.analysis.section import Band as Shade
from memgauge.analysis.traffic.expected import Band
from memgauge.analysis.traffic.figures import (
    DIRECTIONS,
    Curve,
    Direction,
    SizeResult,
    band_text,
)
from memgauge.analysis.traffic.measured import MEASURED, is_measured
from memgauge.model.cache_machine import THIS, machine_name
from memgauge.model.units import format_bytes

FEW_LEVELS = 12
"""Elements moved for each of the result, up to which a picture is of those and not of bytes."""

WIDE_RANGE = 8
"""Largest over smallest size, from which on sizes are drawn by their powers of two."""


def charts(curves: Sequence[Curve]) -> list[Chart]:
    """Of each nest one for each machine, with its own band; what was measured beside this one's."""
    return [
        _chart(curve, sources)
        for curve in curves
        for sources in _together(curve.sources)
        if len(curve.results) > 1
    ]


def _together(sources: Sequence[str]) -> list[list[str]]:
    here = [source for source in sources if source == THIS or is_measured(source)]
    machines = [[source] for source in sources if source not in here]
    return [*([here] if here else []), *machines]


def _chart(curve: Curve, sources: Sequence[str]) -> Chart:
    each = _most(curve, curve.sources) <= FEW_LEVELS
    counted = any(map(is_measured, sources))
    return Chart(
        name="-".join([curve.slug, sources[0]]),
        title=f"{curve.title}: {_title(sources)}",
        kind="line",
        x=Axis(title="N", unit="", scale=_x_scale(curve.results)),
        y=_y(curve, each=each),
        series=[
            *(
                _source(curve, source, direction, each=each)
                for source in sources
                for direction in DIRECTIONS
            ),
            *(_expected(curve, direction, each=each) for direction in DIRECTIONS),
        ],
        bands=_bands(curve, sources[0]),
        rules=_rules(curve, sources[0]),
        around="least and most of the regions" if counted else "95% interval",
        note=_note(sources, curve.band(sources[0])),
    )


def _title(sources: Sequence[str]) -> str:
    words = [source for source in sources if is_measured(source)]
    machines = [machine_name(source) for source in sources if not is_measured(source)]
    return " and ".join([*words, *(f"simulated on {name}" for name in machines)])


def _y(curve: Curve, *, each: bool) -> Axis:
    if each:
        element = format_bytes(curve.results[0].expected.element_bytes)
        title = f"Elements of {element} moved per element of the result"
        return Axis(title=title, unit="", from_zero=True)
    by = "" if curve.gpu else " by one core"
    return Axis(title=f"Bytes of one execution{by}", unit="B", scale="log2")


def _x_scale(results: Sequence[SizeResult]) -> Literal["linear", "log2"]:
    return "log2" if results[-1].size >= WIDE_RANGE * results[0].size else "linear"


def _most(curve: Curve, sources: Sequence[str]) -> float:
    """The most that is moved for each element of the result."""
    return max(
        result.per_element(bytes_)
        for result in curve.results
        for direction in DIRECTIONS
        for bytes_ in (
            result.expected_bytes(direction),
            *(result.moved(one, direction) for one in sources),
        )
        if bytes_ is not None
    )


def _expected(curve: Curve, direction: Direction, *, each: bool) -> Series:
    return Series(
        name=f"expected {direction}",
        x=[float(result.size) for result in curve.results],
        y=[_drawn(result, result.expected_bytes(direction), each=each) for result in curve.results],
        dashed=True,
    )


def _source(curve: Curve, source: str, direction: Direction, *, each: bool) -> Series:
    simulated = not is_measured(source)
    flows = [result.flow(direction, source) for result in curve.results]
    return Series(
        name=f"{direction} simulated on {machine_name(source)}"
        if simulated
        else f"measured {direction}{source.removeprefix(MEASURED)}",
        x=[float(result.size) for result in curve.results],
        y=[_drawn(result, result.moved(source, direction), each=each) for result in curve.results],
        low=[
            None if flow is None else _drawn(result, flow.least, each=each)
            for result, flow in zip(curve.results, flows, strict=True)
        ],
        high=[
            None if flow is None else _drawn(result, flow.most, each=each)
            for result, flow in zip(curve.results, flows, strict=True)
        ],
    )


def _drawn(result: SizeResult, bytes_: float | None, *, each: bool) -> float | None:
    if bytes_ is None or not each:
        return bytes_
    return result.per_element(bytes_)


def _bands(curve: Curve, source: str) -> list[Shade]:
    band = curve.band(source)
    if band is None or not band.one_fits > band.all_fit:
        return []
    label = f"caching ends: {band_text(band)}"
    return [Shade(label=label, start=float(band.all_fit), end=float(band.one_fits))]


def _rules(curve: Curve, source: str) -> list[Rule]:
    """Where caching ends at one size, and where it ends sooner for lines that are read in part."""
    band, lines = curve.band(source), curve.band_of_lines(source)
    rules = []
    if band is not None and band.one_fits == band.all_fit:
        rules.append((f"caching ends: {band.all_fit}", band.all_fit))
    if lines is not None:
        rules.append((f"whole lines fit to {lines.all_fit}", lines.all_fit))
    return [Rule(label=label, axis="x", value=float(at)) for label, at in rules]


def _note(sources: Sequence[str], band: Band | None) -> str:
    words = ["Dotted: expected, closed form."]
    if not all(map(is_measured, sources)):
        words.append("Simulated: by the cache model, not measured.")
    if any(map(is_measured, sources)):
        words.append("Around measured points: the least and the most of the repeated regions.")
    if band is not None and band.one_fits > band.all_fit:
        words.append("Shaded: sizes at which not all arrays fit the caches any more, and one does.")
    return " ".join(words)
