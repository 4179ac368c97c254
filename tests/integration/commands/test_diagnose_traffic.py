"""The traffic of a diagnosed program: counted, simulated, and on the curves of another run."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import msgspec
import pytest
from tests.counters_trees import tracepoints
from tests.integration.command import memgauge
from tests.unit.analysis.loaded.runs import Traffic, loaded_run

from memgauge.counters.choice import memory_choice
from memgauge.counters.verdicts import keep, place_of
from memgauge.model.counting.events import EventVerdict
from memgauge.model.storage.run_file import RunWriter, read_run
from memgauge.system.detect import detect

pytestmark = pytest.mark.native

QUICK = ("diagnose", "--only", "traffic", "--budget", "100s", "--output", "run", "--json")
SCRIPT = "import os\nfor _ in range(2000): os.sched_rr_get_interval(0)"


def write_curves(place: Path, machine_id: str) -> None:
    """A run of `loaded` made by formula, of a machine."""
    made = loaded_run([Traffic()], rounds=4)
    system = msgspec.structs.replace(made.start.system, machine_id=machine_id)
    with RunWriter(place) as writer:
        writer.write([msgspec.structs.replace(made.start, system=system), *made.points.values()])
        writer.write([one for of in made.samples.values() for one in of])


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind not installed")
def test_simulated_traffic_has_its_functions_and_its_place_on_a_curve(tmp_path: Path) -> None:
    write_curves(tmp_path / "known", detect().machine_id)
    done = memgauge(*QUICK, "--rounds", "1", "--curves", "known", "--", "true", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    diagnosis = json.loads(done.stdout)["diagnosis"]
    traffic = diagnosis["traffic"]
    assert traffic["basis"] == "simulated"
    assert 0 < len(traffic["functions"]) <= 5
    moved = [one["read_bytes"] + one["write_bytes"] for one in traffic["functions"]]
    assert moved == sorted(moved, reverse=True)
    assert 0 < sum(moved) <= traffic["total_bytes"]
    assert diagnosis["on_curve"]["load"] == "all reads, 7 generators"
    assert 0 < diagnosis["on_curve"]["peak_share"] < 1
    assert diagnosis["not_counted"]
    assert diagnosis["kernel"]["minor_faults"]["least"] > 0
    assert diagnosis["kernel"]["runs"] == len(diagnosis_uses(tmp_path / "run"))
    # The report needs the other run no more.
    shutil.rmtree(tmp_path / "known")
    text = " ".join(memgauge("report", "run", "--full", cwd=tmp_path).stdout.split())
    assert "Simulated traffic on the curve of run" in text
    assert "What the kernel accounts to a run" in text


def diagnosis_uses(run: Path) -> list[object]:
    return [use for of in read_run(run).samples.values() for one in of for use in one.uses]


def test_curves_of_another_machine_are_refused_before_the_program_runs(tmp_path: Path) -> None:
    write_curves(tmp_path / "other", "another")
    words = (*QUICK, "--curves", "other", "--", "sh", "-c", "touch ran")
    done = memgauge(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "was measured on another machine" in done.stderr
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "run").exists()


@pytest.mark.whole_machine
def test_verified_counters_take_the_place_of_the_simulation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = tracepoints.missing()
    if reason:
        pytest.skip(reason)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    tree = tracepoints.client(tmp_path / "tree")
    monkeypatch.setenv("MEMGAUGE_SYSFS", str(tree.sysfs))
    host = tree.host_as_we_are
    place = place_of(host)
    verdicts = [
        EventVerdict(
            event=event.name,
            verdict="verified",
            evidence="the test",
            machine=place.machine,
            kernel=place.kernel,
            made_at="2026-01-02T03:04:05+00:00",
        )
        for event in memory_choice(host).events
    ]
    keep(place, verdicts)
    words = ("--rounds", "2", "--simulate-up-to", "1ms", "--program-cpus", "0", "--")
    with tracepoints.alone():
        done = memgauge(
            *QUICK, *words, sys.executable, "-S", "-c", SCRIPT, cwd=tmp_path, environment=os.environ
        )
    assert done.returncode == 0, done.stderr
    diagnosis = json.loads(done.stdout)["diagnosis"]
    assert diagnosis["not_counted"] is None
    traffic = diagnosis["traffic"]
    assert (traffic["basis"], traffic["by"]) == ("counted", "perf")
    assert traffic["read_bytes"] == 2000 * 64
    assert traffic["write_bytes"] == 0
    assert traffic["least_bytes"] == traffic["most_bytes"] == 2000 * 64
    assert traffic["runs"] >= 2
