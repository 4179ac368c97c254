"""Tables of the bandwidth of the host's memory and of a GPU's: rows alike, columns of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from memgauge.analysis.figures.gpu_points import gpu_of
from memgauge.analysis.figures.run import scaled
from memgauge.analysis.section import Cell, Column, Table
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.stream.figures import (
    STANDARD,
    Comparison,
    KernelResult,
    best,
    comparisons,
    searches,
)

NOTE = (
    "GB/s = 1e9 bytes a second by STREAM's counting; the 90th percentile of speed and its 95% "
    "interval. Gain: tuned over standard. STREAM best: of whole passes with the standard kernel."
)
GPU_NOTE = (
    "GB/s = 1e9 bytes a second by STREAM's counting, timed by the GPU itself; the 90th percentile "
    "of speed and its 95% interval. Gain: tuned over standard. Of peak: the better of both over "
    "the memory's theoretical bandwidth. STREAM best: of whole walks with the standard kernel."
)
LUCK = "The best of many is partly luck: what lies within the intervals is no difference."

Row = TypeVar("Row")
Values = Sequence[tuple[Column, Callable[[Row], Cell]]]
"""Columns, each with what a row has there."""
Value = tuple[str, str | None, Callable[[KernelResult], Cell]]
"""A column of the table of points: title, unit and what a row has there."""

_BOTH: Values[Comparison] = [
    (Column(title="standard", unit="GB/s"), lambda one: one.plain),
    (Column(title="tuned", unit="GB/s"), lambda one: one.fast),
]
_PAGES: Values[Comparison] = [(Column(title="pages"), lambda one: one.of.pages)]
"""Of runs with several kinds."""


def comparison(results: Sequence[KernelResult]) -> Table | None:
    """Standard beside tuned, a row for each kernel, team and regime."""
    measured = _measured(results)
    regimes = any(one.of.regime for one in measured)
    pages = any(one.of.pages for one in measured)
    values: Values[Comparison] = [
        (Column(title="kernel"), lambda one: _name(one.of)),
        (Column(title="threads"), lambda one: one.of.threads),
        *(_PAGES if pages else ()),
        (Column(title="regime", narrow=regimes), lambda one: one.of.regime or None),
        *_BOTH,
        (Column(title="gain", digits=2, narrow=not regimes), lambda one: one.gain),
        (
            Column(title="STREAM best", unit="GB/s", narrow=not (regimes or pages)),
            lambda one: one.whole,
        ),
    ]
    note = " ".join(filter(None, (NOTE, _compiled_for(results))))
    return _table("stream", "Sustained bandwidth", measured, values, note) if measured else None


def _compiled_for(results: Sequence[KernelResult]) -> str:
    """Which instructions the plain loops were compiled for, where that is recorded."""
    isas = {one.actual.isa for one in results if one.variant == STANDARD} - {""}
    return f"Standard loops: compiled for {', '.join(sorted(isas))}." if isas else ""


def gpu_comparison(results: Sequence[KernelResult], peak: float | None) -> Table | None:
    """Standard beside tuned, a row for each kernel."""

    def better_of_peak(one: Comparison) -> Estimate | None:
        return of_peak(best(filter(None, (one.standard, one.tuned))), peak)

    values: Values[Comparison] = [
        (Column(title="kernel"), lambda one: _name(one.of)),
        *_BOTH,
        (Column(title="gain", digits=3), lambda one: one.gain),
        (Column(title="of peak", unit="%", narrow=peak is not None), better_of_peak),
        (Column(title="STREAM best", unit="GB/s"), lambda one: one.whole),
    ]
    measured = _measured(results)
    if not measured:
        return None
    title = f"Sustained bandwidth of {gpu_of(results[0].point)}"
    return _table("stream", title, measured, values, GPU_NOTE)


def _measured(results: Sequence[KernelResult]) -> list[Comparison]:
    return [one for one in comparisons(results) if one.plain or one.fast or one.whole]


def _name(result: KernelResult) -> str:
    """Of the kernel, with its element where it is not double."""
    plain = result.element in {"", "double"}
    return result.kernel if plain else f"{result.kernel} ({result.element})"


def of_peak(result: KernelResult | None, peak: float | None) -> Estimate | None:
    """The sustained bandwidth as a share of the theoretical."""
    return scaled(result.sustained, 1 / peak) if result is not None and peak else None


_KERNEL: list[Value] = [
    ("kernel", None, lambda r: r.kernel),
    ("variant", None, lambda r: r.variant),
]
_SPEED: list[Value] = [
    ("sustained", "GB/s", lambda r: r.sustained),
    ("median", "GB/s", lambda r: r.slice.median if r.slice else None),
]
_PASSES: list[Value] = [
    ("best of N", "GB/s", lambda r: r.best_gb_per_s),
    ("N", None, lambda r: r.whole.passes.passes if r.whole and r.whole.passes else None),
]
_SAMPLES: list[Value] = [
    ("samples", None, lambda r: r.slice.samples if r.slice else None),
    ("set aside", None, lambda r: r.slice.set_aside if r.slice else None),
    ("noise", "%", lambda r: r.slice.noise if r.slice else None),
]
_ARRAYS: list[Value] = [
    ("each array", "B", lambda r: r.actual.array_bytes),
    ("by the STREAM rule", None, lambda r: r.actual.stream_conformant),
]
_DETAILS: list[Value] = [
    *_KERNEL,
    ("threads", None, lambda r: r.threads),
    ("regime", None, lambda r: r.regime or None),
    *_SPEED,
    *_PASSES,
    ("memory moves", "GB/s", lambda r: r.moved),
    *_SAMPLES,
    ("share of time", "%", lambda r: r.slice.share if r.slice and r.regime else None),
    ("CPUs", None, lambda r: r.actual.cpus or None),
    ("instructions", None, lambda r: ", ".join(filter(None, (r.actual.isa, r.access))) or None),
    ("stores", None, lambda r: r.actual.store or None),
    ("prefetch near", "B", lambda r: r.actual.prefetch_near_bytes),
    ("prefetch far", "B", lambda r: r.actual.prefetch_far_bytes),
    ("requested pages", None, lambda r: r.pages or None),
    ("pages", None, lambda r: r.actual.pages or None),
    *_ARRAYS,
]


def details(results: Sequence[KernelResult]) -> Table:
    """Everything of each point; too wide for a terminal."""
    note = (
        "Memory moves: with lines that ordinary stores read first (write-allocate), unless "
        "hardware avoids it. Noise: (90th - 10th percentile) / median."
    )
    return _points(results, _DETAILS, note)


def gpu_details(results: Sequence[KernelResult], peak: float | None) -> Table | None:
    """Everything of each point; too wide for a terminal."""
    values: list[Value] = [
        *_KERNEL,
        ("memory", None, lambda r: gpu_of(r.point)),
        *_SPEED,
        ("of peak", "%", lambda r: of_peak(r, peak)),
        *_PASSES,
        *_SAMPLES,
        ("work of a thread", None, lambda r: r.actual.isa or None),
        ("unroll", None, lambda r: r.actual.unroll),
        ("cache hint", None, lambda r: r.actual.store or None),
        ("threads a block", None, lambda r: r.actual.threads_per_block),
        ("blocks a multiprocessor", None, lambda r: r.actual.blocks_per_multiprocessor),
        *_ARRAYS,
    ]
    note = (
        "Noise: (90th - 10th percentile) / median. Blocks a multiprocessor: 0, a block for "
        "each tile; else so many that go on through the arrays."
    )
    return _points(results, values, note) if results else None


def _points(results: Sequence[KernelResult], values: Sequence[Value], note: str) -> Table:
    wide = [(Column(title=title, unit=unit, narrow=False), value) for title, unit, value in values]
    return _table("stream-points", "Every point", results, wide, note)


def search(results: Sequence[KernelResult]) -> Table | None:
    """The winner of a search for each kernel, team and regime, with its margin over standard."""
    values: Values[Comparison] = [
        (Column(title="kernel"), lambda one: one.of.kernel),
        (Column(title="threads"), lambda one: one.of.threads),
        (Column(title="pages", narrow=False), lambda one: one.of.pages or None),
        (Column(title="regime", narrow=False), lambda one: one.of.regime or None),
        (Column(title="winner"), lambda one: one.of.candidate),
        (Column(title="tuned", unit="GB/s"), lambda one: one.of.sustained),
        (Column(title="over standard", digits=2), lambda one: one.over_standard),
        (Column(title="candidates", narrow=False), lambda one: one.candidates),
    ]
    return _search_table(results, values, LUCK)


def candidates(results: Sequence[KernelResult]) -> Table | None:
    """Every candidate of the searches, the fastest of each first; too long for a terminal."""
    of_kernel: dict[tuple[str, int, str, str], list[KernelResult]] = {}
    for result in results:
        if result.candidate:
            key = (result.kernel, result.threads, result.pages, result.regime)
            of_kernel.setdefault(key, []).append(result)
    ranked = [
        _Ranked(result=result, winner=best(members))
        for members in of_kernel.values()
        for result in sorted(members, key=_speed, reverse=True)
    ]
    values: Values[_Ranked] = [
        (Column(title="kernel", narrow=False), lambda one: one.result.kernel),
        (Column(title="threads", narrow=False), lambda one: one.result.threads),
        (Column(title="pages", narrow=False), lambda one: one.result.pages or None),
        (Column(title="regime", narrow=False), lambda one: one.result.regime or None),
        (Column(title="candidate", narrow=False), lambda one: one.result.candidate),
        (Column(title="instructions", narrow=False), lambda one: one.result.actual.isa or None),
        (Column(title="stores", narrow=False), lambda one: one.result.actual.store or None),
        (Column(title="unroll", narrow=False), lambda one: one.result.actual.unroll),
        (Column(title="streams", narrow=False), lambda one: one.result.actual.streams),
        (
            Column(title="prefetch near", unit="B", narrow=False),
            lambda one: one.result.actual.prefetch_near_bytes,
        ),
        (
            Column(title="prefetch far", unit="B", narrow=False),
            lambda one: one.result.actual.prefetch_far_bytes,
        ),
        (Column(title="reaches", unit="GB/s", narrow=False), lambda one: one.result.sustained),
        (Column(title="of the winner", digits=3, narrow=False), lambda one: one.of_winner),
        (
            Column(title="samples", narrow=False),
            lambda one: one.result.slice.samples if one.result.slice else None,
        ),
    ]
    note = (
        "All candidates of each search, the fastest first. One that was clearly behind was "
        f"sampled no longer, so it has fewer samples. {LUCK}"
    )
    return _table("stream-candidates", "All candidates", ranked, values, note) if ranked else None


class _Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate and the winner of its search."""

    result: KernelResult
    winner: KernelResult | None

    @property
    def of_winner(self) -> Estimate | None:
        """Its bandwidth over the winner's."""
        return None if self.winner is None else ratio(self.result.sustained, self.winner.sustained)


def _speed(result: KernelResult) -> float:
    return result.sustained.value if result.sustained else 0.0


def gpu_search(results: Sequence[KernelResult]) -> Table | None:
    """The winner of a search for each kernel, with its margin over both variants."""
    values: Values[Comparison] = [
        (Column(title="kernel"), lambda one: one.of.kernel),
        (Column(title="winner"), lambda one: one.of.candidate),
        (Column(title="reaches", unit="GB/s"), lambda one: one.of.sustained),
        (Column(title="over standard", digits=3, narrow=False), lambda one: one.over_standard),
        (Column(title="over tuned", digits=3), lambda one: one.over_tuned),
        (Column(title="candidates", narrow=False), lambda one: one.candidates),
    ]
    note = (
        "v16: vectors of 16 bytes; u: loads on their way before a store; ca, cs, na: cached, "
        "streaming, past L1; t: threads a block; b: blocks a multiprocessor, 0 one for each tile. "
        f"{LUCK}"
    )
    return _search_table(results, values, note)


def _search_table(
    results: Sequence[KernelResult], values: Values[Comparison], note: str
) -> Table | None:
    found = searches(results)
    return _table("stream-search", "Best variants found", found, values, note) if found else None


def _table(name: str, title: str, rows: Sequence[Row], values: Values[Row], note: str) -> Table:
    return Table(
        name=name,
        title=title,
        columns=[column for column, _ in values],
        rows=[[value(row) for _, value in values] for row in rows],
        note=note,
    )
