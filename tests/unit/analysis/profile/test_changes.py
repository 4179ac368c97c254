"""Neighbouring phases that look alike are distinguished by what changed."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.profile.runs import (
    MS,
    Made,
    S,
    cpu_time,
    every,
    of_process,
    profile,
    sampled,
    steps,
)

from memgauge.analysis.profile.changes import Change
from memgauge.analysis.profile.messages import looks_like
from memgauge.analysis.profile.phases import Phase, phases_of
from memgauge.analysis.profile.timeline import timeline_of
from memgauge.analysis.profile.units import shown_unit


def phases(directory: Path, *pieces: tuple[float, float], faults: float = 8000.0) -> list[Phase]:
    """Half a CPU throughout; faults in the pieces that say so."""
    counters = [cpu_time(0), of_process(1, "page_faults")]
    rates = [steps((9, 0.5 * S)), steps(*((until, share * faults) for until, share in pieces))]
    samples = sampled(rates, counters, every(10 * MS, round(pieces[-1][0] * S)))
    timeline, _ = timeline_of(profile(directory, Made(counters, samples)))
    assert timeline is not None
    return phases_of(timeline)


def test_a_phase_says_what_changed_at_its_begin(tmp_path: Path) -> None:
    found = phases(tmp_path, (2, 0), (4, 1), (6, 0))
    assert [round(phase.begin_s) for phase in found] == [0, 2, 4]
    said = [looks_like(found, at) or "" for at in range(3)]
    assert said[0] == "about 0.5 cores busy"
    assert found[1].changes[0].track == "page faults"
    assert said[2] == "no more page faults"


def test_a_short_burst_of_faults_alone_is_no_phase(tmp_path: Path) -> None:
    """0.25 s of 20; where it lasts, or in a short run, it is one."""
    assert len(phases(tmp_path, (10, 0), (10.25, 1), (20, 0))) == 1
    long_run, short_run = tmp_path / "long", tmp_path / "short"
    long_run.mkdir()
    short_run.mkdir()
    assert len(phases(long_run, (10, 0), (11, 1), (20, 0))) == 3
    assert len(phases(short_run, (1, 0), (1.5, 1), (2.5, 0))) == 3


POSITIVE = st.floats(0, 1e12)


@given(POSITIVE, POSITIVE, st.sampled_from(["1/s", "B/s", "B", "W", "cores", ""]))
def test_a_change_has_words_for_any_figures(before: float, after: float, unit: str) -> None:
    change = Change(track="some", unit=unit, before=before, after=after)
    words = change.words()
    assert "some" in words
    assert "\n" not in words
    assert ("→" in words) != words.startswith("no more")


def test_words_have_units_a_reader_knows() -> None:
    def words(unit: str, before: float, after: float) -> str:
        return Change(track="x", unit=unit, before=before, after=after).words()

    assert words("1/s", 10_393, 372) == "x 10,393 → 372/s"
    assert words("cores", 0.5, 1.94) == "x 0.50 → 1.94 cores"
    assert words("B/s", 2e9, 150e6) == "x 2.00 → 0.15 GB/s"
    assert words("", 10, 2) == "x 10 → 2"
    assert words("1/s", 500, 0) == "no more x"
    assert shown_unit("W", 5000) == (1.0, "W")
