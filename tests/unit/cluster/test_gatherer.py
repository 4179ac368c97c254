import zlib
from pathlib import Path

import pytest
from tests.unit.analysis.cluster.nodes import manifest

from memgauge.cluster.gatherer import HELLO_S, Gatherer
from memgauge.cluster.mailbox import Mailbox
from memgauge.cluster.messages import (
    Alive,
    AnyMessage,
    Begin,
    Finished,
    Hello,
    Leave,
    Piece,
    Ready,
    Role,
)
from memgauge.model.storage.cluster import ClusterNode, read_manifest


class FakeMailbox(Mailbox):
    def __init__(self, size: int) -> None:
        self.rank, self.size = 0, size
        self.sent: list[tuple[int, AnyMessage]] = []

    def send(self, to: int, message: AnyMessage) -> None:
        self.sent.append((to, message))

    def take(self, kind: type) -> list[int]:
        found = [to for to, message in self.sent if isinstance(message, kind)]
        self.sent = [(to, message) for to, message in self.sent if not isinstance(message, kind)]
        return found


class Job:
    """A gatherer of so many nodes, of one rank each, with a clock of its own."""

    def __init__(self, directory: Path, nodes: int, **changes: object) -> None:
        self.now_s = 100.0
        self.said: list[str] = []
        self.directory = directory
        self.mailbox = FakeMailbox(nodes)
        fields = {"nodes": [], "budget_s": 20.0, "grace_s": 10.0, "ended": False} | changes
        self.gatherer = Gatherer(
            self.mailbox,
            manifest([], **fields),
            directory,
            self.said.append,
            clock=lambda: self.now_s,
        )

    def hello(self, *ranks: int) -> None:
        for rank in ranks:
            self.gatherer.hear(rank, Hello(hostname=f"n{rank}", boot=f"b{rank}", cpus=[0]))

    def ready(self, *ranks: int, sees: bool = True) -> None:
        for rank in ranks:
            self.gatherer.hear(
                rank,
                Ready(
                    cpus=4,
                    cpus_why="",
                    sees_directory=sees,
                    directory=None if sees else f"/somewhere/{rank}",
                ),
            )

    def done(self, *ranks: int) -> None:
        for rank in ranks:
            message = Finished(state="done", why=None, exit_code=0, elapsed_s=5.0)
            self.gatherer.hear(rank, message)

    def later(self, seconds: float, *alive: int) -> None:
        """Time passes a second at a time, in which these nodes are heard."""
        for _ in range(round(seconds)):
            self.now_s += 1
            for rank in alive:
                self.gatherer.hear(rank, Alive())
            self.gatherer.step()

    def begun(self) -> list[int]:
        self.gatherer.step()
        return self.mailbox.take(Begin)

    @property
    def nodes(self) -> dict[str, ClusterNode]:
        self.gatherer.close()
        return {node.name: node for node in read_manifest(self.directory).nodes}


def test_all_nodes_measure_at_once_when_all_are_there(tmp_path: Path) -> None:
    job = Job(tmp_path, 3)
    job.hello(0, 2)
    assert job.begun() == []
    job.hello(1)
    job.gatherer.step()
    assert job.mailbox.take(Role) == [0, 1, 2]
    assert [node.name for node in read_manifest(tmp_path).nodes] == ["n0", "n1", "n2"]
    assert job.begun() == []
    job.ready(0, 1, 2)
    assert job.begun() == [0, 1, 2]
    job.done(0, 1, 2)
    assert job.gatherer.is_over
    assert job.mailbox.take(Leave) == []
    assert {node.state for node in job.nodes.values()} == {"done"}


@pytest.mark.parametrize(("at_once", "first"), [(1, [0]), (2, [0, 1])])
def test_nodes_measure_in_turn(at_once: int, first: list[int], tmp_path: Path) -> None:
    job = Job(tmp_path, 3, nodes_at_once=at_once)
    job.hello(0, 1, 2)
    job.gatherer.step()
    job.ready(0, 1, 2)
    assert job.begun() == first
    job.later(5, *first)
    assert job.mailbox.take(Begin) == []
    job.done(0)
    assert job.begun() == [at_once]


def test_a_silent_node_is_given_up_and_the_next_has_its_turn(tmp_path: Path) -> None:
    job = Job(tmp_path, 2, nodes_at_once=1)
    job.hello(0, 1)
    job.gatherer.step()
    job.ready(0, 1)
    assert job.begun() == [0]
    job.later(9)
    assert job.mailbox.take(Begin) == []
    job.later(2)
    assert job.mailbox.take(Begin) == [1]
    assert "n0: given up: rank 0, which leads it, sent no message for 11 s" in job.said
    assert job.said[-1] == "1 of 2 nodes done, 1 measuring"
    assert job.mailbox.take(Leave) == [0]
    job.done(0)  # too late: its state stands
    job.done(1)
    assert [node.state for node in job.nodes.values()] == ["given up", "done"]


def test_a_node_that_is_late_is_given_up_though_it_lives(tmp_path: Path) -> None:
    job = Job(tmp_path, 2)
    job.hello(0, 1)
    job.gatherer.step()
    job.ready(0, 1)
    assert job.begun() == [0, 1]
    job.later(15, 0, 1)
    job.done(1)
    job.later(14, 0)
    assert not job.gatherer.is_over
    job.later(3, 0)
    assert job.gatherer.is_over
    assert job.nodes["n0"].why == "it was not done 10.0 s after its budget of 20.0 s"
    assert job.nodes["n1"].state == "done"


def test_ranks_that_never_come_are_told(tmp_path: Path) -> None:
    job = Job(tmp_path, 3)
    job.hello(0, 2)
    job.later(HELLO_S - 1)
    assert job.mailbox.take(Role) == []
    job.later(2)
    assert job.mailbox.take(Role) == [0, 2]
    assert job.gatherer.manifest.unheard == [1]


def test_a_failed_survey_is_told_and_no_straggler(tmp_path: Path) -> None:
    job = Job(tmp_path, 1)
    job.hello(0)
    job.gatherer.step()
    job.ready(0)
    assert job.begun() == [0]
    job.gatherer.hear(0, Finished(state="failed", why="no memory", exit_code=2, elapsed_s=1.0))
    assert job.said[-1] == "n0: failed: no memory"
    assert job.gatherer.is_over
    assert job.mailbox.take(Leave) == []
    assert (job.nodes["n0"].exit_code, job.nodes["n0"].why) == (2, "no memory")


def test_what_is_under_way_when_the_job_is_ended_is_cut_short(tmp_path: Path) -> None:
    job = Job(tmp_path, 2)
    job.hello(0, 1)
    job.gatherer.step()
    job.ready(0, 1)
    job.begun()
    job.done(0)
    found = job.gatherer.close("the job was ended by SIGTERM")
    assert found.ended
    assert [(node.state, node.why) for node in found.nodes] == [
        ("done", None),
        ("cut short", "the job was ended by SIGTERM"),
    ]
    assert read_manifest(tmp_path) == found


def test_files_of_a_node_that_does_not_see_the_directory_are_written(tmp_path: Path) -> None:
    job = Job(tmp_path, 1)
    job.hello(0)
    job.gatherer.step()
    job.ready(0, sees=False)
    for part, data in enumerate((b"one\n", b"two\n")):
        piece = Piece(file="../records.jsonl", data=zlib.compress(data), is_first=part == 0)
        job.gatherer.hear(0, piece)
    assert (tmp_path / "nodes" / "n0" / "records.jsonl").read_bytes() == b"one\ntwo\n"
    assert not (tmp_path / "nodes" / "records.jsonl").exists()
    assert job.nodes["n0"].sent
    assert job.nodes["n0"].directory == "/somewhere/0"


def test_many_nodes_say_seldom_that_they_are_alive(tmp_path: Path) -> None:
    job = Job(tmp_path, 2000, grace_s=120.0)
    job.hello(*range(2000))
    job.gatherer.step()
    roles = [message for _, message in job.mailbox.sent if isinstance(message, Role)]
    assert {role.alive_every_s for role in roles} == {20.0}
    assert sum(role.leads for role in roles) == 2000
