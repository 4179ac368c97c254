"""Time inside a region, by the marks of small programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from memgauge.experiments.diagnose.by_region.timed import (
    BY_PHASE,
    BY_REGION,
    MOST_TIMED,
    RegionTime,
    RegionTimes,
    covered_ns,
)
from memgauge.experiments.diagnose.program.program_runs import ProgramRuns
from memgauge.experiments.diagnose.treatments import Treatment
from memgauge.model.errors import SystemFailure
from memgauge.system.detect import detect

USUAL = Treatment(name="as it is", kind="variant")


@pytest.fixture
def region(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RegionTime]:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with ExitStack() as stack:
        yield RegionTime("solve", stack)
    assert list(tmp_path.iterdir()) == []


def lines_of(*marks: str) -> list[str]:
    """Lines of marks: kind, ns, thread, name."""
    return [f"{kind} {ns} 7 {thread} 0 {name}" for kind, ns, thread, name in map(str.split, marks)]


def marking(region: RegionTime, *marks: str) -> ProgramRuns:
    """A program that leaves these marks."""
    script = "".join(f"echo '{line}' >>$MEMGAUGE_MARKS; " for line in lines_of(*marks)) + "true"
    return ProgramRuns(["sh", "-c", script], detect().allowed_cpus[:1], metric=region)


def test_each_run_has_the_time_in_its_own_region(region: RegionTime) -> None:
    once = ("b 1000 1 solve", "b 1500 1 other", "e 3500 1 solve", "e 9000 1 other")
    runs = marking(region, *once)
    assert [runs.run(USUAL).metric for _ in range(2)] == pytest.approx([2.5e-6, 2.5e-6])


@pytest.mark.parametrize(
    ("marks", "seconds"),
    [
        (("b 0 1 solve", "e 10 1 solve", "b 20 1 solve", "e 25 1 solve"), 15e-9),
        (("b 0 1 solve", "b 5 2 solve", "e 10 1 solve", "e 20 2 solve"), 20e-9),
        (("b 0 1 solve", "b 5 1 solve", "e 10 1 solve", "e 20 1 solve"), 20e-9),
    ],
)
def test_entries_add_up_and_threads_count_once(
    region: RegionTime, marks: tuple[str, ...], seconds: float
) -> None:
    assert marking(region, *marks).run(USUAL).metric == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ((), "never enters region 'solve' .*it marks none; docs/profile.md"),
        (("b 0 1 setup", "e 9 1 setup"), "never enters region 'solve' .*its regions are setup;"),
        (("b 5 1 solve",), "ended inside region 'solve'"),
        (("b 5 1 solve", "e 5 1 solve"), "no time that can be measured in region 'solve'"),
        (("e 5 1 solve",), "in region 'solve' is not known: 1 regions ended without"),
        (("b x 1 solve",), "in region 'solve' is not known: 1 lines of marks are incomplete"),
    ],
)
def test_a_time_that_is_not_known_is_refused(
    region: RegionTime, marks: tuple[str, ...], message: str
) -> None:
    with pytest.raises(SystemFailure, match=message):
        marking(region, *marks).run(USUAL)


@pytest.fixture
def times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RegionTimes]:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with ExitStack() as stack:
        yield RegionTimes(stack)


def after(times: RegionTimes, run_ns: int, *marks: str) -> dict[str, float]:
    """What is known of a run that left these marks, as far as it was asked for any."""
    file = times.environment().get("MEMGAUGE_MARKS")
    if file is not None:
        text = "".join(f"{line}\n" for line in lines_of(*marks))
        Path(file).write_text(text, encoding="ascii")
    return times.of_run(run_ns)


MS = 1_000_000
SOLVE = (f"b {MS} 1 solve", f"e {61 * MS} 1 solve")
SETUP = ("b 0 1 setup", f"e {MS} 1 setup")


def test_the_regions_of_the_first_run_are_timed_in_each(times: RegionTimes) -> None:
    assert after(times, 100 * MS, *SOLVE, *SETUP) == pytest.approx({"solve": 0.06})
    assert times.marks == 4
    assert list(times.chosen) == ["solve"]
    (short,) = times.not_tried
    assert short.name == BY_REGION
    assert short.reason == "setup: shorter than 5% of a run, or than 8 others"
    late = ("b 0 1 late", f"e {90 * MS} 1 late")
    assert after(times, 100 * MS, *SOLVE, *late) == pytest.approx({"solve": 0.06})
    assert after(times, 100 * MS, *late) == {}
    assert after(times, 100 * MS, SOLVE[0]) == {}
    assert after(times, 100 * MS, *SOLVE, "e 5 1 other") == {}


def test_a_run_through_the_shell_leaves_marks(times: RegionTimes) -> None:
    script = "".join(f"echo '{line}' >>$MEMGAUGE_MARKS; " for line in lines_of(*SOLVE)) + "true"
    runs = ProgramRuns(["sh", "-c", script], detect().allowed_cpus[:1], regions=times)
    assert times.not_tried == []
    found = runs.run(USUAL)
    # Too many marks for so short a run, where it is one; else the region.
    assert bool(found.regions_s) != bool(times.not_tried)


def test_the_longest_regions_are_timed_where_there_are_many(times: RegionTimes) -> None:
    marks = [
        mark for at in range(12) for mark in (f"b 0 {at} r{at}", f"e {(at + 10) * MS} {at} r{at}")
    ]
    assert [*after(times, 100 * MS, *marks)] == [f"r{at}" for at in range(11, 11 - MOST_TIMED, -1)]
    assert times.not_tried[0].reason.startswith("r0, r1, r2, r3: shorter")


def test_a_region_in_which_the_first_run_ends_is_left_out_with_the_reason(
    times: RegionTimes,
) -> None:
    assert after(times, 100 * MS, *SOLVE, "b 5 1 tail") == pytest.approx({"solve": 0.06})
    assert [one.reason for one in times.not_tried] == ["tail: a run ends inside it"]


def test_marks_are_switched_off_where_there_are_none_or_too_many(
    times: RegionTimes,
) -> None:
    many = [mark for at in range(200) for mark in (f"b {at} 1 a", f"e {at} 1 a")]
    assert after(times, 100 * MS, *many) == {}
    (one,) = times.not_tried
    assert one.reason == "a run makes 400 marks, which would take too much of its time"
    assert times.environment() == {}
    with ExitStack() as stack:
        unmarked = RegionTimes(stack)
        assert after(unmarked, 100 * MS) == {}
        assert [one.name for one in unmarked.not_tried] == [BY_REGION, BY_PHASE]
        assert unmarked.environment() == {}


SPANS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 30)).map(lambda ends: (min(ends), max(ends))),
    max_size=8,
)


@given(SPANS)
def test_spans_cover_each_moment_once(spans: list[tuple[int, int]]) -> None:
    moments = {at for begin, end in spans for at in range(begin, end)}
    assert covered_ns(spans) == len(moments)
