"""Two back ends around the same regions."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from tests.unit.experiments.counting import (
    Board,
    Counting,
    Fault,
    OtherCounting,
    install,
    two_nodes,
    unbound_memory,
)
from tests.unit.experiments.machines import a_machine

from memgauge.analysis.counters_compare.section import rows_of
from memgauge.experiments.counters_compare.host import CountersCompare, CountersCompareParameters
from memgauge.experiments.counters_verify.bench import Moved
from memgauge.model.errors import CounterRefused, RequestError
from memgauge.model.parameters import build
from memgauge.model.run import Run
from memgauge.runner.request import Request
from memgauge.runner.run import execute


def compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Fault, **given: str) -> Run:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    one = Board(tmp_path, "perf", {})
    other = Board(tmp_path, "pcp", {"read_bytes": fault})
    install(monkeypatch, Counting, one)
    install(monkeypatch, OtherCounting, other)

    def both(moved: Moved) -> None:
        one(moved)
        other(moved)

    monkeypatch.setattr(CountersCompare, "stimulus", both)
    given = {"kernel": "gemm,gemv", "sizes": "32,64"} | given
    request = Request(
        experiments=[(CountersCompare(), build(CountersCompareParameters, region="2ms", **given))],
        budget_s=60,
        precision=0.01,
        directory=tmp_path / "run",
        system=two_nodes(),
    )
    with unbound_memory(monkeypatch):
        return execute(request)


def test_both_routes_are_read_around_the_same_regions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = compared(tmp_path, monkeypatch, Fault(factor=2.0))
    ratios = {
        row.quantity: row.ratio.value
        for row in rows_of(run)
        if row.load == "all loads" and row.socket is None and row.ratio
    }
    assert ratios["read_bytes"] == pytest.approx(2, rel=0.01)
    assert ratios["write_bytes"] == pytest.approx(1, rel=0.01)


def test_loop_nests_are_loads_too_by_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(compared(tmp_path, monkeypatch, Fault(factor=2.0)))
    sizes = {f"{kernel}, N = {size}" for kernel in ("gemm", "gemv") for size in (32, 64)}
    for quantity, ratio in (("read_bytes", 2.0), ("write_bytes", 1.0)):
        found = {r.load: r.ratio for r in rows if r.quantity == quantity and r.load in sizes}
        assert set(found) == sizes
        for one in found.values():
            assert one is not None
            assert one.value == pytest.approx(ratio, rel=0.01)


def test_no_loop_nest_may_be_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = compared(tmp_path, monkeypatch, Fault(), kernel="none")
    assert not [point for point in run.points.values() if "N = " in str(point.requested)]
    with pytest.raises(RequestError, match="combines none with loop nests"):
        compared(tmp_path, monkeypatch, Fault(), kernel="none,gemm")


def test_a_nest_too_large_for_memory_is_refused() -> None:
    parameters = build(CountersCompareParameters, kernel="gemm", sizes="200000")
    with pytest.raises(RequestError, match="is the share of each load; give smaller sizes"):
        CountersCompare().plan(parameters, a_machine(2))


def test_a_route_that_cannot_be_opened_is_refused_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMGAUGE_SYSFS", str(tmp_path))
    refusal = "counters compare: no counter of memory traffic here: resctrl: "
    with pytest.raises(CounterRefused, match=refusal):
        compared(tmp_path, monkeypatch, Fault(), back_ends="perf,resctrl")


def test_named_events_must_be_of_both_routes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RequestError, match="--events names none of pcp"):
        compared(tmp_path, monkeypatch, Fault(), events="perf:imc/read_bytes/")


@pytest.mark.parametrize("back_ends", ["perf", "perf,pcp,resctrl"])
def test_two_routes_are_compared_no_more_no_fewer(back_ends: str) -> None:
    with pytest.raises(RequestError, match="exactly two back ends are needed"):
        CountersCompare().plan(build(CountersCompareParameters, back_ends=back_ends), a_machine(2))
