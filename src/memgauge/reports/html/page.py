"""A report as one HTML file that opens without a network: style, script and data are inside.

A run is untrusted data: its text is escaped, and a Content-Security-Policy lets the page run
only the scripts written here (by their digest) and fetch nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from memgauge.analysis.section import Answer
from memgauge.model.errors import RequestError
from memgauge.model.text import plain
from memgauge.reports import cells
from memgauge.reports.charts import files as figures
from memgauge.reports.charts.theme import config
from memgauge.reports.html.escaped import text
from memgauge.reports.html.markup import (
    answer_block,
    answer_lines,
    folded_list,
    headline_item,
    table_block,
    verdict_list,
)
from memgauge.reports.severity import apart

if TYPE_CHECKING:
    from memgauge.analysis.section import Chart, Report, Section, Verdict

_MOST_SIDE_BY_SIDE = 6
_MOST_COLUMNS = 6
_MOST_MARKS = 2
"""Series, columns and marks of a chart that is legible in half the page's width."""

_NO_SCRIPT = """<noscript>
<p class="aside">The charts of this page need JavaScript, which is disabled here. The tables contain
the same figures, and <code>memgauge figures RUN</code> writes the charts as pictures.</p>
</noscript>"""

_METHOD = (
    (
        "Figures",
        (
            "Bandwidths are sustained figures: the 90th percentile of speed over many short "
            "slices, sampled in turn with all other points. They count bytes as STREAM does: what "
            "the kernel reads and writes by its definition, without write-allocate traffic, "
            "unless a column or the line below a table states otherwise."
        ),
    ),
    (
        "Intervals",
        (
            "\N{PLUS-MINUS SIGN} is half the 95% interval, as a share of the figure{requested}: "
            "the exact interval of a quantile by order statistics of this run's samples, which "
            "are spread over the whole run. Figures marked * are less precise than requested. "
            "Hover over an interval to see both ends."
        ),
    ),
    (
        "Missing",
        (
            "A dash means that a value was not measured. Missing values are never shown as zero, "
            "and lines break where a point is missing."
        ),
    ),
    (
        "Units",
        (
            "1 GB/s is 1,000,000,000 bytes a second, as in STREAM and in data sheets of "
            "memory. KiB, MiB and GiB are powers of 1024. Latency is load-to-use, in "
            "nanoseconds."
        ),
    ),
    (
        "More",
        (
            "The documentation of memgauge has a page on each experiment: its method, the source "
            "of the method, and what would invalidate the result."
        ),
    ),
)


def render(report: Report) -> str:
    """The whole page. Where charts cannot be drawn, it says so and shows the tables."""
    charts = [chart for section in report.sections for chart in section.charts]
    topology = "" if report.topology is None else _chart(len(charts), report.topology)
    charts += [] if report.topology is None else [report.topology]
    scripts, missing = _drawn_by(charts)
    conditions = _conditions(report)
    body = "\n".join(
        [
            _header(report),
            "<main>",
            _NO_SCRIPT if scripts else "",
            _top(report, missing),
            *_sections(report, missing),
            folded_list(conditions),
            _system(report, "" if missing else topology),
            _method(report),
            "</main>",
            _footer(report),
            *(f"<script{attributes}>{code}</script>" for attributes, code in scripts),
        ]
    )
    return f"{_head(report, scripts)}\n<body>\n{body}\n</body>\n</html>\n"


def _asset(name: str) -> str:
    return (resources.files("memgauge.reports") / "assets" / name).read_text(encoding="utf-8")


def _head(report: Report, scripts: list[tuple[str, str]]) -> str:
    digests = [f"'sha256-{_digest(code)}'" for attributes, code in scripts if not attributes]
    policy = (
        f"default-src 'none'; script-src {' '.join(digests) or chr(39) + 'none' + chr(39)}; "
        "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="memgauge">
<title>{text(report.title)}: {text(report.machine)}</title>
<style>
{_asset("report.css")}</style>
<noscript><style>figure[data-chart] {{ display: none; }}</style></noscript>
</head>"""


def _digest(code: str) -> str:
    return base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()


def _drawn_by(charts: list[Chart]) -> tuple[list[tuple[str, str]], str | None]:
    """The scripts that draw the charts, or why there are none."""
    if not charts:
        return [], None
    missing = figures.unavailable()
    if missing:
        return [], missing
    try:
        return _scripts(charts), None
    except RequestError as error:
        return [], str(error)


def _scripts(charts: list[Chart]) -> list[tuple[str, str]]:
    """Attributes and text of each script: two of data, then the libraries, then the page's own."""
    specifications = [figures.vega_lite(chart, fill_container=True) for chart in charts]
    for specification in specifications:
        del specification["config"]
    themes = {"light": config(dark=False), "dark": config(dark=True)}
    libraries = figures.javascript()
    return [
        (' type="application/json" id="charts"', _embedded(specifications)),
        (' type="application/json" id="themes"', _embedded(themes)),
        ("", libraries.replace("</script", "<\\/script").replace("<!--", "<\\!--")),
        ("", _asset("report.js")),
    ]


def _embedded(data: object) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _header(report: Report) -> str:
    links = "".join(
        f'<a href="#{_anchor(at)}">{text(section.title)}</a>'
        for at, section in enumerate(report.sections)
    )
    state = "status" if report.complete else "status incomplete"
    return f"""<header>
<h1>{text(report.title)}</h1>
<p class="machine">{text(report.machine)}</p>
<p class="{state}">{text(report.status)}</p>
</header>
<nav aria-label="Sections">
{links}<a href="#machine">Machine</a><a href="#method">Method</a>
</nav>"""


def _anchor(at: int) -> str:
    return f"section-{at + 1}"


def _top(report: Report, missing: str | None) -> str:
    if report.answer is not None:
        # What was not alike stands among the steps of a comparison already.
        folds = {"note"} if report.answer.quality is not None else {"note", "warning"}
        notes = [one for one in report.verdicts if one.level in folds]
        graver = [one for one in report.verdicts if one.level not in folds]
        answer = _answer(report, report.answer, missing)
        return answer + verdict_list(graver) + folded_list(notes)
    opening = report.sections[0].opening if report.sections else []
    if opening:
        return answer_lines(opening) + verdict_list(_shown(report, report.verdicts))
    # Beside earlier runs of the machine the headlines say more.
    if report.opening and not any(one.between for one in report.headlines):
        return _key_figures(report)
    strip = "".join(headline_item(headline, report.precision) for headline in report.headlines)
    headlines = f'<dl class="headlines">{strip}</dl>' if strip else ""
    return headlines + verdict_list(_shown(report, report.verdicts))


def _key_figures(report: Report) -> str:
    """Those of one experiment with the grade of the run, which says what the folded verdicts do."""
    shown = _shown(report, report.verdicts)
    grave = [one for one in shown if one.level == "problem"]
    others = [one for one in shown if one.level != "problem"]
    block = answer_block(Answer(quality=report.quality, lines=report.opening, next_steps=[]))
    return block + verdict_list(grave) + folded_list(others)


def _shown(report: Report, verdicts: list[Verdict]) -> list[Verdict]:
    """Those that are not folded."""
    return apart(verdicts)[0] if report.pictures_first else verdicts


def _conditions(report: Report) -> list[Verdict]:
    """Those that are folded, of all sections."""
    if not report.pictures_first:
        return []
    every = [*report.verdicts, *(one for section in report.sections for one in section.verdicts)]
    return apart(every)[1]


def _answer(report: Report, answer: Answer, missing: str | None) -> str:
    """The answer and its pictures, which of several sections also stand in theirs."""
    charts = [chart for section in report.sections for chart in section.charts]
    leading = [(at, chart) for at, chart in enumerate(charts) if chart.name in answer.charts]
    drawn = "" if missing else "".join(_chart(at, chart, leads=True) for at, chart in leading)
    pictures = f'<div class="charts several">{drawn}</div>' if drawn else ""
    return answer_block(answer) + pictures


def _sections(report: Report, missing: str | None) -> list[str]:
    written = []
    first = 0
    for at, section in enumerate(report.sections):
        written.append(_section(at, section, first, report, missing))
        first += len(section.charts)
    return written


def _section(
    at: int, section: Section, first_chart: int, report: Report, missing: str | None
) -> str:
    anchor = _anchor(at)
    if missing and section.charts:
        drawn = f'<p class="aside">No charts: {text(missing)}.</p>'
    else:
        shown = [
            (first_chart + n, chart)
            for n, chart in enumerate(section.charts)
            if not _is_above(chart, report)
        ]
        drawn = "".join(_chart(at, chart) for at, chart in shown)
        several = len(shown) > 1 and not any(_is_crowded(chart) for _, chart in shown)
        drawn = f'<div class="charts{" several" * several}">{drawn}</div>' if drawn else ""
    tables = "".join(table_block(table, report.precision) for table in section.tables)
    verdicts = verdict_list(_shown(report, section.verdicts))
    body = (drawn, verdicts) if report.pictures_first else (verdicts, drawn)
    return f"""<section id="{anchor}" aria-labelledby="{anchor}-title">
<h2 id="{anchor}-title">{text(section.title)}</h2>
<p class="question">{text(section.question)}</p>
{"".join(body)}
{tables}
</section>"""


def _is_above(chart: Chart, report: Report) -> bool:
    """Whether it stands beside the answer, right above the only section, which has it no more."""
    return (
        len(report.sections) == 1
        and report.answer is not None
        and chart.name in report.answer.charts
    )


def _chart(at: int, chart: Chart, *, leads: bool = False) -> str:
    """An element that the page's script draws into, with a text alternative."""
    prefix = "leading-" if leads else ""
    described = escape(_description(chart))
    note = f'<p class="aside">{text(chart.note)}</p>' if chart.note else ""
    live = f'<div class="live" role="img" aria-label="{described}"></div>'
    if chart.kind == "heatmap":
        title = text(chart.title)
        live = f'<div class="scroll" tabindex="0" role="region" aria-label="{title}">{live}</div>'
    return f"""<figure id="{prefix}chart-{at + 1}" data-chart="{at}">
<figcaption><h3>{text(chart.title)}</h3></figcaption>
{live}{note}
</figure>"""


def _is_crowded(chart: Chart) -> bool:
    columns = {x for series in chart.series for x in series.x} if chart.kind == "heatmap" else ()
    return (
        len(chart.series) > _MOST_SIDE_BY_SIDE
        or len(columns) > _MOST_COLUMNS
        or len(chart.marks) > _MOST_MARKS
    )


def _description(chart: Chart) -> str:
    """Text for screen readers: axes, each series' ends, marks; the tables contain the figures."""
    said = [f"{chart.title}: {chart.y.title} ({chart.y.unit}) over {chart.x.title}."]
    if chart.kind == "boxes":
        words = ("; ".join([box.title, *box.lines]) for box in chart.boxes)
        said = [f"{chart.title}: boxes in boxes, from the outside in: {'. '.join(words)}."]
    if chart.kind == "tracks":
        said = [f"{chart.title}: tracks over {chart.x.title}, {len(chart.bands)} phases marked."]
    for series in chart.series:
        ys = [y for y in series.y if y is not None]
        if ys:
            low, high = cells.number(min(ys), 1), cells.number(max(ys), 1)
            said.append(f"{series.name}: {len(ys)} points from {low} to {high}.")
    for mark in chart.marks:
        x, y = cells.number(mark.x, 1), cells.number(mark.y, 1)
        said.append(f"Marked: {mark.label}, at {x} {chart.x.unit} and {y} {chart.y.unit}.")
    return plain(" ".join(said))


def _system(report: Report, topology: str) -> str:
    tiers = "" if report.tiers is None else table_block(report.tiers, None)
    return f"""<section id="machine" aria-labelledby="machine-title">
<h2 id="machine-title">Machine</h2>
<p class="question">The machine as the operating system reported it when the run began.</p>
{f'<div class="charts">{topology}</div>' if topology else ""}
{table_block(report.system, None, titled=False)}
{tiers}
</section>"""


def _method(report: Report) -> str:
    requested = "" if report.precision is None else f" ({_requested(report.precision)} requested)"
    notes = [(title, said.format(requested=requested)) for title, said in _METHOD]
    written = "".join(f"<dt>{title}</dt><dd>{escape(said)}</dd>" for title, said in notes)
    return f"""<section id="method" aria-labelledby="method-title">
<h2 id="method-title">How to read this</h2>
<dl class="method">{written}</dl>
</section>"""


def _requested(precision: float) -> str:
    return f"{cells.number(100 * precision, 1).removesuffix('.0')}%"


def _footer(report: Report) -> str:
    started = f", started {text(report.started_at)}" if report.started_at else ""
    return f"""<footer>
<p>Run <code>{text(report.run_id)}</code>{started}. Made by memgauge;
every raw sample is in the run directory.</p>
</footer>"""
