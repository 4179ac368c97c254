"""Runs in the guest: verification of its memory controllers, once for each injected fault.

    python -m tests.lab.faults FAULT,...

Leaves one JSON object: for each fault, the verdict and evidence of each event. The load is real;
the controllers, which no memory traffic reaches, are told what it moved.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from memgauge import measuring
from memgauge.analysis.counters_verify.section import event_verdicts
from memgauge.experiments.counters_verify.bench import Moved
from memgauge.experiments.counters_verify.host import CountersVerify, CountersVerifyParameters
from memgauge.model.parameters import RunOptions

RESULT = "/lab/faults.json"
FEED = Path("/proc/fake_imc")
PARAMETERS = Path("/sys/module/fake_imc/parameters")
CONTROLLERS = 4
LINE_BYTES = 64

FAULTS: dict[str, dict[str, str]] = {
    "none": {},
    "doubled": {"times": "2"},
    "scale-64": {"times": "64"},
    "silent-socket": {"silent_socket": "1"},
    "silent-controller": {"silent_controller": "2"},
    "dead-reads": {"dead_reads": "Y"},
    "dead-writes": {"dead_writes": "Y"},
}
SOUND = {
    "times": "1",
    "silent_socket": "-1",
    "silent_controller": "-1",
    "dead_reads": "N",
    "dead_writes": "N",
}


def feed(moved: Moved) -> None:
    """Tell the controllers of the memory's socket what was moved, in equal shares."""
    reads = (moved.read_bytes + moved.allocate_bytes) // LINE_BYTES // CONTROLLERS
    writes = moved.write_bytes // LINE_BYTES // CONTROLLERS
    for controller in range(CONTROLLERS):
        line = f"{moved.place.memory_node} {controller} {reads} {writes}"
        FEED.write_text(line, encoding="ascii")


def inject(fault: str) -> None:
    """Make the controllers lie in that way only."""
    for name, value in (SOUND | FAULTS[fault]).items():
        (PARAMETERS / name).write_text(value, encoding="ascii")


def verified(fault: str, directory: Path) -> dict[str, tuple[str, str]]:
    """Verdict and evidence of each event."""
    inject(fault)
    options = RunOptions(budget_s=60, output=str(directory / fault))
    result = measuring.measure(
        [(CountersVerify(), CountersVerifyParameters(region_s=0.002))],
        options,
        name="counters_verify",
    )
    made = event_verdicts(result.run)
    return {verdict.event: (verdict.verdict, verdict.evidence) for verdict in made}


def run(faults: list[str]) -> None:
    """All the faults, one after the other."""
    CountersVerify.stimulus = feed
    with tempfile.TemporaryDirectory() as directory:
        found = {fault: verified(fault, Path(directory)) for fault in faults}
    Path(RESULT).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    run(sys.argv[1].split(","))
