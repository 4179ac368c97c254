"""Profiles of ten real programs: totals beside those of perf and time, and the cost in time.

    python -m benchmarks.programs --rounds 6 sqlite3 openssl

Each program runs once under `memgauge profile`, `/usr/bin/time -v` and `perf stat` at a time,
one inside the other, so that all count the same run; what the two others use themselves, some
milliseconds, is in memgauge's figures only. Then it runs in interleaved pairs, with and without a
profile, of which ratios of elapsed time are printed. A program that is not installed is left out.
Its files are made in a temporary directory.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.rounds import Ratios, table
from memgauge.analysis.profile.document import ProfileFigures, profile_figures
from memgauge.model.storage.run_file import read_run

EVENTS = "task-clock,page-faults,context-switches,cpu-migrations"
POSTGRES = "$(ls -d /usr/lib/postgresql/*/bin | tail -1)"


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """A program and what it needs."""

    name: str
    needs: tuple[str, ...]
    """Commands to be found in PATH."""
    script: str
    """Of sh, in a directory of its own."""
    once: str = ""
    """Run there before, unprofiled."""


WORKLOADS = (
    Workload(
        name="pgbench",
        needs=("pgbench", "runuser"),
        once=f"""chmod 755 . && mkdir db && chown postgres . db
            runuser -u postgres -- sh -c "{POSTGRES}/initdb -D db -A trust >init.log"
            """,
        script=f"""runuser -u postgres -- sh -c "
            {POSTGRES}/pg_ctl -D db -o '-p 54329 -k $PWD -c listen_addresses=' \\
                -l log -w start >/dev/null
            pgbench -h $PWD -p 54329 -i -q postgres >/dev/null 2>&1
            pgbench -h $PWD -p 54329 -c 4 -t 1000 postgres >/dev/null 2>&1
            {POSTGRES}/pg_ctl -D db -w stop >/dev/null" """,
    ),
    Workload(
        name="redis",
        needs=("redis-server", "redis-benchmark", "redis-cli"),
        script="""redis-server --port 63799 --save '' --loglevel warning & sleep 0.3
            redis-benchmark -p 63799 -q -n 100000 -t set,get >/dev/null
            redis-cli -p 63799 shutdown nosave; wait""",
    ),
    Workload(
        name="ffmpeg",
        needs=("ffmpeg",),
        script="""ffmpeg -v error -y -f lavfi -i testsrc=s=640x480:d=8 -c:v mpeg4 out.avi""",
    ),
    Workload(
        name="sqlite3",
        needs=("sqlite3",),
        script="""rm -f t.db; sqlite3 t.db "create table t(a,b);
            with recursive n(x) as (select 1 union all select x+1 from n where x<600000)
            insert into t select x, hex(x*x) from n;
            create index i on t(b); select count(distinct b) from t;" >/dev/null""",
    ),
    Workload(
        name="numpy",
        needs=(),
        script=f"""{sys.executable} -c "import numpy as n
a = n.random.default_rng(1).random((1500, 1500))
for _ in range(6): a = a @ a / 750
n.linalg.svd(a[:400, :400])" """,
    ),
    Workload(
        name="make -j",
        needs=("make", "cc"),
        once="""for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
            { echo '#include <stdio.h>'; for k in $(seq 150); do
            echo "int f${n}_$k(int x){ for(int i=0;i<x;i++) x^=i*$k+$n; return x; }"; done; } >s$n.c
            done; printf 'all: $(patsubst %%.c,%%.o,$(wildcard s*.c))\\n' >Makefile""",
        script="""rm -f *.o; make -s -j 4 CFLAGS=-O2""",
    ),
    Workload(
        name="sysbench",
        needs=("sysbench",),
        script="""sysbench cpu --threads=2 --events=4000 --time=0 run >/dev/null""",
    ),
    Workload(
        name="hpcc",
        needs=("hpcc", "mpirun"),
        once="""sed '6s/.*/800 Ns/;8s/.*/80 NBs/;10,12s/^[0-9]*/1/' \\
            /usr/share/doc/hpcc/examples/_hpccinf.txt >hpccinf.txt 2>/dev/null || true""",
        script="""mpirun --allow-run-as-root --oversubscribe -n 2 hpcc >/dev/null 2>&1""",
    ),
    Workload(
        name="openssl",
        needs=("openssl",),
        script="""openssl speed -seconds 1 -multi 2 sha256 >/dev/null 2>&1""",
    ),
    Workload(
        name="pipeline",
        needs=("seq", "sort", "md5sum"),
        script="""seq 1500000 | sort -R --random-source=/dev/zero | uniq -c | gzip -1 | md5sum \\
            >/dev/null""",
    ),
)


def profiled(words: Sequence[str], output: Path) -> list[str]:
    """The command under a profile."""
    options = ["--output", str(output), "--quiet", "--no-report"]
    return [sys.executable, "-m", "memgauge", "profile", *options, "--", *words]


def by_time(text: str) -> dict[str, float]:
    """The figures of `/usr/bin/time -v`."""
    found = {}
    for line in text.splitlines():
        name, _, value = line.strip().rpartition(": ")
        if value.replace(".", "", 1).isdigit():
            found[name] = float(value)
    return found


def by_perf(text: str) -> dict[str, float]:
    """The figures of `perf stat -x,`, task-clock in ms."""
    lines = (line.split(",") for line in text.splitlines() if "," in line)
    return {
        words[2].partition(":")[0]: float(words[0])
        for words in lines
        if len(words) > 2 and words[0].replace(".", "", 1).isdigit()
    }


def totals(one: Workload, folder: Path) -> list[list[str]]:
    """Rows of one program: the same figure by memgauge, perf and time."""
    run, time_file, perf_file = folder / "run", folder / "time", folder / "perf"
    inner = [
        "perf",
        "stat",
        "-x,",
        "-o",
        str(perf_file),
        "-e",
        EVENTS,
        "--",
        "sh",
        "-c",
        one.script,
    ]
    if shutil.which("perf") is None:
        inner = ["sh", "-c", one.script]
    words = ["/usr/bin/time", "-v", "-o", str(time_file), *inner]
    subprocess.run(profiled(words, run), cwd=folder, check=True)
    known = read_run(run)
    (process,) = known.processes
    figures = profile_figures(known)
    counted = {total.name: total.counted.total for total in figures.totals}
    perf = by_perf(perf_file.read_text()) if perf_file.exists() else {}
    timed = by_time(time_file.read_text())
    usage = process.usage
    own_cpu = None if usage is None else usage.user_s + usage.system_s
    cpu = timed["User time (seconds)"] + timed["System time (seconds)"]
    faults = (
        timed["Minor (reclaiming a frame) page faults"] + timed["Major (requiring I/O) page faults"]
    )
    switches = timed["Voluntary context switches"] + timed["Involuntary context switches"]
    task_s = perf["task-clock"] * 1e-3 if "task-clock" in perf else None
    rows = [
        ("CPU time, s", counted.get("CPU time"), task_s, None),
        ("CPU time by wait4, s", own_cpu, None, cpu),
        ("page faults", counted.get("page faults"), perf.get("page-faults"), faults),
        (
            "context switches",
            counted.get("context switches"),
            perf.get("context-switches"),
            switches,
        ),
        ("migrations", counted.get("migrations"), perf.get("cpu-migrations"), None),
        (
            "peak resident, MB",
            peak_mb(figures),
            None,
            timed["Maximum resident set size (kbytes)"] / 976.5625,
        ),
        ("waited for a processor, s", counted.get("waiting for a processor"), None, None),
    ]
    return [[one.name, what, *map(_shown, values)] for what, *values in rows]


def peak_mb(figures: ProfileFigures) -> float | str | None:
    """The peak, with what it bounds where it is a bound."""
    if figures.peak is None:
        return None
    found = figures.peak.bytes * 1e-6
    return f"{figures.peak.bound} {found:.1f}" if figures.peak.bound else found


def _shown(value: float | str | None) -> str:
    if value is None or isinstance(value, str):
        return value or "-"
    return f"{value:,.0f}" if value >= 1000 or value == int(value) else f"{value:.3f}"


def children_s() -> float:
    """CPU time of ended children so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cost(one: Workload, folder: Path, rounds: int) -> list[str]:
    """Time of the program under a profile over time without, pair by pair."""
    program, command, processor = Ratios(), Ratios(), Ratios()
    words = ["sh", "-c", one.script]
    for turn in range(rounds):
        run = folder / f"run-{turn}"
        whole: dict[bool, float] = {}
        alone_s = 0.0
        for under in (True, False) if turn % 2 else (False, True):
            begin, used = time.perf_counter(), children_s()
            subprocess.run(profiled(words, run) if under else words, cwd=folder, check=True)
            whole[under] = time.perf_counter() - begin
            alone_s = alone_s if under else children_s() - used
        (process,) = read_run(run).processes
        lasted_s = ((process.end_ns or process.begin_ns) - process.begin_ns) * 1e-9
        program.values.append(lasted_s / whole[False])
        command.values.append(whole[True] / whole[False])
        if process.usage is not None and alone_s > 0:
            processor.values.append((process.usage.user_s + process.usage.system_s) / alone_s)
    ratios = (program.text(3), processor.text(3), command.text(3))
    return [one.name, f"{whole[False]:.2f} s", *ratios]


def main() -> None:
    """Parse arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--rounds", type=int, default=6, help="pairs of each program; 0: totals only"
    )
    parser.add_argument("names", nargs="*", help="programs; none: all")
    arguments = parser.parse_args()
    seen: list[list[str]] = []
    costs: list[list[str]] = []
    for one in WORKLOADS:
        if arguments.names and one.name not in arguments.names:
            continue
        missing = [name for name in one.needs if shutil.which(name) is None]
        if missing:
            print(f"{one.name}: left out, {', '.join(missing)} not found", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            subprocess.run(["sh", "-c", one.once], cwd=folder, check=True)
            seen += totals(one, folder)
            if arguments.rounds:
                costs.append(cost(one, folder, arguments.rounds))
    print(table(["program", "figure", "memgauge", "perf stat", "time -v"], seen))
    if costs:
        header = ["program", "alone", "its time under a profile / without", "its CPU time"]
        header.append("the whole command's time")
        print("\n" + table(header, costs))


if __name__ == "__main__":
    main()
