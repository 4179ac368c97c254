"""Runs of real small programs: what is timed and read, and how failures are told."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from memgauge.experiments.diagnose.program.program_runs import ProgramRuns
from memgauge.experiments.diagnose.treatments import Treatment
from memgauge.model.errors import CommandNotFound, SystemFailure
from memgauge.system.detect import detect
from memgauge.system.memory.policy import MemoryPolicy, refusal
from memgauge.system.programs.program import lives
from memgauge.system.topology.memory_nodes import nodes_with_memory

USUAL = Treatment(name="as it is", kind="variant")
CPUS = sorted(os.sched_getaffinity(0))


def runs(script: str, **options: object) -> ProgramRuns:
    return ProgramRuns(["sh", "-c", script], CPUS[:1], **options)  # type: ignore[arg-type]


def test_time_output_and_metric_are_read() -> None:
    one = runs("sleep 0.05; echo took 1.5 s; echo further >&2", metric=r"took ([0-9.]+)").run(USUAL)
    assert one.end_ns - one.begin_ns >= 50_000_000
    assert one.metric == 1.5
    assert one.output == b"took 1.5 s\nfurther\n"


def test_the_program_runs_on_its_cpus_without_input_and_in_its_environment() -> None:
    treatment = Treatment(name="v", kind="variant", environment={"MINE": "yes"})
    script = "echo $MINE; cat; grep Cpus_allowed_list /proc/self/status"
    lines = runs(script).run(treatment).output.decode().splitlines()
    assert lines[0] == "yes"
    assert lines[1].split()[1] == str(CPUS[0])


def test_huge_pages_are_switched_off_for_the_program_alone() -> None:
    script = "grep THP_enabled /proc/self/status"
    if "THP_enabled" not in Path("/proc/self/status").read_text(encoding="ascii"):
        pytest.skip("the kernel does not tell (before Linux 5.0)")
    off = Treatment(name="v", kind="variant", transparent_huge_pages=False)
    assert runs(script).run(off).output.split() == [b"THP_enabled:", b"0"]
    assert runs(script).run(USUAL).output.split() == [b"THP_enabled:", b"1"]


def test_a_treatment_has_cpus_and_a_memory_policy_of_its_own() -> None:
    if refusal() is not None or not Path("/proc/self/numa_maps").exists():
        pytest.skip("memory policies are not permitted")
    treatment = Treatment(
        name="v",
        kind="variant",
        cpus=CPUS[-1:],
        memory_policy=MemoryPolicy(mode="bind", nodes=[nodes_with_memory(detect())[0]]),
    )
    script = "grep Cpus_allowed_list /proc/self/status; grep -c bind: /proc/self/numa_maps || true"
    program = runs(script)
    cpus, bound = program.run(treatment).output.splitlines()
    assert cpus.split()[1] == str(CPUS[-1]).encode()
    assert int(bound) > 0
    assert program.run(USUAL).output.splitlines()[1] == b"0"


def test_memory_is_seen_where_it_is_looked_at() -> None:
    script = "x=$(head -c 9000000 /dev/zero | tr '\\0' x); sleep 0.2"
    program = runs(script)
    assert program.run(USUAL).memory is None
    one = program.run(USUAL, look=True)
    assert one.resident_bytes >= 9_000_000
    if one.memory is not None:  # a busy machine may not have looked in time
        assert one.memory.anonymous_bytes <= one.resident_bytes


def test_a_failure_names_the_treatment() -> None:
    treatment = Treatment(name="tight", kind="variant", change="memory on node 0 only")
    with pytest.raises(SystemFailure, match=r"by SIGKILL under 'tight' \(memory on node 0 only\)"):
        runs("kill -KILL $$").run(treatment)


@pytest.mark.parametrize(
    ("script", "options", "message"),
    [
        ("echo broken; exit 3", {}, "failed with exit code 3; it printed: broken"),
        ("exit 3", {}, "it printed nothing"),
        ("kill -SEGV $$", {}, "was ended by SIGSEGV"),
        ("echo nothing", {"metric": "time (.*)"}, "printed no number above 0"),
        ("echo time -1", {"metric": "time (.*)"}, "printed no number above 0"),
        ("echo time nan", {"metric": "time (.*)"}, "printed no number above 0"),
        ("true", {"prepared_by": "echo why; exit 1"}, "--prepare .*exit code 1; it printed: why"),
    ],
)
def test_a_failure_is_told_with_what_was_printed(
    script: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(SystemFailure, match=message):
        runs(script, **options).run(USUAL)


def test_other_output_than_at_first_is_a_failure_where_asked_for(tmp_path: Path) -> None:
    count = tmp_path / "count"
    script = f"echo x >>{count}; wc -l <{count}"
    same = runs(script, same_output=True)
    same.run(USUAL)
    with pytest.raises(SystemFailure, match="something else than its first run"):
        same.run(USUAL)


def test_the_number_of_the_metric_may_differ_and_a_variant_is_named(tmp_path: Path) -> None:
    count = tmp_path / "count"
    script = f"echo x >>{count}; echo time $(wc -l <{count}) of $WHAT"
    same = runs(script, same_output=True, metric="time ([0-9]+)")
    assert [same.run(USUAL).metric for _ in range(2)] == [1, 2]
    other = Treatment(name="w", kind="variant", change="WHAT=x", environment={"WHAT": "x"})
    message = r"than its first run under 'w' \(WHAT=x\) \(--same-output\); it printed: time 3 of x"
    with pytest.raises(SystemFailure, match=message):
        same.run(other)


def test_cpus_that_the_program_chooses_are_found_where_asked_for(tmp_path: Path) -> None:
    go = tmp_path / "go"
    rank = f"import os; os.sched_setaffinity(0, {CPUS[-1:]}); open('{go}').read()"
    os.mkfifo(go)
    program = ProgramRuns([sys.executable, "-c", rank], CPUS[:1])

    def let_go() -> None:
        with go.open("w"):
            time.sleep(0.1)

    thread = threading.Thread(target=let_go)
    thread.start()
    found = program.run(USUAL, find_cpus=True).cpus
    thread.join()
    if found:  # a busy machine may not have looked in time
        assert set(CPUS[-1:]) <= found <= {CPUS[0], CPUS[-1]}


def test_there_is_no_such_program() -> None:
    with pytest.raises(CommandNotFound):
        ProgramRuns(["no-such-program"], CPUS[:1]).run(USUAL)


def test_an_interruption_ends_the_program_and_all_it_started(tmp_path: Path) -> None:
    place = tmp_path / "pid"

    def interrupt() -> None:
        while not place.exists() or not place.read_text(encoding="ascii").strip():
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        runs(f"sleep 60 & echo $! >{place}; wait").run(USUAL)
    thread.join()
    pid = int(place.read_text(encoding="ascii"))
    until = time.monotonic() + 10
    while lives(pid) and time.monotonic() < until:
        time.sleep(0.01)
    assert not lives(pid)
