"""The loop nests against NumPy: what they compute, on the caller's memory and on a team's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memgauge.model.errors import RequestError

numpy = pytest.importorskip("numpy", reason="NumPy is the oracle here: pip install numpy")
_core = pytest.importorskip("memgauge._core", reason="the native core is not built")

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.native

Array = Any
PREFETCH = pytest.mark.parametrize("store_prefetch", [False, True])
GRIDS = pytest.mark.parametrize(("p", "r", "c"), [(1, 1, 1), (2, 3, 5), (8, 8, 8), (5, 16, 3)])


def random(*shape: int) -> Array:
    return numpy.random.default_rng(1).random(shape) + 0.5


def complexes(*shape: int) -> Array:
    return random(*shape) + 1j * random(*shape)[::-1]


def execute(kind: str, operands: Sequence[Array], **extents: Any) -> Array:
    """The last of the operands, written."""
    _core.execute_nest(_core.NestSpec(kind, **extents), operands)
    return operands[-1]


@PREFETCH
@pytest.mark.parametrize(("m", "n"), [(1, 1), (7, 5), (64, 64), (3, 129), (130, 2)])
def test_gemv_is_that_of_blas(m: int, n: int, *, store_prefetch: bool) -> None:
    a, x = random(m, n), random(n)
    y = execute("gemv", [a, x, numpy.zeros(m)], m=m, n=n, store_prefetch=store_prefetch)
    numpy.testing.assert_allclose(y, a @ x, rtol=1e-13)


@PREFETCH
@pytest.mark.parametrize("cap", [1, 3, 8, 17, 40])
def test_capped_gemv_begins_again_with_the_first_row(cap: int, *, store_prefetch: bool) -> None:
    m, n = 17, 9
    rows = min(cap, m)
    a, x = random(rows, n), random(n)
    y = execute("gemv", [a, x, numpy.zeros(m)], m=m, n=n, cap=cap, store_prefetch=store_prefetch)
    numpy.testing.assert_allclose(y, a[numpy.arange(m) % rows] @ x, rtol=1e-13)


@PREFETCH
@pytest.mark.parametrize("n", [1, 2, 17, 64, 101])
def test_gemm_is_that_of_blas(n: int, *, store_prefetch: bool) -> None:
    a, b = random(n, n), random(n, n)
    c = execute("gemm", [a, b, numpy.zeros((n, n))], n=n, store_prefetch=store_prefetch)
    numpy.testing.assert_allclose(c, a @ b, rtol=1e-13)


@PREFETCH
@pytest.mark.parametrize("n", [1, 7, 64, 1003])
def test_stream_kernels_do_what_stream_says(n: int, *, store_prefetch: bool) -> None:
    one, other = random(n), random(n) + 1.0
    for kind, read, expected in [
        ("copy", [one], one),
        ("scale", [one], 3.0 * one),
        ("add", [one, other], one + other),
        ("triad", [one, other], one + 3.0 * other),
    ]:
        written = execute(kind, [*read, numpy.zeros(n)], n=n, store_prefetch=store_prefetch)
        numpy.testing.assert_array_equal(written, expected, err_msg=kind)


@PREFETCH
@pytest.mark.parametrize("stride", [1, 2, 8, 17])
def test_a_strided_copy_leaves_what_lies_between(stride: int, *, store_prefetch: bool) -> None:
    n = 13
    a = random((n - 1) * stride + 1)
    b = execute(
        "strided-copy", [a, numpy.zeros_like(a)], n=n, stride=stride, store_prefetch=store_prefetch
    )
    expected = numpy.zeros_like(a)
    expected[::stride] = a[::stride]
    numpy.testing.assert_array_equal(b, expected)


@PREFETCH
@pytest.mark.parametrize(("m", "n"), [(1, 1), (5, 9), (64, 3), (33, 65)])
def test_a_transpose_is_that_of_numpy(m: int, n: int, *, store_prefetch: bool) -> None:
    a = random(m, n)
    b = execute("transpose", [a, numpy.zeros((n, m))], m=m, n=n, store_prefetch=store_prefetch)
    numpy.testing.assert_array_equal(b, a.T)


@PREFETCH
@GRIDS
def test_the_first_resort_rotates_its_innermost_dimension_out(
    p: int, r: int, c: int, *, store_prefetch: bool
) -> None:
    given = complexes(p, r, c)
    columns = {"planes": p, "rows": r, "cols": c, "store_prefetch": store_prefetch}
    planes = {"planes": c, "rows": r, "cols": p, "store_prefetch": store_prefetch}
    for letter, extents in [("c", columns), ("p", planes)]:
        same = execute(f"s1{letter}f-first", [given, numpy.empty_like(given)], **extents)
        numpy.testing.assert_array_equal(same, given)
        rotated = given.transpose(2, 0, 1)
        for kind in (f"s1{letter}f-second", f"s1{letter}f"):
            out = execute(kind, [given, numpy.empty((c, p, r), complex)], **extents)
            numpy.testing.assert_array_equal(out, rotated, err_msg=kind)


@PREFETCH
@GRIDS
@pytest.mark.parametrize("tile", [1, 2, 8, 100])
def test_tiles_of_any_size_resort_the_same(
    p: int, r: int, c: int, tile: int, *, store_prefetch: bool
) -> None:
    given = complexes(p, r, c)
    for kind, outer, inner in [("s1cf", "planes", "cols"), ("s1pf", "cols", "planes")]:
        extents = {outer: p, "rows": r, inner: c, "tile": tile, "store_prefetch": store_prefetch}
        assert _core.NestSpec(kind, **extents).trips == p * r * c
        out = execute(kind, [given, numpy.zeros((c, p, r), complex)], **extents)
        numpy.testing.assert_array_equal(out, given.transpose(2, 0, 1), err_msg=kind)
    a = random(p * r, c)
    b = execute("transpose", [a, numpy.zeros((c, p * r))], m=p * r, n=c, tile=tile)
    numpy.testing.assert_array_equal(b, a.T)


@PREFETCH
@GRIDS
@pytest.mark.parametrize("y", [1, 4])
def test_the_second_resort_joins_the_rows_of_all_senders(
    p: int, r: int, c: int, y: int, *, store_prefetch: bool
) -> None:
    given = complexes(y, p, c, r)
    joined = given.transpose(1, 2, 0, 3)
    for kind, outer in [("s2cf", "planes"), ("s2pf", "cols")]:
        extents = {outer: p, "rows": r, "x": c, "y": y, "store_prefetch": store_prefetch}
        out = execute(kind, [given, numpy.empty_like(joined, order="C")], **extents)
        numpy.testing.assert_array_equal(out, joined, err_msg=kind)


def test_trips_and_arrays_follow_from_the_extents() -> None:
    spec = _core.NestSpec("gemv", m=17, n=9, cap=4)
    assert spec.trips == 17 * 9
    assert [(a.name, a.bytes, a.read, a.written) for a in spec.arrays] == [
        ("A", 4 * 9 * 8, True, False),
        ("x", 9 * 8, True, False),
        ("y", 17 * 8, False, True),
    ]
    assert _core.NestSpec("s2cf", planes=2, rows=3, x=5, y=7).trips == 210
    assert {a.element_bytes for a in _core.NestSpec("s1pf", planes=1, rows=1, cols=1).arrays} == {
        16
    }


@pytest.mark.parametrize("kind", _core.NEST_KINDS)
def test_every_kind_says_which_extents_it_needs(kind: str) -> None:
    with pytest.raises(RequestError, match=rf"^loop nest {kind}: .* is nothing to do; give "):
        _core.NestSpec(kind)


def test_extents_that_make_no_sense_are_refused() -> None:
    with pytest.raises(RequestError, match=r"unknown loop nest 'gem'; choose among gemv, gemm,"):
        _core.NestSpec("gem", n=1)
    with pytest.raises(RequestError, match=r"loop nest gemm: m of 3 is no extent of it; give n"):
        _core.NestSpec("gemm", n=3, m=3)
    with pytest.raises(RequestError, match=r"array of more than 2\^48 bytes"):
        _core.NestSpec("copy", n=2**46)
    with pytest.raises(RequestError, match=r"more than 2\^58 trips"):
        _core.NestSpec("gemm", n=2**21)


def test_operands_that_would_be_overrun_or_mixed_up_are_refused() -> None:
    spec = _core.NestSpec("copy", n=8)
    a = random(8)
    with pytest.raises(RequestError, match=r"loop nest copy works on 2 arrays, not on 1; give"):
        _core.execute_nest(spec, [a])
    with pytest.raises(RequestError, match=r"operand c: has 56 bytes of 64; give a larger one"):
        _core.execute_nest(spec, [a, numpy.zeros(7)])
    with pytest.raises(RequestError, match=r"operand c: is no contiguous and writable memory"):
        _core.execute_nest(spec, [a, bytes(64)])
    with pytest.raises(RequestError, match=r"operand a: is no contiguous memory; give a C-cont"):
        _core.execute_nest(spec, [random(16)[::2], a])
    with pytest.raises(RequestError, match=r"operand a: does not begin at a multiple of 8 bytes"):
        _core.execute_nest(spec, [memoryview(bytearray(80))[1:], a])
    with pytest.raises(RequestError, match=r"operand a: overlaps what is written; give memory"):
        _core.execute_nest(spec, [a, a])


def team(threads: int = 1) -> Any:
    return _core.Team(_core.allowed_cpus()[:threads])


def test_what_a_team_computes_is_what_numpy_makes_of_the_same_arrays() -> None:
    n = 33
    spec = _core.NestSpec("gemm", n=n)
    threads = team(2)
    nest = _core.LoopNest(threads, spec, copies=2)
    taken = nest.run(3).threads
    assert [len(thread.begin_ns) for thread in taken] == [3] * len(threads.cpus)
    for rank in range(len(threads.cpus)):
        for copy in (0, 1):
            a, b, c = (
                numpy.asarray(nest.array(rank, copy, index)).reshape(n, n) for index in range(3)
            )
            assert (a >= 1.0).all()
            numpy.testing.assert_allclose(c, a @ b, rtol=1e-13)
    (found,) = nest.validate()
    assert found.passed
    assert (found.array, found.elements) == ("C", 2 * n * len(threads.cpus))


def test_complex_elements_are_seen_as_pairs_of_doubles() -> None:
    nest = _core.LoopNest(team(), _core.NestSpec("s1cf", planes=3, rows=5, cols=7))
    nest.run()
    given, out = (numpy.asarray(nest.array(0, 0, index)).view(complex) for index in (0, 1))
    numpy.testing.assert_array_equal(
        out.reshape(7, 3, 5), given.reshape(3, 5, 7).transpose(2, 0, 1)
    )
    assert numpy.asarray(nest.array(0, 0, 1)).ctypes.data == nest.address(0, 0, 1)


def test_a_wrong_element_fails_the_check_and_a_new_run_mends_it() -> None:
    nest = _core.LoopNest(team(), _core.NestSpec("transpose", m=9, n=4))
    assert nest.validate() == []
    nest.run()
    nest.corrupt(0, 1, 17)
    (found,) = nest.validate()
    assert not found.passed
    assert (found.array, found.failed_elements, found.first_failed) == ("b", 1, 17)
    nest.run()
    assert nest.validate()[0].passed


def test_a_view_of_an_array_outlives_the_nest() -> None:
    nest = _core.LoopNest(team(), _core.NestSpec("copy", n=1000))
    nest.run()
    view = nest.array(0, 0, 1)
    held = view.tolist()
    nest.close()
    with pytest.raises(RuntimeError, match="LoopNest is closed"):
        nest.array(0, 0, 1)
    del nest
    assert view.tolist() == held
    assert isinstance(view, memoryview)
    assert view.format == "d"
