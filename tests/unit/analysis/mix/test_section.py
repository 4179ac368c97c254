import pytest
from tests.unit.analysis.cells import rows, value
from tests.unit.analysis.loaded.runs import mix_run

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.figures.write_allocate import words
from memgauge.analysis.mix.figures import mix_results
from memgauge.analysis.mix.section import analyse
from memgauge.analysis.section import Section
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.references.library import load

SHARES = (1.0, 0.75, 2 / 3, 0.5, 0.0)
SPEEDS = {"temporal": 20.0, "non-temporal": 28.0}


@pytest.fixture(scope="module")
def section() -> Section:
    return analyse(figures_of(mix_run(SHARES, SPEEDS)))


def test_each_mix_stands_with_its_stores_and_with_write_allocate(section: Section) -> None:
    found = rows(section.tables[0])
    assert len(found) == 2 * (1 + 2 * 4)
    for row in found:
        share = row["reads requested"]
        assert isinstance(share, float)
        end = {None: 40.0, "temporal": 20.0, "NT": 28.0}[row["stores"]]  # type: ignore[index]
        team = row["by"]
        assert isinstance(team, int)
        expected = team * (share * 40 + (1 - share) * end)
        assert value(row["bandwidth"]) == pytest.approx(expected, rel=0.01)
        factor = 2 - share if row["stores"] == "temporal" else 1
        assert value(row["moved"]) == pytest.approx(factor * value(row["bandwidth"]), rel=1e-6)
        assert row["reads issued"] == pytest.approx(share)


def test_all_reads_end_the_lines_of_either_kind_of_stores(section: Section) -> None:
    (chart,) = section.charts
    assert [series.name for series in chart.series] == [
        "4 threads, temporal",
        "4 threads, non-temporal",
        "1 thread, temporal",
        "1 thread, non-temporal",
    ]
    for series in chart.series:
        assert series.x == sorted(SHARES)
        assert series.y[-1] == pytest.approx(160 if series.name.startswith("4") else 40, rel=0.01)
    assert chart.x.unit == "%"


def test_best_and_worst_mix_are_of_the_largest_team(section: Section) -> None:
    best = section.verdicts[0]
    assert best.level == "good"
    assert best.text.startswith("The best mix reaches 16")
    assert "(all reads, 4 threads), 2.0" in best.text
    assert best.text.endswith("with all writes, temporal stores.")


def test_what_write_allocate_costs_is_told_where_most_is_written(section: Section) -> None:
    text = section.verdicts[1].text
    assert text.startswith("Ordinary stores cost bandwidth: non-temporal ones reach 1.4")
    assert "(all writes, 4 threads)" in text
    assert "move 16" in text


def test_mixes_as_fast_as_each_other_have_no_worst() -> None:
    section = analyse(figures_of(mix_run(SHARES, {"non-temporal": 40.0})))
    assert "is as fast within the intervals" in section.verdicts[0].text
    assert len(section.verdicts) == 1


def test_noise_inside_the_intervals_flips_no_verdict() -> None:
    """Runs that differ by their noise alone: other rounds of the same machine."""
    starts = {
        tuple(v.text.split(":")[0].split(",")[0][:24] for v in analyse(figures_of(run)).verdicts)
        for run in (mix_run(SHARES, SPEEDS, rounds=rounds) for rounds in (50, 60, 75, 90))
    }
    assert starts == {("The best mix reaches 160", "Ordinary stores cost ban")}


def test_a_ratio_issued_otherwise_than_asked_is_said() -> None:
    section = analyse(figures_of(mix_run(SHARES, SPEEDS, issued_off=0.02)))
    (warning,) = (verdict for verdict in section.verdicts if verdict.level == "warning")
    assert warning.text.startswith(
        "12 mixes were issued otherwise than requested, the worst with 7"
    )


def test_nothing_measured_is_said() -> None:
    section = analyse(figures_of(mix_run(SHARES, SPEEDS, rounds=0)))
    assert [verdict.text for verdict in section.verdicts] == [
        "No mix of reads and writes was measured."
    ]
    assert (section.tables, section.charts) == ([], [])


def test_few_samples_claim_no_difference() -> None:
    run = mix_run(SHARES, SPEEDS, rounds=5)
    assert all(result.samples == 5 for result in mix_results(figures_of(run)))
    assert not any("Ordinary" in v.text for v in analyse(figures_of(run)).verdicts)


def test_write_allocate_is_put_in_words_by_what_memory_is_seen_to_give() -> None:
    counted, moved = Estimate(30.0, 29.0, 31.0), Estimate(60.0, 58.0, 62.0)
    assert words(counted, None, 50.0) == ""
    assert words(counted, counted, 50.0) == ""
    assert "30.0 GB/s of these move 60.0" in words(counted, moved, 60.0)
    assert "more than any mix reaches here (50.0)" in words(counted, moved, 50.0)


def test_the_published_mixes_differ_by_less_than_6_percent() -> None:
    """The study explains an order of four figures that have no interval; the best is 1:1."""
    table = load("hybrid12-mix")
    speeds = dict(zip([r["mix"] for r in table.rows], table.column("bandwidth_MBps"), strict=True))
    assert max(speeds, key=speeds.__getitem__) == "1:1"
    assert min(speeds, key=speeds.__getitem__) == "all reads"
    assert max(speeds.values()) / min(speeds.values()) == pytest.approx(1.057, abs=0.001)
