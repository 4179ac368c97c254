"""Counters of a stand-in GPU's memory for tests: what its kernels really moved, with chosen faults.

In the place of CUPTI's back end: before each reading the stand-in driver is asked for its totals.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import msgspec

from memgauge import _core
from memgauge.counters.base import MACHINE, BackEnd, Opened, Probe, Target, counter_of
from memgauge.model.counting.back_ends import BACK_ENDS, Entry
from memgauge.model.counting.events import Event, Quantity
from memgauge.model.errors import CounterRefused
from memgauge.system.gpu import driver as gpu_driver

if TYPE_CHECKING:
    import pytest
    from tests.gpu_stand_in import StandInFiles

EVENTS: dict[str, Quantity] = {"dram_read": "read_bytes", "dram_write": "write_bytes"}


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with one event."""

    factor: float = 1.0
    refused: str | None = None


class GpuCounting(BackEnd):
    """The totals of device 0 as counters; with 64 bytes more at each reading, as of others."""

    name: ClassVar[str] = "cupti"
    summary: ClassVar[str] = "counters of a test"
    files: ClassVar[StandInFiles]
    directory: ClassVar[Path]
    faults: ClassVar[dict[Quantity, Fault]]

    def probe(self) -> Probe:
        return Probe(state="ready")

    def events(self) -> list[Event]:
        return [
            Event(
                name=f"cupti:{device}/{text}",
                back_end=self.name,
                quantity=quantity,
                domain="gpu",
                scope="device",
                unit="B",
                scale=1.0,
                meaning="what the test says",
                encoding="a file",
                instances=[f"GPU {device}"],
                source="the test",
                traffic=f"gpu{device}",
                state="ready",
            )
            for device in range(2)
            for text, quantity in EVENTS.items()
        ]

    def open(self, events: Sequence[Event], target: Target = MACHINE) -> Opened:
        del target
        for event in events:
            fault = self.faults.get(event.quantity, Fault())
            if fault.refused is not None:
                raise CounterRefused(f"{event.name}: {fault.refused}")
        self.update()
        paths = [_core.NumberFile(str(self.directory / event.quantity)) for event in events]
        return Opened(
            sources=[_core.StimulusSource(self.update), _core.open_number_files(paths)],
            counters=[
                counter_of(
                    event, event.instances[0], slot=slot, route="test", scale_source="the test"
                )
                for slot, event in enumerate(events)
            ],
        )

    def update(self) -> None:
        """Write the totals as they are now."""
        totals = self.files.totals()
        moved: dict[Quantity, int] = {
            "read_bytes": totals.kernel_read_bytes,
            "write_bytes": totals.kernel_write_bytes,
        }
        for quantity, bytes_ in moved.items():
            factor = self.faults.get(quantity, Fault()).factor
            (self.directory / quantity).write_text(f"{round(bytes_ * factor)}\n")


def install(
    monkeypatch: pytest.MonkeyPatch,
    directory: Path,
    files: StandInFiles,
    faults: dict[Quantity, Fault] | None = None,
) -> None:
    """Put the stand-in driver, and counters of it, in place of the real ones."""
    for name, value in {"files": files, "directory": directory, "faults": faults or {}}.items():
        monkeypatch.setattr(GpuCounting, name, value, raising=False)
    monkeypatch.setitem(sys.modules, "memgauge.counters.of_gpu_test", sys.modules[__name__])
    monkeypatch.setitem(BACK_ENDS, "cupti", Entry("of_gpu_test", "GpuCounting"))
    monkeypatch.setattr(gpu_driver, "cuda_driver_file", lambda: files.driver)
    monkeypatch.setattr(gpu_driver, "nvrtc_file", lambda *_: files.compiler)
    for opened in (gpu_driver._driver, gpu_driver._gpu):
        opened.cache_clear()
