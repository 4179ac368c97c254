"""Programs in C and C++ mark regions, and a profile of them has these in its record."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.integration.command import memgauge

from memgauge.commands.region import HEADER, found
from memgauge.model.errors import RequestError
from memgauge.model.record_kinds.programs import Region
from memgauge.model.storage.run_file import read_run

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (apt-get install gcc)"),
]

SOURCE = Path(__file__).parents[3] / "core" / "region" / "region.c"

C_PROGRAM = r"""
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "memgauge/region.h"

void memgauge_region_begin_(const char *name, size_t length);
void memgauge_region_end_(const char *name, size_t length);

static void *thread(void *name) {
    for (int i = 0; i < 100; ++i) {
        memgauge_region_begin(name);
        memgauge_region_end(name);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    char words[300];
    errno = 77;
    memgauge_region_begin("outer");
    memgauge_region_begin("inner\nline");
    usleep(20000);
    memgauge_region_end("inner\nline");
    memgauge_region_end("outer");
    memgauge_region_end("never begun");
    memgauge_region_begin("never ended");
    memgauge_region_begin(NULL);
    memgauge_region_begin_("fortran   ", 10);
    memgauge_region_end_("fortran", 7);
    memset(words, 'x', 299);
    words[299] = 0;
    memgauge_region_begin(words);
    if (errno != 77) return 2;
    pthread_create(&threads[0], NULL, thread, "one");
    pthread_create(&threads[1], NULL, thread, "two");
    if (fork() == 0) {
        memgauge_region_begin("child");
        memgauge_region_end("child");
        _exit(0);
    }
    wait(NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    /* Descriptors are the program's: it closes all, and a file of its own takes a number. */
    for (int fd = 3; fd < 64; ++fd) close(fd);
    for (int fd = 3; fd < 32; ++fd) open("own", O_RDWR | O_CREAT | O_APPEND, 0666);
    memgauge_region_begin("reopened");
    memgauge_region_end("reopened");
    printf("%d\n", memgauge_region_enabled());
    return 5;
}
"""

CPP_PROGRAM = r"""
#include <stdexcept>
#include "memgauge/region.h"
int main() {
    try {
        const memgauge::Region region("scope");
        throw std::runtime_error("left early");
    } catch (const std::exception &) {
    }
    const memgauge::Region whole("whole");
    return 0;
}
"""


@pytest.fixture(scope="module", params=["installed", "built here"])
def flags(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What links a program: as `memgauge region` prints it, else from the library's source."""
    if request.param == "installed":
        printed = memgauge("region", "--cflags", "--libs")
        if printed.returncode:
            pytest.skip(f"this tree has no built library: {printed.stderr.strip()}")
        return shlex.split(printed.stdout)
    include = f"-I{found(HEADER).parent.parent}"
    made = tmp_path_factory.mktemp("region") / "libmemgauge_region.so"
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
    subprocess.run(
        ["cc", "-std=c11", "-O2", *strict, "-fPIC", "-shared", include, SOURCE, "-o", made],
        check=True,
    )
    return [include, f"-L{made.parent}", f"-Wl,-rpath,{made.parent}", "-lmemgauge_region"]


def built(source: str, compiler: str, suffix: str, flags: Sequence[str], folder: Path) -> str:
    (folder / f"main{suffix}").write_text(source)
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
    words = [compiler, *strict, f"main{suffix}", "-o", "program", "-pthread", *flags]
    if suffix == ".c":
        words.insert(1, "-D_DEFAULT_SOURCE")
    subprocess.run(words, cwd=folder, check=True)
    return "./program"


def profiled(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    options = ["--output", "run", "--components", "process", "--quiet", "--no-report"]
    return memgauge("profile", *options, program, cwd=folder)


def named(regions: Sequence[Region], name: str) -> list[Region]:
    return [region for region in regions if region.name == name]


def test_a_c_program_marks_its_regions(flags: list[str], tmp_path: Path) -> None:
    done = profiled(built(C_PROGRAM, "cc", ".c", flags, tmp_path), tmp_path)
    assert (done.returncode, done.stdout) == (5, "1\n"), done.stderr
    run = read_run(tmp_path / "run")
    (process,) = run.processes
    assert process.end_ns is not None
    (outer,) = named(run.regions, "outer")
    (inner,) = named(run.regions, "inner_line")
    assert outer.end_ns is not None
    assert inner.end_ns is not None
    assert process.begin_ns <= outer.begin_ns <= inner.begin_ns
    assert inner.end_ns <= outer.end_ns <= process.end_ns
    assert inner.end_ns - inner.begin_ns >= 20_000_000
    assert (outer.pid, outer.tid) == (process.pid, process.pid)
    assert [region.end_ns for region in named(run.regions, "never ended")] == [None]
    assert named(run.regions, "fortran")[0].end_ns is not None
    assert len(named(run.regions, "x" * 200)) == 1
    assert {len(named(run.regions, name)) for name in ("one", "two")} == {100}
    assert named(run.regions, "one")[0].tid != named(run.regions, "two")[0].tid
    assert named(run.regions, "child")[0].pid != process.pid
    assert len(named(run.regions, "reopened")) == 1
    assert (tmp_path / "own").read_bytes() == b""
    assert "1 regions ended without a recorded begin" in {
        warning.message for warning in run.warnings
    }
    assert not (tmp_path / "run" / "marks.txt").exists()


@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler (apt-get install g++)")
def test_a_cpp_scope_marks_its_lifetime(flags: list[str], tmp_path: Path) -> None:
    assert profiled(built(CPP_PROGRAM, "c++", ".cpp", flags, tmp_path), tmp_path).returncode == 0
    regions = read_run(tmp_path / "run").regions
    assert [region.name for region in regions] == ["scope", "whole"]
    assert all(region.end_ns is not None for region in regions)


def test_without_a_profile_marks_do_nothing(flags: list[str], tmp_path: Path) -> None:
    program = built(C_PROGRAM, "cc", ".c", flags, tmp_path)
    done = subprocess.run(
        [program], cwd=tmp_path, capture_output=True, text=True, env={}, check=False
    )
    assert (done.returncode, done.stdout) == (5, "0\n")
    fifo = tmp_path / "fifo"
    subprocess.run(["mkfifo", fifo], check=True)
    for place in (fifo, tmp_path / "nowhere", Path("/dev/full")):
        again = subprocess.run(
            [program],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={"MEMGAUGE_MARKS": str(place)},
            timeout=60,
            check=False,
        )
        assert (again.returncode, again.stdout) == (5, "0\n")


def test_what_was_not_installed_is_said() -> None:
    with pytest.raises(RequestError, match="no-such-file: is missing from this installation"):
        found(Path("lib/no-such-file"))
