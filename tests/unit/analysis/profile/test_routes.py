"""Memory traffic of a profile by two routes: totals of the same time, side by side."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.analysis.profile import runs as made
from tests.unit.analysis.profile.runs import MS, S, counter, every

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.profile.document import profile_figures
from memgauge.analysis.profile.section import analyse
from memgauge.model.run import Run

LENGTH_S = 4
PCP_MS = 100


def two_routes(directory: Path, factor: float = 1.0, writes: bool = True) -> Run:
    """perf 100 times a second, pcp ten times, both of reads and writes of one socket."""

    def reads(_: float) -> float:
        return 1e7

    def lane(name: str, interval_ns: int, scale: float) -> made.Made:
        ways = [("read_bytes", 64.0), *([("write_bytes", 32.0)] if writes else [])]
        counters = [
            counter(f"{name}:unit/{quantity}/@unit_0", at, quantity=quantity, scale=worth * scale)
            for at, (quantity, worth) in enumerate(ways)
        ]
        samples = made.sampled([reads] * len(ways), counters, every(interval_ns, LENGTH_S * S))
        return made.Made(counters, samples, interval_ns=interval_ns, name=f"counters-{name}")

    return made.profile(directory, lane("perf", 10 * MS, 1.0), lane("pcp", PCP_MS * MS, factor))


def test_both_totals_stand_side_by_side_with_their_ratio(tmp_path: Path) -> None:
    section = analyse(figures_of(two_routes(tmp_path, 0.5)))
    (table,) = [table for table in section.tables if table.name == "profile-routes"]
    assert [column.title for column in table.columns] == ["what", "perf", "pcp", "pcp : perf"]
    rows = {row[0]: row[1:] for row in table.rows}
    for way, each in (("reads", 0.64), ("writes", 0.32), ("reads and writes", 0.96)):
        perf, pcp, ratio = rows[way]
        assert perf == pytest.approx(each * LENGTH_S, rel=0.01)
        assert pcp == pytest.approx(each * LENGTH_S / 2, rel=0.01)
        assert ratio == pytest.approx(0.5, rel=0.01)
    assert "Phases and totals above are by perf" in (table.note or "")


@pytest.mark.parametrize(("factor", "level"), [(1.0, "good"), (1.05, "good"), (2.0, "warning")])
def test_agreement_allows_for_what_the_slower_route_leaves_open(
    tmp_path: Path, factor: float, level: str
) -> None:
    """Two intervals of 100 ms in 4 s are 5%, and 2% more is agreement."""
    verdicts = analyse(figures_of(two_routes(tmp_path, factor))).verdicts
    (found,) = [one for one in verdicts if one.text.startswith("By pcp")]
    assert found.level == level


def test_tracks_of_both_are_drawn_under_names_of_their_own(tmp_path: Path) -> None:
    found = profile_figures(two_routes(tmp_path))
    names = [one.name for one in found.tracks if one.quantity == "read_bytes"]
    assert len(set(names)) == 2
    assert all(route in " ".join(names) for route in ("perf", "pcp"))


def test_the_document_holds_every_route(tmp_path: Path) -> None:
    found = profile_figures(two_routes(tmp_path, 2.0)).routes
    assert found is not None
    assert [one.back_end for one in found.routes] == ["perf", "pcp"]
    first, other = found.routes
    assert first.traffic_bytes is not None
    assert other.traffic_bytes == pytest.approx(2 * first.traffic_bytes, rel=0.01)
    assert found.seconds == pytest.approx(LENGTH_S, rel=0.02)


def test_what_a_route_does_not_count_is_missing_and_no_zero(tmp_path: Path) -> None:
    found = profile_figures(two_routes(tmp_path, writes=False)).routes
    assert found is not None
    assert {(one.write_bytes, one.traffic_bytes) for one in found.routes} == {(None, None)}


def test_one_route_has_no_table(tmp_path: Path) -> None:
    alone = made.profile(
        tmp_path,
        made.Made(
            [made.reads(0)], made.sampled([lambda _: 1e7], [made.reads(0)], every(MS * 10, S))
        ),
    )
    assert profile_figures(alone).routes is None
