"""Changes a setting of the whole machine for the time of a run, and puts it back after it.

What other programs set meanwhile is never overwritten: a setting is changed only if it is as it was
recorded, and put back only while it is as this run has set it. Only while it is changed does the
state file hold anything, so what is set between two runs, or after them, stays too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from memgauge.model.errors import SystemFailure
from memgauge.model.storage.user_directories import required_state_directory
from memgauge.model.termination import deferred
from memgauge.system.settings.left import MOST_BYTES, restore_held
from memgauge.system.settings.setting import Setting
from memgauge.system.state_file import clear_state, hold, read_state, state_path, write_state
from memgauge.system.tree import Tree


class Switch:
    """Changes one setting, as often as it is wanted."""

    def __init__(self, setting: Setting, descriptor: int, tree: Tree) -> None:
        """Take what `opened` found; nothing is changed yet."""
        self._setting = setting
        self._descriptor = descriptor
        self._tree = tree
        self._is_changed = False

    @classmethod
    def opened(
        cls,
        kind: type[Setting],
        record: Callable[[Tree], Setting],
        stack: ExitStack,
        tree: Tree | None = None,
        directory: Path | None = None,
    ) -> Switch:
        """Record the setting, and try once that it can be changed and put back.

        What a run that was killed has left changed is put back before.

        Args:
            kind: The setting.
            record: Reads how it is.
            stack: Puts the setting back when it is closed, and lets go of the state file.
            tree: Root of the file system; None: this machine's.
            directory: Where the state file is kept; None: the user's state directory.

        Raises:
            SystemFailure: the kernel or the processor refuses, the setting is as wanted already,
                another run has it changed, or the state file cannot be written.
        """
        tree = tree or Tree()
        path = state_path(directory or required_state_directory(), kind.subject)
        with deferred():
            descriptor = _held(kind, path)
            stack.callback(_let_go, kind, path, descriptor, tree)
            restore_held(kind, descriptor, tree)
            clear_state(descriptor)
            made = cls(record(tree), descriptor, tree)
            stack.callback(made.put_back)
        with made.changed():
            pass
        return made

    @contextmanager
    def changed(self) -> Iterator[None]:
        """The setting is changed as long as this context is open.

        Raises:
            SystemFailure: the kernel or the processor refuses, or another program has set something
                else before or meanwhile, which stays.
        """
        try:
            with deferred():
                self._setting.require(self._tree, changed=False)
                self._write_down()
                self._is_changed = True
                self._setting.change(self._tree)
            yield
            self._setting.require(self._tree, changed=True)
        finally:
            self.put_back()

    def put_back(self) -> None:
        """Set it to what it was; may be called again.

        Raises:
            SystemFailure: the kernel or the processor refuses.
        """
        with deferred():
            if not self._is_changed:
                return
            self._setting.put_back(self._tree)
            clear_state(self._descriptor)
            self._is_changed = False

    def _write_down(self) -> None:
        try:
            write_state(self._descriptor, self._setting)
        except OSError as error:
            raise _unrecorded(None, error) from error


def _held(kind: type[Setting], path: Path) -> int:
    try:
        descriptor = hold(path)
    except OSError as error:
        raise _unrecorded(path, error) from error
    if descriptor is None:
        raise SystemFailure(f"another run {kind.in_use} ({path})")
    return descriptor


def _let_go(kind: type[Setting], path: Path, descriptor: int, tree: Tree) -> None:
    """Remove the file, unless the setting could not be put back: then the next run tries again."""
    state = read_state(descriptor, kind, MOST_BYTES)
    if state is None or not state.is_changed(tree):
        path.unlink(missing_ok=True)
    os.close(descriptor)


def _unrecorded(path: Path | None, error: OSError) -> SystemFailure:
    return SystemFailure(
        f"{path or 'the state directory'} cannot record the setting of the machine: "
        f"{error.strerror}; free space there, or set XDG_STATE_HOME to another directory"
    )
