"""Where a run is recorded: the directory that was asked for, or one that no other run can have.

A name made up here is claimed by creating its directory, which succeeds for one process only, also
on a file system that many machines share. So runs that start in the same second never meet.
"""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from memgauge.model.errors import MemgaugeError, RequestError, SystemFailure
from memgauge.model.storage.run_reader import RECORDS_NAME
from memgauge.model.text import shown

RUNS = Path("memgauge-runs")
"""Under the working directory."""
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors of a disk, a quota or a file that has no more room."""

_HIGHEST_NUMBER = 9
"""Runs of one second are numbered so far. Ranks of a large job, which may be thousands, must not
try all names in turn on a shared file system: they go on with random ones."""
_RANDOM_NAMES = 100
_PARENT_REMOVED = 10


def claim_directory(experiment: str, now: datetime | None = None) -> Path:
    """Create `memgauge-runs/<UTC time>-<experiment>`, with a suffix where that is taken.

    Args:
        experiment: the last part of the name.
        now: the time in the name; the current time unless given.

    Returns:
        The directory, relative to the working directory: new, empty, and this caller's alone.

    Raises:
        RequestError: it cannot be created in the working directory.
        SystemFailure: the disk is full or failing.
    """
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    first = RUNS / f"{moment:%Y%m%dT%H%M%SZ}-{experiment}"
    for directory in _candidates(first):
        try:
            _create(directory)
        except FileExistsError as error:
            if not directory.parent.is_dir():
                raise refused(directory.parent, error) from error
        except OSError as error:
            raise refused(directory, error) from error
        else:
            return directory
    raise SystemFailure(f"{shown(first)}: no free name was found; name a directory by --output")


@contextmanager
def run_directory(requested: str | None, experiment: str) -> Iterator[Path]:
    """The directory to record a run in; one that was claimed and left empty is removed again.

    Args:
        requested: what the user named; taken as it is, and checked by whoever writes into it.
        experiment: what a claimed directory is named after, where the user named none.

    Raises:
        RequestError, SystemFailure: as `claim_directory`.
    """
    if requested:
        yield Path(requested)
        return
    directory = claim_directory(experiment)
    # The working directory may change meanwhile.
    claimed = [directory.absolute(), RUNS.absolute()]
    try:
        yield directory
    finally:
        with suppress(OSError):  # it holds a run, or another run was made beside it
            for one in claimed:
                one.rmdir()


def refused(directory: Path, error: OSError | ValueError) -> MemgaugeError:
    """Why a directory cannot hold a run."""
    where = shown(directory)
    if not isinstance(error, OSError):
        why = str(error)
    elif error.errno in FULL or error.errno == errno.EIO:
        return failure(directory / RECORDS_NAME, error)
    else:
        why = "it is no directory" if error.errno == errno.EEXIST else str(error.strerror)
    return RequestError(f"{where}: cannot hold a run: {why}; name a directory you can write in")


def failure(path: Path, error: OSError) -> SystemFailure:
    """That a disk would not take what was to be written to a file."""
    remedy = "free some space" if error.errno in FULL else "check the disk"
    return SystemFailure(
        f"{shown(path)}: cannot be written: {error.strerror}; the records written before "
        f"are kept; {remedy} and resume the run"
    )


def _candidates(first: Path) -> Iterator[Path]:
    numbers = map(str, range(2, _HIGHEST_NUMBER + 1))
    words = (secrets.token_hex(4) for _ in range(_RANDOM_NAMES))
    yield first
    for suffix in chain(numbers, words):
        yield first.with_name(f"{first.name}-{suffix}")


def _create(directory: Path) -> None:
    """Create it alone; whoever ends without a record may remove the parent at any moment."""
    for _ in range(_PARENT_REMOVED):
        directory.parent.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):
            directory.mkdir()
            return
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(directory))
