"""Counters around a piece of a Python program, with counts that are known."""

from __future__ import annotations

from importlib import import_module
from typing import ClassVar

import pytest

pytest.importorskip("memgauge._core")

import memgauge
from memgauge import _core
from memgauge.counters.base import MACHINE, BackEnd, Opened, Probe, Target
from memgauge.counters.regions import Counters
from memgauge.model.counting.back_ends import BACK_ENDS, Entry
from memgauge.model.counting.events import Counter, Event, Quantity
from memgauge.model.errors import RequestError, UnknownEvent

PLACES = (("imc_0", 0), ("imc_1", 1))
QUANTITIES: tuple[Quantity, ...] = ("read_bytes", "write_bytes")


class Doubled(BackEnd):
    """Two sockets, each of which counts the known traffic of this process, measured."""

    name = "doubled"
    summary = "test"
    targets: ClassVar[list[Target]] = []

    def probe(self) -> Probe:
        return Probe(state="ready")

    def events(self) -> list[Event]:
        return [self._event(quantity) for quantity in QUANTITIES]

    def _event(self, quantity: Quantity) -> Event:
        return Event(
            name=f"doubled:{quantity}",
            back_end=self.name,
            quantity=quantity,
            domain="memory",
            scope="controller",
            unit="B",
            scale=1.0,
            meaning="test",
            encoding="",
            instances=[],
            source="test",
            state="ready",
        )

    def open(self, events: object, target: Target = MACHINE) -> Opened:
        self.targets.append(target)
        counters = [
            Counter(
                name=f"doubled:{quantity}@{place}",
                event=f"doubled:{quantity}",
                back_end=self.name,
                quantity=quantity,
                domain="memory",
                scope="controller",
                unit="B",
                scale=1.0,
                scale_source="test",
                instance=place,
                socket=socket,
                slot=2 * at + way,
                route="test",
            )
            for at, (place, socket) in enumerate(PLACES)
            for way, quantity in enumerate(QUANTITIES)
        ]
        return Opened(sources=[_core.ModelledSource() for _ in PLACES], counters=counters)


@pytest.fixture(autouse=True)
def _doubled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACK_ENDS, "doubled", Entry(__name__, "Doubled"))
    monkeypatch.setattr("memgauge.counters.registry.import_module", _imported)


def _imported(name: str) -> object:
    return import_module(__name__ if name.endswith(__name__) else name)


def test_what_is_counted_inside_is_told_after_it() -> None:
    with memgauge.counters("modelled") as reading:
        _core.add_known_traffic(read_bytes=300, write_bytes=70)
    assert (reading.read_bytes, reading.write_bytes, reading.traffic_bytes) == (300, 70, 370)
    assert reading.seconds > 0
    assert reading.missing == []
    assert not reading.is_estimate
    value = reading.values["modelled:read_bytes@memgauge"]
    assert value is not None
    assert (value.value, value.raw) == (300, 300)


def test_counters_opened_once_count_many_regions_and_nested_ones() -> None:
    with memgauge.counters("modelled").opened() as counters:
        with counters.region("outer") as outer:
            _core.add_known_traffic(read_bytes=1, write_bytes=0)
            with counters.region("inner") as inner:
                _core.add_known_traffic(read_bytes=10, write_bytes=0)
        _core.add_known_traffic(read_bytes=100, write_bytes=0)
        with counters.region("again") as again:
            pass
    assert [one.read_bytes for one in (outer, inner, again)] == [11, 10, 0]
    assert outer.seconds >= inner.seconds


def test_a_region_that_raises_is_still_read() -> None:
    def fail() -> None:
        _core.add_known_traffic(read_bytes=5, write_bytes=0)
        raise ValueError("oops")

    with (
        memgauge.counters("modelled").opened() as counters,
        pytest.raises(ValueError, match="oops"),
        counters.region("bad") as reading,
    ):
        fail()
    assert reading.read_bytes == 5


def test_a_region_under_way_has_no_values() -> None:
    with (
        memgauge.counters("modelled") as reading,
        pytest.raises(RequestError, match="'whole': has not ended"),
    ):
        _ = reading.values


def test_counters_that_are_not_open_say_so() -> None:
    with pytest.raises(RequestError, match=r"not open; call open\(\)"):
        _ = memgauge.counters("modelled").notes


def test_an_unknown_event_is_refused_at_once() -> None:
    with pytest.raises(UnknownEvent, match="did you mean modelled:read_bytes"):
        memgauge.counters("modelled:read_byte")


def test_sockets_are_told_apart_and_measured_never_mixes_with_modelled() -> None:
    with Counters("doubled:read_bytes,doubled:write_bytes", "modelled") as reading:
        _core.add_known_traffic(read_bytes=8, write_bytes=2)
    assert len(reading.values) == 6
    assert (reading.read_bytes, reading.write_bytes) == (16, 4), "the measured ones alone"
    sockets = {socket: one.traffic_bytes for socket, one in reading.by_socket.items()}
    assert sockets == {0: 10, 1: 10}
    assert reading.by_socket[0].read_bytes == 8


def test_a_process_is_handed_to_events_that_can_be_bound_to_one() -> None:
    Doubled.targets.clear()
    with Counters("doubled:read_bytes", pid=1):
        pass
    (target,) = Doubled.targets
    assert list(target.pids) == [1]
    assert target.inherit


def test_the_names_of_subpackages_answer_calls() -> None:
    import_module("memgauge.counters.host")
    import_module("memgauge.system.detect")
    assert memgauge.system().cpus
    assert memgauge.counters("modelled").pid is None
