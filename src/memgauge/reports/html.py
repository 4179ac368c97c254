"""A report as one HTML file that opens without a network: style, script and data are inside.

A run is data from a stranger: its text is escaped, and a Content-Security-Policy lets the page run
only the scripts written here (by their digest) and fetch nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from memgauge.analysis.section import Column, Estimate
from memgauge.model.errors import RequestError
from memgauge.model.text import plain
from memgauge.reports import cells, figures
from memgauge.reports.theme import config

if TYPE_CHECKING:
    from memgauge.analysis.section import (
        Cell,
        Chart,
        Headline,
        Report,
        Section,
        Table,
        Verdict,
    )

_SYMBOLS = {"problem": "✗", "warning": "!", "note": "·", "good": "✓"}
_SEVERITY = list(_SYMBOLS)


_LONG_CELL = 32
_LONG_FACT = 16
"""Characters beyond which a cell of words wraps, in a table and in one of just two columns."""

_MOST_SIDE_BY_SIDE = 6
"""Series of a chart that is legible in half the page's width."""

_METHOD = (
    (
        "Figures",
        (
            "Bandwidths are sustained figures: the 90th percentile of speed over many short "
            "slices, visited in turn with all other points. They count bytes as STREAM does: "
            "what the kernel reads and writes by its definition, without write-allocate "
            "traffic, unless a column says otherwise."
        ),
    ),
    (
        "Intervals",
        (
            "\N{PLUS-MINUS SIGN} is half the 95% interval, bootstrapped over rounds, as a share "
            "of the figure{asked}. Figures marked * are less sure than asked. Hover over an "
            "interval to see both ends."
        ),
    ),
    (
        "Missing",
        (
            "A dash stands for what was not measured. It is never shown as zero, and lines "
            "break where a point is missing."
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
            "The documentation of memgauge has a page per experiment: its method, where the "
            "method comes from, and what would invalidate the answer."
        ),
    ),
)


def render(report: Report) -> str:
    """The whole page. Where charts cannot be drawn, it says so and shows the tables."""
    missing = figures.unavailable()
    charts = [chart for section in report.sections for chart in section.charts]
    scripts = [] if missing or not charts else _scripts(charts)
    body = "\n".join(
        [
            _header(report),
            "<main>",
            _top(report),
            *_sections(report, missing),
            _system(report),
            _method(report),
            "</main>",
            _footer(report),
            *(f"<script{attributes}>{code}</script>" for attributes, code in scripts),
        ]
    )
    return f"{_head(report, scripts)}\n<body>\n{body}\n</body>\n</html>\n"


def _text(text: str) -> str:
    return escape(plain(text))


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
<title>{_text(report.title)}: {_text(report.machine)}</title>
<style>
{_asset("report.css")}</style>
</head>"""


def _digest(code: str) -> str:
    return base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()


def _scripts(charts: list[Chart]) -> list[tuple[str, str]]:
    """Attributes and text of each script: two of data, then the libraries, then the page's own."""
    specifications = [figures.vega_lite(chart, fill_container=True) for chart in charts]
    for specification in specifications:
        del specification["config"]
    themes = {"light": config(dark=False), "dark": config(dark=True)}
    libraries = figures.javascript("window.vegaEmbed = vegaEmbed;")
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
        f'<a href="#{_anchor(at)}">{_text(section.title)}</a>'
        for at, section in enumerate(report.sections)
    )
    state = "status" if report.complete else "status incomplete"
    return f"""<header>
<h1>{_text(report.title)}</h1>
<p class="machine">{_text(report.machine)}</p>
<p class="{state}">{_text(report.status)}</p>
<nav aria-label="Sections">{links}<a href="#machine">Machine</a><a href="#method">Method</a></nav>
</header>"""


def _anchor(at: int) -> str:
    return f"section-{at + 1}"


def _top(report: Report) -> str:
    strip = "".join(_headline(headline, report.precision) for headline in report.headlines)
    headlines = f'<dl class="headlines">{strip}</dl>' if strip else ""
    return headlines + _verdicts(report.verdicts)


def _headline(headline: Headline, precision: float | None) -> str:
    column = Column(title=headline.label, unit=headline.unit, digits=headline.digits)
    figure = _figure(headline.value, column, precision)
    if headline.unit not in {None, "B"} and headline.value is not None:
        value, *around = figure.split('<span class="spread"', 1)
        unit = f' <span class="unit">{_text(headline.unit or "")}</span>'
        figure = value + unit + "".join(f'<span class="spread"{rest}' for rest in around)
    detail = f'<dd class="detail">{_text(headline.detail)}</dd>' if headline.detail else ""
    label = f"<dt>{_text(headline.label)}</dt>"
    return f'<div class="headline">{label}<dd class="figure">{figure}</dd>{detail}</div>'


def _verdicts(verdicts: list[Verdict]) -> str:
    if not verdicts:
        return ""
    ranked = sorted(verdicts, key=lambda verdict: _SEVERITY.index(verdict.level))
    return f'<ul class="verdicts">{"".join(map(_verdict, ranked))}</ul>'


def _verdict(verdict: Verdict) -> str:
    remedy = f'<p class="remedy">{_text(verdict.remedy)}</p>' if verdict.remedy else ""
    level = verdict.level
    return (
        f'<li class="verdict {level}">'
        f'<span class="level" data-symbol="{_SYMBOLS[level]}">{level}</span>'
        f"<div><p>{_text(verdict.text)}</p>{remedy}</div></li>"
    )


def _sections(report: Report, missing: str | None) -> list[str]:
    written = []
    first = 0
    for at, section in enumerate(report.sections):
        written.append(_section(at, section, first, report.precision, missing))
        first += len(section.charts)
    return written


def _section(
    at: int, section: Section, first_chart: int, precision: float | None, missing: str | None
) -> str:
    anchor = _anchor(at)
    if missing and section.charts:
        drawn = f'<p class="aside">No pictures: {_text(missing)}.</p>'
    else:
        drawn = "".join(_chart(first_chart + n, chart) for n, chart in enumerate(section.charts))
        crowded = any(len(chart.series) > _MOST_SIDE_BY_SIDE for chart in section.charts)
        several = " several" if len(section.charts) > 1 and not crowded else ""
        drawn = f'<div class="charts{several}">{drawn}</div>' if drawn else ""
    tables = "".join(_table(table, precision) for table in section.tables)
    return f"""<section id="{anchor}" aria-labelledby="{anchor}-title">
<h2 id="{anchor}-title">{_text(section.title)}</h2>
<p class="question">{_text(section.question)}</p>
{_verdicts(section.verdicts)}
{drawn}
{tables}
</section>"""


def _chart(at: int, chart: Chart) -> str:
    """The still picture shows at once, without script and on paper; the live one replaces it."""
    try:
        still = base64.b64encode(figures.svg(chart).encode()).decode()
    except RequestError as error:
        reason = f'<p class="aside">{_text(str(error))}</p>'
        return f"<figure><h3>{_text(chart.title)}</h3>{reason}</figure>"
    described = escape(_description(chart))
    note = f'<p class="aside">{_text(chart.note)}</p>' if chart.note else ""
    return f"""<figure id="chart-{at + 1}" data-chart="{at}">
<figcaption><h3>{_text(chart.title)}</h3></figcaption>
<img alt="{described}" src="data:image/svg+xml;base64,{still}">
<div class="live" role="img" aria-label="{described}"></div>{note}
</figure>"""


def _description(chart: Chart) -> str:
    """What a screen reader says: the axes and each series' ends; the tables hold the figures."""
    said = [f"{chart.title}: {chart.y.title} ({chart.y.unit}) over {chart.x.title}."]
    for series in chart.series:
        ys = [y for y in series.y if y is not None]
        if ys:
            low, high = cells.number(min(ys), 1), cells.number(max(ys), 1)
            said.append(f"{series.name}: {len(ys)} points from {low} to {high}.")
    return plain(" ".join(said))


def _table(table: Table, precision: float | None, *, titled: bool = True) -> str:
    numeric = [cells.is_numeric(row[at] for row in table.rows) for at in range(len(table.columns))]
    heads = "".join(
        f'<th scope="col"{" class=number" if figures_ else ""}>{_column_head(column)}</th>'
        for column, figures_ in zip(table.columns, numeric, strict=True)
    )
    rows = "".join(_row(table, row, numeric, precision) for row in table.rows)
    note = f'<p class="aside">{_text(table.note)}</p>' if table.note else ""
    title = _text(table.title)
    heading = f"<h3>{title}</h3>" if titled else ""
    if not table.rows:
        return f'<div class="table">{heading}<p class="aside">Nothing was measured.</p></div>'
    return f"""<div class="table">{heading}
<div class="scroll" tabindex="0" role="region" aria-label="{title}">
<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>
</div>{note}
</div>"""


def _column_head(column: Column) -> str:
    if column.unit in {None, "", "B"}:
        return _text(column.title)
    return f'{_text(column.title)} <span class="unit">({_text(column.unit or "")})</span>'


def _row(table: Table, row: list[Cell], numeric: list[bool], precision: float | None) -> str:
    written = []
    long = _LONG_CELL if len(table.columns) > 2 else _LONG_FACT
    for at, (cell, column) in enumerate(zip(row, table.columns, strict=True)):
        classes = ["number"] if numeric[at] else []
        if cells.is_wide(cell, column, precision):
            classes.append("wide")
        if isinstance(cell, str) and len(cell) > long:
            classes.append("words")
        attribute = f' class="{" ".join(classes)}"' if classes else ""
        figure = _figure(cell, column, precision)
        head = at == 0 and not numeric[at]
        tag, scope = ("th", ' scope="row"') if head else ("td", "")
        written.append(f"<{tag}{scope}{attribute}>{figure}</{tag}>")
    return f"<tr>{''.join(written)}</tr>"


def _figure(cell: Cell, column: Column, precision: float | None) -> str:
    """A cell: its value, and behind it the interval, whose ends show on hover."""
    value = _text(cells.centre(cell, column))
    if cell is None:
        return f'<span class="missing" title="not measured">{value}</span>'
    if not isinstance(cell, Estimate):
        return value
    mark = cells.WIDE_MARK if cells.is_wide(cell, column, precision) else ""
    around = _text(cells.spread(cell, column.unit)) + mark
    ends = _text(f"95% interval: {cells.interval(cell, column)}")
    return f'{value}<span class="spread" title="{ends}">{around}</span>'


def _system(report: Report) -> str:
    return f"""<section id="machine" aria-labelledby="machine-title">
<h2 id="machine-title">Machine</h2>
<p class="question">What the operating system told when the run began.</p>
{_table(report.system, None, titled=False)}
</section>"""


def _method(report: Report) -> str:
    asked = "" if report.precision is None else f" ({_asked(report.precision)} asked)"
    notes = [(title, said.format(asked=asked)) for title, said in _METHOD]
    written = "".join(f"<dt>{title}</dt><dd>{escape(said)}</dd>" for title, said in notes)
    return f"""<section id="method" aria-labelledby="method-title">
<h2 id="method-title">How to read this</h2>
<dl class="method">{written}</dl>
</section>"""


def _asked(precision: float) -> str:
    return f"{cells.number(100 * precision, 1).removesuffix('.0')}%"


def _footer(report: Report) -> str:
    return f"""<footer>
<p>Run <code>{_text(report.run_id)}</code>, started {_text(report.started_at)}. Made by memgauge;
every raw sample is in the run directory.</p>
</footer>"""
