"""`memgauge transfers` and `tiers --b cuda:0` as a user meets them, on a stand-in for a GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from tests.integration import command

from memgauge.model.storage.run_file import read_run

if TYPE_CHECKING:
    from tests.gpu_stand_in import GpuStandIn

pytestmark = pytest.mark.native

SCRIPTED: dict[str, Any] = {
    "clock": "scripted",
    "copy_ns": 2000,
    "to_device_ns_per_byte": 0.04,
    "to_host_ns_per_byte": 0.05,
    "peer_ns_per_byte": 0.004,
}
"""Copies that follow Hockney's model exactly: 25 GB/s and 50,000 bytes, 20 GB/s and 40,000."""


def document(*arguments: str, standing_in: GpuStandIn, cwd: Path, **knobs: Any) -> dict[str, Any]:
    done = command.memgauge(
        *arguments, "--json", cwd=cwd, environment=standing_in.environment(**knobs)
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_half_bandwidth_point_of_a_known_curve_is_found(
    gpu_stand_in: GpuStandIn, tmp_path: Path
) -> None:
    """From the command to the document: transfers whose time is n x 0.04 ns + 2 us."""
    requested = ("transfers", "--memory", "cuda:0", "--host", "pinned", "--budget", "3s")
    found = document(*requested, standing_in=gpu_stand_in, cwd=tmp_path, **SCRIPTED, devices=2)
    lines = {(one["host"], one["peer"], one["direction"]): one for one in found["transfers"]}
    assert list(lines) == [
        ("pinned", None, "host-to-device"),
        ("pinned", None, "device-to-host"),
        (None, "cuda:1", "to-peer"),
        (None, "cuda:1", "from-peer"),
    ]
    for (_, _, direction), r_inf in zip(lines, (25, 20, 250, 250), strict=True):
        line = next(one for key, one in lines.items() if key[2] == direction)
        assert line["model"]["followed"]
        assert line["model"]["asymptote"]["value"] == pytest.approx(r_inf, rel=2e-3)
        assert line["model"]["half_bytes"]["value"] == pytest.approx(2000 * r_inf, rel=2e-3)
        assert line["model"]["start_up_ns"]["value"] == pytest.approx(2000, rel=2e-3)
    to = lines["pinned", None, "host-to-device"]
    assert [one["bytes"] for one in to["sizes"]] == [1 << step for step in range(10, 23)]
    assert to["half_of_best_bytes"]["value"] == pytest.approx(49_400, rel=0.02)
    largest = to["at_once"][-1]
    assert largest["sum"]["value"] == pytest.approx(45, rel=0.02), "streams that share nothing"
    assert all(check["passed"] for one in found["validations"] for check in one["checks"])
    assert {one["subject"] for one in found["validations"]} == {"pinned", "peer-1"}


def test_both_kinds_of_documents_are_of_the_published_schema(
    gpu_stand_in: GpuStandIn, tmp_path: Path
) -> None:
    schema = json.loads(command.memgauge("schema", "--of", "document", cwd=tmp_path).stdout)
    small = ("--sizes", "4KiB,64KiB,1MiB,2MiB", "--budget", "3s")
    found = document(
        "transfers", "--memory", "cuda:0", *small, standing_in=gpu_stand_in, cwd=tmp_path
    )
    jsonschema.validate(found, schema)
    assert {one["host"] for one in found["transfers"]} == {"pinned", "pageable"}
    requested = ("--b", "cuda:0", "--threads", "1", "--array-bytes", "1MiB", "--transfer", "both")
    beside = document(
        *("tiers", *requested, "--budget", "3s", "--output", "run"),
        standing_in=gpu_stand_in,
        cwd=tmp_path,
    )
    jsonschema.validate(beside, schema)
    assert beside["tiers"] == []
    subjects = [one["subject"] for one in beside["validations"]]
    assert subjects == ["1 thread", "1 thread, transfers"]
    for checked in (found, beside):
        assert all(check["passed"] for one in checked["validations"] for check in one["checks"])
    _check_windows(tmp_path / "run")


def _check_windows(directory: Path) -> None:
    """Threads and transfers share one window, by stamps of two clocks that were put on one."""
    run = read_run(directory)
    together = [
        run.samples_of(f"tiers/copy/1t/both/{part}")
        for part in ("a", "host-to-device", "device-to-host")
    ]
    assert len({len(samples) for samples in together}) == 1
    for visit in zip(*together, strict=True):
        (window,) = {sample.window_ns for sample in visit}
        if window is not None:
            assert all(
                thread.begin_ns[0] <= window[0] < window[1] <= thread.end_ns[-1]
                for sample in visit
                for thread in sample.threads
            )
    assert any(sample.window_ns is not None for sample in together[0])


@pytest.mark.parametrize(
    ("given", "knobs", "message"),
    [
        ("transfers --memory cuda:0 --peer 1", {}, "--peer 1: the driver reports no such GPU"),
        ("transfers --memory cuda:0 --sizes 1GiB", {}, "are needed (pinned), but only"),
        (
            "transfers --memory cuda:0 --host pinned --direction both --budget 1s",
            {"pinnable": 4096},
            "cuda:0: cannot pin",
        ),
        (
            "tiers --a cuda:0 --b dram",
            {},
            "--a: threads of the host cannot access the memory of a GPU, cuda:0",
        ),
    ],
)
def test_what_cannot_be_is_one_line_and_exit_code_2(
    given: str, knobs: dict[str, Any], message: str, gpu_stand_in: GpuStandIn, tmp_path: Path
) -> None:
    done = command.memgauge(
        *given.split(),
        *("--output", "run"),
        cwd=tmp_path,
        environment=gpu_stand_in.environment(**knobs),
    )
    assert done.returncode == 2, done.stderr
    *progress, last = done.stderr.strip().splitlines()
    assert message in last
    assert all(line.startswith("preparing") for line in progress)
    assert not done.stdout
