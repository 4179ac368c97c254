"""What tests of the runner share."""

from __future__ import annotations

import pytest

from memgauge.model.records import Clock
from memgauge.runner import start


@pytest.fixture
def no_native_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that needs no native core."""
    clock = Clock(
        source="monotonic_raw",
        ns_per_tick=1.0,
        cost_ns=20.0,
        resolution_ns=1.0,
        calibration_error_ppm=0.0,
        epoch_raw_ns=0,
    )
    monkeypatch.setattr(start, "clock_record", lambda: clock)
