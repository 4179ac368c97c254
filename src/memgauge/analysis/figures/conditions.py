"""What disturbed a run, and how precise it became, as shares: of time, of samples, of points."""

from collections.abc import Callable, Iterator

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.figures.summary import LEAST_SHARE, PointSummary
from memgauge.model.points.stream import StreamRequested
from memgauge.model.records import Environment, Point
from memgauge.model.run import Run

STEAL_SHARE = 0.01
OTHERS_SHARE = 0.03
SET_ASIDE_SHARE = 0.05
"""What above these was taken by the hypervisor or by other programs, or set aside, is reported."""


def steal_share(figures: Figures) -> float | None:
    """What the hypervisor took of the time of all CPUs; None where the kernel does not tell."""
    return _share(figures, lambda record: record.steal_s)


def others_share(figures: Figures) -> float | None:
    """What other programs used of the time of all CPUs; None where it is not known."""
    return _share(figures, lambda record: others_s(figures.run, record))


def others_s(run: Run, record: Environment) -> float | None:
    """CPU time of other programs in a record; None where the kernel does not tell.

    Nor is it known beside a process that ran already and was diagnosed: its own time is part of it.

    Args:
        run: That the record is of.
        record: What the machine did in one stretch of time.
    """
    is_of_process = run.parameters.get("diagnose", {}).get("pid") is not None
    return None if is_of_process else record.others_s


def set_aside_share(figures: Figures) -> float | None:
    """Of the samples of slices, those that no figure is made of; None without any."""
    first = first_by_role(figures, "slice")
    total = sum(len(figures.run.samples_of(summary.point)) for summary in first)
    return sum(summary.set_aside for summary in first) / total if total else None


def _share(figures: Figures, seconds: Callable[[Environment], float | None]) -> float | None:
    """Of the time of all CPUs over the run; None where the kernel did not report it."""
    known = [(seconds(r), r.interval_s) for r in figures.run.environment]
    used = sum(value for value, _ in known if value is not None)
    time = sum(interval for value, interval in known if value is not None)
    cpus = len(figures.run.start.system.cpus)
    return used / (time * cpus) if time > 0 and cpus else None


def first_by_role(figures: Figures, role: str) -> list[PointSummary]:
    """One summary of each point of a role: what was set aside is the same in all regimes."""
    points = figures.run.points.values()
    return [figures.summaries[p.point][0] for p in points if p.role == role]


def measured_slices(figures: Figures) -> Iterator[PointSummary]:
    """Of points measured in slices, the summary of each regime that is more than a few samples."""
    for point in _sliced(figures):
        for summary in figures.summaries[point.point]:
            if summary.samples and (summary.share or 0) >= LEAST_SHARE:
                yield summary


def _sliced(figures: Figures) -> list[Point]:
    """Points measured in slices, without the candidates of a search."""
    return [
        point
        for point in figures.run.points.values()
        if point.role == "slice" and not StreamRequested.of(point.requested).candidate
    ]


def reached_counts(figures: Figures) -> tuple[int, int]:
    """Points within the requested precision in all regimes that matter, and points there are."""
    done: dict[str, bool] = {}
    for summary in measured_slices(figures):
        done[summary.point] = done.get(summary.point, True) and summary.reached
    return sum(done.values()), len(_sliced(figures))
