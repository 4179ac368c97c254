"""Prefetchers that are switched off for the time of a run of a program, and on again after it.

A state file holds the registers' values before any of them is written, so that the next run finds
what `kill -9` left behind. A restart of the machine sets the registers back by itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import msgspec

from memgauge.model.cpulist import format_cpu_list
from memgauge.model.errors import SystemFailure
from memgauge.model.records import Warning
from memgauge.model.storage.user_directories import required_state_directory, state_directory
from memgauge.model.termination import deferred
from memgauge.system.owner import boot_id
from memgauge.system.prefetch import registers
from memgauge.system.prefetch.registers import Prefetchers
from memgauge.system.state_file import hold, left, read_state, state_path, write_state
from memgauge.system.tree import Tree

_MOST_BYTES = 1 << 20


class _State(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a state file."""

    pid: int
    boot_id: str
    register: int
    bits: int
    values: dict[int, int]
    """By CPU: the bits as they were."""


class PrefetchSwitch:
    """Switches the prefetchers of some CPUs off, and on again as they were."""

    def __init__(self, tree: Tree, state: _State) -> None:
        """Take what `opened` found; nothing is written yet."""
        self._tree = tree
        self._state = state

    @classmethod
    def opened(
        cls,
        prefetchers: Prefetchers,
        cpus: Sequence[int],
        stack: ExitStack,
        tree: Tree | None = None,
        directory: Path | None = None,
    ) -> PrefetchSwitch:
        """Record the registers, and try once that they can be switched off and on.

        What a run that was killed has left off is switched on before.

        Args:
            prefetchers: Of this processor.
            cpus: Whose prefetchers are switched.
            stack: Sets the registers back when it is closed.
            tree: Root of the device nodes and of procfs; None: this machine's.
            directory: Where the state file is kept; None: the user's state directory.

        Raises:
            SystemFailure: the processor or the kernel refuses, another run has prefetchers off, or
                the state file cannot be written.
        """
        tree = tree or Tree()
        path = _path(directory or required_state_directory())
        with deferred():
            descriptor = _held(path)
            stack.callback(_let_go, path, descriptor, tree)
            _restore_left(descriptor, tree)
            made = cls(tree, _recorded(prefetchers, cpus, tree, descriptor))
            stack.callback(made.switch_on)
        with made.off():
            pass
        return made

    @contextmanager
    def off(self) -> Iterator[None]:
        """The prefetchers are off as long as this context is open.

        Raises:
            SystemFailure: the processor or the kernel refuses.
        """
        try:
            with deferred():
                for cpu in self._state.values:
                    _set(self._tree, self._state, cpu, self._state.bits)
            yield
        finally:
            self.switch_on()

    def switch_on(self) -> None:
        """Set the registers back to what they were; may be called again.

        Raises:
            SystemFailure: the processor or the kernel refuses.
        """
        with deferred():
            _restore(self._tree, self._state)


def left_off(tree: Tree | None = None, directory: Path | None = None) -> list[Warning]:
    """Switch on what a run that was killed has left off, and describe that, or why it stays off.

    Args:
        tree: Root of the device nodes and of procfs; None: this machine's.
        directory: Where the state file is kept; None: the user's state directory.
    """
    try:
        done = restore_left(tree, directory)
    except SystemFailure as error:
        return [
            Warning(
                code="prefetch-left-off",
                message=f"a run that was killed left hardware prefetch off: {error}",
                remedy="as root: memgauge system --clean; a restart of the machine does it too",
            )
        ]
    return [Warning(code="prefetch-restored", message=done)] if done else []


def restore_left(tree: Tree | None = None, directory: Path | None = None) -> str | None:
    """Switch on what a run that was killed has left off; return what was done, if anything.

    Args:
        tree: Root of the device nodes and of procfs; None: this machine's.
        directory: Where the state file is kept; None: the user's state directory.

    Raises:
        SystemFailure: the registers cannot be written.
    """
    place = directory or state_directory()
    if place is None:
        return None
    path = _path(place)
    with left(path) as descriptor:
        if descriptor is None:
            return None
        with deferred():
            done = _restore_left(descriptor, tree or Tree())
            path.unlink(missing_ok=True)
        return done


def _path(directory: Path) -> Path:
    return state_path(directory, "prefetch")


def _held(path: Path) -> int:
    try:
        descriptor = hold(path)
    except OSError as error:
        raise _unrecorded(path, error) from error
    if descriptor is None:
        raise SystemFailure(f"another run has hardware prefetch switched off ({path})")
    return descriptor


def _let_go(path: Path, descriptor: int, tree: Tree) -> None:
    """Remove the file, unless a register could not be set back: then the next run tries again."""
    state = read_state(descriptor, _State, _MOST_BYTES)
    if state is None or not _changed(tree, state):
        path.unlink(missing_ok=True)
    os.close(descriptor)


def _recorded(prefetchers: Prefetchers, cpus: Sequence[int], tree: Tree, descriptor: int) -> _State:
    values = {}
    for cpu in cpus:
        try:
            values[cpu] = registers.read(tree, cpu, prefetchers.register) & prefetchers.bits
        except OSError as error:
            raise _refused(cpu, prefetchers.register, "read", error) from error
    if all(value == prefetchers.bits for value in values.values()):
        raise SystemFailure("hardware prefetch is switched off already")
    state = _State(
        pid=os.getpid(),
        boot_id=boot_id(tree),
        register=prefetchers.register,
        bits=prefetchers.bits,
        values=values,
    )
    try:
        write_state(descriptor, state)
    except OSError as error:
        raise _unrecorded(None, error) from error
    return state


def _restore_left(descriptor: int, tree: Tree) -> str | None:
    state = read_state(descriptor, _State, _MOST_BYTES)
    if state is None or state.boot_id != boot_id(tree) or not _changed(tree, state):
        return None
    _restore(tree, state)
    return (
        f"hardware prefetch of CPUs {format_cpu_list(sorted(state.values))}: switched on again, "
        f"left off by a run that was killed (process {state.pid})"
    )


def _changed(tree: Tree, state: _State) -> bool:
    for cpu, value in state.values.items():
        with suppress(OSError):  # the CPU, or the driver, is gone
            if registers.read(tree, cpu, state.register) & state.bits != value & state.bits:
                return True
    return False


def _restore(tree: Tree, state: _State) -> None:
    """All of them, also after one could not be set."""
    failed: SystemFailure | None = None
    for cpu, value in state.values.items():
        try:
            _set(tree, state, cpu, value)
        except SystemFailure as error:
            failed = failed or error
    if failed is not None:
        raise failed


def _set(tree: Tree, state: _State, cpu: int, value: int) -> None:
    """Set the bits and no others, unless they are so already, and look at what came out."""
    wanted = value & state.bits
    try:
        before = registers.read(tree, cpu, state.register)
        if before & state.bits == wanted:
            return
        registers.write(tree, cpu, state.register, before & ~state.bits | wanted)
        after = registers.read(tree, cpu, state.register)
    except OSError as error:
        raise _refused(cpu, state.register, "written", error) from error
    if after & state.bits != wanted:
        raise SystemFailure(
            f"register {state.register:#x} of CPU {cpu} did not keep what was written to it"
        )


def _refused(cpu: int, register: int, what: str, error: OSError) -> SystemFailure:
    return SystemFailure(
        f"register {register:#x} of CPU {cpu} cannot be {what}: {error.strerror}; "
        "the processor may not have it, and a kernel that is locked down refuses"
    )


def _unrecorded(path: Path | None, error: OSError) -> SystemFailure:
    return SystemFailure(
        f"{path or 'the state directory'} cannot record the registers: {error.strerror}; free "
        "space there, or set XDG_STATE_HOME to another directory"
    )
