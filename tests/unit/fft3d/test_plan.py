from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from memgauge.fft3d.parameters import Fft3dParameters
from memgauge.fft3d.plan import agreed_plan, array_bytes
from memgauge.fft3d.world import AgreedError, Node
from memgauge.model.errors import RequestError
from memgauge.model.grid import Grid
from memgauge.model.parameters import build, texts

MIB = 1 << 20
GIB = 1 << 30


class Told:
    """A communicator of which every rank has the same to say but for its memory."""

    def __init__(self, free: Sequence[int]) -> None:
        self._free = list(free)

    def allgather(self, known: object) -> list[int]:
        return self._free


def world(nodes: Sequence[Sequence[int]], free: Sequence[int]) -> Any:
    return SimpleNamespace(
        comm=Told(free),
        ranks=sum(map(len, nodes)),
        nodes=[Node(name=f"n{at}", ranks=list(ranks)) for at, ranks in enumerate(nodes)],
    )


def requested(**options: object) -> Fft3dParameters:
    return build(Fft3dParameters, **options)


def test_one_step_on_all_ranks_unless_scaling_is_asked_for() -> None:
    four = world([[0, 1, 2, 3]], [GIB] * 4)
    plan = agreed_plan(four, requested(size=32), GIB)
    assert [(step.ranks, step.pencils.size, step.whole) for step in plan.steps] == [(4, 32, True)]
    scaled = agreed_plan(four, requested(size=32, scaling="strong"), GIB)
    assert [step.ranks for step in scaled.steps] == [1, 2, 4]


def test_memory_is_that_of_all_ranks_of_a_node() -> None:
    # 64^3 complex doubles are 4 MiB; two arrays of it over four ranks are 2 MiB a rank.
    needed = 3 * 2 * MIB
    margin = 32 * MIB
    ranks = [[0, 1, 2], [3]]
    enough = [needed + margin] * 4
    agreed_plan(world(ranks, enough), requested(size=64), GIB)
    with pytest.raises(AgreedError, match=r"--size 64: n0 \(ranks 0-2\) needs 6 MiB .* can be"):
        agreed_plan(world(ranks, [needed + margin - 1, *enough[1:]]), requested(size=64), GIB)


def test_several_sizes_are_steps_by_rising_size() -> None:
    four = world([[0, 1, 2, 3]], [GIB] * 4)
    plan = agreed_plan(four, requested(size="64,16,32", grid="2x2"), GIB)
    assert [(step.ranks, step.pencils.size) for step in plan.steps] == [(4, 16), (4, 32), (4, 64)]
    assert array_bytes([step.pencils for step in plan.steps], 0) == 64**3 * 16 // 4


def test_two_loop_nests_take_a_third_array() -> None:
    needed, margin = 3 * 2 * MIB * 3 // 2, 32 * MIB
    enough = [needed + margin] * 4
    ranks, two = [[0, 1, 2], [3]], requested(size=64, nests="two")
    plan = agreed_plan(world(ranks, enough), two, GIB)
    assert plan.steps[0].pencils.arrays == 3
    with pytest.raises(AgreedError, match="needs 9 MiB"):
        agreed_plan(world(ranks, [needed + margin - 1, *enough[1:]]), two, GIB)


def test_a_whole_transform_is_made_only_where_it_fits() -> None:
    # Whole and one rank's part: 4 MiB + 1 MiB, besides the arrays.
    room = 32 * MIB + 4 * 2 * MIB
    for spare, whole in ((5 * MIB, True), (5 * MIB - 1, False)):
        plan = agreed_plan(world([[0, 1, 2, 3]], [room + spare] * 4), requested(size=64), GIB)
        assert plan.steps[0].whole is whole


def test_the_first_rank_has_the_largest_array_when_scaling() -> None:
    plan = agreed_plan(world([[0, 1, 2, 3]], [GIB] * 4), requested(size=32, scaling="strong"), GIB)
    cuts = [step.pencils for step in plan.steps]
    whole = 32**3 * 16
    assert [array_bytes(cuts, rank) for rank in range(5)] == [
        whole,
        whole // 2,
        whole // 4,
        whole // 4,
        0,
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"size": 64, "grid": "4x2"}, "needs 8 ranks, but 4 ranks run"),
        ({"size": 63}, "does not divide it; the nearest sizes that it divides: 62 and 64"),
        ({"size": 64, "grid": "2x2", "scaling": "weak"}, "--grid and --scaling"),
        ({"size": "64,128", "scaling": "weak"}, "several sizes are measured on all ranks only"),
        ({"size": 64, "nests": "two", "tile": 8}, "tiles are of the fused loop nest"),
        ({"size": 4096, "check": "whole"}, "--size 4096: .* needs"),
    ],
)
def test_all_ranks_refuse_alike(options: dict[str, object], said: str) -> None:
    with pytest.raises(AgreedError, match=said):
        agreed_plan(world([[0, 1, 2, 3]], [GIB] * 4), requested(**options), GIB)


def test_parameters_are_read_back_from_their_texts() -> None:
    given = requested(grid="2x4", size=256, scaling="weak", rate="50", components="memory,process")
    assert given.grid == Grid(2, 4)
    assert build(Fft3dParameters, **texts(given)) == given
    default = requested()
    assert build(Fft3dParameters, **texts(default)) == default


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        (
            "grid",
            "2by4",
            "--grid '2by4' is not a grid of ranks; write rows and columns, such as 2x4",
        ),
        ("size", "0", "--size '0' holds 0, which is not from 1 to 65536"),
        ("size", "2.5", "--size '2.5' is not a list of whole numbers"),
        ("repetitions", "0", "--repetitions '0' is not"),
        ("device", "gpu", "--device 'gpu'"),
        ("scaling", "both", "--scaling 'both'"),
        ("rate", "0", "--rate '0' is not a number of samples"),
        ("output", "", "--output '' is not a path"),
    ],
)
def test_a_wrong_value_is_named(option: str, value: str, said: str) -> None:
    with pytest.raises(RequestError, match=said) as raised:
        requested(**{option: value})
    assert "\n" not in str(raised.value)
