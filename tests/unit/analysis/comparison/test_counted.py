"""What memory's counters say of a kernel can be compared, with other runs and published counts."""

from __future__ import annotations

import msgspec
import pytest
from tests.unit.analysis.counters.counted import ELEMENTS, counter
from tests.unit.analysis.records import bandwidth_point
from tests.unit.analysis.runs import start

from memgauge.analysis.comparison.figures import Comparable, of_reference, of_run
from memgauge.analysis.figures.run import figures_of
from memgauge.model.counting.events import Basis
from memgauge.model.record_kinds.counters import CounterSet, RegionReading
from memgauge.model.records import AnyRecord, Sample, ThreadSample
from memgauge.model.run import run_of
from memgauge.references.library import load


def compared(
    variant: str = "standard", basis: Basis = "measured", memory: str = "dram"
) -> list[Comparable]:
    """One second for a repetition in which 32 bytes an element are read."""
    point = bandwidth_point(
        f"stream/add/{variant}/double/1t/counted",
        role="counted",
        requested={"kernel": "add", "variant": variant, "element": "double", "memory": memory},
        actual={
            "elements": ELEMENTS,
            "read_bytes": 16 * ELEMENTS,
            "write_bytes": 8 * ELEMENTS,
            "evadable_bytes": 8 * ELEMENTS,
        },
        bytes_counted=24 * ELEMENTS,
    )
    one = counter("read_bytes", ("imc_0", 0), basis=basis)
    if memory != "dram":
        one = msgspec.structs.replace(one, traffic="gpu0")
    reading = RegionReading(
        counters="stream/1t",
        before_ns=(0, 1),
        after_ns=(10**9, 10**9 + 1),
        before=[0],
        after=[32 * ELEMENTS // 64],
    )
    threads = [ThreadSample(cpu=0, begin_ns=[1], end_ns=[10**9 + 1])]
    samples = [
        Sample(point=point.point, round=n, threads=threads, reading=reading) for n in range(8)
    ]
    made = CounterSet(counters="stream/1t", slots=1, of=[one])
    records: list[AnyRecord] = [start(), made, point, *samples]
    found = of_run(figures_of(run_of(records)), "run").comparables
    return [one for one in found if one.name.startswith("controllers/")]


def test_counts_of_a_gpu_are_not_those_of_one_thread() -> None:
    (found,) = compared(memory="cuda:0")
    assert found.name == "controllers/add/cuda:0"


@pytest.mark.parametrize(
    ("variant", "name"),
    [("standard", "controllers/add/1t"), ("tuned", "controllers/add/tuned/double/1t")],
)
def test_a_run_offers_what_its_controllers_counted(variant: str, name: str) -> None:
    (found,) = compared(variant)
    assert found.name == name
    assert (found.unit, found.direction) == ("GB/s", "higher")
    assert found.estimate.value == pytest.approx(32 * ELEMENTS / 1e9)


def test_the_published_counts_have_a_name_of_that_form() -> None:
    names = [one.name for one in of_reference(load("altra-dmc620")).comparables]
    assert "controllers/add/64t" in names


def test_a_model_is_never_compared_with_a_measurement() -> None:
    assert compared(basis="modelled") == []
