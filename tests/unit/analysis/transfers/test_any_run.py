"""Whatever a run may hold of transfers, as far as the rules let it in, is analysed."""

import math

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.runs import start
from tests.unit.analysis.tiers.test_any_run import samples

from memgauge.analysis.comparison.figures import of_run
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.report.document import Document, json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.model.record_kinds.fields import LARGEST_INTEGER, Scalar
from memgauge.model.records import AnyRecord, Point
from memgauge.model.run import run_of
from memgauge.reports.terminal.report import render

DIRECTIONS = ["host-to-device", "device-to-host", "to-peer", "from-peer", "sideways"]
odd = st.sampled_from([None, 0, -1, True, "x", 1.5, 1 << 62])


@st.composite
def facts(draw: st.DrawFn) -> dict[str, Scalar]:
    rate = odd | st.floats(allow_nan=False, allow_infinity=False)
    return {
        "link": draw(odd),
        "link_bytes_per_s": draw(rate),
        "link_max_bytes_per_s": draw(rate),
        "gpu_node": draw(odd),
        "node": draw(odd),
        "direct": draw(odd),
    }


@st.composite
def transfers(draw: st.DrawFn) -> Point:
    requested: dict[str, Scalar] = {
        "memory": draw(st.sampled_from(["cuda:0", None, 3])),
        "host": draw(st.sampled_from(["pinned", "pageable", None])),
        "peer": draw(st.sampled_from([None, "cuda:1"])),
        "direction": draw(st.sampled_from(DIRECTIONS)),
        "transfer_bytes": draw(odd | st.sampled_from([1 << step for step in range(10, 20)])),
    }
    return Point(
        point=f"transfers/{draw(st.integers(0, 99))}",
        experiment="transfers",
        quantity="bandwidth",
        requested=requested,
        actual=draw(facts()),
        bytes_counted=draw(st.integers(1, LARGEST_INTEGER)),
        threads=draw(st.sampled_from([1, 1, 2])),
        work=draw(st.sampled_from(["fixed", "window"])),
    )


@st.composite
def beside(draw: st.DrawFn) -> Point:
    requested: dict[str, Scalar] = {
        "transfer": draw(st.sampled_from([None, "both", "host-to-device", 5])),
        "gpu": "cuda:0",
        "group": draw(st.sampled_from(["a", "b", None])),
        "direction": draw(st.sampled_from(DIRECTIONS)),
        "kernel": draw(st.sampled_from([None, "copy"])),
        "read_share": draw(st.sampled_from([None, 0.5, 7])),
        "threads": draw(odd | st.just(2)),
    }
    latency = draw(st.booleans())
    return Point(
        point=f"tiers/{draw(st.integers(0, 99))}",
        experiment="tiers",
        quantity="latency" if latency else "bandwidth",
        accesses=10 if latency else 0,
        requested=requested,
        actual={"cpus": draw(st.sampled_from(["0-1", None]))},
        bytes_counted=0 if latency else draw(st.integers(1, LARGEST_INTEGER)),
        bytes_moved=draw(st.integers(0, LARGEST_INTEGER)),
        threads=draw(st.sampled_from([1, 2])),
        work=draw(st.sampled_from(["window", "window", "fixed"])),
    )


@st.composite
def runs(draw: st.DrawFn) -> list[AnyRecord]:
    some = st.lists(transfers() | beside(), min_size=1, max_size=8, unique_by=lambda p: p.point)
    declared = draw(some)
    taken: list[AnyRecord] = [
        draw(samples(point)) for point in declared for _ in range(draw(st.integers(0, 8)))
    ]
    return [start(), *declared, *taken]


@given(runs())
def test_any_run_of_transfers_is_analysed(records: list[AnyRecord]) -> None:
    run = run_of(records)
    report = analyse_run(run)
    assert render(report, width=80, color=False)
    for section in report.sections:
        assert len({chart.name for chart in section.charts}) == len(section.charts)
        for chart in section.charts:
            for series in chart.series:
                assert all(y is None or math.isfinite(y) for y in series.y)
    of_run(figures_of(run), "run")
    made = json_document(run)
    assert msgspec.json.decode(msgspec.json.encode(made), type=Document) == made
