"""A process that ran already when it was diagnosed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from memgauge.model.cpulist import format_cpu_list, parse_cpu_list
from memgauge.model.points.diagnose import PROGRAM, DiagnoseActual, DiagnoseRequested
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point


class RunningProcess(msgspec.Struct, frozen=True, kw_only=True):
    """A process that ran already, and was neither started nor moved."""

    pid: int
    name: str
    metric_command: str
    """Printed the metric."""
    shared_cpus: str
    """CPUs of generators that it may use too, such as `0-3`; empty: there are none."""
    has_reference_cpu: bool
    """Whether the references ran on a CPU that it may not use."""


def process_of(points: Sequence[Point], parameters: Mapping[str, Scalar]) -> RunningProcess | None:
    """What a diagnosis tells of its process; None: it started a command.

    Args:
        points: Of the diagnosis, one of a program at least.
        parameters: What was asked of it, as recorded.
    """
    facts = [
        (DiagnoseRequested.of(point.requested).subject, DiagnoseActual.of(point.actual))
        for point in points
    ]
    one = next(fact for subject, fact in facts if subject == PROGRAM)
    if one.pid is None:
        return None
    used = _cpus(one.cpus)
    references = {cpu for subject, fact in facts if subject != PROGRAM for cpu in _cpus(fact.cpus)}
    return RunningProcess(
        pid=one.pid,
        name=one.process,
        metric_command=str(parameters.get("metric_command") or ""),
        shared_cpus=format_cpu_list(sorted(used & _cpus(one.pressure_cpus))),
        has_reference_cpu=not references & used,
    )


def _cpus(text: str) -> set[int]:
    try:
        return set(parse_cpu_list(text))
    except ValueError:
        return set()
