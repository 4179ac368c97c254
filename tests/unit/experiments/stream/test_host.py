"""What `stream` plans, measures and gives up, on this machine and on made-up ones."""

from __future__ import annotations

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.runner.fakes import a_system

from memgauge.experiments.stream.host import Stream
from memgauge.experiments.stream.kernels import STREAM_KERNELS
from memgauge.experiments.stream.parameters import KERNELS, StreamParameters
from memgauge.experiments.stream.plan import contests_of
from memgauge.experiments.stream.search import eliminated
from memgauge.experiments.stream.sizes import (
    BLOCK_BYTES,
    LEAST_BLOCKS,
    STREAM_LEAST_ELEMENTS,
    layout,
)
from memgauge.model.parameters import build
from memgauge.model.records import Point
from memgauge.model.system import Cache, Cpu, System
from memgauge.system.detect import detect

MIB = 1 << 20
TINY = {"array_bytes": "2MiB", "threads": "1"}


def with_caches(*llc_mib: int, available_bytes: int = 1 << 40) -> System:
    """One CPU on each last-level cache."""
    return msgspec.structs.replace(
        a_system(available_bytes),
        cpus=[Cpu(cpu=n, core=n, socket=0, node=0, sibling=0) for n in range(len(llc_mib))],
        allowed_cpus=list(range(len(llc_mib))),
        caches=[
            Cache(
                level=3,
                type="unified",
                bytes=size * MIB,
                line_bytes=64,
                ways=16,
                sets=None,
                cpus=[cpu],
            )
            for cpu, size in enumerate(llc_mib)
        ],
    )


@given(st.lists(st.integers(1, 512), min_size=1, max_size=8))
def test_arrays_are_four_times_the_last_level_caches_used(sizes_mib: list[int]) -> None:
    shape = layout(StreamParameters(), with_caches(*sizes_mib), range(len(sizes_mib)))
    assert shape.conformant
    assert shape.llc_bytes == sum(sizes_mib) * MIB
    assert shape.array_bytes >= max(4 * sum(sizes_mib) * MIB, 8 * STREAM_LEAST_ELEMENTS)


@given(st.lists(st.integers(1, 512), min_size=1, max_size=8))
def test_the_lead_in_moves_as_much_as_the_caches_hold(sizes_mib: list[int]) -> None:
    shape = layout(StreamParameters(), with_caches(*sizes_mib), range(len(sizes_mib)))
    block_bytes = shape.array_bytes / shape.blocks / len(sizes_mib)
    assert shape.blocks == LEAST_BLOCKS or block_bytes >= BLOCK_BYTES
    moved = 2 * shape.lead_in_blocks * block_bytes * len(sizes_mib)
    assert moved >= sum(sizes_mib) * MIB * 0.99


def test_only_the_caches_of_the_team_count() -> None:
    shape = layout(StreamParameters(), with_caches(32, 32), [1])
    assert shape.llc_bytes == 32 * MIB


def test_small_arrays_are_allowed_and_not_conformant() -> None:
    shape = layout(build(StreamParameters, array_bytes="8MiB"), with_caches(32), [0])
    assert shape.array_bytes == 8 * MIB
    assert not shape.conformant


@pytest.mark.parametrize(
    ("requested", "offset_bytes"),
    [("160MB", 2048), ("128MiB", 0), ("1000040", 640), ("4095", 0), ("8MiB", 0)],
)
def test_arrays_begin_relative_to_each_other_as_static_ones(
    requested: str, offset_bytes: int
) -> None:
    """Each on the line after the one before, seen within 4 KiB."""
    shape = layout(build(StreamParameters, array_bytes=requested), with_caches(32), [0])
    assert shape.offset_bytes == offset_bytes
    given = build(StreamParameters, array_bytes=requested, array_offset="128")
    assert layout(given, with_caches(32), [0]).offset_bytes == 128


def test_hidden_caches_are_never_called_conformant() -> None:
    system = msgspec.structs.replace(with_caches(32), caches=[])
    shape = layout(StreamParameters(), system, [0])
    assert shape.llc_bytes is None
    assert not shape.conformant


def test_what_breaks_the_rule_is_said_of_passes_and_no_size_is_made_up() -> None:
    for system, said in (
        (with_caches(32), "smaller than four times the last-level caches used (33554432 B)"),
        (msgspec.structs.replace(with_caches(32), caches=[]), "used, whose size is not known"),
    ):
        (group,) = Stream().plan(build(StreamParameters, kernel="copy", **TINY), system)
        found = [
            warning
            for point in group.points
            for warning in Stream().check(with_bytes(point), [], system)
        ]
        assert {warning.point for warning in found} == {
            f"stream/copy/{variant}/double/1t/pass" for variant in ("standard", "tuned")
        }
        assert all(said in warning.message for warning in found)


def with_bytes(point: Point) -> Point:
    """As laid out."""
    return msgspec.structs.replace(point, actual={**point.actual, "array_bytes": 2 * MIB})


def test_default_arrays_shrink_to_half_of_what_is_available() -> None:
    shape = layout(StreamParameters(), with_caches(32, available_bytes=60 * MIB), [0])
    assert 3 * shape.array_bytes <= 30 * MIB + 64
    assert not shape.conformant


def test_every_kernel_is_sliced_and_streams_four_are_also_passed() -> None:
    (group,) = Stream().plan(build(StreamParameters, **TINY), detect())
    slices = [p for p in group.points if p.role == "slice"]
    passes = [p for p in group.points if p.role == "pass"]
    assert [p.requested["kernel"] for p in slices] == [*KERNELS, *KERNELS]
    assert [p.requested["kernel"] for p in passes] == [*STREAM_KERNELS, *STREAM_KERNELS]
    assert len({p.point for p in group.points}) == len(group.points)


def test_planned_points_are_those_that_are_opened_and_measured() -> None:
    experiment, system = Stream(), detect()
    parameters = build(StreamParameters, **TINY)
    (group,) = experiment.plan(parameters, system)
    with experiment.open(group, parameters) as bench:
        assert [p.point for p in bench.points] == [p.point for p in group.points]
        for point in bench.points:
            (sample,) = bench.measure(point.point, 0)
            (thread,) = sample.threads
            assert thread.end_ns[0] > thread.begin_ns[0]
            assert point.bytes_moved >= point.bytes_counted > 0
            assert int(str(point.actual["array_bytes"])) >= 2 * MIB
        (validation,) = bench.validate()
        assert all(check.passed for check in validation.checks)


@pytest.mark.parametrize(
    ("kernel", "counted", "allocated"),
    [
        ("copy", 16, 8),
        ("scale", 16, 8),
        ("add", 24, 8),
        ("triad", 24, 8),
        ("read", 8, 0),
        ("write", 8, 8),
        ("update", 24, 0),
    ],
)
def test_bytes_of_a_slice_are_streams_count_and_the_write_allocate(
    kernel: str, counted: int, allocated: int
) -> None:
    experiment, system = Stream(), detect()
    parameters = build(StreamParameters, kernel=kernel, variant="standard", **TINY)
    (group,) = experiment.plan(parameters, system)
    with experiment.open(group, parameters) as bench:
        point = bench.points[0]
        assert point.bytes_moved * counted == point.bytes_counted * (counted + allocated)


def test_autotune_adds_candidates_of_every_store_kind() -> None:
    parameters = build(StreamParameters, kernel="triad", autotune=True, **TINY)
    (group,) = Stream().plan(parameters, detect())
    candidates = [p.requested["candidate"] for p in group.points if "candidate" in p.requested]
    assert len(candidates) == len(set(candidates)) > 10


def test_the_search_gives_up_what_is_clearly_behind_and_nothing_else() -> None:
    draw = random.Random(1)
    fast = [50 + draw.random() for _ in range(12)]
    near = [value * 0.98 for value in fast]
    slow = [value * 0.8 for value in fast]
    triad, copy = "stream/triad/tuned/double/1t", "stream/copy/tuned/double/1t"
    candidates = {
        f"{triad}/avx2-nt-u2-s1": fast,
        f"{triad}/avx2-nt-u4-s1": near,
        f"{triad}/avx2-t-u1-s1": slow,
        f"{triad}/avx2-t-u2-s1": slow[:3],
        f"{copy}/avx2-t-u1-s1": slow,
    }
    contests = {name: copy if name.startswith(copy) else triad for name in candidates}
    assert eliminated(contests, {**candidates, triad: slow}) == {f"{triad}/avx2-t-u1-s1"}


def test_candidates_compete_within_their_kernel_and_team() -> None:
    experiment, system = Stream(), detect()
    parameters = build(StreamParameters, kernel="triad,copy", autotune=True, **TINY)
    (group,) = experiment.plan(parameters, system)
    searched = [p.point for p in group.points if "candidate" in p.requested]
    contests = contests_of(group.kernels)
    assert list(contests) == searched
    assert set(contests.values()) == {
        f"stream/{kernel}/tuned/double/1t" for kernel in ("triad", "copy")
    }
    assert all(name.startswith(f"{contest}/") for name, contest in contests.items())
    slow = {name: [1.0 if name == searched[0] else 2.0] * 20 for name in searched}
    with experiment.open(group, parameters) as bench:
        assert bench.eliminated(slow) == {searched[0]}
