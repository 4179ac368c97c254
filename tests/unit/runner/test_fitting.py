"""What does not fit the memory that may be used is left out; the rest is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest
from tests.unit.runner.fakes import FakeExperiment, a_system, steady

from memgauge.experiments.shared.base import Bench, Group, Values
from memgauge.model.errors import DoesNotFit, NotPossibleHere, OutOfTime
from memgauge.model.parameters import CommonParameters
from memgauge.model.records import Point
from memgauge.model.storage.run_file import Run, read_run
from memgauge.model.system import System
from memgauge.runner.request import Request
from memgauge.runner.run import execute
from memgauge.system.memory.sources import ORDINARY, Memories

MIB = 1 << 20
AVAILABLE = 1000 * MIB
TOO_MUCH = 900 * MIB

pytestmark = pytest.mark.usefixtures("no_native_core")


class Other(FakeExperiment):
    """Another experiment, whose groups may be of other sizes, or fail when they are opened."""

    name: ClassVar[str] = "other"

    def __init__(
        self,
        sizes: dict[str, int],
        opening: Callable[[str, set[str]], None] = lambda _group, _open: None,
        neighbour: FakeExperiment | None = None,
    ) -> None:
        super().__init__({name: [f"other/{name}"] for name in sizes})
        self._sizes = sizes
        self._opening = opening
        self._neighbour = neighbour

    def plan(self, parameters: CommonParameters, system: System) -> list[Group]:
        del parameters, system
        return [
            Group(name=name, points=[_other(point) for point in self.groups[name]], bytes=size)
            for name, size in self._sizes.items()
        ]

    @contextmanager
    def open(
        self,
        group: Group,
        parameters: CommonParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        beside = self._neighbour.open_now if self._neighbour else set()
        self._opening(group.name, self.open_now | beside)
        with super().open(group, parameters, memories) as bench:
            yield bench


def _other(name: str) -> Point:
    return Point(
        point=name,
        experiment="other",
        quantity="bandwidth",
        requested={},
        actual={},
        bytes_counted=1_000_000,
    )


def measured(
    directory: Path, *experiments: FakeExperiment, available_bytes: int = AVAILABLE
) -> Run:
    return execute(
        Request(
            experiments=[(one, CommonParameters()) for one in experiments],
            budget_s=5.0,
            precision=0.2,
            directory=directory,
            system=a_system(available_bytes),
        )
    )


def left_out(run: Run) -> list[tuple[str | None, str]]:
    return [(one.experiment, one.message) for one in run.warnings if one.code == "left-out"]


def test_a_survey_goes_on_without_an_experiment_that_does_not_fit(tmp_path: Path) -> None:
    run = measured(tmp_path / "r", FakeExperiment({"g": ["a"]}), Other({"big": TOO_MUCH}))
    ((experiment, message),) = left_out(run)
    assert experiment == "other"
    assert message.startswith(
        "other: 900.0 MiB are needed (big), but only 800.0 MiB may be used of the 1000.0 MiB"
    )
    assert "raise the limit" in message
    assert run.samples["a"]
    assert run.end is not None
    assert run.end.status == "complete"


def test_only_the_groups_that_do_not_fit_are_left_out(tmp_path: Path) -> None:
    run = measured(
        tmp_path / "r", FakeExperiment({"g": ["a"]}), Other({"big": TOO_MUCH, "small": 100})
    )
    assert [experiment for experiment, _ in left_out(run)] == ["other"]
    assert run.samples["other/small"]
    assert "other/big" not in run.points


def test_a_survey_of_which_nothing_fits_fails_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(DoesNotFit) as caught:
        measured(
            tmp_path / "r",
            FakeExperiment({"g": ["a"]}, group_bytes=TOO_MUCH),
            Other({"big": TOO_MUCH}),
        )
    assert str(caught.value).startswith("nothing can be measured here: fake: 900.0 MiB are needed")
    assert "and 1 more experiment cannot be measured either" in str(caught.value)
    assert not (tmp_path / "r").exists()


class Impossible(FakeExperiment):
    name: ClassVar[str] = "impossible"

    def plan(self, parameters: CommonParameters, system: System) -> list[Group]:
        raise NotPossibleHere("impossible: needs two nodes")


def test_a_survey_of_which_nothing_is_possible_fails_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(DoesNotFit, match="nothing can be measured here: impossible: needs two"):
        measured(tmp_path / "r", Impossible({}), Impossible({}))


def test_the_reason_is_one_that_can_be_mended(tmp_path: Path) -> None:
    """Not the first one, which is that the machine lacks something."""
    with pytest.raises(DoesNotFit, match="nothing can be measured here: other: 900") as refused:
        measured(tmp_path / "r", Impossible({}), Other({"big": TOO_MUCH}))
    assert str(refused.value).endswith("(and 1 more experiment cannot be measured either)")


def test_what_time_ran_out_for_is_the_reason_before_what_lacks_memory(tmp_path: Path) -> None:
    def late(_group: str, _open: set[str]) -> None:
        raise OutOfTime

    with pytest.raises(
        DoesNotFit, match=r"nothing can be measured here: other: h: .* not prepared"
    ):
        measured(
            tmp_path / "r",
            FakeExperiment({"g": ["a"]}, group_bytes=TOO_MUCH),
            Other({"h": MIB}, late),
        )


@pytest.mark.parametrize("error", [DoesNotFit("cannot map 9 KB"), MemoryError()])
def test_what_finds_no_memory_when_it_is_opened_is_left_out(
    tmp_path: Path, error: Exception
) -> None:
    def refuse(_group: str, _open: set[str]) -> None:
        raise error

    run = measured(tmp_path / "r", FakeExperiment({"g": ["a"]}), Other({"h": 100}, refuse))
    ((experiment, message),) = left_out(run)
    assert experiment == "other"
    assert message.startswith("other: h: ")
    assert run.samples["a"]


def test_what_finds_no_memory_beside_others_is_measured_after_them(tmp_path: Path) -> None:
    def refuse_company(_group: str, open_now: set[str]) -> None:
        if open_now:
            raise DoesNotFit("cannot map 9 KB")

    first = FakeExperiment({"g": ["a"]})
    run = measured(tmp_path / "r", first, Other({"h": 100, "i": 100}, refuse_company, first))
    assert not left_out(run)
    assert all(run.samples[name] for name in ("a", "other/h", "other/i"))


def test_nothing_is_recorded_where_nothing_can_be_opened(tmp_path: Path) -> None:
    def refuse(_group: str, _open: set[str]) -> None:
        raise MemoryError

    with pytest.raises(DoesNotFit, match="nothing can be measured here: other: h: memory ran out"):
        measured(tmp_path / "r", Other({"h": 100}, refuse), Other({"i": 100}, refuse))
    assert not (tmp_path / "r").exists()


def test_one_experiment_alone_is_refused_with_its_reason(tmp_path: Path) -> None:
    def refuse(_group: str, _open: set[str]) -> None:
        raise DoesNotFit("cannot map 9 KB")

    with pytest.raises(DoesNotFit, match=r"^other: h: cannot map 9 KB$"):
        measured(tmp_path / "r", Other({"h": 100}, refuse))


def test_what_was_measured_is_kept_where_memory_is_taken_meanwhile(tmp_path: Path) -> None:
    """One experiment in two batches, for the second of which another program left nothing."""

    def refuse_second(group: str, _open: set[str]) -> None:
        if group == "second":
            raise MemoryError

    run = measured(tmp_path / "r", Other({"first": 700 * MIB, "second": 700 * MIB}, refuse_second))
    assert run.samples["other/first"]
    ((_, message),) = left_out(run)
    assert message.startswith("other: second: memory ran out (")
    assert run.end is not None


def running_out(point: str, round_: int) -> int:
    if point == "b" and round_ == 5:
        raise MemoryError
    return steady()(point, round_)


def test_a_bench_without_memory_is_given_up_and_the_others_go_on(tmp_path: Path) -> None:
    fake = FakeExperiment({"g": ["a"], "h": ["b", "c"]}, running_out)
    run = measured(tmp_path / "r", fake)
    assert len(run.samples["b"]) == 5
    assert len(run.samples["c"]) in {5, 6}, "before or after b in that round"
    assert len(run.samples["a"]) > 20
    ((experiment, message),) = left_out(run)
    assert experiment == "fake"
    assert message.startswith("b: memory ran out")
    assert read_run(tmp_path / "r").end is not None


class Growing(FakeExperiment):
    """Finds no memory for further points."""

    @contextmanager
    def open(
        self,
        group: Group,
        parameters: CommonParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        with super().open(group, parameters, memories) as bench:
            bench.refine = self._no_room  # type: ignore[method-assign]
            yield bench

    def _no_room(self, values: Values) -> list[Point]:
        raise DoesNotFit(f"cannot map 9 KB for {len(values)} more")


def test_further_points_without_memory_end_the_group_and_keep_its_samples(tmp_path: Path) -> None:
    run = measured(tmp_path / "r", Growing({"g": ["a"]}), Other({"h": 100}))
    assert len(run.samples["a"]) == 4
    assert len(run.samples["other/h"]) > 20
    assert left_out(run) == [("fake", "fake: further points: cannot map 9 KB for 1 more")]
