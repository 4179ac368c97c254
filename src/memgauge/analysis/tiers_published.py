"""Published tables of two competing groups, as the objects that a run's own splits become."""

from __future__ import annotations

from memgauge.analysis.comparable import without_interval
from memgauge.analysis.published import study_report
from memgauge.analysis.section import Report
from memgauge.analysis.tiers import section_of
from memgauge.analysis.tiers_splits import Contest, Split
from memgauge.model.errors import RequestError
from memgauge.references.library import PREFIX, Competition, Reference, load


def published_contest(reference: Reference) -> Contest:
    """The splits of a published table.

    Raises:
        RequestError: the data set holds none.
    """
    told = reference.description.competition
    if told is None:
        raise RequestError(
            f"{PREFIX}{reference.name}: holds no splits of threads between two memories; compare "
            f"it with 'memgauge compare'"
        )
    columns = [reference.column(name) for name in (told.k, told.a, told.b, told.total)]
    return Contest(
        what=told.what,
        words=told.what,
        threads=told.threads,
        a=told.a_memory,
        b=told.b_memory,
        splits=[
            Split(
                k=int(k),
                a=without_interval(a * told.scale),
                b=without_interval(b * told.scale),
                total=without_interval(total * told.scale),
            )
            for k, a, b, total in sorted(zip(*columns, strict=True))
        ],
        alone=without_interval(_alone(told)),
        alone_is=told.alone_is,
        published=True,
    )


def _alone(told: Competition) -> float:
    """GB/s of all threads on A's memory, of another published table."""
    figures = load(told.alone_reference).figures
    return next(one.value for one in figures if one.name == told.alone_figure)


def published_tiers_report(reference: Reference) -> Report:
    """A published table as a report: advice, table and picture.

    Raises:
        RequestError: the data set holds no splits.
    """
    return study_report(reference, section_of([published_contest(reference)]), of="figures")
