"""The page in a real browser: charts are drawn, nothing complains, nothing is fetched."""

import os
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.unit.reports.synthetic import hostile, survey

from memgauge.reports.html.page import render

pytestmark = pytest.mark.browser

MARKS = {"path", "line", "text"}


class Figures(HTMLParser):
    """For each figure its state and how many marks its live picture holds."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.states: list[str | None] = []
        self.marks: list[int] = []
        self.roles: list[set[str]] = []
        self._live = False
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "figure":
            self.states.append(attributes.get("data-state"))
            self.marks.append(0)
            self.roles.append(set())
            self._live = False
        elif tag == "div" and "live" in (attributes.get("class") or "").split():
            self._live = True
        elif self._live and tag in MARKS:
            self.marks[-1] += 1
        elif self._live and tag == "g":
            self.roles[-1] |= set((attributes.get("class") or "").split())

    def handle_endtag(self, tag: str) -> None:
        if tag == "figure":
            self._live = False


def opened(browser: str, directory: Path, source: str, *flags: str) -> tuple[str, str]:
    """The document after its scripts have run, and the browser's log."""
    page = directory / "report.html"
    page.write_text(source, encoding="utf-8")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    command = [
        browser,
        "--headless=new",
        *sandbox,
        "--disable-gpu",
        "--no-first-run",
        "--disable-extensions",
        f"--user-data-dir={directory / 'profile'}",
        "--enable-logging=stderr",
        "--virtual-time-budget=20000",
        *flags,
        "--dump-dom",
        page.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=True)
    return done.stdout, done.stderr


def complaints(log: str) -> list[str]:
    return [line for line in log.splitlines() if re.search(r"CONSOLE[:(]", line)]


@pytest.mark.parametrize("flags", [(), ("--blink-settings=preferredColorScheme=0",)])
def test_every_chart_is_drawn_without_a_complaint(
    browser: str, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    document, log = opened(browser, tmp_path, render(survey()), *flags)
    charts = [chart for section in survey().sections for chart in section.charts]
    found = Figures(document)
    assert complaints(log) == []
    assert found.states == ["drawn"] * len(charts)
    for chart, marks, roles in zip(charts, found.marks, found.roles, strict=True):
        assert marks > sum(len(series.x) for series in chart.series), chart.name
        assert roles & {"mark-symbol", "mark-rect"}, chart.name


def unhurried(source: str, then: str) -> str:
    """The page without its policy, where nothing is drawn for being near or when time is left."""
    script = f"""<script>
      window.requestIdleCallback = () => 0;
      IntersectionObserver.prototype.observe = () => 0;
      window.addEventListener("load", () => {{ {then} }});
    </script>"""
    policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
    assert policy.search(source)
    return policy.sub(script, source)


def test_all_is_drawn_and_unfolded_before_printing(browser: str, tmp_path: Path) -> None:
    printing = unhurried(render(survey()), 'window.dispatchEvent(new Event("beforeprint"));')
    document, log = opened(browser, tmp_path, printing)
    assert complaints(log) == []
    assert set(Figures(document).states) == {"drawn"}
    assert '<details class="table" open' in document


def test_what_is_far_waits(browser: str, tmp_path: Path) -> None:
    document, log = opened(browser, tmp_path, unhurried(render(survey()), ""))
    assert complaints(log) == []
    assert set(Figures(document).states) == {None}
    assert '<details class="table" open' not in document


def test_hostile_text_runs_nothing(browser: str, tmp_path: Path) -> None:
    document, log = opened(browser, tmp_path, render(hostile()))
    assert complaints(log) == []
    assert Figures(document).states == ["drawn"]
    assert "<script>alert" not in document


def test_a_complaint_would_be_seen(browser: str, tmp_path: Path) -> None:
    _, log = opened(browser, tmp_path, "<script>console.error('oh')</script>")
    assert len(complaints(log)) == 1


def test_a_script_of_a_stranger_would_not_run(browser: str, tmp_path: Path) -> None:
    script = "<script>document.title = 'run'</script></body>"
    document, log = opened(browser, tmp_path, render(survey()).replace("</body>", script))
    assert "<title>run" not in document
    assert any("Content Security Policy" in line for line in complaints(log))
