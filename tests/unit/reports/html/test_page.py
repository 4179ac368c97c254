import base64
import hashlib
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given, settings
from tests.unit.reports.strangers import reports
from tests.unit.reports.synthetic import hostile, survey

from memgauge.analysis.section import (
    Answer,
    AnswerFigure,
    AnswerLine,
    Cell,
    Column,
    Quality,
    Report,
    Section,
    Table,
    Verdict,
)
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.reports import cells
from memgauge.reports.charts import files as figures
from memgauge.reports.html.markup import table_block
from memgauge.reports.html.page import render

VOID = {"meta", "img", "br", "link", "hr", "input"}


class Page(HTMLParser):
    """Tags with attributes, text by element, and whether every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.said: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append((self.tags[-1][1], data))
        elif self.open and self.open[-1] != "style":
            self.said.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.said).split())

    def attributes(self, *names: str) -> Iterator[str]:
        for _, attributes in self.tags:
            yield from (attributes[name] or "" for name in names if name in attributes)


@pytest.fixture(scope="module")
def source() -> str:
    return render(survey())


@pytest.fixture(scope="module")
def page(source: str) -> Page:
    return Page(source)


def without_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "unavailable", lambda: "cannot draw charts: no wheel")


def test_every_element_is_closed_and_ids_are_unique(page: Page) -> None:
    assert page.open == []
    ids = list(page.attributes("id"))
    assert len(ids) == len(set(ids))


def test_every_estimate_appears_with_its_interval(page: Page) -> None:
    titles = set(page.attributes("title"))
    for table in (table for section in survey().sections for table in section.tables):
        for row in table.rows:
            for cell, column in zip(row, table.columns, strict=True):
                assert cells.centre(cell, column) in page.text
                if isinstance(cell, Estimate):
                    assert cells.spread(cell, column.unit) in page.text
                    assert f"95% interval: {cells.interval(cell, column)}" in titles


def test_every_chart_has_a_place_and_words(page: Page) -> None:
    charts = [chart for section in survey().sections for chart in section.charts]
    places = [attributes for _, attributes in page.tags if attributes.get("class") == "live"]
    assert len(places) == len(charts)
    for place, chart in zip(places, charts, strict=True):
        described = place["aria-label"] or ""
        assert place["role"] == "img"
        assert described.startswith(chart.title)
        assert all(series.name in described for series in chart.series)
        assert all(mark.label in described for mark in chart.marks)


def test_without_script_the_page_says_where_the_pictures_are(page: Page) -> None:
    assert any(tag == "noscript" for tag, _ in page.tags)
    assert "memgauge figures RUN writes the charts as pictures" in page.text


def test_tables_of_details_are_folded_and_their_rows_counted(page: Page) -> None:
    assert [tag for tag, _ in page.tags].count("details") == 1
    assert "Every point of the curves 33 rows" in page.text


def test_what_scrolls_sideways_can_be_reached_by_key(page: Page) -> None:
    scrolling = [attributes for _, attributes in page.tags if attributes.get("class") == "scroll"]
    assert scrolling
    assert all(one["tabindex"] == "0" and one["role"] == "region" for one in scrolling)


def test_nothing_is_fetched(page: Page) -> None:
    assert all(source.startswith("data:") for source in page.attributes("src", "srcset"))
    assert all(target.startswith("#") for target in page.attributes("href"))
    assert not list(page.attributes("style", "onclick", "onload", "onerror"))
    assert {"link", "iframe", "object", "embed", "base"}.isdisjoint(tag for tag, _ in page.tags)


def test_only_the_scripts_written_here_may_run(page: Page) -> None:
    policy = next(
        attributes["content"] or ""
        for tag, attributes in page.tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    code = [text for attributes, text in page.scripts if "type" not in attributes]
    assert len(code) == 2
    digests = {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in code}
    assert set(re.findall(r"'sha256-([^']+)'", policy)) == digests
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]


def test_the_page_is_small_enough_to_send(source: str) -> None:
    assert len(source.encode()) < 1_500_000


def test_the_page_can_be_read_aloud(page: Page) -> None:
    names = [tag for tag, _ in page.tags]
    assert ("html", {"lang": "en"}) in page.tags
    assert names.count("h1") == 1
    levels = [int(name[1]) for name in names if re.fullmatch("h[1-6]", name)]
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all("scope" in attributes for tag, attributes in page.tags if tag == "th")


def test_missing_reads_as_a_dash(page: Page) -> None:
    assert cells.MISSING in page.text
    assert "None" not in page.text
    assert "nan" not in page.text.split()


def test_hostile_text_is_text() -> None:
    source = render(hostile())
    page = Page(source)
    assert page.open == []
    assert "<script>alert" not in source
    assert "<script>alert(1)</script>" in page.text
    assert "\x1b" not in source
    assert "\u202e" not in source
    assert len(page.scripts) == 4


@settings(max_examples=40)
@given(reports)
def test_any_report_is_a_page(report: Report) -> None:
    page = Page(render(report))
    assert page.open == []
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)


def test_without_pictures_the_tables_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    without_charts(monkeypatch)
    page = Page(render(survey()))
    assert "No charts: cannot draw charts: no wheel." in page.text
    assert not page.scripts
    assert "Sustained bandwidth by STREAM's counting" in page.text


def test_a_report_of_any_size_is_a_page_that_can_be_opened() -> None:
    """Verdicts, rows and texts beyond what one reads are counted."""
    columns = [Column(title="what")]
    rows: list[list[Cell]] = [["x" * 100_000]]
    rows += [[str(at)] for at in range(50_000)]
    table = Table(name="t", title="T", columns=columns, rows=rows)
    verdicts = [Verdict(level="note", text="x" * 100_000) for _ in range(5000)]
    section = Section(name="s", title="S", question="?", tables=[table], verdicts=verdicts)
    page = render(msgspec.structs.replace(survey(), sections=[section], verdicts=verdicts))
    assert len(page) < 1_000_000
    assert "48,001 further rows are omitted here." in page
    assert "(98,000 more characters are left out)" in page
    assert page.count("4900 more remarks like these") == 2


def test_pictures_and_findings_come_first_and_conditions_unfold() -> None:
    section = survey().sections[0]
    found = Verdict(level="note", text="FOUND")
    lacking = [
        Verdict(level="warning", text=f"LACKING {at}", about="conditions") for at in range(3)
    ]
    section = msgspec.structs.replace(section, verdicts=[lacking[0], found])
    plain = msgspec.structs.replace(survey(), sections=[section], verdicts=lacking[1:])
    page = render(msgspec.structs.replace(plain, pictures_first=True))
    body = page[page.index("<main>") :]
    folded = body.index("3 remarks on the machine and the recording, 3 warnings among them")
    places = [body.index(what) for what in ("<figure", "FOUND", "<table", "LACKING 0")]
    assert places == sorted(places)
    assert places[-1] > folded
    assert "remarks on the machine" not in render(plain)
    assert Page(page).open == []


def test_the_answer_and_its_pictures_come_first_and_notes_unfold() -> None:
    known = survey()
    chart = next(chart for section in known.sections for chart in section.charts)
    answer = Answer(
        quality=Quality(grade="poor", reasons=["other <b>programs</b>"]),
        lines=[
            AnswerLine(
                label="Latency",
                figures=[AnswerFigure(name="DRAM", value=Estimate(90.0, 88.0, 92.0), unit="ns")],
                detail="idle",
            )
        ],
        next_steps=[Verdict(level="warning", text="Busy.", remedy="wait")],
        charts=[chart.name],
    )
    verdicts = [Verdict(level="note", text="A remark."), Verdict(level="problem", text="Broken.")]
    report = msgspec.structs.replace(known, answer=answer, verdicts=verdicts)
    page = Page(render(report))
    assert not page.open
    ids = [*page.attributes("id")]
    assert len(set(ids)) == len(ids)
    at = ids.index(next(one for one in ids if one.startswith("leading-chart-")))
    assert at < ids.index("section-1")
    assert "DRAM 90.0 ns" in page.text
    assert "poor other <b>programs</b>" in page.text.replace("poorother", "poor other")
    assert "Busy: wait" in page.text
    assert page.text.index("Busy: wait") < page.text.index("Broken.") < page.text.index("A remark.")
    folded = [attributes for tag, attributes in page.tags if tag == "details"]
    assert any("conditions" in (one.get("class") or "") for one in folded)


def test_of_one_section_pictures_beside_the_answer_are_not_drawn_twice() -> None:
    known = survey()
    section = next(one for one in known.sections if len(one.charts) > 1)
    first, *others = section.charts
    answer = Answer(quality=None, lines=[], next_steps=[], charts=[first.name])
    alone = msgspec.structs.replace(known, sections=[section], answer=answer, topology=None)
    drawn = [one for tag, one in Page(render(alone)).tags if tag == "figure"]
    assert [one["data-chart"] for one in drawn] == [str(at) for at in range(1 + len(others))]


def test_one_experiment_begins_with_key_figures_and_its_grade_and_folds_remarks() -> None:
    known = survey()
    opening = [AnswerLine(label="Loaded", figures=[AnswerFigure(name="", value=88.0)])]
    verdicts = [
        Verdict(level="warning", text="Busy."),
        Verdict(level="problem", text="Arrays differ."),
    ]
    page = Page(
        render(
            msgspec.structs.replace(
                known,
                verdicts=verdicts,
                headlines=[],
                opening=opening,
                quality=Quality(grade="poor", reasons=["others"]),
                pictures_first=True,
            )
        )
    )
    at = [page.text.index(what) for what in ("Loaded", "Quality", "Arrays differ.", "Busy.")]
    assert at == sorted(at)
    inside = "".join(page.said)
    assert "1 remark on the machine and the recording, 1 warning among them" in inside


def test_a_report_without_charts_needs_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "unavailable", lambda: pytest.fail("asked for the library"))
    section = msgspec.structs.replace(survey().sections[0], charts=[])
    assert "No charts" not in render(msgspec.structs.replace(survey(), sections=[section]))


def test_a_column_without_content_is_left_out_and_numbers_can_be_sorted() -> None:
    table = Table(
        name="t",
        title="T",
        columns=[Column(title="name"), Column(title="nothing"), Column(title="ns", unit="ns")],
        rows=[["a", None, Estimate(1.5, 1.25, 2.0)], ["b", "", 3]],
    )
    written = table_block(table, None)
    assert "nothing" not in written
    assert 'data-value="1.5" data-low="1.25" data-high="2"' in written
    assert 'data-value="3"' in written
    assert written.count('<th scope="col"') == 2


def test_a_wide_table_says_once_what_all_its_rows_share_and_keeps_it_to_be_copied() -> None:
    titles = ["name", "pages", *(f"figure {at}" for at in range(12))]
    interval = Estimate(1234.5, 1000.0, 1500.0)
    table = Table(
        name="t",
        title="T",
        columns=[Column(title=title) for title in titles],
        rows=[[name, "thp", *[interval] * 12] for name in ("a", "b")],
    )
    written = table_block(table, None)
    assert '<table class="tight">' in written
    assert "The same in every row: pages: thp." in written
    assert written.count("<td hidden>thp</td>") == 2
    assert written.count(" hidden>") == 3
    narrow = table_block(
        msgspec.structs.replace(
            table, columns=table.columns[:4], rows=[row[:4] for row in table.rows]
        ),
        None,
    )
    assert "tight" not in narrow
    assert "hidden" not in narrow
