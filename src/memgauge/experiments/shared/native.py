"""What the native core returns, as records."""

from __future__ import annotations

from collections.abc import Sequence

from memgauge import _core
from memgauge.model.points.shared import Backing
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import ArrayCheck, Point, Sample, ThreadSample, Validation, Warning


def to_sample(
    point: str, round_: int, taken: _core.Slice, *, cycles_per_ns: float | None = None
) -> Sample:
    """The result of one native call as a record.

    Args:
        point: Name of the point.
        round_: Number of the round.
        taken: Result of the native call; its threads without time stamps are left out.
        cycles_per_ns: Core clock measured beside the call, in GHz; None: not measured.
    """
    return Sample(
        point=point,
        round=round_,
        threads=[
            ThreadSample(
                cpu=thread.cpu,
                begin_ns=thread.begin_ns,
                end_ns=thread.end_ns,
                involuntary_switches=thread.involuntary_switches,
                page_faults=thread.page_faults,
                read_bytes=thread.read_bytes,
                write_bytes=thread.write_bytes,
            )
            for thread in taken.threads
            if thread.begin_ns
        ],
        pingpong_ns=taken.pingpong_ns,
        cycles_per_ns=cycles_per_ns,
    )


def to_validation(
    experiment: str,
    subject: str,
    checks: Sequence[_core.ArrayValidation] | Sequence[_core.NestValidation],
) -> Validation:
    """The check of some arrays as a record.

    Args:
        experiment: Name of the experiment.
        subject: What the arrays belong to, in words, such as `double, 2 threads`.
        checks: Native results, one for each array.
    """
    return Validation(
        experiment=experiment,
        subject=subject,
        checks=[
            ArrayCheck(
                array=check.array,
                average_relative_error=check.average_relative_error,
                epsilon=check.epsilon,
                elements=check.elements,
                failed_elements=check.failed_elements,
                first_failed=check.first_failed,
                passed=check.passed,
            )
            for check in checks
        ],
    )


FULLY_HUGE = 0.99
"""Of the resident bytes; the ragged ends of a range stay in base pages."""
ON_ONE_NODE = 0.99
"""Of the pages looked up; a few may have been placed before the policy was."""


def backing_facts(backings: Sequence[_core.Backing], requested_pages: str) -> dict[str, Scalar]:
    """What pages and which node the kernel says back these buffers; several nodes are no node."""
    nodes = {one.node if one.share_on_node >= ON_ONE_NODE else None for one in backings}
    node = nodes.pop() if len(nodes) == 1 else None
    resident = sum(backing.resident_bytes for backing in backings)
    if not resident:  # the kernel does not report it, as of DAX before Linux 6.15
        return Backing(node=node).recorded()
    huge_share = sum(backing.huge_bytes for backing in backings) / resident
    return Backing(
        pages=_page_name(huge_share, requested_pages, backings[0].base_page_bytes),
        huge_share=round(huge_share, 4),
        node=node,
    ).recorded()


def huge_pages_missing(point: Point) -> list[Warning]:
    """A warning where huge pages were asked for by kind, and others were got."""
    requested, got = Backing.of(point.requested).pages, Backing.of(point.actual)
    if requested in {"auto", "4k"} or got.pages in {requested, ""}:
        return []
    return [
        Warning(
            code="huge-pages-missing",
            message=(
                f"huge pages back only {got.huge_share or 0:.0%} of the memory of {point.point}"
            ),
            remedy="memory may be fragmented: free some, or reserve pages and use --pages 2m",
            experiment=point.experiment,
            point=point.point,
        )
    ]


def _page_name(huge_share: float, requested_pages: str, base_page_bytes: int) -> str:
    if huge_share < 1 - FULLY_HUGE:
        return f"{base_page_bytes >> 10}k"
    if huge_share < FULLY_HUGE:
        return "mixed"
    return requested_pages if requested_pages in {"2m", "1g"} else "thp"
