"""Which cases `pages` visits on which machine, and that each is measured as planned."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from memgauge.experiments.pages.host import SLICE_ACCESSES, Pages
from memgauge.experiments.pages.plan import (
    LEAST_COUNT,
    Case,
    PagesParameters,
    cases,
    huge_page_bytes,
    page_kinds,
    spacing,
)
from memgauge.model.errors import RequestError
from memgauge.model.memory import MemoryPlacement
from memgauge.model.parameters import build, texts
from memgauge.model.system import HugePagePool, System
from memgauge.system.detect import detect

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def a_machine(**changes: object) -> System:
    fields: dict[str, object] = {
        "base_page_bytes": 4 * KIB,
        "thp": "madvise",
        "huge_pages": [],
        "available_bytes": 16 * GIB,
        "architecture": "x86_64",
    }
    return msgspec.structs.replace(detect(), **(fields | changes))


def pool(pages: int, page_bytes: int = 2 * MIB, reserved: int = 0) -> HugePagePool:
    return HugePagePool(page_bytes=page_bytes, total=pages, free=pages, reserved=reserved)


def planned(system: System, **requested: object) -> dict[str, list[Case]]:
    return cases(build(PagesParameters, **requested), system, system.allowed_cpus[0])


def strides(members: list[Case]) -> list[int]:
    return list(dict.fromkeys(case.stride_bytes for case in members))


def test_base_and_transparent_pages_by_default_and_lines_packed_in_the_larger() -> None:
    found = planned(a_machine())
    assert list(found) == ["4k", "thp"]
    assert strides(found["4k"]) == [4 * KIB]
    assert strides(found["thp"])[1:] == [4 * KIB, 2 * MIB]
    assert strides(found["thp"])[0] < 4 * KIB


def test_without_huge_pages_base_pages_hold_the_packed_lines_too() -> None:
    for mode in ("never", None):
        found = planned(a_machine(thp=mode))
        assert list(found) == ["4k"]
        assert strides(found["4k"])[1:] == [4 * KIB]


def test_explicit_pages_are_used_as_far_as_they_are_free_and_not_promised() -> None:
    system = a_machine(huge_pages=[pool(64, reserved=32), pool(0, GIB)])
    found = planned(system)
    assert list(found) == ["4k", "thp", "2m"]
    assert 32 * MIB < max(case.footprint_bytes for case in found["2m"]) <= 64 * MIB
    assert "2m" not in planned(a_machine(huge_pages=[pool(64, reserved=64)]))


def test_memory_for_explicit_pages_is_not_asked_of_the_rest() -> None:
    system = a_machine(huge_pages=[pool(64)])
    groups = {group.name: group for group in Pages().plan(build(PagesParameters), system)}
    assert groups["2m pages"].bytes == 0
    assert groups["4k pages"].bytes == max(c.footprint_bytes for c in planned(system)["4k"])


@given(st.integers(21, 42), st.sampled_from([4, 64]), st.sampled_from(["coarse", "fine"]))
def test_every_case_has_a_packed_one_with_as_many_lines(
    memory: int, page_kib: int, sweep: str
) -> None:
    system = a_machine(available_bytes=1 << memory, base_page_bytes=page_kib * KIB)
    try:
        found = [case for members in planned(system, sweep=sweep).values() for case in members]
    except RequestError:
        assert memory < 24
        return
    packed = min(case.stride_bytes for case in found)
    assert {case.count for case in found} == {
        case.count for case in found if case.stride_bytes == packed
    }
    assert len({case.name for case in found}) == len(found)
    assert all(case.count.bit_count() == 1 and case.count >= LEAST_COUNT for case in found)
    assert max(case.footprint_bytes for case in found) <= 1 << memory


@given(
    st.sampled_from([64, 128]),
    st.sampled_from([4 * KIB, 64 * KIB]),
    st.integers(12, 30).map(lambda power: 1 << power),
)
def test_slots_keep_lines_whole_and_on_pages_of_their_own(
    line: int, base: int, stride: int
) -> None:
    apart = spacing(stride, line, base)
    assert apart % line == 0
    assert stride <= apart <= stride + base + line
    if stride >= base:
        pages = [slot * apart // stride for slot in range(1000)]
        assert all(a < b for a, b in pairwise(pages))
        offsets = {slot * apart % base // line for slot in range(base // line)}
        assert len(offsets) == base // line


def test_pages_touched_are_counted() -> None:
    packed = Case(pages="thp", stride_bytes=64, count=1024, spacing_bytes=64)
    assert packed.pages_touched(4 * KIB) == 16
    assert packed.pages_touched(2 * MIB) == 1
    apart = Case(pages="thp", stride_bytes=4096, count=1024, spacing_bytes=4160)
    assert apart.pages_touched(4 * KIB) == 1024
    assert apart.pages_touched(2 * MIB) == len({slot * 4160 // (2 * MIB) for slot in range(1024)})


def test_huge_pages_follow_the_base_page() -> None:
    assert huge_page_bytes("thp", a_machine()) == 2 * MIB
    assert huge_page_bytes("thp", a_machine(base_page_bytes=64 * KIB)) == 512 * MIB
    power = a_machine(base_page_bytes=64 * KIB, architecture="ppc64le")
    assert huge_page_bytes("thp", power) == 2 * MIB
    assert huge_page_bytes("1g", a_machine()) == GIB
    assert huge_page_bytes("4k", a_machine()) is None


@pytest.mark.parametrize(
    ("requested", "said"),
    [
        ({"threads": "1,2"}, "translation is that of one core"),
        ({"stride": "100"}, "--stride 100: is not a whole number of lines"),
        ({"stride": "64,1GiB"}, "--stride 1 GiB: not even 16 lines this far apart fit"),
        ({"largest_bytes": "1KiB", "stride": "4KiB"}, "--stride 4 KiB: not even 16 lines"),
        ({"largest_bytes": "64"}, "not even 16 lines"),
        ({"pages": "2m"}, "not even 16 lines .* --reserve-huge-pages"),
        ({"largest_bytes": "900TiB"}, "only 16 GiB are available; ask for less"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(requested: dict[str, str], said: str) -> None:
    with pytest.raises(RequestError, match=said) as caught:
        Pages().plan(build(PagesParameters, **requested), a_machine())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("stride", ["0", "-64", "wide"])
def test_a_stride_that_is_no_size_is_refused(stride: str) -> None:
    with pytest.raises(RequestError, match="--stride"):
        build(PagesParameters, stride=stride)


def test_a_reservation_is_of_the_pages_that_will_be_used() -> None:
    experiment = Pages()
    assert experiment.reservation(build(PagesParameters), detect) == []
    for pages, size in (("auto", 2 * MIB), ("2m", 2 * MIB), ("1g", GIB)):
        requested = build(PagesParameters, reserve_huge_pages="1GiB", pages=pages)
        (wanted,) = experiment.reservation(requested, detect)
        assert (wanted.page_bytes, wanted.bytes) == (size, GIB)
        assert build(PagesParameters, **texts(requested)) == requested
    requested = build(PagesParameters, reserve_huge_pages="1GiB", pages="thp")
    with pytest.raises(RequestError, match=r"no reserved page is used with --pages thp; use"):
        experiment.reservation(requested, detect)


def test_planned_points_are_those_that_are_opened_and_measured() -> None:
    experiment, system = Pages(), detect()
    parameters = build(PagesParameters, largest_bytes="1MiB")
    for group in experiment.plan(parameters, system):
        with experiment.open(group, parameters) as bench:
            assert [p.point for p in bench.points] == [p.point for p in group.points]
            for point in bench.points:
                (sample,) = bench.measure(point.point, 0)
                (thread,) = sample.threads
                assert thread.end_ns[0] > thread.begin_ns[0]
                assert point.accesses == SLICE_ACCESSES
                lines, touched = point.requested["accesses_distinct"], point.actual["pages_touched"]
                assert isinstance(lines, int)
                assert isinstance(touched, int)
                assert 1 <= touched <= lines


def test_huge_pages_that_were_not_got_are_said() -> None:
    experiment, system = Pages(), detect()
    (group, *_) = experiment.plan(build(PagesParameters), system)
    point = group.points[0]
    got = {"pages": "mixed", "huge_share": 0.25}
    for requested, warned in (("thp", True), ("2m", True), ("4k", False)):
        changed = msgspec.structs.replace(
            point, requested=point.requested | {"pages": requested}, actual=point.actual | got
        )
        warnings = experiment.check(changed, [], system)
        assert [w.code for w in warnings] == (["huge-pages-missing"] if warned else [])
        assert all("back only 25% of the memory" in w.message for w in warnings)


def test_a_file_is_measured_in_the_pages_it_has() -> None:
    """Which those are its medium decides: asking for each kind would be refused."""
    memory = MemoryPlacement("file", path="/x")
    both = a_machine(thp="madvise")
    assert page_kinds(PagesParameters(memory=memory), both) == ["auto"]
    assert page_kinds(PagesParameters(memory=memory, pages="4k"), both) == ["4k"]
    assert page_kinds(PagesParameters(), both)[:2] == ["4k", "thp"]
