"""What became of something that a run may have left, when it was to be cleaned away."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

from memgauge.system.areas.lock import is_locked
from memgauge.system.owner import is_another_alive

if TYPE_CHECKING:
    from memgauge.system.areas.mark import Mark


class State(enum.Enum):
    """Of a thing that is still there."""

    FOREIGN = "memgauge did not make it; it is left as it is"
    IN_USE = "in use by a run; left as it is"
    KEPT = "kept on purpose"
    LEFT = "left by a run that was killed"


class Cleaned(NamedTuple):
    """What was done, in one line, and what comes of it."""

    line: str | None
    """None: there is nothing to say."""
    forget: bool
    """Whether it need not be looked at again."""
    failed: bool = False

    @classmethod
    def gone(cls) -> Cleaned:
        """It was removed by somebody."""
        return cls(None, forget=True)

    @classmethod
    def removed(cls, line: str) -> Cleaned:
        """It is gone now."""
        return cls(line, forget=True)

    @classmethod
    def not_possible(cls, path: str, why: str) -> Cleaned:
        """It may be a leftover, and cannot be removed."""
        return cls(f"{path}: cannot be cleaned: {why}", forget=False, failed=True)

    @classmethod
    def of(cls, state: State, path: str, removal: str) -> Cleaned:
        """It stays; `removal` is how a user removes what was kept."""
        how = f"; to remove it: {removal}" if state is State.KEPT else ""
        return cls(f"{path}: {state.value}{how}", forget=state is State.FOREIGN)


def state_of(descriptor: int, mark: Mark | None) -> State:
    """Of an open file or device, which is locked from now on where nobody uses it."""
    if mark is None:
        return State.FOREIGN
    if is_locked(descriptor) or is_another_alive(mark.owner):
        return State.IN_USE
    return State.KEPT if mark.kept else State.LEFT
