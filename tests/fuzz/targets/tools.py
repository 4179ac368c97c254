"""Output of other memory tools: parts of an archive, each a file, or one of a directory.

Whatever a file holds, there is a data set that can be shown and compared, nothing, or a refusal.
Reports are made of few inputs: they cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import msgspec
from tests.fuzz.archive import packed, parts_of
from tests.fuzz.invariants import check_refusal, check_shown, one_in
from tests.fuzz.planted import scratch
from tests.samples.paths import TOOL_SAMPLES

from memgauge.analysis.comparison.document import comparison_document
from memgauge.analysis.comparison.figures import of_reference
from memgauge.analysis.comparison.ratios import compare
from memgauge.analysis.comparison.report import report_of
from memgauge.analysis.published import published_figures, table_report
from memgauge.model.errors import RequestError
from memgauge.model.text import plain
from memgauge.references.foreign.files import is_tool_output, not_a_run, read_foreign
from memgauge.references.foreign.parsed import part
from memgauge.references.library import Reference
from memgauge.store.tool_files import read_tool_output

IS_JSON = False
_UNITS = {"GB/s", "ns", "kB"}
_CURVES = b"50000\t200\n30000\t90.5\n1000\t80\n"
_NOTE = (
    b"Bandwidth-latency curves by memgauge\nlatency unit: ns\n"
    b"measured percentages of reads: 50, 100\n"
)


def seeds() -> Iterator[bytes]:
    """Real output of each tool, alone and two of a kind."""
    for path in sorted(TOOL_SAMPLES.iterdir()):
        content = path.read_bytes()
        yield packed([(path.name, content)])
        yield packed([(path.name, content), (f"b-{path.name}", content * 2)])
    curves = [(f"c/bwlat_{percent}.txt", _CURVES) for percent in (50, 98, 100)]
    yield packed(curves)
    yield packed([*curves, ("c/README.txt", _NOTE)])
    yield packed([("a.csv", b"run,load,read_share_percent,gb_per_s,latency_ns\nr,l,100,1,80\n")])
    yield packed([("a", b"Label,Bandwidth (GB/s),Avg Random Read Latency (ns)\n100% reads,9,80\n")])
    yield packed([("p", b"1.000000001,CPU0,1,3.5,MiB,uncore_imc/data_reads/,100,100.00,,\n")])


def run(data: bytes) -> None:
    """Every file and directory of an input."""
    place = scratch("tools")
    place.plant(dict(parts_of(data)[:8]))
    for path in sorted(place.root.iterdir())[:4]:
        _use(path, data)


def _use(path: Path, data: bytes) -> None:
    is_tool_output(path)
    try:
        reference = read_foreign(path)
    except RequestError as error:
        check_refusal(error)
        return
    said = not_a_run(path)
    if said is not None:
        check_refusal(RequestError(said))
    if reference is not None:
        _check(reference)
        if one_in(16, data):
            check_shown(table_report(reference))
        facts, found = read_tool_output(path, "machine")
        assert facts.run
        assert all(math.isfinite(one.value) and one.value > 0 for one in found)
        if one_in(64, data):
            source = of_reference(reference)
            compared = compare([source, source])
            check_shown(report_of(compared))
            msgspec.json.encode(comparison_document(compared))


def _check(reference: Reference) -> None:
    figures = reference.figures
    assert len({one.name for one in figures}) == len(figures)
    for one in figures:
        assert math.isfinite(one.value)
        assert one.value > 0
        assert one.unit in _UNITS
        assert all(part(piece) == piece for piece in one.name.replace("best team", "t").split("/"))
        assert plain(one.label) == one.label
        assert one.statistic
    assert reference.tool
    assert plain(reference.tool) == reference.tool
    msgspec.json.encode(published_figures(reference))
