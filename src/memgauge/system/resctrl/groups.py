"""Control groups of memgauge's own: made for a run, and gone with it.

A group is locked as long as its process lives, however that ends: so a group that bears memgauge's
name and is not locked was left by a run that was killed. Tasks of a group that is removed return to
the root's.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from memgauge.model.errors import SystemFailure
from memgauge.system.areas.lock import is_locked
from memgauge.system.resctrl.tree import ROOT, control_groups
from memgauge.system.tree import Tree

SYSFS = Path("/sys")
PREFIX = "memgauge-"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW


def make(name: str, stack: ExitStack, sysfs: Path = SYSFS) -> Path:
    """A control group; no task is in it.

    Args:
        name: What it is for.
        stack: Removes the group when it is closed.
        sysfs: Where resctrl is mounted below.

    Raises:
        SystemFailure: the kernel refused, with its reason.
    """
    root = Path(f"{sysfs}{ROOT}")
    group = root / f"{PREFIX}{name}-{os.getpid()}"
    stack.callback(_remove, group)
    try:
        with _locked(root):
            _make_directory(group)
            descriptor = os.open(group, _DIRECTORY)
            stack.callback(os.close, descriptor)
            is_locked(descriptor)
    except OSError as error:
        raise _refused(group, error) from error
    return group


def limit(group: Path, lines: Sequence[str]) -> None:
    """Set the limits of a group.

    Args:
        group: That `make` returned.
        lines: Of schemata, such as `MB:0=10;1=10`; what none of them names stays as it is.

    Raises:
        SystemFailure: the kernel refused, with its reason.
    """
    for line in lines:
        try:
            _write(group / "schemata", line)
        except OSError as error:
            raise _refused(group, error) from error


@contextmanager
def within(group: Path) -> Iterator[None]:
    """All threads of this process, and the processes that it starts meanwhile, in a group.

    Args:
        group: That `make` returned; the threads come from the root's group, and return there.

    Raises:
        SystemFailure: the kernel refused to move a thread.
    """
    try:
        _move(group)
        yield
    finally:
        _move(group.parent)


def is_in_root(sysfs: Path = SYSFS) -> bool:
    """Whether this process is in no group but the root's."""
    tasks = Tree(sysfs).text(f"{ROOT}/tasks") or ""
    return str(os.getpid()) in tasks.split()


def may_make(sysfs: Path = SYSFS) -> bool:
    """Whether this process may make groups."""
    return os.access(f"{sysfs}{ROOT}", os.W_OK | os.X_OK)


def remove_left(sysfs: Path = SYSFS) -> list[str]:
    """Remove groups of runs that were killed; return their names.

    Args:
        sysfs: Where resctrl is mounted below.

    Raises:
        SystemFailure: one could not be removed.
    """
    root = Path(f"{sysfs}{ROOT}")
    names = [one for one in control_groups(Tree(sysfs), "tasks") if one.startswith(PREFIX)]
    removed = []
    for name in names:
        try:
            with _locked(root):
                descriptor = os.open(root / name, _DIRECTORY)
                try:
                    if is_locked(descriptor):
                        continue
                    _remove_directory(root / name)
                finally:
                    os.close(descriptor)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise SystemFailure(
                f"resctrl group {name}: was left by a killed run and cannot be removed: "
                f"{error.strerror}; as root: rmdir {root / name}"
            ) from error
        removed.append(name)
    return removed


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """The lock by which programs that change groups keep out of each other's way (resctrl.rst)."""
    descriptor = os.open(root, _DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _move(group: Path) -> None:
    for task in Path("/proc/self/task").iterdir():
        try:
            _write(group / "tasks", task.name)
        except ProcessLookupError:
            continue  # the thread has ended
        except OSError as error:
            raise SystemFailure(f"{group}/tasks: {error.strerror}") from error


def _write(path: Path, line: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)


def _make_directory(path: Path) -> None:
    path.mkdir(0o755)


def _remove_directory(path: Path) -> None:
    path.rmdir()


def _refused(group: Path, error: OSError) -> SystemFailure:
    path = group.parent / "info/last_cmd_status"
    why = Tree().text(str(path))
    known = f" ({why})" if why and why != "ok" else ""
    return SystemFailure(f"resctrl group {group.name}: {error.strerror}{known}")


def _remove(group: Path) -> None:
    try:
        _remove_directory(group)
    except FileNotFoundError:
        return
    except OSError as error:
        raise SystemFailure(
            f"resctrl group {group.name}: cannot be removed: {error.strerror}; "
            f"as root: rmdir {group}"
        ) from error
