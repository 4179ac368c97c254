"""What the kernel accounts to the usual runs, summed up and told."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from tests.unit.analysis.diagnose.programs import diagnosed, with_uses

from memgauge.analysis.diagnose.document import diagnosis_figures
from memgauge.analysis.diagnose.kernel import kernel_table, kernel_use, kernel_verdicts
from memgauge.analysis.diagnose.working_set import working_set
from memgauge.analysis.figures.run import Figures, figures_of
from memgauge.model.record_kinds.programs import Referenced, ReferencedLook, RunUse, Usage
from memgauge.model.records import Environment
from memgauge.model.run import run_of

MB = 1_000_000


def use(major: int = 0, peak_bytes: int = 50 * MB, delay_ns: int | None = 1000) -> RunUse:
    usage = Usage(
        user_s=1.0,
        system_s=0.0,
        peak_resident_bytes=peak_bytes,
        minor_faults=300,
        major_faults=major,
        voluntary_switches=0,
        involuntary_switches=0,
    )
    return RunUse(usage=usage, peak_floor_bytes=20 * MB, run_delay_ns=delay_ns)


def told(figures: Figures) -> str:
    found = kernel_use(figures)
    assert found is not None
    return " ".join(verdict.text for verdict in kernel_verdicts(found))


def rows(figures: Figures) -> dict[object, Sequence[object]]:
    found = kernel_use(figures)
    assert found is not None
    return {row[0]: row[1:] for row in kernel_table(found).rows}


def test_the_usual_way_goes_before_that_beside_arithmetic() -> None:
    found = kernel_use(with_uses(diagnosed(rounds=8), {"compute": use(major=1)}))
    assert found is not None
    assert (found.treatment, found.runs) == ("compute", 8)
    both = diagnosed(rounds=8, variants={"v": 1.0})
    found = kernel_use(with_uses(both, {"compute": use(major=1), "as it is": use(major=2)}))
    assert found is not None
    assert found.treatment == "as it is"
    assert found.major_faults is not None
    assert found.major_faults.median == 2


def test_what_was_not_kept_is_in_no_document() -> None:
    assert kernel_use(diagnosed(rounds=8)) is None
    document = diagnosis_figures(diagnosed(rounds=8))
    assert document is not None
    assert document.kernel is None


def test_what_the_kernel_does_not_report_is_a_dash() -> None:
    bare = with_uses(diagnosed(rounds=8), {"compute": RunUse()})
    assert all(row[:3] == [None, None, None] for row in map(list, rows(bare).values()))
    assert told(bare) == ""


def test_a_peak_that_may_be_that_of_memgauge_is_a_bound() -> None:
    small = with_uses(diagnosed(rounds=8), {"compute": use(peak_bytes=21 * MB)})
    assert list(rows(small)["peak resident size"]) == [None, None, None, "MB", "at most 21.0 MB"]
    found = kernel_use(small)
    assert found is not None
    assert "The peak is at most 21.0 MB" in (kernel_table(found).note or "")
    large = with_uses(diagnosed(rounds=8), {"compute": use(peak_bytes=50 * MB)})
    assert rows(large)["peak resident size"][0] == 50.0


def test_what_else_takes_its_time_is_told() -> None:
    quiet = with_uses(diagnosed(rounds=8), {"compute": use()})
    assert told(quiet) == ""
    busy = with_uses(diagnosed(rounds=8), {"compute": use(major=40, delay_ns=300_000_000)})
    assert "waited for a processor for 30% of a run" in told(busy)
    assert "40 page faults of a run waited for storage" in told(busy)


def test_pressure_on_memory_is_a_share_of_the_whole_time() -> None:
    def environment(pressure_s: float | None) -> Environment:
        return Environment(
            at_ns=1,
            interval_s=10.0,
            steal_s=None,
            others_s=None,
            load_1min=None,
            frequency_khz=None,
            memory_pressure_s=pressure_s,
        )

    run = with_uses(diagnosed(rounds=8), {"compute": use()}).run
    samples = [one for of in run.samples.values() for one in of]
    known = [environment(3.0), environment(None), environment(1.0)]
    figures = figures_of(run_of([run.start, *run.points.values(), *known, *samples]))
    found = kernel_use(figures)
    assert found is not None
    assert found.memory_pressure_share == 0.2
    assert "For 20% of the time some task of this machine waited for memory" in told(figures)
    assert msgspec.json.decode(msgspec.json.encode(found), type=type(found)) == found


def test_the_working_set_stands_beside_the_kernels_accounts() -> None:
    looks = [
        ReferencedLook(interval_ns=10**8, referenced_bytes=size * MB, resident_bytes=90 * MB)
        for size in (80, 20, 30)
    ]
    run = with_uses(diagnosed(rounds=8), {"compute": use()}, Referenced(looks=looks))
    pages, found = working_set(run), kernel_use(run)
    assert pages is not None
    assert found is not None
    assert (pages.least_bytes, pages.median_bytes, pages.most_bytes) == (20 * MB, 30 * MB, 80 * MB)
    assert pages.cold_share(latency_ns=64.0) == pytest.approx(80 * MB / 1e8)
    table = kernel_table(found, pages)
    (row,) = (row for row in table.rows if row[0] == "working set")
    assert row[1:] == [30, 20, 80, "MB", "pages that it refers to in 0.1 s"]
    assert "at most 90.0 MB resident" in (table.note or "")
    document = diagnosis_figures(run)
    assert document is not None
    assert document.working_set == pages
    assert working_set(diagnosed(rounds=8)) is None
    empty = ReferencedLook(interval_ns=0, referenced_bytes=1, resident_bytes=1)
    assert working_set(with_uses(diagnosed(rounds=8), {}, Referenced(looks=[empty]))) is None
