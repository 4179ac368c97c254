"""The reach of the TLB of a run as a record for other runs."""

from __future__ import annotations

from tests.unit.analysis.pages.test_section import a_run

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.pages.measured import measured_reach
from memgauge.model.run import run_of

MIB = 1 << 20


def test_the_reach_is_where_the_last_level_of_base_pages_misses() -> None:
    found = measured_reach(figures_of(a_run()))
    assert found is not None
    assert (found.run_id, found.page_bytes) == ("abc", 4096)
    assert found.reach_bytes == 32 * MIB  # 8192 pages miss, 4096 do not
    assert found.splits_huge_pages is False


def test_huge_pages_in_pieces_are_known_and_those_that_were_not_measured_are_not() -> None:
    split = measured_reach(figures_of(a_run(split=True)))
    assert split is not None
    assert split.splits_huge_pages is True
    base = measured_reach(figures_of(a_run(kinds=("4k",), thp="never")))
    assert base is not None
    assert (base.reach_bytes, base.splits_huge_pages) == (32 * MIB, None)


def test_a_run_without_pages_has_none() -> None:
    run = a_run()
    assert measured_reach(figures_of(run_of([run.start]))) is None
