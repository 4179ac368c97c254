"""What the `numa` points show: matrices of latency and bandwidth, and what remote memory costs."""

from __future__ import annotations

from collections.abc import Sequence

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.numa.figures import (
    Matrix,
    Pair,
    claim_of,
    matrices,
    over_local,
    sum_of_local,
    total_at_once,
)
from memgauge.analysis.numa.verdicts import verdicts
from memgauge.analysis.section import (
    Axis,
    Cell,
    Chart,
    Column,
    Section,
    Series,
    Table,
    Verdict,
    section_of,
)
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.ratios import ratio


def analyse(figures: Figures) -> Section:
    """Tables, heat maps and what they show."""
    found = matrices(figures)
    return section_of(
        "numa",
        verdicts=[*verdicts(figures, found)] if found else [_nothing()],
        tables=[_pairs(figures, found), *_totals(figures, found)] if found else [],
        charts=[_heat_map(matrix) for matrix in found],
    )


def _nothing() -> Verdict:
    return Verdict(level="warning", text="No pair of nodes was measured.")


def _name(matrix: Matrix) -> str:
    return f"{matrix.what}, all at once" if matrix.at_once else matrix.what


def _unit(matrix: Matrix) -> str:
    return "ns" if matrix.is_latency else "GB/s"


def _pairs(figures: Figures, found: Sequence[Matrix]) -> Table:
    """A row for each pair."""
    system = figures.run.start.system
    pairs = sorted({pair for matrix in found for pair in matrix.results})
    ratios = {_name(m): over_local(figures, m) for m in found if not m.at_once}
    claims = {pair: claim_of(pair, system) for pair in pairs}
    columns = [
        Column(title="CPU node"),
        Column(title="memory node"),
        *(Column(title=_name(matrix), unit=_unit(matrix)) for matrix in found),
        *(Column(title=f"{name} over local", digits=2, narrow=False) for name in ratios),
        Column(title="SLIT, claimed", narrow=False),
        Column(title="HMAT latency, claimed", unit="ns", narrow=False),
        Column(title="HMAT read, claimed", unit="GB/s", narrow=False),
        Column(title="HMAT write, claimed", unit="GB/s", narrow=False),
        Column(title="CPUs", narrow=False),
        Column(title="pages", narrow=False),
        Column(title="samples", narrow=False),
    ]
    rows: list[list[Cell]] = [
        [
            *pair,
            *(_figure(matrix, pair) for matrix in found),
            *(of_pairs.get(pair) for of_pairs in ratios.values()),
            claims[pair].distance,
            claims[pair].latency_ns,
            claims[pair].read_gb_per_s,
            claims[pair].write_gb_per_s,
            *_conditions(found, pair),
        ]
        for pair in pairs
    ]
    return Table(
        name="numa",
        title="Latency and bandwidth of each pair",
        columns=columns,
        rows=rows,
        note="The 90th percentile of speed and its 95% interval; over local: medians over the "
        "rounds in which both were measured. Claimed: by the firmware (ACPI SLIT and HMAT), which "
        "nobody has measured; Linux shows HMAT from the nearest CPU nodes only.",
    )


def _figure(matrix: Matrix, pair: Pair) -> Estimate | None:
    result = matrix.results.get(pair)
    return None if result is None else result.figure


def _conditions(found: Sequence[Matrix], pair: Pair) -> list[Cell]:
    """Of the bandwidth alone, where there is one."""
    there = [m for m in found if pair in m.results and not m.at_once]
    results = [m.results[pair] for m in sorted(there, key=lambda m: m.is_latency)]
    if not results:
        return [None, None, None]
    actual = results[0].actual
    samples = min(one.summary.samples for one in results)
    return [actual.cpus or None, actual.pages or None, samples]


def _totals(figures: Figures, found: Sequence[Matrix]) -> list[Table]:
    """Of each kernel that was also run on all pairs at once."""
    rows: list[list[Cell]] = []
    for at_once in (matrix for matrix in found if matrix.at_once):
        total, local = total_at_once(figures, at_once), sum_of_local(found, at_once.what)
        rows.append([at_once.what, total, local, ratio(total, local)])
    if not rows:
        return []
    return [
        Table(
            name="numa-totals",
            title="All pairs at once",
            columns=[
                Column(title="kernel"),
                Column(title="all at once", unit="GB/s"),
                Column(title="own memory, one node at a time, added", unit="GB/s"),
                Column(title="the one over the other", digits=2),
            ],
            rows=rows,
            note="All at once: summed in each pass over the time in which all threads were at "
            "work, each CPU node's split over all memory nodes equally.",
        )
    ]


def _heat_map(matrix: Matrix) -> Chart:
    """Rows are CPU nodes, columns memory nodes."""
    what = "Latency" if matrix.is_latency else f"Bandwidth, {matrix.what}"
    how = ", all pairs at once" if matrix.at_once else ", each pair alone"
    slug = "-".join(["numa", matrix.what, *(["all"] if matrix.at_once else [])])
    return Chart(
        name=slug,
        title=what + ("" if matrix.is_latency else how),
        kind="heatmap",
        x=Axis(title="Memory node", unit=""),
        y=Axis(title="Latency" if matrix.is_latency else "Bandwidth", unit=_unit(matrix)),
        rows=Axis(title="CPU node", unit=""),
        series=[_row(matrix, node) for node in matrix.rows],
        note="The 90th percentile of speed.",
    )


def _row(matrix: Matrix, node: int) -> Series:
    found = [_figure(matrix, (node, column)) for column in matrix.columns]
    return Series(
        name=f"node {node}",
        x=[*map(str, matrix.columns)],
        y=[None if figure is None else figure.value for figure in found],
    )
