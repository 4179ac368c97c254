"""Kinds of pages and distances of prefetch that `stream` compares in the same rounds."""

from __future__ import annotations

import msgspec
import pytest

pytest.importorskip("memgauge._core")

from memgauge import _core
from memgauge.analysis.figures.regimes import find_regimes
from memgauge.experiments.shared.prefetch import Prefetch
from memgauge.experiments.stream.host import Stream
from memgauge.experiments.stream.parameters import StreamParameters
from memgauge.model.errors import DoesNotFit, RequestError
from memgauge.model.parameters import build, texts
from memgauge.model.points.stream import StreamActual, StreamRequested
from memgauge.model.system import HugePagePool, System
from memgauge.runner.batches import batches
from memgauge.runner.point_progress import PointProgress
from memgauge.system.detect import detect

MIB, GIB = 1 << 20, 1 << 30
TINY = {"array_bytes": "2MiB", "threads": "1", "kernel": "triad"}


def with_pools(free_2m: int = 0, free_1g: int = 0) -> System:
    pools = [
        HugePagePool(page_bytes=size, total=free, free=free, reserved=0)
        for size, free in ((2 * MIB, free_2m), (GIB, free_1g))
    ]
    return msgspec.structs.replace(detect(), huge_pages=pools)


def test_each_kind_of_pages_has_a_group_and_points_of_its_own() -> None:
    parameters = build(StreamParameters, pages="4k,thp,2m", **TINY)
    assert build(StreamParameters, **texts(parameters)) == parameters
    assert parameters.page_kinds == ("4k", "thp", "2m")
    groups = Stream().plan(parameters, with_pools(free_2m=3))
    assert [group.pages for group in groups] == ["4k", "thp", "2m"]
    names = [point.point for group in groups for point in group.points]
    assert len(set(names)) == len(names)
    assert "stream/triad/tuned/double/1t/thp" in names
    for group in groups:
        assert {StreamRequested.of(point.requested).pages for point in group.points} == {
            group.pages
        }
    assert [group.pool_bytes for group in groups] == [0, 0, 6 * MIB]


def test_one_kind_of_pages_changes_no_name() -> None:
    (group,) = Stream().plan(build(StreamParameters, pages="thp", **TINY), detect())
    assert "stream/triad/tuned/double/1t" in {point.point for point in group.points}
    assert group.compared == ""


@pytest.mark.parametrize("pages", ["4k,5k", "", "thp,"])
def test_pages_that_do_not_exist_are_refused(pages: str) -> None:
    with pytest.raises(RequestError, match="--pages"):
        build(StreamParameters, pages=pages)


def test_too_few_explicit_pages_are_said_before_anything_is_opened() -> None:
    parameters = build(StreamParameters, pages="4k,2m", **TINY)
    with pytest.raises(DoesNotFit, match=r"need 6 MiB in huge pages of 2 MiB, of which 4 MiB are"):
        Stream().plan(parameters, with_pools(free_2m=2))


def test_a_reservation_by_itself_holds_the_arrays_of_all_teams() -> None:
    requested = {"pages": "4k,2m,1g", "array_bytes": "3MiB", "threads": "1,2"}
    parameters = build(StreamParameters, reserve_huge_pages="auto", **requested)
    wanted = Stream().reservation(parameters, detect)
    # Three arrays of two or three pages each, by the size that the core gives them.
    assert {one.page_bytes: one.pages for one in wanted} == {2 * MIB: 12, GIB: 6}
    fixed = build(StreamParameters, reserve_huge_pages="1GiB", **requested)
    assert [one.bytes for one in Stream().reservation(fixed, detect)] == [GIB, GIB]
    assert Stream().reservation(build(StreamParameters, **requested), detect) == []


def test_a_reservation_that_nothing_would_use_is_refused() -> None:
    parameters = build(StreamParameters, pages="4k,thp", reserve_huge_pages="auto")
    with pytest.raises(RequestError, match="no reserved page is used with --pages 4k,thp"):
        Stream().reservation(parameters, detect)


@pytest.mark.parametrize("element", ["double", "float"])
@pytest.mark.parametrize("threads", [1, 2])
def test_the_plan_knows_how_large_the_core_makes_arrays(element: str, threads: int) -> None:
    cpus = detect().allowed_cpus
    if len(cpus) < threads:
        pytest.skip("fewer CPUs")
    parameters = build(
        StreamParameters, element=element, array_bytes="2097160", threads=str(threads)
    )
    (group,) = Stream().plan(parameters, detect())
    arrays = _core.StreamArrays(
        _core.Team(cpus[:threads]),
        elements=group.shape.elements,
        element=element,
        blocks=group.shape.blocks,
    )
    try:
        one = arrays.elements * group.shape.element_bytes
    finally:
        arrays.close()
    assert group.shape.mapped_bytes(8) == 3 * (one + group.shape.offset_bytes)
    assert group.shape.mapped_bytes(2 * MIB) == 3 * -(-one // (2 * MIB)) * 2 * MIB


def test_groups_that_are_compared_are_never_parted_where_they_fit_together() -> None:
    experiment = Stream()
    parameters = build(
        StreamParameters, pages="4k,thp", threads="1", array_bytes="2MiB", kernel="copy"
    )
    groups = experiment.plan(parameters, detect())
    again = [msgspec.structs.replace(group, compared="2t") for group in groups]
    planned = [(experiment, parameters, group) for group in (*groups, *again)]

    def packed(mib: int) -> list[list[str]]:
        made = batches(planned, lambda _: [("system", mib * MIB)])
        return [[group.compared for _, _, group in batch] for batch in made]

    assert packed(1000) == [["1t", "1t", "2t", "2t"]]
    assert packed(24) == [["1t", "1t"], ["2t", "2t"]]  # of which 80% are used: room for three
    assert packed(9) == [["1t"], ["1t"], ["2t"], ["2t"]]


def test_distances_are_points_of_the_tuned_kernels_beside_their_own() -> None:
    parameters = build(StreamParameters, prefetch="0,512,512:4096", **TINY)
    assert build(StreamParameters, **texts(parameters)) == parameters
    (group,) = Stream().plan(parameters, detect())
    slices = {p.point: p for p in group.points if p.role == "slice"}
    own = "stream/triad/tuned/double/1t"
    assert set(slices) == {
        "stream/triad/standard/double/1t",
        own,
        f"{own}/p512",
        f"{own}/p512-f4096",
    }
    by_name = {one.point.point: one.kernel.spec for one in group.kernels}
    assert by_name[own].prefetch_near_bytes == 0
    far = by_name[f"{own}/p512-f4096"]
    assert (far.prefetch_near_bytes, far.prefetch_far_bytes) == (512, 4096)
    assert {spec.streams for name, spec in by_name.items() if own in name} == {by_name[own].streams}
    requested = StreamRequested.of(slices[f"{own}/p512-f4096"].requested)
    assert requested.prefetch == "512:4KiB"


def test_what_reads_nothing_is_measured_once_whatever_the_distance() -> None:
    parameters = build(
        StreamParameters, kernel="write", variant="tuned", prefetch="512,4096", autotune=True
    )
    (group, *_) = Stream().plan(parameters, detect())
    slices = [one for one in group.kernels if one.point.role == "slice"]
    assert [one.point.point for one in slices if not one.kernel.candidate] == [
        "stream/write/tuned/double/1t"
    ]
    assert any(one.kernel.candidate for one in slices)


def test_a_search_tries_the_requested_distances() -> None:
    parameters = build(StreamParameters, prefetch="768", autotune=True, variant="tuned", **TINY)
    (group,) = Stream().plan(parameters, detect())
    candidates = [one.kernel.spec for one in group.kernels if one.kernel.candidate]
    assert candidates
    assert {spec.prefetch_near_bytes for spec in candidates} == {768}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("4096:512", "the far distance comes second and is larger"),
        ("0:512", "the far distance comes second and is larger"),
        ("512:0", "the far distance comes second and is larger"),
        ("2GiB", "more than 1 GiB ahead"),
        ("near", "--prefetch"),
        ("512,", "--prefetch"),
    ],
)
def test_distances_that_make_no_sense_are_refused(text: str, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        build(StreamParameters, prefetch=text)


def test_distances_are_given_as_numbers_too() -> None:
    found = build(StreamParameters, prefetch=[0, 512]).prefetch
    assert found == (Prefetch(0), Prefetch(512))


def test_plain_loops_alone_have_no_distance() -> None:
    parameters = build(StreamParameters, variant="standard", prefetch="512", kernel="copy")
    with pytest.raises(RequestError, match="only the tuned kernels prefetch"):
        Stream().plan(parameters, detect())


def test_requested_repetitions_and_runs_decide_how_much_is_enough() -> None:
    parameters = build(
        StreamParameters, repetitions=3, runs=2, counters="modelled:read_bytes", **TINY
    )
    experiment = Stream()
    (group,) = experiment.plan(parameters, detect())
    with experiment.open(group, parameters) as bench:
        for point in bench.points:
            if point.role == "slice" or "tuned" in point.point:
                continue
            progress = PointProgress(bench, point)
            wanted = {"pass": 3, "counted": 2}[point.role]
            assert (StreamActual.of(point.actual).passes or 3) == 3
            for taken in range(wanted):
                assert not progress.reached, (point.role, taken)
                (sample,) = progress.measure(taken)
                progress.look(0.01, find_regimes([]))
                if point.role == "counted":  # the first of three is left out
                    assert len(sample.threads[0].begin_ns) == 2
            assert progress.reached


def test_runs_without_counters_are_refused() -> None:
    with pytest.raises(RequestError, match="--runs: nothing is counted"):
        Stream().plan(build(StreamParameters, runs=3, **TINY), detect())
