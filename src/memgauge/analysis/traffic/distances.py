"""The same nest with software prefetch at several distances: speed, and simulated reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from memgauge.analysis.figures.run import series
from memgauge.analysis.section import Axis, Cell, Chart, Column, Series, Table, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.traffic.figures import NAME, Curve, SizeResult
from memgauge.model.cache_machine import machine_name
from memgauge.model.units import format_bytes, format_count

MOST_LINES = 6
"""Sizes whose bandwidth is drawn over distance, the largest."""


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """A nest on so many cores, without prefetch and at each distance."""

    kernel: str
    grid: str
    threads: int
    curves: list[Curve]
    """In the order of distances: that without prefetch first."""

    @property
    def slug(self) -> str:
        """For names of tables and files."""
        return "-".join(filter(None, (NAME, self.kernel, self.grid, f"{self.threads}t")))

    @property
    def title(self) -> str:
        """Such as `s1cf-second, 2 cores`."""
        return f"{self.kernel}, {format_count(self.threads, 'core')}"

    @property
    def sizes(self) -> list[int]:
        """Of all its curves."""
        return sorted({result.size for curve in self.curves for result in curve.results})

    def result(self, curve: Curve, size: int) -> SizeResult | None:
        """Of a size, where it is there."""
        return next((one for one in curve.results if one.size == size), None)

    def without(self, size: int) -> SizeResult | None:
        """Without prefetch; None: not in the run."""
        plain = next((curve for curve in self.curves if not curve.ahead), None)
        return None if plain is None else self.result(plain, size)

    def gain(self, curve: Curve, size: int) -> Estimate | None:
        """Speed over that without prefetch; None where either is not measured."""
        here, plain = self.result(curve, size), self.without(size)
        if here is None or plain is None or not curve.ahead:
            return None
        return ratio(here.speed, plain.speed)


def compared(curves: Iterable[Curve]) -> list[Compared]:
    """Nests that the run has more than once, with other prefetches."""
    same: dict[tuple[str, str, int, str], list[Curve]] = {}
    for curve in (one for one in curves if not one.library):
        same.setdefault((curve.kernel, curve.grid, curve.threads, curve.gpu), []).append(curve)
    return [
        Compared(
            kernel=kernel,
            grid=grid,
            threads=threads,
            curves=sorted(members, key=lambda curve: (_kinds(curve), _distance(curve))),
        )
        for (kernel, grid, threads, _), members in same.items()
        if len(members) > 1
    ]


def _kinds(curve: Curve) -> str:
    return curve.ahead.partition(" prefetched")[0]


def _distance(curve: Curve) -> tuple[int, int]:
    return (curve.near_bytes, curve.far_bytes)


def tables(found: Iterable[Compared]) -> list[Table]:
    """A row for each size and distance, with simulated reads for each element beside the speed."""
    return [_table(one) for one in found]


def _table(one: Compared) -> Table:
    machines = list(
        dict.fromkeys(name for c in one.curves for name in c.sources if name in c.machines)
    )
    rows: list[list[Cell]] = []
    for size in one.sizes:
        for curve in one.curves:
            result = one.result(curve, size)
            if result is None:
                continue
            near, far = _distance(curve)
            reads = [_reads(result, name) for name in machines]
            rows.append(
                [
                    size,
                    _kinds(curve) or "nothing",
                    near or None,
                    far or None,
                    result.speed,
                    one.gain(curve, size),
                    *reads,
                ]
            )
    return Table(
        name=f"{one.slug}-prefetch",
        title=f"Prefetch distances: {one.title}",
        columns=[
            Column(title="N"),
            Column(title="prefetched"),
            Column(title="near", unit="B"),
            Column(title="far", unit="B"),
            Column(title="reaches", unit="GB/s", digits=2, narrow=_measured(one)),
            Column(title="over none", digits=2, narrow=_measured(one)),
            *(
                Column(title=f"reads, simulated on {machine_name(name)}", digits=2)
                for name in machines
            ),
        ],
        rows=rows,
        note="Reaches: bytes of the elements, each once, over the time. Over none: as a multiple "
        "of the same nest without prefetch. Reads: elements read from memory for each element of "
        "the result; simulated, not measured.",
    )


def _measured(one: Compared) -> bool:
    return any(result.speed is not None for curve in one.curves for result in curve.results)


def _reads(result: SizeResult, machine: str) -> float | None:
    moved = result.moved(machine, "reads")
    return None if moved is None else result.per_element(moved)


def charts(found: Iterable[Compared]) -> list[Chart]:
    """Bandwidth over distance of the largest sizes, where anything was measured at two or more."""
    return [chart for one in found if (chart := _chart(one)) is not None]


def _chart(one: Compared) -> Chart | None:
    drawn = []
    kinds = dict.fromkeys(_kinds(curve) for curve in one.curves if curve.ahead)
    for kind in kinds:
        curves = [c for c in one.curves if _kinds(c) == kind]
        for far in sorted({_distance(curve)[1] for curve in curves}):
            ahead = [curve for curve in curves if _distance(curve)[1] == far]
            drawn += [_line(one, ahead, size, kind, far) for size in one.sizes[-MOST_LINES:]]
    drawn = [line for line in drawn if any(y is not None for y in line.y)]
    if not drawn or max(len(line.x) for line in drawn) < 2:
        return None
    return Chart(
        name=f"{one.slug}-prefetch",
        title=f"Bandwidth over prefetch distance: {one.title}",
        kind="line",
        x=Axis(title="Prefetch distance (near)", unit="B", scale="log2"),
        y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        series=drawn,
        note="The table has the same without prefetch.",
    )


def _line(one: Compared, ahead: Sequence[Curve], size: int, kind: str, far: int) -> Series:
    found = [(_distance(curve)[0], one.result(curve, size)) for curve in ahead]
    name = ", ".join(filter(None, (f"N = {size}", kind, f"far {format_bytes(far)}" if far else "")))
    return series(
        name,
        [float(near) for near, _ in found],
        [None if result is None else result.speed for _, result in found],
    )


def verdicts(found: Iterable[Compared]) -> list[Verdict]:
    """What the best and the worst distance give the largest size that was measured."""
    return [said for one in found if (said := _verdict(one)) is not None]


def _verdict(one: Compared) -> Verdict | None:
    for size in reversed(one.sizes):
        gains = [
            (gain.value, curve.ahead, gain)
            for curve in one.curves
            if (gain := one.gain(curve, size)) is not None and has_interval(gain)
        ]
        if gains:
            ranked = sorted(gains, key=lambda entry: entry[0], reverse=True)
            ends = [ranked[0], *ranked[-1:]] if len(ranked) > 1 else ranked
            effects = "; ".join(_effect(ahead, gain) for _, ahead, gain in ends)
            text = f"Software prefetch: {effects} ({one.title}, N = {size})."
            return Verdict(level="note", text=text)
    return None


def _effect(ahead: str, gain: Estimate) -> str:
    span = f"{gain.low:.2f} to {gain.high:.2f}"
    if gain.low <= 1 <= gain.high:
        return f"{ahead} changes nothing measurable ({span})"
    return f"{ahead} is {gain.value:.2f} times as fast as without ({span})"
