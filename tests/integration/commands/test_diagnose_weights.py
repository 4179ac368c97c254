"""Weights of nodes that another run measured, in a diagnosis."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.integration.command import memgauge
from tests.unit.analysis.interleave.runs import write_three_to_one

from memgauge.model.storage.run_file import read_run
from memgauge.system.detect import detect

pytestmark = pytest.mark.native

QUICK = ("diagnose", "--only", "placement", "--rounds", "1", "--budget", "100s", "--json")


def test_the_record_holds_the_weights_that_were_named(tmp_path: Path) -> None:
    machine = detect()
    write_three_to_one(tmp_path / "known", machine.machine_id)
    words = (*QUICK, "--output", "run", "--weights", "known", "--", "true")
    done = memgauge(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(tmp_path / "known")
    (found,) = read_run(tmp_path / "run").weights
    assert (found.weights, found.kernels) == ({0: 3, 1: 1}, ["copy"])
    diagnosis = json.loads(done.stdout)["diagnosis"]
    names = {one["name"] for one in diagnosis["treatments"]}
    names |= {one["name"] for one in diagnosis["not_tried"]}
    wanted = "large blocks interleaved by weights"
    one_node = "local, remote and interleaved memory"
    assert names & {wanted, one_node, "large blocks placed"}


def test_weights_of_another_machine_are_refused_before_the_program_runs(tmp_path: Path) -> None:
    write_three_to_one(tmp_path / "other", "another")
    words = (*QUICK, "--output", "run", "--weights", "other", "--", "sh", "-c", "touch ran")
    done = memgauge(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--weights 'other': was measured on another machine" in done.stderr
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "run").exists()
