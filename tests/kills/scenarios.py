"""The commands that are interrupted: small invocations of all of them, on every kind of memory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import msgspec
from tests.integration.ranks.two_hosts import missing_for_ranks, mpirun

from memgauge.model.experiments import SURVEYED

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - what is looked at
RECORDED = "recorded"
"""A run of STREAM and latency in the working directory, for commands that read one."""
TREE = "program"
"""A program of two processes there, which writes `begun`, takes a while, and writes `done`."""

_SHORT = ("--budget", "0.2s")
_ONE_ARRAY = ("--kernel", "copy", "--array-bytes", "1MiB", "--threads", "1", *_SHORT)

_UNTIL_WATCHED = (
    "until ls memgauge-runs/*/process.lane || ! kill -0 $$; do sleep 0.05; done 2>&1; sleep 0.2"
)
"""A program for `profile --pid`; should memgauge be killed before it looks, it ends too."""

Runs = Literal["measured", "profile", "job", "none"]


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """One command line."""

    name: str
    words: tuple[str, ...]
    """Of `memgauge`."""
    runs: Runs = "none"
    """What its run directories hold: the samples of experiments, a profile, or a job's nodes."""
    weight: float = 1.0
    """How often it is drawn, beside others: less for what takes long."""
    module: str = "memgauge"
    """What is run; another one is `memgauge` with something made up."""
    launcher: tuple[str, ...] = ()
    """Before `memgauge`, such as mpirun."""
    results: tuple[str, ...] = ()
    """Files and directories that it makes beside its runs, by pattern."""
    terminal: bool = False
    """Whether its stderr is a terminal."""
    cold: bool = False
    """Whether it finds nothing in the user's cache."""
    reserves: bool = False
    """Whether it changes the kernel's pool of huge pages; such a run is not resumed."""
    memory: str | None = None
    """What it measures beside ordinary memory, to be named again where its run is resumed."""
    processes: int = 1
    """Processes of memgauge, each of which says what ended it."""
    needs: Callable[[], str | None] = lambda: None
    """What this machine lacks for it; None: nothing."""


def _mpi() -> str | None:
    return missing_for_ranks() or (None if find_spec("numpy") else "no numpy (pip install numpy)")


def _valgrind() -> str | None:
    return None if shutil.which("valgrind") else "no valgrind (Debian: apt-get install valgrind)"


def _altair() -> str | None:
    return None if find_spec("vl_convert") else "no vl-convert here: nothing can be drawn"


def _pool() -> str | None:
    file = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")
    return None if os.access(file, os.W_OK) else f"{file} cannot be written: run as root"


def _pmemobj() -> str | None:
    from ctypes.util import find_library

    return (
        None if find_library("pmemobj") else "no libpmemobj (Debian: apt-get install libpmemobj1)"
    )


def _measured(name: str, *words: str, **more: object) -> Scenario:
    return Scenario(name=name, words=words, runs="measured", **more)  # type: ignore[arg-type]


def _in_memory(name: str, memory: str, *words: str, **more: object) -> Scenario:
    requested = ("stream", *_ONE_ARRAY, "--memory", memory, *words)
    return _measured(name, *requested, memory=memory, **more)


def _read(name: str, *words: str, **more: object) -> Scenario:
    return Scenario(name=name, words=words, **more)  # type: ignore[arg-type]


def _started(name: str, *words: str, **more: object) -> Scenario:
    words = (*words, "--", f"./{TREE}")
    return Scenario(name=name, words=words, **more)  # type: ignore[arg-type]


_SURVEYS = [
    _measured("survey", "survey", "--only", "latency,stream", *_SHORT),
    _measured(
        "survey, repeated",
        "survey",
        "--only",
        "latency",
        "--repeat",
        "2",
        *_SHORT,
        weight=0.5,
        processes=2,
    ),
    _measured("survey, remembered", "survey", "--only", "latency", "--remember", *_SHORT),
    _measured("survey of others", "survey", "--only", "pages,mix,loaded", *_SHORT, weight=0.5),
]

_WITH_OPTIONS_OF_THEIR_OWN = {"stream", "tiers"}
_NEED_HARDWARE = {"numa", "interleave", "transfers"}
"""Several memory nodes, or a GPU."""

_EXPERIMENTS = [
    _measured("stream", "stream", *_ONE_ARRAY),
    _measured(
        "stream, tuned",
        *("stream", "--autotune", "--kernel", "copy", "--array-bytes", "1MiB", *_SHORT),
        weight=0.5,
    ),
    *(
        _measured(name, *one.words, *_SHORT, weight=0.5)
        for name, one in SURVEYED.items()
        if name not in _WITH_OPTIONS_OF_THEIR_OWN | _NEED_HARDWARE
    ),
    _measured(
        "tiers", "tiers", "--b", "shm::shm:", "--array-bytes", "1MiB", *_SHORT, memory="shm:"
    ),
    _measured(
        "traffic",
        *("traffic", "gemm", "--sizes", "16,32", "--simulate-only", *_SHORT),
    ),
]

_MEMORY = [
    _in_memory("file", "file:."),
    _in_memory("kept file", "file:arrays", "--keep", results=("arrays",), weight=2.0),
    _in_memory(
        "kept shared file", f"file:{SHARED_MEMORY}/arrays", "--keep",
        results=(f"{SHARED_MEMORY}/arrays",),
    ),
    _in_memory("shared memory", "shm:"),
    _in_memory("kept pool", "pmemobj:pool", "--keep", results=("pool",), needs=_pmemobj),
    _measured(
        "huge pages", "pages", "--pages", "2m", "--reserve-huge-pages", "8MiB", *_SHORT,
        reserves=True, needs=_pool, weight=2.0,
    ),
]  # fmt: skip

_PROGRAMS = [
    _started("profile", "profile", runs="profile", weight=2.0),
    _started("profile, live", "profile", "--live", runs="profile", terminal=True),
    _started("profile, no report", "profile", "--no-report", "--quiet", runs="profile"),
    Scenario(
        name="profile of a process",
        launcher=("sh", "-c", f'({_UNTIL_WATCHED}) & exec "$@" --pid $!', "sh"),
        words=("profile",),
        runs="profile",
    ),
    _started(
        "simulate", "simulate", "--html", "page.html",
        results=("page.html",), needs=_valgrind, weight=2.0,
    ),
    _started("simulate, trace", "simulate", "--engine", "trace", needs=_valgrind),
]  # fmt: skip

_JOBS = [
    Scenario(
        name="fft3d",
        launcher=tuple(mpirun(2)),
        words=("fft3d", "--size", "16", "--repetitions", "1", "--output", "job"),
        runs="job",
        weight=0.3,
        needs=_mpi,
    ),
    Scenario(
        name="cluster",
        launcher=tuple(mpirun(2)),
        module="tests.integration.ranks.made_up_survey",
        words=("cluster", "--output", "job"),
        runs="job",
        weight=0.2,
        needs=_mpi,
    ),
]

_READERS = [
    _read("report", "report", RECORDED, weight=2.0),
    _read("report, first ever", "report", RECORDED, weight=0.2, cold=True, needs=_altair),
    _read("report, html", "report", RECORDED, "--format", "html"),
    _read(
        "compare", "compare", RECORDED, RECORDED, "--html", "compared.html",
        results=("compared.html",),
    ),
    _read(
        "figures", "figures", RECORDED, "--output", "drawn",
        results=("drawn", "drawn/*"), needs=_altair,
    ),
    _read("export", "export", RECORDED, "--output", "samples.csv", results=("samples.csv",)),
    _read(
        "export, parquet",
        *("export", RECORDED, "--format", "parquet", "--output", "samples.parquet"),
        results=("samples.parquet",),
        needs=lambda: None if find_spec("polars") else "no polars (pip install polars)",
    ),
    _read(
        "trend", "trend", RECORDED, "--add-to", "store", "--machine", "node",
        results=("store", "store/memgauge-store.json", "store/*", "store/*/*", "store/*/*/*"),
        needs=lambda: None if find_spec("polars") else "no polars (pip install polars)",
    ),
]  # fmt: skip

_SHOWN = [
    _read(name, *name.split(), weight=0.3)
    for name in (
        "system",
        "system --clean",
        "system --remembered",
        "counters",
        "machines",
        "schema",
        "region --cflags",
    )
]

SCENARIOS = [*_SURVEYS, *_EXPERIMENTS, *_MEMORY, *_PROGRAMS, *_JOBS, *_READERS, *_SHOWN]
