"""`memgauge diagnose` of small programs: what it records, prints and refuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.command import command, memgauge

from memgauge.experiments.diagnose.variants.offered import page_variants
from memgauge.model.storage.run_file import read_run
from memgauge.system.detect import detect

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs a CPU beside the program"),
]

QUICK = ("diagnose", "--rounds", "2", "--budget", "200s", "--output", "run")


def test_every_treatment_is_applied_in_every_round(tmp_path: Path) -> None:
    marks = "; ".join(f"echo {at} 7 7 0 solve >>$MEMGAUGE_MARKS" for at in ("b 1000", "e 9001000"))
    script = f"echo $MINE $OMP_NUM_THREADS; echo time 0.25; {marks}"
    words = ["--only", "interference,pages", "--metric", "time (.*)", "--try", "mine=MINE=yes"]
    done = memgauge(*QUICK, *words, "--json", "--", "sh", "-c", script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    diagnosis = document["diagnosis"]
    assert diagnosis["verdict"] == "cannot tell"
    assert diagnosis["time"]["value"] == 0.25
    run = read_run(tmp_path / "run")
    programs = {name: of for name, of in run.samples.items() if "/program/" in name}
    assert {name.rpartition("/")[2] for name in programs} == {
        *("compute", "compute again", "write", "cache", "read"),
        *("as it is", "as it is again", "mine"),
        *(one.name for one in page_variants(detect().thp, os.environ)[0]),
    }
    for samples in programs.values():
        assert [sample.round for sample in samples] == [0, 1]
        assert all(one == 0.25 for sample in samples for one in sample.printed)
        assert {*(name for sample in samples for name in sample.regions_s)} <= {"solve"}
    # A run that is very short or long has too many marks for its time, or a region that is short.
    (by_region,) = diagnosis["regions"] or [None]
    not_tried = {one["name"] for one in diagnosis["not_tried"]}
    assert (by_region is None) == ("verdicts by region" in not_tried)
    if by_region is not None:
        assert (by_region["name"], by_region["verdict"]) == ("solve", "cannot tell")
    again = memgauge("report", "run", cwd=tmp_path)
    text = " ".join(again.stdout.split())
    # On a machine that moves the CPUs, fewer than all rounds can be paired.
    assert "What limits it cannot be told." in text
    assert again.returncode == 0


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--", "sh", "-c", "echo why; exit 3"], 1, "failed with exit code 3; it printed: why"),
        (["--", "no-such-program"], 127, "command not found"),
        ([], 2, "no command was given"),
        (["--metric", "x", "--", "true"], 2, "has 0 groups"),
        (["--only", "pages", "--curves", "x", "--", "true"], 2, "add traffic to it"),
        (["--only", "pages", "--weights", "x", "--", "true"], 2, "add placement to it"),
        (["--threads", "2", "--", "true"], 2, "--threads: does not apply"),
        (["--try", "a=FOO=1 true", "--", "true"], 2, "write 'a=env FOO=1 true'"),
        (["--only", "traffic", "--try", "a=no-such", "--", "true"], 127, "'no-such': command not"),
        (["--program-cpus", "0", "--pressure-cpus", "0", "--", "true"], 2, "both have CPU 0"),
    ],
)
def test_what_fails_or_has_no_meaning_is_one_line(
    tmp_path: Path, words: list[str], code: int, message: str
) -> None:
    done = memgauge(*QUICK, *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_ends_the_program_and_keeps_what_was_finished(tmp_path: Path) -> None:
    words = command(*QUICK[:-4], "--budget", "100s", "--output", "run", "--only", "interference")
    script = f"echo $$ >>{tmp_path}/pids; exec sleep 0.3"
    with subprocess.Popen(
        [*words, "--", "sh", "-c", script], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as running:
        until = time.monotonic() + 60
        pids = tmp_path / "pids"
        while time.monotonic() < until:
            if pids.exists() and len(pids.read_text(encoding="ascii").split()) >= 4:
                break
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        error = running.communicate(timeout=60)[1]
    assert running.returncode == 130, error
    assert "Traceback" not in error
    last = pids.read_text(encoding="ascii").split()[-1]
    assert not Path(f"/proc/{last}").exists()
    end = read_run(tmp_path / "run").end
    assert end is not None
    assert end.status == "interrupted"


def test_ranks_on_the_cpus_of_the_generators_leave_no_pressure(tmp_path: Path) -> None:
    """As under a launcher that binds them: the program's own CPUs do not hold them."""
    mine, other = sorted(os.sched_getaffinity(0))[:2]
    rank = f"import os, time; os.sched_setaffinity(0, [{other}]); time.sleep(0.3)"
    places = ["--program-cpus", str(mine), "--pressure-cpus", str(other)]
    words = [*QUICK, "--only", "interference", *places]
    done = memgauge(*words, "--", "sh", "-c", '"$@"; exit', "-", sys.executable, "-c", rank,
                    cwd=tmp_path)  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert f"the program runs on CPUs {mine}-{other} of its own choice" in done.stderr or (
        f"the program runs on CPUs {mine},{other} of its own choice" in done.stderr
    )
    assert "Traceback" not in done.stderr


READ = ("--metric-command", "echo 40", "--metric-better", "more")


@pytest.fixture
def server() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def test_a_process_is_diagnosed_and_goes_on(
    server: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    done = memgauge(*QUICK, "--pid", str(server.pid), *READ, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    diagnosis = json.loads(done.stdout)["diagnosis"]
    assert diagnosis["verdict"] == "cannot tell"
    assert (diagnosis["command"], diagnosis["metric_better"]) == ("", "more")
    assert diagnosis["time"]["value"] == pytest.approx(40)
    assert (diagnosis["process"]["pid"], diagnosis["process"]["name"]) == (server.pid, "sleep")
    assert {one["kind"] for one in diagnosis["treatments"]} == {"pressure"}
    assert server.poll() is None
    not_tried = {one["name"] for one in diagnosis["not_tried"]}
    assert {"pages", "threads", "placement", "traffic"} <= not_tried
    text = " ".join(memgauge("report", "run", cwd=tmp_path).stdout.split())
    assert f"started, and process {server.pid} was not" in text


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--metric-command", "echo 40"], 2, "needs --metric-better"),
        ([*READ, "--", "true"], 2, "a command and --pid were given"),
        (["--metric-command", "no-such-thing", *READ[2:]], 1, "exit code 127; it printed: "),
        (["--metric-command", "echo fast", *READ[2:]], 1, "it printed: fast"),
    ],
)
def test_a_process_that_cannot_be_read_is_one_line(
    server: subprocess.Popen[bytes], tmp_path: Path, words: list[str], code: int, message: str
) -> None:
    done = memgauge(*QUICK, "--pid", str(server.pid), *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert server.poll() is None


def test_the_time_in_a_region_counts(tmp_path: Path) -> None:
    marks = "echo b 1000 7 7 0 solve >>$MEMGAUGE_MARKS; echo e 251000 7 7 0 solve >>$MEMGAUGE_MARKS"
    words = ["--only", "pages,traffic", "--region", "solve", "--json"]
    done = memgauge(*QUICK, *words, "--", "sh", "-c", marks, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["diagnosis"]["region"] == "solve"
    assert document["diagnosis"]["time"]["value"] == pytest.approx(250e-6)
    why = "that of a whole run does not tell that of a region"
    assert any(why in warning["message"] for warning in document["warnings"])
    done = memgauge(
        *QUICK[:-1], "other", "--region", "sovle", "--", "sh", "-c", marks, cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "never enters region 'sovle' (--region); its regions are solve;" in done.stderr
