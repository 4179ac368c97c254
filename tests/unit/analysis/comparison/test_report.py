import json
import math
from pathlib import Path

import jsonschema
import msgspec
import pytest
from tests.unit.analysis.runs import records, system

from memgauge.analysis.comparison.document import COMPARISON_VERSION, comparison_document
from memgauge.analysis.comparison.figures import Source, of_reference, of_run
from memgauge.analysis.comparison.names import shortened
from memgauge.analysis.comparison.ratios import Comparison, compare
from memgauge.analysis.comparison.report import report_of
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.schema import comparison_schema
from memgauge.analysis.section import Report
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.run import run_of
from memgauge.model.storage.schema import schema_text
from memgauge.references.library import load
from memgauge.reports.terminal.report import render


@pytest.fixture(scope="module")
def run() -> Source:
    return of_run(figures_of(run_of(records())), "run")


@pytest.fixture(scope="module")
def nvdimm() -> Comparison:
    return compare([of_reference(load(name)) for name in ("nvdimm-dram", "nvdimm")])


def said(report: Report) -> list[str]:
    """All verdicts, as `level: text`."""
    verdicts = [*report.verdicts, *(v for section in report.sections for v in section.verdicts)]
    return [f"{verdict.level}: {verdict.text}" for verdict in verdicts]


def one_saying(report: Report, text: str) -> str:
    (found,) = [verdict for verdict in said(report) if text in verdict]
    return found


def test_two_machines_are_named_loudly(run: Source) -> None:
    other = msgspec.structs.replace(
        run, machine_id="other", run_id="b", traits=run.traits | {"processor": "Another Processor"}
    )
    verdict = one_saying(report_of(compare([run, other])), "These are two machines")
    assert verdict.startswith("warning: ")
    assert "A is Example Processor, B is Another Processor" in verdict


def test_what_changed_on_one_machine_is_named(run: Source) -> None:
    changed = run_of(records(of=system(kernel="Linux 7.0", thp="always")))
    other = msgspec.structs.replace(of_run(figures_of(changed), "b"), run_id="b")
    report = report_of(compare([run, other]))
    verdict = one_saying(report, "in a different state")
    assert "kernel: Linux 6.18 against Linux 7.0" in verdict
    assert "transparent huge pages: madvise against always" in verdict
    table = next(t for s in report.sections for t in s.tables if t.name == "differences")
    assert ["kernel", "Linux 6.18", "Linux 7.0"] in table.rows
    assert len(table.rows) == 2


def test_an_unchanged_machine_is_a_note_and_the_same_run_a_warning(run: Source) -> None:
    other = msgspec.structs.replace(run, run_id="b")
    assert one_saying(
        report_of(compare([run, other])), "its recorded properties are equal"
    ).startswith("note")
    assert one_saying(report_of(compare([run, run])), "the same run").startswith("warning")


def test_parameters_that_differ_are_named(run: Source) -> None:
    other = msgspec.structs.replace(
        run, run_id="b", settings=run.settings | {"stream: threads": "2"}
    )
    verdict = one_saying(report_of(compare([run, other])), "were made differently")
    assert "stream: threads: not set against 2" in verdict


def test_unknown_drift_is_loud_and_known_drift_is_reported(run: Source) -> None:
    unknown = msgspec.structs.replace(run, run_id="b", run_to_run_drift=None)
    known = msgspec.structs.replace(run, run_to_run_drift=0.012)
    report = report_of(compare([known, unknown]))
    assert one_saying(report, "cannot be estimated from B").startswith("warning: ")
    assert "was ±1.2% in A" in one_saying(report, "run-to-run drift of the machine was")


def test_published_sets_bring_their_caveats_and_no_verdicts(nvdimm: Comparison) -> None:
    report = report_of(nvdimm)
    assert one_saying(report, "A is a published result").startswith("warning: ")
    assert one_saying(report, "A and B: no interval and no spread is published")
    assert one_saying(report, "B: every element is reached through the library")
    assert report.status == "128 figures compared with A: 128 not known"


def test_chance_is_told_with_the_differences(run: Source) -> None:
    slow = msgspec.structs.replace(
        run,
        run_id="b",
        comparables=[
            msgspec.structs.replace(
                one,
                estimate=Estimate(
                    one.estimate.value / 2, one.estimate.low / 2, one.estimate.high / 2
                ),
            )
            if at == 0
            else one
            for at, one in enumerate(run.comparables)
        ],
    )
    report = report_of(compare([run, slow]))
    verdict = one_saying(report, "By chance alone")
    assert verdict.startswith("note: 1 figure of 134 differs between these two runs (0 faster, 1 ")
    assert "one run a side does not tell" in verdict
    (remedy,) = [v.remedy for v in report.sections[1].verdicts if "By chance" in v.text]
    assert remedy is not None
    assert "memgauge survey --repeat 3" in remedy
    assert "memgauge compare A1,A2,A3 B1,B2,B3" in remedy
    assert "1 different between two runs" in report.status


def test_the_terminal_shows_the_percentages_in_80_columns(nvdimm: Comparison) -> None:
    lines = render(report_of(nvdimm)).splitlines()
    assert max(map(len, lines)) <= 80
    rows = {line.split()[0]: line.split() for line in lines if line.startswith("copy/")}
    printed = load("nvdimm-difference")
    for threads, percent in zip(
        printed.column("threads"), printed.column("nvdimm_over_dram_percent"), strict=True
    ):
        assert float(rows[f"copy/{threads:.0f}t"][4]) == pytest.approx(percent, abs=0.051)


def test_a_run_beside_a_run_fits_80_columns(run: Source) -> None:
    lines = render(report_of(compare([run, run]))).splitlines()
    assert max(map(len, lines)) <= 80


def test_thread_sweeps_become_curves_and_published_ones_are_dotted(nvdimm: Comparison) -> None:
    charts = [chart for section in report_of(nvdimm).sections for chart in section.charts]
    assert len({chart.name for chart in charts}) == len(charts)
    assert [chart.kind for chart in charts] == ["line"] * 5
    assert all(len(series.x) == 32 for chart in charts for series in chart.series)
    assert all(series.dashed for chart in charts[:4] for series in chart.series)
    assert charts[4].rules[0].value == 1
    assert [series.name for series in charts[4].series] == ["copy", "scale", "add", "triad"]


def test_other_figures_become_bars_around_a_rule_at_one(run: Source) -> None:
    charts = [c for section in report_of(compare([run, run])).sections for c in section.charts]
    bars = [chart for chart in charts if chart.kind == "bar"]
    assert {name for chart in bars for series in chart.series for name in series.x} >= {
        "triad, tuned",
        "L1, random, thp",
    }
    assert all(chart.rules[0].value == 1 for chart in bars)
    assert len({chart.name for chart in charts}) == len(charts)


def test_working_sets_become_curves_over_footprints(run: Source) -> None:
    charts = [c for section in report_of(compare([run, run])).sections for c in section.charts]
    (curve,) = [chart for chart in charts if chart.title == "workingset/latency"]
    assert (curve.x.unit, curve.x.scale, curve.y.scale) == ("B", "log2", "log10")
    assert [series.name for series in curve.series] == ["A", "B"]
    assert list(curve.series[0].x) == sorted(curve.series[0].x)


def test_loaded_points_become_curves_of_latency_over_traffic() -> None:
    published = of_reference(load("hybrid12-loaded-latency"))
    report = report_of(compare([published, published]))
    charts = [chart for section in report.sections for chart in section.charts]
    (curve,) = [chart for chart in charts if chart.title == "mlc/loaded/100r"]
    table = load("hybrid12-loaded-latency")
    assert curve.series[0].y == table.column("latency_ns")[::-1]
    assert curve.series[1].x == pytest.approx(
        [mb / 1000 for mb in table.column("bandwidth_MBps")[::-1]]
    )
    assert not any("d00100" in str(x) for c in charts for s in c.series for x in s.x)


def test_three_sources_make_two_sections_against_the_first(run: Source) -> None:
    report = report_of(compare([run, run, of_reference(load("nvdimm-dram"))]))
    assert [section.title for section in report.sections] == [
        "Sources",
        "B against A",
        "C against A",
    ]


def test_everything_without_a_partner_is_on_the_page(run: Source) -> None:
    report = report_of(compare([run, of_reference(load("nvdimm-dram"))]))
    table = next(
        t for s in report.sections for t in s.tables if t.title == "Figures without a partner"
    )
    names = {row[0] for row in table.rows}
    assert "stream/triad/standard/double/32t" in names
    assert "latency/L1/random/thp" in names


def test_the_document_holds_what_the_report_shows(nvdimm: Comparison, run: Source) -> None:
    schema = comparison_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    for comparison in (nvdimm, compare([run, run])):
        made = json.loads(msgspec.json.encode(comparison_document(comparison)))
        jsonschema.Draft202012Validator(schema).validate(made)
        assert len(made["pairs"][0]["rows"]) == len(comparison.pairs[0].rows)
    first = json.loads(msgspec.json.encode(comparison_document(nvdimm)))["pairs"][0]["rows"][0]
    assert first["ratio"] == {"value": pytest.approx(5036.7 / 11673.5), "low": None, "high": None}
    assert first["verdict"] == "not known"


def test_the_published_schema_is_the_one_in_force() -> None:
    docs = Path(__file__).parents[4] / "docs"
    published = docs / "schema" / f"comparison-{COMPARISON_VERSION}.json"
    assert published.read_text() == schema_text(comparison_schema()), (
        f"publish it: memgauge schema --of comparison > docs/schema/{published.name}"
    )


def test_names_are_shortened_by_what_they_share() -> None:
    names = [f"stream/{kernel}/tuned/{n}t" for kernel in ("copy", "add") for n in (1, 2)]
    assert shortened(names) == ("stream/*/tuned/*", ["copy/1t", "copy/2t", "add/1t", "add/2t"])
    assert shortened(["stream/copy"]) == ("stream", ["copy"])
    assert shortened(["a/b", "a/b/c"]) == ("a", ["b", "b/c"])


def test_figures_without_an_interval_are_counted(run: Source) -> None:
    unknown = [
        msgspec.structs.replace(one, estimate=Estimate(one.estimate.value, 0.0, math.inf))
        for one in run.comparables
    ]
    one, all_ = [unknown[0], *run.comparables[1:]], unknown
    for comparables, begin in ((one, "1 figure has {} gets"), (all_, "figures have {} get")):
        other = msgspec.structs.replace(run, run_id="b", comparables=comparables)
        verdict = one_saying(report_of(compare([run, other])), "too few samples")
        few = "too few samples for an interval and"
        assert f"{begin.format(few)} no verdict: " in verdict
