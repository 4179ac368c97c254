"""The best weights of a run as records for other runs."""

from __future__ import annotations

import msgspec
from tests.unit.analysis.interleave.runs import interleave_run

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.interleave.measured import measured_weights
from memgauge.model.records import AnyRecord
from memgauge.model.run import run_of
from memgauge.model.storage.codec import encode

SWEPT = [(1, 0), (0, 1), (1, 1), (2, 1), (1, 2), (3, 1), (1, 3), (4, 1), (1, 4)]


def test_kernels_with_the_same_weights_share_a_record() -> None:
    run = interleave_run((30.0, 10.0), SWEPT, kernels=("read", "copy"))
    (found,) = measured_weights(figures_of(run))
    assert (found.run_id, found.kernels) == (run.start.run_id, ["read", "copy"])
    assert found.weights == {0: 3, 2: 1}
    assert msgspec.json.decode(encode(found), type=AnyRecord) == found
    assert run_of([run.start, found]).weights == [found]


def test_nodes_are_in_order() -> None:
    run = interleave_run((10.0, 30.0), SWEPT, nodes=(2, 0))
    (found,) = measured_weights(figures_of(run))
    assert [*found.weights.items()] == [(0, 3), (2, 1)]


def test_a_node_that_no_weights_beat_is_alone() -> None:
    (found,) = measured_weights(figures_of(interleave_run((10.0, 0.5), SWEPT)))
    assert found.weights == {0: 1}


def test_few_rounds_and_other_runs_tell_of_none() -> None:
    run = interleave_run((30.0, 10.0), SWEPT, rounds=4)
    assert measured_weights(figures_of(run)) == []
    assert measured_weights(figures_of(run_of([run.start]))) == []
