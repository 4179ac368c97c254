"""Tables: latency by what two CPUs share, each pair or each block of pairs, and contention."""

from __future__ import annotations

from collections.abc import Sequence

from memgauge.analysis.core_to_core.figures import (
    Matrix,
    Pair,
    PairResult,
    TeamResult,
    blocks_of,
    relations_of,
    shown_groups,
)
from memgauge.analysis.core_to_core.moves import Watched
from memgauge.analysis.section import Cell, Column, Table
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.points.core_to_core import STORE, SWAP, CoreToCoreActual

MOST_ROWS = 132
"""Of the table of pairs: all directions of a dozen CPUs. All are in exports and `--json`."""


def relations_table(matrix: Matrix) -> Table:
    """What two CPUs share by the topology, and the latency of such pairs."""
    rows: list[list[Cell]] = []
    for one in relations_of(matrix):
        store, swap = one.ns.get(STORE), one.ns.get(SWAP)
        rows.append(
            [
                f"same {one.name}",
                one.measured,
                one.pairs,
                *(store or (None, None, None)),
                None if swap is None else swap[0],
                _basis(one.measured, one.pairs),
            ]
        )
    return Table(
        name="core-to-core",
        title="Latency by what two CPUs share",
        columns=[
            Column(title="pairs of CPUs"),
            Column(title="measured"),
            Column(title="of pairs", narrow=False),
            Column(title="store", unit="ns"),
            Column(title="least", unit="ns"),
            Column(title="most", unit="ns"),
            Column(title="compare-and-swap", unit="ns"),
            Column(title="basis", narrow=False),
        ],
        rows=rows,
        note="One way, half a round trip: the median over pairs of their 90th percentile of speed. "
        "What CPUs share is what the system claims; nobody has measured it.",
    )


def _basis(measured: int, pairs: int) -> str:
    if not measured:
        return "not measured"
    if measured == pairs:
        return "all pairs measured"
    return f"inferred for {pairs - measured} pairs from {measured}"


def pairs_table(matrix: Matrix, watched: Sequence[Watched]) -> list[Table]:
    """A row for each pair and direction, unless there are too many of them."""
    stores = matrix.results.get(STORE, {})
    if len(stores) > MOST_ROWS:
        return _blocks_table(matrix)
    swaps = matrix.results.get(SWAP, {})
    changes = {one.pair: one for one in watched}
    rows = [
        _pair_row(matrix, pair, one, swaps.get(pair), changes.get(pair))
        for pair, one in sorted(stores.items())
    ]
    return [
        Table(
            name="core-to-core-pairs",
            title="Latency of each pair",
            columns=[
                Column(title="CPU"),
                Column(title="CPU"),
                Column(title="store", unit="ns"),
                Column(title="compare-and-swap", unit="ns"),
                Column(title="share", narrow=False),
                Column(title="line on node", narrow=False),
                Column(title="changes of distance", narrow=False),
                Column(title="nearer, of samples", unit="%", narrow=False),
                Column(title="samples", narrow=False),
            ],
            rows=rows,
            note="One way: the 90th percentile of speed and its 95% interval, in the regime in "
            "which the pair was seen most. The line lies on the node of the first CPU. Share: what "
            "both have in common by the system's topology.",
        )
    ]


def _pair_row(
    matrix: Matrix,
    pair: Pair,
    store: PairResult,
    swap: PairResult | None,
    watched: Watched | None,
) -> list[Cell]:
    return [
        *pair,
        store.figure,
        None if swap is None else swap.figure,
        matrix.claims[matrix.level_of(pair)].name,
        CoreToCoreActual.of(store.point.actual).node,
        None if watched is None else watched.changes,
        None if watched is None or watched.far_ns is None else watched.near_share,
        store.summary.samples,
    ]


def _blocks_table(matrix: Matrix) -> list[Table]:
    """A row for each two groups, of a machine with more CPUs than the picture has rows."""
    groups = shown_groups(matrix)
    if groups.names == ("CPU",):
        return []
    members = [format_cpu_list(sorted(group)) for group in groups.groups]
    blocks = sorted(blocks_of(matrix, STORE, groups).values(), key=lambda one: -one.median_ns)
    return [
        Table(
            name="core-to-core-blocks",
            title=f"Latency between groups of CPUs of one {groups.name}",
            columns=[
                Column(title="CPUs"),
                Column(title="and CPUs"),
                Column(title="store", unit="ns"),
                Column(title="least", unit="ns", narrow=False),
                Column(title="most", unit="ns", narrow=False),
                Column(title="measured pairs"),
                Column(title="basis", narrow=False),
            ],
            rows=[
                [
                    members[one.row],
                    members[one.column],
                    one.median_ns,
                    one.low_ns,
                    one.high_ns,
                    one.measured,
                    _basis(one.measured, one.pairs),
                ]
                for one in blocks[:MOST_ROWS]
            ],
            note="The median over the measured pairs; slowest first.",
        )
    ]


def contended_table(teams: Sequence[TeamResult]) -> list[Table]:
    """A row for each team and operation."""
    if not teams:
        return []
    return [
        Table(
            name="core-to-core-contended",
            title="One line that all want at once",
            columns=[
                Column(title="operation"),
                Column(title="threads"),
                Column(title="all together", unit="million/s"),
                Column(title="for each operation", unit="ns"),
                Column(title="CPUs", narrow=False),
                Column(title="samples", narrow=False),
            ],
            rows=[
                [
                    team.operation,
                    team.threads,
                    team.millions_per_s,
                    team.summary.sustained,
                    team.cpus or None,
                    team.summary.samples,
                ]
                for team in teams
            ],
            note="The 90th percentile of speed and its 95% interval. Of compare-and-swap the "
            "successful ones count: each thread reads, and swaps until it succeeds.",
        )
    ]
