"""The conclusions of the NVDIMM study, from its tables alone."""

from itertools import pairwise

import pytest
from tests.unit.analysis.cells import rows
from tests.unit.analysis.published import alone
from tests.unit.analysis.tiers.runs import even, tiers_run

from memgauge.analysis.comparison.figures import of_reference, of_run
from memgauge.analysis.comparison.memory import memory_verdicts
from memgauge.analysis.comparison.published_tiers import published_contest, published_tiers_report
from memgauge.analysis.comparison.ratios import Pair, compare_two
from memgauge.analysis.comparison.verdicts import pair_verdicts
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.section import Section
from memgauge.analysis.tiers.document import contest_figures
from memgauge.analysis.tiers.rules import best_splits, shape_of
from memgauge.api import published
from memgauge.model.errors import RequestError
from memgauge.references.library import load

WITHIN, FROM, TO = "nvdimm-nvm-nvm", "nvdimm-nvm-dram", "nvdimm-dram-nvm"
TABLES = (WITHIN, FROM, TO)


def section(name: str) -> Section:
    return published_tiers_report(load(name)).sections[0]


def said(name: str) -> str:
    return " ".join(verdict.text for verdict in section(name).verdicts)


def test_the_sum_within_nvdimm_falls_from_five_threads_on() -> None:
    shape = shape_of(published_contest(load(WITHIN)).sums, guess=True)
    assert shape.fall is not None
    assert shape.fall.start == 5
    assert shape.fall.deepest_at == 15
    assert shape.fall.deepest > 0.1
    assert "falls from 5 threads in B on" in said(WITHIN)


def test_the_sum_from_nvdimm_stays_level() -> None:
    shape = shape_of(published_contest(load(FROM)).sums, guess=True)
    assert (shape.kind, shape.fall) == ("level", None)
    assert "stays level" in said(FROM)


def test_the_sum_to_nvdimm_falls_only_slightly_from_eleven_on() -> None:
    shape = shape_of(published_contest(load(TO)).sums, guess=True)
    assert shape.fall is not None
    assert shape.fall.start == 11
    assert shape.fall.deepest < 0.05
    assert "falls only slightly from 11 threads in B on" in said(TO)


@pytest.mark.parametrize(
    ("name", "k", "like"), [(WITHIN, 1, [2, 4]), (FROM, 6, []), (TO, 1, [2, 3])]
)
def test_which_split_costs_least(name: str, k: int, like: list[int]) -> None:
    contest = published_contest(load(name))
    assert best_splits(contest.sums, guess=True) == (k, like)
    assert k == 1 + max(range(15), key=load(name).column("sum_MBps").__getitem__)
    assert f" {k} in B costs least" in said(name)


@pytest.mark.parametrize("name", TABLES)
def test_no_conclusion_hangs_on_one_digit_of_the_table(name: str) -> None:
    """Every sum off by 0.05% in either direction, which is far less than it is known to."""
    sums = published_contest(load(name)).sums
    whole = shape_of(sums, guess=True)
    for turn in range(2):
        off = [1.0005 if (k + turn) % 2 else 0.9995 for k, _ in sums]
        moved = [(k, alone(one.value * by)) for (k, one), by in zip(sums, off, strict=True)]
        found = shape_of(moved, guess=True)
        assert found.kind == whole.kind
        assert (found.fall and found.fall.start) == (whole.fall and whole.fall.start)


@pytest.mark.parametrize("name", TABLES)
def test_the_table_holds_the_published_figures_and_no_interval(name: str) -> None:
    reference, found = load(name), rows(section(name).tables[0])
    for column, key in (("dram_MBps", "A"), ("nvdimm_MBps", "B"), ("sum_MBps", "sum")):
        assert [row[key] for row in found] == pytest.approx(
            [value / 1e3 for value in reference.column(column)]
        )
    assert [row["in B"] for row in found] == list(range(1, 16))
    each = [row["each of B"] for row in found]
    assert each == pytest.approx(
        [b / k / 1e3 for k, b in enumerate(reference.column("nvdimm_MBps"), start=1)]
    )
    assert "without intervals" in (section(name).tables[0].note or "")


def test_dram_alone_is_of_another_program_and_says_so() -> None:
    contest = published_contest(load(WITHIN))
    assert contest.alone is not None
    assert contest.alone.value == pytest.approx(65.5098)
    assert "by STREAM" in contest.alone_is
    caveats = " ".join(v.text for v in published_tiers_report(load(WITHIN)).verdicts)
    assert "another program" in caveats
    assert "pointer translation" in caveats
    assert "by hand" in caveats


def test_only_copies_from_nvdimm_ever_reach_dram_alone() -> None:
    assert "no split reaches DRAM alone" in said(WITHIN)
    assert "no split beats DRAM alone by STREAM by more than 0.4%" in said(FROM)
    assert "no split reaches DRAM alone" in said(TO)


def test_one_recommendation_each() -> None:
    assert "Give at most 4 of 16 threads to B (NVDIMM): from 5 on" in said(WITHIN)
    assert "as many of all 16 threads as its work needs" in said(FROM)
    assert "Give at most 10 of 16 threads to B (DRAM to NVDIMM): from 11 on" in said(TO)
    assert all("without an interval" in said(name) for name in TABLES)


def test_the_picture_is_dotted_and_has_dram_alone_as_a_rule() -> None:
    (chart,) = section(WITHIN).charts
    assert [one.name for one in chart.series] == ["A: DRAM", "B: NVDIMM", "sum"]
    assert all(one.dashed for one in chart.series)
    assert [rule.label for rule in chart.rules] == ["DRAM alone by STREAM"]


def test_comparing_tables_1_and_2_gives_table_6() -> None:
    """43.1% at one thread, 37.9% at three, 78.1% at fifteen: to the last digit printed."""
    pair = compare_two(of_reference(load("nvdimm-dram")), of_reference(load("nvdimm")))
    copies = {row.name: row.ratio.value for row in pair.rows}
    printed = load("nvdimm-difference")
    shares = printed.column("nvdimm_over_dram_percent")
    for threads, percent in zip(printed.column("threads"), shares, strict=True):
        ratio = copies[f"stream/copy/standard/double/{int(threads)}t"]
        assert 100 * ratio == pytest.approx(percent, abs=0.0501)


def test_where_text_and_table_of_the_study_disagree_is_said() -> None:
    printed = load("nvdimm-difference")
    shares = dict(
        zip(printed.column("threads"), printed.column("nvdimm_over_dram_percent"), strict=True)
    )
    caveats = " ".join(printed.description.caveats)
    assert shares[16] == 74.3
    assert "75% with 16 threads, where the table has 74.3" in caveats
    assert max(shares.values()) == shares[15] == 78.1
    assert "78.1 with 15" in caveats
    few = [shares[k] for k in (1, 3, 4, 5, 6)]
    assert (min(few), max(few), shares[2]) == (37.9, 43.1, 52.1)
    assert "37.9 to 43.1" in caveats
    assert "52.1 with two" in caveats


def test_what_the_notes_say_of_the_sums_follows_from_them() -> None:
    sums = {name: load(name).column("sum_MBps") for name in TABLES}
    assert "63,133 MB/s there, by 2.2%" in " ".join(load(TO).description.caveats)
    assert 1 - sums[TO][9] / sums[TO][0] == pytest.approx(0.022, abs=0.0005)
    assert (round(min(sums[FROM])), round(max(sums[FROM]))) == (64520, 65749)
    assert "between 64,520 and 65,749" in " ".join(load(FROM).description.caveats)
    assert any(after > before for before, after in pairwise(sums[TO][:10]))


def test_figures_of_the_tables_pair_with_each_other_and_with_a_run() -> None:
    pair = compare_two(of_reference(load(WITHIN)), of_reference(load(FROM)))
    assert len(pair.rows) == 3 * 15
    assert pair.rows[0].name == "tiers/copy/16t/k1/a"
    assert not pair.unpaired


def against_the_study(what: str) -> Pair:
    run = tiers_run(16, even(4.0, 1.0), splits=[4, 5], rounds=20, work=[(what, None)])
    return compare_two(of_run(figures_of(run), "run"), of_reference(load(WITHIN)))


def test_a_run_that_translates_addresses_pairs_with_the_study() -> None:
    pair = against_the_study("copy-translated")
    assert {row.name for row in pair.rows} == {
        f"tiers/copy/16t/k{k}/{part}" for k in (4, 5) for part in ("a", "b", "sum")
    }
    assert not [v for v in memory_verdicts("B", pair) if "in two ways" in v.text]


def test_a_run_that_does_not_is_told_what_differs() -> None:
    pair = against_the_study("copy")
    (access,) = [v for v in memory_verdicts("B", pair) if "in two ways" in v.text]
    assert access.level == "warning"
    assert "direct against translated (4 figures)" in access.text  # B's, and the sums
    assert access.remedy == "measure with --access translated, as the study did"


def test_what_ratios_to_published_figures_say_is_said() -> None:
    """The run's A is as fast as asked for, 4 GB/s a thread; the study's is 44.4 and 41.4 GB/s."""
    (said,) = [
        v.text
        for v in pair_verdicts("B", against_the_study("copy"))
        if "Without verdicts" in v.text
    ]
    assert "of 6 bandwidths" in said
    assert "within the run's own interval in 0 of 6" in said
    pair = compare_two(of_reference(load("nvdimm-dram")), of_reference(load("nvdimm")))
    (said,) = [v.text for v in pair_verdicts("B", pair) if "Without verdicts" in v.text]
    assert "of 128 bandwidths 0 are higher in B than in A and 128 lower" in said
    assert "interval" not in said


def test_the_document_holds_the_conclusions() -> None:
    made = contest_figures(published_contest(load(TO)))
    assert (made.sum, made.falls_from, made.costs_least, made.published) == ("falls", 11, 1, True)
    assert made.splits[0].a is not None
    assert made.splits[0].a.low is None
    assert made.beats_a_alone == []


def test_a_set_without_splits_is_refused() -> None:
    with pytest.raises(RequestError, match="contains no splits of threads"):
        published_contest(load("nvdimm"))


def test_the_api_renders_it() -> None:
    found = published("reference:nvdimm-nvm-nvm")
    assert "Give at most 4 of 16 threads" in " ".join(found.text().split())
    assert found.document()["falls_from"] == 5
