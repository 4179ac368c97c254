"""The section of the `mix` points: by teams of the host, or by the whole GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from memgauge.analysis.figures.gpu_points import gpu_name, gpu_peak_gb_per_s
from memgauge.analysis.figures.regimes import regime_kind
from memgauge.analysis.figures.run import Figures, scaled, series
from memgauge.analysis.mix.figures import MixResult, mix_results
from memgauge.analysis.mix.verdicts import STORES, mix_verdicts, peak_verdict
from memgauge.analysis.section import Axis, Cell, Chart, Column, Rule, Section, Table, section_of
from memgauge.model.experiments import title_of

NOTE = (
    "GB/s of the lines read and written by count; the 90th percentile of speed and its 95% "
    "interval. NT: non-temporal stores, past the caches. Moved: with the lines that ordinary "
    "stores read first (write-allocate), unless hardware avoids it."
)
GPU_NOTE = (
    "GB/s of the bytes read and written by count, by the whole GPU in its own memory; the "
    "90th percentile of speed and its 95% interval. A GPU writes without reading first: what "
    "memory moves is what is counted."
)

MOST_LINES = 7

Results = Sequence[MixResult]
Columns = list[tuple[Column, Callable[[MixResult], Cell]]]
"""Columns of a table, each with its cell of a row."""

PLACE: Columns = [
    (Column(title="regime", narrow=False), lambda one: one.regime or None),
    (Column(title="CPUs", narrow=False), lambda one: one.actual.cpus or None),
    (Column(title="pages", narrow=False), lambda one: one.actual.pages or None),
]


def analyse(figures: Figures) -> Section:
    """Table, charts and verdicts of the mixes of a run."""
    found = mix_results(figures)
    on_gpu = [result for result in found if result.gpu]
    results = on_gpu or found
    points = figures.run.points_of("mix")
    known = figures.run.start.system.theoretical_bandwidth_bytes_per_s
    peak = gpu_peak_gb_per_s(points) if on_gpu else known and known * 1e-9
    charts = _charts(results, peak or None)
    if on_gpu:
        title = f"Bandwidth over the share of reads, {gpu_name(points)}"
        note = "By count of the bytes read and written."
        charts = [msgspec.structs.replace(chart, title=title, note=note) for chart in charts]
    return section_of(
        "mix",
        title=f"{title_of('mix')} in the GPU's memory" if on_gpu else None,
        verdicts=[*mix_verdicts(results), *(peak_verdict(on_gpu, peak) if on_gpu else [])],
        tables=[_table(results, peak)] if results else [],
        charts=charts,
    )


def _table(results: Results, peak_gb_per_s: float | None) -> Table:
    gpu = results[0].gpu
    columns: Columns = [
        (Column(title="mix"), lambda one: one.mix),
        *([] if gpu else _team_columns(results)),
        (Column(title="bandwidth", unit="GB/s"), lambda one: one.bandwidth),
        _share_of_peak(peak_gb_per_s)
        if gpu
        else (Column(title="moved", unit="GB/s"), lambda one: one.moved),
        (Column(title="median", unit="GB/s", narrow=bool(gpu)), lambda one: one.median),
        (Column(title="reads requested", unit="%", narrow=False), lambda one: one.read_share),
        (
            Column(title="reads issued", unit="%", narrow=False),
            lambda one: one.actual.read_share_issued,
        ),
        *([] if gpu else PLACE),
        (Column(title="samples", narrow=False), lambda one: one.samples),
    ]
    return Table(
        name="mix",
        title="Bandwidth by mix" + (f" of {gpu}" if gpu else ""),
        columns=[column for column, _ in columns],
        rows=[[cell(result) for _, cell in columns] for result in results],
        note=GPU_NOTE if gpu else NOTE,
    )


def _team_columns(results: Results) -> Columns:
    regimes = any(result.regime for result in results)
    orders = len({result.order for result in results}) > 1
    return [
        (
            Column(title="stores"),
            lambda one: {"non-temporal": "NT"}.get(one.store, one.store) or None,
        ),
        (Column(title="order", narrow=orders), lambda one: one.order),
        (Column(title="by"), lambda one: one.threads),
        (Column(title="threads", narrow=regimes), lambda one: regime_kind(one.regime) or None),
    ]


def _share_of_peak(peak_gb_per_s: float | None) -> tuple[Column, Callable[[MixResult], Cell]]:
    share = 1 / peak_gb_per_s if peak_gb_per_s else None
    column = Column(title="of peak", unit="%", narrow=share is not None)
    return column, lambda one: scaled(one.bandwidth, share) if share else None


def _charts(results: Results, peak_gb_per_s: float | None) -> list[Chart]:
    """One picture for each order: lines for stores, teams and regimes, largest teams first."""
    found = []
    for order in dict.fromkeys(one.order for one in results):
        lines = _lines([one for one in results if one.order == order])
        if lines:
            left_out = len(lines) - MOST_LINES
            found.append(
                _chart(order, dict(list(lines.items())[:MOST_LINES]), peak_gb_per_s, left_out)
            )
    return found


def _lines(results: Results) -> dict[str, list[MixResult]]:
    """Results by name of line, by read share; all reads end the line of either kind of stores."""
    lines: dict[str, list[MixResult]] = {}
    for team in sorted({one.team for one in results}, key=lambda team: (-team[1], team[2])):
        members = [one for one in results if one.team == team]
        for store in ("",) if members[0].gpu else STORES:
            line = [one for one in members if one.store in {"", store}]
            if len({one.read_share for one in line}) > 1:
                name = ", ".join(filter(None, (line[0].by, store, regime_kind(team[2]))))
                lines[name] = sorted(line, key=lambda one: one.read_share)
    return lines


def _chart(
    order: str, lines: dict[str, list[MixResult]], peak_gb_per_s: float | None, left_out: int
) -> Chart:
    note = "By count of the lines read and written, without write-allocate."
    if left_out > 0:
        note += f" {left_out} lines of smaller teams are in the table only."
    return Chart(
        name="mix" if order == "sequential" else f"mix-{order}",
        title="Bandwidth over the share of reads" + ("" if order == "sequential" else f", {order}"),
        kind="line",
        x=Axis(title="Reads among the accesses", unit="%", from_zero=True),
        y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        series=[
            series(name, [one.read_share for one in line], [one.bandwidth for one in line])
            for name, line in lines.items()
        ],
        rules=[Rule(label="theoretical peak", axis="y", value=peak_gb_per_s)]
        if peak_gb_per_s
        else [],
        note=note,
    )
