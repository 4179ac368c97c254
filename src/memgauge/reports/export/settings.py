"""Columns of what points requested and got: one for each name that some point has."""

from __future__ import annotations

from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point
from memgauge.model.run import Run


def setting_columns(run: Run) -> list[str]:
    """Names, those requested first, each in order."""
    requested = {f"requested.{name}" for point in run.points.values() for name in point.requested}
    actual = {f"actual.{name}" for point in run.points.values() for name in point.actual}
    return [*sorted(requested), *sorted(actual)]


def settings_of(point: Point) -> dict[str, Scalar]:
    """Those that a point has."""
    found = {f"requested.{name}": value for name, value in point.requested.items()}
    return found | {f"actual.{name}": value for name, value in point.actual.items()}
