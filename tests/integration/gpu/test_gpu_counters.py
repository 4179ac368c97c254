"""Counters of a GPU's memory from the command line, on stand-ins of the driver, NVRTC and CUPTI.

The stand-in of CUPTI gives as bytes of memory what kernels really loaded and stored.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.command import memgauge

if TYPE_CHECKING:
    from tests.gpu_stand_in import GpuStandIn

pytestmark = pytest.mark.native

SHORT = ["--memory", "cuda:0", "--precision", "0.3"]
VERIFY = ["counters", "verify", *SHORT, "--region", "2ms", "--budget", "20s"]
STREAM = ["stream", *SHORT, "--array-bytes", "4MiB", "--kernel", "triad", "--variant", "tuned"]


class Machine:
    """A machine with a stand-in GPU, and a state directory of its own."""

    def __init__(self, stand_in: GpuStandIn, place: Path) -> None:
        self._stand_in = stand_in
        self._place = place
        self._runs = 0

    def __call__(self, *words: str, **knobs: Any) -> Any:
        self._runs += 1
        environment = self._stand_in.environment(**({"l2_bytes": 1 << 16} | knobs))
        environment["XDG_STATE_HOME"] = str(self._place / "state")
        output = str(self._place / f"run-{self._runs}")
        return memgauge(*words, "--output", output, environment=environment)


@pytest.fixture
def machine(gpu_stand_in: GpuStandIn, tmp_path: Path) -> Machine:
    return Machine(gpu_stand_in, tmp_path)


def test_hardware_counts_what_software_does_and_verification_stands_beside(
    machine: Machine,
) -> None:
    done = machine(*VERIFY)
    assert done.returncode == 0, done.stderr
    assert "2 of 2 events of memory traffic count what is known to be moved" in done.stdout
    done = machine(*STREAM, "--counters", "auto", "--budget", "4s", "--json")
    assert done.returncode == 0, done.stderr
    (section,) = json.loads(done.stdout)["sections"]
    (triad,) = section["hardware"]
    assert (triad["kernel"], triad["memory"]) == ("triad, tuned, cuda:0", "cuda:0")
    assert (triad["back_end"], triad["trust"]) == ("cupti", "verified")
    for ratio in ("", "_reads", "_writes"):
        assert triad[f"hardware_to_software{ratio}"]["value"] == pytest.approx(1, rel=1e-3)


def test_a_wrong_scale_is_found_and_stands_beside_later_figures(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Applied and marked; or said, where no factor is to be applied."""
    done = machine(*VERIFY, cupti_factor=0.5)
    assert "cupti:0/dram_read is mis-scaled: counted 0.500" in done.stdout
    counted = (*STREAM, "--counters", "auto", "--budget", "6s")
    said = " ".join(machine(*counted, cupti_factor=0.5).stdout.split())
    assert "calibrated x2" in said
    assert "counters mis-scaled by 1/2" not in said
    monkeypatch.setenv("MEMGAUGE_CALIBRATION", "none")
    said = " ".join(machine(*counted, cupti_factor=0.5).stdout.split())
    assert "which was found mis-scaled by 1/2 on" in said
    assert "counters mis-scaled by 1/2" in said
    assert "calibrated x2" not in said


@pytest.mark.parametrize(
    ("words", "knobs", "said"),
    [
        (VERIFY, {"cupti_unsupported": "virtual_gpu"}, "virtual GPU's counters are not enabled"),
        (
            [*STREAM, "--counters", "auto"],
            {"cupti_unsupported": "confidential_computing"},
            "confidential computing is on",
        ),
        (
            VERIFY,
            {"fail": {"cuptiPmSamplingGetCounterAvailability": 35}},
            "INSUFFICIENT_PRIVILEGES",
        ),
        ([*STREAM, "--counters", "cupti:1/dram_read"], {}, "cupti:1/dram_read"),
        ([*STREAM, "--counters", "cupti:0/pcie_read"], {}, "can be counted only by sampling"),
    ],
)
def test_what_cannot_be_counted_is_one_line(
    machine: Machine, words: list[str], knobs: dict[str, Any], said: str
) -> None:
    done = machine(*words, **knobs)
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("memgauge: ")]
    assert len(lines) == 1, done.stderr
    assert said in lines[0]
