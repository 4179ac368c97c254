"""Runs in the guest: a whole diagnosis of a program whose memory is on the wrong node.

memgauge is started with its memory bound to node 1, as by `numactl --membind=1`, and the program
inherits that; its CPU is on node 0, which has three times the bandwidth by the program's own model
of its time (`placed_time.c`). The kernel's weights of the nodes are 3 and 1, and so are those of
the run that is named. Nothing is judged here.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

import msgspec
from tests.lab.measuring import DISK, Seen, said
from tests.unit.analysis.interleave.runs import write_three_to_one

from memgauge import api
from memgauge.system.memory.policy import MemoryPolicy, inherited

SOURCE = Path(__file__).with_name("placed_time.c")
WEIGHTS = Path("/sys/kernel/mm/mempolicy/weighted_interleave")
ROUNDS = 8
"""The least that a gain can be told from."""


def wrong_node() -> Seen:
    """The diagnosis as data and as text."""
    folder = tempfile.mkdtemp(dir=DISK)
    program, output, known = (f"{folder}/{name}" for name in ("placed_time", "run", "known"))
    subprocess.run(["cc", "-O1", "-o", program, SOURCE], check=True)
    for node, weight in enumerate((3, 1)):
        (WEIGHTS / f"node{node}").write_text(f"{weight}\n", encoding="ascii")
    write_three_to_one(Path(known), api.system().machine_id)
    words = ["--weights", known, "--only", "placement", "--rounds", str(ROUNDS), "--budget", "300s"]
    words += ["--metric", "modelled time ([0-9.]+)", "--program-cpus", "0", "--output", output]
    with inherited(MemoryPolicy(mode="bind", nodes=[1])):
        done = said("diagnose", *words, "--", program)
    if done["code"] != 0:
        return done
    document = json.loads(msgspec.json.encode(api.load(output).document()))
    return {"diagnosis": document["diagnosis"], "text": said("report", output, "--full")["out"]}
