"""Passes of a diagnosis are paired with those of their baseline."""

from __future__ import annotations

from itertools import combinations, permutations
from random import Random

import pytest

from memgauge.analysis.diagnose.figures import treated_of
from memgauge.analysis.diagnose.passes import MOVED, NEAR_ROUNDS, Pass, matched
from memgauge.model.points.diagnose import (
    AS_IT_IS,
    AS_IT_IS_AGAIN,
    COMPUTE,
    COMPUTE_AGAIN,
    WRITE,
    DiagnoseRequested,
)


def at(*rounds: int) -> list[Pass]:
    return [Pass(round=round_, regime="", program=1.0) for round_ in rounds]


def paired(passes: list[Pass], baselines: list[Pass]) -> list[tuple[int, int]]:
    return [(one.round, base.round) for one, base in matched(passes, baselines)]


def test_a_pass_is_paired_once_and_with_a_near_round_only() -> None:
    assert paired(at(0, 1, 2), at(0, 1, 2)) == [(0, 0), (1, 1), (2, 2)]
    assert paired(at(0, 1), at(1 + NEAR_ROUNDS + 1)) == []
    assert paired(at(5, 6), at(5)) == [(5, 5)]
    assert paired(at(0, 10), at(8, 9)) == [(10, 9)]
    assert paired(at(0, 2, 3), at(0, 1, 2, 3)) == [(0, 0), (2, 2), (3, 3)]
    assert paired(at(1, 3), at(3, 5)) == [(1, 3), (3, 5)]
    assert paired(at(0, 1), at(0, 0)) == [(0, 0), (1, 0)]
    assert paired([], at(0)) == paired(at(0), []) == []


@pytest.mark.parametrize("seed", range(20))
def test_no_other_pairs_are_more_or_nearer(seed: int) -> None:
    """Against all ways to pair few passes."""
    draw = Random(seed)
    ones, bases = (sorted(draw.choices(range(7), k=draw.randint(1, 5))) for _ in range(2))
    best = (0, 0)
    for count in range(1, min(len(ones), len(bases)) + 1):
        for chosen in combinations(ones, count):
            for among in permutations(bases, count):
                apart = [abs(one - base) for one, base in zip(chosen, among, strict=True)]
                if max(apart) <= NEAR_ROUNDS:
                    best = max(best, (count, -sum(apart)))
    found = paired(at(*ones), at(*bases))
    assert (len(found), -sum(abs(one - base) for one, base in found)) == best
    assert found == sorted(found)


def under(treatment: str, baseline: str = COMPUTE) -> DiagnoseRequested:
    kind = "pressure" if baseline == COMPUTE else "variant"
    return DiagnoseRequested(
        subject="program", treatment=treatment, kind=kind, baseline=baseline, change="x"
    )


def timed(time: float, *regimes: str) -> list[Pass]:
    return [Pass(round=at, regime=regime, program=time) for at, regime in enumerate(regimes)]


@pytest.mark.parametrize(
    ("baseline", "again", "treatment"),
    [(COMPUTE, COMPUTE_AGAIN, WRITE), (AS_IT_IS, AS_IT_IS_AGAIN, "huge pages")],
)
def test_a_second_pass_of_the_baseline_stands_in_for_one_that_moved(
    baseline: str, again: str, treatment: str
) -> None:
    half = ("near", MOVED) * 8
    other_half = (MOVED, "near") * 8
    passes = {
        baseline: timed(1.0, *half),
        again: timed(1.0, *other_half),
        treatment: timed(2.0, *("near",) * 16),
    }
    (found,) = treated_of(under(treatment, baseline), passes)
    assert found.rounds == 16
    assert found.program is not None
    assert (found.program.value, found.program.low, found.program.high) == (2, 2, 2)
    (control,) = treated_of(under(again, baseline), passes)
    assert control.rounds == 8, "the second is never compared with itself"


def test_a_baseline_of_another_distance_is_not_used() -> None:
    passes = {COMPUTE: timed(1.0, "far"), COMPUTE_AGAIN: timed(1.0, "far"), WRITE: timed(2, "near")}
    assert treated_of(under(WRITE), passes) == []
