"""Software against hardware in a GPU's memory: closed forms, verdicts and their words."""

from __future__ import annotations

import msgspec
import pytest
from tests.unit.analysis.counters.counted import ELEMENTS, counts

from memgauge.analysis.counters.bandwidth import READS, WRITES, hardware_bandwidth
from memgauge.analysis.counters.document import hardware_figures
from memgauge.analysis.counters.figures import HardwareCounts, reaches
from memgauge.analysis.counters.gpu import agreement, ratio_of
from memgauge.analysis.counters.summary import verdicts
from memgauge.analysis.counters.tables import charts, tables
from memgauge.model.counting.events import gpu_traffic


def on_gpu(
    reads_each: float | None,
    writes_each: float | None,
    *,
    idle_each: float | None = None,
    regions: int = 12,
) -> HardwareCounts:
    """Regions of add on a GPU, whose counters see so many bytes an element."""
    made = counts(
        reads_each, writes_each, idle_each=idle_each, places=[("GPU 0", None)], regions=regions
    )
    kernel = msgspec.structs.replace(
        made.kernel, name="add, standard, cuda:0", evadable_bytes=0, gpu="cuda:0"
    )
    counters = [msgspec.structs.replace(one, traffic="gpu0") for one in made.counters]
    return msgspec.structs.replace(made, kernel=kernel, counters=counters, back_end="cupti")


def words(*every: HardwareCounts) -> list[str]:
    return [one.text for one in verdicts([hardware_bandwidth(one) for one in every])]


@pytest.mark.parametrize(
    ("reads", "writes", "said"),
    [
        (16, 8, "agrees"),
        (16.3, 8.1, "agrees"),
        (17, 8, "differs"),
        (8, 4, "differs"),
        (0, 0, "dead"),
        (None, None, "nothing"),
    ],
)
def test_bytes_agree_within_two_per_cent_or_do_not(
    reads: float | None, writes: float | None, said: str
) -> None:
    assert agreement(hardware_bandwidth(on_gpu(reads, writes))) == said


def test_too_few_regions_tell_nothing() -> None:
    found = hardware_bandwidth(on_gpu(16, 8, regions=3))
    assert agreement(found) == "open"
    first, *others = (verdict.text for verdict in verdicts([found]))
    assert first.endswith("0 of 1 kernel within 2%, and for 1 it is not known.")
    assert "cannot be determined: too few regions." in " ".join(others)


def test_reads_and_writes_are_told_apart() -> None:
    found = hardware_bandwidth(on_gpu(17.6, 8))
    reads, writes = ratio_of(found, READS), ratio_of(found, WRITES)
    assert reads is not None
    assert writes is not None
    assert reads.value == pytest.approx(1.1)
    assert writes.value == pytest.approx(1.0)
    said = words(on_gpu(17.6, 8))
    assert (
        said[1] == "Separately: reads are 1.100 of the kernels', writes are 1.000 of the kernels'."
    )
    assert (
        "memory moved 1.0667 to 1.0667 times what the kernel counts: more reads than it" in said[2]
    )


def test_all_kernels_that_agree_are_one_good_line() -> None:
    said = words(on_gpu(16, 8), on_gpu(16.1, 8))
    assert said[0] == (
        "By its counters, memory of cuda:0 moved 1.0000 (add, standard) to 1.0042 (add, standard) "
        "times the bytes that the kernels count: 2 of 2 kernels within 2%."
    )
    assert not any("write-allocate" in text for text in said)


def test_a_wrong_scale_a_cache_and_dead_counters_are_told_apart() -> None:
    assert "mis-scaled by 1/2" in " ".join(words(on_gpu(8, 4)))
    assert "second-level cache keeps a part" in " ".join(words(on_gpu(14, 7)))
    (dead,) = verdicts([hardware_bandwidth(on_gpu(0, 0))])
    assert (dead.level, dead.remedy) == (
        "problem",
        "run 'memgauge counters verify --memory cuda:0'",
    )


def test_what_others_moved_is_said_and_not_taken_off() -> None:
    said = words(on_gpu(16, 8, idle_each=0.24))
    idle = "While memgauge launched nothing on the GPU, the same counters counted up to 0.024 GB/s"
    assert f"{idle}, 1% of" in said[-1]
    assert said[0].startswith("By its counters, memory of cuda:0 moved 1.0000 times the bytes")
    assert "1 of 1 kernel within 2%" in said[0]
    assert words(on_gpu(16, 8, idle_each=0))[-1].endswith("counted nothing.")


def test_a_table_and_a_picture_in_gigabytes() -> None:
    found = hardware_bandwidth(on_gpu(16, 8))
    (table,) = tables([found])
    assert table.name == "hardware-bandwidth"
    assert "write-allocate" not in str(table)
    assert [column.unit for column in table.columns[1:3]] == ["GB/s", "GB/s"]
    assert table.rows[0][6] == "yes"
    (chart,) = charts([found])
    sums = dict.fromkeys(chart.series[0].x, 0.0)
    for series in chart.series:
        for bar, y in zip(series.x, series.y, strict=True):
            sums[bar] += y or 0.0
    expected = 24 * ELEMENTS * 10 / 0.1 * 1e-9
    assert list(sums.values()) == [pytest.approx(expected), pytest.approx(expected)]


def test_documents_hold_both_ways() -> None:
    found = hardware_figures(hardware_bandwidth(on_gpu(16, 12)))
    assert found.memory == "cuda:0"
    assert found.hardware_to_software_writes is not None
    assert found.hardware_to_software_writes.value == pytest.approx(1.5)


def test_counters_of_other_memory_are_none_of_the_kernels() -> None:
    made = on_gpu(16, 8)
    (reads, _) = made.counters
    assert gpu_traffic("cuda:3") == "gpu3"
    assert reaches(reads, made.kernel)
    for traffic in ("gpu1", "dram", None):
        assert not reaches(msgspec.structs.replace(reads, traffic=traffic), made.kernel)
    modelled = msgspec.structs.replace(reads, traffic=None, basis="modelled")
    assert reaches(modelled, made.kernel)
