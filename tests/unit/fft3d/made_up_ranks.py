"""Ranks without MPI: threads of this process that exchange through a list they share."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


class _Meeting:
    """What the ranks of one communicator share."""

    def __init__(self, ranks: int) -> None:
        self.barrier = threading.Barrier(ranks, timeout=30)
        self.table: list[Any] = [None] * ranks
        self.parts: dict[tuple[int, int], _Meeting] = {}
        self.lock = threading.Lock()


class MadeUpComm:
    """As much of mpi4py's communicator as the mini-app uses, but for sending one to one."""

    def __init__(self, meeting: _Meeting, rank: int) -> None:
        self._meeting = meeting
        self._rank = rank
        self._splits = 0

    def Get_rank(self) -> int:  # noqa: N802 - mpi4py's name
        return self._rank

    def Get_size(self) -> int:  # noqa: N802
        return len(self._meeting.table)

    def allgather(self, known: Any) -> list[Any]:
        self._meeting.table[self._rank] = known
        self._meeting.barrier.wait()
        found = list(self._meeting.table)
        self._meeting.barrier.wait()
        return found

    def gather(self, known: Any, root: int = 0) -> list[Any] | None:
        found = self.allgather(known)
        return found if self._rank == root else None

    def bcast(self, known: Any) -> Any:
        return self.allgather(known)[0]

    def Barrier(self) -> None:  # noqa: N802
        self._meeting.barrier.wait()

    def Split(self, color: int, key: int) -> MadeUpComm:  # noqa: N802
        together = self.allgather((color, key))
        mine = sorted(
            (other_key, rank)
            for rank, (other_color, other_key) in enumerate(together)
            if other_color == color
        )
        with self._meeting.lock:
            place = (self._splits, color)
            meeting = self._meeting.parts.setdefault(place, _Meeting(len(mine)))
        self._splits += 1
        return MadeUpComm(meeting, [rank for _, rank in mine].index(self._rank))

    def Alltoall(self, given: Any, stored: Any) -> None:  # noqa: N802
        size = self.Get_size()
        block = len(given) // size
        for rank, other in enumerate(self.allgather(given.copy())):
            mine = other[self._rank * block : (self._rank + 1) * block]
            stored[rank * block : (rank + 1) * block] = mine

    def Free(self) -> None:  # noqa: N802
        pass


def on_ranks(ranks: int, work: Callable[[MadeUpComm], Any]) -> list[Any]:
    """What the work returns on each of so many ranks, all at once."""
    meeting = _Meeting(ranks)
    with ThreadPoolExecutor(ranks) as pool:
        futures = [pool.submit(work, MadeUpComm(meeting, rank)) for rank in range(ranks)]
        return [future.result(timeout=60) for future in futures]
