"""Software against hardware bandwidth: closed forms, and the published counts as an oracle."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.counters.counted import ELEMENTS, counter, counts, region, verdict

from memgauge.analysis.counters.bandwidth import (
    READS,
    HardwareBandwidth,
    bytes_per_repetition,
    hardware_bandwidth,
)
from memgauge.analysis.counters.document import hardware_figures
from memgauge.analysis.counters.figures import HardwareCounts
from memgauge.analysis.counters.published import published_counts, published_report
from memgauge.analysis.counters.summary import verdicts
from memgauge.analysis.counters.tables import charts, tables
from memgauge.analysis.counters.verdicts import allocation_share, explain
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.errors import RequestError
from memgauge.references.library import load


def value(estimate: Estimate | None) -> float:
    assert estimate is not None
    return estimate.value


def words(made: HardwareCounts) -> str:
    return " ".join(verdict.text for verdict in explain(hardware_bandwidth(made)))


@pytest.fixture(scope="module")
def altra() -> HardwareBandwidth:
    return hardware_bandwidth(published_counts(load("altra-dmc620")))


def test_the_published_hardware_bandwidth_is_reproduced_to_all_printed_digits(
    altra: HardwareBandwidth,
) -> None:
    known = load("altra-dmc620").description.counts
    assert known is not None
    assert f"{value(altra.hardware.total) / 1e6:.2f}" == "113159.59"
    assert known.hardware_MBps == 113159.59
    assert f"{value(altra.software) / 1e6:.2f}" == "110841.10"


def test_the_published_sockets_are_told_apart(altra: HardwareBandwidth) -> None:
    busy, other = altra.sockets
    assert (busy.socket, other.socket) == (0, 1)
    assert all(place.name.startswith("arm_dmc620_10008") for place in busy.places)
    assert all(place.name.startswith("arm_dmc620_50008") for place in other.places)
    assert len(busy.places) == len(other.places) == 8
    assert value(other.traffic.total) / value(busy.traffic.total) == pytest.approx(0.0259, abs=1e-4)
    parts = value(busy.traffic.total) + value(other.traffic.total)
    assert parts == pytest.approx(value(altra.hardware.total), rel=1e-12)


def test_no_write_allocate_took_place_in_the_published_counts(altra: HardwareBandwidth) -> None:
    share = allocation_share(altra)
    assert value(share) == pytest.approx(0.0584, abs=1e-4)
    said = " ".join(verdict.text for verdict in explain(altra))
    assert "no write-allocate took place" in said
    assert "24.50 bytes moved for an element" in said
    assert "97.5% on socket 0 (8 places), 2.5% on socket 1" in said


def test_a_set_without_counts_is_refused() -> None:
    with pytest.raises(RequestError, match="reference:nvdimm: holds no counts of memory contr"):
        published_report(load("nvdimm"))


@given(st.floats(16, 32), st.floats(8, 10))
def test_the_ratio_is_one_of_bytes(reads: float, writes: float) -> None:
    found = hardware_bandwidth(counts(reads, writes))
    assert value(found.ratio) == pytest.approx((reads + writes) / 24)
    assert value(found.ratio_allocated) == pytest.approx((reads + writes) / 32)
    assert value(found.software) == pytest.approx(24 * ELEMENTS * 10 / 0.1)
    assert value(found.hardware.read) == pytest.approx(reads * ELEMENTS * 10 / 0.1)


@given(st.floats(0, 1), st.floats(0, 4))
def test_the_share_of_lines_read_first_is_found_beneath_idle_traffic(
    share: float, idle: float
) -> None:
    made = counts(16 + 8 * share + idle / 2, 8 + idle / 2, idle_each=idle)
    assert value(allocation_share(hardware_bandwidth(made))) == pytest.approx(share, abs=1e-9)


@pytest.mark.parametrize(
    ("reads", "streams", "said"),
    [
        (16, False, "no write-allocate took place"),
        (24, False, "each line was read before it was written"),
        (20, False, "a part of the lines written were read first"),
        (16, True, "streaming stores read no line first"),
        (24, True, "read first in spite of streaming stores"),
    ],
)
def test_write_allocate_is_seen_or_evaded(reads: float, streams: bool, said: str) -> None:
    made = counts(reads, 8, streams=streams)
    assert said in words(made)


def test_streaming_stores_have_nothing_to_allocate() -> None:
    found = hardware_bandwidth(counts(16, 8, streams=True))
    assert value(found.allocated) == value(found.software)


def test_excess_writes_are_named() -> None:
    assert "memory wrote 10.0% more than the kernel does" in words(counts(24, 8.8))
    assert "more than the kernel" not in words(counts(24, 8))


def test_excess_that_idle_regions_explain_is_not_called_an_update() -> None:
    said = words(counts(25, 9, idle_each=2))
    assert "memory wrote" not in said
    assert "while the team was idle, the same counters counted" in said


def test_idle_traffic_that_could_not_be_read_is_not_said_to_be_taken_off() -> None:
    made = counts(25, 9, idle_each=0.1)
    assert "more than the kernel does, idle traffic subtracted" in words(made)
    unread = [msgspec.structs.replace(one, counts=dict.fromkeys(one.counts)) for one in made.idle]
    said = words(msgspec.structs.replace(made, idle=unread))
    assert "more than the kernel does: directory" in said
    assert "taken off" not in said
    assert "idle traffic could not be read" in said


@pytest.mark.parametrize(
    ("factor", "name"), [(1 / 64, "1/64"), (1 / 2, "1/2"), (3, "3"), (64, "64")]
)
def test_a_wrong_scale_is_recognised_and_nothing_is_concluded(factor: float, name: str) -> None:
    said = words(counts(16 * factor, 8 * factor))
    assert f"mis-scaled by {name}," in said
    assert "write-allocate)" not in said
    assert "no write-allocate took place" not in said


def test_counters_that_see_too_little_are_named() -> None:
    assert "see less than the program surely moves" in words(counts(12, 6))


def test_a_missing_counter_is_in_no_sum_and_named() -> None:
    made = counts(16, 8, places=[("imc_0", 0), ("imc_1", 0)])
    lost = next(c.name for c in made.counters if c.quantity == READS)
    bare = [msgspec.structs.replace(r, counts={**r.counts, lost: None}) for r in made.regions]
    found = hardware_bandwidth(msgspec.structs.replace(made, regions=bare))
    assert found.missing == [lost]
    assert value(bytes_per_repetition(found, (READS,))) == pytest.approx(8 * ELEMENTS)
    assert any(v.level == "problem" and lost in v.text for v in explain(found))


def test_a_region_that_lacks_one_value_is_in_no_total() -> None:
    made = counts(16, 8)
    lost = made.counters[0].name
    torn = msgspec.structs.replace(made.regions[0], counts={**made.regions[0].counts, lost: None})
    found = hardware_bandwidth(msgspec.structs.replace(made, regions=[torn, *made.regions[1:]]))
    assert found.missing == []
    assert value(found.ratio) == pytest.approx(1)


def test_nothing_read_is_a_problem_and_no_zero() -> None:
    found = hardware_bandwidth(counts(None, None))
    assert found.ratio is None
    assert found.hardware.total is None
    assert any(v.level == "problem" for v in explain(found))
    assert tables([found])


def test_counters_that_stand_still_are_dead_and_explain_nothing() -> None:
    made = explain(hardware_bandwidth(counts(0, 0)))
    assert [one.level for one in made] == ["problem"]
    assert "the counters counted nothing while the program moved 2400.00 MB/s" in made[0].text


def test_what_opening_fell_back_to_is_told_once() -> None:
    noted = hardware_bandwidth(msgspec.structs.replace(counts(24, 8), notes=["no groups"]))
    said = [one.text for one in verdicts([noted, noted])]
    assert said.count("Notes on the counters: no groups.") == 1


def test_estimates_are_marked() -> None:
    made = counts(16, 8, is_estimate=True)
    assert "are estimates" in words(made)
    (place,) = hardware_bandwidth(made).places
    assert place.traffic.is_estimate


def test_a_socket_that_writes_too_little_alone_is_noticed() -> None:
    places = [("a", 0), ("b", 1)]
    made = counts(16, 8, places=places)
    heavy = {"a": 0.95, "b": 0.05}
    regions = []
    for one in made.regions:
        seen = {
            c.name: (16 if c.quantity == READS else 8) * ELEMENTS * 10 * heavy[c.instance]
            for c in made.counters
        }
        regions.append(region(made.counters, seen, seconds=one.seconds))
    said = words(msgspec.structs.replace(made, regions=regions))
    assert "95.0% on socket 0 (1 place), 5.0% on socket 1 (1 place)" in said
    assert "socket 0 alone wrote" in said
    assert "5.0% of that went elsewhere" in said


def test_a_model_concludes_nothing_about_hardware_and_has_its_own_tables() -> None:
    modelled = hardware_bandwidth(counts(24, 8, basis="modelled"))
    measured = hardware_bandwidth(counts(16, 8))
    assert explain(modelled) == []
    assert [one.text[:42] for one in verdicts([modelled])] == [
        "What is called modelled was not measured: "
    ]
    made = tables([modelled, measured])
    assert [table.name for table in made] == ["hardware-bandwidth", "modelled-bandwidth"]
    assert all(len(table.rows) == 1 for table in made)
    assert [chart.name for chart in charts([modelled, measured])] == [
        "hardware-bandwidth",
        "modelled-bandwidth",
    ]


def test_several_places_have_tables_of_sockets_and_controllers(altra: HardwareBandwidth) -> None:
    kernels, sockets, places = tables([altra])
    assert (len(kernels.rows), len(sockets.rows), len(places.rows)) == (1, 2, 16)
    assert sum(row[5] for row in sockets.rows) == pytest.approx(113159.59, abs=0.01)  # type: ignore[misc]


def test_the_verdict_of_verification_stands_beside_the_figure() -> None:
    scaled = counts(16, 8, trusted=verdict("mis-scaled", factor=2.0))
    found = hardware_bandwidth(scaled)
    assert tables([found])[0].rows[0][-1] == "mis-scaled by 2"
    never = hardware_bandwidth(counts(16, 8))
    assert tables([never])[0].rows[0][-1] == "never verified"


def test_the_parts_of_the_picture_add_up(altra: HardwareBandwidth) -> None:
    (chart,) = charts([altra])
    sums: dict[str, float] = {}
    for series in chart.series:
        for bar, y in zip(series.x, series.y, strict=True):
            sums[str(bar)] = sums.get(str(bar), 0) + (y or 0)
    software, allocated, hardware = sums.values()
    assert software == pytest.approx(110841.10)
    assert allocated == pytest.approx(110841.10 * 32 / 24)
    assert hardware == pytest.approx(113159.59, abs=0.01)


def test_the_document_holds_every_place(altra: HardwareBandwidth) -> None:
    made = hardware_figures(altra)
    assert made.published
    assert [len(socket.places) for socket in made.sockets] == [8, 8]
    assert made.sockets[0].places[0].read_count == 1983213529
    assert msgspec.json.decode(msgspec.json.encode(made))["repetitions"] == 99


def test_several_kernels_are_explained_together() -> None:
    def named(name: str, made: HardwareCounts) -> HardwareBandwidth:
        kernel = msgspec.structs.replace(made.kernel, name=name)
        return hardware_bandwidth(msgspec.structs.replace(made, kernel=kernel))

    every = [
        named("add", counts(24, 8, idle_each=0.1)),
        named("triad", counts(24, 8.8)),
        named("copy", counts(16, 8)),
        named("scale", counts(8, 4, is_estimate=True)),
        named("write", counts(8, 4, is_estimate=True)),
    ]
    texts = [verdict.text for verdict in verdicts(every)]
    assert texts[0] == (
        "By its counters, memory moved between 0.500 (scale) and 1.367 (triad) times the bytes "
        "that the kernels count."
    )
    said = " ".join(texts)
    assert "scale; write: the ratio is that of counters mis-scaled by 1/2" in said
    assert "Each line was read before it was written (write-allocate): add (" in said
    assert "; triad (100%)." in said
    assert "No write-allocate took place" in said
    assert "copy (0%)" in said
    assert "beyond idle traffic: triad (10.0%):" in said
    assert "While the team slept, the same counters saw up to 10.00 MB/s" in said
    assert "scale; write: some counters shared their hardware" in said


def test_both_together_are_counted_where_ways_cannot_be_told_apart() -> None:
    both = counter("traffic_bytes", ("l3_0", None))
    made = msgspec.structs.replace(
        counts(16, 8),
        counters=[both],
        regions=[region([both], {both.name: 32.0 * ELEMENTS * 10}) for _ in range(8)],
    )
    found = hardware_bandwidth(made)
    assert found.hardware.read is None
    assert value(found.ratio) == pytest.approx(32 / 24)
    assert value(allocation_share(found)) == pytest.approx(1)
    assert "each line was read before it was written" in words(made)
