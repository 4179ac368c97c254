"""The picture of a published range: places, words, and what an odd run does to it."""

from __future__ import annotations

import math
from xml.etree import ElementTree as ET

import msgspec
import pytest

from memgauge.analysis.section import Standing
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.reports.html.strip import standing_strip

STANDING = Standing(
    title="idle latency (block-random, thp pages)",
    value=Estimate(150.0, 145.0, 155.0),
    low=95.0,
    high=115.0,
    unit="ns",
    start=95.0,
    end=155.0,
    source="6 figures of 6 models",
)


def drawn(**changes: object) -> ET.Element:
    written = standing_strip(msgspec.structs.replace(STANDING, **changes))
    return ET.fromstring(written)  # noqa: S314 - made by the line above


def places(strip: ET.Element, role: str) -> list[float]:
    line = next(one for one in strip.iter("line") if one.get("class") == role)
    return [float(str(line.get(at)).removesuffix("%")) for at in ("x1", "x2")]


def words(strip: ET.Element) -> list[str | None]:
    return [one.text for one in strip.iter("text")]


def test_places_are_proportional_and_leave_room_for_the_ends() -> None:
    strip = drawn()
    assert places(strip, "published") == [20, 40]
    assert places(strip, "whisker") == [70, 80]
    assert places(strip, "mark") == [75, 75]
    assert words(strip) == ["this machine 150 ns \N{PLUS-MINUS SIGN}3.3%", "95", "115 ns"]


def test_the_picture_is_described_in_words_and_its_source_is_shown() -> None:
    strip = drawn()
    (picture,) = strip.iter("svg")
    assert picture.get("aria-label") == (
        "idle latency (block-random, thp pages): this machine 150 ns \N{PLUS-MINUS SIGN}3.3%; "
        "published 95 to 115 ns."
    )
    assert [one.text for one in strip.iter("span")] == [STANDING.title, STANDING.source]


def test_one_published_figure_has_one_number() -> None:
    strip = drawn(low=100.0, high=100.2)
    assert words(strip)[1:] == ["100 ns"]


@pytest.mark.parametrize("value", [math.inf, math.nan, 1e300, -5.0])
def test_no_figure_is_drawn_outside(value: float) -> None:
    strip = drawn(value=Estimate(value, value, value))
    assert all(20 <= place <= 80 for place in places(strip, "mark"))


def test_where_all_are_alike_the_mark_is_in_the_middle() -> None:
    strip = drawn(value=Estimate(95.0, 95.0, 95.0), high=95.0, end=95.0)
    assert places(strip, "mark") == [50, 50]


def test_words_of_a_run_are_escaped() -> None:
    assert "<b>" not in standing_strip(msgspec.structs.replace(STANDING, source="<b>&"))
