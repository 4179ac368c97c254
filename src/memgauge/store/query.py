"""Asks a store for the figures of runs: files by machine and day first, then rows, by polars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from memgauge.analysis.trend.history import Observation, RunFacts
from memgauge.model.errors import RequestError, RunFileError
from memgauge.model.text import shortened, shown
from memgauge.reports.charts.package_trial import require_parquet
from memgauge.store.add import store_frame
from memgauge.store.layout import Files, check_store, files_of
from memgauge.store.rows import RUN_COLUMNS, facts_of, observations_of

if TYPE_CHECKING:
    import polars as pl

_MOST_TRIES = 4
"""Times that files are looked for anew because a compaction removed some of them."""
_OBSERVED = ("machine", "run", "point", "regime", "role", "quantity", "unit", "statistic", "value")
_FACTS = ("run", *RUN_COLUMNS)
_NEEDED = ("machine", "run", "started_at", "machine_id", "description", "point", "quantity")
"""Columns that are never null in what memgauge writes."""

Found = tuple[dict[str, list[RunFacts]], Iterable[Observation]]


def query(
    store: Path,
    *,
    machines: Sequence[str] = (),
    since: timedelta | None = None,
    is_kept: Callable[[str, int], bool] = lambda _name, _machines: True,
) -> Found:
    """Runs by machine, and their figures.

    Args:
        store: Directory of the store.
        machines: Names of machines; empty: all.
        since: Time before the newest run of these machines; None: all runs.
        is_kept: Selects figures by name of point; also gets the number of machines.

    Raises:
        RequestError: polars is not installed, or there is no such run.
        RunFileError: it is no store, or a file of it cannot be read.
    """
    check_store(store)
    _require_polars()
    import polars as pl

    for _ in range(_MOST_TRIES):
        try:
            return _asked(store, machines, since, is_kept)
        except FileNotFoundError:
            continue  # compacted since the files were listed
        except (pl.exceptions.PolarsError, OSError) as error:
            raise RunFileError(
                f"{shown(store)}: a file of the store cannot be read: {shortened(str(error), 200)}"
            ) from error
    raise RunFileError(
        f"{shown(store)}: its files change faster than they can be read; try again when no "
        "compaction is at work"
    )


def _require_polars() -> None:
    require_parquet()
    try:
        import polars as pl  # noqa: F401
    except ImportError:
        raise RequestError(
            "a store of figures needs polars, which is not installed; run 'pip install "
            "memgauge[export]', or give directories of runs"
        ) from None


def scan(files: Files) -> pl.LazyFrame:
    """All rows of these files; a run that has a file of its own counts as in that one."""
    import polars as pl

    parts = []
    if files.months:
        parts.append(_scanned([one.path for one in files.months]))
    if files.runs:
        own = _scanned([one.path for one in files.runs])
        runs = own.select("machine", "run").unique()
        parts = [part.join(runs, on=["machine", "run"], how="anti") for part in parts]
        parts.append(own)
    return pl.concat(parts)


def _scanned(paths: Sequence[Path]) -> pl.LazyFrame:
    import polars as pl

    return pl.scan_parquet(list(paths), hive_partitioning=False, glob=False)


def _asked(
    store: Path,
    machines: Sequence[str],
    since: timedelta | None,
    is_kept: Callable[[str, int], bool],
) -> Found:
    import polars as pl

    files = files_of(store, machines)
    rows = _rows(files, machines) if files.runs or files.months else None
    newest = None if rows is None else rows.select(pl.col("started_at").max()).collect().item()
    if rows is None or newest is None:
        whose = f" of {', '.join(machines)}" if machines else ""
        raise RequestError(
            f"{shown(store)}: holds no runs{whose}; add some with 'memgauge trend --add-to'"
        )
    if since is not None:
        begin = newest - since
        rows = _rows(files_of(store, machines, begin.date()), machines)
        rows = rows.filter(pl.col("started_at") >= begin)
    facts = rows.select(_FACTS).unique(subset=["machine", "run"]).collect()
    names = rows.select("point").unique().collect()["point"].to_list()
    count = facts["machine"].n_unique()
    kept = [name for name in names if is_kept(name, count)]
    figures = rows.filter(
        (pl.col("role") == "slice") & pl.col("value").is_not_null() & pl.col("point").is_in(kept)
    ).drop_nulls(("unit", "statistic"))
    found = figures.select(_OBSERVED).collect()
    runs: dict[str, list[RunFacts]] = {}
    for row in facts.iter_rows(named=True):
        runs.setdefault(row["machine"], []).append(facts_of(row))
    return runs, observations_of(found.iter_rows(named=True))


def _rows(files: Files, machines: Sequence[str]) -> pl.LazyFrame:
    import polars as pl

    rows = scan(files)
    if rows.collect_schema() != store_frame([]).schema:
        raise pl.exceptions.SchemaError("the columns are not those of a store")
    rows = rows.drop_nulls(_NEEDED)
    return rows.filter(pl.col("machine").is_in(list(machines))) if machines else rows
