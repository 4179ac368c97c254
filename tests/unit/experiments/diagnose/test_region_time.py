"""Time inside a region, by the marks of small programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from memgauge.experiments.diagnose.program_runs import ProgramRuns
from memgauge.experiments.diagnose.region_time import RegionTime, covered_ns
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


def marking(region: RegionTime, *marks: str) -> ProgramRuns:
    """A program that leaves these marks: kind, ns, thread, name."""
    lines = [f"{kind} {ns} 7 {thread} 0 {name}" for kind, ns, thread, name in map(str.split, marks)]
    script = "".join(f"echo '{line}' >>$MEMGAUGE_MARKS; " for line in lines) + "true"
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


SPANS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 30)).map(lambda ends: (min(ends), max(ends))),
    max_size=8,
)


@given(SPANS)
def test_spans_cover_each_moment_once(spans: list[tuple[int, int]]) -> None:
    moments = {at for begin, end in spans for at in range(begin, end)}
    assert covered_ns(spans) == len(moments)
