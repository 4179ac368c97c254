"""Ways to access and to store: which points they make, and what is refused."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("memgauge._core")

from tests.unit.runner.fakes import a_system

from memgauge import _core
from memgauge.experiments.shared.tuned_kernels import tuned_kernel, tuned_stores
from memgauge.experiments.stream.host import Stream
from memgauge.experiments.stream.kernels import kernels_of
from memgauge.experiments.stream.parameters import ELEMENTS, KERNELS, StreamParameters
from memgauge.model.errors import RequestError
from memgauge.model.parameters import build
from memgauge.system.detect import detect
from memgauge.system.memory.sources import opened

POOL = {"memory": "pmemobj:/somewhere/pool"}


def names(**options: object) -> list[str]:
    parameters = build(
        StreamParameters, **{"array_bytes": "2MiB", "threads": "1", "kernel": "copy"} | options
    )
    (group,) = Stream().plan(parameters, a_system())
    return [point.point for point in group.points if point.role == "slice"]


def shape_of(spec: _core.KernelSpec) -> dict[str, Any]:
    names = ("isa", "store", "unroll", "streams", "prefetch_near_bytes", "prefetch_far_bytes")
    return {name: getattr(spec, name) for name in names}


def test_a_kernels_own_way_has_the_name_it_always_had() -> None:
    own = ["stream/copy/standard/double/1t", "stream/copy/tuned/double/1t"]
    assert names() == own
    assert names(access="direct") == own
    assert names(variant="standard", store="temporal") == own[:1]


def test_other_ways_are_points_beside_it() -> None:
    assert names(
        variant="standard", access="direct,translated", store="temporal,flushed", **POOL
    ) == [
        "stream/copy/standard/double/1t",
        "stream/copy/standard/double/1t/flushed",
        "stream/copy/standard/double/1t/translated",
        "stream/copy/standard/double/1t/translated/flushed",
    ]


def test_what_a_point_is_asked_to_be_stands_in_it_only_where_it_is_another_way() -> None:
    parameters = build(
        StreamParameters, access="direct,translated", variant="standard", threads="1", **POOL
    )
    (group,) = Stream().plan(parameters, a_system())
    for point in group.points:
        assert ("access" in point.requested) == ("/translated" in point.point)
        assert "store" not in point.requested


def test_a_variant_has_only_the_ways_that_exist() -> None:
    chosen = kernels_of(
        build(StreamParameters, access="direct,translated", store="temporal,flushed", **POOL),
        "slice",
    )
    assert not any(one.spec.variant == "tuned" and one.access for one in chosen)
    assert not any(one.spec.operation == "read" and one.store for one in chosen)
    for one in chosen:
        assert one.spec.access == (one.access or "direct")
        assert not one.store or one.spec.store == one.store
        assert bool(one.actual.write_back) == (one.spec.store == "flushed")


def test_a_plain_loop_records_what_it_was_compiled_for() -> None:
    requested = build(StreamParameters, access="direct,translated", variant="standard", **POOL)
    for one in kernels_of(requested, "slice"):
        assert one.actual.isa == one.spec.isa
        assert (one.spec.isa in _core.supported_isas()[:-1]) == (one.spec.access == "direct")


def test_a_search_considers_direct_access_and_no_flushed_stores() -> None:
    chosen = kernels_of(build(StreamParameters, autotune=True, kernel="copy"), "slice")
    assert any(one.candidate for one in chosen)
    assert {one.spec.store for one in chosen} <= {"temporal", "non-temporal"}
    assert {one.spec.access for one in chosen} == {"direct"}


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_candidate_of_a_search_exists_and_has_a_name_of_its_own(
    kernel: str, element: str
) -> None:
    requested = build(
        StreamParameters, autotune=True, kernel=kernel, element=element, variant="tuned"
    )
    searched = [one for one in kernels_of(requested, "slice") if one.candidate]
    assert len({one.candidate for one in searched}) == len(searched)
    for one in searched:
        _core.KernelSpec(kernel, element, "tuned", **shape_of(one.spec))
    prefetched = [one for one in searched if one.spec.prefetch_near_bytes]
    assert bool(prefetched) == (kernel != "write"), "a write has no sources to prefetch"


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_tuned_kernel_has_each_kind_of_stores_that_are_listed(kernel: str, element: str) -> None:
    stores = tuned_stores(kernel, element)
    assert {"temporal", "flushed"} <= stores
    for store in stores:
        assert tuned_kernel(kernel, element, store).store == store
    assert tuned_kernel(kernel, element).store in stores


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"access": "translated"}, "write --memory pmemobj:PATH"),
        ({"access": "translated", "memory": "file:/x"}, "write --memory pmemobj:PATH"),
        ({"access": "translated", "variant": "tuned", **POOL}, "add that variant"),
        ({"store": "non-temporal", "variant": "standard"}, "choose others"),
        ({"access": "D_RW"}, "direct, translated"),
        ({"store": "clwb"}, "temporal, non-temporal, flushed"),
    ],
)
def test_what_does_not_exist_is_refused_with_the_next_step(
    options: dict[str, str], words: str
) -> None:
    with pytest.raises(RequestError, match=words) as refused:
        names(**options)
    assert "\n" not in str(refused.value)


def test_arrays_in_a_pool_hold_what_translated_and_flushed_kernels_must_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        ctypes.CDLL("libpmemobj.so.1")
    except OSError:
        pytest.skip("libpmemobj.so.1 is not installed")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    parameters = build(
        StreamParameters,
        memory=f"pmemobj:{tmp_path}/pool",
        access="direct,translated",
        store="temporal,flushed",
        array_bytes="2MiB",
        threads="1",
    )
    experiment, system = Stream(), detect()
    (group,) = experiment.plan(parameters, system)
    with (
        opened({parameters.memory: group.bytes}) as memories,
        experiment.open(group, parameters, memories) as bench,
    ):
        for point in bench.points:
            (sample,) = bench.measure(point.point, 0)
            assert sample.threads[0].end_ns[0] > sample.threads[0].begin_ns[0]
            translated = "translated" in point.point
            assert point.actual.get("access") == ("translated" if translated else None)
        (validation,) = bench.validate()
        assert all(check.passed for check in validation.checks)
