"""What the matrices say: ratios, asymmetry, totals, and what the firmware claims beside."""

import msgspec
import pytest
from tests.unit.analysis.cells import rows, value
from tests.unit.analysis.numa.runs import (
    ALONE,
    AT_ONCE,
    LATENCIES,
    latency_point,
    machine,
    numa_run,
)
from tests.unit.analysis.records import sample_of
from tests.unit.analysis.runs import start

from memgauge.analysis.comparison.figures import of_run
from memgauge.analysis.comparison.ratios import compare
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.numa.section import analyse
from memgauge.analysis.report.cross_checks import crosschecks
from memgauge.analysis.section import Chart, Section
from memgauge.model.records import AnyRecord
from memgauge.model.run import run_of


@pytest.fixture(scope="module")
def section() -> Section:
    return analyse(figures_of(numa_run(of=machine(claims={0: 90.0, 1: 90.0}))))


def texts(section: Section) -> list[str]:
    return [verdict.text for verdict in section.verdicts]


def chart(section: Section, name: str) -> Chart:
    return next(found for found in section.charts if found.name == name)


def test_every_pair_is_a_cell_of_each_heat_map(section: Section) -> None:
    assert [one.name for one in section.charts] == ["numa-latency", "numa-read", "numa-read-all"]
    for name, matrix in (
        ("numa-latency", LATENCIES),
        ("numa-read", ALONE),
        ("numa-read-all", AT_ONCE),
    ):
        drawn = chart(section, name)
        assert drawn.kind == "heatmap"
        assert [series.name for series in drawn.series] == ["node 0", "node 1"]
        for row, series in enumerate(drawn.series):
            assert series.x == ["0", "1"]
            for column, figure in enumerate(series.y):
                assert figure == pytest.approx(matrix[row, column], rel=0.02)


def test_remote_over_local_stands_with_its_interval(section: Section) -> None:
    latency, slit, bandwidth, total = texts(section)
    assert latency.startswith("Remote latency is at worst 1.81 (1.81..1.81) times that of")
    assert "(from node 1 to memory of node 0: 18" in latency
    assert "at best 1.80 (" in latency
    assert bandwidth.startswith("Remote read bandwidth is at worst 0.50 (")
    assert total.startswith("All pairs at once reach 60.")
    assert "GB/s (read), 0.7" in total
    assert "what nodes reach on their own memory one at a time, added (80." in total
    assert slit == (
        "By the firmware's distances (SLIT, not measured), access from node 1 to memory of node 0 "
        "takes 2.1 times as long as local access: near the measured 1.81."
    )


def test_distances_far_from_what_was_measured_are_said_to_be() -> None:
    of = machine(distances={0: [10, 80], 1: [80, 10]})
    assert (
        "access from node 1 to memory of node 0 takes 8.0 times as long as local access: "
        "far from the measured 1.81" in " ".join(texts(analyse(figures_of(numa_run(of=of)))))
    )


def test_claims_stand_in_columns_that_are_called_claims(section: Section) -> None:
    found = {(row["CPU node"], row["memory node"]): row for row in rows(section.tables[0])}
    assert set(found) == set(ALONE)
    assert found[0, 0]["HMAT latency, claimed"] == 90.0
    assert found[0, 0]["HMAT read, claimed"] == 50.0
    assert found[0, 0]["HMAT write, claimed"] is None
    assert found[0, 1]["HMAT latency, claimed"] is None, "claimed of the nearest nodes only"
    assert (found[0, 0]["SLIT, claimed"], found[0, 1]["SLIT, claimed"]) == (10, 21)
    assert value(found[0, 1]["read over local"]) == pytest.approx(0.5, rel=0.01)
    assert found[0, 0]["read over local"] is None


def test_all_at_once_is_summed_visit_by_visit(section: Section) -> None:
    (row,) = rows(section.tables[1])
    assert value(row["all at once"]) == pytest.approx(60, rel=0.01)
    assert value(row["the one over the other"]) == pytest.approx(0.75, rel=0.01)


def test_directions_that_differ_are_said() -> None:
    lopsided = {**ALONE, (0, 1): 30.0}
    found = texts(analyse(figures_of(numa_run(alone=lopsided))))
    assert any(
        text.startswith(
            "The two directions differ: read bandwidth from node 0 to memory of node 1 is 1.49 ("
        )
        and text.endswith("times that from node 1 to memory of node 0.")
        for text in found
    )
    assert not any("directions" in text for text in texts(analyse(figures_of(numa_run()))))


def test_memory_without_cpus_has_no_row_and_is_compared_with_the_nodes_own() -> None:
    latencies = {(0, 0): 100.0, (0, 2): 300.0}
    run = numa_run(latencies=latencies, alone={(0, 0): 40.0, (0, 2): 10.0}, at_once=None)
    section = analyse(figures_of(run))
    drawn = chart(section, "numa-latency")
    assert [series.name for series in drawn.series] == ["node 0"]
    assert drawn.series[0].x == ["0", "2"]
    assert texts(section)[0].startswith("Remote latency is at worst 3.00 (")
    assert len(section.tables) == 1, "nothing was run at once"


def test_few_rounds_are_said() -> None:
    section = analyse(figures_of(numa_run(rounds=4)))
    assert "too few rounds for an interval" in texts(section)[0]
    assert section.verdicts[0].level == "warning"


def test_a_pair_that_was_never_measured_is_a_gap() -> None:
    latencies = {pair: ns for pair, ns in LATENCIES.items() if pair != (1, 1)}
    section = analyse(figures_of(numa_run(latencies=latencies)))
    assert chart(section, "numa-latency").series[1].y == [pytest.approx(181, rel=0.02), None]


def test_nothing_measured_is_said() -> None:
    section = analyse(figures_of(numa_run(rounds=0)))
    assert texts(section) == ["No pair of nodes was measured."]
    assert (section.tables, section.charts) == ([], [])


@pytest.mark.parametrize(
    ("factor", "pages", "outcomes"),
    [(1.0, "thp", {"agrees"}), (1.2, "thp", {"disagrees"}), (1.0, "4k", set())],
)
def test_pairs_are_checked_against_latencys(factor: float, pages: str, outcomes: set[str]) -> None:
    def of_latency(pair: tuple[int, int]) -> AnyRecord:
        point = latency_point(pair)
        name = f"latency/DRAM/block-random/{pages}/node{pair[0]}-node{pair[1]}"
        return msgspec.structs.replace(
            point,
            point=name,
            experiment="latency",
            requested={**point.requested, "level": "DRAM"},
            actual={**point.actual, "pages": pages},
        )

    ours = [(latency_point(pair), ns) for pair, ns in LATENCIES.items()]
    theirs = [(of_latency(pair), ns * factor) for pair, ns in LATENCIES.items()]
    records: list[AnyRecord] = [start(machine())]
    records += [point for point, _ in (*ours, *theirs)]
    for round_ in range(60):
        wobble = 1 + 0.001 * (round_ % 7)
        records += [sample_of(point, ns * wobble, round_) for point, ns in (*ours, *theirs)]  # type: ignore[arg-type]
    checks = [c for c in crosschecks(figures_of(run_of(records))) if c.what.startswith("numa")]
    assert {check.outcome for check in checks} == outcomes
    assert len(checks) == (4 if outcomes else 0)


def test_two_runs_are_compared_pair_by_pair() -> None:
    faster = {pair: ns * 0.9 for pair, ns in LATENCIES.items()}
    sources = [
        of_run(figures_of(run), name)
        for name, run in (("one", numa_run()), ("other", numa_run(latencies=faster)))
    ]
    (pair,) = compare(sources).pairs
    assert len(pair.rows) == 12
    assert {row.name for row in pair.rows} >= {"numa/latency/n0-n1", "numa/read/all/n1-n1"}
