"""The processor of a copied tree, never this machine's, and what is lost where none is told."""

from pathlib import Path

import pytest
from tests.counters_trees.cores import AMD_CORE, INTEL_CORE
from tests.counters_trees.machines import MACHINES
from tests.counters_trees.sysfs import FakePmu, Tree, amd, intel, plant

from memgauge.counters.host import SYSFS_VARIABLE, Host, this_host
from memgauge.counters.perf.back_end import PerfBackEnd
from memgauge.counters.perf.catalogue import Catalogue
from memgauge.counters.perf.processor import lost_without_model, processor_of

pytestmark = pytest.mark.native

# As a Zen 5 server has it, and a Sapphire Rapids one.
ZEN5 = "cpu:type:x86,ven0002fam001Amod0002:feature:,0000,0001\n"
SAPPHIRE = "cpu:type:x86,ven0000fam0006mod008F:feature:,0000\n"


def copied(tree: Tree, modalias: str | None = None, cpuinfo: str | None = None) -> Host:
    """The tree's `/sys` alone, as `MEMGAUGE_SYSFS` names it, with these of both files."""
    (tree.procfs / "cpuinfo").unlink(missing_ok=True)
    if modalias is not None:
        (tree.sysfs / "devices/system/cpu/modalias").write_text(modalias, encoding="ascii")
    if cpuinfo is not None:
        (tree.procfs / "cpuinfo").write_text(cpuinfo, encoding="ascii")
    return Host(sysfs=tree.sysfs)


@pytest.mark.parametrize(
    ("modalias", "processor"),
    [
        (ZEN5, ("AuthenticAMD", 26, 2)),
        (SAPPHIRE, ("GenuineIntel", 6, 143)),
        ("cpu:type:x86,ven0009fam0018mod0001:feature:\n", ("HygonGenuine", 24, 1)),
        ("cpu:type:x86,ven0007fam0006mod0001:feature:\n", None),
        ("cpu:type:aarch64:feature:,0000\n", None),
        ("", None),
        (None, None),
    ],
)
def test_the_tree_s_own_modalias_tells(
    tmp_path: Path, modalias: str | None, processor: object
) -> None:
    assert processor_of(copied(MACHINES["zen5"](tmp_path), modalias)) == processor


def test_a_cpuinfo_beside_the_tree_tells_too_and_the_tree_comes_first(tmp_path: Path) -> None:
    tree = MACHINES["zen5"](tmp_path)
    assert processor_of(copied(tree, None, intel(143))) == ("GenuineIntel", 6, 143)
    assert processor_of(copied(tree, ZEN5, intel(143))) == ("AuthenticAMD", 26, 2)


def test_with_the_model_a_copy_knows_what_the_machine_knows(tmp_path: Path) -> None:
    tree = MACHINES["zen5"](tmp_path)
    whole = {one.event.name for one in Catalogue(tree.host).known}
    there = Catalogue(copied(tree, ZEN5))
    assert {one.event.name for one in there.known} == whole
    assert lost_without_model(there) == []


def test_without_it_what_is_lost_is_named_with_what_to_copy(tmp_path: Path) -> None:
    (note,) = lost_without_model(Catalogue(copied(MACHINES["zen5"](tmp_path))))
    assert note.startswith(f"{tmp_path}/sys does not tell the processor's model")
    assert "no event of amd_df, amd_l3 is known" in note
    assert f"copy that file, or /proc/cpuinfo to {tmp_path}/proc" in note
    assert "amd_umc" not in note, "it is encoded alike on all"


def test_events_of_the_cores_are_named(tmp_path: Path) -> None:
    for core in (INTEL_CORE, AMD_CORE):
        tree = plant(tmp_path / core.format["event"].replace(",", "-"), [core], {0: range(4)})
        (note,) = lost_without_model(Catalogue(copied(tree)))
        assert "perf:page-walks" in note
        assert "of the cores cannot be encoded" in note


def test_a_sum_that_the_model_decides_is_doubted(tmp_path: Path) -> None:
    """One name for two sub-channels: as bytes of a whole channel it would be half."""
    tree = MACHINES["granite_rapids_before_the_fix"](tmp_path)
    (note,) = lost_without_model(Catalogue(copied(tree)))
    assert "uncore_imc may count half of the traffic" in note


@pytest.mark.parametrize("name", ["power9", "altra", "grace", "kunpeng"])
def test_where_the_model_decides_nothing_nothing_is_said(tmp_path: Path, name: str) -> None:
    core = FakePmu(name="cpu", type=4, format={"event": "config:0-49", "pmc": "config:16-19"})
    tree = MACHINES[name](tmp_path)
    for file, text in core.contents().items():
        path = tree.device("cpu") / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")
    assert lost_without_model(Catalogue(copied(tree))) == []


def test_the_list_and_a_run_say_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied(MACHINES["zen5"](tmp_path))
    monkeypatch.setenv(SYSFS_VARIABLE, str(tmp_path / "sys"))
    notes = PerfBackEnd(this_host()).notes()
    assert any("does not tell the processor's model" in note for note in notes)


def test_this_machine_is_never_missed(tmp_path: Path) -> None:
    tree = plant(tmp_path, [AMD_CORE], {0: range(2)}, cpuinfo=amd(26, 2))
    assert processor_of(tree.host) == ("AuthenticAMD", 26, 2)
    assert lost_without_model(Catalogue(tree.host)) == []
    assert lost_without_model(Catalogue(Host())) == []
