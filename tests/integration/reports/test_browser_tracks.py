"""Linked tracks in a real browser: drawn without a complaint, on paper and in the dark too."""

from pathlib import Path

import msgspec
import pytest
from tests.integration.reports.test_browser import Figures, complaints, opened
from tests.unit.reports.charts.test_tracks import tracks
from tests.unit.reports.synthetic import hostile, survey

from memgauge.analysis.section import Axis, Panel, Report, Series
from memgauge.reports.html.page import render

pytestmark = pytest.mark.browser


def page(report: Report) -> str:
    section = msgspec.structs.replace(report.sections[0], charts=[tracks(2000)])
    return render(msgspec.structs.replace(report, sections=[section]))


@pytest.mark.parametrize("flags", [(), ("--blink-settings=preferredColorScheme=0",)])
def test_tracks_are_drawn_without_a_complaint(
    browser: str, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    document, log = opened(browser, tmp_path, page(survey()), *flags)
    assert complaints(log) == []
    assert Figures(document).states == ["drawn"]
    assert "<canvas" in document


def test_text_of_a_stranger_in_tracks_runs_nothing(browser: str, tmp_path: Path) -> None:
    name = hostile().title
    series = Series(name=name, x=[0.0, 1.0, 2.0], y=[1.0, 2.0, 3.0])
    panel = Panel(y=Axis(title=name, unit=name), series=[name])
    report = hostile()
    section = msgspec.structs.replace(
        report.sections[0], charts=[tracks(series=[series], panels=[panel])]
    )
    source = render(msgspec.structs.replace(report, sections=[section]))
    document, log = opened(browser, tmp_path, source)
    assert complaints(log) == []
    assert Figures(document).states == ["drawn"]
