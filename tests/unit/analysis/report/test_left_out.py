from pathlib import Path

import msgspec
from tests.unit.model.build import records

from memgauge.analysis.report.left_out import left_out
from memgauge.analysis.report.run import analyse_run
from memgauge.model.records import Warning
from memgauge.model.run import Run
from memgauge.model.storage.run_file import RunWriter, read_run
from memgauge.reports.html.page import render as render_html
from memgauge.reports.terminal.report import render


def a_run(directory: Path, *reasons: tuple[str, str]) -> Run:
    path = directory / "run"
    with RunWriter(path) as writer:
        writer.write(records())
    warnings = [
        Warning(code="left-out", message=f"{name}: {reason}", experiment=name)
        for name, reason in reasons
    ]
    return msgspec.structs.replace(read_run(path), warnings=warnings)


def test_nothing_left_out_needs_no_section(tmp_path: Path) -> None:
    assert left_out(a_run(tmp_path)) is None


def test_every_reason_is_shown_once_under_the_title_of_its_experiment(tmp_path: Path) -> None:
    run = a_run(
        tmp_path,
        ("tiers", "one tier; name another with --b file:PATH"),
        ("interleave", "memory on one node only"),
        ("interleave", "memory on one node only"),
        ("numa", "memory on one node only"),
    )
    section = left_out(run)
    assert section is not None
    assert [verdict.text for verdict in section.verdicts] == [
        "Two memories in competition: one tier; name another with --b file:PATH.",
        "Interleave weights; NUMA matrices: memory on one node only.",
    ]
    report = analyse_run(run)
    assert not any("one tier" in verdict.text for verdict in report.verdicts), "said twice"
    assert "name another with --b file:PATH" in " ".join(render(report).split())
    assert "name another with --b file:PATH" in render_html(report)
