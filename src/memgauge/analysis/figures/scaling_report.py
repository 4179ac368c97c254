"""Thread scaling in words, rows and marks, for whatever sweeps over teams."""

from collections.abc import Sequence

from memgauge.analysis.figures.scaling import Drop, Scaling, Team
from memgauge.analysis.section import Axis, Band, Cell, Column, Mark, Table, Verdict
from memgauge.analysis.statistics.bends import LEAST_POINTS, Bend
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import bounds
from memgauge.model.cpulist import parse_cpu_list
from memgauge.model.system import System
from memgauge.model.units import format_count

COLUMNS = [
    Column(title="tapers at"),
    Column(title="saturates at"),
    Column(title="near best"),
    Column(title="best", unit="GB/s"),
    Column(title="siblings", unit="%", narrow=False),
    Column(title="threads of best", narrow=False),
]
"""Column titles after those that identify rows."""

NOTE = (
    "In threads. Bends: of the best-fitting piecewise linear curve, over teams of whole cores; "
    "gradual where the gain of a thread falls throughout rather than at places that stand out. "
    f"Near best: the smallest team within 5% of the best. Siblings: bandwidth of the smallest "
    f"team that shares cores, relative to one thread per core. Bends need at least {LEAST_POINTS} "
    "team sizes."
)


def cores_used(system: System, cpus: str) -> int | None:
    """Physical cores behind a list of CPUs; None where the list or the topology does not tell."""
    core_of = {cpu.cpu: cpu.core for cpu in system.cpus}
    try:
        numbers = parse_cpu_list(cpus)
    except ValueError:
        return None
    if not numbers or any(number not in core_of for number in numbers):
        return None
    return len({core_of[number] for number in numbers})


def row(scaling: Scaling) -> list[Cell]:
    """Cells under `COLUMNS`."""
    sibling = scaling.sibling
    return [
        _place(scaling.taper),
        _place(scaling.saturation),
        _between(scaling.enough, scaling.enough_low, scaling.enough_high),
        scaling.best.bandwidth,
        None if sibling is None else sibling.ratio,
        scaling.best.threads,
    ]


def table(name: str, title: str, first: Sequence[Column], rows: list[list[Cell]]) -> Table:
    """Rows of `row` behind the cells that tell them apart.

    Args:
        name: Identifier of the table, such as `stream-threads`.
        title: Heading above the table.
        first: Columns that identify a row; they stand before `COLUMNS`.
        rows: Cells of each row: those under `first`, then those that `row` makes.
    """
    return Table(name=name, title=title, columns=[*first, *COLUMNS], rows=rows, note=NOTE)


def verdicts(what: str, scaling: Scaling) -> list[Verdict]:
    """Where it bends, which team is enough, and what siblings cost; nothing for one team size.

    `what` says of which bandwidth, such as `triad, tuned`.
    """
    if scaling.teams < 2:
        return []
    text = f"{_bends(scaling)} ({what}). {_enough(scaling)}"
    found = [Verdict(level="note", text=text)]
    if scaling.sibling is not None:
        found.append(_sibling(scaling.sibling, what))
    drop = scaling.drop
    if drop is not None and (scaling.sibling is None or drop.threads != scaling.sibling.threads):
        text = (
            f"Bandwidth drops by {1 - drop.ratio.value:.0%} from {drop.before} to {drop.threads} "
            f"threads ({what})."
        )
        remedy = f"use {drop.before} threads, or check where the others are pinned"
        found.append(Verdict(level="warning", text=text, remedy=remedy))
    return found


def threads_axis(sizes: Sequence[int]) -> Axis:
    """Linear where the sizes are dense, so that a straight growth looks straight."""
    dense = len(sizes) >= LEAST_POINTS and 2 * len(sizes) >= max(sizes)
    return Axis(title="Threads", unit="", scale="linear" if dense else "log2")


def bands(scaling: Scaling | None, sizes: Sequence[int]) -> list[Band]:
    """Teams of whole cores and those with hardware threads that share one; empty if not known."""
    if scaling is None or scaling.cores is None:
        return []
    shared = min((size for size in sizes if size > scaling.cores), default=None)
    if shared is None:
        return []
    border = (max(size for size in sizes if size <= scaling.cores) * shared) ** 0.5
    return [
        Band(label="cores", start=float(min(sizes)), end=border),
        Band(label="hardware threads", start=border, end=float(max(sizes))),
    ]


def marks(scaling: Scaling | None, teams: Sequence[Team]) -> list[Mark]:
    """The bends, on their curve."""
    if scaling is None:
        return []
    values = {team.threads: team.bandwidth.value for team in teams}
    places = {"tapers": scaling.taper, "saturates": scaling.saturation}
    if scaling.taper == scaling.saturation:
        del places["tapers"]
    return [
        Mark(
            label=f"{label} {_around(bend)}",
            x=float(bend.place),
            y=values[bend.place],
            x_low=float(bend.low),
            x_high=float(bend.high),
        )
        for label, bend in places.items()
        if bend is not None
    ]


def _around(bend: Bend) -> str:
    return f"gradually around {bend.place}" if bend.is_gradual else f"at {bend.place}"


def _place(bend: Bend | None) -> Cell:
    if bend is None:
        return None
    if bend.is_gradual:
        return f"gradually, {bend.low} to {bend.high}"
    return _between(bend.place, bend.low, bend.high)


def _between(value: int, low: int, high: int) -> str:
    return str(value) if low == high else f"{value} ({low} to {high})"


def _bends(scaling: Scaling) -> str:
    taper, saturation = scaling.taper, scaling.saturation
    if scaling.teams < LEAST_POINTS:
        return f"{scaling.teams} team sizes are too few to show a bend of bandwidth over threads"
    if taper is None:
        return "Bandwidth over threads shows no bend"
    if taper.is_gradual:
        return _gradually(taper, saturates=saturation is not None)
    if taper == saturation:
        return f"Bandwidth grows up to {_place(taper)} threads and hardly beyond"
    text = (
        f"Bandwidth tapers from {_place(taper)} threads on (each further thread adds "
        f"{taper.gain_after:.1f} GB/s, below that {taper.gain_before:.1f})"
    )
    if saturation is None:
        return f"{text} and does not saturate within the measured range"
    return f"{text} and saturates at {_place(saturation)}"


def _gradually(taper: Bend, *, saturates: bool) -> str:
    if saturates:
        return (
            f"Bandwidth saturates gradually from {taper.low} to {taper.high} threads, without a "
            f"place that stands out, and hardly grows beyond"
        )
    return (
        f"Bandwidth tapers gradually from {taper.low} to {taper.high} threads (a further thread "
        f"adds {taper.gain_before:.1f} GB/s at first and {taper.gain_after:.1f} at last) and does "
        "not saturate within the measured range"
    )


def _enough(scaling: Scaling) -> str:
    best, size = scaling.best, scaling.enough
    if size == best.threads:
        return (
            f"No team smaller than the best, {format_count(size, 'thread')}, comes within 5% of it."
        )
    low, high = scaling.enough_low, scaling.enough_high
    unsure = "" if low == high else f" ({low} to {high}, given the intervals)"
    come = "comes" if size == 1 else "come"
    return (
        f"{format_count(size, 'thread')}{unsure} {come} within 5% of the best, which has "
        f"{best.threads}."
    )


def _sibling(sibling: Drop, what: str) -> Verdict:
    change = sibling.ratio
    teams = f"{sibling.threads} threads against {sibling.before}, {what}"
    first = sibling.threads == sibling.before + 1
    who = "The first thread that shares a core" if first else "Threads that share cores"
    s = "s" * first
    if _surely(change, below=True):
        return Verdict(
            level="warning",
            text=f"{who} cost{s} {1 - change.value:.1%} of bandwidth ({teams}).",
            remedy=f"use {sibling.before} threads, one for each core",
        )
    if _surely(change, below=False):
        text = f"{who} add{s} {change.value - 1:.1%} to bandwidth"
    else:
        text = f"{who} make{s} no difference beyond the intervals"
    return Verdict(level="note", text=f"{text} ({teams}).")


def _surely(change: Estimate, *, below: bool) -> bool:
    """Without an interval the value alone decides."""
    low, high = bounds(change)
    return high < 1 if below else low > 1
