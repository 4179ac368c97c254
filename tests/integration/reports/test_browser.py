"""The page in a real browser: charts are drawn, nothing complains, nothing is fetched."""

import csv
import json
import os
import re
import subprocess
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import msgspec
import pytest
from tests.unit.reports.synthetic import hostile, survey

from memgauge.analysis.section import Column, Table
from memgauge.analysis.statistics.estimate import Estimate
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


SORTING = """
  const table = [...document.querySelectorAll(".scroll > table")].find(
    (one) => one.querySelectorAll("tbody tr").length > 2 && one.querySelector("[data-value]"));
  const at = table.querySelector("[data-value]").cellIndex;
  const values = () => [...table.tBodies[0].rows].map((row) => Number(row.cells[at].dataset.value));
  const head = table.tHead.rows[0].cells[at];
  const said = [values()];
  for (let time = 0; time < 3; ++time) {
    head.querySelector(".sort").click();
    said.push(values(), head.getAttribute("aria-sort"));
  }
  document.body.dataset.said = JSON.stringify(said);
"""


def test_a_table_is_sorted_by_a_click_on_its_head(browser: str, tmp_path: Path) -> None:
    document, log = opened(browser, tmp_path, unhurried(render(survey()), SORTING))
    assert complaints(log) == []
    found = re.search(r'data-said="([^"]*)"', document)
    assert found
    usual, up, ascending, down, descending, last, none = json.loads(unescape(found[1]))
    assert (ascending, descending, none) == ("ascending", "descending", None)
    assert up == sorted(usual)
    assert down == sorted(usual, reverse=True)
    assert last == usual


SAVING = """
  const saved = [];
  HTMLAnchorElement.prototype.click = function () { saved.push([this.download, this.href]); };
  Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) =>
    saved.push(["copied", text]) } });
  document.querySelector(".table .links button").click();
  window.setTimeout(async () => {
    const figure = document.querySelector("figure[data-chart]");
    window.dispatchEvent(new Event("beforeprint"));
    while (!figure.querySelector(".links")) await new Promise((then) => setTimeout(then, 50));
    for (const one of figure.querySelectorAll(".links button")) {
      one.click();
      await new Promise((then) => setTimeout(then, 300));
    }
    document.body.dataset.said = JSON.stringify(saved.map(([n, u]) => [n, u.slice(0, 4000)]));
  }, 0);
"""


def test_tables_are_copied_and_charts_are_saved(browser: str, tmp_path: Path) -> None:
    document, log = opened(browser, tmp_path, unhurried(render(survey()), SAVING))
    assert complaints(log) == []
    found = re.search(r'data-said="([^"]*)"', document)
    assert found
    saved = json.loads(unescape(found[1]))
    names = [name for name, _ in saved]
    assert names[0] == "copied"
    rows = list(csv.reader(saved[0][1].splitlines()))
    assert len({len(row) for row in rows}) == 1
    assert {"png", "svg", "csv"} == {name.rpartition(".")[2] for name in names[1:]}
    of = {name.rpartition(".")[2]: url for name, url in saved[1:]}
    assert of["png"].startswith("data:image/png")
    points = unquote(of["csv"].partition(",")[2]).splitlines()
    assert points[0] == "series,x,y,low,high"
    assert len(points) > 2


MEASURING = """
  document.querySelectorAll("details").forEach((one) => (one.open = true));
  document.body.dataset.said = JSON.stringify([...document.querySelectorAll(".scroll")]
    .filter((one) => one.querySelector("table"))
    .map((one) =>
      [one.querySelectorAll("th[scope=col]").length, one.scrollWidth, one.clientWidth]));
"""


def test_wide_tables_are_not_cut_on_a_usual_screen(browser: str, tmp_path: Path) -> None:
    report = survey()
    interval = Estimate(1234.5, 1000.0, 1500.0)
    titles = ["kernel", *(f"some figure {at}" for at in range(13))]
    wide = Table(
        name="wide",
        title="Wide",
        columns=[Column(title=title, unit="GB/s") for title in titles],
        rows=[[name, *[interval] * 13] for name in ("copy", "triad")],
    )
    section = msgspec.structs.replace(report.sections[0], tables=[wide])
    page = render(msgspec.structs.replace(report, sections=[section]))
    document, log = opened(browser, tmp_path, unhurried(page, MEASURING), "--window-size=1280,900")
    assert complaints(log) == []
    found = re.search(r'data-said="([^"]*)"', document)
    assert found
    measured = json.loads(unescape(found[1]))
    assert max(columns for columns, _, _ in measured) == len(titles)
    assert all(needed <= there for _, needed, there in measured)
