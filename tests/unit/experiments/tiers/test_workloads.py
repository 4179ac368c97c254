"""What threads of either group are told to do."""

from __future__ import annotations

import pytest

pytest.importorskip("memgauge._core")

from memgauge import _core
from memgauge.experiments.stream.parameters import KERNELS
from memgauge.experiments.tiers.parameters import TiersParameters
from memgauge.experiments.tiers.sides import Side
from memgauge.experiments.tiers.workloads import spec_facts, spec_of, works
from memgauge.model.memory import MemoryPlacement
from memgauge.model.parameters import build

DRAM = MemoryPlacement()
POOL = MemoryPlacement("pmemobj", path="/p")


def kernel_spec(side: Side, **given: str) -> _core.KernelSpec:
    parameters = build(TiersParameters, **given)
    spec = spec_of(parameters, works(parameters)[-1], side)
    assert isinstance(spec, _core.KernelSpec)
    return spec


@pytest.mark.parametrize("element", ["double", "float"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_tuned_kernel_is_that_of_stream(kernel: str, element: str) -> None:
    spec = kernel_spec(Side(DRAM, DRAM), kernel=kernel, element=element)
    best = _core.default_tuned_spec(kernel, element)
    assert (spec.operation, spec.element, spec.variant) == (kernel, element, "tuned")
    assert (spec.isa, spec.store, spec.unroll, spec.streams) == (
        best.isa,
        best.store,
        best.unroll,
        best.streams,
    )


@pytest.mark.parametrize("variant", ["tuned", "standard"])
@pytest.mark.parametrize("store", ["temporal", "flushed"])
def test_stores_asked_for_are_those_that_write(store: str, variant: str) -> None:
    spec = kernel_spec(Side(DRAM, DRAM), store=store, variant=variant)
    assert (spec.store, spec.variant) == (store, variant)
    assert spec_facts(spec)["store"] == store


def test_a_tuned_kernel_with_other_stores_keeps_its_instruction_set() -> None:
    default = _core.default_tuned_spec("copy")
    assert kernel_spec(Side(DRAM, DRAM), store="temporal").isa == default.isa


@pytest.mark.parametrize(
    ("kernel", "source", "destination", "access"),
    [
        ("copy", POOL, POOL, "translated"),
        ("copy", POOL, DRAM, "translated-source"),
        ("copy", DRAM, POOL, "translated-destination"),
        ("copy", DRAM, DRAM, "direct"),
        ("read", POOL, DRAM, "translated"),
        ("read", DRAM, POOL, "direct"),
        ("write", DRAM, POOL, "translated"),
        ("triad", POOL, DRAM, "translated-source"),
    ],
)
def test_only_what_lies_in_a_pool_is_translated(
    kernel: str, source: MemoryPlacement, destination: MemoryPlacement, access: str
) -> None:
    spec = kernel_spec(
        Side(source, destination), kernel=kernel, access="direct,translated", b="pmemobj:/p"
    )
    assert (spec.variant, spec.access) == ("standard", access)


def test_names_tell_works_apart() -> None:
    kernels = works(build(TiersParameters, kernel="copy,triad", access="direct,translated"))
    assert [work.name for work in kernels] == [
        "copy",
        "copy-translated",
        "triad",
        "triad-translated",
    ]
    mixes = works(build(TiersParameters, read_share="75%,0", delay_a="0,50", delay_b="0,7"))
    assert [work.name for work in mixes] == [
        f"{mix}{delays}" for mix in ("75r", "0r") for delays in ("", "/d0-7", "/d50-0", "/d50-7")
    ]


def test_a_mix_is_told_its_pause_in_units() -> None:
    parameters = build(TiersParameters, read_share="75%")
    spec = spec_of(parameters, works(parameters)[0], Side(DRAM, DRAM), 42)
    assert isinstance(spec, _core.TrafficSpec)
    assert (spec.reads, spec.writes, spec.store, spec.delay) == (3, 1, "temporal", 42)
