"""The cache model and valgrind's cachegrind on one configuration: the same misses of one trace.

Cachegrind (Valgrind User Manual, 5): a first level for data and one for instructions that miss
into one last level, all least recently used, stores allocate as loads do, no write-backs. Here that
is two cores with a private level each, one of which fetches instructions; every access is a load,
since cachegrind moves nothing to the last level when a changed line leaves the first.

An access that lies in two lines counts once for cachegrind, and where one of them is missing it
asks the last level for both. The first program makes none of data; of code, the few that there are
bound what may differ.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from array import array
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pytest

from memgauge.experiments.shared.cache_machines import cache_model
from memgauge.model.cache_machine import CacheLevel, CacheMachine

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed"),
]

LINE = 64
FIRST = CacheLevel(name="L1", bytes=4096, ways=2)
LAST = CacheLevel(name="LL", bytes=32768, ways=4, cores=2)
MACHINE = CacheMachine(
    name="cachegrind",
    title="a first level for data, one for instructions",
    source="made up",
    levels=[FIRST, LAST],
    machine_cores=2,
    cores=2,
)
DATA, CODE = 0, 1

# No library: every access of data is the program's own, and of one line.
SOURCE = """
static unsigned long words[16384];
static void leave(void) {
#if defined(__x86_64__)
    __asm__ volatile("syscall" : : "a"(60), "D"(0) : "memory");
#elif defined(__aarch64__)
    register long number __asm__("x8") = 93;
    register long code __asm__("x0") = 0;
    __asm__ volatile("svc 0" : : "r"(number), "r"(code) : "memory");
#endif
}
void _start(void) {
    volatile unsigned long *at = words;
    unsigned long seed = 1;
    for (unsigned long step = 0; step < 20000; ++step) {
        seed = seed * 6364136223846793005UL + 1442695040888963407UL;
        unsigned long place = (seed >> 33) % ((step & 3) ? 2000 : 16384);
        if (step % 3 == 0) at[place] = seed;
        else if (step % 7 == 0) at[place] += 1;
        else seed ^= at[place];
    }
    for (unsigned long step = 0; step < 16384; step += 5) at[step] = at[16383 - step];
    leave();
}
"""


class Misses(NamedTuple):
    """What both count."""

    data: int
    last_data: int
    code: int
    last_code: int


class Trace(NamedTuple):
    """Accesses as (core, address, bytes), in order."""

    accesses: list[tuple[int, int, int]]

    def in_two_lines(self, core: int) -> int:
        """Accesses of a core that lie in two lines."""
        return sum(
            at // LINE != (at + size - 1) // LINE
            for whose, at, size in self.accesses
            if whose == core
        )

    def places_in_two_lines(self, core: int) -> int:
        """The same, each address once."""
        return Trace(list(dict.fromkeys(self.accesses))).in_two_lines(core)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cachegrind")
    source, built = folder / "walk.c", folder / "walk"
    source.write_text(SOURCE)
    flags = ["-O1", "-static", "-nostdlib", "-fno-stack-protector", "-fno-tree-vectorize"]
    done = subprocess.run(
        ["gcc", *flags, "-o", str(built), str(source)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("gcc builds no program without a library here")
    return built


def traced(words: list[str], folder: Path) -> Trace:
    log = folder / "lackey.log"
    valgrind(["--tool=lackey", "--trace-mem=yes", f"--log-file={log}", *words])
    lines = re.findall(r"^(I | [LSM]) +([0-9a-f]+),(\d+)$", log.read_text(), re.MULTILINE)
    return Trace([(CODE if k == "I " else DATA, int(at, 16), int(size)) for k, at, size in lines])


def counted_by_cachegrind(words: list[str], folder: Path) -> Misses:
    out = folder / "cachegrind.out"
    sizes = [f"{one.bytes},{one.ways},{LINE}" for one in (FIRST, LAST)]
    valgrind(
        [
            "--tool=cachegrind",
            "--cache-sim=yes",
            f"--I1={sizes[0]}",
            f"--D1={sizes[0]}",
            f"--LL={sizes[1]}",
            f"--cachegrind-out-file={out}",
            f"--log-file={folder}/cachegrind.log",
            *words,
        ]
    )
    known = dict(
        line.split(":", 1)
        for line in out.read_text().splitlines()
        if line.startswith(("events:", "summary:"))
    )
    sums = dict(zip(known["events"].split(), map(int, known["summary"].split()), strict=True))
    return Misses(
        sums["D1mr"] + sums["D1mw"], sums["DLmr"] + sums["DLmw"], sums["I1mr"], sums["ILmr"]
    )


def valgrind(words: list[str]) -> None:
    subprocess.run(
        ["valgrind", *words], check=True, capture_output=True, timeout=300, env={"PATH": "/bin"}
    )


def counted_here(trace: Trace) -> Misses:
    """The first level of a core asks the last one as often as it misses."""
    model = cache_model(MACHINE)
    first, last = [0, 0], [0, 0]
    before = (0, 0)
    for core, run in groupby(trace.accesses, key=lambda access: access[0]):
        records = array("Q")
        for _, at, size in run:
            records.extend((at, size))
        model.trace(records, core=core)
        levels = model.counts().levels
        now = (levels[0].misses, levels[1].misses)
        first[core] += now[0] - before[0]
        last[core] += now[1] - before[1]
        before = now
    return Misses(first[DATA], last[DATA], first[CODE], last[CODE])


def test_both_count_the_same_misses(program: Path, tmp_path: Path) -> None:
    trace = traced([str(program)], tmp_path)
    theirs = counted_by_cachegrind([str(program)], tmp_path)
    ours = counted_here(trace)
    assert theirs.data > theirs.last_data > 1000
    assert trace.in_two_lines(DATA) == 0
    assert ours.data == theirs.data
    slack = 2 * trace.places_in_two_lines(CODE)
    assert slack < 0.005 * theirs.last_data
    assert abs(ours.last_data - theirs.last_data) <= slack
    assert abs(ours.last_code - theirs.last_code) <= slack


def test_a_program_with_a_library_differs_by_accesses_in_two_lines_alone(tmp_path: Path) -> None:
    words = [shutil.which("true") or "true"]
    trace = traced(words, tmp_path)
    theirs = counted_by_cachegrind(words, tmp_path)
    ours = counted_here(trace)
    slack = trace.in_two_lines(DATA)
    assert slack < 0.1 * len(trace.accesses)
    assert theirs.data <= ours.data <= theirs.data + slack
    crossings = slack + trace.in_two_lines(CODE)
    assert abs(ours.last_data - theirs.last_data) <= 2 * crossings
