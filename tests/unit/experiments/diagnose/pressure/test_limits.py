"""Limits of the kernel as treatments: which there are, on planted resctrl directories."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import a_machine
from tests.unit.system.resctrl.planted import FILES, GROUP, planted

from memgauge.experiments.diagnose.host import Diagnose, DiagnoseGroup
from memgauge.experiments.diagnose.parameters import DiagnoseParameters
from memgauge.experiments.diagnose.pressure.limits import LimitGroup, limited, limits
from memgauge.experiments.diagnose.treatments import NotTried, Pressure, Treatment
from memgauge.model.errors import SystemFailure
from memgauge.model.parameters import build
from memgauge.model.points.diagnose import COMPUTE, FEWER_WAYS, THROTTLE
from memgauge.system.resctrl import groups

BOTH = (THROTTLE, FEWER_WAYS)
ARITHMETIC = [Treatment(name=COMPUTE, kind="pressure", pressure=Pressure(bytes=64 << 10))]


def planned() -> DiagnoseGroup:
    asked = build(DiagnoseParameters, command="true", only="interference")
    (group,) = Diagnose().plan(asked, a_machine(4))
    return group


def test_both_limits_are_treatments_beside_arithmetic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(tmp_path, monkeypatch)
    found = limits()
    assert found.not_tried == []
    assert found.lines == {
        THROTTLE: ["MB:0=10;1=10", "L3:0=fff;1=fff"],
        FEWER_WAYS: ["MB:0=100;1=100", "L3:0=7;1=7"],
    }
    made = limited(found, ARITHMETIC)
    assert [one.name for one in made] == [THROTTLE, FEWER_WAYS]
    assert all((one.kind, one.baseline) == ("pressure", "compute") for one in made)
    names = [one.point for one in planned().points]
    assert "diagnose/program/throttle" in names
    assert "diagnose/latency/fewer ways" in names
    assert not {one.name for one in planned().not_tried} & {*BOTH}


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        ({"schemata": "MB:0=2048\nL3:0=ffff"}, {THROTTLE: "MB:0=64", FEWER_WAYS: "L3:0=7"}),
        ({"schemata": "MB:0=4294967295"}, {THROTTLE: "MB:0=8000"}),
        ({"schemata": "L3:0=fff", "info/L3/min_cbm_bits": "5"}, {FEWER_WAYS: "L3:0=1f"}),
        ({"schemata": "L3:0=fff", "info/L3/cbm_mask": "ff0"}, {FEWER_WAYS: "L3:0=30"}),
    ],
)
def test_limits_are_in_the_units_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, str], lines: dict[str, str]
) -> None:
    planted(tmp_path, monkeypatch, {**FILES, **change})
    found = limits()
    assert set(found.lines) == set(lines)
    for name, line in lines.items():
        assert line in found.lines[name]


@pytest.mark.parametrize(
    ("files", "names", "why"),
    [
        ({}, BOTH, "the kernel has no resctrl, or the processor nothing for it"),
        ({"size": ""}, BOTH, "resctrl is not mounted (as root: mount -t resctrl"),
        ({**FILES, "tasks": "1\n"}, BOTH, "this process is in a resctrl group already"),
        ({**FILES, "info/L3/num_closids": "1"}, BOTH, "all groups that the processor has are"),
        ({**FILES, "schemata": "L3:0=f"}, (THROTTLE,), "the processor cannot limit bandwidth"),
        ({**FILES, "schemata": "MB:0=100"}, (FEWER_WAYS,), "the processor cannot limit the last"),
        ({**FILES, "info/L3/cbm_mask": "x"}, (FEWER_WAYS,), "the kernel does not show"),
        ({**FILES, "info/L3/cbm_mask": "1"}, (FEWER_WAYS,), "the kernel does not show"),
        ({**FILES, "schemata": "\0=;:"}, (THROTTLE,), "the processor cannot limit bandwidth"),
    ],
)
def test_what_is_not_tried_says_why(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str],
    names: tuple[str, ...],
    why: str,
) -> None:
    planted(tmp_path, monkeypatch, files)
    found = limits().not_tried
    assert [one.name for one in found if one.reason.startswith(why)] == [*names]
    assert {*found} <= {*planned().not_tried}


def test_without_rights_nothing_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted(tmp_path, monkeypatch)
    monkeypatch.setattr(groups, "may_make", lambda _sysfs: False)
    why = "only root may limit programs by resctrl"
    assert limits().not_tried == [NotTried(name, why) for name in BOTH]


def test_a_treatment_is_within_its_limits_and_no_other_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = planted(tmp_path, monkeypatch)
    found.plant_group("memgauge-diagnose-1")
    with ExitStack() as stack:
        group = LimitGroup.opened(limited(limits(), ARITHMETIC), stack)
        assert found.groups() == [GROUP]
        with group.limiting("write"):
            assert found.written(GROUP, "tasks") == []
        with group.limiting(FEWER_WAYS):
            assert found.written(GROUP, "schemata")[-1] == "L3:0=7;1=7"
            assert str(os.getpid()) in found.written(GROUP, "tasks")
    assert found.groups() == []


def test_limits_that_the_kernel_refuses_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = planted(tmp_path, monkeypatch)
    treatments = [Treatment(name="write", kind="pressure"), *limited(limits(), ARITHMETIC)]
    with ExitStack() as stack:
        opened = LimitGroup.opened(treatments, stack)
        assert (opened.treatments, opened.not_tried) == (treatments, ())
    assert found.groups() == []

    def refuse(_group: Path, _lines: list[str]) -> None:
        raise SystemFailure("the mask is not contiguous")

    monkeypatch.setattr(groups, "limit", refuse)
    with ExitStack() as stack:
        opened = LimitGroup.opened(treatments, stack)
        assert [one.name for one in opened.treatments] == ["write"]
        why = "the mask is not contiguous"
        assert opened.not_tried == [NotTried(name, why) for name in BOTH]
    assert found.groups() == []
