"""Where names stand in a picture so that they hide little: places in pixels of the full width."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from memgauge.reports.charts.axes import x_ends
from memgauge.reports.charts.points import rows, y_numbers
from memgauge.reports.charts.theme import HEIGHT_PX, WIDTH_PX

if TYPE_CHECKING:
    from memgauge.analysis.section import Axis, Chart

Place = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom, in pixels of a picture of the full width."""

_FARTHER = 6
"""Points of a line that a name may hide rather than stand a line farther from its diamond."""

CHARACTER_PX = 7.0
LINE_PX = 16.0
_STEPS = 8
"""Between two points of a line, where a name that hides it is noticed."""

_CLEAR_PX = 11.0
"""Between the middle of a diamond and its name."""


class Side(msgspec.Struct, frozen=True):
    """Where a name stands beside its diamond."""

    align: str
    dx: float
    dy: float


class _Frame:
    """Where a point lies in a picture, about: axes end a little outside their points."""

    def __init__(self, chart: Chart) -> None:
        self._axes = chart.x, chart.y
        self._xs = x_ends(chart) or [1.0, 1.0]
        ys = y_numbers(chart) or [1.0]
        self._ys = [min(ys), max(ys)]

    def place(self, x: float, y: float) -> Place:
        """From the left and from the top."""
        across, up = self._axes
        left = along(across, x, *self._xs)
        return left * WIDTH_PX, (1 - along(up, y, *self._ys)) * HEIGHT_PX


_SIDES = [
    Side(align, dx, dy)
    for dy in (-13.0, 13.0, -29.0, 29.0)
    for align, dx in (("right", -_CLEAR_PX), ("left", _CLEAR_PX))
]
"""The nearest first."""


def placed(chart: Chart, at: list[tuple[float, float]], names: list[str]) -> list[Side]:
    """For each place the side where its name hides little.

    Args:
        chart: Chart whose lines the names should not hide.
        at: Places as x and y in units of the axes, not in pixels.
        names: The name beside each place, in the order of `at`.
    """
    frame = _Frame(chart)
    points = _inked(chart, frame)
    diamonds = [frame.place(x, y) for x, y in at]
    taken: list[Box] = []
    chosen = []
    for name, (x, y) in zip(names, diamonds, strict=True):
        boxes = [_box(x, y, side, len(name)) for side in _SIDES]
        costs = [_hidden(box, points, diamonds, taken) for box in boxes]
        best = min(range(len(_SIDES)), key=lambda at: costs[at] + _FARTHER * (at // 4))
        taken.append(boxes[best])
        chosen.append(_SIDES[best])
    return chosen


def corner(chart: Chart, names: list[str]) -> Place:
    """Left and top of names below each other in the corner that hides least."""
    width, height = max(map(len, names)) * CHARACTER_PX, len(names) * LINE_PX
    points = _inked(chart, _Frame(chart))
    corners = [
        (left, top) for top in (6.0, HEIGHT_PX - height - 6) for left in (8.0, WIDTH_PX - width - 8)
    ]
    return min(
        corners, key=lambda at: _under((at[0], at[1], at[0] + width, at[1] + height), points)
    )


def _inked(chart: Chart, frame: _Frame) -> list[Place]:
    """Places on the lines of the chart: their points and some between them."""
    found = []
    for before, after in pairwise(rows(chart)):
        x, y = frame.place(before["x"], before["y"])
        found.append((x, y))
        if before["segment"] == after["segment"]:
            to_x, to_y = frame.place(after["x"], after["y"])
            shares = [step / _STEPS for step in range(1, _STEPS)]
            found += [(x + share * (to_x - x), y + share * (to_y - y)) for share in shares]
    return found


def _box(x: float, y: float, side: Side, characters: int) -> Box:
    width = characters * CHARACTER_PX
    left = x + side.dx - (width if side.align == "right" else 0.0)
    top = y + side.dy - LINE_PX / 2
    return left, top, left + width, top + LINE_PX


def _hidden(box: Box, points: list[Place], diamonds: list[Place], taken: list[Box]) -> float:
    """What a name in that box costs: what it covers, other names, and what lies outside."""
    left, top, right, bottom = box
    crossed = sum(
        left < other[2] and other[0] < right and top < other[3] and other[1] < bottom
        for other in taken
    )
    outside = left < 0 or right > WIDTH_PX or top < 0 or bottom > HEIGHT_PX
    return _under(box, points) + 5 * _under(box, diamonds) + 20 * crossed + 40 * outside


def _under(box: Box, places: list[Place]) -> int:
    left, top, right, bottom = box
    return sum(left <= x <= right and top <= y <= bottom for x, y in places)


def along(axis: Axis, value: float, low: float, high: float) -> float:
    """How far between both ends a value lies, from 0 to 1, on the scale of its axis.

    Args:
        axis: Of the chart; its scale matters.
        value: In the unit of the axis, as are
        low: the one end
        high: and the other.
    """
    if axis.scale != "linear":
        low, high, value = math.log(low), math.log(high), math.log(value)
    elif axis.from_zero:
        low = min(low, 0.0)
    return (value / 2 - low / 2) / (high / 2 - low / 2) if low < high else 0.5
