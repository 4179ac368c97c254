"""The result of cleaning up one thing that a run may have left behind."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

from memgauge.system.areas.lock import is_locked
from memgauge.system.owner import is_another_alive

if TYPE_CHECKING:
    from memgauge.system.areas.mark import Mark


class State(enum.Enum):
    """Why a thing still exists."""

    FOREIGN = "not created by memgauge; left unchanged"
    IN_USE = "in use by a run; left unchanged"
    KEPT = "kept on purpose"
    LEFT = "left by a run that was killed"


class Cleaned(NamedTuple):
    """What cleaning up did to one thing, as one line of text."""

    line: str | None
    """One line for the user; None if there is nothing to report."""
    forget: bool
    """Whether its journal entry can be removed."""
    failed: bool = False

    @classmethod
    def gone(cls) -> Cleaned:
        """Something else had removed it."""
        return cls(None, forget=True)

    @classmethod
    def removed(cls, line: str) -> Cleaned:
        """It has been removed."""
        return cls(line, forget=True)

    @classmethod
    def not_possible(cls, path: str, why: str) -> Cleaned:
        """It may be a leftover, but cannot be removed."""
        return cls(f"{path}: cannot be cleaned: {why}", forget=False, failed=True)

    @classmethod
    def of(cls, state: State, path: str, removal: str) -> Cleaned:
        """The thing stays, for the reason that its state gives.

        Args:
            state: Why the thing still exists.
            path: The file, device or directory, for the user's line.
            removal: How a user removes what was kept, such as a command; only used in state `KEPT`.
        """
        how = f"; to remove it: {removal}" if state is State.KEPT else ""
        return cls(f"{path}: {state.value}{how}", forget=state is State.FOREIGN)


def state_of(descriptor: int, mark: Mark | None) -> State:
    """State of an open file or device, which stays locked from now on if no run uses it."""
    if mark is None:
        return State.FOREIGN
    if is_locked(descriptor) or is_another_alive(mark.owner):
        return State.IN_USE
    return State.KEPT if mark.kept else State.LEFT
