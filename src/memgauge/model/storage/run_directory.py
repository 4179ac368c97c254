"""Chooses the directory of a run: the requested one, or a new one that no other run can have.

A generated name is claimed by creating its directory, which succeeds for one process only, even on
a file system that many machines share. So runs that start in the same second never collide.
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
"""Errors that mean a full disk, an exhausted quota or a file size limit."""

_HIGHEST_NUMBER = 9
"""Numbered names for runs of the same second. Thousands of ranks of a large job must not try all
names in turn on a shared file system: after these, names are random."""
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
    raise SystemFailure(f"{shown(first)}: no free name was found; name a directory with --output")


@contextmanager
def run_directory(requested: str | None, experiment: str) -> Iterator[Path]:
    """The directory to record a run in; a claimed directory that stays empty is removed again.

    Args:
        requested: the directory the user named, used as it is; the run's writer checks it.
        experiment: name for a claimed directory, if the user named none.

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
        with suppress(OSError):  # it contains a run, or another run was created beside it
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
        why = "it is not a directory" if error.errno == errno.EEXIST else str(error.strerror)
    return RequestError(f"{where}: cannot hold a run: {why}; name a directory you can write in")


def failure(path: Path, error: OSError) -> SystemFailure:
    """The error for a file that could not be written."""
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
    """Create it exclusively.

    A run that ends without a record may remove the parent at any moment.
    """
    for _ in range(_PARENT_REMOVED):
        directory.parent.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):
            directory.mkdir()
            return
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(directory))
