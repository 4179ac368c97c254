"""Memory-controller PMUs of a real kernel, in a guest with two sockets.

`MEMGAUGE_GUEST_FAULTS=all` injects every fault there is, which takes some minutes.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.integration import command
from tests.lab import guest
from tests.lab.faults import FAULTS, RESULT

pytestmark = [pytest.mark.long, pytest.mark.native]

READS, WRITES = "perf:uncore_imc/cas_count_read/", "perf:uncore_imc/cas_count_write/"
PARTED = "---- faults ----"
FEW = ["none", "doubled", "silent-socket", "dead-reads"]
INJECTED = list(FAULTS) if os.environ.get("MEMGAUGE_GUEST_FAULTS") == "all" else FEW

EXPECTED = {
    "none": ("verified", "verified"),
    "doubled": ("mis-scaled", "mis-scaled"),
    "scale-64": ("mis-scaled", "mis-scaled"),
    "silent-socket": ("partial", "partial"),
    "silent-controller": ("partial", "partial"),
    "dead-reads": ("dead", "verified"),
    "dead-writes": ("verified", "dead"),
}
EVIDENCE = {
    "doubled": "2 is a known signature",
    "scale-64": "64 is a known signature",
    "silent-socket": "socket 1",
    "silent-controller": "uncore_imc_2",
}


@pytest.fixture(scope="module")
def work() -> Path:
    try:
        return guest.built()
    except guest.Unavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def booted(work: Path) -> tuple[str, str]:
    """What one boot printed: what is said of an event, and then the result of all faults."""
    explain = shlex.join(command.command("counters", "explain", READS))
    inject = shlex.join([sys.executable, "-m", "tests.lab.faults", ",".join(INJECTED)])
    parts = [
        f"{explain} || exit 1",
        f"echo '{PARTED}'",
        f"{inject} >/lab/said 2>&1 || {{ cat /lab/said; exit 1; }}",
        f"cat {RESULT}",
    ]
    done = guest.run(work, "; ".join(parts))
    assert done.returncode == 0, done.stdout + done.stderr
    explained, _, result = done.stdout.partition(PARTED)
    return explained, result


@pytest.fixture(scope="module")
def found(booted: tuple[str, str]) -> dict[str, Any]:
    """Verdict and evidence of each event, by fault."""
    return dict(json.loads(booted[1]))


def test_a_sound_kernel_raises_no_alarm(found: dict[str, Any]) -> None:
    assert {name: verdict for name, (verdict, _) in found["none"].items()} == {
        READS: "verified",
        WRITES: "verified",
    }


@pytest.mark.parametrize("fault", [fault for fault in INJECTED if fault != "none"])
def test_an_injected_fault_is_found(found: dict[str, Any], fault: str) -> None:
    verdicts = found[fault]
    assert (verdicts[READS][0], verdicts[WRITES][0]) == EXPECTED[fault]
    for verdict, evidence in verdicts.values():
        assert verdict == "verified" or EVIDENCE.get(fault, "zero") in evidence


def test_counters_are_listed_with_their_sockets(booted: tuple[str, str]) -> None:
    for instance in (f"uncore_imc_{number}@cpu{cpu}" for number in range(4) for cpu in range(2)):
        assert instance in booted[0]
