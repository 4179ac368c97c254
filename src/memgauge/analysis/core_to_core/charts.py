"""Pictures: the latency from each CPU to each, and what a contended line allows."""

from __future__ import annotations

from collections.abc import Sequence

from memgauge.analysis.core_to_core.figures import (
    Matrix,
    PairResult,
    TeamResult,
    blocks_of,
    shown_groups,
)
from memgauge.analysis.figures.run import series
from memgauge.analysis.section import Axis, Chart, Series
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.topology.claimed import Claimed


def heat_map(matrix: Matrix, operation: str) -> Chart:
    """A row and a column for each CPU, or for each group of many CPUs."""
    groups = shown_groups(matrix)
    is_by_cpu = groups.names == ("CPU",)
    names = [_name(group) for group in groups.groups]
    rows = _by_cpu(matrix, operation, groups) if is_by_cpu else _by_group(matrix, operation, groups)
    what = "CPU" if is_by_cpu else f"CPUs of one {groups.name}"
    sampled = (
        "" if matrix.is_whole else f", {len(matrix.measured)} of {matrix.pairs_possible} pairs"
    )
    return Chart(
        name=f"core-to-core-{operation}",
        title=f"Latency of a line by {operation}{sampled}",
        kind="heatmap",
        x=Axis(title="CPU that answers" if is_by_cpu else what, unit=""),
        y=Axis(title="One way", unit="ns"),
        rows=Axis(title="CPU on whose node the line lies" if is_by_cpu else what, unit=""),
        series=[
            Series(name=name, x=[*names], y=row) for name, row in zip(names, rows, strict=True)
        ],
        note=_note(matrix, is_by_cpu=is_by_cpu),
    )


def _note(matrix: Matrix, *, is_by_cpu: bool) -> str:
    order = (
        "In the order of the topology: CPUs of a core, a cache, a node and a package side by side."
    )
    if is_by_cpu:
        missing = "" if matrix.is_whole else " Pairs without a figure were not measured."
        return (
            "The 90th percentile of speed. Pairs on one node are measured in one direction, and "
            f"shown in both places; no line passes from a CPU to itself. {order}{missing}"
        )
    return (
        "The median over the pairs that were measured, each by its 90th percentile of speed; that "
        f"the other pairs of a cell are alike is inferred. {order}"
    )


def _name(group: Sequence[int]) -> str:
    return format_cpu_list(sorted(group))


def _by_cpu(matrix: Matrix, operation: str, groups: Claimed) -> list[list[float | None]]:
    results = matrix.results.get(operation, {})
    cpus = [group[0] for group in groups.groups]
    return [[_ns(results, row, column) for column in cpus] for row in cpus]


def _ns(results: dict[tuple[int, int], PairResult], row: int, column: int) -> float | None:
    result = results.get((row, column)) or results.get((column, row))
    return None if result is None else result.ns


def _by_group(matrix: Matrix, operation: str, groups: Claimed) -> list[list[float | None]]:
    blocks = blocks_of(matrix, operation, groups)
    numbers = range(len(groups.groups))
    return [
        [
            block.median_ns
            if (block := blocks.get((min(row, column), max(row, column)))) is not None
            else None
            for column in numbers
        ]
        for row in numbers
    ]


def contended_chart(teams: Sequence[TeamResult]) -> list[Chart]:
    """Operations a second of all threads together, over threads; of one team size no picture."""
    operations = list(dict.fromkeys(team.operation for team in teams))
    if len({team.threads for team in teams}) < 2:
        return []
    return [
        Chart(
            name="core-to-core-contended",
            title="Throughput of one contended line",
            kind="line",
            x=Axis(title="Threads that want the line", unit="", scale="log2"),
            y=Axis(title="Operations of all threads together", unit="million/s", scale="log10"),
            series=[
                series(
                    operation,
                    [team.threads for team in teams if team.operation == operation],
                    [team.millions_per_s for team in teams if team.operation == operation],
                )
                for operation in operations
            ],
            note="90th percentile of speed and its 95% interval. Of compare-and-swap the "
            "successful ones count.",
        )
    ]
