"""Which other ways to start a program are tried, and which the user may ask for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from msgspec.structs import replace
from tests.unit.experiments.machines import a_machine

from memgauge.experiments.diagnose.host import Diagnose
from memgauge.experiments.diagnose.parameters import DiagnoseParameters
from memgauge.experiments.diagnose.treatments import NotTried, Treatment
from memgauge.experiments.diagnose.variants import machine_settings, preloaded
from memgauge.experiments.diagnose.variants.offered import ADVISED, page_variants, require_commands
from memgauge.experiments.diagnose.variants.preloaded import huge, placed, why_not_preloaded
from memgauge.model.errors import CommandNotFound, RequestError, SystemFailure
from memgauge.model.parameters import build
from memgauge.system.memory.policy import MemoryPolicy
from memgauge.system.settings import huge_pages, registers
from memgauge.system.settings.huge_pages import HugePagesForAll
from memgauge.system.settings.prefetch import PrefetchersOff
from memgauge.system.settings.registers import INTEL
from memgauge.system.settings.switch import Switch
from memgauge.system.tree import Tree

LIBRARY = Path("/package/lib/libmemgauge_preload.so")


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preloaded, "installed_file", lambda _path: LIBRARY)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("thp", "names", "not_tried"),
    [
        ("madvise", [ADVISED, "malloc on huge pages", "no huge pages"], []),
        ("always", [ADVISED, "malloc on huge pages", "no huge pages"], []),
        (
            "never",
            [],
            [
                NotTried(
                    "huge pages",
                    "transparent huge pages are switched off on this machine (never)",
                )
            ],
        ),
        (None, [], [NotTried("huge pages", "the kernel has no transparent huge pages")]),
    ],
)
def test_pages_by_the_mode_of_the_machine(
    thp: str | None, names: list[str], not_tried: list[NotTried]
) -> None:
    made, left_out = page_variants(thp, {})
    assert [one.name for one in made] == names
    assert left_out == not_tried


def test_without_the_library_the_rest_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preloaded, "installed_file", lambda _path: None)
    made, left_out = page_variants("madvise", {})
    assert [one.name for one in made] == ["malloc on huge pages", "no huge pages"]
    reason = "libmemgauge_preload.so is missing from this installation of memgauge"
    assert left_out == [NotTried(ADVISED, reason)]
    monkeypatch.setattr(preloaded, "installed_file", lambda _path: Path("/my programs/x.so"))
    assert "LD_PRELOAD cannot name" in (why_not_preloaded() or "")


@pytest.mark.usefixtures("library")
def test_what_the_user_preloads_and_tunes_stays(tmp_path: Path) -> None:
    size = tmp_path / "sys/kernel/mm/transparent_hugepage/hpage_pmd_size"
    size.parent.mkdir(parents=True)
    size.write_text("16777216\n", encoding="ascii")
    mine = {"LD_PRELOAD": "mine.so", "GLIBC_TUNABLES": "glibc.malloc.arena_max=1"}
    assert huge(mine, Tree(tmp_path)) == {
        "LD_PRELOAD": f"{LIBRARY}:mine.so",
        "GLIBC_TUNABLES": "glibc.malloc.arena_max=1:glibc.malloc.hugetlb=1",
        "MEMGAUGE_LARGE_BYTES": "16777216",
        "MEMGAUGE_LARGE_PAGES": "huge",
    }
    assert placed({}, MemoryPolicy(mode="interleave", nodes=[0, 2])) == {
        "LD_PRELOAD": str(LIBRARY),
        "MEMGAUGE_LARGE_BYTES": "2097152",
        "MEMGAUGE_LARGE_POLICY": "interleave:0,2",
    }


def tried(what: str, command: str = "sh -c true") -> Treatment:
    asked = build(DiagnoseParameters, command=command, only="pages", **{"try": what})
    (group,) = Diagnose().plan(asked, replace(a_machine(4), thp=None))
    assert [one.name for one in group.treatments[:2]] == ["as it is", "as it is again"]
    return group.treatments[2]


def test_a_command_or_a_variable_of_the_user() -> None:
    assert tried("a=sh -c 'exit 0'").words == ["sh", "-c", "exit 0"]
    assert tried("a=sh -t {threads}", "sh {threads}").words == ["sh", "-t", "2"]
    assert tried("a=FLAGS=-O2 -g").environment == {"FLAGS": "-O2 -g"}
    assert tried("a=NOTHING=").environment == {"NOTHING": ""}


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("a=FOO=1 sh -x", "sets FOO to '1 sh -x' and .* write 'a=env FOO=1 sh -x'"),
        ("a=FOO=1 /bin/sh", "sets FOO to '1 /bin/sh' and starts no other command"),
    ],
)
def test_a_value_that_looks_like_a_command_is_refused(what: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        tried(what)


def test_commands_that_are_missing_are_refused_before_anything_runs() -> None:
    require_commands([tried("a=sh"), tried("a=X=1")])
    with pytest.raises(CommandNotFound, match="'no-such-program': command not found"):
        require_commands([tried("a=sh"), tried("a=no-such-program")])


def not_tried(only: str, thp: str | None = "madvise") -> dict[str, str]:
    asked = build(DiagnoseParameters, command="true", only=only, **{"try": "a=X=1"})
    (group,) = Diagnose().plan(asked, replace(a_machine(4), thp=thp))
    return {one.name: one.reason for one in group.not_tried}


def test_settings_of_the_machine_are_tried_on_request_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huge_pages, "why_not", lambda _tree: "not here")
    left_out = not_tried("pages")
    assert left_out["hardware prefetch off"] == "only tried where --only names prefetch"
    assert left_out["huge pages for all memory"] == "only tried where --only names thp-always"
    left_out = not_tried("prefetch,thp-always")
    documented = "no register of this processor that switches them off is documented"
    assert left_out["hardware prefetch off"] == documented
    assert left_out["huge pages for all memory"] == "not here"
    assert "huge pages for all memory" not in not_tried("pages", "always")
    assert "huge pages for all memory" not in not_tried("pages", None)


def test_settings_are_treatments_where_nothing_is_against_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registers, "why_not", lambda *_: None)
    monkeypatch.setattr(huge_pages, "why_not", lambda _tree: None)
    monkeypatch.setattr(machine_settings, "thp_mode", lambda _tree: "never")
    machine = replace(a_machine(4), cpu_signature="AuthenticAMD 25 1 1", virtualisation=None)
    asked = ["pages", "prefetch", "thp-always"]
    (without, for_all), left_out = machine_settings.setting_variants(asked, [0, 1], machine)
    assert left_out == []
    assert without.prefetch_off is not None
    assert without.change == (
        "prefetchers off on CPUs 0-1 (L1 stream, L1 stride, L1 region, L2 stream, L2 up and "
        "down), bits 0x2f of register 0xc0000108"
    )
    assert (for_all.huge_pages_for_all, for_all.pages_wanted) == (True, "huge")
    assert for_all.change == (
        "/sys/kernel/mm/transparent_hugepage/enabled set to always (from never)"
    )
    assert for_all.keeps_uses
    assert machine_settings.setting_variants(["pages"], [0], machine) == ([], [])


def test_settings_are_changed_for_the_runs_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = Treatment(name="as it is", kind="variant")
    without = Treatment(name="without", kind="variant", prefetch_off=INTEL)
    for_all = Treatment(name="for all", kind="variant", huge_pages_for_all=True)
    done: list[str] = []

    class Made:
        def __init__(self, what: str) -> None:
            self._what = what

        @contextmanager
        def changed(self) -> Iterator[None]:
            done.append(f"{self._what} changed")
            yield
            done.append(f"{self._what} back")

    def prefetch_is_refused(kind: type, *_: object) -> Made:
        if kind is PrefetchersOff:
            raise SystemFailure("the kernel is locked down")
        return Made(kind.__name__)

    with ExitStack() as stack:
        monkeypatch.setattr(Switch, "opened", prefetch_is_refused)
        opened = machine_settings.MachineSettings.opened([usual], [0], stack)
        assert (opened.treatments, list(opened.not_tried)) == ([usual], [])
        every = [usual, without, for_all]
        opened = machine_settings.MachineSettings.opened(every, [0], stack)
        assert opened.treatments == [usual, for_all]
        assert opened.not_tried == [NotTried("without", "the kernel is locked down")]
        monkeypatch.setattr(Switch, "opened", lambda kind, *_: Made(kind.__name__))
        opened = machine_settings.MachineSettings.opened(every, [0], stack)
        assert opened.treatments == every
        with opened.of(usual):
            assert done == []
        for treatment, kind in ((without, PrefetchersOff), (for_all, HugePagesForAll)):
            done.clear()
            with opened.of(treatment):
                assert done == [f"{kind.__name__} changed"]
            assert done == [f"{kind.__name__} changed", f"{kind.__name__} back"]
