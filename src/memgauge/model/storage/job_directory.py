"""How ranks of a job come to one directory, and know when all of them have ended.

They agree through the file system alone. Each step is one that succeeds for one process only, also
on a file system that many nodes share.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from memgauge.model.errors import MemgaugeError, RequestError
from memgauge.model.records import RunEnd
from memgauge.model.storage.codec import UNREADABLE
from memgauge.model.storage.files import open_new, read_end
from memgauge.model.storage.profile_job import JOB_NAME, JobManifest, rank_directory, read_job
from memgauge.model.storage.run_directory import RUNS, claim_directory, refused
from memgauge.model.storage.run_reader import RECORDS_NAME
from memgauge.model.text import quoted, shown

REPORTED_NAME = ".reported"
"""Made by the one rank that makes the page."""
MOST_PROFILES = 1000
"""Of one job: a script under mpirun may start several, one after the other."""
_COME_AGAIN = 10
"""Times that a rank tries to join a directory that others make and remove."""
_PATIENCE_S = 5.0
"""Seconds in which a manifest that was begun must be whole."""
_LOOK_S = 0.02
_END_BYTES = 4096
"""Bytes read of the end of records, of which the last line is short."""


class JobPlace(msgspec.Struct, frozen=True):
    """Where a rank records."""

    job: Path
    """Directory of all ranks."""
    run: Path
    """Directory of this one."""
    link: Path | None = None
    """The link by which ranks find a directory that none of them was given."""


@contextmanager
def joined_job(requested: str | None, manifest: JobManifest, rank: int) -> Iterator[JobPlace]:
    """The directory to record this rank in; one that stays empty is removed again.

    Args:
        requested: Directory of the job that the user named; None: one for the job in
            `memgauge-runs`, a further one for each profile that its ranks start.
        manifest: What this rank knows of its job.
        rank: Its number.

    Raises:
        RequestError: the directory cannot be made, or holds something other than this job.
        SystemFailure: the disk is full or failing.
    """
    found = _joined(Path(requested), manifest, rank) if requested else _found(manifest, rank)
    # The working directory may change meanwhile.
    link = None if found.link is None else found.link.absolute()
    absolute = JobPlace(found.job.absolute(), found.run.absolute(), link)
    try:
        yield found
    finally:
        _left(absolute)


def have_all_ended(directory: Path, ranks: int) -> bool:
    """Whether the run of every rank has its last record.

    Args:
        directory: Of the job.
        ranks: How many it has.
    """
    return all(_has_ended(rank_directory(directory, rank) / RECORDS_NAME) for rank in range(ranks))


def sampled_bytes(directory: Path) -> int:
    """Bytes of the samples of all ranks; those that cannot be seen count nothing."""
    found = 0
    for lane in directory.glob("rank-*/*.lane"):
        with suppress(OSError):
            found += lane.lstat().st_size
    return found


def is_first_to_report(directory: Path) -> bool:
    """Whether this process is to make the page; of all that ask one is."""
    try:
        open_new(directory / REPORTED_NAME).close()
    except OSError:
        return False
    return True


def _has_ended(records: Path) -> bool:
    try:
        last = read_end(records, _END_BYTES).splitlines(keepends=True)[-1:]
        if not last or not last[0].endswith(b"\n"):
            return False
        msgspec.json.decode(last[0], type=RunEnd)
    except (OSError, *UNREADABLE):
        return False
    return True


def _found(manifest: JobManifest, rank: int) -> JobPlace:
    """A directory of this job in which this rank has no run yet: its ranks come to the same one.

    The name of a job's directory tells its time, which ranks cannot agree on. So a link is made
    beside it, named after the job, and only one rank succeeds in that.
    """
    for number in range(1, MOST_PROFILES + 1):
        link = RUNS / f".job-{manifest.job}-{number}"
        name = _linked(link) or _link_to_new(link)
        # One that a rank has left again, and that of an earlier job, are passed over by all.
        with suppress(_Occupied):
            place = _joined(RUNS / name, manifest, rank)
            return JobPlace(place.job, place.run, link)
    raise RequestError(
        f"{shown(RUNS)}: this rank has made {MOST_PROFILES} profiles of its job; name a directory "
        "with --output"
    )


def _linked(link: Path) -> str | None:
    """The directory that a link of a job names: a plain name, for it may be a stranger's."""
    try:
        name = os.readlink(link)  # noqa: PTH115 - the text, not a path
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise refused(link, error) from error
    if not name or name.startswith(".") or "/" in name:
        raise RequestError(
            f"{shown(link)}: does not name a directory beside it: {quoted(name)}; remove it"
        )
    return name


def _link_to_new(link: Path) -> str:
    """Claim a directory and link to it, or take the one that another rank has linked to."""
    directory = claim_directory("profile")
    try:
        link.symlink_to(directory.name)
    except FileExistsError:
        with suppress(OSError):
            directory.rmdir()
        return _linked(link) or directory.name
    except OSError as error:
        with suppress(OSError):
            directory.rmdir()
        raise refused(link, error) from error
    return directory.name


class _Occupied(RequestError):
    """The directory belongs to another job, or this rank has a run in it."""


def _joined(directory: Path, manifest: JobManifest, rank: int) -> JobPlace:
    """Be a rank of the job in a directory, or found it there.

    Raises:
        _Occupied: the directory holds something else.
        RequestError, SystemFailure: it cannot be written to.
    """
    run = rank_directory(directory, rank)
    for _ in range(_COME_AGAIN):
        try:
            directory.mkdir(parents=True, exist_ok=True)
            known = _manifest_in(directory, manifest, beside_ranks=False)
            if not known.is_joined_by(manifest):
                raise _Occupied(
                    f"{shown(directory)}: holds another job; name a new or empty directory"
                )
            run.mkdir()
            # Ranks that recorded nothing may have removed all that was there.
            _manifest_in(directory, manifest, beside_ranks=True)
        except FileNotFoundError:
            continue
        except FileExistsError as error:
            if not directory.is_dir():
                raise refused(directory, error) from error
            raise _Occupied(
                f"{shown(directory)}: already holds a run of rank {rank}; name a new or empty "
                "directory"
            ) from error
        except (OSError, ValueError) as error:
            raise refused(directory, error) from error
        else:
            return JobPlace(directory, run)
    raise RequestError(f"{shown(directory)}: is removed again and again; name another directory")


def _manifest_in(directory: Path, manifest: JobManifest, *, beside_ranks: bool) -> JobManifest:
    """The manifest there; this one where the directory is empty, or holds nothing but ranks."""
    path = directory / JOB_NAME
    # Thousands of ranks must not list the directory, which holds one for each of them.
    if not path.exists():
        inside = os.listdir(directory)  # noqa: PTH208
        is_new = all(beside_ranks and name.startswith("rank-") for name in inside)
        # Another rank may have written it, and made its directory, since.
        if not is_new and not path.exists():
            raise _Occupied(
                f"{shown(directory)}: neither empty nor a job of ranks; name a new or empty "
                "directory"
            )
        with suppress(FileExistsError), open_new(path) as file:
            file.write(msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")
            return manifest
    until_s = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return read_job(directory)
        except MemgaugeError:
            if not path.exists():
                raise FileNotFoundError(errno.ENOENT, "removed meanwhile") from None
            if time.monotonic() > until_s:
                raise
            time.sleep(_LOOK_S)


def _left(place: JobPlace) -> None:
    """Remove what holds nothing: this rank's directory, and that of a job without ranks."""
    with suppress(OSError):
        place.run.rmdir()
        if not any(name.startswith("rank-") for name in os.listdir(place.job)):  # noqa: PTH208
            (place.job / JOB_NAME).unlink()
            place.job.rmdir()
            if place.link is not None:
                place.link.unlink()
                place.link.parent.rmdir()
