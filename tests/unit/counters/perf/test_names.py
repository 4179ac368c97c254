"""Names and raw encodings of events, and the nearest names where there is none."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.counters_trees.machines import MACHINES, alder_lake, broadwell, zen5

from memgauge.counters.host import Host
from memgauge.counters.opening import find
from memgauge.counters.perf.back_end import PerfBackEnd
from memgauge.counters.perf.catalogue import Catalogue
from memgauge.counters.perf.generic import BY_NAME, TYPE_SHIFT
from memgauge.counters.perf.resolve import resolve
from memgauge.model.errors import RequestError, UnknownEvent

pytestmark = pytest.mark.native


def back_end(machine: str, root: Path) -> PerfBackEnd:
    return PerfBackEnd(MACHINES[machine](root).host)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_listed_event_is_found_by_its_name(machine: str, tmp_path: Path) -> None:
    one = back_end(machine, tmp_path)
    for event in one.events():
        assert one.find(event.name.removeprefix("perf:")) == [event]


def test_a_number_chooses_one_pmu(tmp_path: Path) -> None:
    one = back_end("sapphire_rapids", tmp_path)
    everywhere = one.find("uncore_imc/cas_count_read/")[0]
    [here] = one.find("uncore_imc_3/cas_count_read/")
    assert here.instances == ["uncore_imc_3@cpu0", "uncore_imc_3@cpu4"]
    assert set(here.instances) < set(everywhere.instances)
    assert (here.quantity, here.scale) == (everywhere.quantity, everywhere.scale)


def test_a_raw_encoding_that_is_known_keeps_its_meaning(tmp_path: Path) -> None:
    one = back_end("zen5", tmp_path)
    [raw] = one.find("amd_umc/event=0x0a,rdwrmask=1/")
    assert (raw.quantity, raw.scale, len(raw.instances)) == ("read_bytes", 64, 24)
    [other] = one.find("amd_umc_3/event=0x0b/")
    assert (other.quantity, other.unit, other.instances) == ("count", "", ["amd_umc_3@cpu0"])


def test_one_channel_of_a_fabric_may_be_named(tmp_path: Path) -> None:
    one = back_end("zen5", tmp_path)
    [event] = one.find("amd_df/local_or_remote_socket_read_data_beats_dram_3/")
    # 0x1f + 3 x 0x40 = 0xdf in config:0-7; umask 0xffe in config:8-15,24-27.
    assert "config=0xf00fedf" in event.encoding
    assert event.instances == ["amd_df@cpu0", "amd_df@cpu4"]
    assert (event.quantity, event.scale) == ("read_bytes", 64)


def test_a_term_beside_a_published_event_takes_its_scale_away(tmp_path: Path) -> None:
    """An edge or a threshold changes what is counted: bytes no more."""
    [event] = back_end("broadwell", tmp_path).find("uncore_imc/cas_count_read,edge/")
    assert (event.quantity, event.unit, event.scale) == ("count", "", 1.0)
    assert "0x40304" in event.encoding


def test_events_without_known_meaning_are_plain_counts_in_their_own_unit(tmp_path: Path) -> None:
    [event] = back_end("skylake_client", tmp_path).find("uncore_imc/gt_requests/")
    assert (event.quantity, event.unit, event.scale, event.automatic) == ("count", "B", 64, False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("uncore_imc/cas_count_red/", "did you mean perf:uncore_imc_0/cas_count_read/"),
        ("uncore_inc/cas_count_read/", "has no PMU uncore_inc; did you mean uncore_imc?"),
        ("zz/cas_count_read/", "has no PMU zz; it has uncore_imc"),
        ("cycels", "did you mean perf:cycles"),
        ("uncore_imc_9/cas_count_read/", "has no PMU uncore_imc_9"),
        ("sched:no_such_thing", "no such tracepoint can be read in tracefs"),
    ],
)
def test_an_unknown_event_names_the_nearest(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownEvent) as caught:
        back_end("broadwell", tmp_path).find(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("uncore_imc/event=0x100/", "event=0x100 does not fit its 8 bits"),
        ("uncore_imc/foo=1/", "has no field or event 'foo'"),
        ("uncore_imc/event=4", "lacks the '/' at its end"),
        ("hv_24x7/PM_MBA0_READ_BYTES,core=1,domain=99/", "domain=0x63 does not fit its 4 bits"),
    ],
)
def test_a_malformed_event_is_refused(text: str, said: str, tmp_path: Path) -> None:
    machine = "powervm" if text.startswith("hv") else "broadwell"
    with pytest.raises(RequestError) as caught:
        back_end(machine, tmp_path).find(text)
    assert said in str(caught.value)


def test_a_chip_may_be_given(tmp_path: Path) -> None:
    [event] = back_end("powervm", tmp_path).find("hv_24x7/PM_MBA0_READ_BYTES,chip=2/")
    assert len(event.instances) == 1
    assert f"{0x118 << 32 | 2 << 16 | 1:#x}" in event.encoding


@settings(max_examples=60)
@given(text=st.text(alphabet="uncore_imc/cas_count_read,event=0x:4?msr[]-. \u0661\n", max_size=50))
def test_any_text_is_an_event_or_a_request_error(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tree = tmp_path_factory.getbasetemp() / "any"
    host = Host(sysfs=tree / "sys", procfs=tree / "proc")
    if not tree.exists():
        broadwell(tree)
    try:
        found = find([f"perf:{text}"], host)
    except RequestError as error:
        message = str(error)
    else:
        message = found[0].name
    assert message


def test_core_types_of_a_hybrid_processor_are_counted_apart(tmp_path: Path) -> None:
    one = resolve(Catalogue(alder_lake(tmp_path).host), "cycles")
    types = {place.core_type: place.words.config >> TYPE_SHIFT for place in one.places}
    assert types == {"performance": 4, "efficiency": 10}
    cpus = {kind: {place.cpu for place in one.places if place.core_type == kind} for kind in types}
    assert cpus == {"performance": {0, 1, 2, 3}, "efficiency": {4, 5, 6, 7}}
    assert one.event.pitfalls == ["counted for each core type apart: never add them"]


def test_cores_that_are_alike_have_no_type(tmp_path: Path) -> None:
    tree = zen5(tmp_path)
    cpu = tree.device("cpu")
    cpu.mkdir()
    (cpu / "type").write_text("4\n")
    one = resolve(Catalogue(tree.host), "cycles")
    assert {(place.type, place.words.config, place.core_type) for place in one.places} == {
        (0, 0, None)
    }
    assert len(one.places) == 8


def test_generic_events_are_encoded_as_the_kernels_header_says() -> None:
    """include/uapi/linux/perf_event.h: cache id, operation << 8, result << 16."""
    assert [(BY_NAME[name].type, BY_NAME[name].config) for name in (
        "cycles", "instructions", "cache-references", "cache-misses", "page-faults",
        "context-switches", "cpu-migrations", "l1d-load-misses", "llc-loads", "llc-load-misses",
        "dtlb-loads", "dtlb-load-misses", "dtlb-store-misses",
    )] == [
        (0, 0), (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (1, 4), (3, 0x10000), (3, 0x2),
        (3, 0x10002), (3, 0x3), (3, 0x10003), (3, 0x10103),
    ]  # fmt: skip
