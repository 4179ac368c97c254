"""Devices as the driver shows them: made up, since no driver is here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.runner.fakes import a_system

from memgauge.model.errors import RequestError
from memgauge.model.memory import on_gpu
from memgauge.system.gpu import driver as gpu_driver
from memgauge.system.gpu.driver import device_facts
from memgauge.system.limits.room import ORDINARY_POOL, room
from memgauge.system.memory.sources import ORDINARY

GIB = 1 << 30


def device(index: int, **changes: object) -> Any:
    known: dict[str, object] = {"index": index, "name": f"Example {index}", "error": ""}
    return SimpleNamespace(**(known | {"integrated": False} | changes))


def shown(monkeypatch: pytest.MonkeyPatch, *devices: Any) -> None:
    driver = SimpleNamespace(version="13.0", devices=list(devices))
    monkeypatch.setattr(gpu_driver, "gpu_driver", lambda: driver)


def test_a_device_is_described_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    shown(monkeypatch, device(0), device(1))
    assert device_facts(on_gpu(1)).name == "Example 1"


@pytest.mark.parametrize(
    ("devices", "said"),
    [
        ([device(0), device(1)], "choose from cuda:0 (Example 0), cuda:1 (Example 1)"),
        ([], "the driver reports no device; check whether CUDA_VISIBLE_DEVICES hides them"),
        ([device(2, error="compute mode is prohibited")], "Example 2 cannot be used: compute mode"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(
    monkeypatch: pytest.MonkeyPatch, devices: list[Any], said: str
) -> None:
    shown(monkeypatch, *devices)
    with pytest.raises(RequestError, match=r"^memory cuda:2: ") as refused:
        device_facts(on_gpu(2))
    assert said in str(refused.value)


@pytest.mark.parametrize("is_integrated", [False, True])
def test_its_memory_is_a_pool_of_its_own_unless_it_is_the_machines(
    monkeypatch: pytest.MonkeyPatch, is_integrated: bool
) -> None:
    gpu = SimpleNamespace(facts=device(0, integrated=is_integrated), free_bytes=5 * GIB)
    monkeypatch.setattr(gpu_driver, "opened_gpu", lambda _: gpu)
    rooms = dict(room(a_system(available_bytes=GIB), on_gpu(0)))
    assert rooms.pop(on_gpu(0)) == 5 * GIB
    assert rooms == ({ORDINARY_POOL: GIB} if is_integrated else {})


def test_no_buffer_of_the_host_is_put_in_it() -> None:
    pytest.importorskip("memgauge._core")
    with pytest.raises(RequestError, match=r"^memory cuda:0: only the GPU's kernels can access it"):
        ORDINARY.of(on_gpu(0))
