"""Published tables of two competing groups, as the objects that a run's own splits become."""

from __future__ import annotations

from memgauge.analysis.comparison.figures import without_interval
from memgauge.analysis.published import study_report
from memgauge.analysis.section import Report
from memgauge.analysis.tiers.figures import Contest, Split
from memgauge.analysis.tiers.section import section_of_contests
from memgauge.model.errors import RequestError
from memgauge.references.library import PREFIX, Competition, Reference, load


def published_contest(reference: Reference) -> Contest:
    """The splits of a published table.

    Raises:
        RequestError: the data set holds none.
    """
    known = reference.description.competition
    if known is None:
        raise RequestError(
            f"{PREFIX}{reference.name}: contains no splits of threads between two memories; "
            "compare it with 'memgauge compare'"
        )
    columns = [reference.column(name) for name in (known.k, known.a, known.b, known.total)]
    return Contest(
        what=known.what,
        label=known.what,
        threads=known.threads,
        a=known.a_memory,
        b=known.b_memory,
        splits=[
            Split(
                k=int(k),
                a=without_interval(a * known.scale),
                b=without_interval(b * known.scale),
                total=without_interval(total * known.scale),
            )
            for k, a, b, total in sorted(zip(*columns, strict=True))
        ],
        alone=without_interval(_alone(known)),
        alone_is=known.alone_is,
        published=True,
    )


def _alone(known: Competition) -> float:
    """GB/s of all threads on A's memory, of another published table."""
    figures = load(known.alone_reference).figures
    return next(one.value for one in figures if one.name == known.alone_figure)


def published_tiers_report(reference: Reference) -> Report:
    """A published table as a report: advice, table and picture.

    Raises:
        RequestError: the data set holds no splits.
    """
    return study_report(
        reference, section_of_contests([published_contest(reference)]), of="figures"
    )
