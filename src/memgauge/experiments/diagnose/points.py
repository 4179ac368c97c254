"""Points of a diagnosis: the program under a treatment, and the references in the same passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from memgauge.experiments.diagnose.parameters import DEFAULT_ROUNDS
from memgauge.experiments.diagnose.places import Places
from memgauge.experiments.diagnose.pressure.references import (
    CACHED_HOPS,
    LATENCY_HOPS,
    References,
)
from memgauge.experiments.diagnose.treatments import Treatment
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.points.diagnose import (
    BANDWIDTH,
    CACHED,
    LATENCY,
    PROGRAM,
    SCATTERED,
    DiagnoseActual,
    DiagnoseRequested,
    point_name,
)
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point


class Diagnosed(msgspec.Struct, frozen=True, kw_only=True):
    """What is diagnosed, as its points state it."""

    rounds: int | None
    pid: int | None
    """None: a command, which is started."""
    process: str
    """Name of the process; empty: it is a command."""
    metric_better: str


def points_of(
    treatment: Treatment, where: Places, of: Diagnosed, *, references: Sequence[str]
) -> list[Point]:
    """The program's point, and those of the references in the same passes.

    Args:
        treatment: What is done to the program.
        where: CPUs of both sides.
        of: What is diagnosed.
        references: Names of the references; none are measured without pressure.
    """
    program = point_name(PROGRAM, treatment.name)
    found = []
    for subject in (PROGRAM, *(references if treatment.pressure else ())):
        requested = DiagnoseRequested(
            subject=subject,
            treatment=treatment.name,
            kind=treatment.kind,
            baseline=treatment.baseline,
            change=treatment.change,
            pages_wanted=treatment.pages_wanted,
            nodes_wanted=format_cpu_list(treatment.nodes_wanted),
            metric_better=of.metric_better,
            step_of=treatment.step_of,
            part=treatment.part,
        )
        cpus = treatment.cpus or where.program if subject == PROGRAM else [where.reference]
        actual = DiagnoseActual(
            cpus=format_cpu_list(cpus),
            pressure_cpus=format_cpu_list(where.pressure) if treatment.pressure else "",
            pressure_bytes=treatment.pressure.bytes if treatment.pressure else None,
            unit_bytes=treatment.unit_bytes,
            passes=of.rounds or DEFAULT_ROUNDS,
            may_end_early=of.rounds is None,
            pid=of.pid,
            process=of.process,
            llc_bytes=where.llc_bytes,
            same_cache=where.same_cache if treatment.pressure else None,
        )
        found.append(
            Point(
                point=point_name(subject, treatment.name),
                experiment="diagnose",
                quantity="bandwidth" if subject == BANDWIDTH else "latency",
                requested=requested.recorded(),
                actual=actual.recorded(),
                accesses=_ACCESSES.get(subject, 0),
                bytes_counted=1 if subject == BANDWIDTH else 0,
                bytes_moved=1 if subject == BANDWIDTH else 0,
                threads=1,
                role="run",
                work="fixed",
                measured_with=None if subject == PROGRAM else program,
            )
        )
    return found


_ACCESSES = {
    PROGRAM: 1,
    LATENCY: LATENCY_HOPS,
    SCATTERED: LATENCY_HOPS,
    CACHED: CACHED_HOPS,
}


def opened(point: Point, references: References | None, facts: Mapping[str, Scalar]) -> Point:
    """A point with what is known of it once the references are prepared.

    Args:
        point: As it was planned.
        references: None: there are none.
        facts: Of the program.
    """
    subject = DiagnoseRequested.of(point.requested).subject
    if subject == PROGRAM or references is None:
        return point.with_actual(facts)
    made = point.with_actual(references.facts[subject])
    if subject != BANDWIDTH:
        return made
    return msgspec.structs.replace(
        made, bytes_counted=references.bytes_counted, bytes_moved=references.bytes_moved
    )
