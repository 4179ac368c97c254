"""Marks of a program become regions: nested, on many threads, torn, and on a clock that drifts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from memgauge.model.storage import marks as model_marks
from memgauge.model.storage.marks import regions_of
from memgauge.runner.profiling.marks import read_marks
from memgauge.system.environment.clock import ClockPair, on_run_clock

if TYPE_CHECKING:
    import pytest


def lines(*marks: str) -> list[bytes]:
    return [f"{mark}\n".encode() for mark in marks]


def regions(*marks: str) -> list[tuple[str, int, int | None]]:
    made = regions_of(lines(*marks), lambda stamp_ns: stamp_ns - 1000).regions
    return [(region.name, region.begin_ns, region.end_ns) for region in made]


def test_an_end_closes_the_latest_begin_of_its_name_on_its_thread() -> None:
    assert regions(
        "B 2000 7 7 work", "B 2100 7 8 work", "B 2200 7 7 work", "E 2300 7 7 work",
        "E 2400 7 8 work", "E 2500 7 7 work",
    ) == [("work", 1000, 1500), ("work", 1100, 1400), ("work", 1200, 1300)]  # fmt: skip


def test_the_processor_time_of_a_thread_between_its_marks_is_kept() -> None:
    made = regions_of(
        lines(
            "b 2000 7 7 500 work", "b 2100 7 8 10 work", "e 2300 7 7 650 work",
            "e 2400 7 8 310 work",
            "b 2500 7 7 900 old end", "E 2600 7 7 old end", "b 2700 7 7 900 clock went back",
            "e 2800 7 7 800 clock went back",
        ), int,
    ).regions  # fmt: skip
    assert [(one.name, one.tid, one.cpu_ns) for one in made] == [
        ("work", 7, 150), ("work", 8, 300), ("old end", 7, None), ("clock went back", 7, None),
    ]  # fmt: skip


def test_names_may_hold_blanks_and_any_letters() -> None:
    assert regions("B 2000 7 7 fill  the ärray ", "E 3000 7 7 fill  the ärray ") == [
        ("fill  the ärray ", 1000, 2000)
    ]


def test_what_never_ended_stays_open_and_the_order_is_that_of_begins() -> None:
    assert regions("B 3000 7 8 late", "B 2000 7 7 early") == [
        ("early", 1000, None),
        ("late", 2000, None),
    ]


def test_torn_lines_and_ends_without_begin_are_left_out_and_told() -> None:
    marks = regions_of(
        [b"B 2000 7 7 a\n", b"E 30", b"X 1 2 3 b\n", b"\xff\n", b"E 3000 7 7 b\n"], int
    )
    assert [region.name for region in marks.regions] == ["a"]
    assert [warning.message for warning in marks.warnings] == [
        "3 lines of marks are incomplete and were left out",
        "1 regions ended without a recorded begin",
    ]


def test_there_is_a_bound_on_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [mark for _ in range(5) for mark in lines("B 2000 7 7 a", "E 2001 7 7 a")]
    monkeypatch.setattr(model_marks, "MOST_REGIONS", 3)
    marks = regions_of(many, int)
    assert len(marks.regions) == 3
    assert "2 regions beyond the first 3 were left out" in {w.message for w in marks.warnings}


@given(st.binary(max_size=300))
def test_any_bytes_give_regions_or_warnings(content: bytes) -> None:
    marks = regions_of(content.splitlines(keepends=True), int)
    assert len(marks.regions) + len(marks.warnings) <= content.count(b"\n") + 3


def test_a_program_that_marked_nothing_has_no_regions(tmp_path: Path) -> None:
    assert read_marks(tmp_path / "marks.txt", int).regions == []
    assert read_marks(tmp_path, int).warnings[0].code == "marks"


def test_the_raw_clock_is_followed_where_it_drifts_from_the_runs() -> None:
    hour_ns = 3_600_000_000_000
    drifted_ns = hour_ns + 72_000_000  # 20 ppm
    to_run = on_run_clock(ClockPair(5_000, 1_000), ClockPair(5_000 + hour_ns, 1_000 + drifted_ns))
    assert to_run(5_000) == 1_000
    assert to_run(5_000 + hour_ns // 2) == 1_000 + drifted_ns // 2
    assert to_run(5_000 + hour_ns) == 1_000 + drifted_ns
    still = on_run_clock(ClockPair(5_000, 1_000), ClockPair(5_000, 1_000))
    assert still(6_000) == 2_000


def test_the_two_clocks_are_read_at_one_instant() -> None:
    first, last = ClockPair.now(), ClockPair.now()
    raw_ns, run_ns = last.raw_ns - first.raw_ns, last.run_ns - first.run_ns
    assert abs(raw_ns - run_ns) < 1_000_000
