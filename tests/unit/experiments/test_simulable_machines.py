"""A user's machines: what the cache model refuses is refused when they are loaded."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.unit.experiments.machines import a_machine

from memgauge import api
from memgauge.experiments.shared import cache_machines as cache_native
from memgauge.experiments.shared.cache_machines import load_simulable
from memgauge.experiments.traffic.machines import machines_of
from memgauge.experiments.traffic.parameters import TrafficParameters
from memgauge.machines import library
from memgauge.model.cache_machine import CacheMachine
from memgauge.model.errors import RequestError, SystemFailure
from memgauge.model.parameters import build

pytestmark = pytest.mark.native

OWN = """
name = "mine"
title = "a small one"
source = "made up"
line_bytes = 64
[[levels]]
name = "L1"
bytes = 4096
ways = 4
"""


def written(folder: Path, text: str) -> str:
    path = folder / "own.toml"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (OWN.replace("ways = 4", "ways = 7"), "level L1: 4096 bytes are no multiple of ways x"),
        (OWN.replace("_bytes = 64", "_bytes = 63"), "lines of 63 bytes; give a power of two"),
        (OWN.replace("4096", "4_398_046_511_104"), "level L1: more than 2^30 lines"),
        (OWN + "inclusion = 'exclusive'", "level L1: nothing in front of it"),
        ("store_streams = {streams = 99}\n" + OWN, "99 store streams; give 1 to 16"),
    ],
)
def test_a_machine_that_cannot_be_simulated_is_refused_at_once(
    tmp_path: Path, text: str, why: str
) -> None:
    path = written(tmp_path, text)
    assert library.load(path).name == "mine"
    for load in (load_simulable, api.machine, _for_traffic):
        with pytest.raises(RequestError) as caught:
            load(path)
        message = str(caught.value)
        assert message.startswith("machine '/")
        assert f"cannot be simulated: {why}" in message
        assert "cache model of" not in message


def _for_traffic(path: str) -> object:
    return machines_of(build(TrafficParameters, kernel="gemm", machine=path), a_machine(2))


def test_what_can_be_simulated_is_given_as_it_is(tmp_path: Path) -> None:
    path = written(tmp_path, OWN)
    assert load_simulable(path) == library.load(path)


def test_without_the_core_machines_are_still_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise SystemFailure("the native core is missing")

    monkeypatch.setattr(cache_native, "load_core", missing)
    assert [load_simulable(name).name for name in library.SHIPPED] == list(library.SHIPPED)
    assert load_simulable(written(tmp_path, OWN)).name == "mine"


def test_too_little_memory_for_a_model_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(machine: CacheMachine) -> None:
        del machine
        raise MemoryError

    monkeypatch.setattr(cache_native, "cache_model", full)
    with pytest.raises(RequestError, match="cannot be simulated: too many lines"):
        load_simulable(written(tmp_path, OWN))


@pytest.mark.parametrize(
    "changes", [{"bytes": 1 << 42}, {"ways": (1 << 31) - 1}, {"cores": (1 << 31) - 1}]
)
def test_whatever_the_fields_may_hold_the_core_can_take(changes: dict[str, int]) -> None:
    """Its own refusals, and not one of Python's types."""
    machine = library.load("hybrid-12")
    level = msgspec.structs.replace(machine.levels[0], **changes)
    changed = msgspec.structs.replace(machine, levels=[level, *machine.levels[1:]])
    with pytest.raises(RequestError, match="cache model of hybrid-12: level L"):
        cache_native.cache_model(changed)
