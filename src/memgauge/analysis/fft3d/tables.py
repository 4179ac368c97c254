"""Tables and pictures of a job of the mini-app."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

from memgauge.analysis.document_figure import Figure
from memgauge.analysis.fft3d.measured import Measured
from memgauge.analysis.fft3d.phases import TITLES, PhaseTimes, title_of
from memgauge.analysis.fft3d.ranks import JobFacts, Phase, Rank, on, phases_in, seconds_of
from memgauge.analysis.fft3d.scaling import StepFigures, efficiency, speed_up
from memgauge.analysis.fft3d.shape import COPY_IN, TWO_NESTS, Pencils
from memgauge.analysis.section import Axis, Cell, Chart, Column, Series, Table
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.text import plain
from memgauge.model.units import format_count

MOST_BARS = 64
"""Ranks drawn; all are in the table."""


OVER_TIME = "expected bytes / measured time"


def phase_table(
    phases: Sequence[PhaseTimes],
    step: Pencils,
    *,
    bypass: bool,
    tile: int = 0,
    whole: bool = True,
) -> Table:
    """Times and bytes of the phases, in their order.

    Args:
        phases: Figures of the phases of one step.
        step: That step.
        bypass: Whether the expected bytes assume stores that go past the caches; the note says so.
        tile: Elements that re-sort 1 and 3 read at a time; 0: in the study's order.
        whole: Whether it is the only table or the last of several, named and explained as such.
    """
    # Beside what was measured a terminal of 80 columns has no room for both.
    alone = all(one.measured_read is None and one.measured_write is None for one in phases)
    columns = [
        Column(title="phase"),
        Column(title="least", unit="ms", digits=2, narrow=alone),
        Column(title="median", unit="ms", digits=2),
        Column(title="most", unit="ms", digits=2, narrow=alone),
        Column(title="expected read", unit="MB", digits=2),
        Column(title="expected written", unit="MB", digits=2),
        Column(title=OVER_TIME, unit="GB/s", digits=2, narrow=alone),
        Column(title="measured read", unit="MB", digits=2),
        Column(title="measured written", unit="MB", digits=2),
        Column(title="sent", unit="MB", digits=2),
        Column(title="GPU power", unit="W", digits=0),
    ]
    rows = [_phase_row(one) for one in phases]
    kept = [at for at in range(len(columns)) if at < 4 or any(row[at] is not None for row in rows)]
    over = "" if step.grid.ranks == 1 else f" over {format_count(step.grid.ranks, 'rank')}"
    return Table(
        name="fft3d-phases" if whole else f"fft3d-phases-{step.size}",
        title=f"Phases of {step.size}^3 on {step.grid}",
        columns=[columns[at] for at in kept],
        rows=[[row[at] for at in kept] for row in rows],
        note=None
        if not whole
        else f"Minimum, median and maximum{over} of each rank's median over transforms; bytes "
        "are those of one rank. Expected: the closed form of the re-sorting loops, provided "
        "that caches keep the lines that are used again: "
        f"{_stores(step, bypass=bypass)}. Expected "
        "bytes / measured time: expected bytes over the median time, with its 95% interval over "
        "transforms; this is not a measured bandwidth. An All2All also waits for the slowest rank."
        + (f" {_ON_GPU}" if _has_copies(phases) else "")
        + (f" {_tiles(tile)}" if tile else ""),
    )


def _has_copies(phases: Sequence[PhaseTimes]) -> bool:
    return any(one.title.startswith(TITLES[COPY_IN]) for one in phases)


_ON_GPU = (
    "Copies to and from a GPU move the array once. GPU power: the mean of all GPUs of the first "
    "rank's node, for phases that last at least three readings."
)
_WITH_ALLOCATE = (
    "each element is read once and written once, and its destination is read before the write"
)
_WITH_BYPASS = (
    "each element is read once and written once; the destination is read before the write in "
    "re-sort 1 and 3, where stores are strided, but not where stores are in order and bypass the "
    "caches"
)


_TWO_WITH_BYPASS = (
    "in each loop nest each element is read once and written once; the destination is read before "
    "the write in nest 2 of re-sort 1 and 3, where loads are strided, but not where both arrays "
    "are walked in order and stores bypass the caches"
)
_TWO_WITH_ALLOCATE = (
    "in each loop nest each element is read once and written once, and its destination is read "
    "before the write"
)


def _stores(step: Pencils, *, bypass: bool) -> str:
    if step.nests == TWO_NESTS:
        return _TWO_WITH_BYPASS if bypass else _TWO_WITH_ALLOCATE
    return _WITH_BYPASS if bypass else _WITH_ALLOCATE


def _tiles(tile: int) -> str:
    at_a_time = format_count(tile, "element")
    return (
        f"Re-sort 1 and 3 read {at_a_time} of each row at a time (--tile); the traffic is the same."
    )


def _phase_row(one: PhaseTimes) -> list[Cell]:
    speed = one.expected_bytes_per_s
    return [
        one.title,
        *(1e3 * one.least_s, 1e3 * one.median_s, 1e3 * one.most_s),
        *(_mb(one.expected_read_bytes), _mb(one.expected_write_bytes)),
        None if speed is None else _gb_per_s(speed),
        *(_mean(one.measured_read), _mean(one.measured_write)),
        _mb(one.sent_bytes),
        one.gpu_power_w,
    ]


def _gb_per_s(speed: Figure) -> Estimate:
    if speed.low is None or speed.high is None:
        return Estimate(speed.value * 1e-9, 0.0, math.inf)
    return Estimate(speed.value * 1e-9, speed.low * 1e-9, speed.high * 1e-9)


def _mean(found: Measured | None) -> Cell:
    """The mean over transforms with its interval, or both bounds."""
    if found is None:
        return None
    if found.mean is None:
        return f"{_megabytes(found.mean_at_least)} to {_megabytes(found.mean_at_most)}"
    if found.low is None or found.high is None:
        return Estimate(found.mean * 1e-6, 0.0, math.inf)
    return Estimate(found.mean * 1e-6, found.low * 1e-6, found.high * 1e-6)


def _megabytes(bytes_: float | None) -> str:
    return f"{(bytes_ or 0.0) * 1e-6:.3g}"


def measured_table(phases: Sequence[PhaseTimes], step: Pencils) -> Table | None:
    """Least, mean and most over transforms of what counters saw; None where nothing was counted.

    Args:
        phases: Figures of the phases of one step.
        step: That step.
    """
    rows = [
        [one.title, *_three(one.measured_read), *_three(one.measured_write)]
        for one in phases
        if one.measured_read is not None or one.measured_write is not None
    ]
    if not rows:
        return None
    return Table(
        name="fft3d-measured",
        title=f"Measured traffic of a rank, {step.size}^3 on {step.grid}",
        columns=[
            Column(title="phase"),
            *(
                Column(title=f"{which} {way}", unit="MB", digits=2)
                for way in ("read", "written")
                for which in ("least", "mean", "most")
            ),
        ],
        rows=rows,
        note="Over transforms; of the mean the 95% interval (Student's t). A range as mean: the "
        "phase is shorter than the interval of sampling, and the readings around it bound what "
        "was counted; least is then what was counted at least in any transform, most what was "
        "counted at most.",
    )


def _three(found: Measured | None) -> list[Cell]:
    if found is None:
        return [None, None, None]
    return [found.least * 1e-6, _mean(found), found.most * 1e-6]


def _mb(bytes_: float | None) -> float | None:
    return None if bytes_ is None else bytes_ * 1e-6


def ranks_table(ranks: Sequence[Rank], step: Pencils, gpus: Mapping[int, str]) -> Table:
    """One row a rank.

    Args:
        ranks: All ranks of the job, including those without a run.
        step: The step whose transforms are timed: the largest.
        gpus: The GPU of each rank that uses one, in words, by number of the rank; empty: no column.
    """
    rows: list[list[Cell]] = []
    for rank in ranks:
        taken = on(rank, step)
        row, column = divmod(rank.rank, step.grid.columns)
        rows.append(
            [
                rank.rank,
                f"{row},{column}",
                plain(rank.on_node) or None,
                len(rank.transforms),
                1e3 * median(one.seconds for one in taken) if taken else None,
                plain(rank.problem) if rank.problem else "whole",
                plain(rank.directory.name),
                *([plain(gpus[rank.rank]) if rank.rank in gpus else None] if gpus else []),
            ]
        )
    return Table(
        name="fft3d-ranks",
        title="Ranks",
        columns=[
            Column(title="rank"),
            Column(title="row, column"),
            Column(title="node"),
            Column(title="transforms"),
            Column(title="transform", unit="ms", digits=2),
            Column(title="its run"),
            Column(title="directory"),
            *([Column(title="GPU")] if gpus else []),
        ],
        rows=rows,
        note=f"Transform: the median over transforms on {format_count(step.grid.ranks, 'rank')}.",
    )


def scaling_table(steps: Sequence[StepFigures], facts: JobFacts) -> Table:
    """One row for each number of ranks."""
    first = steps[0]
    weak = facts.scaling == "weak"
    return Table(
        name="fft3d-scaling",
        title=f"{'Weak' if weak else 'Strong'} scaling",
        columns=[
            Column(title="ranks"),
            Column(title="grid"),
            Column(title="size"),
            Column(title="median", unit="ms", digits=2),
            Column(title="least", unit="ms", digits=2),
            Column(title="most", unit="ms", digits=2),
            Column(title="speed-up", digits=2),
            Column(title="efficiency", unit="%", digits=0),
        ],
        rows=[
            [
                step.pencils.grid.ranks,
                str(step.pencils.grid),
                step.pencils.size,
                *(1e3 * step.median_s, 1e3 * step.least_s, 1e3 * step.most_s),
                speed_up(step, first),
                efficiency(step, first),
            ]
            for step in steps
        ],
        note=f"Time of the slowest rank, over {format_count(first.transforms, 'transform')} in "
        "rounds over all numbers of ranks. Speed-up: operations per second (5 n log2 n for n "
        "points) relative to those of one rank"
        + (", because sizes only approximate equal work per rank." if weak else "."),
    )


def scaling_phases_table(steps: Sequence[StepFigures]) -> Table:
    """What the phases of each kind took, for each number of ranks."""
    return Table(
        name="fft3d-scaling-phases",
        title="Phases over ranks",
        columns=[
            Column(title="ranks"),
            Column(title="FFT", unit="ms", digits=2),
            Column(title="re-sort", unit="ms", digits=2),
            Column(title="All2All", unit="ms", digits=2),
        ],
        rows=[
            [
                step.pencils.grid.ranks,
                *(1e3 * step.fft_s, 1e3 * step.resort_s, 1e3 * step.all2all_s),
            ]
            for step in steps
        ],
        note="All phases of a kind in one transform, on the slowest rank; each is a median over "
        "transforms, so they need not add up.",
    )


def ranks_chart(ranks: Sequence[Rank], step: Pencils) -> Chart:
    """A bar of phases for each rank; those of one name are added."""
    shown = [rank for rank in ranks if on(rank, step)][:MOST_BARS]
    phases = phases_in([one for rank in shown for one in on(rank, step)])
    names = list(dict.fromkeys(_short(phase) for phase in phases))
    x: list[float | str] = [str(rank.rank) for rank in shown]
    return Chart(
        name="fft3d-ranks",
        title=f"Phases of each rank, {step.size}^3 on {step.grid}",
        kind="stack",
        x=Axis(title="Rank", unit=""),
        y=Axis(title="Time", unit="ms", from_zero=True),
        series=[
            Series(
                name=name,
                x=x,
                y=[
                    _added(rank, step, [one for one in phases if _short(one) == name])
                    for rank in shown
                ],
            )
            for name in names
        ],
        note="Medians over transforms; all FFTs are added up, and so are both All2Alls."
        + (f" The first {MOST_BARS} ranks." if len(shown) == MOST_BARS else ""),
    )


def _short(phase: Phase) -> str:
    """A name for all phases of one colour."""
    return TITLES.get(phase.name, title_of(phase))


def _added(rank: Rank, step: Pencils, phases: Sequence[Phase]) -> float | None:
    parts = [seconds_of(on(rank, step), phase) for phase in phases]
    known = [part for part in parts if part is not None]
    return 1e3 * sum(known) if known else None


def scaling_chart(steps: Sequence[StepFigures], facts: JobFacts) -> Chart:
    """Speed-up over ranks, beside the ideal."""
    first = steps[0]
    x: list[float | str] = [float(step.pencils.grid.ranks) for step in steps]
    rates = [first.median_s / first.pencils.flops]
    base = 1 / rates[0]
    return Chart(
        name="fft3d-scaling",
        title=f"{'Weak' if facts.scaling == 'weak' else 'Strong'} scaling",
        kind="line",
        x=Axis(title="Ranks", unit="", scale="log2"),
        y=Axis(title="Speed-up", unit="", from_zero=True),
        series=[
            Series(
                name="median of transforms",
                x=x,
                y=[speed_up(step, first) for step in steps],
                low=[step.pencils.flops / step.most_s / base for step in steps],
                high=[step.pencils.flops / step.least_s / base for step in steps],
            ),
            Series(
                name="ideal",
                x=x,
                y=[step.pencils.grid.ranks / first.pencils.grid.ranks for step in steps],
                dashed=True,
            ),
        ],
        note="Whiskers extend from the slowest to the fastest transform.",
    )
