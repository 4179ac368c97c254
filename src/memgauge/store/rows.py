"""Rows of the store: the table of figures of a run, and beside each figure when and where it was.

The columns of figures are exactly those that every table of `export --table figures` has. Requested
and actual settings, which differ from run to run, are left to the runs, so that all files of a
store have one schema. The columns are described in docs/trend.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from memgauge.analysis.figures.regimes import regime_kind
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.trend.history import Observation, RunFacts
from memgauge.model.errors import RunFileError
from memgauge.model.memory_hardware import modules_text
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.run import Run
from memgauge.model.text import quoted
from memgauge.model.units import format_bytes, format_count
from memgauge.reports.export.figures import COLUMNS, figure_rows

Row = dict[str, Scalar]

CONDITIONS = (
    "kernel",
    "libc",
    "microcode",
    "virtualisation",
    "governor",
    "transparent_huge_pages",
    "memgauge",
    "budget_s",
    "precision",
)
"""Columns of what may change from run to run."""

RUN_COLUMNS: dict[str, type] = {
    "machine": str,
    "day": str,
    "started_at": str,
    "ended": str,
    "machine_id": str,
    "description": str,
    "memory_modules": str,
    **dict.fromkeys(CONDITIONS, str),
}
"""Columns of the run beside each of its figures; in Parquet `day` is a date and `started_at` a
time stamp in UTC."""

STORE_COLUMNS: dict[str, type] = {**COLUMNS, **RUN_COLUMNS}


def run_row(run: Run, machine: str) -> Row:
    """What all rows of a run share.

    Args:
        run: The run.
        machine: Name of its machine.

    Raises:
        RunFileError: it does not say when it began.
    """
    start, system = run.start, run.start.system
    began = start_of(run)
    software = start.software
    hardware = system.memory_hardware
    return {
        "machine": machine,
        "day": f"{began:%Y-%m-%d}",
        "started_at": began.isoformat(),
        "ended": run.end.status if run.end else None,
        "machine_id": system.machine_id,
        "description": f"{system.cpu_model or system.architecture}, "
        f"{format_count(len(system.cpus), 'thread')}, {format_bytes(system.memory_bytes)}",
        "memory_modules": modules_text(hardware) if hardware and hardware.modules else None,
        "kernel": system.kernel,
        "libc": software.get("libc"),
        "microcode": software.get("microcode"),
        "virtualisation": system.virtualisation,
        "governor": system.governor,
        "transparent_huge_pages": system.thp,
        "memgauge": start.memgauge_version,
        "budget_s": f"{start.budget_s:g}",
        "precision": f"{start.precision:g}",
    }


def start_of(run: Run) -> datetime:
    """When it began, in UTC.

    Raises:
        RunFileError: it does not say.
    """
    try:
        began = datetime.fromisoformat(run.start.started_at)
        return (began if began.tzinfo else began.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise RunFileError(
            f"{run.directory}: began at {quoted(run.start.started_at)}, which is not a time, so "
            "its place among other runs is not known; leave it out"
        ) from None


def rows_of(run: Run, machine: str) -> list[Row]:
    """A row for each point of a run in each regime, with every column of the store.

    Args:
        run: The run.
        machine: Name of its machine.

    Raises:
        RunFileError: it does not say when it began.
    """
    shared = run_row(run, machine)
    return [{name: row[name] for name in COLUMNS} | shared for row in figure_rows(figures_of(run))]


def facts_of(row: Mapping[str, Any]) -> RunFacts:
    """What a history keeps of a run, from any of its rows."""
    began = row["started_at"]
    return RunFacts(
        run=row["run"],
        started_at=began if isinstance(began, datetime) else datetime.fromisoformat(began),
        machine_id=row["machine_id"],
        kind=row["description"],
        modules=row["memory_modules"],
        conditions={
            name.replace("_", " "): row[name] for name in CONDITIONS if row[name] is not None
        },
    )


def observations_of(rows: Iterable[Mapping[str, Any]]) -> Iterator[Observation]:
    """The figures that are tracked over time: sustained ones, where something was measured."""
    for row in rows:
        if row["role"] == "slice" and row["value"] is not None:
            yield Observation(
                row["machine"],
                row["run"],
                (row["point"], regime_kind(row["regime"] or "")),
                row["unit"],
                "higher" if row["quantity"] == "bandwidth" else "lower",
                row["statistic"],
                row["value"],
            )
