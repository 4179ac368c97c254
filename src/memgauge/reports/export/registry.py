"""All formats of `memgauge export`, and what each works for. Adding one is one entry here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from memgauge.model.errors import RequestError
from memgauge.model.run import Run
from memgauge.reports.export.curves import csv_file, mess_files, ramulator_file
from memgauge.reports.export.formats import (
    export_arrow,
    export_csv,
    export_json,
    export_parquet,
    timeline_csv,
    timeline_json,
)
from memgauge.reports.export.openmetrics import openmetrics
from memgauge.reports.export.timeline import timeline_arrow, timeline_parquet
from memgauge.reports.export.trace import chrome_trace

TIMELINE = "timeline"


class Exporter(msgspec.Struct, frozen=True, kw_only=True):
    """One format; its key in `EXPORTERS` is what --format calls it."""

    timeline: Callable[[Run], Iterator[bytes]] | None = None
    """The readings of a profile, in the pieces of a file."""
    table: Callable[[Run, str], bytes] | None = None
    """One of `TABLES` of any run."""
    curves: Callable[[Run], dict[str, bytes]] | None = None
    """Curves of latency under load, by name of the file: the format is of nothing else."""
    is_directory: bool = False
    """Whether these are files of a directory."""
    note: str = ""
    """What --help adds to its name."""
    extra: str | None = None
    """What must be installed beside memgauge."""


EXPORTERS: dict[str, Exporter] = {
    "csv": Exporter(timeline=timeline_csv, table=export_csv),
    "json": Exporter(timeline=timeline_json, table=export_json),
    "parquet": Exporter(timeline=timeline_parquet, table=export_parquet, extra="memgauge[export]"),
    "arrow": Exporter(timeline=timeline_arrow, table=export_arrow, extra="memgauge[export]"),
    "chrome": Exporter(timeline=chrome_trace, note="a trace that Perfetto opens"),
    "openmetrics": Exporter(timeline=openmetrics),
    "mess": Exporter(curves=mess_files, is_directory=True),
    "ramulator": Exporter(curves=ramulator_file),
    "csv-curve": Exporter(curves=csv_file),
}


def formats_help() -> str:
    """What --help says of the formats."""
    tables = [name for name, one in EXPORTERS.items() if one.table]
    further = [name for name, one in EXPORTERS.items() if one.timeline and not one.table]
    curves = [name for name, one in EXPORTERS.items() if one.curves]
    return (
        f"{_listed(tables)} are tables; of a profile also {_listed(further)}; of a run of loaded "
        f"or a survey {_listed(curves)} are bandwidth-latency curves, mess a directory of them"
    )


def exported(run: Run, form: str, table: str | None = None) -> Iterable[bytes]:
    """One table of a run in a format, in pieces.

    Args:
        run: Run to export.
        form: Key in `EXPORTERS`.
        table: `timeline` or a key in `TABLES`; None means the one that suits the run: `timeline`
            for a profile, `simulated` if nothing was measured, else `samples`.

    Raises:
        RequestError: the format works only for profiles or for curves, or needs what is not
            installed.
        RunFileError: the timeline of a run is requested that has none.
    """
    chosen = table or _default_table(run)
    exporter = EXPORTERS[form]
    if exporter.curves is not None:
        raise RequestError(
            f"--format {form} writes curves of latency under load and no table; leave --table out"
        )
    if chosen == TIMELINE and exporter.timeline is not None:
        return _begun(exporter.timeline(run))
    if exporter.table is None:
        tables = ", ".join(name for name, one in EXPORTERS.items() if one.table)
        raise RequestError(
            f"--format {form} works only for profiles, and this run's {chosen} are a table; "
            f"give {tables}"
        )
    return [exporter.table(run, chosen)]


def exported_curves(run: Run, form: str, table: str | None = None) -> dict[str, bytes] | None:
    """Curves of latency under load in a format, by name of the file.

    Args:
        run: Run to export.
        form: Key in `EXPORTERS`.
        table: As for `exported`, of which curves have none.

    Returns:
        The files; None where the format is one of tables.

    Raises:
        RequestError: the run has no such curve.
    """
    exporter = EXPORTERS[form]
    return None if exporter.curves is None or table is not None else exporter.curves(run)


def _default_table(run: Run) -> str:
    if run.lanes and not run.points:
        return TIMELINE
    return "simulated" if run.simulated and not run.rounds else "samples"


def _begun(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces, the first made already, so that a run without a timeline is refused at once."""
    first = next(pieces, b"")

    def joined() -> Iterator[bytes]:
        yield first
        yield from pieces

    return joined()


def _listed(names: Sequence[str]) -> str:
    *first, last = map(_described, names)
    return f"{', '.join(first)} and {last}" if first else last


def _described(name: str) -> str:
    exporter = EXPORTERS[name]
    needs = f" (needs {exporter.extra})" if exporter.extra else ""
    return f"{name}{needs}" + (f", {exporter.note}," if exporter.note else "")
