"""What a job of the mini-app records of itself, beside the text forms of its parameters."""

from __future__ import annotations

from memgauge.model.points.facts import Facts


class JobRequested(Facts, frozen=True, kw_only=True):
    """What was requested, and where it runs."""

    ranks: int | None = None
    steps: str = ""
    """GRID:SIZE of each step of the job, between spaces."""
    nodes: str = ""
    """Such as `node17:0-3 node18:4-7`."""
    gpus: str = ""
    """Such as `0,2: GPU 0, NAME, PLACE; 1,3: GPU 1, NAME, PLACE`."""
    repetitions: str = ""
    scaling: str = ""
    device: str = ""
    tile: str = ""
    nests: str = ""
    """How re-sorts 1 and 3 are written; empty in records of earlier versions: fused."""
