"""A setting of the whole machine, as it was before a run changes it.

Its values are written to a state file before they are changed, so that the next run finds what
`kill -9` left behind. A restart of the machine puts them back by itself.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from memgauge.system.tree import Tree


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What a state file holds while a run has the setting changed."""

    pid: int
    """The process that changes it."""
    boot_id: str
    """Of the machine: after a restart nothing is left of a change."""

    subject: ClassVar[str]
    """In the name of the state file."""
    in_use: ClassVar[str]
    """What another run does that holds the state file."""
    left: ClassVar[str]
    """What a run that was killed has done."""
    code_of_left: ClassVar[str]
    """Of the warning that it stays so."""
    code_of_restored: ClassVar[str]
    """Of the warning that it was put back."""

    def require(self, tree: Tree, *, changed: bool) -> None:
        """Refuse a value that another program has set.

        Args:
            tree: Root of the file system.
            changed: Whether this run has the setting changed at the moment; else it is to be as
                it was when this was recorded.

        Raises:
            SystemFailure: another program has changed it meanwhile; that value stays.
        """
        raise NotImplementedError

    def change(self, tree: Tree) -> None:
        """Change it, and read back that it is.

        Args:
            tree: Root of the file system.

        Raises:
            SystemFailure: the kernel or the processor refuses.
        """
        raise NotImplementedError

    def put_back(self, tree: Tree) -> None:
        """Set it to what it was, unless it is that or another program has set something else.

        Args:
            tree: Root of the file system.

        Raises:
            SystemFailure: the kernel or the processor refuses.
        """
        raise NotImplementedError

    def is_changed(self, tree: Tree) -> bool:
        """Whether anything of the change is left, that is to be put back.

        Args:
            tree: Root of the file system.
        """
        raise NotImplementedError

    def restored(self) -> str:
        """One line on what was put back after a run that was killed."""
        raise NotImplementedError
