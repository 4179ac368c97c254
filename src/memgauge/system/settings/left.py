"""Settings of the machine that a run which was killed has left changed."""

from __future__ import annotations

from pathlib import Path

from memgauge.model.errors import SystemFailure
from memgauge.model.records import Warning
from memgauge.model.storage.user_directories import state_directory
from memgauge.model.termination import deferred
from memgauge.system.owner import boot_id
from memgauge.system.settings.huge_pages import HugePagesForAll
from memgauge.system.settings.prefetch import PrefetchersOff
from memgauge.system.settings.setting import Setting
from memgauge.system.state_file import left, read_state, state_path
from memgauge.system.tree import Tree

SETTINGS: tuple[type[Setting], ...] = (PrefetchersOff, HugePagesForAll)
"""All that memgauge changes for single runs."""
MOST_BYTES = 1 << 20
"""Of a state file."""


def put_back_left(tree: Tree | None = None, directory: Path | None = None) -> list[Warning]:
    """Put back what runs that were killed have left changed; a warning for each, or why it stays.

    Args:
        tree: Root of the file system; None: this machine's.
        directory: Where the state files are kept; None: the user's state directory.
    """
    found = []
    for kind in SETTINGS:
        try:
            done = restore_left(kind, tree, directory)
        except SystemFailure as error:
            found.append(
                Warning(
                    code=kind.code_of_left,
                    message=f"a run that was killed {kind.left}: {error}",
                    remedy="as root: memgauge system --clean; a restart of the machine does it too",
                )
            )
        else:
            found += [Warning(code=kind.code_of_restored, message=done)] if done else []
    return found


def restore_left(
    kind: type[Setting], tree: Tree | None = None, directory: Path | None = None
) -> str | None:
    """Put back a setting that a run which was killed has left changed; what was done, if anything.

    Args:
        kind: The setting.
        tree: Root of the file system; None: this machine's.
        directory: Where the state file is kept; None: the user's state directory.

    Raises:
        SystemFailure: the kernel or the processor refuses.
    """
    place = directory or state_directory()
    if place is None:
        return None
    path = state_path(place, kind.subject)
    with left(path) as descriptor:
        if descriptor is None:
            return None
        with deferred():
            done = restore_held(kind, descriptor, tree or Tree())
            path.unlink(missing_ok=True)
        return done


def restore_held(kind: type[Setting], descriptor: int, tree: Tree) -> str | None:
    """The same by a state file that this process holds.

    Args:
        kind: The setting.
        descriptor: Of the state file, which stays as it is.
        tree: Root of the file system.

    Raises:
        SystemFailure: the kernel or the processor refuses.
    """
    state = read_state(descriptor, kind, MOST_BYTES)
    if state is None or state.boot_id != boot_id(tree) or not state.is_changed(tree):
        return None
    state.put_back(tree)
    return state.restored()
