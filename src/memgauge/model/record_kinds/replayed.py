"""A profile whose traffic a run replays: the steps that were made of it before the run began."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from memgauge.model.counting.events import Basis
from memgauge.model.record_kinds.fields import Count, Record

LARGEST_AMOUNT = 1e30
"""Of bytes or seconds; squares of it are numbers."""

Amount = Annotated[float, msgspec.Meta(ge=0, le=LARGEST_AMOUNT)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]

Pieces = Literal["phases", "bins"]
"""What the steps were made of: phases of the profile, or equal stretches of its time."""

SHORTEST_S = 1e-6
"""In which traffic is known, and of a replay: rates of shorter times are not numbers to go by."""

ROUNDING = 1e-6
"""By which times that should be equal may differ, as a share."""


class ReplayStep(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of the profile that is replayed with one rate and one share of reads."""

    begin_s: Amount
    """On the profile's time,"""
    end_s: Amount
    """which is above `begin_s`."""
    known_s: Annotated[float, msgspec.Meta(ge=SHORTEST_S, le=LARGEST_AMOUNT)]
    """Of that, the time in which traffic was counted."""
    read_bytes: Amount
    """Counted in that time."""
    write_bytes: Amount

    def __post_init__(self) -> None:
        """Refuse a step that takes no time.

        Raises:
            ValueError: times are out of order.
        """
        if not self.begin_s < self.end_s:
            raise ValueError("has a step to replay that ends before it begins")
        if self.known_s > self.duration_s * (1 + ROUNDING):
            raise ValueError("has a step to replay whose traffic was counted for longer than it")

    @property
    def duration_s(self) -> float:
        """How long it lasts in the profile."""
        return self.end_s - self.begin_s

    @property
    def gb_per_s(self) -> float:
        """Read and written, over the time in which it was counted."""
        return (self.read_bytes + self.write_bytes) / self.known_s * 1e-9

    @property
    def read_share(self) -> float | None:
        """Of the bytes; None where there are none."""
        moved = self.read_bytes + self.write_bytes
        return self.read_bytes / moved if moved else None


class Replayed(Record, frozen=True, kw_only=True, tag="replayed"):
    """The profile that a run replays, condensed to steps."""

    run_id: str
    """Of the profile."""
    started_at: str
    """ISO 8601, UTC."""
    command: str
    """What was profiled. Untrusted, as all texts of a run."""
    machine_id: str
    """Where it was profiled."""
    cpu_model: str
    basis: Basis
    """Whether its traffic was measured, or is modelled or simulated."""
    counters: list[str]
    """Tracks that were added up."""
    trust: str
    """What verification found of their counters, such as `verified` or `never verified`."""
    read_share_given: Share | None = None
    """None: the profile distinguishes reads from writes. Else all its traffic is replayed with this
    share, which the user gave."""
    pieces_of: Pieces
    pieces: Count
    """How many there were before they were condensed."""
    bin_s: Amount
    """Stretches over which the two figures below were determined."""
    variation_kept: Share | None
    """Of the variance of its rates, what lies between the steps; None: they hardly vary."""
    busiest_gb_per_s: Amount
    """In a stretch of `bin_s`."""
    profile_s: Amount
    """How long the profile is."""
    unknown_s: Amount
    """Of that, stretches without counted traffic, which are not replayed."""
    replay_s: Annotated[float, msgspec.Meta(ge=SHORTEST_S, le=LARGEST_AMOUNT)]
    """How long one replay of all steps takes."""
    steps: Annotated[list[ReplayStep], msgspec.Meta(min_length=1)]
    """In order of time."""

    def __post_init__(self) -> None:
        """Refuse steps that overlap.

        Raises:
            ValueError: they do.
        """
        ends = [step.end_s for step in self.steps[:-1]]
        if any(step.begin_s < end for step, end in zip(self.steps[1:], ends, strict=True)):
            raise ValueError("has steps to replay that overlap")

    @property
    def steps_s(self) -> float:
        """Time of the profile that is replayed."""
        return sum(step.duration_s for step in self.steps)

    @property
    def compression(self) -> float:
        """How many seconds of the profile pass in one of the replay."""
        return self.steps_s / self.replay_s
