"""Which mixes a GPU makes, and that each counts what it issues."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.experiments.fake_gpu import MIB, FakeGpu, install
from tests.unit.experiments.machines import a_machine

from memgauge.experiments.mix.gpu import GpuMix, gpu_loads, mix_sizes
from memgauge.experiments.mix.host import MixParameters
from memgauge.model.errors import RequestError
from memgauge.model.parameters import build

SYSTEM = a_machine(2)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> FakeGpu:
    made = FakeGpu()
    install(monkeypatch, made)
    return made


def requested(**given: str) -> MixParameters:
    return build(MixParameters, memory="cuda:0", **given)


@given(st.lists(st.floats(0, 1), max_size=4), st.sampled_from(["coarse", "fine"]))
def test_a_gpu_makes_the_mixes_of_a_processor_once(shares: list[float], sweep: str) -> None:
    parameters = MixParameters(read_share=tuple(shares) or None, sweep=sweep)
    mine = [(load.reads, load.writes) for load in gpu_loads(parameters)]
    theirs = [(load.reads, load.writes) for load in parameters.loads]
    assert mine == list(dict.fromkeys(theirs))
    assert {load.store for load in gpu_loads(parameters)} == {None}


@given(
    st.one_of(st.none(), st.integers(1 << 18, 1 << 28)),
    st.integers(16 * MIB, 1 << 38),
    st.integers(1, 200),
)
def test_what_is_walked_over_fits_and_the_rule_is_told(
    l2_bytes: int | None, memory_bytes: int, multiprocessors: int
) -> None:
    facts = FakeGpu(l2_bytes=l2_bytes, memory_bytes=memory_bytes, multiprocessors=multiprocessors)
    sizes = mix_sizes(facts)  # type: ignore[arg-type]
    assert MIB <= sizes.region_bytes <= max(MIB, memory_bytes // 16)
    assert sizes.lead_in_bytes <= sizes.region_bytes
    assert sizes.exceeds_caches == (l2_bytes is not None and sizes.region_bytes >= 4 * l2_bytes)


def test_bytes_counted_are_those_that_were_issued(gpu: FakeGpu) -> None:
    parameters = requested(read_share="90%")
    (group,) = GpuMix().plan(parameters, SYSTEM)
    assert [p.point for p in group.points] == [
        f"mix/{share}r/sequential/cuda:0" for share in ("100", "90", "75", "66.7", "50", "0")
    ]
    with GpuMix().open(group, parameters) as bench:
        for point in bench.points:
            (sample,) = bench.measure(point.point, 1)
            (thread,) = sample.threads
            assert thread.read_bytes + thread.write_bytes == point.bytes_counted
            assert point.bytes_moved == point.bytes_counted, "nothing is read to be written"
            assert point.actual["read_share_issued"] == pytest.approx(
                point.requested["read_share"], abs=1e-3
            )
            assert (point.threads, point.requested["memory"]) == (1, "cuda:0")
            assert point.requested.get("store") is None
        (validation,) = bench.validate()
        assert all(check.passed for check in validation.checks)
    assert gpu.closed == 1


def test_memory_that_the_l2_may_hold_is_said_once(gpu: FakeGpu) -> None:
    gpu.memory_bytes = 1600 * MIB
    (group,) = GpuMix().plan(requested(), SYSTEM)
    said = [w for p in group.points for w in GpuMix().check(p, [], SYSTEM)]
    assert [warning.code for warning in said] == ["traffic-in-caches"]


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(
    ("given", "flag"),
    [
        ({"store": "temporal"}, "--store"),
        ({"order": "random"}, "--order"),
        ({"threads": "4"}, "--threads"),
    ],
)
def test_what_a_gpu_has_not_is_refused_by_name(given: dict[str, str], flag: str) -> None:
    with pytest.raises(RequestError, match=f"{flag}: .*cuda:0"):
        GpuMix().plan(requested(**given), SYSTEM)
