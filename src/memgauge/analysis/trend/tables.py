"""Tables of a trend: the changes, the machines, and the machines that stand out."""

from __future__ import annotations

from memgauge.analysis.cluster.keys import label_of
from memgauge.analysis.section import Cell, Column, Table
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.trend.changes import PACE
from memgauge.analysis.trend.fleet import StandingChange, Trend
from memgauge.analysis.trend.history import History
from memgauge.analysis.trend.names import figure_label
from memgauge.model.units import format_count


def changes_table(trend: Trend) -> Table:
    """A row for each change that stands, the latest first."""
    several = len(trend.histories) > 1
    return Table(
        name="changes",
        title="What changed",
        columns=[
            *([Column(title="machine")] if several else []),
            Column(title="figure"),
            Column(title="after"),
            Column(title="until"),
            Column(title="speed", unit="%"),
            Column(title="with the pace", unit="%", narrow=False),
            Column(title="runs before", narrow=False),
            Column(title="runs after", narrow=not several),
            Column(title="what else changed then", narrow=False),
        ],
        rows=[_change_row(one, several=several) for one in trend.changes],
        note="Speed: how much faster (+) or slower (-) since the change, apart from the pace, "
        "which is what all figures of a run have in common; less latency is faster. The change "
        "happened between the two times with 95% confidence. All figures of all machines are "
        "tested together: of the machines listed here 5% are expected to be false alarms.",
    )


def _change_row(one: StandingChange, *, several: bool) -> list[Cell]:
    change = one.change
    same_day = one.after.date() == one.until.date()
    form = "%Y-%m-%d %H:%M" if same_day else "%Y-%m-%d"
    return [
        *([change.machine] if several else []),
        figure_label(change.key),
        f"{one.after:{form}}",
        f"{one.until:{form}}",
        share_of(change.apart),
        None if change.key == PACE else share_of(change.total),
        change.runs_before,
        change.runs_after,
        "; ".join(one.beside) or None,
    ]


def share_of(ratio: Estimate) -> Estimate:
    """A ratio as the share above or below 1."""
    return Estimate(ratio.value - 1, ratio.low - 1, ratio.high - 1)


def machines_table(trend: Trend) -> Table:
    """A row for each machine and each description that it had."""
    return Table(
        name="system",
        title="Machines",
        columns=[
            Column(title="machine"),
            Column(title="runs"),
            Column(title="first"),
            Column(title="last"),
            Column(title="series tested", narrow=False),
            Column(title="description"),
            Column(title="memory modules", narrow=False),
        ],
        rows=[row for one in trend.histories for row in _machine_rows(one, trend)],
    )


def _machine_rows(history: History, trend: Trend) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for era, tested in zip(history.eras, trend.tested[history.machine], strict=True):
        runs = history.runs[era.begin : era.end]
        modules = [one.modules for one in runs if one.modules is not None]
        rows.append(
            [
                history.machine,
                len(era),
                runs[0].day,
                runs[-1].day,
                tested.tests or None,
                runs[-1].kind,
                modules[-1] if modules else None,
            ]
        )
    return rows


def outliers_table(trend: Trend) -> Table:
    """A row for each figure of a machine that stands out."""
    return Table(
        name="outliers",
        title="Machines that stand out now",
        columns=[
            Column(title="machine"),
            Column(title="figure"),
            Column(title="from the median", unit="%"),
            Column(title="robust z"),
            Column(title="verdict"),
            Column(title="value", narrow=False),
            Column(title="unit", narrow=False),
        ],
        rows=[
            [
                one.node,
                label_of((one.figure.name, one.figure.regime)),
                one.departure,
                one.score,
                "slower" if one.is_worse else "faster",
                one.figure.value,
                one.figure.unit,
            ]
            for one in trend.outliers
        ],
        note="Each figure at the level that it has had since its last change, against the median "
        "of the machines of its kind; see memgauge cluster for the test.",
    )


def kinds_line(trend: Trend) -> str:
    """The machines by what they are now."""
    kinds = [kind.kind for kind in trend.kinds]
    more = len(kinds) - 3
    return "; ".join(kinds[:3]) + (f"; {format_count(more, 'more kind')}" if more > 0 else "")
