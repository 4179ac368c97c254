"""Huge pages for all memory, and back: on made-up kernels, whatever else happens meanwhile."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.unit.system.settings.kernels import plant, set_mode

from memgauge.model.errors import SystemFailure
from memgauge.system.memory.pages import THP_FILE, thp_mode
from memgauge.system.settings import huge_pages
from memgauge.system.settings.huge_pages import HugePagesForAll, why_not
from memgauge.system.settings.left import put_back_left, restore_left
from memgauge.system.settings.switch import Switch
from memgauge.system.tree import Tree


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huge_pages, "write_mode", set_mode)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def opened(stack: ExitStack, tree: Tree, state: Path) -> Switch:
    return Switch.opened(HugePagesForAll, HugePagesForAll.recorded, stack, tree, state)


def left_by_a_killed_run(tree: Tree, state: Path) -> None:
    """As after `kill -9` inside `changed`: no lock, the file of state, and the mode."""
    with ExitStack() as stack:
        made = opened(stack, tree, state)
        (file,) = state.iterdir()
        with made.changed():
            content = file.read_bytes()
    file.write_bytes(content)
    set_mode(tree, "always")


@pytest.mark.parametrize("mode", ["madvise", "never"])
def test_it_is_always_inside_and_as_it_was_outside(tmp_path: Path, state: Path, mode: str) -> None:
    tree = plant(tmp_path, mode)
    with ExitStack() as stack:
        made = opened(stack, tree, state)
        for _ in range(2):
            assert thp_mode(tree) == mode
            with made.changed():
                assert thp_mode(tree) == "always"
        for ending in (KeyboardInterrupt, SystemFailure):
            with pytest.raises(ending), made.changed():
                raise ending
            assert thp_mode(tree) == mode
    assert list(state.iterdir()) == []


def test_what_a_killed_run_left_is_put_back(tmp_path: Path, state: Path) -> None:
    tree = plant(tmp_path, "never")
    left_by_a_killed_run(tree, state)
    (warning,) = put_back_left(tree, state)
    assert warning.code == "thp-restored"
    assert warning.message == (
        "transparent huge pages of the machine: set back to never, left at always by a run that "
        f"was killed (process {os.getpid()})"
    )
    assert thp_mode(tree) == "never"
    assert list(state.iterdir()) == []
    assert put_back_left(tree, state) == []


def test_the_next_run_that_sets_it_puts_it_back_first(tmp_path: Path, state: Path) -> None:
    tree = plant(tmp_path, "never")
    left_by_a_killed_run(tree, state)
    with ExitStack() as stack:
        opened(stack, tree, state)
        assert thp_mode(tree) == "never"


@pytest.mark.parametrize("mode", ["madvise", "never"])
def test_what_the_user_set_after_a_killed_run_stays(tmp_path: Path, state: Path, mode: str) -> None:
    tree = plant(tmp_path, "never")
    left_by_a_killed_run(tree, state)
    set_mode(tree, mode)
    assert put_back_left(tree, state) == []
    assert thp_mode(tree) == mode
    set_mode(tree, "always")
    assert put_back_left(tree, state) == []
    assert thp_mode(tree) == "always"


def test_always_of_the_user_between_two_runs_stays_after_a_kill(
    tmp_path: Path, state: Path
) -> None:
    tree = plant(tmp_path)
    with ExitStack() as stack:
        opened(stack, tree, state)
        (file,) = state.iterdir()
        content = file.read_bytes()
    file.write_bytes(content)  # killed when no run was under way
    set_mode(tree, "always")
    assert put_back_left(tree, state) == []
    assert thp_mode(tree) == "always"


def test_after_a_restart_nothing_is_written(tmp_path: Path, state: Path) -> None:
    tree = plant(tmp_path)
    left_by_a_killed_run(tree, state)
    tree.path("/proc/sys/kernel/random/boot_id").write_text("another\n", encoding="ascii")
    assert restore_left(HugePagesForAll, tree, state) is None
    assert thp_mode(tree) == "always"


def test_what_cannot_be_put_back_is_kept_on_record(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = plant(tmp_path)
    left_by_a_killed_run(tree, state)

    def refuse(*_: object) -> None:
        raise OSError(30, os.strerror(30))

    with monkeypatch.context() as patch:
        patch.setattr(huge_pages, "write_mode", refuse)
        (warning,) = put_back_left(tree, state)
    assert warning.code == "thp-left-always"
    assert warning.message == (
        "a run that was killed left transparent huge pages set to always: "
        f"{THP_FILE} cannot be set to madvise: Read-only file system; root may write it"
    )
    assert restore_left(HugePagesForAll, tree, state) is not None
    assert thp_mode(tree) == "madvise"


@pytest.mark.parametrize("mode", ["madvise", "never"])
def test_a_mode_that_another_program_sets_meanwhile_stays(
    tmp_path: Path, state: Path, mode: str
) -> None:
    tree = plant(tmp_path)
    with ExitStack() as stack:
        made = opened(stack, tree, state)
        message = f"another program set {THP_FILE} from always to {mode} meanwhile"
        with pytest.raises(SystemFailure, match=message), made.changed():
            set_mode(tree, mode)
        assert thp_mode(tree) == mode
    assert list(state.iterdir()) == []


@pytest.mark.parametrize("mode", ["always", "never"])
def test_a_mode_that_another_program_sets_between_two_runs_stays(
    tmp_path: Path, state: Path, mode: str
) -> None:
    tree = plant(tmp_path)
    with ExitStack() as stack:
        made = opened(stack, tree, state)
        set_mode(tree, mode)
        message = f"another program set {THP_FILE} from madvise to {mode} meanwhile"
        with pytest.raises(SystemFailure, match=message), made.changed():
            pytest.fail("a run was begun")
        assert thp_mode(tree) == mode
    assert thp_mode(tree) == mode


def test_a_second_diagnosis_of_the_user_is_kept_out(tmp_path: Path, state: Path) -> None:
    tree = plant(tmp_path)
    with ExitStack() as stack, ExitStack() as other:
        made = opened(stack, tree, state)
        with made.changed():
            assert put_back_left(tree, state) == []
            with pytest.raises(SystemFailure, match="another run sets transparent huge pages"):
                opened(other, tree, state)
            assert thp_mode(tree) == "always"
        assert thp_mode(tree) == "madvise"


def test_diagnoses_that_know_nothing_of_each_other_lose_no_mode(tmp_path: Path) -> None:
    tree = plant(tmp_path)
    with ExitStack() as stack, ExitStack() as other:
        one = opened(stack, tree, tmp_path / "one")
        two = opened(other, tree, tmp_path / "two")
        with one.changed():
            with (
                pytest.raises(SystemFailure, match="from madvise to always meanwhile"),
                two.changed(),
            ):
                pytest.fail("a run was begun")
            assert thp_mode(tree) == "always"
            with pytest.raises(SystemFailure, match="is set to always anyway"):
                opened(other, tree, tmp_path / "three")
            assert thp_mode(tree) == "always"
        assert thp_mode(tree) == "madvise"
    assert thp_mode(tree) == "madvise"


def test_a_kernel_that_does_not_keep_it_is_refused(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = plant(tmp_path)
    monkeypatch.setattr(huge_pages, "write_mode", lambda *_: None)
    with (
        ExitStack() as stack,
        pytest.raises(SystemFailure, match="did not keep always: it is madvise"),
    ):
        opened(stack, tree, state)
    assert list(state.iterdir()) == []


def test_reasons_against_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert why_not(plant(tmp_path)) is None
    assert why_not(plant(tmp_path / "old", of_size=None)) is None
    assert why_not(Tree(tmp_path / "none")) == "the kernel has no transparent huge pages"
    assert why_not(plant(tmp_path / "set", "always")) == f"{THP_FILE} is set to always anyway"
    assert why_not(plant(tmp_path / "sizes", of_size="never")) == (
        "pages of 2 MiB follow /sys/kernel/mm/transparent_hugepage/hugepages-2048kB/enabled "
        f"(never), not {THP_FILE}"
    )

    def refuse(_tree: Tree) -> int:
        raise OSError(30, os.strerror(30))

    monkeypatch.setattr(huge_pages, "_opened", refuse)
    assert why_not(plant(tmp_path)) == (
        f"{THP_FILE} cannot be written: Read-only file system; root may write it, but not in a "
        "container whose sysfs is read-only"
    )


def test_a_link_does_not_redirect_what_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    tree = plant(tmp_path)
    huge_pages.write_mode(tree, "never")
    assert tree.path(THP_FILE).read_bytes().startswith(b"never")
    precious = tmp_path / "precious"
    precious.write_bytes(b"precious")
    tree.path(THP_FILE).unlink()
    tree.path(THP_FILE).symlink_to(precious)
    with pytest.raises(OSError, match="symbolic links"):
        huge_pages.write_mode(tree, "never")
    assert precious.read_bytes() == b"precious"
