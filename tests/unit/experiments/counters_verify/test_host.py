"""Known traffic with counters around it: what is planned, read and concluded."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

pytest.importorskip("memgauge._core")

from tests.unit.experiments.counting import (
    QUANTITIES,
    Board,
    Counting,
    Fault,
    install,
    instances,
    two_nodes,
    unbound_memory,
)
from tests.unit.experiments.machines import a_machine

from memgauge.analysis.counters_verify.section import event_verdicts
from memgauge.commands.root import COMMANDS
from memgauge.counters.host import Host
from memgauge.experiments.counters_verify.host import CountersVerify, CountersVerifyParameters
from memgauge.experiments.counters_verify.loads import places
from memgauge.experiments.registry import BEHIND_COMMANDS, EXPERIMENTS, load
from memgauge.model.counting.events import EventVerdict, Quantity
from memgauge.model.errors import CounterRefused, RequestError
from memgauge.model.parameters import build
from memgauge.model.run import Run
from memgauge.runner.request import Request
from memgauge.runner.run import execute
from memgauge.system.detect import detect

REGION = "2ms"


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def a_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **faults: Fault) -> Board:
    injected: dict[Quantity, Fault] = {q: faults[q] for q in QUANTITIES if q in faults}
    board = Board(tmp_path, "perf", injected)
    install(monkeypatch, Counting, board)
    monkeypatch.setattr(CountersVerify, "stimulus", board)
    return board


def verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    request = Request(
        experiments=[
            (CountersVerify(), build(CountersVerifyParameters, back_ends="perf", region=REGION))
        ],
        budget_s=60,
        precision=0.01,
        directory=tmp_path / "run",
        system=two_nodes(),
    )
    with unbound_memory(monkeypatch):
        return execute(request)


def by_quantity(run: Run) -> dict[str, EventVerdict]:
    return {one.event.split("/")[1]: one for one in event_verdicts(run)}


def test_each_memory_is_loaded_by_its_own_cpus_and_by_others() -> None:
    machine = a_machine(4, threads_per_core=2, sockets=2)
    found = places("cores", machine)
    assert [place.name for place in found] == ["node0", "node1-node0", "node1", "node0-node1"]
    assert found[0].cpus == (0, 1, 2, 3)
    alone = places("cores", a_machine(4))
    assert [place.name for place in alone] == ["node0"]


def test_it_is_no_part_of_a_survey_and_no_command_of_its_own() -> None:
    assert not set(BEHIND_COMMANDS) & set(EXPERIMENTS)
    assert set(BEHIND_COMMANDS) - set(COMMANDS) == {"counters_verify", "counters_compare"}
    assert {load(name).name for name in BEHIND_COMMANDS} == set(BEHIND_COMMANDS)


def test_memory_without_cpus_is_loaded_by_the_nearest() -> None:
    machine = a_machine(2, sockets=2)
    far = msgspec.structs.replace(
        machine.nodes[0], node=2, cpus=[], distances={0: 40, 1: 20, 2: 10}
    )
    empty = msgspec.structs.replace(far, node=3, bytes=0)
    machine = msgspec.structs.replace(machine, nodes=[*machine.nodes, far, empty])
    assert [place.name for place in places("cores", machine)][-1] == "node1-node2"


def test_every_place_gets_every_load() -> None:
    [group] = CountersVerify().plan(CountersVerifyParameters(), a_machine(4, sockets=2))
    names = [point.point for point in group.points]
    for place in ("node0", "node1", "node0-node1", "node1-node0"):
        assert f"counters_verify/read/{place}" in names
        assert f"counters_verify/write-temporal/{place}" in names
    assert len(set(names)) == len(names)
    assert all(point.threads == 4 for point in group.points)
    assert group.points == [load.point for one in group.places for load in one.loads]
    assert [one.nodes for one in group.places] == [[0], [0], [1], [1]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"threads": "2"}, "every node's memory is loaded by its own CPUs"),
        ({"memory": "node:0"}, "every node's memory is loaded by its own CPUs"),
        ({"region": "0s"}, "--region"),
        ({"region": "10s"}, "--region 10s: is not between"),
        ({"back_ends": "nvml"}, "choose from perf, pcp, resctrl"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        CountersVerify().plan(build(CountersVerifyParameters, **given), a_machine(4))


def test_good_counters_are_verified_and_loads_move_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = a_board(tmp_path, monkeypatch)
    run = verified(tmp_path, monkeypatch)
    assert {one.verdict for one in event_verdicts(run)} == {"verified"}
    known = {(m.load, m.place.name, m.read_bytes, m.write_bytes) for m in board.seen}
    for name, samples in run.samples.items():
        for sample in samples:
            _, load, place = name.split("/")
            reads = sum(thread.read_bytes for thread in sample.threads)
            writes = sum(thread.write_bytes for thread in sample.threads)
            assert (load, place, reads, writes) in known
            assert sample.idle is not None
            assert sample.idle.after_ns[0] - sample.idle.before_ns[1] >= 2_000_000
    assert {m.load for m in board.seen} >= {"idle", "read", "write-temporal"}
    assert all(check.passed for v in run.validations for check in v.checks)


@pytest.mark.parametrize("factor", [64.0, 2.0, 1 / 8])
def test_a_wrong_scale_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, factor: float
) -> None:
    a_board(tmp_path, monkeypatch, read_bytes=Fault(factor=factor))
    found = by_quantity(verified(tmp_path, monkeypatch))
    assert found["read_bytes"].verdict == "mis-scaled"
    assert found["read_bytes"].factor == factor
    assert found["write_bytes"].verdict == "verified"


def test_a_missing_socket_and_a_dead_counter_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = frozenset(name for name in instances() if name.endswith("cpu1"))
    a_board(
        tmp_path,
        monkeypatch,
        read_bytes=Fault(silent=far),
        write_bytes=Fault(silent=frozenset(instances())),
    )
    found = by_quantity(verified(tmp_path, monkeypatch))
    assert found["read_bytes"].verdict == "partial"
    assert set(found["read_bytes"].missing) == far
    assert "socket 1" in found["read_bytes"].evidence
    assert found["write_bytes"].verdict == "dead"


def test_what_cannot_be_opened_is_absent_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_board(tmp_path, monkeypatch, write_bytes=Fault(refused="permission denied"))
    found = by_quantity(verified(tmp_path, monkeypatch))
    assert found["write_bytes"].verdict == "absent"
    assert "permission denied" in found["write_bytes"].evidence
    assert found["read_bytes"].verdict == "verified"


def test_counters_that_cannot_be_open_together_take_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = a_board(tmp_path, monkeypatch)
    board.most_open = 1
    run = verified(tmp_path, monkeypatch)
    assert sorted(run.counters) == ["counters_verify/1", "counters_verify/2"]
    assert "counters_verify/read/node0/turn2" in run.points
    assert {one.verdict for one in event_verdicts(run)} == {"verified"}


def test_with_nothing_to_open_the_request_is_refused_and_leaves_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = Fault(refused="perf_event_paranoid is 2; run as root")
    a_board(tmp_path, monkeypatch, read_bytes=refused, write_bytes=refused)
    with pytest.raises(CounterRefused, match=r"no counter .* can be opened: .*run as root"):
        verified(tmp_path, monkeypatch)
    assert not (tmp_path / "run" / "records.jsonl").exists()


def test_events_that_count_no_memory_traffic_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_board(tmp_path, monkeypatch)
    event = msgspec.structs.replace(Counting(Host()).events()[0], quantity="cycles")
    monkeypatch.setattr(Counting, "events", lambda _: [event])
    parameters = build(CountersVerifyParameters, events=event.name)
    [group] = CountersVerify().plan(parameters, detect())
    with (
        pytest.raises(RequestError, match="counts no memory traffic"),
        CountersVerify().open(group, parameters),
    ):
        pass
