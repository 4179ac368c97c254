"""Events of the cores by processor: encodings word for word, and what the kernel's names mean."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.counters_trees.cores import (
    AMD_CORE,
    INTEL_CORE,
    hybrid,
    one_core_type,
)
from tests.counters_trees.sysfs import FakePmu, amd, intel, plant

from memgauge.analysis.counters.events_document import counters_document
from memgauge.counters.components import plan_components
from memgauge.counters.perf.back_end import PerfBackEnd
from memgauge.counters.perf.catalogue import Catalogue
from memgauge.counters.perf.core_data import core_table
from memgauge.counters.perf.data import Processors, processors
from memgauge.counters.perf.resolve import resolve
from memgauge.model.counting.events import BackEndState
from memgauge.model.errors import UnknownEvent
from memgauge.reports.counters import render_explained
from memgauge.reports.terminal.report import Look

pytestmark = pytest.mark.native

WALKS, CYCLES, STORES = "page-walks", "page-walk-cycles", "store-page-walks"

# event | umask << 8 | cmask << 24 of Intel's event lists: completed walks for loads, cycles with
# one under way, completed walks for stores.
INTEL = {
    42: (0x208, 0x408, 0x249),  # Sandy Bridge
    45: (0x208, 0x408, 0x249),
    58: (0x8208, 0x8408, 0x249),  # Ivy Bridge: bit 7 of the umask is of demand loads
    63: (0xE08, 0x1008, 0xE49),  # Haswell-EP
    79: (0xE08, 0x1008, 0xE49),  # Broadwell-EP
    94: (0xE08, 0x1001008, 0xE49),  # Skylake
    85: (0xE08, 0x1001008, 0xE49),  # Skylake-X, Cascade Lake
    106: (0xE08, 0x1001008, 0xE49),  # Ice Lake-X
    140: (0xE08, 0x1001008, 0xE49),  # Tiger Lake
    143: (0xE12, 0x1001012, 0xE13),  # Sapphire Rapids
    207: (0xE12, 0x1001012, 0xE13),  # Emerald Rapids
    173: (0xE12, 0x1001012, 0xE13),  # Granite Rapids
    175: (0xE08, None, 0xE49),  # Sierra Forest
    190: (0xE08, None, 0xE49),  # Alder Lake-N
}


def words(tree_root: Path, cpuinfo: str, name: str, pmu: FakePmu) -> int | None:
    host = one_core_type(tree_root, cpuinfo, pmu).host
    try:
        found = resolve(Catalogue(host), name)
    except UnknownEvent:
        return None
    [config] = {place.words.config for place in found.places}
    assert {(one.type, one.cpu, one.bindable) for one in found.places} == {
        (4, cpu, True) for cpu in range(4)
    }
    return config


@pytest.mark.parametrize("model", INTEL)
def test_walks_on_intel(model: int, tmp_path: Path) -> None:
    found = tuple(
        words(tmp_path, intel(model), name, INTEL_CORE) for name in (WALKS, CYCLES, STORES)
    )
    assert found == INTEL[model]


@pytest.mark.parametrize(("family", "model"), [(23, 1), (23, 49), (25, 1), (25, 17), (26, 2)])
def test_walks_on_zen_are_of_loads_and_stores(family: int, model: int, tmp_path: Path) -> None:
    cpuinfo = amd(family, model)
    found = [words(tmp_path, cpuinfo, name, AMD_CORE) for name in (WALKS, CYCLES, STORES)]
    assert found == [0xF045, None, None]
    event = resolve(Catalogue(one_core_type(tmp_path, cpuinfo, AMD_CORE).host), WALKS).event
    assert event.encoding == "type=4, config=0xf045"
    assert "by loads and stores" in event.meaning
    assert "ls_l1_d_tlb_miss.all_l2_miss" in event.source


@pytest.mark.parametrize("cpuinfo", [intel(26), intel(122), amd(21, 2), ""])
def test_other_processors_have_none_and_are_told_so(cpuinfo: str, tmp_path: Path) -> None:
    """Nehalem, Goldmont Plus, Bulldozer, and one that does not say what it is."""
    one = PerfBackEnd(one_core_type(tmp_path, cpuinfo, INTEL_CORE).host)
    assert not any("walk" in event.name for event in one.events())
    with pytest.raises(UnknownEvent, match=r"perf:page-walks.*no encoding of it is known"):
        one.find(WALKS)


def test_without_a_pmu_of_a_core_walks_are_absent_with_the_reason(tmp_path: Path) -> None:
    """As in most virtual machines."""
    tree = plant(tmp_path, [], {0: range(4)}, cpuinfo=amd(26, 2))
    event = resolve(Catalogue(tree.host), WALKS).event
    assert (event.state, event.instances) == ("absent", [])
    assert event.reason == "the processor shows no counters"


def test_each_core_type_has_its_own_encoding(tmp_path: Path) -> None:
    one = resolve(Catalogue(hybrid(tmp_path, intel(151)).host), WALKS)
    assert {(place.core_type, place.type, place.words.config) for place in one.places} == {
        ("performance", 4, 0xE12),
        ("efficiency", 10, 0xE08),
    }
    assert one.event.encoding == (
        "efficiency cores: type=10, config=0xe08; performance cores: type=4, config=0xe12"
    )
    assert one.event.pitfalls == ["counted for each core type apart: never add them"]
    stores = resolve(Catalogue(hybrid(tmp_path, intel(151)).host), STORES)
    assert {place.words.config for place in stores.places} == {0xE13, 0xE49}


def test_cycles_are_counted_where_a_source_says_how(tmp_path: Path) -> None:
    """Efficiency cores have walks outstanding only, which is another thing."""
    one = resolve(Catalogue(hybrid(tmp_path, intel(170)).host), CYCLES)
    assert {(place.pmu, place.words.config) for place in one.places} == {("cpu_core", 0x1001012)}


def test_an_encoding_needs_the_fields_of_the_pmu(tmp_path: Path) -> None:
    bare = FakePmu(name="cpu", type=4, format={"event": "config:0-7", "umask": "config:8-15"})
    assert words(tmp_path, intel(106), WALKS, bare) == 0xE08
    assert words(tmp_path, intel(106), CYCLES, bare) is None


def test_what_a_pmu_publishes_comes_first(tmp_path: Path) -> None:
    arm = FakePmu(
        name="armv8_pmuv3_0",
        type=8,
        format={"event": "config:0-15"},
        events={"dtlb_walk": "event=0x0034"},
        files={"cpus": "0-3"},
    )
    tree = plant(tmp_path, [arm], {0: [0, 1, 2, 3]}, architecture="aarch64")
    one = resolve(Catalogue(tree.host), WALKS)
    assert {(place.type, place.words.config) for place in one.places} == {(8, 0x34)}
    assert "0x34 DTLB_WALK" in one.event.source


@pytest.mark.parametrize(
    ("cpuinfo", "name", "said"),
    [
        (amd(26, 2), "llc-loads", "the L3 has a PMU of its own (amd_l3)"),
        (amd(25, 1), "cache-misses", "requests to the L2"),
        (amd(25, 1), "dtlb-loads", "not all loads"),
        (amd(25, 1), "dtlb-load-misses", "the event of perf:page-walks"),
        (intel(143), "dtlb-load-misses", "the event of perf:page-walks"),
        (intel(79), "dtlb-load-misses", "walks begun for loads"),
        (intel(79), WALKS, "BDM69"),
    ],
)
def test_what_names_really_count_is_said(
    cpuinfo: str, name: str, said: str, tmp_path: Path
) -> None:
    pmu = AMD_CORE if "AMD" in cpuinfo else INTEL_CORE
    event = resolve(Catalogue(one_core_type(tmp_path, cpuinfo, pmu).host), name).event
    assert any(said in pitfall for pitfall in event.pitfalls)


@pytest.mark.parametrize(
    ("cpuinfo", "same"),
    [(amd(26, 2), True), (intel(143), True), (intel(85), True), (intel(79), False)],
)
def test_dtlb_misses_are_walks_where_the_kernel_maps_them_so(
    cpuinfo: str, same: bool, tmp_path: Path
) -> None:
    pmu = AMD_CORE if "AMD" in cpuinfo else INTEL_CORE
    catalogue = Catalogue(one_core_type(tmp_path, cpuinfo, pmu).host)
    event = resolve(catalogue, "dtlb-load-misses").event
    assert event.same_as == ("perf:page-walks" if same else None)
    assert resolve(catalogue, WALKS).event.same_as is None


def test_explain_tells_encoding_source_and_doubts(tmp_path: Path) -> None:
    host = one_core_type(tmp_path, intel(79), INTEL_CORE).host
    state = BackEndState(
        name="perf", summary="", state="ready", events=PerfBackEnd(host).find(WALKS)
    )
    document = counters_document([state], {}, tree=None)
    said = render_explained(document, Look(columns=300, encoding="utf-8"))
    assert "type=4, config=0xe08" in said
    assert "completed for loads" in said
    assert "intel/perfmon BDW, BDX, BDW-DE: DTLB_LOAD_MISSES.WALK_COMPLETED" in said
    assert "BDM69" in said


def test_nothing_is_said_of_a_processor_that_the_data_do_not_know(tmp_path: Path) -> None:
    catalogue = Catalogue(one_core_type(tmp_path, intel(26), INTEL_CORE).host)
    assert resolve(catalogue, "dtlb-load-misses").event.pitfalls == []


def models_of(kind: Processors) -> list[int]:
    """All that it names, ranges written out; -1: all of the family."""
    pairs = [(one, one) if isinstance(one, int) else one for one in kind.models]
    return [model for first, last in pairs for model in range(first, last + 1)] or [-1]


def test_a_processor_and_its_pmu_have_one_encoding_of_an_event() -> None:
    """Two that both hold would make the order of the file decide."""
    for event in core_table().event:
        seen: set[tuple[str, str, int, int]] = set()
        for one in event.encodings:
            mine = {
                (pmu, kind.vendor, kind.family, model)
                for pmu in one.pmus
                for name in one.cpus
                for kind in processors()[name]
                for model in models_of(kind)
            }
            assert not seen & mine
            seen |= mine


@pytest.mark.parametrize(
    ("family", "model", "umask"),
    [(23, 1, 0xFF), (23, 49, 0xFF), (25, 1, 0xFF), (25, 17, 0x1F), (26, 2, 0x0F)],
)
def test_zen_counts_floating_point_operations(
    family: int, model: int, umask: int, tmp_path: Path
) -> None:
    event = resolve(
        Catalogue(one_core_type(tmp_path, amd(family, model), AMD_CORE).host), "flops"
    ).event
    assert event.encoding == f"type=4, config={umask << 8 | 0x03:#x}"
    assert (event.quantity, event.scale) == ("flops", 1.0)


@pytest.mark.parametrize(
    ("model", "umasks"),
    [
        (79, {1: 0x03, 2: 0x04, 4: 0x18, 8: 0x20}),
        (85, {1: 0x03, 2: 0x04, 4: 0x18, 8: 0x60, 16: 0x80}),
        (143, {1: 0x03, 2: 0x04, 4: 0x18, 8: 0x60, 16: 0x80}),
        (63, {}),
    ],
)
def test_intel_counts_them_by_the_elements_of_an_instruction(
    model: int, umasks: dict[int, int], tmp_path: Path
) -> None:
    """Every bit of the umask in one event alone, so that nothing is counted twice."""
    catalogue = Catalogue(one_core_type(tmp_path, intel(model), INTEL_CORE).host)
    found: dict[int, int] = {}
    for elements in (1, 2, 4, 8, 16):
        try:
            one = resolve(catalogue, f"flops-{elements}")
        except UnknownEvent:
            continue
        [config] = {place.words.config for place in one.places}
        assert config & 0xFF == 0xC7
        assert one.event.scale == elements
        found[elements] = config >> 8
    assert found == umasks
    assert sum(found.values()) == (0xFF if model in {85, 143} else sum(umasks.values()))


def test_hybrids_have_none_because_not_all_cores_count_them(tmp_path: Path) -> None:
    with pytest.raises(UnknownEvent):
        resolve(Catalogue(hybrid(tmp_path, intel(151)).host), "flops-2")


@pytest.mark.parametrize(
    ("cpuinfo", "names"),
    [
        (amd(26, 2), ["perf:flops"]),
        (intel(79), [f"perf:flops-{elements}" for elements in (1, 2, 4, 8)]),
        (intel(143), [f"perf:flops-{elements}" for elements in (1, 2, 4, 8, 16)]),
    ],
)
def test_the_component_of_a_profile_has_those_of_the_processor(
    cpuinfo: str, names: list[str], tmp_path: Path
) -> None:
    host = one_core_type(tmp_path, cpuinfo, AMD_CORE if "AMD" in cpuinfo else INTEL_CORE).host
    found = [event for event in PerfBackEnd(host).events() if event.quantity == "flops"]
    assert [event.name for event in found] == names
    plan = plan_components(["flops"], 10.0, host)
    planned = [event.name for lane in plan.lanes for event in lane.events]
    refused = [event for event in found if event.state != "ready"]
    assert planned == [event.name for event in found if event.state == "ready"]
    assert bool(plan.missing) == bool(refused)
