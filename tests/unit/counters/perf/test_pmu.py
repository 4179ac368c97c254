"""What sysfs says of a PMU, and what is made of nonsense and of PMUs that go away."""

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.counters_trees.machines import altra, broadwell, zen2
from tests.counters_trees.sysfs import FakePmu, plant

from memgauge.counters.perf.catalogue import Catalogue
from memgauge.counters.perf.pmu import Bits, natural, packages, parse_field, pmu_names, read_pmu


def test_a_field_may_be_split_over_ranges() -> None:
    field = parse_field("event", "config:0-7,32-35,59-60")
    assert field is not None
    assert field.ranges == [Bits(0, 7), Bits(32, 35), Bits(59, 60)]
    assert field.width == 14


@pytest.mark.parametrize(
    "text",
    ["", "config", "config:", "config:7-0", "config:64", "config4:0-7", "config:0-7,3", "event=1",
     "config:a-b", "config:0-7,", "config:-1", "konfig:0"],
)  # fmt: skip
def test_a_malformed_format_is_none(text: str) -> None:
    assert parse_field("event", text) is None


@given(st.text(max_size=40))
def test_any_format_is_understood_or_none(text: str) -> None:
    field = parse_field("any", text)
    assert field is None or 1 <= field.width <= 64


def test_events_come_with_scale_and_unit(tmp_path: Path) -> None:
    pmu = read_pmu(broadwell(tmp_path).host, "uncore_imc_0")
    assert pmu is not None
    assert (pmu.type, pmu.cpumask) == (20, [0, 4])
    event = pmu.events["cas_count_read"]
    assert (event.text, event.scale, event.unit) == (
        "event=0x04,umask=0x03", 6.103515625e-05, "MiB",
    )  # fmt: skip
    assert pmu.events["clockticks"].scale is None
    assert set(pmu.fields) == {"event", "umask", "edge", "inv", "threshold"}


def test_nonsense_is_left_out_and_said(tmp_path: Path) -> None:
    odd = FakePmu(
        name="odd",
        type=9,
        cpumask="3-1",
        format={"good": "config:0-7", "bad": "config:9-3"},
        events={"fine": "good=1", "empty": ""},
        scales={"fine": {"scale": "many"}},
    )
    pmu = read_pmu(plant(tmp_path, [odd], {0: [0]}).host, "odd")
    assert pmu is not None
    assert pmu.cpumask == []
    assert pmu.without_cpus == "its cpumask '3-1' is not a list of CPUs"
    assert list(pmu.fields) == ["good"]
    assert list(pmu.events) == ["fine"]
    assert pmu.events["fine"].scale is None
    assert [note.partition(":")[2].strip() for note in pmu.notes] == [
        "format field bad cannot be read and is left out",
        "event empty cannot be read and is left out",
        "the scale of event fine is no usable number and is left out",
    ]


@pytest.mark.parametrize("scale", ["0", "-1", "nan", "inf", "", "1e999", "1e80"])
def test_a_scale_that_would_make_figures_vanish_is_left_out(scale: str, tmp_path: Path) -> None:
    odd = FakePmu(name="odd", type=9, events={"e": "config=1"}, scales={"e": {"scale": scale}})
    pmu = read_pmu(plant(tmp_path, [odd], {0: [0]}).host, "odd")
    assert pmu is not None
    assert pmu.events["e"].scale is None


@pytest.mark.parametrize("kind", ["", "x", "-1", "99999999999999999999"])
def test_a_pmu_without_a_type_is_none(kind: str, tmp_path: Path) -> None:
    tree = broadwell(tmp_path)
    (tree.device("uncore_imc_0") / "type").write_text(kind)
    assert read_pmu(tree.host, "uncore_imc_0") is None


def test_a_pmu_that_vanishes_between_listing_and_reading_is_not_there(tmp_path: Path) -> None:
    tree = broadwell(tmp_path)
    assert "uncore_imc_1" in pmu_names(tree.host)
    shutil.rmtree(tree.device("uncore_imc_1"))
    assert read_pmu(tree.host, "uncore_imc_1") is None
    event = Catalogue(tree.host).known[0].event
    assert [one for one in event.instances if "imc_1" in one] == []


def test_numbers_are_ordered_as_numbers() -> None:
    names = ["imc_10", "imc_2", "imc", "imc_1a"]
    assert sorted(names, key=natural) == ["imc", "imc_1a", "imc_2", "imc_10"]


@given(st.lists(st.text(max_size=12), max_size=6))
def test_any_names_can_be_ordered(names: list[str]) -> None:
    assert sorted(sorted(names, key=natural)) == sorted(names)


def test_packages_may_be_sparse(tmp_path: Path) -> None:
    assert set(packages(altra(tmp_path).host).values()) == {36, 3180}


def test_where_no_package_is_told_there_is_one_socket(tmp_path: Path) -> None:
    tree = zen2(tmp_path)
    for path in (tree.sysfs / "devices" / "system" / "cpu").glob("cpu*/topology/*"):
        path.write_text("-1\n")
    assert packages(tree.host) == dict.fromkeys(range(8), 0)


def test_a_package_that_is_not_told_is_left_out(tmp_path: Path) -> None:
    tree = zen2(tmp_path)
    topology = tree.sysfs / "devices" / "system" / "cpu" / "cpu0" / "topology"
    (topology / "physical_package_id").write_text("-1\n")
    assert 0 not in packages(tree.host)
    places = Catalogue(tree.host).known[0].places
    assert {place.socket for place in places if place.cpu == 0} == {None}
