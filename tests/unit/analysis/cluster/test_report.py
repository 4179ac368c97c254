from pathlib import Path

import jsonschema
import msgspec
import pytest
from tests.unit.analysis.cluster.nodes import FACTS, alike, cluster, manifest_node, node

from memgauge.analysis.cluster.charts import MOST_ROWS, TILES
from memgauge.analysis.cluster.document import ClusterDocument, cluster_document
from memgauge.analysis.cluster.groups import Cluster, combine
from memgauge.analysis.cluster.report import report_of
from memgauge.analysis.schema import cluster_schema
from memgauge.analysis.section import Report
from memgauge.model.storage.schema import schema_text
from memgauge.reports.html import page as html
from memgauge.reports.terminal import report as terminal


def analysed(of: Cluster) -> Report:
    return report_of(combine(of))


def texts(report: Report) -> str:
    return "\n".join(verdict.text for verdict in report.verdicts)


def test_a_slow_node_is_named_with_its_reasons() -> None:
    slow = node(
        0.79,
        facts=FACTS | {"frequency governor": "powersave", "transparent huge pages": "never"},
        shares={"steal": 0.12, "other programs": 0.0},
        clock_ghz=2.1,
    )
    combined = combine(cluster(alike(31) | {"node7": slow}))
    assert [one.node for one in combined.unlike] == ["node7"]
    said = texts(report_of(combined))
    assert "node7: " in said
    assert "the median of 31 nodes, robust z " in said
    for reason in (
        "the hypervisor took 12% of its processors' time (steal; median of all nodes 0.0%)",
        "its core clock was 2.10 GHz (median of all nodes 3.00 GHz)",
        "its frequency governor is powersave, while 30 of 31 nodes have performance",
        "its transparent huge pages is never, while 30 of 31 nodes have always",
    ):
        assert reason in said


def test_a_slow_node_without_a_recorded_reason_is_said_to_have_none() -> None:
    report = analysed(cluster(alike(20) | {"node7": node(0.7)}))
    (known,) = [one for one in report.verdicts if one.text.startswith("node7")]
    assert "nothing else that was recorded distinguishes it from the others" in known.text
    assert known.remedy is not None
    assert "memory modules" in known.remedy


def test_alike_nodes_are_said_to_be() -> None:
    assert "No node differs from the others (80 figures of 20 nodes" in texts(
        analysed(cluster(alike(20)))
    )


def test_two_nodes_are_too_few_for_outliers_and_that_is_said() -> None:
    report = analysed(cluster({"one": node(), "other": node(0.5)}))
    assert "No outliers can be identified among 2 nodes" in texts(report)
    assert not any(section.name == "unlike" for section in report.sections)
    (chart,) = report.sections[0].charts
    assert [series.name for series in chart.series] == ["one", "other"]
    assert chart.series[1].y[0] == pytest.approx(25 / 37.5 - 1)


def test_nodes_of_different_kinds_are_not_compared() -> None:
    fat = {f"fat{at}": node(3.0, cpus=64) for at in range(8)}
    combined = combine(cluster(alike(20) | fat))
    assert [len(group.figures) for group in combined.groups] == [20, 8]
    assert combined.unlike == []
    report = report_of(combined)
    assert report.machine == (
        "20 nodes of Example Processor, 2 threads; 8 nodes of Example Processor, 64 threads"
    )


def test_missing_nodes_are_named_and_why() -> None:
    nodes = [manifest_node(f"node{at}", at) for at in range(7)]
    nodes.append(manifest_node("dead", 7, state="given up", why="it sent no message"))
    made = cluster(alike(7), {"dead": "it sent no message"}, nodes=nodes, unheard=[9])
    report = analysed(made)
    assert not report.complete
    assert report.status.startswith("7 of 8 nodes measured; 1 given up; at once")
    assert "dead has no figures: it sent no message." in texts(report)
    assert "1 rank never reported their node: 9." in texts(report)
    table = report.sections[0].tables[-1]
    assert table.rows == [["dead", "given up", "it sent no message"]]


def test_a_job_that_was_killed_is_no_complete_one() -> None:
    report = analysed(cluster(alike(7), ended=False))
    assert not report.complete
    assert "the job was killed before its end, or is still running" in report.status


def test_name_spaces_of_one_machine_are_told() -> None:
    nodes = [manifest_node(name, boot="same") for name in ("one", "other")]
    figures = {"one": node(), "other": node()}
    at_once = analysed(cluster(figures, nodes=nodes))
    assert (
        "one, other are one machine under 2 host names (one boot): measured at the same time"
        in texts(at_once)
    )
    in_turn = analysed(cluster(figures, nodes=nodes, nodes_at_once=1))
    assert "measured at the same time" not in texts(in_turn)


def test_problems_of_nodes_are_passed_on() -> None:
    figures = alike(3) | {"bad": node(problems=["Validation failed."])}
    report = analysed(cluster(figures))
    assert [one.text for one in report.verdicts if one.level == "problem"] == [
        "bad: Validation failed."
    ]


def test_versions_that_differ_are_told() -> None:
    figures = alike(2) | {"old": node(memgauge_version="0.0.1")}
    assert "different versions of memgauge: 0.1.0 on 2, 0.0.1 on 1" in texts(
        analysed(cluster(figures))
    )


def test_the_published_schema_is_the_present_one() -> None:
    published = Path(__file__).parents[4] / "docs" / "schema" / "cluster-1.json"
    assert published.read_text(encoding="utf-8") == schema_text(cluster_schema()), (
        f"publish it: memgauge schema --of cluster > docs/schema/{published.name}"
    )


@pytest.mark.parametrize("count", [1, 2, 7, MOST_ROWS, MOST_ROWS + 1, 200])
def test_reports_of_any_size_are_drawn_and_printed(count: int) -> None:
    report = analysed(cluster(alike(count)))
    charts = report.sections[0].charts
    if count <= MOST_ROWS:
        assert [chart.name for chart in charts] == ["cluster-nodes"] * (count > 1)
    else:
        tiles, rows = charts
        assert sum(len(series.x) for series in tiles.series) == count
        assert len(tiles.series) == -(-count // TILES)
        assert len(rows.series) == MOST_ROWS
    text = terminal.render(report, width=80, color=False, whole=False)
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) < 130
    assert report.title in html.render(report)


def test_no_node_at_all_is_a_report_too() -> None:
    report = analysed(cluster({}, {"one": "it was measuring when the job was killed"}))
    assert "no node was measured" in report.machine
    assert html.render(report)


def test_the_document_follows_its_schema_and_judges_each_figure() -> None:
    combined = combine(cluster(alike(19) | {"slow": node(0.7)}, {"dead": "gone"}))
    document = cluster_document(combined)
    data = msgspec.json.decode(msgspec.json.encode(document))
    jsonschema.validate(data, cluster_schema())
    assert msgspec.convert(data, ClusterDocument) == document
    by_name = {one.name: one for one in document.nodes}
    assert {one.verdict for one in by_name["slow"].figures} == {"slower"}
    assert {one.verdict for one in by_name["node1"].figures} == {"usual"}
    assert by_name["dead"].figures == []
    assert by_name["dead"].why == "gone"
    few = cluster_document(combine(cluster(alike(2))))
    assert few.nodes[0].figures[0].verdict == (
        "not tested: fewer than 6 nodes of its kind have this figure"
    )
