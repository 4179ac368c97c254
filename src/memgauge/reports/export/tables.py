"""What of a run can be exported as tidy tables: figures, samples, single loads, simulations.

Rows hold None for what was not measured or does not apply, never zero. The columns are described in
docs/records.md.
"""

from collections.abc import Iterator
from types import MappingProxyType

from memgauge.analysis.figures.run import figures_of
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.record_kinds.simulated import Simulated
from memgauge.model.records import OtherThreads, Point, Sample, ThreadSample
from memgauge.model.run import Run
from memgauge.reports.export.figures import COLUMNS as FIGURES
from memgauge.reports.export.figures import figure_rows
from memgauge.reports.export.settings import setting_columns, settings_of

Row = dict[str, Scalar]

_POINT: dict[str, type] = {
    "run": str,
    "point": str,
    "experiment": str,
    "quantity": str,
    "role": str,
    "threads": int,
    "work": str,
    "measured_with": str,
    "bytes_counted": int,
    "bytes_moved": int,
    "accesses": int,
    "leg": int,
    "round": int,
    "stands_for": int,
}
_OF_SAMPLE = ("leg", "round", "stands_for")
_SAMPLES = _POINT | {
    "pingpong_ns": float,
    "cycles_per_ns": float,
    "rank": int,
    "cpu": int,
    "involuntary_switches": int,
    "page_faults": int,
    "read_bytes": int,
    "write_bytes": int,
    "iteration": int,
    "begin_ns": int,
    "end_ns": int,
    "duration_ns": int,
    "other_threads": int,
}
_LOADS = _POINT | {"load_ns": int, "loads": int}
_COUNTED = (
    *("load_read_bytes", "allocate_read_bytes"),
    *("software_prefetch_read_bytes", "hardware_prefetch_read_bytes"),
    *("write_back_bytes", "bypass_write_bytes"),
)
_SIMULATED: dict[str, type] = {
    **{name: kind for name, kind in _POINT.items() if name not in _OF_SAMPLE},
    "machine": str,
    "cores": int,
    "accesses": int,
    "read_bytes": int,
    "write_bytes": int,
    **dict.fromkeys(_COUNTED, int),
    "took_s": float,
}

TABLES = MappingProxyType(
    {"figures": FIGURES, "samples": _SAMPLES, "loads": _LOADS, "simulated": _SIMULATED}
)
"""By name of the table the columns that every run has, with their types.

figures: a row for each point in each regime, with its interval. samples: a row for each iteration
of each thread of each sample, and of a large team one for the threads whose stamps are not
recorded. loads: a row for each time that single loads of a sample took. simulated: a row for each
machine that a point was simulated on.
"""


def columns(run: Run, table: str = "samples") -> list[str]:
    """Names of the columns: fixed ones, then what was asked and what was got, by name."""
    return [*TABLES[table], *setting_columns(run)]


def rows(run: Run, table: str = "samples") -> Iterator[Row]:
    """The rows, one at a time, each with every column."""
    if table == "figures":
        yield from figure_rows(figures_of(run))
        return
    nothing: Row = dict.fromkeys(columns(run, table))
    varying = _of_threads if table == "samples" else _of_loads
    for name, point in run.points.items():
        constant = nothing | _of_point(run, point)
        if table == "simulated":
            yield from (constant | _of_machine(one) for one in run.simulated.get(name, {}).values())
            continue
        for leg, sample in zip(run.legs[name], run.samples[name], strict=True):
            of_sample = constant | {
                "leg": leg,
                "round": sample.round,
                "stands_for": sample.stands_for,
            }
            yield from (of_sample | row for row in varying(point, sample))


def _of_point(run: Run, point: Point) -> Row:
    row: Row = {
        "run": run.start.run_id,
        "point": point.point,
        "experiment": point.experiment,
        "quantity": point.quantity,
        "role": point.role,
        "threads": point.threads,
        "work": point.work,
        "measured_with": point.measured_with,
        "bytes_counted": point.bytes_counted or None,
        "bytes_moved": point.bytes_moved or None,
        "accesses": point.accesses or None,
    }
    return row | settings_of(point)


def _of_machine(simulated: Simulated) -> Row:
    """Bytes are those of all its cores."""
    return {
        "machine": simulated.machine,
        "cores": simulated.cores,
        "accesses": simulated.accesses,
        "read_bytes": simulated.read_bytes,
        "write_bytes": simulated.write_bytes,
        **{name: getattr(simulated, name) for name in _COUNTED},
        "took_s": simulated.took_s,
    }


def _of_loads(point: Point, sample: Sample) -> Iterator[Row]:
    del point
    for load_ns, loads in sample.load_ns:
        yield {"load_ns": load_ns, "loads": loads}


def _of_threads(point: Point, sample: Sample) -> Iterator[Row]:
    counted = point.work == "counted"
    beside: Row = {"pingpong_ns": sample.pingpong_ns, "cycles_per_ns": sample.cycles_per_ns}
    others = sample.others
    for rank, thread in enumerate(sample.threads):
        of_thread = beside | {"rank": rank if others is None else None, "cpu": thread.cpu}
        of_thread |= _suffered(thread, counted=counted)
        yield from (of_thread | stamps for stamps in _of_iterations(thread))
    if others is not None:
        yield beside | _suffered(others, counted=counted) | {"other_threads": others.threads}


def _suffered(part: ThreadSample | OtherThreads, *, counted: bool) -> Row:
    return {
        "involuntary_switches": part.involuntary_switches,
        "page_faults": part.page_faults,
        "read_bytes": part.read_bytes if counted else None,
        "write_bytes": part.write_bytes if counted else None,
    }


def _of_iterations(thread: ThreadSample) -> Iterator[Row]:
    for iteration, (begin, end) in enumerate(zip(thread.begin_ns, thread.end_ns, strict=True)):
        yield {
            "iteration": iteration,
            "begin_ns": begin,
            "end_ns": end,
            "duration_ns": end - begin,
        }
