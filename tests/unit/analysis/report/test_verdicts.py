"""What a run as a whole says, where several experiments share its threads."""

from __future__ import annotations

from tests.unit.analysis.report.test_cross_checks import loaded, made, mix

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.report.verdicts import run_verdicts


def test_a_host_that_moves_threads_is_named_once_for_the_same_cpus() -> None:
    run = made([*loaded(150, 30, 0), mix(20, 2), mix(30)], moved=True)
    said = [v.text for v in run_verdicts(figures_of(run)) if "between two distances" in v.text]
    (text,) = said
    assert text.startswith("The host moved the threads on CPUs 0-1 between two distances: ")
    assert text.count("% of the samples") == 2
