"""The library that `diagnose` preloads: which blocks of a real program it advises, and how."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.integration.command import memgauge

from memgauge.experiments.diagnose.variants.preloaded import LIBRARY
from memgauge.system.memory.pages import thp_mode
from memgauge.system.memory.policy import refusal
from memgauge.system.native import installed_file
from memgauge.system.tree import Tree

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (apt-get install gcc)"),
]

SOURCE = Path(__file__).parents[3] / "core" / "preload" / "preload.c"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]

PROGRAM = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { large = 4 << 20, small = 64 << 10 };

/* Pages advised to be huge, and the memory policy, of the map that holds an address. */
static void show(const char *name, void *block, size_t bytes) {
    uintptr_t middle = (uintptr_t)block + bytes / 2;
    char line[4096], policy[64] = "-", flags[8] = "-";
    unsigned long begin, end;
    int inside = 0;
    FILE *file = fopen("/proc/self/smaps", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) inside = begin <= middle && middle < end;
        if (inside && strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " hg") != NULL)
            strcpy(flags, "huge");
    }
    if (file != NULL) fclose(file);
    file = fopen("/proc/self/numa_maps", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char found[64];
        if (sscanf(line, "%lx %63s", &begin, found) == 2 && begin <= middle) strcpy(policy, found);
    }
    if (file != NULL) fclose(file);
    printf("%s %s %s\n", name, flags, policy);
}

static void *thread(void *unused) {
    (void)unused;
    show("thread", malloc(large), large);
    return NULL;
}

int main(int count, char **words) {
    const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
    pthread_t other;
    void *block;
    (void)count;
    errno = 77;
    block = mmap(NULL, large, PROT_READ | PROT_WRITE, anonymous, -1, 0);
    if (errno != 77) return 2;
    show("mmap", block, large);
    show("reserved", mmap(NULL, large, PROT_NONE, anonymous, -1, 0), large);
    block = malloc(large);
    show("malloc", block, large);
    errno = 77;
    show("realloc", realloc(block, 8 * large), 8 * large);
    show("calloc", calloc(large, 1), large);
    show("aligned_alloc", aligned_alloc(4096, large), large);
    show("memalign", memalign(64, large), large);
    if (posix_memalign(&block, 4096, large) != 0) return 3;
    show("posix_memalign", block, large);
    if (posix_memalign(&block, 3, large) != EINVAL) return 4;
    errno = 0;
    if (mmap(NULL, 0, PROT_READ, anonymous, -1, 0) != MAP_FAILED || errno != EINVAL) return 5;
    if (calloc((size_t)-1 / 2, 4) != NULL || errno != ENOMEM) return 6;
    /* Maps that are neither large nor private and anonymous, away from others. */
    show("-small", mmap((void *)0x100000000000, small, PROT_READ, anonymous, -1, 0), small);
    block = mmap((void *)0x110000000000, large, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    show("-shared", block, large);
    fflush(stdout);
    if (pthread_create(&other, NULL, thread, NULL) != 0 || pthread_join(other, NULL) != 0) return 7;
    fflush(stdout);
    if (fork() == 0) {
        show("child", malloc(large), large);
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
    (void)words;
    return 0;
}
"""

DIVIDED = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { large = 4 << 20, step = 4096 };

/* Stands in for that of the C library: it prints which policies the preloaded library asks for.
 * What is to prefer node 1 is bound to node 0: stretches are maps of their own on any machine. */
long syscall(long number, ...) {
    static long (*real)(long, ...);
    unsigned long first[16] = {1};
    long words[6];
    va_list more;
    va_start(more, number);
    for (int i = 0; i < 6; ++i) words[i] = va_arg(more, long);
    va_end(more);
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_mbind) {
        const unsigned long *nodes = (const unsigned long *)words[3];
        printf("%ld %lx %ld %ld\n", words[0], nodes[0], words[1], words[2]);
        if (nodes[0] != 1) {
            words[2] = 2;
            words[3] = (long)first;
        }
    }
    return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

static void end(const char *name, const void *block, size_t bytes) {
    printf("%s %ld %ld\n", name, (long)block, (long)bytes);
}

static void fill(char *block) {
    for (int i = 0; i < large; i += step) block[i] = (char)(i / step);
}

static int kept(const char *block) {
    for (int i = 0; i < large; i += step)
        if (block[i] != (char)(i / step)) return 0;
    return 1;
}

int main(void) {
    const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *block = malloc(large), *map, *moved;
    end("malloc", block, large);
    map = mmap(NULL, large - 1, PROT_READ | PROT_WRITE, anonymous, -1, 0);
    end("mmap", map, large);
    end("reserved", mmap(NULL, (size_t)1 << 40, PROT_NONE, anonymous, -1, 0), (size_t)1 << 40);
    fill(map);
    errno = 77;
    moved = mremap(map, large - 1, 2 * large, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED || errno != 77) return 2;
    if (moved == map || msync(map, large, MS_ASYNC) == 0 || errno != ENOMEM) return 3;
    if (!kept(moved) || moved[large] != 0 || moved[2 * large - 1] != 0) return 4;
    memset(moved + large, 1, large);
    if (mremap(moved, 2 * large, (size_t)1 << 60, MREMAP_MAYMOVE) != MAP_FAILED) return 5;
    if (!kept(moved)) return 6;
    /* A map that the program has divided itself cannot be extended: all stays where it was. */
    map = mmap((void *)0x120000000000, large, PROT_READ | PROT_WRITE, anonymous, -1, 0);
    end("hinted", map, large);
    fill(map);
    if (mprotect(map + large - 2 * page, page, PROT_READ) != 0) return 7;
    errno = 0;
    if (mremap(map, large, 2 * large, MREMAP_MAYMOVE) != MAP_FAILED || errno != EFAULT) return 8;
    if (!kept(map)) return 9;
    if (mprotect(map + large - 2 * page, page, PROT_READ | PROT_WRITE) != 0) return 10;
    memset(map, 1, large);
    if (mremap(moved, 2 * large, large, 0) != moved || !kept(moved)) return 11;
    fill(block);
    block = realloc(block, 2 * large);
    if (!kept(block)) return 12;
    end("realloc", block, 2 * large);
    return 0;
}
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program, and the library as the build makes it."""
    folder = tmp_path_factory.mktemp("preload")
    (folder / "main.c").write_text(PROGRAM, encoding="ascii")
    (folder / "divided.c").write_text(DIVIDED, encoding="ascii")
    shared = ["-std=c11", "-fno-builtin", "-fvisibility=hidden", "-fPIC", "-shared"]
    for words in (
        ["cc", "-O2", *shared, *STRICT, str(SOURCE), "-o", "library.so", "-ldl"],
        ["cc", "-O0", "main.c", "-o", "program", "-pthread"],
        ["cc", "-O0", "-rdynamic", "divided.c", "-o", "divided", "-ldl"],
    ):
        subprocess.run(words, cwd=folder, check=True)
    return folder


def output(folder: Path, program: str, **environment: str) -> list[list[str]]:
    """The words of each line that it prints."""
    done = subprocess.run(
        [f"./{program}"],
        cwd=folder,
        env={**os.environ, "LD_PRELOAD": "./library.so", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [line.split() for line in done.stdout.splitlines()]


def run(folder: Path, **environment: str) -> dict[str, tuple[str, str]]:
    """By block: pages and policy."""
    lines = output(folder, "program", **environment)
    return {name: (pages, policy) for name, pages, policy in lines}


LARGE = {"mmap", "reserved", "malloc", "realloc", "calloc", "aligned_alloc", "memalign"} | {
    *("posix_memalign", "thread", "child")
}


def test_large_blocks_alone_are_advised_to_be_huge(built: Path) -> None:
    if thp_mode(Tree()) is None:
        pytest.skip("the kernel has no transparent huge pages")
    found = run(built, MEMGAUGE_LARGE_BYTES="2097152", MEMGAUGE_LARGE_PAGES="huge")
    assert {name for name, (pages, _) in found.items() if pages == "huge"} == LARGE
    assert {"-small", "-shared"} < found.keys()


def test_large_blocks_alone_get_the_policy(built: Path) -> None:
    if refusal() is not None or not Path("/proc/self/numa_maps").exists():
        pytest.skip("memory policies are not permitted")
    found = run(built, MEMGAUGE_LARGE_BYTES="2097152", MEMGAUGE_LARGE_POLICY="interleave:0")
    assert {name for name, (_, policy) in found.items() if policy == "interleave:0"} == LARGE
    assert {pages for pages, _ in found.values()} == {"-"}


PREFERRED = "1"
"""MPOL_PREFERRED of linux/mempolicy.h."""
UNIT_BYTES = 128 << 10
MOST_STRETCHES = 1024


def test_stretches_of_a_block_are_on_nodes_in_the_ratio_of_weights(built: Path) -> None:
    """The address alone tells the node: units 0 to 2 of each five on node 0, 3 and 4 on node 1."""
    if refusal() is not None:
        pytest.skip("memory policies are not permitted")
    asked = f"stretches:{UNIT_BYTES}:0=3,1=2"
    lines = output(built, "divided", MEMGAUGE_LARGE_BYTES="2097152", MEMGAUGE_LARGE_POLICY=asked)
    page = resource.getpagesize()
    taken: list[list[str]] = []
    seen = {}
    for name, *words in lines:
        if not name.isalpha():
            taken.append([name, *words])
            continue
        begin, length = map(int, words)
        assert {mode for *_, mode in taken} == {PREFERRED}
        unit = UNIT_BYTES
        while length // unit > MOST_STRETCHES // 2 * 5:
            unit *= 2
        at = begin // page * page
        for first, mask, size, _ in taken:
            stop = int(first) + int(size)
            assert int(first) == at, "the stretches leave nothing out"
            owners = [(0, 0, 0, 1, 1)[one % 5] for one in (at // unit, (stop - 1) // unit)]
            assert {1 << owner for owner in owners} == {int(mask, 16)}
            assert stop - at <= 3 * unit
            at = stop
        assert at == (begin + length) // page * page
        assert len(taken) <= MOST_STRETCHES + 2
        seen[name] = len(taken)
        taken = []
    assert seen.keys() == {"malloc", "mmap", "reserved", "hinted", "realloc"}
    assert 12 <= seen["mmap"] <= 14  # 32 units: six turns and two units
    assert seen["reserved"] > MOST_STRETCHES // 2


def test_a_block_of_one_share_is_all_on_its_node(built: Path) -> None:
    if refusal() is not None or not Path("/proc/self/numa_maps").exists():
        pytest.skip("memory policies are not permitted")
    asked = {"MEMGAUGE_LARGE_POLICY": "stretches:2097152:0=255"}
    found = run(built, MEMGAUGE_LARGE_BYTES="2097152", **asked)
    assert {name for name, (_, policy) in found.items() if policy == "prefer:0"} == LARGE


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"MEMGAUGE_LARGE_PAGES": "huge"},
        {"MEMGAUGE_LARGE_PAGES": "huge", "MEMGAUGE_LARGE_BYTES": "2x"},
        {"MEMGAUGE_LARGE_PAGES": "huge", "MEMGAUGE_LARGE_BYTES": "-1"},
        {"MEMGAUGE_LARGE_PAGES": "huge", "MEMGAUGE_LARGE_BYTES": "67108864"},
        {"MEMGAUGE_LARGE_POLICY": "interleave:", "MEMGAUGE_LARGE_BYTES": "1"},
        {"MEMGAUGE_LARGE_POLICY": "interleave:0,", "MEMGAUGE_LARGE_BYTES": "1"},
        {"MEMGAUGE_LARGE_POLICY": "interleave:1024", "MEMGAUGE_LARGE_BYTES": "1"},
        {"MEMGAUGE_LARGE_POLICY": "first:0", "MEMGAUGE_LARGE_BYTES": "1"},
        {"MEMGAUGE_LARGE_POLICY": "bind:1023", "MEMGAUGE_LARGE_BYTES": "1"},
        {"MEMGAUGE_LARGE_POLICY": "stretches:0=1", "MEMGAUGE_LARGE_BYTES": "1"},
        {"MEMGAUGE_LARGE_POLICY": "stretches:0:0=1", "MEMGAUGE_LARGE_BYTES": "1"},
        {"MEMGAUGE_LARGE_POLICY": "stretches:2097153:0=1", "MEMGAUGE_LARGE_BYTES": "1"},
        {"MEMGAUGE_LARGE_POLICY": "stretches:2097152:0=0", "MEMGAUGE_LARGE_BYTES": "1"},
        {"MEMGAUGE_LARGE_POLICY": "stretches:2097152:0=256", "MEMGAUGE_LARGE_BYTES": "1"},
        {"MEMGAUGE_LARGE_POLICY": "stretches:2097152:0=1,", "MEMGAUGE_LARGE_BYTES": "1"},
    ],
)
def test_nothing_changes_where_nothing_valid_is_asked(built: Path, asked: dict[str, str]) -> None:
    found = run(built, **asked)
    assert found.keys() > LARGE
    assert {pages for pages, _ in found.values()} == {"-"}
    assert {policy for _, policy in found.values()} <= {"default", "-"}


def test_other_programs_run_as_usual(built: Path) -> None:
    """An interpreter, with its own allocator, a shell that forks, and what they start."""
    asked = {"MEMGAUGE_LARGE_BYTES": "1", "MEMGAUGE_LARGE_PAGES": "huge"}
    environment = {**os.environ, "LD_PRELOAD": str(built / "library.so"), **asked}
    script = "import subprocess; print(len(bytes(9 << 20)), subprocess.getoutput('echo $((6*7))'))"
    words = ["sh", "-c", 'python3 -c "$0" | cat', script]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("9437184 42\n", "")


def test_diagnose_tries_it_where_it_is_installed(tmp_path: Path) -> None:
    if installed_file(LIBRARY) is None or thp_mode(Tree()) in {None, "never"}:
        pytest.skip("this tree has no built library, or the kernel no transparent huge pages")
    words = ("--only", "pages", "--rounds", "1", "--budget", "200s", "--output", "run", "--json")
    script = "echo $MEMGAUGE_LARGE_PAGES ${LD_PRELOAD##*/} >>seen"
    done = memgauge("diagnose", *words, "--", "sh", "-c", script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert '"huge pages advised"' in done.stdout
    seen = set((tmp_path / "seen").read_text(encoding="ascii").splitlines())
    assert "huge libmemgauge_preload.so" in seen
    assert len(seen) == 2
