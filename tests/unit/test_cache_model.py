"""The cache model's bindings; what it counts is tested in core/tests."""

from __future__ import annotations

import struct
import subprocess
import sys
from array import array
from typing import Any

import pytest

_core = pytest.importorskip("memgauge._core", reason="the native core is not built")
pytestmark = pytest.mark.native


def machine(**changed: Any) -> Any:
    levels = [
        _core.CacheLevel(name="L1", bytes=4096, ways=4),
        _core.CacheLevel(name="L2", bytes=32768, ways=8, cores=0, inclusion="inclusive"),
    ]
    return _core.CacheMachine(**{"name": "small", "levels": levels, **changed})


def counted(model: Any) -> tuple[int, ...]:
    counts = model.counts()
    levels = [n for level in counts.levels for n in (level.hits, level.misses, level.write_backs)]
    return (
        counts.loads,
        counts.stores,
        counts.store_prefetches,
        *levels,
        counts.read_bytes,
        counts.write_bytes,
    )


def test_a_walk_counts_what_the_same_accesses_count() -> None:
    walked, accessed = _core.CacheModel(machine()), _core.CacheModel(machine())
    walked.walk([(1 << 20, 16, 8, "load")], 1000)
    accessed.access(array("Q", range(1 << 20, (1 << 20) + 16_000, 16)))
    assert counted(walked) == counted(accessed)
    assert walked.counts().loads == 1000
    assert walked.counts().load_read_bytes == 16_000


def test_a_trace_mixes_kinds_and_streams() -> None:
    records = b"".join(
        struct.pack("=QIBBH", 4096 + 64 * i, 8, kind, stream, 0)
        for i, (kind, stream) in enumerate([(0, 1), (1, 2), (2, 3), (1, 2)])
    )
    model = _core.CacheModel(machine())
    model.trace(records)
    counts = model.counts()
    assert (counts.loads, counts.stores, counts.store_prefetches) == (1, 2, 1)
    assert counts.allocate_read_bytes == 128
    assert counts.software_prefetch_read_bytes == 64
    assert counts.stream_read_bytes[1:4] == [64, 128, 64]
    model.write_back_all()
    assert model.counts().write_back_bytes == 128


def test_an_outer_loop_and_what_comes_after_it() -> None:
    model = _core.CacheModel(machine())
    model.walk(
        [(1 << 20, 8, 8, "load"), (2 << 20, 64, 8, "load")],
        8,
        outer=3,
        outer_strides=[0, 512],
        after=[(3 << 20, 8, 8, "store")],
    )
    counts = model.counts()
    assert (counts.loads, counts.stores) == (48, 3)
    assert counts.stream_read_bytes[:3] == [64, 3 * 8 * 64, 64]


def test_counts_are_reset_and_contents_cleared() -> None:
    model = _core.CacheModel(machine())
    model.access(array("Q", [0]))
    model.reset_counts()
    model.access(array("Q", [0]))
    assert model.counts().levels[0].hits == 1
    model.clear()
    model.access(array("Q", [0]))
    assert model.counts().levels[0].misses == 1


def test_threads_count_what_one_counts() -> None:
    one, two = _core.CacheModel(machine()), _core.CacheModel(machine(), threads=2)
    for model in (one, two):
        model.walk([(1 << 20, 24, 8, "load"), (2 << 20, 8, 8, "store")], 5000)
        model.write_back_all()
    assert counted(one) == counted(two)


def test_borrowed_instances_are_a_level_of_their_own() -> None:
    level = _core.CacheLevel(name="L3", bytes=4096, ways=4, cores=2, borrows_idle=True)
    model = _core.CacheModel(_core.CacheMachine(name="m", levels=[level], idle_cores=5))
    assert model.level_names == ["L3", "L3 borrowed"]
    assert len(model.counts().levels) == 2


def test_cores_have_levels_of_their_own() -> None:
    model = _core.CacheModel(machine(cores=2))
    model.access(array("Q", [0]), core=0, kind="store")
    model.access(array("Q", [0]), core=1)
    counts = model.counts()
    assert [level.misses for level in counts.levels] == [2, 1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.access(b"1234567"), "7 bytes are no multiple of 8"),
        (lambda m: m.access(array("Q", [0]), kind="read"), "kind of access 'read'; choose"),
        (lambda m: m.access(array("Q", [0]), stream=16), "access stream 16"),
        (lambda m: m.access(array("Q", [0]), core=1), "core 1 of 1"),
        (lambda m: m.access(array("Q", [0]), bytes=0), "0 bytes"),
        (lambda m: m.access(array("Q", [1 << 50])), r"beyond 2\^48"),
        (lambda m: m.access(3), "contiguous"),
        (lambda m: m.trace(b"\0" * 15), "no multiple of 16"),
        (lambda m: m.trace(struct.pack("=QIBBH", 0, 8, 3, 0, 0)), "trace: kind 3"),
        (lambda m: m.walk([(0, -8, 8, "load")], 2), "below address 0"),
        (lambda m: m.walk([(0, 8, 8, "load")], 2, outer_strides=[1, 2]), "2 outer strides"),
    ],
)
def test_accesses_that_make_no_sense_are_refused(call: Any, message: str) -> None:
    from memgauge.model.errors import RequestError

    with pytest.raises(RequestError, match=message):
        call(_core.CacheModel(machine()))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: _core.CacheLevel(name="a", bytes=1, ways=1, inclusion="some"), "inclusion 'some'"),
        (lambda: _core.CacheLevel(name="a", bytes=1, ways=1, replacement="x"), "replacement 'x'"),
        (lambda: _core.CacheModel(machine(line_bytes=96)), "lines of 96 bytes"),
        (lambda: _core.CacheModel(machine(), threads=3), "do not part over 3 threads"),
        (lambda: _core.CacheModel(machine(next_line=True), threads=2), "next-line"),
    ],
)
def test_machines_that_make_no_sense_are_refused(make: Any, message: str) -> None:
    from memgauge.model.errors import RequestError

    with pytest.raises(RequestError, match=message):
        make()


BELOW_ZERO = """
from memgauge import _core
machine = _core.CacheMachine(
    name="small", levels=[_core.CacheLevel(name="L1", bytes=4096, ways=4)],
    line_bytes=8, sector_bytes=1, stride=True, stride_ahead=2,
)
model = _core.CacheModel(machine)
model.walk([(64, -12, 8, "load")], 6)
print(model.counts().hardware_prefetch_read_bytes)
"""


def test_a_prefetch_that_would_lie_below_address_0_is_left_out() -> None:
    """In a process of its own, for a loop in the core that has no end cannot be interrupted."""
    done = subprocess.run(
        [sys.executable, "-c", BELOW_ZERO],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert done.stdout == "8\n"
