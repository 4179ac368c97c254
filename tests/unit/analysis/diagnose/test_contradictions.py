"""Each pair of kinds of evidence that can contradict each other does so in what is said."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest
from tests.unit.analysis.diagnose.programs import RING_BYTES, diagnosed, with_memory, with_uses
from tests.unit.analysis.diagnose.test_traffic import (
    BOTH,
    CURVES,
    GB,
    counters,
    document,
    reading,
    said,
    simulated,
)

from memgauge.analysis.diagnose.document import DiagnosisFigures
from memgauge.analysis.figures.run import Figures, figures_of
from memgauge.model.points.diagnose import COMPUTE, FEWER_WAYS, THROTTLE
from memgauge.model.record_kinds.programs import ProgramMemory, Referenced, ReferencedLook
from memgauge.model.records import AnyRecord, Point, Sample
from memgauge.model.run import run_of

MIB = 1 << 20
LIMIT = (2.0, 4.0, 4.0)
"""By how much a limit stretches the references."""


def kinds(figures: Figures) -> list[tuple[str, str]]:
    """Of each contradiction, which text and data must state alike."""
    found: DiagnosisFigures = document(figures)
    text = said(figures)
    for one in found.contradictions:
        assert one.text in text or "contradict each other" in found.why
    return [one.kinds for one in found.contradictions]


def limited(figures: Figures, name: str, program: float) -> Figures:
    """The same run, in which the processor's limit makes the program take so many times as long."""
    run = figures.run
    points: list[Point] = []
    samples: list[Sample] = []
    names = {}
    for point in run.points.values():
        _, subject, treatment = point.point.split("/")
        if treatment != COMPUTE:
            continue
        names[point.point] = f"diagnose/{subject}/{name}"
        points.append(
            msgspec.structs.replace(
                point,
                point=names[point.point],
                requested={**point.requested, "treatment": name, "baseline": COMPUTE},
                measured_with=None if subject == "program" else f"diagnose/program/{name}",
            )
        )
        factors = dict(
            zip(("program", "latency", "bandwidth", "cached"), (program, *LIMIT), strict=True)
        )
        for sample in run.samples[point.point]:
            thread = sample.threads[0]
            ns = round((thread.end_ns[0] - thread.begin_ns[0]) * factors[subject])
            thread = msgspec.structs.replace(thread, end_ns=[thread.begin_ns[0] + ns])
            made = msgspec.structs.replace(sample, point=names[point.point], threads=[thread])
            samples.append(made)
    before = [one for of in run.samples.values() for one in of]
    return figures_of(run_of([run.start, *run.points.values(), *points, *before, *samples]))


def moved(figures: Figures, read_bytes: int, *more: AnyRecord) -> Figures:
    return with_uses(figures, {}, *simulated(read_bytes, 0), *more)


@pytest.mark.parametrize(
    ("shares", "read_bytes", "is_contradiction"),
    [
        ({}, 8 * GB, True),
        ({}, GB, False),
        ({"cached": 1.0}, 8 * GB, True),
        ({"cached": 1.0}, GB, False),
        ({"bandwidth": 1.0}, GB // 4, True),
        ({"bandwidth": 1.0}, 8 * GB, False),
        ({"latency": 0.5}, 8 * GB, True),
        ({"latency": 0.5}, GB, False),
    ],
)
def test_pressure_and_traffic(
    shares: Mapping[str, float], read_bytes: int, is_contradiction: bool
) -> None:
    # The bandwidth reference of these runs moves 12.5 GB/s, and a run takes 1 s.
    found = kinds(moved(diagnosed(**shares), read_bytes))
    assert found == [("interference", "simulated traffic")] * is_contradiction


def test_counted_and_simulated_traffic() -> None:
    counted = {"compute": reading(3 * GB // 64, GB // 64)}
    figures = with_uses(diagnosed(latency=0.5), counted, counters(*BOTH), *simulated(GB, 0))
    assert kinds(figures) == [("counted traffic", "simulated traffic")]
    same = with_uses(diagnosed(latency=0.5), counted, counters(*BOTH), *simulated(3 * GB, GB))
    assert kinds(same) == []
    little = {"compute": reading(10, 10)}
    quiet = with_uses(diagnosed(latency=0.5), little, counters(*BOTH), *simulated(10, 0))
    assert kinds(quiet) == [("interference", "counted traffic")]


@pytest.mark.parametrize(("knee", "is_contradiction"), [(1.5, True), (9.0, False)])
def test_pressure_and_the_place_on_a_curve(knee: float, is_contradiction: bool) -> None:
    curve = msgspec.structs.replace(CURVES[0], knee_gb_per_s=knee)
    for shares in ({}, {"latency": 0.5}):
        found = kinds(moved(diagnosed(**shares), 2 * GB, curve))
        expected = [("interference", "simulated traffic on the curve")]
        assert found == expected * is_contradiction


@pytest.mark.parametrize(
    ("shares", "name", "program", "kind"),
    [
        ({}, THROTTLE, 1.5, "limit of bandwidth"),
        ({}, THROTTLE, 1.0, None),
        ({"bandwidth": 1.0}, THROTTLE, 1.0, "limit of bandwidth"),
        ({"bandwidth": 1.0}, THROTTLE, 4.0, None),
        ({}, FEWER_WAYS, 1.5, "limit of the cache"),
        ({}, FEWER_WAYS, 1.0, None),
        ({"cached": 1.0}, FEWER_WAYS, 1.0, "limit of the cache"),
        ({"cached": 1.0}, FEWER_WAYS, 3.0, None),
    ],
)
def test_pressure_and_the_processors_limits(
    shares: Mapping[str, float], name: str, program: float, kind: str | None
) -> None:
    found = kinds(limited(diagnosed(**shares), name, program))
    assert found == ([] if kind is None else [("interference", kind)])


@pytest.mark.parametrize(
    ("wanted", "kind"),
    [({"pages_wanted": "huge"}, "pages"), ({"nodes_wanted": "1"}, "memory nodes"), ({}, None)],
)
def test_pressure_and_where_memory_lies(wanted: Mapping[str, str], kind: str | None) -> None:
    memory = {
        "as it is": ProgramMemory(anonymous_bytes=MIB, huge_bytes=0, node_bytes={0: MIB, 1: 0}),
        "other": ProgramMemory(anonymous_bytes=MIB, huge_bytes=MIB, node_bytes={0: 0, 1: MIB}),
    }
    for time, differs in ((0.8, True), (1.2, True), (1.0, False)):
        run = with_memory(diagnosed(variants={"other": time}), memory, wanted={"other": wanted})
        found = kinds(run)
        assert found == ([("interference", kind)] if kind and differs else [])
    waits = diagnosed(latency=0.5, variants={"other": 0.8})
    assert kinds(with_memory(waits, memory, wanted={"other": wanted})) == []


def referring(figures: Figures, bytes_: int, interval_ns: int = 125_000_000) -> Figures:
    look = ReferencedLook(
        interval_ns=interval_ns, referenced_bytes=bytes_, resident_bytes=RING_BYTES
    )
    return with_uses(figures, {}, Referenced(looks=[look, look]))


def test_pressure_and_the_working_set() -> None:
    expected = [("interference", "working set")]
    waits = diagnosed(latency=0.5)
    assert kinds(referring(waits, RING_BYTES // 64)) == expected
    # More than the cache holds, or so much that each line once takes longer than it waits.
    assert kinds(referring(waits, 3 * RING_BYTES)) == []
    assert kinds(referring(waits, RING_BYTES, interval_ns=10_000_000)) == []
    assert kinds(referring(diagnosed(), RING_BYTES // 64)) == []
    assert kinds(referring(diagnosed(cached=1.0), RING_BYTES // 64)) == []
