"""Transparent huge pages for all memory of the machine, for the time of a run of a program.

The kernel has no switch that gives them to one process alone: prctl(2) takes them from one
(PR_SET_THP_DISABLE, since Linux 6.18 also all but those that are advised), and gives none.

Sources: Linux, Documentation/admin-guide/mm/transhuge.rst; man-pages, PR_SET_THP_DISABLE(2const).
"""

from __future__ import annotations

import os
from typing import ClassVar

from memgauge.model.errors import SystemFailure
from memgauge.model.units import format_bytes
from memgauge.system.memory.pages import THP_FILE, thp_mode, thp_mode_of_size, thp_page_bytes
from memgauge.system.owner import boot_id
from memgauge.system.settings.setting import Setting
from memgauge.system.tree import Tree

ALWAYS = "always"
_INHERIT = "inherit"
"""Pages of a size that follow the setting of the machine."""
NONE = "the kernel has no transparent huge pages"


class HugePagesForAll(Setting, frozen=True, kw_only=True):
    """The mode of transparent huge pages, before it is set to `always`."""

    mode: str
    """As it was; never `always`."""

    subject: ClassVar[str] = "thp"
    in_use: ClassVar[str] = "sets transparent huge pages to always from time to time"
    left: ClassVar[str] = "left transparent huge pages set to always"
    code_of_left: ClassVar[str] = "thp-left-always"
    code_of_restored: ClassVar[str] = "thp-restored"

    @classmethod
    def recorded(cls, tree: Tree) -> HugePagesForAll:
        """Read the mode.

        Args:
            tree: Root of sysfs and procfs.

        Raises:
            SystemFailure: there is none, or it is `always` already.
        """
        mode = thp_mode(tree)
        if mode is None or mode == ALWAYS:
            raise SystemFailure(NONE if mode is None else _already(THP_FILE))
        return cls(pid=os.getpid(), boot_id=boot_id(tree), mode=mode)

    def require(self, tree: Tree, *, changed: bool) -> None:
        """Refuse a mode that another program has set; see `Setting`."""
        now, wanted = thp_mode(tree), ALWAYS if changed else self.mode
        if now != wanted:
            raise SystemFailure(
                f"another program set {THP_FILE} from {wanted} to {now} meanwhile, and it is left "
                "so; keep it as it is for the time of a diagnosis"
            )

    def change(self, tree: Tree) -> None:
        """Set it to `always`; see `Setting`."""
        _set(tree, ALWAYS)

    def put_back(self, tree: Tree) -> None:
        """Set it to what it was, if it is `always`; see `Setting`."""
        if self.is_changed(tree):
            _set(tree, self.mode)

    def is_changed(self, tree: Tree) -> bool:
        """Whether it is `always`; see `Setting`."""
        return thp_mode(tree) == ALWAYS

    def restored(self) -> str:
        """See `Setting`."""
        return (
            f"transparent huge pages of the machine: set back to {self.mode}, left at always by a "
            f"run that was killed (process {self.pid})"
        )


def why_not(tree: Tree) -> str | None:
    """Why transparent huge pages cannot be set to `always` here; None: nothing is known against it.

    Args:
        tree: Root of sysfs.
    """
    mode = thp_mode(tree)
    if mode is None:
        return NONE
    if mode == ALWAYS:
        return _already(THP_FILE)
    size_bytes = thp_page_bytes(tree)
    size_file, of_size = thp_mode_of_size(tree, size_bytes)
    if of_size not in {None, _INHERIT}:
        return f"pages of {format_bytes(size_bytes)} follow {size_file} ({of_size}), not {THP_FILE}"
    try:
        os.close(_opened(tree))
    except OSError as error:
        return (
            f"{THP_FILE} cannot be written: {error.strerror}; root may write it, but not in a "
            "container whose sysfs is read-only"
        )
    return None


def _already(file: str) -> str:
    return f"{file} is set to always anyway"


def _set(tree: Tree, mode: str) -> None:
    try:
        write_mode(tree, mode)
    except OSError as error:
        raise SystemFailure(
            f"{THP_FILE} cannot be set to {mode}: {error.strerror}; root may write it"
        ) from error
    now = thp_mode(tree)
    if now != mode:
        raise SystemFailure(f"{THP_FILE} did not keep {mode}: it is {now}")


def write_mode(tree: Tree, mode: str) -> None:
    """Set the mode.

    Args:
        tree: Root of sysfs.
        mode: One of those that the kernel knows.

    Raises:
        OSError: the kernel refuses.
    """
    descriptor = _opened(tree)
    try:
        os.write(descriptor, mode.encode())
    finally:
        os.close(descriptor)


def _opened(tree: Tree) -> int:
    # In a tree from elsewhere, a link here must not redirect the write.
    flags = os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
    return os.open(tree.path(THP_FILE), flags)
