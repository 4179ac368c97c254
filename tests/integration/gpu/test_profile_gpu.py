"""`memgauge profile` of a GPU's memory, on stand-ins of the driver and CUPTI."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.command import memgauge

from memgauge.model.storage.run_file import read_run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.gpu_stand_in import GpuStandIn

pytestmark = pytest.mark.native

EVENTS = "cupti:0/dram_read,cupti:0/dram_write"


def test_device_memory_is_sampled_at_its_own_rate(gpu_stand_in: GpuStandIn, tmp_path: Path) -> None:
    words = ("profile", "--counters", EVENTS, "--rate", "1000", "--output", tmp_path / "run")
    done = memgauge(*words, "--", "sleep", "0.3", environment=gpu_stand_in.environment())
    assert done.returncode == 0, done.stderr
    assert "GPU memory read, GPU 0 0000:3a:00.0" in done.stderr
    run = read_run(tmp_path / "run")
    (lane,) = run.lanes
    assert lane.interval_ns == 50_000_000
    (counters,) = run.counters.values()
    assert [one.quantity for one in counters.of] == ["read_bytes", "write_bytes"]
    assert {one.generation_slot for one in counters.of} == {2}
    assert "CUPTI samples every 2 ms, whichever process uses it" in counters.notes[0]


def test_a_lack_of_rights_is_one_line_with_the_remedy(
    gpu_stand_in: GpuStandIn, tmp_path: Path
) -> None:
    environment = gpu_stand_in.environment(fail={"cuptiPmSamplingEnable": 35})
    program = ("sh", "-c", "exit 7")
    words = ("profile", "--counters", EVENTS, "--output", tmp_path / "run", "--", *program)
    done = memgauge(*words, environment=environment)
    assert done.returncode == 7, "the program runs nevertheless"
    (line,) = done.stderr.splitlines()
    assert line.startswith("memgauge: profile: not recorded: nothing can be watched here: ")
    assert "cupti:0/dram_read: GPU 0: cuptiPmSamplingEnable: " in line
    assert "NVreg_RestrictProfilingToAdminUsers=0" in line
