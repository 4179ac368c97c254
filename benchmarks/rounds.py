"""Interleaved rounds and what is made of them: ratios with their spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles

from memgauge import _core

FAR_NS = 90.0
"""Between one-way times of cores that share a last-level cache and of those that do not."""


@dataclass
class Ratios:
    """Paired ratios of one comparison."""

    values: list[float] = field(default_factory=list)

    def text(self, digits: int = 2) -> str:
        """Median, and the middle half of the rounds."""
        if not self.values:
            return "-"
        middle = f"{median(self.values):.{digits}f}"
        if len(self.values) < 4:
            return f"{middle} ({min(self.values):.{digits}f}..{max(self.values):.{digits}f})"
        low, _, high = quantiles(self.values, n=4)
        return f"{middle} ({low:.{digits}f}..{high:.{digits}f}, n={len(self.values)})"


class Regime:
    """Names the distance of a team's cores."""

    def __init__(self, team: _core.Team) -> None:
        self._team = team

    def now(self) -> str:
        """near, far, or one for a single thread."""
        ns = self._team.pingpong_ns()
        return "one" if ns is None else "far" if ns > FAR_NS else "near"


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    rows = [list(header), ["---"] * len(header), *map(list, lines)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
