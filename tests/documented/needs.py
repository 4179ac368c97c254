"""What some commands need that this machine may lack: looked at here, never assumed.

A command whose need is missing is run nevertheless where that can do no harm: it must then be
refused in one line that says so. Others are read only.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tests.integration.ranks.two_hosts import missing_for_ranks

import memgauge
from memgauge.model.counting.back_ends import MEMORY_ORDER
from memgauge.model.system import System
from memgauge.system.detect import detect
from memgauge.system.loader import is_loadable

Missing = Callable[[str], str | None]
"""Given a command: what this machine lacks for it; None: nothing."""


@dataclass(frozen=True)
class Need:
    """Of the commands that match a pattern."""

    pattern: str
    missing: Missing
    refusal: str | None = None
    """Pattern of what the command says without it, with exit code 2; None: it is not run."""


def never(reason: str) -> Missing:
    """What no test does, on any machine."""
    return lambda _: reason


def program(name: str) -> Missing:
    """A program on PATH."""
    return lambda _: None if shutil.which(name) else f"no {name} on PATH"


def library(name: str) -> Missing:
    """A shared library that can be loaded."""

    return lambda _: None if is_loadable(name) else f"no {name} on this machine"


def path(name: str) -> Missing:
    """A file or directory."""
    return lambda _: None if Path(name).exists() else f"no {name} on this machine"


@cache
def system() -> System:
    """This machine."""
    return detect()


@cache
def _counts_traffic() -> bool:
    found = [one for one in memgauge.events() if one.name in MEMORY_ORDER and one.state == "ready"]
    return any(event.quantity == "read_bytes" for back_end in found for event in back_end.events)


def _traffic_counters(_: str) -> str | None:
    return None if _counts_traffic() else "no counter of memory traffic on this machine"


def _nodes(text: str) -> str | None:
    named = re.findall(r"(?:node:|nodes |--tiers )([\d,]+)", text)
    requested = {int(number) for numbers in named for number in numbers.split(",")}
    missing = sorted(requested - {node.node for node in system().nodes})
    return f"no NUMA node {missing[0]} on this machine" if missing else None


def _several_nodes(_: str) -> str | None:
    return None if len(system().nodes) > 1 else "memory on one NUMA node only"


def _placements(_: str) -> str | None:
    enough = len(system().nodes) > 1 or len(system().allowed_cpus) >= 4
    return None if enough else "fewer than 4 CPUs, and one memory node: one placement only"


def _tier(text: str) -> str | None:
    named = re.search(r"--b (cxl|nvdimm)", text)
    wanted = named[1] if named else None
    others = [tier for tier in system().tiers if tier.kind != "dram"]
    if any(wanted in {None, tier.kind} for tier in others):
        return None
    return f"no {wanted or 'second'} tier of memory on this machine"


def _huge_pages(text: str) -> str | None:
    size = "2048kB" if "--pages 2m" in text else "1048576kB"
    pool = Path(f"/sys/kernel/mm/hugepages/hugepages-{size}/free_hugepages")
    free = int(pool.read_text(encoding="ascii")) if pool.exists() else 0
    return None if free >= 512 else f"too few free huge pages of {size}"


def _cpu(text: str) -> str | None:
    named = re.search(r"--cpus (\d+)", text)
    present = named is None or int(named[1]) in system().allowed_cpus
    return None if present else f"no CPU {named[1] if named else ''} on this machine"


def _core_counters(_: str) -> str | None:
    pmus = Path("/sys/bus/event_source/devices")
    found = [name for name in ("cpu*", "armv8*", "power*") if any(pmus.glob(name))]
    return None if found else "no counters of the processor on this machine"


def _module(name: str) -> Missing:
    return lambda _: None if find_spec(name) else f"{name} is not installed"


NEEDS: tuple[Need, ...] = (
    Need(r"^(pip|make) ", never("sets up an installation; the tests run in one")),
    Need(r"^(cat|echo) |^numactl ", never("no command of memgauge")),
    Need(r"^[be] \d+ ", never("lines of a file, no command")),
    Need(r"--reserve-huge-pages", never("changes what the whole machine has reserved")),
    Need(r"--overwrite", never("destroys what a device holds")),
    Need(r"^benchmarks/gpu/run.sh", never("measures for half an hour, on a machine with a GPU")),
    Need(r"redis-benchmark", never("asks a server of redis, which no test starts")),
    Need(r"--only placement ", _placements),
    Need(r"^srun ", program("srun")),
    Need(r"^mpirun |survey-of-june|report survey|/nodes/", lambda _: missing_for_ranks()),
    Need(r"--blas openblas", library("libopenblas.so.0"), r"libopenblas\.so\.0"),
    Need(
        r"--blas \S*/opt/intel",
        path("/opt/intel/lib/libmkl_rt.so.2"),
        r"libmkl_rt\.so\.2",
    ),
    Need(r"--device cuda", _module("cupy"), r"CuPy is not installed"),
    Need(r"cuda:", program("g++")),  # which builds the stand-in of a GPU's driver
    Need(r"nvml:", library("libnvidia-ml.so.1"), r"'nvml:0/energy': not known here"),
    Need(r"devdax:", path("/dev/dax0.0"), r"dax0\.0"),
    Need(r"devdax:", never("writes to a device")),
    Need(r"pmemobj:", library("libpmemobj.so.1"), r"libpmemobj"),
    Need(r"memgauge simulate ", program("valgrind"), r"valgrind"),
    Need(r"--pages (2m|1g)", _huge_pages, r"no explicit huge page of that size is free|CPU"),
    Need(r"--cpus \d", _cpu, r"CPU"),
    Need(r"node:\d|nodes \d|--tiers ", _nodes, r"has no (CPUs of )?node \d"),
    Need(r"memgauge (numa|interleave) ", _several_nodes, r"this machine has memory on one node"),
    Need(r"memgauge tiers --b(udget| cxl| nvdimm)", _tier, r"tier"),
    Need(r"--add-to |trend store|--compact", _module("polars"), r"polars"),
    Need(r"perf:cycles", _core_counters, r"the processor shows no counters|may not"),
    Need(r"perf:uncore_imc/", path("/sys/bus/event_source/devices/uncore_imc"), r"no PMU uncore"),
    Need(
        r"counters (verify|compare|explain auto)|--counters (auto|perf,pcp)",
        lambda text: None if "cuda:" in text else _traffic_counters(text),
        r"no counter of memory traffic",
    ),
)


def need_of(text: str) -> tuple[Need, str] | None:
    """The first need of this command that is missing here, with the reason."""
    for need in NEEDS:
        if re.search(need.pattern, text) and (reason := need.missing(text)):
            return need, reason
    return None
