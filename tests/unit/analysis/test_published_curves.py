"""Published curves get the analyses of a run's own curves."""

import pytest

from memgauge.analysis.published import table_report
from memgauge.analysis.published_curves import curve_sections
from memgauge.references.library import NAMES, load


def test_stream_over_threads_has_its_drop_and_saturation() -> None:
    (section,) = curve_sections(load("nvdimm-dram"))
    drops = [one.text for one in section.verdicts if one.level == "warning"]
    assert len(drops) == 4
    assert all("from 16 to 17 threads" in text for text in drops)
    assert {row[0] for row in section.tables[0].rows} == {"copy", "scale", "add", "triad"}
    assert [one.name for one in section.charts[0].series] == ["copy", "scale", "add", "triad"]
    assert len(section.charts[0].series[0].x) == 32


def test_latency_under_load_says_between_which_bandwidths_its_knee_lies() -> None:
    (section,) = curve_sections(load("hybrid12-loaded-latency"))
    (verdict,) = section.verdicts
    assert verdict.text.startswith("The knee is unresolved: it lies between ")
    assert verdict.text.endswith("(100r).")
    xs = section.charts[0].series[0].x
    assert xs == sorted(xs)
    assert len(xs) > 10


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_curve_gets_no_section(name: str) -> None:
    sections = table_report(load(name)).sections
    assert sections[0].name == "published"
    expected = {"nvdimm-dram": 2, "nvdimm": 2, "hybrid12-loaded-latency": 2}
    assert len(sections) == expected.get(name, 1)
