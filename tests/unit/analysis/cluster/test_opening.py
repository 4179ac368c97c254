"""What the page of a cluster begins with."""

from __future__ import annotations

from tests.unit.analysis.cluster.nodes import alike, cluster, node

from memgauge.analysis.cluster.groups import Cluster, combine
from memgauge.analysis.cluster.opening import opening
from memgauge.analysis.cluster.report import report_of
from memgauge.analysis.section import AnswerLine
from memgauge.reports.html.page import render


def lines(of: Cluster) -> dict[str, AnswerLine]:
    found = opening(combine(of))
    assert 2 <= len(found) <= 5
    return {line.label: line for line in found}


def test_nodes_the_most_unlike_one_and_the_ends() -> None:
    found = lines(cluster(alike(30) | {"node7": node(0.79)}))
    assert list(found) == ["Measured", "Unlike", "Bandwidth", "Latency"]
    assert found["Unlike"].detail.startswith("node7 differs most: ")
    assert "robust z" in found["Unlike"].detail
    assert [figure.name for figure in found["Bandwidth"].figures] == ["median", "lowest", "highest"]
    assert "lowest on node7" in found["Bandwidth"].detail
    assert "highest on node7" in found["Latency"].detail


def test_nodes_that_are_alike_are_said_to_be() -> None:
    said = lines(cluster(alike(20)))["Unlike"].detail
    assert said == "no node differs from the others by more than chance (80 figures tested)"


def test_with_too_few_nodes_it_cannot_be_told() -> None:
    found = lines(cluster({"one": node()}))
    assert found["Unlike"].detail.startswith("cannot be told: the test needs 6 nodes")
    assert [figure.name for figure in found["Bandwidth"].figures] == [""]


def test_without_a_node_nothing_but_that_is_said() -> None:
    assert list(lines(cluster({}))) == ["Measured", "Unlike"]


def test_the_page_begins_with_it() -> None:
    page = render(report_of(combine(cluster(alike(20)))))
    begin = page.index("<main>")
    assert "no node differs from the others" in page[begin : page.index("<section", begin)]
