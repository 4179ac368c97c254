"""Surveys of several nodes, by mpirun: of one host, and of two that are name spaces here."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.integration.ranks.two_hosts import (
    TwoHosts,
    environment,
    missing_for_hosts,
    missing_for_ranks,
    mpirun,
    survey,
    two_hosts,
)

from memgauge.cluster.combined import load_combined
from memgauge.model.storage.cluster import ClusterNode, Manifest, read_manifest
from memgauge.model.storage.run_file import read_run

pytestmark = [pytest.mark.whole_machine, pytest.mark.native]

LIMIT_S = 100
GOING_ON = ("--mca", "orte_abort_on_non_zero_status", "0")
"""By which mpirun of Open MPI 4 leaves the other ranks when one dies. Its --enable-recovery does
too, but then it exits with 0 whatever happened."""


@pytest.fixture(scope="module")
def _ranks() -> None:
    """Ranks can be started here."""
    why = missing_for_ranks()
    if why is not None:
        pytest.skip(why)


@pytest.fixture
def hosts(tmp_path: Path, _ranks: None) -> Iterator[TwoHosts]:
    why = missing_for_hosts()
    if why is not None:
        pytest.skip(why)
    with two_hosts(tmp_path) as made:
        yield made


def run(
    command: Sequence[str], cwd: Path, *, seconds: float = 0.3
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=cwd,
        env=environment() | {"MADE_UP_S": str(seconds)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def nodes_of(directory: Path) -> dict[str, ClusterNode]:
    return {node.name: node for node in read_manifest(directory).nodes}


class Job:
    """A job under way whose surveys are made up; its ranks are found by what it calls itself."""

    def __init__(self, cwd: Path, command: Sequence[str], *, nodes: int, seconds: float) -> None:
        self.directory = cwd / "run"
        self.key = str(self.directory)
        self._nodes = nodes
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment() | {"MADE_UP_S": str(seconds), "MADE_UP_JOB": self.key},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_until_measuring(self) -> None:
        until_s = time.monotonic() + 60
        while not self._measuring():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < until_s, "the job does not begin"
            time.sleep(0.05)

    def _measuring(self) -> bool:
        records = list(self.directory.glob("nodes/*/records.jsonl"))
        return len(records) == self._nodes and all(
            b'"sample"' in one.read_bytes() for one in records
        )

    def send(self, rank: int, number: signal.Signals) -> None:
        os.kill(self.ranks()[rank], number)

    def ranks(self) -> dict[int, int]:
        """Process of each rank, as its environment tells."""
        found = {}
        for process in Path("/proc").iterdir():
            known = _environment_of(process)
            if known.get("MADE_UP_JOB") == self.key and "OMPI_COMM_WORLD_RANK" in known:
                found[int(known["OMPI_COMM_WORLD_RANK"])] = int(process.name)
        return found

    def left(self) -> list[str]:
        """Processes of the job that are still there."""
        return [
            process.name
            for process in Path("/proc").iterdir()
            if _environment_of(process).get("MADE_UP_JOB") == self.key
        ]

    def end(self) -> tuple[int, str]:
        """Exit code, and what was said on stderr."""
        error = self.process.communicate(timeout=LIMIT_S)[1]
        return self.process.returncode, error


def on_two_hosts(hosts: TwoHosts, cwd: Path, *options: str, words: Sequence[str] = ()) -> Job:
    """A job whose surveys take three seconds, a rank on each host."""
    requested = ("cluster", "--budget", "3s", *words, "--output", str(cwd / "run"))
    command = hosts.command(2, survey(*requested, made_up=True), options=options)
    return Job(cwd, command, nodes=2, seconds=3)


def cpu_seconds(process: int) -> float:
    """That a process has used, as proc_pid_stat(5) tells."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _environment_of(process: Path) -> dict[str, str]:
    try:
        variables = (process / "environ").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return {}
    return dict(one.split("=", 1) for one in variables if "=" in one)


@pytest.mark.usefixtures("_ranks")
def test_ranks_of_one_host_share_one_survey(tmp_path: Path) -> None:
    ranks = 8
    program = survey("survey", "--budget", "1s", "--json", "--output", "run", made_up=True)
    done = run([*mpirun(ranks), *program], tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["complete"]
    (node,) = nodes_of(tmp_path / "run").values()
    assert node.ranks == list(range(ranks))
    assert node.state == "done"
    assert node.cpus == len(os.sched_getaffinity(0))
    assert len(list((tmp_path / "run" / "nodes").iterdir())) == 1


@pytest.mark.usefixtures("_ranks")
def test_ranks_that_wait_take_no_time(tmp_path: Path) -> None:
    program = survey("cluster", "--budget", "3s", "--output", str(tmp_path / "run"), made_up=True)
    job = Job(tmp_path, [*mpirun(4), *program], nodes=1, seconds=3)
    job.wait_until_measuring()
    before = {rank: cpu_seconds(process) for rank, process in job.ranks().items()}
    time.sleep(2)
    after = {rank: cpu_seconds(process) for rank, process in job.ranks().items()}
    code, error = job.end()
    assert code == 0, error
    used = [after[rank] - before[rank] for rank in range(4)]
    # One that spins would take all of the two seconds, or of its share of a busy machine.
    assert max(used) < 0.2


@pytest.mark.usefixtures("_ranks")
def test_what_all_ranks_refuse_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine").touch()
    done = run([*mpirun(3), *survey("survey", "--output", "run")], tmp_path)
    assert done.returncode == 2
    said = [line for line in done.stderr.splitlines() if line.startswith("memgauge:")]
    assert said == [f"memgauge: {tmp_path}/run: not empty; name a new or empty directory"]
    assert (tmp_path / "run" / "mine").exists()


@pytest.mark.usefixtures("_ranks")
def test_a_launched_survey_without_mpi4py_says_what_to_install(tmp_path: Path) -> None:
    missing = tmp_path / "mpi4py"
    missing.mkdir()
    (missing / "__init__.py").write_text("raise ModuleNotFoundError(name='mpi4py')\n")
    words = ["env", f"PYTHONPATH={tmp_path}:{environment()['PYTHONPATH']}"]
    done = run([*mpirun(2), *words, *survey("survey", "--output", "run")], tmp_path)
    assert done.returncode == 2
    said = [line for line in done.stderr.splitlines() if line.startswith("memgauge:")]
    (line,) = said
    assert line.endswith(
        "started by mpirun of Open MPI: mpi4py is not installed; "
        "pip install 'memgauge[mpi]' for this Python, on every node"
    )
    assert not (tmp_path / "run").exists(), "no rank went its own way"


def test_without_a_launcher_one_line_says_how_to_start_it(tmp_path: Path) -> None:
    done = run([*survey("cluster")], tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("memgauge: cluster: no launcher started it; start it as 'mpirun ")
    assert len(done.stderr.splitlines()) == 1


def test_two_hosts_are_really_surveyed_in_turn(hosts: TwoHosts, tmp_path: Path) -> None:
    few = ("--only", "latency", "--pages", "4k", "--precision", "50%", "--budget", "40s")
    words = ("cluster", *few, "--nodes-at-once", "1", "--output", str(tmp_path / "run"))
    done = run(hosts.command(2, survey(*words)), tmp_path)
    assert done.returncode == 0, done.stderr
    assert {name: node.state for name, node in nodes_of(tmp_path / "run").items()} == {
        "mga": "done",
        "mgb": "done",
    }
    for name in ("mga", "mgb"):
        assert any(read_run(tmp_path / "run" / "nodes" / name).samples.values())
    combined = load_combined(tmp_path / "run")
    assert combined.report.complete
    text = combined.text()
    assert "mga, mgb are one machine under 2 host names" in text
    assert "No outliers can be identified among 2 nodes" in text
    assert (tmp_path / "run" / "report.html").stat().st_size > 10_000


def test_without_a_shared_directory_files_come_through_mpi(hosts: TwoHosts, tmp_path: Path) -> None:
    place = tmp_path / "own"
    place.mkdir()
    program = survey("cluster", "--budget", "1s", "--output", str(place / "run"), made_up=True)
    done = run(hosts.command(4, program, hide=str(place)), tmp_path)
    assert done.returncode == 0, done.stderr
    nodes = nodes_of(place / "run")
    assert [node.sent for node in nodes.values()] == [False, True]
    assert nodes["mgb"].directory == str(place / "run" / "nodes" / "mgb")
    one, other = (place / "run" / "nodes" / name / "records.jsonl" for name in nodes)
    assert one.read_bytes() == other.read_bytes()
    assert load_combined(place / "run").report.complete


def test_a_killed_rank_leaves_what_was_measured(hosts: TwoHosts, tmp_path: Path) -> None:
    job = on_two_hosts(hosts, tmp_path)
    job.wait_until_measuring()
    job.send(1, signal.SIGKILL)
    code, error = job.end()
    assert code == 128 + signal.SIGKILL, error
    manifest: Manifest = read_manifest(job.directory)
    assert {node.state for node in manifest.nodes} == {"cut short"}
    assert f"memgauge report {job.directory}" in error
    assert error.count("SIGTERM") <= 2, "one rank says it, and then ends"
    end = read_run(job.directory / "nodes" / "mga").end
    assert end is not None
    assert (end.status, end.reason) == ("interrupted", "SIGTERM")
    report = run([*survey("report", str(job.directory))], tmp_path)
    assert report.returncode == 0, report.stderr
    said = " ".join(report.stdout.split())
    assert "The survey of mga was ended early (the job was ended by SIGTERM)" in said
    assert (
        "The survey of mgb was ended early (its leading rank, 1, died without reporting why)"
        in said
    )
    assert set(load_combined(job.directory).cluster.figures) == {"mga", "mgb"}
    assert job.left() == []


def test_the_others_go_on_where_the_launcher_lets_them(hosts: TwoHosts, tmp_path: Path) -> None:
    job = on_two_hosts(hosts, tmp_path, *GOING_ON, words=("--grace", "3s"))
    job.wait_until_measuring()
    job.send(1, signal.SIGKILL)
    code, error = job.end()
    assert code != 0, error
    assert "mgb: given up: rank 1, which leads it, sent no message" in error
    nodes = nodes_of(job.directory)
    assert (nodes["mga"].state, nodes["mgb"].state) == ("done", "given up")
    end = read_run(job.directory / "nodes" / "mga").end
    assert end is not None
    assert end.status == "complete"
    assert job.left() == []


def test_a_node_that_hangs_is_given_up(hosts: TwoHosts, tmp_path: Path) -> None:
    job = on_two_hosts(hosts, tmp_path, words=("--grace", "3s"))
    job.wait_until_measuring()
    job.send(1, signal.SIGSTOP)
    code, error = job.end()
    assert code != 0
    assert "mgb: given up: rank 1, which leads it, sent no message" in error
    assert "ending the job, since these would not: rank 1 of mgb" in error
    manifest = read_manifest(job.directory)
    assert manifest.ended
    assert nodes_of(job.directory)["mga"].state == "done"
    text = (job.directory / "summary.txt").read_text(encoding="utf-8")
    assert "1 given up" in text
    assert job.left() == []


def test_a_node_that_is_only_late_is_told_to_end(hosts: TwoHosts, tmp_path: Path) -> None:
    """Its survey is ended, which closes its records, and nothing need be aborted."""
    words = ("--budget", "1s", "--grace", "2s", "--output", str(tmp_path / "run"))
    command = hosts.command(2, survey("cluster", *words, made_up=True))
    job = Job(tmp_path, command, nodes=2, seconds=30)
    code, error = job.end()
    assert code == 1, error
    assert "mga: given up: it was not done 2.0" in error
    assert "ending the job" not in error
    for name in ("mga", "mgb"):
        end = read_run(job.directory / "nodes" / name).end
        assert end is not None
        assert (end.status, end.reason) == ("interrupted", "SIGTERM")
    assert set(load_combined(job.directory).cluster.figures) == {"mga", "mgb"}
    assert job.left() == []
