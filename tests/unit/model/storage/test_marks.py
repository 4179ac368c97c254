"""Marks of a profile that was killed are regions when its run is read."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.profile.runs import MS, Made, S, every, profile, ran, reads, sampled

from memgauge.analysis.profile.section import profile_of
from memgauge.model.run import Run
from memgauge.model.storage.marks import MARKS_NAME
from memgauge.model.storage.run_reader import read_run


def killed(directory: Path, marks: bytes, *, was_killed: bool = True) -> Run:
    """A run whose program left these marks; their stamps count from the begin of the run."""
    samples = sampled([lambda _: 1e6], [reads(0)], every(10 * MS, 2 * S))
    made = profile(directory, Made([reads(0)], samples), process=ran(None), killed=was_killed)
    epoch_ns = made.start.clock.epoch_raw_ns
    lines = [
        b" ".join([kind, str(int(stamp) + epoch_ns).encode(), rest])
        for kind, stamp, rest in (line.split(b" ", 2) for line in marks.splitlines(keepends=True))
    ]
    (directory / MARKS_NAME).write_bytes(b"".join(lines))
    return read_run(directory)


MARKED = b"B 500000000 7 7 work\nE 1500000000 7 7 work\nB 1600000000 7 7 more\n"


def test_a_killed_profile_has_its_regions(tmp_path: Path) -> None:
    run = killed(tmp_path, MARKED)
    assert [(region.name, region.begin_ns, region.end_ns) for region in run.regions] == [
        ("work", S // 2, 3 * S // 2),
        ("more", 8 * S // 5, None),
    ]
    timeline = profile_of(run).timeline
    assert timeline is not None
    (work, _) = timeline.regions
    assert work.end_ns is not None
    counted = timeline.between(timeline.tracks[0], work.begin_ns, work.end_ns)
    assert counted is not None
    assert counted[0] == pytest.approx(64e6)


def test_marks_of_a_profile_that_ended_are_not_read_again(tmp_path: Path) -> None:
    assert killed(tmp_path, MARKED, was_killed=False).regions == []


def test_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    killed(tmp_path, MARKED)
    (tmp_path / MARKS_NAME).unlink()
    assert read_run(tmp_path).regions == []
    (tmp_path / MARKS_NAME).mkdir()
    assert read_run(tmp_path).regions == []


@given(st.binary(max_size=3000))
def test_any_marks_are_read(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    directory = tmp_path_factory.getbasetemp()
    killed(directory, b"")
    (directory / MARKS_NAME).write_bytes(text)
    assert profile_of(read_run(directory)).timeline is not None
