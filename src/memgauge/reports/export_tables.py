"""What of a run can be exported as tidy tables: its samples, and its loads timed one by one.

Rows hold None for what was not measured or does not apply, never zero. The columns are described
in docs/records.md.
"""

from collections.abc import Iterator
from types import MappingProxyType

from memgauge.model.records import Point, Sample, Scalar, ThreadSample
from memgauge.model.run import Run

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
}
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
}
_LOADS = _POINT | {"load_ns": int, "loads": int}

TABLES = MappingProxyType({"samples": _SAMPLES, "loads": _LOADS})
"""By name of the table the columns that every run has, with their types.

samples: a row for each iteration of each thread of each sample. loads: a row for each time that
single loads of a sample took.
"""


def columns(run: Run, table: str = "samples") -> list[str]:
    """Names of the columns: fixed ones, then what was asked and what was got, by name."""
    asked = {f"asked.{name}" for point in run.points.values() for name in point.asked}
    effective = {f"effective.{name}" for point in run.points.values() for name in point.effective}
    return [*TABLES[table], *sorted(asked), *sorted(effective)]


def rows(run: Run, table: str = "samples") -> Iterator[Row]:
    """The rows, one at a time, each with every column."""
    nothing: Row = dict.fromkeys(columns(run, table))
    varying = _of_threads if table == "samples" else _of_loads
    for name, point in run.points.items():
        constant = nothing | _of_point(run, point)
        for leg, sample in zip(run.legs[name], run.samples[name], strict=True):
            of_sample = constant | {"leg": leg, "round": sample.round}
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
    row |= {f"asked.{name}": value for name, value in point.asked.items()}
    row |= {f"effective.{name}": value for name, value in point.effective.items()}
    return row


def _of_loads(point: Point, sample: Sample) -> Iterator[Row]:
    del point
    for load_ns, loads in sample.load_ns:
        yield {"load_ns": load_ns, "loads": loads}


def _of_threads(point: Point, sample: Sample) -> Iterator[Row]:
    counted = point.work == "counted"
    beside: Row = {"pingpong_ns": sample.pingpong_ns, "cycles_per_ns": sample.cycles_per_ns}
    for rank, thread in enumerate(sample.threads):
        of_thread: Row = beside | {
            "rank": rank,
            "cpu": thread.cpu,
            "involuntary_switches": thread.involuntary_switches,
            "page_faults": thread.page_faults,
            "read_bytes": thread.read_bytes if counted else None,
            "write_bytes": thread.write_bytes if counted else None,
        }
        yield from (of_thread | stamps for stamps in _of_iterations(thread))


def _of_iterations(thread: ThreadSample) -> Iterator[Row]:
    for iteration, (begin, end) in enumerate(zip(thread.begin_ns, thread.end_ns, strict=True)):
        yield {
            "iteration": iteration,
            "begin_ns": begin,
            "end_ns": end,
            "duration_ns": end - begin,
        }
