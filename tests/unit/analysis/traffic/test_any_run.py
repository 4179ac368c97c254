"""Whatever points of `traffic` and simulations a run may hold, it is analysed."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.runs import start
from tests.unit.analysis.traffic.runs import machine

from memgauge.analysis.report.document import Document, json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.model.cache_machine import CacheMachine
from memgauge.model.nests import KINDS
from memgauge.model.record_kinds.simulated import Simulated, SimulatedMachine
from memgauge.model.records import AnyRecord, Point
from memgauge.model.run import run_of
from memgauge.reports.terminal.report import render

FACTS = (
    *("m", "n", "cap", "stride", "planes", "rows", "cols", "x", "y"),
    *("size", "grid", "cached_bytes", "not_counted", "store_prefetch", "cpus"),
)
values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 1 << 40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["2x4", "0x1", "x", "many", ""]),
)
facts = st.dictionaries(st.sampled_from(FACTS), values)
counts = st.integers(0, 1 << 62)


@st.composite
def points(draw: st.DrawFn) -> Point:
    kernel = draw(st.sampled_from([*KINDS, "other"]))
    sound = {name: draw(st.integers(1, 64)) for name in FACTS[:9]} if draw(st.booleans()) else {}
    return Point(
        point=draw(st.text(max_size=4)),
        experiment="traffic",
        quantity="bandwidth",
        requested={"kernel": kernel, "size": draw(st.integers(1, 99)), **draw(facts)},
        actual={**sound, **draw(facts)},
        bytes_counted=1,
        threads=draw(st.integers(1, 70)),
        role="counted",
    )


@st.composite
def predictions(draw: st.DrawFn, point: Point, named: CacheMachine) -> Simulated:
    arrays = st.sampled_from(["A", "B", "C", "in", "tmp", "out", "?"])
    return Simulated(
        point=point.point,
        machine=named.name,
        cores=draw(st.integers(1, 70)),
        accesses=draw(counts),
        load_read_bytes=draw(counts),
        allocate_read_bytes=draw(counts),
        software_prefetch_read_bytes=draw(counts),
        hardware_prefetch_read_bytes=draw(counts),
        write_back_bytes=draw(counts),
        bypass_write_bytes=draw(counts),
        array_read_bytes=draw(st.dictionaries(arrays, counts)),
        levels=[],
        took_s=0.0,
    )


@st.composite
def records(draw: st.DrawFn) -> list[AnyRecord]:
    named = [machine("this"), machine("other", 64)]
    found = draw(st.lists(points(), max_size=5, unique_by=lambda point: point.point))
    simulated = [
        draw(predictions(point, one)) for point in found for one in named if draw(st.booleans())
    ]
    return [start(), *found, *(SimulatedMachine(machine=one) for one in named), *simulated]


@given(records())
def test_any_run_is_analysed(stream: list[AnyRecord]) -> None:
    run = run_of(stream)
    assert render(analyse_run(run))
    document = json_document(run)
    assert msgspec.json.decode(msgspec.json.encode(document), type=Document) == document
