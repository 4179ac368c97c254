"""What ranks agree on about the devices that compute their FFTs."""

from typing import Any

import pytest
from tests.unit.fft3d.made_up_ranks import MadeUpComm, on_ranks

from memgauge.analysis.fft3d.shape import Pencils
from memgauge.cluster.mpi import StartedMpi
from memgauge.fft3d.devices import Device
from memgauge.fft3d.parameters import Fft3dParameters
from memgauge.fft3d.plan import Plan, Step
from memgauge.fft3d.rounds import all_rounds, ranks_by
from memgauge.fft3d.world import AgreedError, Node, World
from memgauge.model.errors import RequestError
from memgauge.model.grid import Grid

pytest.importorskip("numpy", reason="NumPy is not installed (pip install 'memgauge[mpi]')")

RANKS = 2


class OneOfTwo(Device):
    """Refuses on the second rank."""

    def __init__(self, rank: int) -> None:
        self._rank = rank
        self.closed = False

    def prepare(self, arrays: Any, shapes: Any) -> list[str]:
        assert [len(array) for array in arrays] == [256, 256]
        assert shapes == [(32, 8)]
        if self._rank == 1:
            raise RequestError("its GPU has no room")
        return []

    def fft(self, pencils: Any) -> None:
        raise AssertionError("a rank went on alone")

    def close(self) -> None:
        self.closed = True


def world_of(comm: MadeUpComm) -> World:
    rank = comm.Get_rank()
    started = StartedMpi(rank=rank, size=RANKS, library="none", communicator=comm, mpi=None)
    return World(started, [Node(name="here", ranks=list(range(RANKS)))])


def test_what_one_rank_has_no_room_for_ends_all_with_one_line() -> None:
    pencils = Pencils(size=8, grid=Grid(1, RANKS))
    plan = Plan(parameters=Fft3dParameters(), steps=[Step(pencils=pencils, whole=True)])

    def rank(comm: MadeUpComm) -> tuple[str, bool]:
        device = OneOfTwo(comm.Get_rank())
        with pytest.raises(AgreedError) as caught:
            all_rounds(world_of(comm), plan, device)
        return str(caught.value), device.closed

    assert on_ranks(RANKS, rank) == [("rank 1: its GPU has no room", True)] * RANKS


def test_what_ranks_tell_stands_once_with_their_numbers() -> None:
    known: dict[int, list[str | None]] = {0: ["a", "b"], 1: [None], 2: ["a"], 3: ["a"]}

    def rank(comm: MadeUpComm) -> dict[str, str]:
        return ranks_by(world_of(comm), known[comm.Get_rank()])

    assert on_ranks(4, rank) == [{"a": "0,2-3", "b": "0"}] * 4
