"""Prefetchers switched off and on: registers of made-up processors, in files."""

from __future__ import annotations

import os
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import msgspec
import pytest
from tests.unit.runner.fakes import a_system

from memgauge.model.errors import SystemFailure
from memgauge.model.system import Cpu, System
from memgauge.system.owner import boot_id
from memgauge.system.settings import registers
from memgauge.system.settings.left import put_back_left, restore_left
from memgauge.system.settings.prefetch import PrefetchersOff
from memgauge.system.settings.registers import AMD, INTEL, Prefetchers, documented, why_not
from memgauge.system.settings.switch import Switch
from memgauge.system.state_file import state_path
from memgauge.system.tree import Tree

OTHER_BITS = 0x40
"""Of the same register, that are not memgauge's."""


def plant(root: Path, *cpus: int, register: int = INTEL.register, value: int = OTHER_BITS) -> Tree:
    """Files like /dev/cpu/N/msr: a register is eight bytes at its number."""
    for cpu in cpus:
        file = root / "dev/cpu" / str(cpu) / "msr"
        file.parent.mkdir(parents=True)
        file.touch()
        registers.write(Tree(root), cpu, register, value)
    boot = root / "proc/sys/kernel/random/boot_id"
    boot.parent.mkdir(parents=True, exist_ok=True)
    boot.write_text("this boot\n", encoding="ascii")
    return Tree(root)


def opened(
    prefetchers: Prefetchers, cpus: list[int], stack: ExitStack, tree: Tree, state: Path
) -> Switch:
    record = partial(PrefetchersOff.recorded, prefetchers, cpus)
    return Switch.opened(PrefetchersOff, record, stack, tree, state)


def values(tree: Tree, *cpus: int) -> list[int]:
    return [registers.read(tree, cpu, INTEL.register) for cpu in cpus]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def test_they_are_off_inside_and_as_they_were_outside(tmp_path: Path, state: Path) -> None:
    tree = plant(tmp_path, 0, 1)
    registers.write(tree, 1, INTEL.register, 0x2)
    with ExitStack() as stack:
        made = opened(INTEL, [0, 1], stack, tree, state)
        assert values(tree, 0, 1) == [OTHER_BITS, 0x2]
        with made.changed():
            assert values(tree, 0, 1) == [OTHER_BITS | 0xF, 0xF]
        assert values(tree, 0, 1) == [OTHER_BITS, 0x2]
        with pytest.raises(KeyboardInterrupt), made.changed():
            raise KeyboardInterrupt
        assert values(tree, 0, 1) == [OTHER_BITS, 0x2]
    assert list(state.iterdir()) == []


def test_bits_that_others_change_meanwhile_stay(tmp_path: Path, state: Path) -> None:
    tree = plant(tmp_path, 0)
    with ExitStack() as stack:
        made = opened(INTEL, [0], stack, tree, state)
        with made.changed():
            registers.write(tree, 0, INTEL.register, 0x8F)
        assert values(tree, 0) == [0x80]


def test_prefetchers_that_another_program_switches_are_named(tmp_path: Path, state: Path) -> None:
    tree = plant(tmp_path, 0, 1)
    named = "another program changed register 0x1a4 of CPUs 1 meanwhile"
    with ExitStack() as stack:
        made = opened(INTEL, [0, 1], stack, tree, state)
        with pytest.raises(SystemFailure, match=named), made.changed():
            registers.write(tree, 1, INTEL.register, OTHER_BITS | 0x7)
        assert values(tree, 0, 1) == [OTHER_BITS, OTHER_BITS]
        registers.write(tree, 1, INTEL.register, OTHER_BITS | 0x1)
        with pytest.raises(SystemFailure, match=named), made.changed():
            pytest.fail("a run between was begun")
        assert values(tree, 0, 1) == [OTHER_BITS, OTHER_BITS | 0x1]
    assert list(state.iterdir()) == []


def left_by_a_killed_run(tree: Tree, state: Path, stack: ExitStack) -> None:
    """As after `kill -9` inside `changed`: no lock, the file of state, and the bits set."""
    made = opened(INTEL, [0, 1], stack, tree, state)
    (file,) = state.iterdir()
    with made.changed():
        content = file.read_bytes()
    stack.close()
    file.write_bytes(content)
    for cpu in (0, 1):
        registers.write(tree, cpu, INTEL.register, OTHER_BITS | 0xF)


def test_what_a_killed_run_left_is_switched_on(tmp_path: Path, state: Path) -> None:
    tree = plant(tmp_path, 0, 1)
    with ExitStack() as stack:
        left_by_a_killed_run(tree, state, stack)
    (warning,) = put_back_left(tree, state)
    assert warning.code == "prefetch-restored"
    assert warning.message == (
        "hardware prefetch of CPUs 0-1: switched on again, left off by a run that was killed "
        f"(process {os.getpid()})"
    )
    assert values(tree, 0, 1) == [OTHER_BITS, OTHER_BITS]
    assert list(state.iterdir()) == []
    assert put_back_left(tree, state) == []
    left_by_a_killed_run(tree, state, stack)
    with ExitStack() as other:  # the next run that switches them restores them first
        opened(INTEL, [0], other, tree, state)
        assert values(tree, 0, 1) == [OTHER_BITS, OTHER_BITS]


def test_after_a_restart_nothing_is_written(tmp_path: Path, state: Path) -> None:
    tree = plant(tmp_path, 0, 1)
    with ExitStack() as stack:
        left_by_a_killed_run(tree, state, stack)
    assert boot_id(tree) == "this boot"
    tree.path("/proc/sys/kernel/random/boot_id").write_text("another\n", encoding="ascii")
    assert restore_left(PrefetchersOff, tree, state) is None
    assert values(tree, 0) == [OTHER_BITS | 0xF]


def test_a_run_that_lives_is_left_alone_and_keeps_others_out(tmp_path: Path, state: Path) -> None:
    tree = plant(tmp_path, 0)
    with ExitStack() as stack:
        made = opened(INTEL, [0], stack, tree, state)
        with made.changed():
            assert restore_left(PrefetchersOff, tree, state) is None
            assert values(tree, 0) == [OTHER_BITS | 0xF]
            with pytest.raises(SystemFailure, match="another run has hardware prefetch"):
                opened(INTEL, [0], stack, tree, state)


def test_what_cannot_be_switched_on_is_kept_on_record(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = plant(tmp_path, 0, 1)

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    with ExitStack() as stack:
        left_by_a_killed_run(tree, state, stack)
    with monkeypatch.context() as patch:
        patch.setattr(registers, "write", refuse)
        (warning,) = put_back_left(tree, state)
    assert warning.code == "prefetch-left-off"
    assert "register 0x1a4 of CPU 0 cannot be written: Operation not permitted" in warning.message
    assert list(state.iterdir()) != []
    assert restore_left(PrefetchersOff, tree, state) is not None


@pytest.mark.parametrize(
    ("value", "write", "message"),
    [
        (OTHER_BITS, lambda *_: None, "register 0x1a4 of CPU 0 did not keep what was written"),
        (0xF, registers.write, "hardware prefetch is switched off already"),
    ],
)
def test_a_register_without_effect_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: int, write: object, message: str
) -> None:
    tree, state = plant(tmp_path, 0, value=value), tmp_path / "state"
    monkeypatch.setattr(registers, "write", write)
    with ExitStack() as stack, pytest.raises(SystemFailure, match=message):
        opened(INTEL, [0], stack, tree, state)
    assert list(state.iterdir()) == []


def test_a_register_that_the_processor_lacks_is_refused(tmp_path: Path, state: Path) -> None:
    tree = plant(tmp_path, 0)
    absent = Prefetchers(register=AMD.register, bits=1, names="")
    with ExitStack() as stack, pytest.raises(SystemFailure, match="0xc0000108 of CPU 0 cannot be"):
        opened(absent, [0], stack, tree, state)


def machine(signature: str | None = "GenuineIntel 6 85 7", **changes: object) -> System:
    return msgspec.structs.replace(a_system(1 << 30), cpu_signature=signature, **changes)


@pytest.mark.parametrize(
    ("signature", "found"),
    [
        ("GenuineIntel 6 85 7", INTEL),
        ("AuthenticAMD 25 17 1", AMD),
        ("AuthenticAMD 26 2 1", AMD),
        ("AuthenticAMD 23 49 0", None),
        ("HygonGenuine 24 1 1", None),
        ("0x41 0xd0c", None),
        (None, None),
        ("GenuineIntel x 85 7", None),
    ],
)
def test_what_makers_document(signature: str | None, found: Prefetchers | None) -> None:
    assert documented(machine(signature)) == found


def test_reasons_against_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = plant(tmp_path, 0)
    bare = machine(virtualisation=None)
    assert why_not([0], bare, tree) is None
    guest = machine(virtualisation="virtual machine (KVM), container (docker)")
    assert why_not([0], guest, tree) == (
        "in a virtual machine the registers are not the hardware's"
    )
    assert why_not([0], machine(None), tree) == (
        "no register of this processor that switches them off is documented"
    )
    assert why_not([0, 7], bare, tree) == "there is no /dev/cpu/7/msr (as root: modprobe msr)"
    hybrid = Cpu(cpu=0, core=0, socket=0, node=0, sibling=0, core_type="efficiency")
    why = why_not([0], machine(virtualisation=None, cpus=[hybrid]), tree)
    assert why is not None
    assert why.startswith("the cores of this processor are of several types")
    monkeypatch.setattr(Tree, "usable", lambda *_: False)
    assert why_not([0], bare, tree) == "only root may write the processor's registers"


def test_the_file_is_one_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.node", lambda: "here")
    path = state_path(Path("/state"), PrefetchersOff.subject)
    assert path == Path("/state/prefetch-here.json")
