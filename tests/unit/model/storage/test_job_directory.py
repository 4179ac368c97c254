"""How ranks come to one directory: at once, again, beside other jobs, and leaving nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest
from tests.unit.analysis.ranks.jobs import manifest, write_manifest
from tests.unit.model import build

from memgauge.model.errors import RequestError, RunFileError
from memgauge.model.records import RunEnd
from memgauge.model.storage.job_directory import (
    REPORTED_NAME,
    JobPlace,
    have_all_ended,
    is_first_to_report,
    joined_job,
    sampled_bytes,
)
from memgauge.model.storage.profile_job import (
    JOB_NAME,
    JOB_VERSION,
    JobManifest,
    is_profile_job,
    rank_directory,
    read_job,
)
from memgauge.model.storage.run_file import read_run

RANKS = 16


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def joined() -> Iterator[Callable[..., JobPlace]]:
    """Ranks that stay until the test ends, each with a record."""
    with ExitStack() as stack:

        def join(rank: int, job: JobManifest | None = None, into: str | None = None) -> JobPlace:
            place = stack.enter_context(joined_job(into, job or manifest(RANKS), rank))
            (place.run / "records.jsonl").touch()
            return place

        yield join


@pytest.mark.parametrize("into", [None, "out", "far/out"])
def test_ranks_that_come_at_once_share_one_directory(
    joined: Callable[..., JobPlace], into: str | None
) -> None:
    with ThreadPoolExecutor(RANKS) as pool:
        places = list(pool.map(lambda rank: joined(rank, into=into), range(RANKS)))
    (job,) = {place.job for place in places}
    assert [place.run for place in places] == [rank_directory(job, r) for r in range(RANKS)]
    assert is_profile_job(job)
    assert read_job(job) == manifest(RANKS)
    assert into is None or job == Path(into)


def test_a_directory_of_its_own_is_named_after_its_time_as_any_run(
    joined: Callable[..., JobPlace],
) -> None:
    place = joined(0)
    assert place.job.parent == Path("memgauge-runs")
    assert place.job.name.endswith("-profile")
    assert not place.job.name.startswith(".")


def test_a_further_profile_of_the_same_job_has_a_directory_of_its_own(
    joined: Callable[..., JobPlace],
) -> None:
    first = [joined(rank).job for rank in (0, 1)]
    again = [joined(rank).job for rank in (1, 0)]
    assert len(set(first)) == len(set(again)) == 1
    assert first[0] != again[0]


def test_another_job_is_refused(joined: Callable[..., JobPlace]) -> None:
    joined(0, into="out")
    with pytest.raises(RequestError, match="out: holds another job; name a new or empty"):
        joined(1, manifest(RANKS, job="ba9876543210"), into="out")
    with pytest.raises(RequestError, match="already holds a run of rank 0"):
        joined(0, into="out")


def test_nodes_without_a_common_name_of_their_job_share_what_was_named(
    joined: Callable[..., JobPlace],
) -> None:
    here = joined(0, manifest(RANKS, job="a" * 12, job_host="n0"), into="out")
    there = joined(1, manifest(RANKS, job="b" * 12, job_host="n1"), into="out")
    assert here.job == there.job
    for other in (
        manifest(RANKS, job="b" * 12, job_host="n0"),
        manifest(RANKS, job="b" * 12),
        manifest(RANKS + 1, job="b" * 12, job_host="n1"),
    ):
        with pytest.raises(RequestError, match="another job"):
            joined(2, other, into="out")


@pytest.mark.parametrize("name", ["notes.txt", "records.jsonl", "rank-0"])
def test_a_directory_that_holds_something_else_is_refused(
    joined: Callable[..., JobPlace], name: str
) -> None:
    Path("out").mkdir()
    Path("out", name).touch()
    with pytest.raises(RequestError, match="neither empty nor a job of ranks"):
        joined(1, into="out")
    assert os.listdir("out") == [name]  # noqa: PTH208


def test_a_file_in_its_place_is_refused(joined: Callable[..., JobPlace]) -> None:
    Path("out").touch()
    with pytest.raises(RequestError, match="out: cannot hold a run: it is not a directory"):
        joined(0, into="out")


def test_ranks_that_recorded_nothing_leave_nothing(working_directory: Path) -> None:
    for into in (None, "out"):
        with joined_job(into, manifest(2), 0), joined_job(into, manifest(2), 1):
            pass
    assert list(working_directory.iterdir()) == []


def test_a_rank_that_recorded_nothing_leaves_the_others(joined: Callable[..., JobPlace]) -> None:
    with joined_job(None, manifest(RANKS), 0):
        place = joined(1)
    assert sorted(os.listdir(place.job)) == [JOB_NAME, "rank-1"]  # noqa: PTH208


@pytest.mark.parametrize("target", ["../elsewhere", "/elsewhere", ".hidden"])
def test_a_link_that_leads_elsewhere_is_refused(
    joined: Callable[..., JobPlace], target: str
) -> None:
    Path("memgauge-runs").mkdir()
    Path("memgauge-runs", f".job-{manifest().job}-1").symlink_to(target)
    with pytest.raises(RequestError, match="does not name a directory beside it"):
        joined(0)


def test_the_job_has_ended_when_every_rank_wrote_its_last_record(tmp_path: Path) -> None:
    end = msgspec.json.encode(RunEnd(status="complete", elapsed_s=1.0, rounds=0)) + b"\n"
    for rank, content in enumerate((end, end[:-1], b"", b"{}\n")):
        rank_directory(tmp_path, rank).mkdir()
        (rank_directory(tmp_path, rank) / "records.jsonl").write_bytes(b'{"a": 1}\n' + content)
    assert have_all_ended(tmp_path, 1)
    assert [have_all_ended(tmp_path, ranks) for ranks in (2, 5)] == [False, False]
    (rank_directory(tmp_path, 1) / "records.jsonl").write_bytes(end)
    assert have_all_ended(tmp_path, 2)


def test_the_samples_of_all_ranks_are_added(tmp_path: Path) -> None:
    for rank, size in enumerate((10, 200)):
        rank_directory(tmp_path, rank).mkdir()
        (rank_directory(tmp_path, rank) / "process.lane").write_bytes(b"x" * size)
        (rank_directory(tmp_path, rank) / "records.jsonl").write_bytes(b"x" * 1000)
    assert sampled_bytes(tmp_path) == 210


def test_one_of_all_makes_the_page(tmp_path: Path) -> None:
    with ThreadPoolExecutor(RANKS) as pool:
        chosen = list(pool.map(lambda _: is_first_to_report(tmp_path), range(RANKS)))
    assert sum(chosen) == 1
    assert (tmp_path / REPORTED_NAME).exists()


def test_a_job_is_no_run_and_its_message_names_one(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest())
    with pytest.raises(RunFileError, match=r"a job of several ranks; give the run of one, such as"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{", "does not describe a job"),
        (b'{"format_version": 1}', "does not describe a job"),
        (
            msgspec.json.encode(manifest(format_version=JOB_VERSION + 1)),
            "written by a later memgauge",
        ),
    ],
)
def test_a_manifest_that_cannot_be_read_says_why(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / JOB_NAME).write_bytes(content)
    with pytest.raises(RunFileError, match=why):
        read_job(tmp_path)


def test_the_start_of_a_run_need_not_tell_a_rank() -> None:
    assert msgspec.json.decode(msgspec.json.encode(build.start()), type=dict)["rank"] is None
