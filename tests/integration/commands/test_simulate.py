"""`memgauge simulate -- COMMAND` and `memgauge machines`, on programs of known traffic."""

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.integration import command

from memgauge import api
from memgauge.analysis.schema import simulation_schema
from memgauge.model.errors import RequestError
from memgauge.system.programs.program import lives, tree_of

pytestmark = pytest.mark.native

MIB = 1 << 20
MISSING = [name for name in ("valgrind", "gcc") if shutil.which(name) is None]
simulates = pytest.mark.skipif(bool(MISSING), reason=f"{' and '.join(MISSING)} not installed")

# L1 32 KiB, L2 1 MiB: nothing of the arrays below stays.
SMALL = """
name = "small"
title = "two small levels"
source = "made up"
[[levels]]
name = "L1"
bytes = 32_768
ways = 8
[[levels]]
name = "L2"
bytes = 1_048_576
ways = 16
"""

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined __x86_64__ || defined __i386__
#define CHANGE(value) __asm__ volatile("addl $1, %0" : "+m"(value))
#else
#define CHANGE(value) value += 1
#endif
int main(int argc, char **argv) {
    char what = argv[1][0];
    size_t count = strtoul(argv[2], 0, 10) / sizeof(double);
    volatile double *array = aligned_alloc(4096, count * sizeof(double));
    double sum = 0;
    if (what == 'r' || what == 'm')
        for (size_t i = 0; i < count; ++i) sum += array[i];
    if (what == 'w' || what == 'f')
        for (size_t i = 0; i < count; ++i) array[i] = 1;
    if (what == 'c')
        for (size_t i = 0; i < count; ++i) CHANGE(array[i]);
    if (what == 'f' || what == 'x') {
        pid_t child = fork();
        if (child == 0 && what == 'x')
            for (size_t i = 0; i < count; ++i) array[i] = 1;
        if (child == 0) _exit(0);
        waitpid(child, 0, 0);
    }
    if (argc > 3) {
        execvp(argv[3], argv + 3);
        return 9;
    }
    if (what == 's') {
        puts("sleeping");
        fflush(stdout);
        for (;;) array[0] += 1;
    }
    printf("sum %g\\n", sum);
    return 7;
}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with `walk` and `small.toml`."""
    folder = tmp_path_factory.mktemp("simulate")
    (folder / "small.toml").write_text(SMALL)
    (folder / "walk.c").write_text(SOURCE)
    if shutil.which("gcc"):
        subprocess.run(
            ["gcc", "-O1", "-o", str(folder / "walk"), str(folder / "walk.c")], check=True
        )
    return folder


def memgauge(
    *arguments: str, cwd: Path, path: str | None = None
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **({"PATH": path} if path is not None else {})}
    return command.memgauge(*arguments, cwd=cwd, environment=environment, limit_s=300)


def simulated(place: Path, *words: str, engine: str = "callgrind") -> dict[str, Any]:
    """Of a walk on the small machine."""
    arguments = ["simulate", "--machine", "small.toml", "--engine", engine, "--json", "--"]
    done = memgauge(*arguments, *words, cwd=place)
    assert done.returncode == 7, done.stderr
    assert "sum " in done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def first_misses(program: dict[str, Any]) -> int:
    """Of data, at level 1."""
    rows = [row for row in program["levels"] if row["kind"] != "instructions"]
    return sum(row["misses"] for row in rows if row["level"] == "L1")


@simulates
def test_reading_reads_each_line_once(place: Path) -> None:
    found = simulated(place, "./walk", "r", str(64 * MIB))
    assert found["read_bytes"] == pytest.approx(64 * MIB, rel=0.01)
    assert found["program"]["load_read_bytes"] == pytest.approx(64 * MIB, rel=0.005)
    assert found["write_bytes"] < MIB


@simulates
def test_writing_reads_each_line_and_writes_it_back(place: Path) -> None:
    found = simulated(place, "./walk", "w", str(64 * MIB))
    program = found["program"]
    assert program["allocate_read_bytes"] == pytest.approx(64 * MIB, rel=0.005)
    assert program["load_read_bytes"] < MIB
    # What is left in the last level is not written yet.
    assert found["write_bytes"] + program["left_changed_at_most_bytes"] >= 0.99 * 64 * MIB
    assert found["write_bytes"] <= 1.01 * 64 * MIB
    assert program["left_changed_at_most_bytes"] == MIB


@simulates
def test_traffic_is_that_of_the_function_and_line_that_caused_it(place: Path) -> None:
    subprocess.run(
        ["gcc", "-g", "-O1", "-o", str(place / "debug"), str(place / "walk.c")], check=True
    )
    loop = next(at for at, line in enumerate(SOURCE.splitlines(), 1) if "sum += array" in line)
    found = {}
    for by in ("function", "line"):
        words = ["simulate", "--machine", "small.toml", "--by", by, "--json", "--", "./debug"]
        done = memgauge(*words, "r", str(8 * MIB), cwd=place)
        found[by] = json.loads(done.stdout)
        jsonschema.Draft202012Validator(simulation_schema()).validate(found[by])
        program = found[by]["program"]
        # Nothing is counted twice or lost.
        if not program["left_out_places"]:
            for what in ("read_bytes", "write_bytes"):
                assert sum(one[what] for one in program["places"]) == found[by][what]
    function, line = (found[by]["program"]["places"][0] for by in ("function", "line"))
    assert (function["function"], function["line"]) == ("main", None)
    assert function["read_bytes"] == pytest.approx(8 * MIB, rel=0.02)
    assert (Path(line["file"]).name, line["line"]) == ("walk.c", loop)
    assert line["read_bytes"] == pytest.approx(8 * MIB, rel=0.02)


@simulates
def test_the_trace_engine_knows_no_functions(place: Path) -> None:
    done = memgauge("simulate", "--engine", "trace", "--by", "line", "--", "./walk", "r", cwd=place)
    assert done.returncode == 125
    assert "does not know which code makes an access; use --engine callgrind" in done.stderr


@simulates
def test_the_trace_engine_counts_what_was_left_too(place: Path) -> None:
    found = simulated(place, "./walk", "w", str(2 * MIB), engine="trace")
    program = found["program"]
    assert program["allocate_read_bytes"] == pytest.approx(2 * MIB, rel=0.05)
    written = found["write_bytes"] + program["left_changed_bytes"]
    assert written == pytest.approx(2 * MIB, rel=0.05)
    assert 0 < program["left_changed_bytes"] <= MIB + 32768


@simulates
def test_both_engines_agree_on_a_common_machine(place: Path) -> None:
    one = simulated(place, "./walk", "r", str(2 * MIB))["program"]
    other = simulated(place, "./walk", "r", str(2 * MIB), engine="trace")["program"]
    assert other["load_read_bytes"] == pytest.approx(one["load_read_bytes"], rel=0.03)

    assert first_misses(other) == pytest.approx(first_misses(one), rel=0.03)


@simulates
def test_a_program_that_another_starts_counts_and_a_fork_does_not_count_twice(place: Path) -> None:
    found = simulated(place, "sh", "-c", f"./walk f {8 * MIB}; ./walk r 64 >/dev/null; exit 7")
    program = found["program"]
    assert program["processes"] == 3
    assert program["left_out_processes"] == 1
    assert program["allocate_read_bytes"] == pytest.approx(8 * MIB, rel=0.05)


@simulates
@pytest.mark.parametrize("starts", [1, 3])
def test_what_a_program_did_before_exec_is_said_to_be_missing(place: Path, starts: int) -> None:
    """Callgrind writes counts at the end, to which a program that calls exec never comes."""
    words = [word for _ in range(starts) for word in ("./walk", "w", str(2 * MIB))]
    program = simulated(place, *words, "./walk", "r", "64")["program"]
    assert program["uncounted_programs"] == starts
    assert program["processes"] == 1
    assert program["allocate_read_bytes"] < MIB  # of the last program alone


@simulates
@pytest.mark.parametrize("engine", ["callgrind", "trace"])
def test_figures_of_a_program_that_calls_exec_are_lower_bounds_in_words(
    place: Path, engine: str
) -> None:
    words = ["simulate", "--machine", "small.toml", "--engine", engine, "--"]
    known = memgauge(*words, "./walk", "w", "4096", "./walk", "r", "64", cwd=place).stderr
    assert "memory reads, simulated, at least" in known
    assert "Memory traffic, simulated on small, at least" in known
    assert "a lower bound" in " ".join(known.split())
    known = memgauge(*words, "./walk", "w", "4096", cwd=place).stderr
    assert "at least" not in known
    assert "lower bound" not in known


@simulates
def test_by_trace_what_came_before_exec_counts_and_what_came_after_does_not(place: Path) -> None:
    words = ["./walk", "w", str(2 * MIB), "./walk", "w", str(2 * MIB)]
    program = simulated(place, *words, engine="trace")["program"]
    assert program["uncounted_programs"] == 1
    assert program["allocate_read_bytes"] == pytest.approx(2 * MIB, rel=0.05)


@simulates
def test_by_trace_what_a_forked_process_does_is_not_the_programs(place: Path) -> None:
    program = simulated(place, "./walk", "x", str(2 * MIB), engine="trace")["program"]
    assert program["allocate_read_bytes"] < MIB
    assert program["uncounted_programs"] == 0


@simulates
def test_a_program_that_is_killed_among_others_is_said_to_be_missing(place: Path) -> None:
    killed = (
        f"mkfifo pipe; exec 3<>pipe; ./walk w {2 * MIB} tee begun <&3 & "
        "until [ -e begun ]; do sleep 1; done; kill -9 $!; ./walk r 64; exit 7"
    )
    program = simulated(place, "sh", "-c", killed)["program"]
    assert program["uncounted_programs"] == 2  # the walk, and tee in its place
    assert program["allocate_read_bytes"] < MIB


@simulates
@pytest.mark.skipif(platform.machine() not in {"x86_64", "i686"}, reason="no such instruction")
def test_a_read_modify_write_reads_its_line_once_by_either_engine(place: Path) -> None:
    """Callgrind counts it as a store, lackey as a load and a store: the traffic is the same."""
    size = 2 * MIB
    one = simulated(place, "./walk", "c", str(size))["program"]
    other = simulated(place, "./walk", "c", str(size), engine="trace")["program"]
    assert one["allocate_read_bytes"] == pytest.approx(size, rel=0.05)
    assert one["load_read_bytes"] < MIB / 4
    assert other["load_read_bytes"] == pytest.approx(size, rel=0.05)
    assert other["allocate_read_bytes"] < MIB / 4
    reads = [made["load_read_bytes"] + made["allocate_read_bytes"] for made in (one, other)]
    assert reads[0] == pytest.approx(reads[1], rel=0.02)
    for made, words in ((one, "as one store"), (other, "as a load")):
        assert any(f"read-modify-write instruction counts {words}" in n for n in made["notes"])


@simulates
@pytest.mark.parametrize("engine", ["callgrind", "trace"])
def test_options_of_valgrind_from_elsewhere_change_nothing(
    place: Path, tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the working directory, the home directory and the environment."""
    options = ["--callgrind:collect-atstart=no", "--lackey:trace-mem=no", "--trace-children=no"]
    home = tmp_path / "home"
    for folder in (tmp_path, home):
        folder.mkdir(exist_ok=True)
        (folder / ".valgrindrc").write_text("\n".join(options) + "\n")
        (folder / ".valgrindrc").chmod(0o600)
    shutil.copy(place / "small.toml", tmp_path)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("VALGRIND_OPTS", " ".join(options))
    walk = [str(place / "walk"), "w", str(MIB)]
    found = simulated(tmp_path, "sh", "-c", f"{' '.join(walk)}; exit 7", engine="callgrind")
    assert found["program"]["allocate_read_bytes"] == pytest.approx(MIB, rel=0.1)
    program = simulated(tmp_path, *walk, engine=engine)["program"]
    assert program["allocate_read_bytes"] == pytest.approx(MIB, rel=0.1)


@simulates
def test_temporary_files_may_lie_in_a_directory_of_any_name(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Valgrind replaces %p and others in the names of its files."""
    odd = tmp_path / "100 %p of %q{HOME} %n"
    odd.mkdir()
    monkeypatch.setenv("TMPDIR", str(odd))
    assert simulated(place, "./walk", "r", "4096")["program"]["processes"] == 1
    assert not list(odd.iterdir())


@simulates
def test_a_machine_that_writes_past_its_caches_does_so_by_trace_alone(place: Path) -> None:
    words = ["simulate", "--machine", "power9-5mb", "--json", "--engine"]
    walk = ["--", "./walk", "w", str(2 * MIB)]
    traced = json.loads(memgauge(*words, "trace", *walk, cwd=place).stdout)["program"]
    assert traced["bypass_write_bytes"] == pytest.approx(2 * MIB, rel=0.05)
    assert traced["allocate_read_bytes"] < MIB / 4
    other = json.loads(memgauge(*words, "callgrind", *walk, cwd=place).stdout)["program"]
    assert other["bypass_write_bytes"] == 0
    assert any("use --engine trace" in note for note in other["notes"])


@simulates
def test_the_python_function_gives_report_and_document(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    done = api.simulate(["./walk", "r", "4096"], machine="small.toml")
    assert done.program.exit_code == 7
    assert done.document()["read_bytes"] == done.program.read_bytes > 0
    assert "Memory traffic, simulated on small" in done.text()
    with pytest.raises(RequestError, match="engine 'magic'"):
        api.simulate(["true"], machine="small.toml", engine="magic")  # type: ignore[arg-type]


@simulates
def test_output_and_exit_code_are_the_programs(place: Path) -> None:
    done = memgauge("simulate", "--machine", "small.toml", "--", "./walk", "r", "4096", cwd=place)
    assert done.returncode == 7
    assert done.stdout == "sum 0\n"
    assert "simulated: small, two small levels" in done.stderr
    assert "nothing measured" in done.stderr
    assert "Memory traffic, simulated on small" in done.stderr


@simulates
def test_the_document_follows_its_schema(place: Path) -> None:
    found = simulated(place, "./walk", "r", "4096")
    jsonschema.Draft202012Validator(simulation_schema()).validate(found)
    assert found["basis"] == "simulated"
    assert found["program"]["machine"]["name"] == "small"


@simulates
def test_a_page_is_written(place: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    arguments = ["simulate", "--machine", "small.toml", "--html", str(page), "--"]
    done = memgauge(*arguments, "./walk", "r", "4096", cwd=place)
    assert f"page: {page}" in done.stderr
    assert "simulated: small" in page.read_text(encoding="utf-8")


@simulates
def test_a_signal_that_ends_the_program_is_told_as_a_shell_does(place: Path) -> None:
    done = memgauge("simulate", "--", "sh", "-c", "kill -TERM $$", cwd=place)
    assert done.returncode == 128 + signal.SIGTERM
    assert "ended with signal 15" in done.stderr


def under_way(place: Path, engine: str, *words: str) -> subprocess.Popen[str]:
    """A simulation in a group of its own, whose program has begun."""
    arguments = ["simulate", "--machine", "small.toml", "--engine", engine, "--", *words]
    process = subprocess.Popen(
        [sys.executable, "-m", "memgauge", *arguments],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "sleeping\n"
    time.sleep(0.3)
    return process


@simulates
@pytest.mark.parametrize("engine", ["callgrind", "trace"])
@pytest.mark.parametrize(
    ("number", "to_all"),
    [(signal.SIGINT, True), (signal.SIGINT, False), (signal.SIGTERM, False)],
)
def test_ending_it_leaves_nothing_and_keeps_what_was_counted(
    place: Path, engine: str, number: signal.Signals, to_all: bool
) -> None:
    """Ctrl-C reaches the whole group, as from a terminal; what kill sends, memgauge alone."""
    process = under_way(place, engine, "./walk", "s", "64")
    (os.killpg if to_all else os.kill)(process.pid, number)
    _, known = process.communicate(timeout=120)
    assert process.returncode == 128 + number, known
    assert "Memory traffic, simulated on small" in known
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@simulates
def test_what_the_program_started_is_ended_and_counted_too(place: Path) -> None:
    process = under_way(place, "callgrind", "sh", "-c", "./walk s 64; exit 3")
    tree = tree_of(process.pid)
    process.terminate()
    _, known = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGTERM, known
    assert "2 processes are added up" in known
    assert not any(map(lives, tree))


@simulates
def test_a_program_that_will_not_end_is_killed_by_the_second_signal(place: Path) -> None:
    deaf = "trap '' INT TERM; echo sleeping; while :; do :; done"
    process = under_way(place, "callgrind", "sh", "-c", deaf)
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    process.send_signal(signal.SIGINT)
    _, known = process.communicate(timeout=120)
    assert (process.returncode, known.strip()) == (130, "memgauge: ended by SIGINT")


@simulates
@pytest.mark.parametrize("engine", ["callgrind", "trace"])
def test_nothing_runs_on_when_memgauge_is_killed(place: Path, engine: str) -> None:
    process = under_way(place, engine, "sh", "-c", "./walk s 64; exit 3")
    tree = tree_of(process.pid)
    assert len(tree) >= 4  # memgauge, what watches over it, the shell, and the walk
    process.kill()
    process.wait()
    gone(tree)
    process.communicate()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go, valgrind's pipes for a debugger among them."""
    made = tmp_path / "temporary"
    made.mkdir()
    monkeypatch.setenv("TMPDIR", str(made))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return made


def gone(pids: list[int]) -> None:
    """Wait until none of these processes lives."""
    until = time.monotonic() + 60
    while any(map(lives, pids)):
        assert time.monotonic() < until, pids
        time.sleep(0.1)


@simulates
@pytest.mark.parametrize("engine", ["callgrind", "trace"])
def test_a_kill_leaves_no_files(place: Path, temporary: Path, engine: str) -> None:
    process = under_way(place, engine, "sh", "-c", "./walk s 64; exit 3")
    tree = tree_of(process.pid)
    assert len(list(temporary.iterdir())) == (1 if engine == "callgrind" else 0)
    process.kill()
    process.wait()
    gone(tree)
    process.communicate()
    assert not list(temporary.iterdir())
    known = memgauge("system", "--clean", cwd=place).stdout
    assert known == "no leftovers of killed runs were found\n"


@simulates
def test_what_a_kill_of_everything_leaves_is_cleaned(place: Path, temporary: Path) -> None:
    """As when a container or a batch job is ended."""
    process = under_way(place, "callgrind", "./walk", "s", "64")
    (left,) = temporary.iterdir()
    known = memgauge("system", "--clean", cwd=place).stdout
    assert known == f"{left}: in use by a run; left unchanged\n"
    tree = tree_of(process.pid)
    for pid in tree:  # what watches over memgauge has to go before memgauge does
        os.kill(pid, signal.SIGSTOP)
    for pid in tree:
        os.kill(pid, signal.SIGKILL)
    process.communicate()
    gone(tree)
    assert [path.name for path in temporary.iterdir()] == [left.name]
    known = memgauge("system", "--clean", cwd=place).stdout
    assert known.startswith(f"{left}: removed, with ")
    assert not list(temporary.iterdir())


@simulates
def test_no_place_for_temporary_files_is_one_line(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system that takes no files: procfs."""
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", "/proc")
    with pytest.raises(RequestError, match=r"no file of 64 KiB .*; set TMPDIR to a directory"):
        api.simulate(["true"], machine=str(place / "small.toml"))


@simulates
def test_a_page_that_cannot_be_written_is_refused_before_anything_runs(
    place: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    for page, why in (
        (tmp_path, "is a directory; name a file in it"),
        (
            tmp_path / "file" / "page.html",
            "cannot be written: Not a directory; choose another path",
        ),
    ):
        done = memgauge("simulate", "--html", str(page), "--", "echo", "ran", cwd=place)
        assert (done.returncode, done.stdout) == (125, "")
        assert why in done.stderr
        assert done.stderr.count("\n") == 1


def test_no_valgrind_says_what_to_install(place: Path, tmp_path: Path) -> None:
    done = memgauge(
        "simulate", "--machine", "small.toml", "--", "true", cwd=place, path=str(tmp_path)
    )
    assert done.returncode == 125
    assert done.stderr == (
        "memgauge: valgrind is not installed, and simulating a program needs it; install it "
        "(Debian: apt-get install valgrind)\n"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--", "no-such-program"], 127, "'no-such-program': command not found"),
        (["--", "/etc/passwd"], 126, "'/etc/passwd': is no file that you may run"),
        (["--machine", "xeon", "--", "true"], 125, "did you mean xeon-gold-6130?"),
        (["--machine", "no.toml", "--", "true"], 125, "'no.toml': cannot be read"),
        ([], 125, "simulate: give a command, after --"),
        (["--engine", "magic", "--", "true"], 2, "'magic' is not one of 'callgrind', 'trace'"),
    ],
)
def test_what_cannot_be_simulated_is_one_line(
    place: Path, arguments: list[str], code: int, message: str
) -> None:
    if code in {126, 127} and shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    done = memgauge("simulate", *arguments, cwd=place)
    assert done.returncode == code
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@simulates
def test_a_setuid_program_is_refused(place: Path, tmp_path: Path) -> None:
    program = tmp_path / "raised"
    shutil.copy(shutil.which("true") or "/bin/true", program)
    program.chmod(0o4755)
    done = memgauge("simulate", "--", str(program), cwd=place)
    assert done.returncode == 125
    assert "is setuid or setgid, which valgrind cannot execute" in done.stderr


@simulates
def test_a_program_of_another_architecture_is_told(tmp_path: Path) -> None:
    program = tmp_path / "foreign"
    header = bytearray(Path(sys.executable).resolve().read_bytes()[:4096])
    header[18:20] = (8).to_bytes(2, "little")  # e_machine: MIPS
    program.write_bytes(header)
    program.chmod(0o755)
    for engine in ("callgrind", "trace"):
        done = memgauge("simulate", "--engine", engine, "--", "./foreign", cwd=tmp_path)
        assert done.returncode == 125
        assert "'./foreign': valgrind simulated none of it" in done.stderr


def test_all_are_listed_with_their_sizes(place: Path) -> None:
    done = memgauge("machines", cwd=place)
    assert done.returncode == 0
    assert "power9-5mb: IBM POWER9" in done.stdout
    assert "L3   22 MiB, 11 ways, shared by all cores, exclusive" in done.stdout


def test_those_named_tell_sources_and_assumptions(place: Path) -> None:
    done = memgauge("machines", "ampere-altra", "small.toml", cwd=place)
    assert "assumed: write streaming begins after 4 whole lines" in done.stdout
    assert "source: made up" in done.stdout


def test_the_document_holds_what_was_asked_for(place: Path) -> None:
    machines = json.loads(memgauge("machines", "hybrid-12", "--json", cwd=place).stdout)
    assert [one["name"] for one in machines] == ["hybrid-12"]
    assert machines[0]["levels"][2]["bytes"] == 18 * MIB


def test_an_unknown_one_exits_with_two(place: Path) -> None:
    done = memgauge("machines", "power", cwd=place)
    assert done.returncode == 2
    assert "did you mean power9-5mb?" in done.stderr


@simulates
@pytest.mark.parametrize("engine", ["callgrind", "trace"])
def test_no_program_of_the_working_directory_is_found_through_the_path(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("true", "valgrind"):
        hostile = tmp_path / name
        hostile.write_text("#!/bin/sh\ntouch ran\n", encoding="ascii")
        hostile.chmod(0o755)
    monkeypatch.setenv("PATH", f":.:{os.environ['PATH']}")
    done = command.memgauge("simulate", "--engine", engine, "--", "true", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "ran").exists()
