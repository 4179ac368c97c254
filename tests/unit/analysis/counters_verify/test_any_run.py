"""Whatever counters and readings a record holds, it is analysed and drawn."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.unit.analysis.counters_verify.runs import Machine, records

from memgauge.analysis.counters_verify.section import event_verdicts
from memgauge.analysis.report.document import json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.model.counting.events import Counter
from memgauge.model.record_kinds.counters import CounterSet, RegionReading
from memgauge.model.record_kinds.fields import LARGEST_INTEGER
from memgauge.model.records import AnyRecord, Point, RunStart, Sample
from memgauge.model.run import Run, run_of
from memgauge.reports.terminal.report import render

raws = st.one_of(st.none(), st.integers(0, 5), st.integers(0, LARGEST_INTEGER))
stamps = st.tuples(st.integers(0, LARGEST_INTEGER), st.integers(0, LARGEST_INTEGER))
quantities = st.sampled_from(["read_bytes", "write_bytes", "traffic_bytes", "cycles"])
scales = st.floats(-1e308, 1e308)


@st.composite
def hostile(draw: st.DrawFn) -> Run:
    experiment = draw(st.sampled_from(["counters_verify", "counters_compare"]))
    kept: list[AnyRecord] = []
    for record in records(draw(st.integers(0, 9)), Machine(sockets=1), {}, 8, ("read_bytes",)):
        match record:
            case RunStart():
                changed = msgspec.structs.replace(record, experiments=[experiment])
                kept.append(changed)
            case Point():
                kept.append(msgspec.structs.replace(record, experiment=experiment))
            case CounterSet():
                refused = draw(st.dictionaries(st.text(max_size=4), st.text(max_size=4)))
                counters = [draw(counter(one)) for one in record.of]
                kept.append(msgspec.structs.replace(record, of=counters, refused=refused))
            case Sample():
                changed_reading = draw(st.one_of(st.none(), st.just(record.reading)))
                if draw(st.integers(0, 3)) == 0 and record.reading is not None:
                    changed_reading = draw(reading(record.reading))
                idle = draw(st.sampled_from([None, record.idle, changed_reading]))
                kept.append(msgspec.structs.replace(record, reading=changed_reading, idle=idle))
            case _:
                kept.append(record)
    return run_of(kept)


@st.composite
def counter(draw: st.DrawFn, of: Counter) -> Counter:
    return msgspec.structs.replace(
        of,
        quantity=draw(quantities),
        back_end=draw(st.sampled_from(["perf", "pcp"])),
        scale=draw(st.one_of(st.just(64.0), scales)),
        socket=draw(st.one_of(st.none(), st.integers(0, 2))),
        node=draw(st.one_of(st.none(), st.integers(0, 2))),
        way=draw(st.one_of(st.none(), st.just("imc"))),
        wraps_at=draw(st.one_of(st.none(), st.integers(1, 1 << 20))),
        gauge=draw(st.booleans()),
    )


@st.composite
def reading(draw: st.DrawFn, of: RegionReading) -> RegionReading:
    slots = len(of.before)
    return RegionReading(
        counters=of.counters,
        before_ns=draw(stamps),
        after_ns=draw(stamps),
        before=draw(st.lists(raws, min_size=slots, max_size=slots)),
        after=draw(st.lists(raws, min_size=slots, max_size=slots)),
    )


@given(hostile())
@settings(max_examples=60, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
def test_any_readings_are_analysed(run: Run) -> None:
    assert render(analyse_run(run), width=80, color=False)
    msgspec.json.encode(json_document(run))
    for verdict in event_verdicts(run):
        assert msgspec.json.decode(msgspec.json.encode(verdict))
        assert verdict.evidence or verdict.verdict == "absent"


@pytest.mark.parametrize("rounds", [0, 1])
def test_a_run_that_was_killed_early_is_analysed(rounds: int) -> None:
    run = run_of(list(records(1, Machine(), {}, rounds, ("read_bytes",)))[:-1])
    assert render(analyse_run(run), width=80, color=False)
