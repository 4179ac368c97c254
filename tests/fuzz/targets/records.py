"""A file of records: refused, or analysed, shown, compared and exported."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec
from tests.fuzz.invariants import check_refusal, check_shown, one_in, use_run
from tests.unit.analysis import runs
from tests.unit.model import build

from memgauge.analysis.comparison.document import comparison_document
from memgauge.analysis.comparison.figures import Source, of_run
from memgauge.analysis.comparison.ratios import compare
from memgauge.analysis.comparison.report import report_of
from memgauge.analysis.figures.run import figures_of
from memgauge.model.errors import RunFileError
from memgauge.model.run import Run, run_of
from memgauge.model.storage.codec import encode
from memgauge.model.storage.run_reader import read_stream

IS_JSON = True


def seeds() -> Iterator[bytes]:
    """A small run, and a survey of two rounds."""
    yield b"".join(map(encode, build.records(1)))
    yield b"".join(map(encode, build.records(3)))
    yield b"".join(map(encode, runs.records(rounds=2)))


def run(data: bytes) -> None:
    """Read, and use what comes out."""
    try:
        found = read_stream(io.BytesIO(data), Path("run"))
    except RunFileError as error:
        check_refusal(error)
        return
    use_run(found, data)
    if one_in(4, data):
        use_beside_another(found)


def use_beside_another(found: Run) -> None:
    """A run as baseline and as what is compared with one."""
    mine = of_run(figures_of(found), "this")
    for sources in ([mine, _sound()], [_sound(), mine]):
        comparison = compare(sources)
        check_shown(report_of(comparison))
        msgspec.json.encode(comparison_document(comparison))
        for pair in comparison.pairs:
            pair.slower_than(0.05)


@cache
def _sound() -> Source:
    return of_run(figures_of(run_of(build.records(3))), "sound")
