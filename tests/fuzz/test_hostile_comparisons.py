"""Runs of absurd values beside a sound one and a published set: refused, or compared and shown."""

import io
import os
from pathlib import Path

import msgspec
import pytest
from tests.fuzz.test_hostile_values import mutant
from tests.unit.model import build

from memgauge.analysis.comparison.document import comparison_document
from memgauge.analysis.comparison.figures import Source, of_reference, of_run
from memgauge.analysis.comparison.ratios import compare
from memgauge.analysis.comparison.report import report_of
from memgauge.analysis.comparison.sides import side_of
from memgauge.analysis.figures.run import figures_of
from memgauge.model.errors import RunFileError
from memgauge.model.run import run_of
from memgauge.model.storage.run_reader import read_stream
from memgauge.model.text import plain
from memgauge.references.library import load
from memgauge.reports.terminal.report import render

MUTANTS = int(os.environ.get("MEMGAUGE_FUZZ_MUTANTS", "150")) // 2


def use(sources: list[Source]) -> None:
    """Everything a user can do with a comparison but draw it."""
    comparison = compare(sources)
    shown = render(report_of(comparison))
    assert all(plain(line) == line for line in shown.splitlines())
    msgspec.json.encode(comparison_document(comparison))
    for pair in comparison.pairs:
        pair.slower_than(0.05)


def test_absurd_runs_are_refused_or_compared() -> None:
    sound = of_run(figures_of(run_of(build.records(3))), "sound")
    published = of_reference(load("nvdimm-dram"))
    used = 0
    for seed in range(MUTANTS):
        try:
            run = read_stream(io.BytesIO(mutant(seed)), Path("run"))
        except RunFileError:
            continue
        used += 1
        absurd = of_run(figures_of(run), "absurd")
        try:
            use([sound, absurd, published])
            use([absurd, sound])
            use([side_of([sound, absurd]), side_of([absurd, sound]), published])
            use([side_of([sound, sound, absurd]), absurd])
        except Exception as error:  # noqa: BLE001 - any is a failure, told with its seed
            pytest.fail(f"mutant {seed} cannot be compared: {error!r}")
    assert used > MUTANTS / 4
