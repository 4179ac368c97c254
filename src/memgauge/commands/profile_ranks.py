"""`memgauge profile` as one rank of a job: where it records, what it says, and who makes the page.

Ranks exchange nothing but files. Whichever rank ends last makes the page of the job; what concerns
all ranks is said by the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

from memgauge import api
from memgauge.cluster.this_rank import LaunchedRank
from memgauge.model.errors import reason_of
from memgauge.model.storage.job_directory import (
    JobPlace,
    have_all_ended,
    is_first_to_report,
    joined_job,
    sampled_bytes,
)
from memgauge.model.storage.profile_job import JOB_VERSION, JobManifest
from memgauge.model.text import plain
from memgauge.model.units import format_count
from memgauge.results import Analysed
from memgauge.runner.profiling.profile import Watched
from memgauge.system.environment.software import memgauge_version

MOST_REPORTED = 64
"""Ranks that look, each at its end, whether all others have ended."""
MOST_READ_BYTES = 8 << 20
"""Samples of all ranks that the last one reads for the page before it ends, for the job waits for
it: about a second for each MB."""


def joined(
    rank: LaunchedRank, requested: str | None, command: Sequence[str]
) -> AbstractContextManager[JobPlace]:
    """The directory for this rank's run, in that of its job.

    Args:
        rank: This rank.
        requested: Directory of the job, if the user named one.
        command: The program that this rank runs.
    """
    manifest = JobManifest(
        format_version=JOB_VERSION,
        memgauge_version=memgauge_version(),
        launcher=rank.launcher,
        ranks=rank.ranks,
        job=rank.job,
        job_host=rank.job_host,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        command=list(command),
    )
    return joined_job(requested, manifest, rank.rank)


def say_where(rank: LaunchedRank, directory: Path, say: Callable[[str], None]) -> None:
    """The first rank, before its program begins: a job that is killed says nothing at its end.

    Args:
        rank: This rank.
        directory: Of the job.
        say: Prints one line.
    """
    if rank.rank == 0:
        ranks = "ranks" if rank.ranks is None else format_count(rank.ranks, "rank")
        say(f"profile: {ranks}, recorded in {directory}")


def present(  # noqa: PLR0913 - how it ended, where, and who is told
    done: Watched,
    rank: LaunchedRank,
    job: Path,
    say: Callable[[str], None],
    show: Callable[[Analysed], None] | None,
    *,
    quiet: bool,
) -> None:
    """Say what was lost of this rank, and report the job if it is the last to end.

    Nothing that fails here changes the exit code.

    Args:
        done: How this rank's profile ended.
        rank: This rank.
        job: Directory of the job.
        say: Prints one line.
        show: Prints a report; None: no report is to be made.
        quiet: Whether only what was lost is said, and the report not printed.
    """
    told = _unsaid if quiet else say
    who = f"profile: rank {rank.rank}"
    if done.run is None:
        say(f"{who}: not recorded: {done.failure}")
    elif (lost := done.failure or done.lane_failure) is not None:
        say(f"{who}: not recorded to the end: {lost}")
    if show is None:
        return
    if done.ended is None or done.ended.signal is not None:
        # A launcher that ends its ranks leaves them little time.
        if rank.rank == 0:
            told(f"what was recorded: memgauge report {job}")
        return
    if rank.ranks is None or rank.ranks > MOST_REPORTED:
        if rank.rank == 0:
            told(f"once all ranks have ended: memgauge report {job}")
        return
    if have_all_ended(job, rank.ranks) and is_first_to_report(job):
        if sampled_bytes(job) > MOST_READ_BYTES:
            told(f"all ranks have ended; the report takes its time: memgauge report {job}")
        else:
            _report(job, say, told, _unseen if quiet else show)


def _unsaid(text: str) -> None:
    del text


def _unseen(result: Analysed) -> None:
    del result


def _report(
    job: Path,
    say: Callable[[str], None],
    told: Callable[[str], None],
    show: Callable[[Analysed], None],
) -> None:
    try:
        result = api.profiled_job(job)
        show(result)
        result.save()
    except KeyboardInterrupt as error:
        # Of a rank that failed, the launcher ends the others, also those that only report.
        say(f"profile: no report: {str(error) or 'Ctrl-C'}; make it by: memgauge report {job}")
    except Exception as error:  # noqa: BLE001 - the programs have run, and their exit codes are kept
        say(f"profile: no report: {reason_of(error)}; make it by: memgauge report {job}")
    else:
        told(f"job: {plain(str(job))}  report: {plain(str(job / 'report.html'))}")
