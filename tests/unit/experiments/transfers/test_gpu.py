"""What `transfers` plans, and what a visit gives, with devices and buffers that are made up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.analysis.runs import start
from tests.unit.experiments.machines import a_machine
from tests.unit.experiments.made_up_gpus import FakeTransfers, a_gpu

from memgauge import _core
from memgauge.analysis.figures.speeds import sample_value
from memgauge.experiments.registry import EXPERIMENTS, for_memory, load
from memgauge.experiments.shared.base import Bench
from memgauge.experiments.transfers import gpu as transfers
from memgauge.experiments.transfers import place
from memgauge.experiments.transfers.gpu import Transfers
from memgauge.experiments.transfers.parameters import TransfersParameters
from memgauge.experiments.transfers.plan import TransfersGroup, ends_of
from memgauge.experiments.transfers.sizes import (
    LEAST_AT_ONCE,
    MOST_REPEATS,
    MOST_STAMPS,
    iterations_of,
    repeats_of,
    transfer_sizes,
)
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.parameters import build, texts
from memgauge.model.records import RunEnd
from memgauge.model.rules import StreamRules
from memgauge.system.gpu.pci_link import PciPlace

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
CUDA = {"memory": "cuda:0"}


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """A driver that shows so many GPUs."""

    def show(count: int) -> None:
        devices = [a_gpu(index) for index in range(count)]
        monkeypatch.setattr(transfers, "opened_gpu", lambda placement: devices[placement.device])
        monkeypatch.setattr(transfers, "gpu_facts", lambda gpu: {"gpu": gpu.facts.name})
        driver = SimpleNamespace(devices=[device.facts for device in devices])
        monkeypatch.setattr(transfers, "gpu_driver", lambda: driver)
        monkeypatch.setattr(_core, "GpuTransfers", FakeTransfers, raising=False)

    return show


def planned(**given: str) -> list[TransfersGroup]:
    return Transfers().plan(build(TransfersParameters, **{**CUDA, **given}), a_machine(2))


@contextmanager
def bench(at: int = 0, **given: str) -> Iterator[Bench]:
    experiment, system = Transfers(), a_machine(2)
    parameters = build(TransfersParameters, **{**CUDA, **given})
    group = experiment.plan(parameters, system)[at]
    with experiment.open(group, parameters) as made:
        assert [p.point for p in made.points] == [p.point for p in group.points]
        yield made


def test_every_end_has_every_direction_and_size(gpus: Callable[[int], None]) -> None:
    gpus(2)
    groups = planned(sizes="4KiB,1MiB")
    assert [group.name for group in groups] == ["pinned", "pageable", "peer-1"]
    assert [point.point for point in groups[0].points] == [
        "transfers/pinned/host-to-device/4KiB",
        "transfers/pinned/host-to-device/1MiB",
        "transfers/pinned/device-to-host/4KiB",
        "transfers/pinned/device-to-host/1MiB",
        "transfers/pinned/both/4KiB/host-to-device",
        "transfers/pinned/both/4KiB/device-to-host",
        "transfers/pinned/both/1MiB/host-to-device",
        "transfers/pinned/both/1MiB/device-to-host",
    ]
    assert {point.requested["peer"] for point in groups[2].points} == {"cuda:1"}
    for group in groups:
        assert {str(where) for where in group.bytes_in} == (
            {"cuda:0", "cuda:1"} if group.name == "peer-1" else {"cuda:0", "dram"}
        )
        assert group.bytes == sum(group.bytes_in.values()) == 4 * MIB


@pytest.mark.parametrize(
    ("given", "direct", "expected"),
    [
        ({}, [2, 3], [2]),
        ({}, [], [2]),
        ({}, [0], [0]),
        ({"peer": "all"}, [2], [0, 2, 3]),
        ({"sweep": "fine"}, [], [0, 2, 3]),
        ({"peer": "3,0"}, [], [3, 0]),
        ({"peer": "none"}, [0], []),
    ],
)
def test_one_peer_unless_more_are_asked_for(
    given: dict[str, str], direct: list[int], expected: list[int]
) -> None:
    found = ends_of(build(TransfersParameters, **CUDA, **given), [0, 1, 2, 3], 1, direct)
    assert [one.peer for one in found if one.peer is not None] == expected


def test_one_gpu_has_no_peers(gpus: Callable[[int], None]) -> None:
    gpus(1)
    assert [group.name for group in planned()] == ["pinned", "pageable"]
    assert [group.name for group in planned(host="pinned", peer="none")] == ["pinned"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"direction": "to-peer"}, "has no other GPU to transfer to or from here; ask for host-to"),
        ({"peer": "0"}, "--peer 0: is cuda:0 itself; copies within one GPU are those of memgauge"),
        ({"peer": "3"}, "--peer 3: the driver reports no such GPU besides cuda:0, .* no other one"),
        ({"threads": "2"}, "--threads: does not apply to cuda:0"),
        ({"cpus": "0"}, "--cpus: does not apply to cuda:0"),
    ],
)
def test_what_is_not_there_is_one_line(
    given: dict[str, str], message: str, gpus: Callable[[int], None]
) -> None:
    gpus(1)
    with pytest.raises(RequestError, match=message) as refused:
        planned(**given)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"peer": "nobody"}, "--peer 'nobody' is neither all, none nor a list"),
        ({"sizes": "4KiB", "largest_bytes": "8KiB"}, "leave one out"),
        ({"host_memory": "cuda:1"}, "--host-memory cuda:1: transfers go to and from ordinary"),
        ({"host_memory": "file:/tmp/x"}, "choose dram, node:N or interleave"),
        ({"host": "mapped"}, "choose from pinned, pageable"),
        ({"direction": "up"}, "choose from host-to-device, device-to-host, both, to-peer"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        build(TransfersParameters, **CUDA, **given)


def test_memory_of_the_host_is_refused_in_words() -> None:
    """Before the driver is looked for: a survey of the host starts none."""
    with pytest.raises(
        NotPossibleHere, match=r"--memory dram is not a GPU; name one, such as .*cuda:0"
    ):
        Transfers().plan(TransfersParameters(), a_machine(2))


def test_it_is_part_of_a_survey_and_measures_gpus() -> None:
    assert "transfers" in EXPERIMENTS
    experiment = load("transfers")
    assert type(for_memory(experiment, build(TransfersParameters, **CUDA))) is Transfers


def test_parameters_are_read_back() -> None:
    requested = build(
        TransfersParameters, memory="cuda:1", peer="2,0", sizes="4KiB,1MiB", host_memory="node:1"
    )
    assert build(TransfersParameters, **texts(requested)) == requested
    assert requested.peers == (2, 0)
    assert build(TransfersParameters, **CUDA).peers is None
    assert not build(TransfersParameters, **CUDA).all_peers
    assert build(TransfersParameters, sweep="fine", **CUDA).all_peers
    assert build(TransfersParameters, peer="none", **CUDA).peers == ()


@given(st.integers(0, 1 << 44), st.integers(0, 1 << 44), st.sampled_from(["coarse", "fine"]))
def test_sizes_rise_by_powers_of_two_and_fit(device: int, host: int, sweep: str) -> None:
    sizes = transfer_sizes(build(TransfersParameters, sweep=sweep, **CUDA), device, host)
    smallest = 64 if sweep == "fine" else KIB
    assert sizes[0] == smallest
    assert all(other == 2 * one for one, other in pairwise(sizes))
    assert sizes[-1] == smallest or 2 * sizes[-1] <= min(device, host) / 4
    if min(device, host) >= 8 * GIB:
        assert sizes[-1] == (GIB if sweep == "fine" else 256 * MIB)


def test_sizes_asked_for_are_those() -> None:
    assert transfer_sizes(build(TransfersParameters, sizes="3MiB,5", **CUDA), 1, 1) == (5, 3 * MIB)
    largest = transfer_sizes(build(TransfersParameters, largest_bytes="3KiB", **CUDA), GIB, GIB)
    assert largest == (KIB, 2 * KIB, 3 * KIB)


@given(st.integers(1, 1 << 40), st.booleans())
def test_a_visit_has_some_transfers_and_not_too_many(size: int, at_once: bool) -> None:
    stamps, repeats = iterations_of(size, at_once=at_once), repeats_of(size)
    least = LEAST_AT_ONCE if at_once else 1
    assert least <= stamps <= MOST_STAMPS
    assert 1 <= repeats <= MOST_REPEATS
    assert stamps * repeats <= 256
    assert size * repeats * stamps <= max(16 * MIB, size * repeats * least)


def test_one_direction_is_one_sample_and_two_are_two(gpus: Callable[[int], None]) -> None:
    gpus(1)
    rules = StreamRules()
    with bench(sizes="4KiB,1MiB") as made:
        rules.check(start())
        for point in made.points:
            rules.check(point)
        for point in made.points:
            if point.measured_with is not None:
                continue
            taken = made.measure(point.point, 3)
            for sample in taken:
                rules.check(sample)
            assert [sample.round for sample in taken] == [3] * len(taken)
            if point.requested["at_once"]:
                one, other = taken
                assert one.window_ns == other.window_ns is not None
                assert one.threads[0].end_ns[-1] < other.threads[0].end_ns[-1], "its own stamps"
                assert one.window_ns == (1000, one.threads[0].end_ns[-1])
            else:
                (only,) = taken
                assert sample_value(point, only) == 2.0, "however many there are in a stamp"
                assert len(only.threads[0].begin_ns) == iterations_of(
                    int(str(point.requested["transfer_bytes"])), at_once=False
                )
                assert only.window_ns is None
        (validation,) = made.validate()
        assert (validation.experiment, validation.subject) == ("transfers", "pinned")
    rules.check(RunEnd(status="complete", elapsed_s=1.0, rounds=1))


def test_the_link_is_looked_at_while_transfers_run(
    gpus: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    gpus(2)
    monkeypatch.setattr(place, "pci_place", lambda tree, bus_id: PciPlace(node=1))
    for at, queued in ((0, True), (1, False)):
        with bench(at, sizes="1MiB") as made:
            facts = made.points[0].actual
            assert facts["gpu"] == "GPU 0"
            assert facts["pages"] == "thp"
            assert facts["gpu_node"] == 1
            calls = FakeTransfers.latest.calls
            assert (("start" in calls), ("finish" in calls)) == (queued, queued)
    with bench(2, sizes="1MiB") as made:
        assert made.points[0].actual["direct"] is True
        assert FakeTransfers.latest.peer.facts.index == 1


def test_transfers_that_waited_for_the_host_are_no_sample(
    gpus: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    gpus(1)
    monkeypatch.setattr(FakeTransfers, "host_was_slower", True)
    with bench(sizes="1KiB") as made:
        assert made.measure(made.points[0].point, 0) == []
        (warning,) = Transfers().check(made.points[0], [], a_machine(2))
        assert "the host queued these transfers more slowly than the GPU made them" in (
            warning.message
        )
    monkeypatch.setattr(FakeTransfers, "host_was_slower", False)
    with bench(sizes="1KiB") as made:
        assert made.measure(made.points[0].point, 0)
        assert Transfers().check(made.points[0], [1000], a_machine(2)) == []


def test_buffers_are_freed_however_it_ends(gpus: Callable[[int], None]) -> None:
    gpus(1)
    with pytest.raises(KeyError), bench(sizes="1KiB") as made:
        made.measure("nonsense", 0)
    assert FakeTransfers.latest.calls[-1] == "close"


def test_an_error_of_the_core_goes_through(
    gpus: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    gpus(1)

    def refuse(*args: Any, **more: Any) -> None:
        raise RequestError("cuda:0: has not so much memory free")

    monkeypatch.setattr(_core, "GpuTransfers", refuse)
    with pytest.raises(RequestError, match="has not so much"), bench(sizes="1KiB"):
        pass
