"""A job whose ranks are profiled, on disk: a manifest, and a run for each rank.

- `job.json`: the manifest, which the first rank to come writes and the others find
- `rank-K/`: the run of rank K, as any other
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import msgspec

from memgauge.model.errors import RunFileError
from memgauge.model.record_kinds.fields import Count
from memgauge.model.storage.codec import UNREADABLE
from memgauge.model.storage.files import read_file
from memgauge.model.text import shortened, shown

JOB_VERSION = 1
JOB_NAME = "job.json"
MOST_BYTES = 1 << 20
"""Of a manifest, which holds a command line."""


class JobManifest(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a job before any of its programs has begun."""

    format_version: Annotated[int, msgspec.Meta(ge=1)]
    memgauge_version: str
    launcher: str
    ranks: Count | None
    """None if the launcher does not state it."""
    job: str
    """Digest by which ranks of one job know each other."""
    job_host: str
    """Host whose ranks alone have this digest; empty where all nodes have the same."""
    started_at: str
    """ISO 8601, UTC."""
    command: list[str]
    """Of the rank that wrote this; ranks may have different ones."""

    def is_joined_by(self, other: JobManifest) -> bool:
        """Whether a rank that would have written the other belongs to this job, as far as known."""
        if self.ranks != other.ranks or self.launcher != other.launcher:
            return False
        comparable = self.job_host == other.job_host
        return self.job == other.job if comparable else bool(self.job_host and other.job_host)


def is_profile_job(path: Path) -> bool:
    """Whether a user's path is the directory of such a job."""
    return os.path.isfile(path / JOB_NAME)  # noqa: PTH113 - never raises


def rank_directory(directory: Path, rank: int) -> Path:
    """Directory of a rank's run.

    Args:
        directory: Of the job.
        rank: Its number.
    """
    return directory / f"rank-{rank}"


def read_job(directory: Path) -> JobManifest:
    """The manifest of a job.

    Raises:
        RunFileError: it is missing, or cannot be read.
    """
    path = directory / JOB_NAME
    try:
        found = msgspec.json.decode(read_file(path, MOST_BYTES), type=JobManifest)
    except OSError as error:
        raise RunFileError(f"{shown(path)}: cannot be read: {error.strerror}") from error
    except UNREADABLE as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise RunFileError(
            f"{shown(path)}: does not describe a job: {shortened(why, 200)}; name the directory "
            "that 'memgauge profile' wrote under mpirun or srun"
        ) from error
    if found.format_version > JOB_VERSION:
        raise RunFileError(
            f"{shown(path)}: written by a later memgauge, in format version "
            f"{shortened(str(found.format_version), 20)}, and this memgauge reads versions up to "
            f"{JOB_VERSION}; use the later memgauge"
        )
    return found
