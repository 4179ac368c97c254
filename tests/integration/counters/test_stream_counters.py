"""`stream --counters` from the counters to the report, on trees whose counts are fed exactly.

The PMUs of these trees are tracepoints that any Linux opens. Whenever the counters are read, system
calls are made for the traffic that the kernels are known to have caused since, so that a region's
counters tell exactly that, through everything that lies between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("memgauge._core")

from tests.counters_trees import tracepoints
from tests.counters_trees.feed import Feed, fed

import memgauge
from memgauge.counters.verdicts import Place, keep, place_of
from memgauge.model.counting.events import EventVerdict

pytestmark = [pytest.mark.native, pytest.mark.whole_machine]


def _verdict(place: Place, event: str) -> EventVerdict:
    return EventVerdict(
        event=event,
        verdict="mis-scaled",
        evidence="counted 2.00 times what was known to be moved.",
        factor=2.0,
        machine=place.machine,
        kernel=place.kernel,
        made_at="2026-01-01T00:00:00+00:00",
    )


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., dict[str, Any]]]:
    """Runs `stream` on a tree and returns what the document says of the hardware."""
    reason = tracepoints.missing()
    if reason:
        pytest.skip(reason)

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def made(
        name: str,
        cpu: int,
        reads: float = 1.0,
        writes: float = 1.0,
        verified: str | None = None,
        **options: str,
    ) -> dict[str, Any]:
        tree = tracepoints.TREES[name](tmp_path / name)
        if tree is None:
            pytest.skip("no two system calls whose tracepoints differ in one bit")
        feed = Feed(tree, cpu, reads, writes)
        if verified is not None:
            place = place_of(tree.host_as_we_are)
            keep(place, [_verdict(place, verified)])

        settings: dict[str, Any] = {
            "kernel": "add",
            "variant": "standard",
            "threads": "1",
            "counters": "auto",
        }
        with fed(tree, feed, monkeypatch):
            result = memgauge.stream(
                **(settings | options),
                array_bytes="16KiB",
                budget="4s",
                precision="50%",
                output=str(tmp_path / "run"),
            )
        document = result.document()
        section = document["sections"][0]
        (found,) = section["hardware"]
        said = [*document["verdicts"], *section["verdicts"]]
        return {"text": " ".join(one["text"] for one in said), **found}

    with tracepoints.alone():
        yield made


PLACES = {
    "intel_server": {0: 2, 1: 2},
    "amd_umc": {0: 1, 1: 1},
    "dmc620": {0: 8, 1: 8},
    "grace": {0: 1, 1: 1},
    "power9": {0: 2, 1: 2},
}
"""Of each platform: places by socket."""


@pytest.mark.parametrize("name", PLACES)
def test_what_the_kernel_moves_is_what_the_counters_say(
    name: str, run: Callable[..., dict[str, Any]]
) -> None:
    found = run(name, cpu=0)
    assert found["hardware_to_software_allocated"]["value"] == pytest.approx(1, rel=0.01)
    assert found["allocation_share"]["value"] == pytest.approx(1, abs=0.05)
    assert {one["socket"]: len(one["places"]) for one in found["sockets"]} == PLACES[name]
    assert found["repetitions"] >= 99
    assert found["idle_regions"] >= 1
    assert not found["missing"]
    assert "each line was read before it was written (write-allocate)" in found["text"]
    assert "Never verified on this machine" in found["text"]


@pytest.mark.parametrize("name", ["intel_server", "amd_umc", "grace"])
def test_traffic_of_the_second_socket_is_told_apart(
    name: str, run: Callable[..., dict[str, Any]]
) -> None:
    found = run(name, cpu=1)
    near, far = found["sockets"]
    assert near["traffic"]["total_bytes_per_s"]["value"] == 0
    assert far["traffic"]["total_bytes_per_s"]["value"] > 0
    assert "100.0% on socket 1" in found["text"]


def test_evaded_write_allocate_is_seen(run: Callable[..., dict[str, Any]]) -> None:
    found = run("intel_server", cpu=0, reads=2 / 3)
    assert found["hardware_to_software"]["value"] == pytest.approx(1, rel=0.01)
    assert "no write-allocate took place" in found["text"]


def test_streaming_stores_read_no_line(run: Callable[..., dict[str, Any]]) -> None:
    found = run("intel_server", cpu=0, variant="tuned")
    assert found["hardware_to_software"]["value"] == pytest.approx(1, rel=0.01)
    assert "streaming stores read no line first" in found["text"]


def test_counters_off_by_two_are_noticed(run: Callable[..., dict[str, Any]]) -> None:
    found = run("intel_server", cpu=0, reads=4 / 3, writes=2)
    assert "mis-scaled by 2" in found["text"]


def test_excess_writes_are_noticed(run: Callable[..., dict[str, Any]]) -> None:
    found = run("intel_server", cpu=0, writes=1.2)
    assert "more than the kernel does" in found["text"]


def test_a_kept_verdict_stands_beside_the_figures(run: Callable[..., dict[str, Any]]) -> None:
    event = "perf:uncore_imc/cas_count_read/"
    found = run("intel_server", cpu=0, verified=event)
    assert found["trust"] == "mis-scaled by 2"
    assert f"Figures here rest on {event}, which was found mis-scaled by 2 on" in found["text"]
    assert "Never verified on this machine and kernel: perf:uncore_imc/cas" in found["text"]
