"""A survey prepares only what leaves it time to measure."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import msgspec
import pytest
from tests.unit.runner.fakes import FakeExperiment, a_point
from tests.unit.runner.test_fitting import MIB, Other, left_out, measured

from memgauge.experiments.shared.base import Group
from memgauge.experiments.shared.importance import Importance, Part
from memgauge.model.errors import DoesNotFit, OutOfTime
from memgauge.model.parameters import CommonParameters
from memgauge.runner.batches import Planned
from memgauge.runner.budget import Budget
from memgauge.runner.costs import CostModel
from memgauge.runner.preparing import Preparing, by_importance
from memgauge.system.native import time_limit

pytestmark = pytest.mark.usefixtures("no_native_core")


MODEL = CostModel(cpu_nodes=1)


def planned(experiment: FakeExperiment, name: str, size: int, threads: int = 1) -> Planned:
    point = msgspec.structs.replace(a_point(name), threads=threads)
    return experiment, CommonParameters(), Group(name=name, points=[point], bytes=size)


def test_the_first_group_is_always_prepared() -> None:
    Preparing(Budget(0.1), MODEL).require_time(planned(FakeExperiment({}), "1 thread", 1 << 50))


def test_what_would_leave_no_time_to_measure_is_refused_with_what_would_do() -> None:
    fake = FakeExperiment({})
    preparing = Preparing(Budget(10.0), MODEL)
    first = planned(fake, "first", 1000 * MIB)
    preparing.took(2.0, first)
    preparing.require_time(planned(fake, "small", 500 * MIB))
    with pytest.raises(DoesNotFit) as refused:
        preparing.require_time(planned(fake, "1 generator", 3000 * MIB))
    text = str(refused.value)
    assert text.startswith("fake: 1 generator: preparing 3000 MiB would take about 5."), text
    assert ", and the budget of 10.0 s leaves 3.0" in text, "half of it, less two seconds"
    assert text.endswith("s for it; use --budget 15s"), "10 s and 2.5 s over the share"


def test_once_the_time_is_used_up_nothing_more_is_prepared() -> None:
    fake = FakeExperiment({})
    preparing = Preparing(Budget(10.0), MODEL)
    preparing.took(6.0, planned(fake, "first", 100 * MIB))
    with pytest.raises(DoesNotFit, match="leaves no more time to prepare; use --budget 20s"):
        preparing.require_time(planned(fake, "1 thread", MIB))


class Important(Group, frozen=True, kw_only=True):
    def parts(self) -> list[Part]:
        found = super().parts()
        return [msgspec.structs.replace(found[0], importance=Importance.ESSENTIAL)]


def test_what_is_essential_is_prepared_for_longer() -> None:
    fake = FakeExperiment({})
    preparing = Preparing(Budget(10.0), MODEL)
    preparing.took(6.0, planned(fake, "first", 1000 * MIB))
    essential = Important(name="essential", points=[a_point("e")], bytes=100 * MIB)
    preparing.require_time((fake, CommonParameters(), essential))
    with pytest.raises(DoesNotFit):
        preparing.require_time(planned(fake, "other", 100 * MIB))


def test_groups_are_prepared_by_importance_the_whole_machine_first() -> None:
    fake = FakeExperiment({})
    batch = [planned(fake, "1 thread", 1, 1), planned(fake, "8 threads", 1, 8)]
    essential = Important(name="essential", points=[a_point("e")], bytes=1)
    batch.append((fake, CommonParameters(), essential))
    order = [group.name for _, _, group in by_importance(batch)]
    assert order == ["essential", "8 threads", "1 thread"]


def test_of_equals_the_smallest_is_prepared_first() -> None:
    fake = FakeExperiment({})
    batch = [planned(fake, "large", 2 * MIB), planned(fake, "small", MIB)]
    assert [group.name for _, _, group in by_importance(batch)] == ["small", "large"]


def test_what_takes_longer_than_its_time_is_given_up_and_counts() -> None:
    preparing = Preparing(Budget(10.0), MODEL)
    fake = FakeExperiment({})
    with preparing.within_time(planned(fake, "2 threads", MIB)):
        pass
    with (
        pytest.raises(OutOfTime) as given_up,
        preparing.within_time(planned(fake, "1 thread", 1000 * MIB)),
    ):
        raise OutOfTime
    text = str(given_up.value)
    assert re.match(r"fake: 1 thread: 1000 MiB were not prepared in the (4\.9|5\.0)", text), text
    assert "the budget of 10.0 s leaves for it; use --budget 30s or more" in text


def test_the_first_may_take_all_the_time() -> None:
    preparing = Preparing(Budget(10.0), MODEL)
    with (
        pytest.raises(OutOfTime, match=r"not prepared in the (9\.9|10\.0)"),
        preparing.within_time(planned(FakeExperiment({}), "1 thread", MIB)),
    ):
        raise OutOfTime


def test_the_core_ends_a_long_call_when_its_time_is_over() -> None:
    """And the team serves further calls; without a limit nothing is ended."""
    _core = pytest.importorskip("memgauge._core")
    team = _core.Team([min(os.sched_getaffinity(0))])
    with pytest.raises(OutOfTime, match="longer than the time"), time_limit(0.0):
        _core.ChaseRing(team, 64 * MIB, 64)
    with time_limit(1e300):
        assert _core.ChaseRing(team, MIB, 64)
    assert _core.ChaseRing(team, MIB, 64)


def slow(_group: str, _open: set[str]) -> None:
    time.sleep(0.7)


def test_a_survey_leaves_out_what_it_has_no_time_to_prepare(tmp_path: Path) -> None:
    """Of six groups of 0.7 s each half of the budget has room for some."""
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
