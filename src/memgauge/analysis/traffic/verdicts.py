"""What expected, simulated and measured traffic show together, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from memgauge.analysis.section import Level, Verdict
from memgauge.analysis.traffic.agreement import agreement, route_agreement
from memgauge.analysis.traffic.causes import EVEN, power_of_two
from memgauge.analysis.traffic.departures import (
    TOLERANCE,
    Alone,
    Departure,
    Place,
    alone,
    departures,
    place,
)
from memgauge.analysis.traffic.expected import Band
from memgauge.analysis.traffic.figures import DIRECTIONS, Curve, band_label, times
from memgauge.analysis.traffic.measured import MEASURED, is_measured
from memgauge.analysis.traffic.measured_verdicts import doubts, measured_readings
from memgauge.analysis.traffic.sets import crowd
from memgauge.analysis.traffic.simulated_verdicts import simulated_readings
from memgauge.model.cache_machine import THIS, machine_name
from memgauge.model.units import format_bytes

PLACES: dict[Place, tuple[Level, str]] = {
    "before": ("warning", "before {}"),
    "inside": ("good", "as caching ends {}"),
    "behind": ("note", "behind {}"),
}


def verdicts(curves: Sequence[Curve]) -> Iterator[Verdict]:
    """For each nest a verdict on each source, doubts, and whether sources agree."""
    if not curves:
        yield Verdict(level="warning", text="No loop nest was described.")
    for curve in curves:
        title = f"{curve.title}: " if len(curves) > 1 else ""
        for source in curve.sources:
            yield _verdict(curve, source, title)
        for one in (*doubts(curve), *agreement(curve), *route_agreement(curve)):
            yield msgspec.structs.replace(one, text=title + one.text)
    if curves and not any(curve.sources or curve.gpu for curve in curves):
        text = "Nothing was simulated and nothing was counted."
        yield Verdict(level="warning", text=text if _ran(curves) else "Nothing was simulated.")
    yield from _no_column(curves)
    yield from _no_model(curves)
    yield from _not_executed(curves)


def _verdict(curve: Curve, source: str, title: str) -> Verdict:
    """Where one source leaves the expectation beside the band, and why it moves what it does."""
    level, found = _where(curve, source)
    readings = (measured_readings if is_measured(source) else simulated_readings)(curve, source)
    sentences = [f"{title}{_by(curve, source)}: {found}", *map(_begun, readings)]
    return Verdict(level=level, text=". ".join(sentences) + ".")


def _begun(text: str) -> str:
    """As a sentence; names of arrays keep their letters."""
    return text[:1].upper() + text[1:]


def _by(curve: Curve, source: str) -> str:
    kept = curve.cached_bytes(source)
    caches = "second-level cache" if curve.gpu else "caches a core"
    room = f" ({format_bytes(kept)} of {caches})" if kept else ""
    by = source.removeprefix(MEASURED)
    return (
        f"Measured{by}" if is_measured(source) else f"Simulated on {machine_name(source)}"
    ) + room


def where(curve: Curve, source: str) -> str:
    """Where one source leaves the expectation, or up to which size it stays on it."""
    return _where(curve, source)[1]


def _where(curve: Curve, source: str) -> tuple[Level, str]:
    if not any(curve.ratios(source, direction) for direction in DIRECTIONS):
        return "warning", "nothing can be determined at any size"
    gone = departures(curve, source)
    if not gone:
        return "good", _stays(curve, source)
    levels, words = zip(*(_leave(curve, some) for some in _alike(curve, gone)), strict=True)
    level: Level = "warning" if "warning" in levels else "note" if "note" in levels else "good"
    odd = _odd_sizes(curve, source)
    before = [f"smaller sizes are off, and larger ones return: {odd}"] if odd else []
    return level, "; ".join([*words, *before])


def _alike(curve: Curve, gone: Sequence[Departure]) -> Iterator[list[Departure]]:
    """Departures that begin together are reported together."""
    found: dict[tuple[bool, int, int | None, bool], list[Departure]] = {}
    for one in gone:
        key = (one.above, one.first, one.before, _as_bypassing(curve, one))
        found.setdefault(key, []).append(one)
    yield from found.values()


def _stays(curve: Curve, source: str) -> str:
    """No departure: whether sizes went far enough for one."""
    largest = max(size for direction in DIRECTIONS for size, _ in curve.ratios(source, direction))
    text = f"reads and writes stay within {TOLERANCE:.0%} of the expectation up to N = {largest}"
    odd = _odd_sizes(curve, source)
    if odd:
        text += f", but for {odd}"
    band = curve.band(source)
    if band is None:
        return text
    if largest <= band.all_fit:
        return f"{text}; caches hold what is needed again up to N = {band.all_fit}"
    if largest <= band.one_fits:
        return f"{text}, within the band {band_label(band)}"
    return f"{text}, past {_where_it_ends(band)}"


def _odd_sizes(curve: Curve, source: str) -> str:
    """Sizes that are off though larger ones are not, the most of them, and why; empty: none."""
    odd = alone(curve, source)
    if not odd:
        return ""
    sizes = ", ".join(str(size) for size in sorted({one.size for one in odd}))
    most = max(odd, key=lambda one: abs(one.ratio - 1))
    ratio = f"{most.direction} {times(most.ratio)} at N = {most.size}"
    return f"N = {sizes} ({ratio}{_why_alone(curve, source, odd)})"


def _why_alone(curve: Curve, source: str, odd: Sequence[Alone]) -> str:
    """Computed where the caches are known and it follows from their sets; else what is usual."""
    sizes = {one.size for one in odd}
    machine = curve.machines.get(THIS if is_measured(source) else source)
    results = [result for result in curve.results if result.size in sizes]
    if machine is not None and all(
        any(crowd(result.nest, array, machine) for array in result.expected.arrays)
        for result in results
    ):
        return ", where the lines of a column have no room in the sets that they fall into"
    if all(power_of_two(size) >= EVEN for size in sizes):
        return ", where addresses a power of two apart may meet in few sets"
    return ""


def _where_it_ends(band: Band) -> str:
    return f"{band_label(band)}, where caching ends"


def _leave(curve: Curve, some: Sequence[Departure]) -> tuple[Level, str]:
    """Level and words of departures that begin together."""
    one = some[0]
    if _as_bypassing(curve, one):
        return "good", (
            f"reads are {times(one.most_ratio)} the expectation from N = {one.first} on, as the "
            f"closed form has it where stores bypass the caches"
        )
    side = "above" if one.above else "below"
    directions = " and ".join(f"{each.direction} ({_ratios(each)})" for each in some)
    past = _as_past(curve, some)
    text = f"{directions} lie {side} the expectation from N = {one.first} on{past}"
    band = curve.band(one.source)
    where = place(one, (band.all_fit, band.one_fits)) if one.above and band else None
    if band is None or where is None:
        return "note", text
    by_lines = _by_lines(curve, one) if where == "before" else None
    if by_lines is not None:
        return "note", f"{text}, {by_lines}"
    level, words = PLACES[where]
    ends = f"(at {band_label(band)})" if where == "inside" else _where_it_ends(band)
    return level, f"{text}, {words.format(ends)}"


def _by_lines(curve: Curve, one: Departure) -> str | None:
    """Where caching ends because pieces of lines take the place of whole ones."""
    band, lines = curve.band(one.source), curve.band_of_lines(one.source)
    machine = curve.machines.get(one.source)
    if band is None or lines is None or machine is None:
        return None
    if place(one, (lines.all_fit, lines.one_fits)) != "inside":
        return None
    return (
        f"as caching ends (at {band_label(lines)}) where each piece of {machine.sector_bytes} B "
        f"takes the place of a line of {machine.line_bytes} B; did it not, caching would end at "
        f"{band_label(band)}"
    )


def _ratios(one: Departure) -> str:
    if times(one.most_ratio) == times(one.ratio):
        return f"{times(one.ratio)} at N = {one.first}"
    return f"{times(one.ratio)} at N = {one.first}, {times(one.most_ratio)} at N = {one.most}"


def _as_bypassing(curve: Curve, one: Departure) -> bool:
    """Whether reads lie below the expectation as its closed form has it for stores that bypass."""
    if one.above or one.direction != "reads":
        return False
    results = [result for result in curve.results if result.size >= one.first]
    return all(
        (moved := result.moved(one.source, "reads")) is None
        or abs(moved - result.bypassing_bytes) <= TOLERANCE * result.bypassing_bytes
        for result in results
    )


def _as_past(curve: Curve, some: Sequence[Departure]) -> str:
    """Whether the largest ratios are those of the closed form past the caches."""
    for one in some:
        result = curve.result(one.most)
        past = result.past_bytes(one.direction)
        moved = result.moved(one.source, one.direction)
        if not one.above or moved is None or abs(moved - past) > TOLERANCE * past:
            return ""
    return ", up to what the closed form has past the caches"


def _no_column(curves: Sequence[Curve]) -> Iterator[Verdict]:
    """Why nothing was measured, where nothing was: in one line."""
    if not curves or any(curve.measured_sources for curve in curves):
        return
    if not _ran(curves):
        text = "There is no measured column: nothing was run, only simulated."
        yield Verdict(level="note", text=text)
        return
    reasons = {result.actual.not_counted for curve in curves for result in curve.results} - {""}
    why = "; ".join(map(_short, sorted(reasons))) or "no counter of memory traffic was read"
    text = f"There is no measured column: {why.removesuffix('.')}."
    yield Verdict(level="note", text=text, remedy="see 'memgauge counters'")


def _no_model(curves: Sequence[Curve]) -> Iterator[Verdict]:
    """Why nothing is simulated of a GPU, in one line."""
    if any(curve.gpu for curve in curves):
        text = (
            "There is no simulated column: the cache model knows cores that execute a nest in "
            "order, and no GPU, whose threads execute it at once."
        )
        yield Verdict(level="note", text=text)


def _ran(curves: Sequence[Curve]) -> bool:
    """Whether anything was to be executed on this machine."""
    return any(curve.gpu or result.actual.cpus for curve in curves for result in curve.results)


def _not_executed(curves: Sequence[Curve]) -> Iterator[Verdict]:
    """Sizes whose speed is missing, where that is all that executing them would have shown."""
    for curve in curves:
        if curve.measured_sources or not _ran([curve]):
            continue
        missing = [one for one in curve.results if one.speed is None and not one.actual.left_out]
        never = [str(result.size) for result in missing if not result.set_aside]
        if never:
            yield Verdict(
                level="note",
                text=f"{curve.title}: not executed before the budget ended, because preparing "
                f"takes time too: N = {', '.join(never)}. Without counters, only their speed "
                "is missing.",
                remedy="increase --budget, or give fewer --sizes",
            )
        disturbed = [str(result.size) for result in missing if result.set_aside]
        if disturbed:
            yield Verdict(
                level="note",
                text=f"{curve.title}: no speed at N = {', '.join(disturbed)}, because in each "
                "region other programs took the processor, or pages came and went.",
                remedy="measure again when the machine is quiet",
            )


def _short(reason: str) -> str:
    """The first of several reasons, without its remedy; the record and `counters` have all."""
    first = "; ".join(reason.split("; ")[:2])
    return first.partition(" (")[0]
