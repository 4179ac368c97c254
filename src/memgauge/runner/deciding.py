"""Ends points whose analysis needs no more of them, where their experiment leaves that open."""

from __future__ import annotations

from collections.abc import Sequence

from memgauge.runner.point_progress import PointProgress


class Deciding:
    """Looks after a few numbers of rounds that are fixed in advance."""

    def __init__(self) -> None:
        self._due: int | None = None
        """None: there was no point that may end early."""

    def look(self, tracked: Sequence[PointProgress]) -> None:
        """Let points that are decided get no more rounds, and those measured with them.

        Args:
            tracked: All points.
        """
        open_ = [one for one in tracked if one.may_end_early]
        if not open_:
            return
        # Only a diagnosis pays for loading its analysis.
        from memgauge.analysis.diagnose.deciding import decided, next_look

        if self._due is None:
            self._due = next_look(0)
        rounds = max(one.history.taken for one in open_)
        if rounds < self._due:
            return
        while self._due <= rounds:
            self._due = next_look(self._due)
        names = decided(
            [one.point for one in open_], {one.point.point: one.samples for one in open_}
        )
        for progress in open_:
            if progress.point.point in names:
                for one in (progress, *progress.followers):
                    one.reached = True
