"""What is said of transfers, on runs made by formula."""

import msgspec
import pytest
from tests.unit.analysis.cells import rows, value
from tests.unit.analysis.runs import system
from tests.unit.analysis.transfers.runs import KIB, MIB, SIZES, hockney, transfers_run

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.report.document import Document, json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Section
from memgauge.analysis.transfers.section import analyse
from memgauge.model.run import Run
from memgauge.model.system import Node

TO, FROM = "host-to-device", "device-to-host"
PINNED = {
    ("pinned", TO): hockney(25.0, 64 * KIB),
    ("pinned", FROM): hockney(26.0, 48 * KIB),
}
PAGEABLE = {
    ("pageable", TO): hockney(6.0, 16 * KIB),
    ("pageable", FROM): hockney(5.0, 16 * KIB),
}


def texts(run: Run) -> list[str]:
    return [verdict.text for verdict in analyse(figures_of(run)).verdicts]


@pytest.fixture(scope="module")
def section() -> Section:
    """Half duplex and a bit; pageable memory at a quarter of pinned."""
    run = transfers_run(
        PINNED | PAGEABLE,
        at_once={
            "pinned": lambda size: (
                0.7 * hockney(25.0, 64 * KIB)(size),
                0.8 * hockney(26.0, 48 * KIB)(size),
            )
        },
    )
    return analyse(figures_of(run))


def test_each_direction_has_its_best_its_half_and_its_model(section: Section) -> None:
    found = {row["transfer"]: row for row in rows(section.tables[0])}
    assert list(found) == [
        "host to device, pinned",
        "device to host, pinned",
        "host to device, pageable",
        "device to host, pageable",
    ]
    row = found["host to device, pinned"]
    assert value(row["best"]) == pytest.approx(25.0, rel=0.02)
    assert value(row["r"]) == pytest.approx(25.0, rel=0.02)
    assert value(row["n1/2"]) == pytest.approx(64 * KIB, rel=0.05)
    assert value(row["half at"]) == pytest.approx(64 * KIB, rel=0.1)
    assert value(row["smallest"]) == pytest.approx((64 * KIB + KIB) / 25.0, rel=0.03)
    assert row["of the link"] == pytest.approx(25 / 31.5, rel=0.02)
    assert value(row["n1/2 over r"]) == pytest.approx(64 * KIB / 25.0, rel=0.05)


def test_every_size_has_bandwidth_and_the_time_of_one_transfer(section: Section) -> None:
    sizes = section.tables[1]
    assert [row[0] for row in sizes.rows] == SIZES
    for row in sizes.rows:
        assert len(row) == 1 + 2 * 4
        size = row[0]
        assert isinstance(size, int)
        for speed, took in zip(row[1:5], row[5:], strict=True):
            assert value(speed) * value(took) == pytest.approx(size, rel=1e-9)


def test_both_at_once_are_sums_of_the_same_visits(section: Section) -> None:
    both = section.tables[2]
    for row in rows(both):
        total = value(row["sum"])
        assert total == pytest.approx(value(row["to GPU"]) + value(row["from GPU"]), rel=0.01)
    last = rows(both)[-1]
    assert value(last["gain"]) == pytest.approx((0.7 * 25 + 0.8 * 26) / 26, rel=0.02)
    assert value(last["of both alone, added"]) == pytest.approx(
        (0.7 * 25 + 0.8 * 26) / 51, rel=0.02
    )


def test_the_verdicts_say_what_it_means(section: Section) -> None:
    said = [verdict.text for verdict in section.verdicts]
    assert said[0].startswith("Host to device, pinned: 2")
    assert "with 256 MiB; half of it from 6" in said[0]
    assert "; one of 1 KiB takes 2.6" in said[0]
    assert any("reach 83% of the 31.5 GB/s that the GPU's PCIe link" in text for text in said)
    assert any(
        text.startswith("Both directions at once (pinned memory, 256 MiB) move 38.")
        for text in said
    )
    pageable = [verdict for verdict in section.verdicts if "Pageable" in verdict.text]
    assert len(pageable) == 2
    assert "reaches 24% (" in pageable[0].text
    assert "(host to device, 256 MiB)" in pageable[0].text
    assert pageable[0].remedy is not None
    assert not any("does not follow" in text for text in said)


def test_the_pictures_are_over_size_with_the_claim_as_a_rule(section: Section) -> None:
    bandwidth, pinned, pageable, both = section.charts
    assert (bandwidth.x.scale, bandwidth.x.unit) == ("log2", "B")
    assert [rule.value for rule in bandwidth.rules] == pytest.approx([31.5])
    assert len(bandwidth.series) == 4
    assert "the GPU's events" in str(pinned.note)
    assert "the host's clock" in str(pageable.note)
    for time in (pinned, pageable):
        assert [series.dashed for series in time.series] == [False, True] * 2
        for measured, fitted in zip(time.series[::2], time.series[1::2], strict=True):
            for one, other in zip(measured.y, fitted.y, strict=True):
                assert one == pytest.approx(other, rel=0.05)
    assert both.series[0].name == "sum"


def test_more_than_the_link_carries_is_another_way() -> None:
    run = transfers_run({("pinned", TO): hockney(380.0, MIB)})
    said = texts(run)
    assert any("is more than the 31.5 GB/s" in text and "NVLink-C2C" in text for text in said)
    found = analyse(figures_of(run))
    assert rows(found.tables[0])[0]["of the link"] is None
    assert found.charts[0].rules == []


def test_a_slow_link_is_told() -> None:
    slow = {"link": "8 GT/s x8, 128b/130b", "link_bytes_per_s": 7.9e9}
    run = transfers_run({("pinned", TO): hockney(6.5, 32 * KIB)}, actual=slow)
    found = [v for v in analyse(figures_of(run)).verdicts if v.level == "warning"]
    assert len(found) == 1
    assert found[0].text.startswith("The GPU's link runs at 8 GT/s x8, 128b/130b, but supports 16")


def test_no_link_no_claim() -> None:
    run = transfers_run(PINNED, actual={"link_bytes_per_s": None})
    assert not any("link" in text for text in texts(run))


def test_memory_of_another_node_is_told() -> None:
    two = [Node(node=n, cpus=[n], bytes=1 << 30, distances={n: 10, 1 - n: 21}) for n in range(2)]
    run = transfers_run(PINNED, actual={"node": 1}, of=system(nodes=two))
    (found,) = (v for v in analyse(figures_of(run)).verdicts if v.level == "warning")
    assert "were on node 1, but the GPU is at node 0, at distance 21" in found.text
    assert found.remedy == "--host-memory node:0"
    assert not any("node 1" in text for text in texts(transfers_run(PINNED)))
    hidden = transfers_run(PINNED, actual={"node": None}, of=system(nodes=two))
    assert any(
        "The GPU is at node 0; it is not known on which node" in text for text in texts(hidden)
    )
    assert not any("which node" in text for text in texts(transfers_run(PINNED)))


def test_full_duplex_and_none() -> None:
    def at(share: float) -> str:
        to, back = PINNED.values()
        run = transfers_run(
            PINNED, at_once={"pinned": lambda size: (share * to(size), share * back(size))}
        )
        return next(text for text in texts(run) if text.startswith("Both directions"))

    assert "hardly disturb each other" in at(1.0)
    assert "overlapping them gains nothing" in at(0.51)
    assert at(0.8).endswith("added.")


def test_a_change_of_protocol_is_told() -> None:
    def speed(size: int) -> float:
        return hockney(25.0, 10 * KIB if size <= 64 * KIB else 512 * KIB)(size)

    said = texts(transfers_run({("pinned", TO): speed}))
    assert any("the curve does not follow t = (n + n1/2) / r" in text for text in said)
    assert any("from 64 KiB to 256 KiB: a different way of copying begins" in text for text in said)


def test_peers_have_tables_and_pictures_of_their_own() -> None:
    run = transfers_run(
        PINNED
        | {
            ("cuda:1", "to-peer"): hockney(300.0, MIB),
            ("cuda:1", "from-peer"): hockney(290.0, MIB),
        },
        at_once={"cuda:1": lambda size: (280.0, 280.0)},
        actual={"direct": False},
    )
    found = analyse(figures_of(run))
    assert [table.name for table in found.tables] == [
        "transfers",
        "transfers-sizes",
        "transfers-sizes-cuda1",
        "transfers-both-cuda1",
    ]
    said = [verdict.text for verdict in found.verdicts]
    (to,) = (text for text in said if text.startswith("cuda:0 to cuda:1"))
    assert to.endswith("neither GPU reaches the other's memory.")
    assert any("83% of the 31.5 GB/s" in text for text in said), "peers go by no PCIe link"
    assert len({chart.name for chart in found.charts}) == len(found.charts)


def test_the_document_holds_all_of_it() -> None:
    run = transfers_run(
        PINNED,
        at_once={"pinned": lambda size: (0.01 * size**0.5, 0.02 * size**0.5)},
        sizes=SIZES[:5],
    )
    to, back = json_document(run).transfers
    assert (to.direction, back.direction) == (TO, FROM)
    assert [one.bytes for one in to.sizes] == SIZES[:5]
    assert to.link_gb_per_s == pytest.approx(31.5)
    assert (to.node, to.gpu_node) == (0, 0)
    assert len(to.at_once) == 5
    assert back.at_once == []
    for one in to.at_once:
        assert one.there is not None
        assert one.back is not None
        assert one.back.value == pytest.approx(2 * one.there.value, rel=0.02)
    document = json_document(run)
    again = msgspec.json.decode(msgspec.json.encode(document), type=Document)
    assert again.transfers == document.transfers


def test_nothing_measured_is_said() -> None:
    run = transfers_run(PINNED, rounds=0)
    found = analyse(figures_of(run))
    assert [verdict.text for verdict in found.verdicts] == ["No transfer was measured."]
    assert (found.tables, found.charts) == ([], [])


def test_a_run_of_transfers_alone_is_reported() -> None:
    report = analyse_run(transfers_run(PINNED, rounds=3))
    assert [section.name for section in report.sections] == ["transfers"]
    (headline,) = report.headlines
    assert headline.label == "Best transfers"
    assert str(headline.detail).startswith("device to host, pinned, ")
    assert value(headline.value) == pytest.approx(26, rel=0.02)
