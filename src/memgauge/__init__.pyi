"""The functions of the package. Written by `make generated`; do not edit."""

from collections.abc import Sequence
from typing import Any

from memgauge.api import add_to_store as add_to_store
from memgauge.api import combined as combined
from memgauge.api import compare as compare
from memgauge.api import counters as counters
from memgauge.api import counters_compare as counters_compare
from memgauge.api import counters_verify as counters_verify
from memgauge.api import events as events
from memgauge.api import load as load
from memgauge.api import machine as machine
from memgauge.api import published as published
from memgauge.api import region as region
from memgauge.api import repeat as repeat
from memgauge.api import simulate as simulate
from memgauge.api import survey_plan as survey_plan
from memgauge.api import system as system
from memgauge.api import tool_output as tool_output
from memgauge.api import trend as trend
from memgauge.model.errors import MemgaugeError as MemgaugeError
from memgauge.results import Result as Result

__all__ = [
    "MemgaugeError",
    "Result",
    "add_to_store",
    "combined",
    "compare",
    "core_to_core",
    "counters",
    "counters_compare",
    "counters_verify",
    "diagnose",
    "events",
    "interleave",
    "latency",
    "load",
    "loaded",
    "machine",
    "misses",
    "mix",
    "numa",
    "pages",
    "profile",
    "published",
    "region",
    "repeat",
    "simulate",
    "stream",
    "stride",
    "survey",
    "survey_plan",
    "system",
    "tiers",
    "tool_output",
    "traffic",
    "transfers",
    "trend",
    "watch",
    "workingset",
]

def survey(
    *,
    only: str | None = ...,
    threads: int | Sequence[int] | str | None = ...,
    cpus: str = ...,
    nodes: int | Sequence[int] | str | None = ...,
    memory: Any = ...,
    pages: str = ...,
    keep: bool = ...,
    overwrite: bool = ...,
    sweep: str | None = ...,
    budget: float | str = ...,
    precision: float | str = ...,
    output: str | None = ...,
    json: bool = ...,
    peak: float | str | None = ...,
    remember: bool = ...,
) -> Result:
    """Every experiment, or `only` some (`stream,latency`), inside one budget."""

def stream(
    *,
    threads: int | Sequence[int] | str | None = ...,
    cpus: str = ...,
    nodes: int | Sequence[int] | str | None = ...,
    memory: Any = ...,
    pages: str = ...,
    keep: bool = ...,
    overwrite: bool = ...,
    reserve_huge_pages: int | str | None = ...,
    kernel: Any = ...,
    variant: Any = ...,
    element: str = ...,
    array_bytes: int | str | None = ...,
    array_offset: int | str | None = ...,
    access: Any = ...,
    store: str | Sequence[str] | None = ...,
    prefetch: Any = ...,
    repetitions: int | str | None = ...,
    runs: int | str | None = ...,
    autotune: bool = ...,
    counters: str | Sequence[str] | None = ...,
    budget: float | str = ...,
    precision: float | str = ...,
    output: str | None = ...,
    json: bool = ...,
    peak: float | str | None = ...,
    remember: bool = ...,
) -> Result:
    """Bandwidth of STREAM's kernels, standard and tuned."""

def latency(
    *,
    cpus: str = ...,
    nodes: int | Sequence[int] | str | None = ...,
    memory: Any = ...,
    pages: str = ...,
    keep: bool = ...,
    overwrite: bool = ...,
    budget: float | str = ...,
    precision: float | str = ...,
    output: str | None = ...,
    json: bool = ...,
    peak: float | str | None = ...,
    remember: bool = ...,
) -> Result:
    """Idle load-to-use latency of each cache and of memory."""

def workingset(
    *,
    cpus: str = ...,
    nodes: int | Sequence[int] | str | None = ...,
    memory: Any = ...,
    pages: str = ...,
    keep: bool = ...,
    overwrite: bool = ...,
    largest_bytes: int | str | None = ...,
    budget: float | str = ...,
    precision: float | str = ...,
    output: str | None = ...,
    json: bool = ...,
    peak: float | str | None = ...,
    remember: bool = ...,
) -> Result:
    """Latency and read bandwidth over footprints."""

def loaded(
    *,
    threads: int | Sequence[int] | str | None = ...,
    cpus: str = ...,
    nodes: int | Sequence[int] | str | None = ...,
    memory: Any = ...,
    pages: str = ...,
    keep: bool = ...,
    overwrite: bool = ...,
    sweep: str | None = ...,
    read_share: float | Sequence[float] | str | None = ...,
    store: Any = ...,
    order: str | Sequence[str] | None = ...,
    delay: int | Sequence[int] | str | None = ...,
    like: str | None = ...,
    steps: int | str | None = ...,
    budget: float | str = ...,
    precision: float | str = ...,
    output: str | None = ...,
    json: bool = ...,
    peak: float | str | None = ...,
    remember: bool = ...,
) -> Result:
    """Memory latency under load, over bandwidth."""

def mix(
    *,
    threads: int | Sequence[int] | str | None = ...,
    cpus: str = ...,
    nodes: int | Sequence[int] | str | None = ...,
    memory: Any = ...,
    pages: str = ...,
    keep: bool = ...,
    overwrite: bool = ...,
    sweep: str | None = ...,
    read_share: float | Sequence[float] | str | None = ...,
    store: Any = ...,
    order: Any = ...,
    budget: float | str = ...,
    precision: float | str = ...,
    output: str | None = ...,
    json: bool = ...,
    peak: float | str | None = ...,
    remember: bool = ...,
) -> Result:
    """Bandwidth over the share of reads and writes."""

def stride(
    *,
    cpus: str = ...,
    nodes: int | Sequence[int] | str | None = ...,
    memory: Any = ...,
    pages: str = ...,
    keep: bool = ...,
    overwrite: bool = ...,
    sweep: str | None = ...,
    access: Any = ...,
    stride: int | Sequence[int] | str | None = ...,
    order: Any = ...,
    footprint: int | str | None = ...,
    budget: float | str = ...,
    precision: float | str = ...,
    output: str | None = ...,
    json: bool = ...,
    peak: float | str | None = ...,
    remember: bool = ...,
) -> Result:
    """Cost of accesses by size, stride and order."""

def pages(
    *,
    cpus: str = ...,
    nodes: int | Sequence[int] | str | None = ...,
    memory: Any = ...,
    pages: str = ...,
    keep: bool = ...,
    overwrite: bool = ...,
    sweep: str | None = ...,
    stride: int | Sequence[int] | str | None = ...,
    largest_bytes: int | str | None = ...,
    reserve_huge_pages: int | str | None = ...,
    counters: Any = ...,
    budget: float | str = ...,
    precision: float | str = ...,
    output: str | None = ...,
    json: bool = ...,
    peak: float | str | None = ...,
    remember: bool = ...,
) -> Result:
    """Cost of address translation by page size and stride."""

def misses(
    *,
    cpus: str = ...,
    nodes: int | Sequence[int] | str | None = ...,
    memory: Any = ...,
    pages: str = ...,
    keep: bool = ...,
    overwrite: bool = ...,
    sweep: str | None = ...,
    largest_bytes: int | str | None = ...,
    cases: Any = ...,
    counters: Any = ...,
    budget: float | str = ...,
    precision: float | str = ...,
    output: str | None = ...,
    json: bool = ...,
    peak: float | str | None = ...,
    remember: bool = ...,
) -> Result:
    """Cost of cache misses by footprint and pattern."""

def tiers(
    *,
    threads: int | Sequence[int] | str | None = ...,
    cpus: str = ...,
    nodes: int | Sequence[int] | str | None = ...,
    memory: Any = ...,
    pages: str = ...,
    keep: bool = ...,
    overwrite: bool = ...,
    sweep: str | None = ...,
    a: Any = ...,
    b: Any = ...,
    preset: str | None = ...,
    nvm: Any = ...,
    split: int | Sequence[int] | str | None = ...,
    kernel: str | Sequence[str] | None = ...,
    variant: str | None = ...,
    element: str = ...,
    access: Any = ...,
    store: str | None = ...,
    read_share: float | Sequence[float] | str | None = ...,
    delay_a: Any = ...,
    delay_b: Any = ...,
    transfer: str | Sequence[str] | None = ...,
    latency: bool = ...,
    fixed_iterations: int | str | None = ...,
    array_bytes: int | str | None = ...,
    budget: float | str = ...,
    precision: float | str = ...,
    output: str | None = ...,
    json: bool = ...,
    peak: float | str | None = ...,
    remember: bool = ...,
) -> Result:
    """Bandwidth of two kinds of memory, alone and at once, by split of threads."""

def numa(
    *,
    threads: int | Sequence[int] | str | None = ...,
    cpus: str = ...,
    nodes: int | Sequence[int] | str | None = ...,
    pages: str = ...,
    memory_nodes: int | Sequence[int] | str | None = ...,
    kernel: Any = ...,
    array_bytes: int | str | None = ...,
    budget: float | str = ...,
    precision: float | str = ...,
    output: str | None = ...,
    json: bool = ...,
    peak: float | str | None = ...,
    remember: bool = ...,
) -> Result:
    """Bandwidth and latency of every CPU node and memory node."""

def interleave(
    *,
    threads: int | Sequence[int] | str | None = ...,
    cpus: str = ...,
    nodes: int | Sequence[int] | str | None = ...,
    pages: str = ...,
    sweep: str | None = ...,
    tiers: int | Sequence[int] | str | None = ...,
    kernel: Any = ...,
    up_to: int | str | None = ...,
    element: str = ...,
    array_bytes: int | str | None = ...,
    budget: float | str = ...,
    precision: float | str = ...,
    output: str | None = ...,
    json: bool = ...,
    peak: float | str | None = ...,
    remember: bool = ...,
) -> Result:
    """Interleave weights of nodes that give the most bandwidth."""

def core_to_core(
    *,
    threads: int | Sequence[int] | str | None = ...,
    cpus: str = ...,
    nodes: int | Sequence[int] | str | None = ...,
    pairs: int | str | None = ...,
    budget: float | str = ...,
    precision: float | str = ...,
    output: str | None = ...,
    json: bool = ...,
    peak: float | str | None = ...,
    remember: bool = ...,
) -> Result:
    """Latency of a cache line from each CPU to each, and throughput of a contended one."""

def transfers(
    *,
    memory: Any = ...,
    sweep: str | None = ...,
    direction: Any = ...,
    host: Any = ...,
    host_memory: Any = ...,
    peer: str | None = ...,
    sizes: int | Sequence[int] | str | None = ...,
    largest_bytes: int | str | None = ...,
    budget: float | str = ...,
    precision: float | str = ...,
    output: str | None = ...,
    json: bool = ...,
    peak: float | str | None = ...,
    remember: bool = ...,
) -> Result:
    """Transfers between host and GPU, and between GPUs."""

def traffic(
    kernel: str,
    *,
    threads: int | Sequence[int] | str | None = ...,
    cpus: str = ...,
    nodes: int | Sequence[int] | str | None = ...,
    memory: Any = ...,
    pages: str = ...,
    keep: bool = ...,
    overwrite: bool = ...,
    sweep: str | None = ...,
    sizes: Any = ...,
    batched: bool = ...,
    grid: Any = ...,
    cap: int | str | None = ...,
    stride: int | str | None = ...,
    store_prefetch: bool = ...,
    load_prefetch: bool = ...,
    prefetch: Any = ...,
    repetitions: str | int = ...,
    runs: int | str | None = ...,
    counters: str | Sequence[str] | None = ...,
    machine: Any = ...,
    blas: str | Sequence[str] | None = ...,
    simulate_up_to: float | str = ...,
    simulate_only: bool = ...,
    size_budget: float | str | None = ...,
    budget: float | str = ...,
    precision: float | str = ...,
    output: str | None = ...,
    json: bool = ...,
    peak: float | str | None = ...,
    remember: bool = ...,
) -> Result:
    """Expected, simulated and measured traffic."""

def diagnose(
    command: Sequence[str] = ...,
    *,
    only: Any = ...,
    rounds: int | str | None = ...,
    program_cpus: int | Sequence[int] | str | None = ...,
    pressure_cpus: int | Sequence[int] | str | None = ...,
    pressure_steps: int | str = ...,
    metric: str | None = ...,
    region: str | None = ...,
    metric_better: str | None = ...,
    pid: int | str | None = ...,
    metric_command: str | None = ...,
    prepare: str | None = ...,
    same_output: bool = ...,
    simulate_up_to: float | str = ...,
    curves: str | None = ...,
    weights: str | None = ...,
    variants: Any = ...,
    budget: float | str = ...,
    precision: float | str = ...,
    output: str | None = ...,
    json: bool = ...,
    peak: float | str | None = ...,
    remember: bool = ...,
) -> Result:
    """What limits a program, and what would help."""

def profile(
    command: Sequence[str] = ...,
    *,
    pid: int | str | None = ...,
    rate: float | str = ...,
    components: str | Sequence[str] | None = ...,
    counters: str | Sequence[str] | None = ...,
    by_thread: bool = ...,
    output: str | None = ...,
) -> Result:
    """Run a command, or attach to `pid=`, and record one timeline beside it until it ends."""

def watch(
    *,
    period: float | str = ...,
    duration_s: float | str | None = ...,
    learn: float | str = ...,
    cpu: int | str | None = ...,
    no_probe: bool = ...,
    curves: str | None = ...,
    pid: int | str | None = ...,
    cgroup: str | None = ...,
    listen: str | Sequence[str] | None = ...,
    browser: bool = ...,
    record: bool = ...,
    output: str | None = ...,
    remember: bool = ...,
) -> Result:
    """Watch memory for a time, record it, and return what was seen."""
