"""Whatever files of nodes hold, a report comes out: they are a stranger's."""

from __future__ import annotations

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.analysis.cluster.nodes import cluster, manifest_node

from memgauge.analysis.cluster.document import cluster_document
from memgauge.analysis.cluster.groups import combine
from memgauge.analysis.cluster.report import report_of
from memgauge.model.storage.cluster import LEAST_VALUE, MOST_VALUE, FigureOfNode, NodeFigures
from memgauge.reports.html import page as html
from memgauge.reports.terminal import report as terminal

values = st.floats(LEAST_VALUE, MOST_VALUE) | st.sampled_from([LEAST_VALUE, 1.0, MOST_VALUE])
ends = st.none() | st.floats(0, MOST_VALUE)
names = st.sampled_from(
    [
        "stream/triad/tuned/double/2t",
        "stream/copy/standard/double/1t",
        "stream/copy/standard/double/" + "9" * 200 + "t",
        "latency/DRAM/random/thp",
        "latency",
        "numa/x",
        "",
        "\x1b[31m<script>",
    ]
)
figures = st.builds(
    FigureOfNode,
    name=names,
    regime=st.sampled_from(["", "one regime", "same complex", "\u202e"]),
    unit=st.sampled_from(["GB/s", "ns", "", "%", "B"]),
    direction=st.sampled_from(["higher", "lower"]),
    statistic=st.text(max_size=5),
    value=values,
    low=ends,
    high=ends,
)
nodes = st.builds(
    NodeFigures,
    format_version=st.just(1),
    memgauge_version=st.text(max_size=3),
    run_id=st.text(max_size=3),
    started_at=st.text(max_size=3),
    status=st.text(max_size=5),
    ended=st.sampled_from([None, "complete", "interrupted"]),
    facts=st.dictionaries(st.sampled_from(["processor", "a", "\0"]), st.text(max_size=3)),
    shares=st.dictionaries(st.sampled_from(["steal", "other programs", "what"]), st.floats(0, 1e6)),
    clock_ghz=st.none() | values,
    cpus=st.integers(0, 3),
    sockets=st.integers(0, 2),
    numa_nodes=st.integers(0, 2),
    figures=st.lists(figures, max_size=8),
    problems=st.lists(st.text(max_size=5), max_size=2),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(nodes, max_size=9), st.integers(0, 3), st.booleans())
def test_any_nodes_make_a_report(made: list[NodeFigures], missing: int, ended: bool) -> None:
    figures_ = {f"n{at}": one for at, one in enumerate(made)}
    gone = {f"m{at}": "gone" for at in range(missing)}
    boots = [manifest_node(name, boot="b") for name in (*figures_, *gone)]
    combined = combine(cluster(figures_, gone, nodes=boots, ended=ended))
    for one in figures_.values():  # what is drawn is what can be read
        assert msgspec.json.decode(msgspec.json.encode(one), type=NodeFigures) == one
    report = report_of(combined)
    assert html.render(report)
    text = terminal.render(report, width=80, color=False, whole=False)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert msgspec.json.encode(cluster_document(combined))
