"""Control groups of memgauge's own, in a planted resctrl: made, limited, entered, removed."""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.unit.system.resctrl.planted import GROUP, ROOT, Planted

from memgauge.model.errors import SystemFailure
from memgauge.system.resctrl import groups


def test_a_group_is_limited_and_gone_at_the_end(resctrl: Planted) -> None:
    with ExitStack() as stack:
        group = groups.make("diagnose", stack, resctrl.sysfs)
        assert group.name == GROUP
        groups.limit(group, ["MB:0=10", "L3:0=3"])
        assert resctrl.written(GROUP, "schemata") == ["MB:0=10", "L3:0=3"]
    assert resctrl.groups() == []


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemFailure, None])
def test_all_threads_are_within_and_come_back_however_it_ends(
    resctrl: Planted, ending: type[BaseException] | None
) -> None:
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        with ExitStack() as stack:
            group = groups.make("diagnose", stack, resctrl.sysfs)
            before = len(resctrl.written("", "tasks"))
            try:
                with groups.within(group):
                    assert {str(os.getpid()), str(other.native_id)} <= {
                        *resctrl.written(GROUP, "tasks")
                    }
                    if ending is not None:
                        raise ending("x")
            except (KeyboardInterrupt, SystemFailure):
                pass
            moved = resctrl.written("", "tasks")[before:]
            assert {str(os.getpid()), str(other.native_id)} <= {*moved}
        assert resctrl.groups() == []
    finally:
        done.set()
        other.join()


def test_a_limit_that_is_refused_is_told_with_the_kernels_reason(resctrl: Planted) -> None:
    with ExitStack() as stack:
        group = groups.make("diagnose", stack, resctrl.sysfs)
        (group / "schemata").unlink()
        (resctrl.sysfs / f"{ROOT}/info/last_cmd_status").write_text("mask is not contiguous\n")
        with pytest.raises(SystemFailure, match=r"diagnose-.*\(mask is not contiguous\)"):
            groups.limit(group, ["L3:0=5"])


def test_what_a_killed_run_left_is_removed_and_no_other_group(resctrl: Planted) -> None:
    resctrl.plant_group("memgauge-diagnose-1")
    resctrl.plant_group("of-someone-else")
    with ExitStack() as stack:
        groups.make("diagnose", stack, resctrl.sysfs)
        assert groups.remove_left(resctrl.sysfs) == ["memgauge-diagnose-1"]
        # The own group is locked, as that of any run that lives.
        assert resctrl.groups() == [GROUP, "of-someone-else"]
    assert resctrl.groups() == ["of-someone-else"]


def test_a_group_that_cannot_be_removed_is_named_with_the_command(
    resctrl: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    resctrl.plant_group("memgauge-diagnose-1")

    def refuse(_path: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(groups, "_remove_directory", refuse)
    with pytest.raises(SystemFailure, match=r"as root: rmdir .*memgauge-diagnose-1"):
        groups.remove_left(resctrl.sysfs)


def test_whether_this_process_is_in_another_group_is_seen(resctrl: Planted) -> None:
    assert groups.is_in_root(resctrl.sysfs)
    (resctrl.sysfs / f"{ROOT}/tasks").write_text("1\n")
    assert not groups.is_in_root(resctrl.sysfs)


def test_without_resctrl_nothing_is_left(tmp_path: Path) -> None:
    assert groups.remove_left(tmp_path) == []
