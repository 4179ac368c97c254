"""Traffic that was counted, simulated, placed on a curve, and where it contradicts itself."""

from __future__ import annotations

import msgspec
import pytest
from tests.unit.analysis.diagnose.programs import diagnosed, with_uses
from tests.unit.analysis.runs import system

from memgauge.analysis.diagnose.document import DiagnosisFigures, diagnosis_figures
from memgauge.analysis.diagnose.on_curve import latency_at
from memgauge.analysis.diagnose.section import analyse
from memgauge.analysis.figures.run import Figures, figures_of
from memgauge.analysis.report.run import report_of
from memgauge.analysis.section import Chart
from memgauge.machines.this import this_machine
from memgauge.model.counting.events import Counter, Quantity
from memgauge.model.record_kinds.counters import CounterSet, RegionReading
from memgauge.model.record_kinds.programs import RunUse
from memgauge.model.record_kinds.simulated import Simulated, SimulatedMachine
from memgauge.model.records import AnyRecord, CurvePoint, MeasuredCurve
from memgauge.model.run import run_of
from memgauge.model.simulated_program import TrafficPlace

GB = 10**9
POINT = "diagnose/program/compute"


def simulated(read_bytes: int, write_bytes: int) -> list[AnyRecord]:
    machine = this_machine(system())
    place = TrafficPlace(
        function="solve", object="a.out", file=None, line=None, read_bytes=read_bytes, write_bytes=0
    )
    return [
        SimulatedMachine(machine=machine),
        Simulated(
            point=POINT,
            machine=machine.name,
            cores=1,
            accesses=1,
            load_read_bytes=read_bytes,
            allocate_read_bytes=0,
            software_prefetch_read_bytes=0,
            hardware_prefetch_read_bytes=0,
            write_back_bytes=write_bytes,
            bypass_write_bytes=0,
            array_read_bytes={},
            levels=[],
            took_s=1.0,
            places=[place],
        ),
    ]


def counters(*quantities: Quantity) -> CounterSet:
    return CounterSet(
        counters="traffic",
        slots=len(quantities),
        of=[
            Counter(
                name=f"perf:{quantity}@imc",
                event=f"perf:{quantity}",
                back_end="perf",
                quantity=quantity,
                domain="memory",
                scope="controller",
                unit="B",
                scale=64.0,
                scale_source="the test",
                traffic="dram",
                instance="imc",
                slot=slot,
                route="group",
            )
            for slot, quantity in enumerate(quantities)
        ],
    )


def reading(*lines: int | None) -> RunUse:
    return RunUse(
        reading=RegionReading(
            counters="traffic",
            before_ns=(1, 2),
            after_ns=(3, 4),
            before=[None if one is None else 7 for one in lines],
            after=[None if one is None else 7 + one for one in lines],
        )
    )


BOTH: tuple[Quantity, ...] = ("read_bytes", "write_bytes")
CURVES = [
    MeasuredCurve(
        run_id="known",
        started_at="2026-01-02T03:04:05+00:00",
        load=load,
        read_share=share,
        points=[
            CurvePoint(gb_per_s=1.0, latency_ns=100.0),
            CurvePoint(gb_per_s=9.0, latency_ns=140.0),
            CurvePoint(gb_per_s=peak, latency_ns=400.0),
        ],
        knee_gb_per_s=knee,
    )
    for load, share, peak, knee in (("all reads", 1.0, 20.0, 9.0), ("half", 0.5, 10.0, None))
]


def document(figures: Figures) -> DiagnosisFigures:
    found = diagnosis_figures(figures)
    assert found is not None
    assert msgspec.json.decode(msgspec.json.encode(found), type=type(found)) == found
    return found


def said(figures: Figures) -> str:
    return " ".join(verdict.text for verdict in analyse(figures).verdicts)


def test_counted_bytes_take_the_place_of_simulated_ones_and_say_so() -> None:
    figures = with_uses(
        diagnosed(latency=0.5),
        {"compute": reading(3 * GB // 64, GB // 64)},
        counters(*BOTH),
        *simulated(3 * GB, GB),
    )
    found = document(figures)
    assert found.traffic is not None
    assert found.simulated is not None
    assert (found.traffic.basis, found.traffic.by, found.traffic.runs) == ("counted", "perf", 16)
    assert found.traffic.total_bytes == pytest.approx(4 * GB)
    assert found.traffic.read_bytes == pytest.approx(3 * GB)
    assert found.simulated.basis == "simulated"
    text = said(figures)
    assert "Counted by perf, a run reads 3,000 MB and writes 1,000 MB" in text
    assert "other programs are in it" in text
    assert "contradict" not in text
    assert "counted, it moves" in found.why


@pytest.mark.parametrize(
    ("quantities", "lines"),
    [
        (BOTH, (5, None)),  # a counter that could not be read
        (("read_bytes",), (5,)),  # one direction is no total
        ((), ()),
    ],
)
def test_a_part_is_no_total(quantities: tuple[Quantity, ...], lines: tuple[int, ...]) -> None:
    figures = with_uses(diagnosed(latency=0.5), {"compute": reading(*lines)}, counters(*quantities))
    assert document(figures).traffic is None


def test_traffic_that_is_not_told_apart_has_no_place_on_a_curve() -> None:
    figures = with_uses(
        diagnosed(), {"compute": reading(GB // 64)}, counters("traffic_bytes"), *CURVES
    )
    found = document(figures)
    assert found.traffic is not None
    assert found.traffic.read_bytes is None
    assert found.on_curve is None
    assert "reads and writes 1,000 MB" in said(figures)


def test_simulated_traffic_is_placed_on_the_nearest_curve_and_stays_marked() -> None:
    figures = with_uses(diagnosed(latency=0.5), {}, *simulated(5 * GB, 0), *CURVES)
    found = document(figures)
    assert found.on_curve is not None
    assert found.on_curve.load == "all reads"
    rate = found.on_curve.gb_per_s
    assert rate == pytest.approx(5.0, rel=0.01)
    assert found.on_curve.peak_share == pytest.approx(rate / 20)
    assert found.on_curve.latency_ns == pytest.approx(100 + 40 * (rate - 1) / 8)
    assert found.on_curve.to_knee_gb_per_s == pytest.approx(9 - rate)
    assert "Simulated traffic on the curve of run known (all reads; 100% of its bytes" in said(
        figures
    )
    assert "GB/s below the knee at 9.0 GB/s" in said(figures)


def test_the_answer_says_on_which_basis_it_places_a_program() -> None:
    figures = with_uses(diagnosed(latency=0.5), {}, *simulated(5 * GB, 0), *CURVES)
    answer = report_of(figures).answer
    assert answer is not None
    (line,) = [one for one in answer.lines if one.label == "On the curve"]
    assert [one.name for one in line.figures] == ["of its peak", "latency", "to the knee"]
    assert line.detail == "simulated traffic; all reads"


def test_a_program_beyond_its_curve_has_no_latency_there() -> None:
    figures = with_uses(diagnosed(latency=0.5), {}, *simulated(15 * GB, 15 * GB), *CURVES)
    found = document(figures)
    assert found.on_curve is not None
    assert found.on_curve.load == "half"
    assert found.on_curve.latency_ns is None
    assert "its place cannot be told" in said(figures)


def test_latency_lies_on_the_line_between_two_loads() -> None:
    points = CURVES[0].points
    assert latency_at(points, 0.5) == 100.0
    assert latency_at(points, 5.0) == pytest.approx(120.0)
    assert latency_at(points, 20.0) == 400.0
    assert latency_at(points, 20.1) is None


def curve_chart(figures: Figures) -> Chart | None:
    return next((one for one in analyse(figures).charts if one.name == "diagnose-curve"), None)


def test_the_program_is_drawn_on_the_curve_that_its_traffic_is_nearest_to() -> None:
    figures = with_uses(diagnosed(latency=0.5), {}, *simulated(5 * GB, 0), *CURVES)
    chart = curve_chart(figures)
    assert chart is not None
    curve, program, other = chart.series
    assert (curve.name, curve.muted) == ("all reads", False)
    assert (other.name, other.muted) == ("half", True)
    assert program.name == "the program, simulated traffic"
    placed = document(figures).on_curve
    assert placed is not None
    assert (program.x, program.y) == ([placed.gb_per_s], [placed.latency_ns])
    assert [(one.label, one.x, one.y) for one in chart.marks] == [("knee", 9.0, 140.0)]
    assert [(one.label, one.value) for one in chart.rules] == [("measured peak", 20.0)]
    assert "simulated bytes over measured time, not counted" in (chart.note or "")


def test_counted_traffic_is_named_so_where_it_is_drawn() -> None:
    counted = {"compute": reading(3 * GB // 64, GB // 64)}
    chart = curve_chart(with_uses(diagnosed(latency=0.5), counted, counters(*BOTH), *CURVES))
    assert chart is not None
    assert chart.series[1].name == "the program, counted traffic"


def test_a_program_without_a_place_is_not_drawn() -> None:
    beyond = with_uses(diagnosed(latency=0.5), {}, *simulated(15 * GB, 15 * GB), *CURVES)
    assert curve_chart(beyond) is None
    assert curve_chart(with_uses(diagnosed(latency=0.5), {}, *simulated(GB, 0))) is None


def test_functions_are_marked_simulated() -> None:
    figures = with_uses(diagnosed(latency=0.5), {}, *simulated(GB, GB))
    (table,) = [one for one in analyse(figures).tables if one.name == "diagnose-functions"]
    assert "simulated" in table.title
    assert table.rows[0][:4] == ["solve", GB, 0, 0.5]


def test_why_nothing_was_counted_is_said() -> None:
    run = diagnosed().run
    points = [one.with_actual({"not_counted": "dram is unverified"}) for one in run.points.values()]
    samples = [one for of in run.samples.values() for one in of]
    figures = figures_of(run_of([run.start, *points, *samples]))
    assert document(figures).not_counted == "dram is unverified"
    assert "Traffic was not counted: dram is unverified." in said(figures)
    assert document(diagnosed()).not_counted is None
