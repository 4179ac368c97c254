"""A survey prepares only what leaves it time to measure."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
import pytest
from tests.unit.runner.fakes import FakeExperiment, a_point
from tests.unit.runner.test_fitting import MIB, Other, left_out, measured

from memgauge.experiments.shared.base import Group
from memgauge.model.errors import DoesNotFit
from memgauge.model.parameters import CommonParameters
from memgauge.runner.batches import Planned
from memgauge.runner.budget import Budget
from memgauge.runner.preparing import FIXED_BYTES, SHARE, Preparing, by_importance

pytestmark = pytest.mark.usefixtures("no_native_core")


def test_the_first_group_is_always_prepared() -> None:
    Preparing(Budget(0.1)).require_time("stream: 1 thread", 1 << 50)


def test_what_would_leave_no_time_to_measure_is_refused_with_what_would_do() -> None:
    preparing = Preparing(Budget(10.0))
    preparing.took(1.0, 100 * MIB - FIXED_BYTES)
    preparing.require_time("small", 200 * MIB)
    with pytest.raises(DoesNotFit) as refused:
        preparing.require_time("loaded: 1 generator", 1000 * MIB)
    assert str(refused.value).startswith(
        "loaded: 1 generator: preparing 1000 MiB would take about 10.0 s, and the budget of 10.0 s "
        "leaves 3.0"
    )
    assert str(refused.value).endswith("s for it; use --budget 30s"), "10 s + 7 s over the share"
    assert SHARE == 0.4


def test_once_the_time_is_used_up_nothing_more_is_prepared() -> None:
    preparing = Preparing(Budget(10.0))
    preparing.took(5.0, 100 * MIB)
    with pytest.raises(DoesNotFit, match="leaves no more time to prepare; use --budget 15s"):
        preparing.require_time("mix: 1 thread", MIB)


def test_one_group_of_each_experiment_comes_first_that_of_the_whole_machine() -> None:
    def planned(experiment: FakeExperiment, name: str, threads: int) -> Planned:
        point = msgspec.structs.replace(a_point(name), threads=threads)
        return experiment, CommonParameters(), Group(name=name, points=[point], bytes=1)

    fake, other = FakeExperiment({}), Other({})
    batch = [planned(fake, "1 thread", 1), planned(fake, "8 threads", 8), planned(fake, "4", 4)]
    batch += [planned(other, "first", 1), planned(other, "second", 1)]
    order = [group.name for _, _, group in by_importance(batch)]
    assert order == ["8 threads", "first", "1 thread", "4", "second"]


def slow(_group: str, _open: set[str]) -> None:
    time.sleep(0.4)


def test_a_survey_leaves_out_what_it_has_no_time_to_prepare(tmp_path: Path) -> None:
    """Of six groups of 0.4 s each 40% of the budget has room for some."""
    sizes = dict.fromkeys(("one", "two", "three", "four", "five", "six"), 150 * MIB)
    run = measured(tmp_path / "r", FakeExperiment({"g": ["a"]}), Other(sizes, slow))
    omitted = left_out(run)
    assert omitted
    assert all("preparing 150 MiB would take about" in message for _, message in omitted)
    assert {experiment for experiment, _ in omitted} == {"other"}
    assert run.samples["a"]
    assert run.samples["other/one"]


def test_a_single_experiment_is_prepared_whole(tmp_path: Path) -> None:
    sizes = dict.fromkeys(("one", "two", "three", "four", "five", "six"), 100 * MIB)
    run = measured(tmp_path / "r", Other(sizes, slow))
    assert not left_out(run)
