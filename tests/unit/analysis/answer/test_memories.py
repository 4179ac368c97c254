"""Two memories and near and far CPUs, in the answer of a survey."""

import pytest
from tests.unit.analysis.core_to_core.runs import by_complex, core_to_core_run, four_complexes
from tests.unit.analysis.runs import whole_run
from tests.unit.analysis.tiers.runs import tiers_run
from tests.unit.analysis.tiers.test_section import saturating

from memgauge.analysis.answer.memories import cores_line, tiers_lines
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.statistics.estimate import Estimate


def test_two_memories_have_what_each_gives_alone_and_the_advice() -> None:
    alone, advice = tiers_lines(figures_of(tiers_run(8, saturating)))
    assert (alone.label, advice.label) == ("Tiers", "")
    values = [one.value.value for one in alone.figures if isinstance(one.value, Estimate)]
    assert values == pytest.approx([32, 4], rel=0.01)
    assert "Keep all 8 threads on A" in advice.detail


def test_the_nearest_and_the_farthest_cpus_stand_in_one_line() -> None:
    run = core_to_core_run(four_complexes(), lambda pair, _: by_complex(pair))
    (line,) = cores_line(figures_of(run))
    near, far = (one.value for one in line.figures)
    assert isinstance(near, Estimate)
    assert isinstance(far, Estimate)
    assert near.value == pytest.approx(25, rel=0.05)
    assert far.value == pytest.approx(210, rel=0.05)
    assert line.detail.endswith("of 120 pairs")


def test_what_was_not_measured_has_neither() -> None:
    figures = figures_of(whole_run())
    assert not [*tiers_lines(figures)]
    assert not [*cores_line(figures)]
