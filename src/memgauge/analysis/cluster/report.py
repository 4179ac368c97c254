"""A cluster as a report: what every renderer takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from memgauge.analysis.cluster.charts import MOST_ROWS, charts
from memgauge.analysis.cluster.groups import Combined, Group
from memgauge.analysis.cluster.keys import key_figures, label_of
from memgauge.analysis.cluster.opening import opening
from memgauge.analysis.cluster.outliers import Key, Spread
from memgauge.analysis.cluster.verdicts import outlier_text, reasons_text, some, verdicts
from memgauge.analysis.section import Cell, Column, Headline, Report, Section, Table, digits_for
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.storage.cluster import ClusterNode, FigureOfNode, NodeFigures
from memgauge.model.units import format_count

TITLE = "Memory survey of a cluster"
_TERMINAL_KEYS = 3
"""Key figures of a node that an 80-column terminal has room for."""


def report_of(combined: Combined) -> Report:
    """Sections: the nodes, the unlike ones, then each kind of node."""
    manifest = combined.cluster.manifest
    done = [node for node in manifest.nodes if node.state == "done"]
    return Report(
        run_id=manifest.cluster_id,
        started_at=manifest.started_at,
        title=TITLE,
        machine=_kinds_line(combined),
        complete=len(done) == len(manifest.nodes) and manifest.ended and not manifest.unheard,
        status=status_line(combined),
        verdicts=verdicts(combined),
        sections=[
            _nodes_section(combined),
            *_unlike_section(combined),
            *(
                _group_section(at, group)
                for at, group in enumerate(combined.groups)
                if len(group.figures) > 1
            ),
        ],
        system=_facts_table(combined),
        headlines=_headlines(combined),
    )


def status_line(combined: Combined) -> str:
    """How many nodes are in it, how they were measured, and whether the job came to its end."""
    cluster, manifest = combined.cluster, combined.cluster.manifest
    states = Counter(node.state for node in manifest.nodes)
    parts = [f"{len(cluster.figures)} of {format_count(len(manifest.nodes), 'node')} measured"]
    parts += [f"{count} {state}" for state, count in states.items() if state != "done"]
    at_once = manifest.nodes_at_once
    how = "at once" if at_once is None else "in turn" if at_once == 1 else f"{at_once} at once"
    parts.append(f"{how}, {manifest.budget_s:g} s each")
    if not manifest.ended:
        parts.append("the job was killed before its end, or is still running")
    return "; ".join(parts)


def _kinds_line(combined: Combined) -> str:
    parts = [
        f"{format_count(len(group.figures), 'node')} of {group.kind}" for group in combined.groups
    ]
    if not parts:
        return "no node was measured"
    return "; ".join(parts[:4]) + (f"; {len(parts) - 4} more kinds" if len(parts) > 4 else "")


def _headlines(combined: Combined) -> list[Headline]:
    """Of the largest group: its middle, and how alike its nodes are."""
    if not combined.groups:
        return []
    group = combined.groups[0]
    keys = key_figures(group.judged)
    nodes = format_count(len(group.figures), "node")
    found = []
    for unit, what in (("GB/s", "Bandwidth"), ("ns", "Latency")):
        spreads = [s for key in keys if (s := group.judged.spreads[key]).figure.unit == unit]
        if spreads:
            one = spreads[0] if unit == "GB/s" else spreads[-1]
            label = label_of((one.figure.name, one.figure.regime))
            detail = f"{label}, median of {nodes}"
            digits = digits_for([one.median])
            found.append(
                Headline(
                    label=f"{what} of a node",
                    value=one.median,
                    unit=unit,
                    digits=digits,
                    detail=detail,
                )
            )
    if combined.groups[0].judged.tests:
        unlike = sum(one.is_worse for one in combined.unlike)
        found.append(Headline(label="Nodes slower than their kind", value=unlike, detail=None))
    return found


def _nodes_section(combined: Combined) -> Section:
    return Section(
        name="nodes",
        title="Nodes",
        question="What does each node reach, and is it as fast as the others of its kind?",
        tables=_node_tables(combined),
        charts=charts(combined),
        opening=opening(combined),
    )


def _node_tables(combined: Combined) -> list[Table]:
    """A table of all nodes of one kind, and one of those that have no figures."""
    few = len(combined.cluster.manifest.nodes) <= MOST_ROWS
    nodes = combined.cluster.nodes
    tables = [
        _node_table(f"nodes-{at + 1}", group, nodes, few=few)
        for at, group in enumerate(combined.groups)
    ]
    if combined.cluster.missing:
        rows: list[list[Cell]] = [
            [name, nodes[name].state if name in nodes else "unheard", why]
            for name, why in combined.cluster.missing.items()
        ]
        columns = [Column(title="node"), Column(title="state"), Column(title="why")]
        tables.append(
            Table(name="missing", title="Nodes without figures", columns=columns, rows=rows)
        )
    return tables


def _node_table(name: str, group: Group, nodes: Mapping[str, ClusterNode], *, few: bool) -> Table:
    keys = key_figures(group.judged)
    narrow = {*keys[: _TERMINAL_KEYS - 1], *keys[-1:]}  # the last is the latency of memory
    columns = [
        Column(title="node", narrow=few),
        *(_key_column(group, key, few and key in narrow) for key in keys),
        *(Column(title=title, narrow=False) for title in ("ended", "CPUs", "ranks", "run")),
    ]
    return Table(
        name=name,
        title=f"{format_count(len(group.figures), 'node')} of {group.kind}",
        columns=columns,
        rows=[_node_row(nodes[one], figures, keys) for one, figures in group.figures.items()],
        note="The run of each node is in nodes/NAME and can be rendered like any other run.",
    )


def _key_column(group: Group, key: Key, narrow: bool) -> Column:
    spread = group.judged.spreads[key]
    return Column(
        title=label_of(key),
        unit=spread.figure.unit,
        digits=digits_for([spread.median]),
        narrow=narrow,
    )


def _node_row(node: ClusterNode, figures: NodeFigures, keys: Sequence[Key]) -> list[Cell]:
    known = {(one.name, one.regime): one for one in figures.figures}
    cells = [cell_of(known.get(key)) for key in keys]
    ended = figures.ended or "killed"
    state = ended if node.state == "done" else f"{node.state}, {ended}"
    where = node.directory or f"nodes/{node.name}"
    return [node.name, *cells, state, node.cpus, len(node.ranks), where]


def cell_of(one: FigureOfNode | None) -> Cell:
    """A figure with its interval, where that is known."""
    if one is None or one.low is None or one.high is None:
        return None if one is None else one.value
    return Estimate(one.value, one.low, one.high)


def _unlike_section(combined: Combined) -> list[Section]:
    if not combined.unlike:
        return []
    tables = [_unlike_table(combined), _unlike_figures(combined)]
    question = (
        "Which nodes differ from the others by more than chance, and what else is different "
        "about them?"
    )
    return [Section(name="unlike", title="Unlike nodes", question=question, tables=tables)]


def _unlike_table(combined: Combined) -> Table:
    """A row for each node, of its most telling figure."""
    rows: list[list[Cell]] = [
        [
            node.node,
            label_of((first.figure.name, first.figure.regime)),
            first.departure,
            first.score,
            "slower" if node.is_worse else "faster",
            len(node.outliers),
            reasons_text(node),
        ]
        for node in combined.unlike
        for first in node.outliers[:1]
    ]
    columns = [
        Column(title="node"),
        Column(title="figure"),
        Column(title="from the median", unit="%"),
        Column(title="robust z"),
        Column(title="verdict"),
        Column(title="figures", narrow=False),
        Column(title="what else is unlike", narrow=False),
    ]
    return Table(
        name="unlike",
        title="Nodes unlike the others",
        columns=columns,
        rows=rows,
        note="The most significant figure of each node. Robust z: distance from the median over "
        "1.4826 "
        "times the median absolute deviation, over the figure's own standard error, or over 0.5% "
        "of the median, whichever is largest. All figures of all nodes are tested together: 5% of "
        "the nodes listed here are expected to be false alarms.",
    )


def _unlike_figures(combined: Combined) -> Table:
    """Every figure of theirs that is unlike."""
    titles = ("node", "figure", "value", "unit", "what it is", "verdict", "in words")
    rows: list[list[Cell]] = [
        [
            one.node,
            label_of((one.figure.name, one.figure.regime)),
            one.figure.value,
            one.figure.unit,
            one.figure.statistic,
            "slower" if one.is_worse else "faster",
            outlier_text(one),
        ]
        for node in combined.unlike
        for one in node.outliers
    ]
    return Table(
        name="unlike-figures",
        title="All figures of these nodes that differ",
        columns=[Column(title=title, narrow=False) for title in titles],
        rows=rows,
    )


def _group_section(at: int, group: Group) -> Section:
    keys = key_figures(group.judged)
    spreads = group.judged.spreads
    tables = []
    for unit in dict.fromkeys(one.figure.unit for one in spreads.values()):
        mine = {key: one for key, one in spreads.items() if one.figure.unit == unit}
        shown = {key: mine[key] for key in keys if key in mine}
        if shown:
            tables.append(_spread_table(f"spread-{at + 1}-{unit}", unit, shown, narrow=True))
        rest = {key: one for key, one in mine.items() if key not in shown}
        if rest:
            tables.append(_spread_table(f"spread-all-{at + 1}-{unit}", unit, rest, narrow=False))
    return Section(
        name=f"kind-{at + 1}",
        title=f"Spread over {format_count(len(group.figures), 'node')}",
        question=f"How similar are the nodes of {group.kind}?",
        tables=tables,
    )


def _spread_table(name: str, unit: str, spreads: dict[Key, Spread], *, narrow: bool) -> Table:
    digits = digits_for([one.median for one in spreads.values()])
    title = "Bandwidth" if unit == "GB/s" else "Latency" if unit == "ns" else unit
    return Table(
        name=name.replace("/", "-"),
        title=f"{title} over nodes" + ("" if narrow else ", further figures"),
        columns=[
            Column(title="figure", narrow=narrow),
            Column(title="median", unit=unit, digits=digits, narrow=narrow),
            Column(title="spread ±", unit="%", narrow=narrow),
            Column(title="least", unit=unit, digits=digits, narrow=narrow),
            Column(title="most", unit=unit, digits=digits, narrow=narrow),
            Column(title="nodes", narrow=False),
            Column(title="tested", narrow=False),
            Column(title="node of the least", narrow=False),
            Column(title="node of the most", narrow=False),
            Column(title="what it is", narrow=False),
        ],
        rows=[
            [
                label_of(key),
                one.median,
                one.share if one.nodes > 2 else None,
                one.lowest[1],
                one.highest[1],
                one.nodes,
                one.tested,
                one.lowest[0],
                one.highest[0],
                one.figure.statistic,
            ]
            for key, one in spreads.items()
        ],
        note="Spread: 1.4826 times the median absolute deviation, which is robust against "
        "outliers.",
    )


def _facts_table(combined: Combined) -> Table:
    """What most nodes of each kind have in common, and who differs."""
    rows: list[list[Cell]] = []
    several = len(combined.groups) > 1
    for group in combined.groups:
        for name, (found, count) in group.usual.facts.items():
            others = [node for node, one in group.figures.items() if one.facts.get(name) != found]
            kind = [group.kind] if several else []
            rows.append([*kind, name, found, count, some(others) or None])
        clocks = [one.clock_ghz for one in group.figures.values() if one.clock_ghz]
        if clocks:
            kind = [group.kind] if several else []
            clock = f"{median(clocks):.2f} GHz (median)"
            rows.append([*kind, "core clock", clock, len(clocks), None])
    columns = [
        *([Column(title="kind")] if several else []),
        Column(title="what"),
        Column(title="most nodes"),
        Column(title="nodes"),
        Column(title="not so with"),
    ]
    return Table(name="system", title="Machines", columns=columns, rows=rows)
