"""What a report says of a BLAS library beside the loop nest."""

from __future__ import annotations

import msgspec
from tests.unit.analysis.traffic.runs import MIB, Noise, gemm_in, gemm_point, machine, run

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.section import Section
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.traffic.document import traffic_figures
from memgauge.analysis.traffic.section import analyse
from memgauge.model.records import Point
from memgauge.model.run import Run

SIZES = (64, 256, 1024)
QUIET = Noise(idle_bytes_per_s=0.0, spread=0.0)


def by_library(size: int, **facts: str | int) -> Point:
    point = gemm_point(size)
    known = {"blas_version": "OpenBLAS 9.9", "blas_file": "/x/libopenblas.so.0"} | facts
    return msgspec.structs.replace(
        point,
        point=f"{point.point}/openblas",
        requested=point.requested | {"blas": "openblas", "machines": None},
        actual=point.actual | known,
    )


def moved(point: Point) -> tuple[float, float]:
    """The nest reads B again past 5 MiB; the library, blocked, all arrays once."""
    size = int(str(point.requested["size"]))
    square = 8.0 * size * size
    again = 64.0 * size**3 - square if square > 5 * MIB and not point.requested.get("blas") else 0.0
    return 3 * square + again, square


def a_run(*, counted: bool = True, **facts: str | int) -> Run:
    nests = [gemm_point(size) for size in SIZES]
    return run(
        [*nests, *(by_library(size, **facts) for size in SIZES)],
        machines=[machine()],
        predictions=[gemm_in(point, 5 * MIB) for point in nests],
        counted=moved if counted else None,
        noise=QUIET,
    )


def section(made: Run) -> Section:
    return analyse(figures_of(made))


def test_the_nest_and_the_library_stand_side_by_side() -> None:
    (table,) = [one for one in section(a_run()).tables if one.name == "traffic-gemm-1t-libraries"]
    titles = [column.title for column in table.columns]
    at = {title: titles.index(title) for title in titles}
    largest = table.rows[-1]
    assert largest[at["N"]] == 1024
    assert largest[at["expected read"]] == 3.0
    assert largest[at["nest, simulated"]] == largest[at["nest, measured"]] == 2 + 8 * 1024
    assert largest[at["openblas, measured"]] == 3.0
    faster = largest[at["openblas: times as fast"]]
    assert isinstance(faster, Estimate)
    assert faster.value == 1.0  # the same stamps


def test_nothing_is_expected_of_a_library_past_the_caches() -> None:
    verdicts = [one.text for one in section(a_run()).verdicts]
    (measured,) = [text for text in verdicts if text.startswith("gemm by openblas, 1 core: Meas")]
    assert "stay within 10% of the expectation up to N = 1024" in measured
    assert "band" not in measured
    assert not any("gemm by openblas" in text and "imulated" in text for text in verdicts)


def test_the_library_is_named_with_its_version_file_and_threads() -> None:
    (known,) = [v.text for v in section(a_run(blas_threads=1)).verdicts if "openblas: Op" in v.text]
    assert "OpenBLAS 9.9; /x/libopenblas.so.0" in known
    assert "(it reports 1 thread)" in known
    unknown = next(v.text for v in section(a_run()).verdicts if "openblas: Op" in v.text)
    assert "it does not report its threads, and started none when it was tried" in unknown


def test_pictures_show_both() -> None:
    charts = {chart.name: chart for chart in section(a_run()).charts}
    reads = charts["traffic-gemm-1t-libraries-reads"]
    assert [one.name for one in reads.series] == [
        "nest, measured",
        "openblas, measured",
        "nest, simulated on this machine",
        "expected",
    ]
    assert reads.series[-1].dashed
    assert [one.name for one in charts["traffic-gemm-1t-libraries-speed"].series] == [
        "nest",
        "openblas",
    ]


def test_without_counters_only_speeds_and_expectations_stand_there() -> None:
    found = section(a_run(counted=False))
    assert not any("openblas" in table.name for table in found.tables)
    (table,) = [one for one in found.tables if one.name.endswith("libraries")]
    assert not any("measured" in column.title for column in table.columns)
    assert not any("reads" in chart.name for chart in found.charts if "libraries" in chart.name)


def test_the_document_names_the_library_of_each_nest() -> None:
    nest, library = traffic_figures(figures_of(a_run(blas_threads=1)))
    assert nest.library is None
    assert library.library is not None
    assert (library.library.name, library.library.threads) == ("openblas", 1)
    assert [size.expected.read_bytes for size in library.sizes] == [
        size.expected.read_bytes for size in nest.sizes
    ]
