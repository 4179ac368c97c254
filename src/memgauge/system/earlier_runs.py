"""Headline figures of earlier runs, kept where the user asked for it: what varies between runs.

`--remember` keeps them in one file for each machine, `memgauge/earlier-runs/DIGEST.json` below the
user's state directory. A run of a series (`run-1` and on in one directory) keeps its own in
`headlines.json` beside its records, so that the later runs of the series know them.

Only runs made alike say what varies between runs: on one host, by one version of memgauge, with the
same experiments, parameters, budget, precision and CPUs. Kernel and settings of the machine are not
part of it: a run after an update is held against those before.

What would invalidate it: a host that keeps its name while its hardware changes within one kind; two
runs that end at the same moment, of which one is then forgotten.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec

from memgauge.model.errors import SystemFailure
from memgauge.model.records import EarlierRun, RunStart, Warning
from memgauge.model.storage.codec import UNREADABLE
from memgauge.model.storage.files import read_file, replace_file
from memgauge.model.storage.series import earlier_in_series, number_in_series
from memgauge.model.storage.user_directories import required_state_directory, state_directory
from memgauge.model.text import shown
from memgauge.model.units import format_count

FORMAT = 1
DIRECTORY = "earlier-runs"
IN_RUN = "headlines.json"
"""File of a run of a series, in its directory."""
MOST_RUNS = 50
"""Kept of one machine; the oldest goes first."""
MOST_BYTES = 1 << 20
"""Of a file: a run takes less than 1 KiB."""


class KeptRun(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of one run."""

    made_as: str
    """Digest of what runs must have in common."""
    run: EarlierRun


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """One file."""

    format: int
    host: str
    machine_id: str
    cpu_model: str
    runs: list[KeptRun]
    """Oldest first."""


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What is known before a run begins."""

    runs: list[KeptRun] = []
    warnings: list[Warning] = []
    """Files that are there and cannot be used."""


class _Unusable(Exception):
    """A file that is there and cannot be used; its text states why."""


class _OfAnotherVersion(_Unusable):
    """It is whole, and must not be overwritten."""


def alike(start: RunStart, known: Iterable[KeptRun]) -> list[EarlierRun]:
    """Of known runs those made as the run of this first record is, each once, oldest first."""
    wanted = made_as(start)
    found = {one.run.run_id: one.run for one in known if one.made_as == wanted}
    found.pop(start.run_id, None)
    return sorted(found.values(), key=lambda run: (run.started_at, run.run_id))[-MOST_RUNS:]


def made_as(start: RunStart) -> str:
    """Digest of what runs must have in common for their figures to differ by chance alone."""
    facts = [
        _host(),
        start.system.machine_id,
        sorted(start.system.allowed_cpus),
        sorted(start.system.allowed_nodes or []),
        start.memgauge_version,
        start.experiments,
        start.parameters,
        start.budget_s,
        start.precision,
    ]
    return sha256(msgspec.json.encode(facts, order="deterministic")).hexdigest()[:24]


def known_before(directory: Path, machine_id: str, *, remembered: bool) -> Known:
    """The earlier runs of the series that a run belongs to, and those of the state directory.

    Args:
        directory: Of the run that is to begin.
        machine_id: Of this machine.
        remembered: Whether the state directory is read.
    """
    files = [run / IN_RUN for run in earlier_in_series(directory)]
    if remembered and (state := state_directory()) is not None:
        files.append(_file(state, machine_id))
    runs: list[KeptRun] = []
    warnings = []
    for file in files:
        try:
            runs += _read(file).runs
        except FileNotFoundError:
            continue
        except _Unusable as error:
            warnings.append(_unusable(file, error))
    return Known(runs=runs, warnings=warnings)


def keep(start: RunStart, figures: dict[str, float], directory: Path, *, remember: bool) -> None:
    """Keep the headline figures of a run that has ended.

    Args:
        start: Its first record.
        figures: By key of the headline.
        directory: Of the run; one of a series has a file there.
        remember: Whether to keep them in the state directory too.

    Raises:
        SystemFailure: a file cannot be written; an older one stays as it was.
    """
    mine = KeptRun(
        made_as=made_as(start),
        run=EarlierRun(run_id=start.run_id, started_at=start.started_at, figures=figures),
    )
    if number_in_series(directory) is not None:
        _write(directory / IN_RUN, start, [mine], below=directory)
    if remember:
        file = _file(required_state_directory(), start.system.machine_id)
        _write(file, start, [*_replaceable(file), mine][-MOST_RUNS:])


def remembered() -> list[str]:
    """One line for each machine of which runs are kept in the state directory."""
    lines = []
    for file in _files():
        try:
            kept = _read(file)
        except (FileNotFoundError, _Unusable) as error:
            lines.append(f"{shown(file)}: {error}")
            continue
        began = sorted(one.run.started_at for one in kept.runs)
        between = f", begun {began[0]} to {began[-1]}" if began else ""
        count = format_count(len(began), "run")
        lines.append(f"{kept.host}, {kept.cpu_model}: {count}{between}: {shown(file)}")
    return lines or ["no runs are remembered"]


def forget() -> list[str]:
    """Remove all that is kept in the state directory; one line for each file.

    Raises:
        SystemFailure: a file cannot be removed.
    """
    lines = []
    for file in _files():
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise SystemFailure(
                f"{shown(file)}: cannot be removed: {error.strerror}; remove it yourself"
            ) from error
        lines.append(f"removed {shown(file)}")
    return lines or ["no runs are remembered"]


def _read(file: Path) -> Kept:
    """Its content.

    Raises:
        FileNotFoundError: there is none.
        _Unusable: it cannot be used.
    """
    try:
        kept = msgspec.json.decode(read_file(file, MOST_BYTES), type=Kept)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _Unusable(error.strerror or "it cannot be read") from error
    except UNREADABLE as error:
        raise _Unusable("it is damaged") from error
    if kept.format != FORMAT:
        raise _OfAnotherVersion(f"it has format {kept.format}, which this version does not know")
    return kept


def _replaceable(file: Path) -> Sequence[KeptRun]:
    """The runs of a file that is to be written again; none of one that is missing or damaged.

    Raises:
        SystemFailure: another version of memgauge wrote it.
    """
    try:
        return _read(file).runs
    except FileNotFoundError:
        return ()
    except _OfAnotherVersion as error:
        raise SystemFailure(
            f"{shown(file)}: {error}: this run is not remembered; remove the file, or use the "
            "version of memgauge that wrote it"
        ) from error
    except _Unusable:
        return ()


def _write(
    file: Path, start: RunStart, runs: Sequence[KeptRun], *, below: Path | None = None
) -> None:
    kept = Kept(
        format=FORMAT,
        host=_host(),
        machine_id=start.system.machine_id,
        cpu_model=start.system.cpu_model,
        runs=list(runs),
    )
    content = [msgspec.json.format(msgspec.json.encode(kept), indent=1), b"\n"]
    try:
        replace_file(file, content, below=below)
    except OSError as error:
        raise SystemFailure(
            f"{shown(file)}: the headline figures cannot be kept: {error.strerror}; free space, or "
            "set XDG_STATE_HOME to another directory"
        ) from error


def _unusable(file: Path, error: _Unusable) -> Warning:
    return Warning(
        code="earlier-runs-unusable",
        message=f"{shown(file)}: {error}: its earlier runs are not used",
        remedy="remove the file (memgauge system --forget removes all that is remembered)",
    )


def _files() -> list[Path]:
    state = state_directory()
    found: list[Path] = []
    with suppress(OSError):
        found += () if state is None else (state / DIRECTORY).glob("*.json")
    return sorted(found)


def _file(state: Path, machine_id: str) -> Path:
    """Home directories are shared in clusters, so the host is part of the name."""
    digest = sha256(f"{_host()}\0{machine_id}".encode()).hexdigest()[:24]
    return state / DIRECTORY / f"{digest}.json"


def _host() -> str:
    return platform.node() or "localhost"
