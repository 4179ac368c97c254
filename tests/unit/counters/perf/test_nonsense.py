"""Whatever stands in sysfs, events are listed and named, or left out: nothing else ever."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.counters_trees.machines import MACHINES
from tests.counters_trees.sysfs import Tree

from memgauge.counters.perf.back_end import PerfBackEnd
from memgauge.model.errors import RequestError

pytestmark = pytest.mark.native

# A few, with every kind of file; each is restored after a change.
CHOSEN = ("ice_lake", "zen5", "altra", "powervm", "ampereone", "alder_lake")
CONTENTS = st.one_of(
    st.binary(max_size=30),
    st.text(alphabet="eventumask=0x12,config:-?{}*\n \x00", max_size=30).map(str.encode),
    st.integers(-(1 << 70), 1 << 70).map(lambda number: str(number).encode()),
    st.sampled_from([b"", b"nan", b"1e400", b"0-3,", b"0-99999999", b"4095", b"event=?", b"MiB"]),
)


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Tree]]:
    root = tmp_path_factory.mktemp("nonsense")
    yield {name: MACHINES[name](root / name) for name in CHOSEN}
    shutil.rmtree(root)


def files_of(tree: Tree) -> list[Path]:
    found = [path for root in (tree.sysfs, tree.procfs) for path in root.rglob("*")]
    return sorted(path for path in found if path.is_file())


@settings(max_examples=150)
@given(data=st.data())
def test_any_contents_of_a_file_are_survived(data: st.DataObject, trees: dict[str, Tree]) -> None:
    tree = trees[data.draw(st.sampled_from(CHOSEN))]
    path = data.draw(st.sampled_from(files_of(tree)))
    before = path.read_bytes()
    path.write_bytes(data.draw(CONTENTS))
    try:
        back_end = PerfBackEnd(tree.host)
        assert back_end.probe().state in {"ready", "refused", "absent"}
        for event in back_end.events():
            assert event.scale > 0
            assert event.name.isprintable()
            assert back_end.find(event.name.removeprefix("perf:"))[0].name == event.name
    finally:
        path.write_bytes(before)


@settings(max_examples=40)
@given(data=st.data())
def test_any_name_of_an_event_is_survived(data: st.DataObject, trees: dict[str, Tree]) -> None:
    tree = trees["ice_lake"]
    letters = st.characters(blacklist_characters="/\0", blacklist_categories=["Cs"])
    name = data.draw(
        st.text(letters, min_size=1, max_size=20).filter(lambda n: n not in {".", ".."})
    )
    path = tree.device("uncore_imc_0") / "events" / name
    if path.exists() or path.with_name(f"{name}").exists():
        return
    path.write_text("event=1\n")
    try:
        back_end = PerfBackEnd(tree.host)
        assert all(event.name.isprintable() for event in back_end.events())
        try:
            back_end.find(f"uncore_imc/{name}/")
        except RequestError as error:
            assert "perf:" in str(error)  # noqa: PT017 - either outcome is right
    finally:
        path.unlink()
