"""All experiments, those of a survey in its order. Adding one is one line here.

The modules are loaded when an experiment is asked for: they need the native core, which a machine
that only renders reports may lack.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import msgspec

from memgauge.experiments.shared.base import Experiment
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.system.native import refusal

if TYPE_CHECKING:
    from memgauge.model.parameters import CommonParameters


class Entry(msgspec.Struct, frozen=True):
    """Where an experiment is, and what it is in a line."""

    module: str
    type_name: str
    summary: str
    on_gpu: tuple[str, str] | None = None
    """Module and type of the one that takes its place where memory asked for is a GPU's, with the
    same name and parameters; None: it measures no GPU."""


EXPERIMENTS: dict[str, Entry] = {
    "stream": Entry(
        "stream.host",
        "Stream",
        "Bandwidth of STREAM's kernels, standard and tuned.",
        on_gpu=("stream.gpu", "GpuStream"),
    ),
    "latency": Entry(
        "latency.host",
        "Latency",
        "Idle load-to-use latency of each cache and of memory.",
        on_gpu=("latency.gpu", "GpuLatency"),
    ),
    "workingset": Entry(
        "workingset.host",
        "Workingset",
        "Latency and read bandwidth over footprints.",
        on_gpu=("workingset.gpu", "GpuWorkingset"),
    ),
    "loaded": Entry(
        "loaded.host", "Loaded", "Latency of memory while others load it, over bandwidth."
    ),
    "mix": Entry(
        "mix.host",
        "Mix",
        "Bandwidth over the share of reads and writes.",
        on_gpu=("mix.gpu", "GpuMix"),
    ),
    "stride": Entry("stride.host", "Stride", "Cost of accesses by size, stride and order."),
    "pages": Entry("pages.host", "Pages", "Cost of address translation by page size and stride."),
    "misses": Entry("misses.host", "Misses", "Cost of cache misses by footprint and pattern."),
    "tiers": Entry(
        "tiers.host",
        "Tiers",
        "Two kinds of memory, alone and at once, by split of threads.",
        on_gpu=("tiers.gpu", "GpuTiers"),
    ),
    "numa": Entry("numa.host", "Numa", "Bandwidth and latency of every CPU node and memory node."),
    "interleave": Entry(
        "interleave.host", "Interleave", "Interleave weights of nodes for the most bandwidth."
    ),
    "transfers": Entry(
        "transfers.gpu",
        "Transfers",
        "Transfers between host and GPU, and between GPUs.",
        on_gpu=("transfers.gpu", "Transfers"),
    ),
}
"""Those with a command of the same name; a survey makes them all."""

BEHIND_COMMANDS: dict[str, Entry] = {
    "counters_verify": Entry(
        "counters_verify.host",
        "CountersVerify",
        "Whether counters count what memory really moves.",
        on_gpu=("counters_verify.gpu", "GpuCountersVerify"),
    ),
    "counters_compare": Entry(
        "counters_compare.host",
        "CountersCompare",
        "Whether two routes to counters give the same figures.",
    ),
    "traffic": Entry(
        "traffic.host",
        "Traffic",
        "Expected, simulated and measured traffic.",
        on_gpu=("traffic.gpu", "GpuNestTraffic"),
    ),
}
"""No part of a survey: each is behind the command that its documentation names."""


def load(name: str) -> Experiment:
    """The experiment of that name.

    Raises:
        RequestError: no such experiment, or this installation has no native core.
    """
    known = EXPERIMENTS | BEHIND_COMMANDS
    if name not in known:
        raise RequestError(f"experiment {name!r} is not known; choose from {', '.join(known)}")
    return _made(name, known[name].module, known[name].type_name)


def for_memory(experiment: Experiment, parameters: CommonParameters) -> Experiment:
    """The experiment that measures the memory that was asked for: itself, unless that is a GPU's.

    Raises:
        NotPossibleHere: it is a GPU's, and the experiment measures none; says which do.
    """
    gpus = [memory for memory in parameters.memories if memory.is_gpu]
    known = EXPERIMENTS | BEHIND_COMMANDS
    if not gpus or experiment.name not in known:
        return experiment
    on_gpu = known[experiment.name].on_gpu
    if on_gpu is None:
        able = ", ".join(name for name, entry in EXPERIMENTS.items() if entry.on_gpu)
        raise NotPossibleHere(
            f"{experiment.name}: measures no memory of a GPU ({gpus[0]}); choose among {able}"
        )
    return _made(experiment.name, *on_gpu)


def _made(name: str, module_name: str, type_name: str) -> Experiment:
    try:
        module = import_module(f"memgauge.experiments.{module_name}")
    except ImportError as error:
        refused = refusal(name, error)
        if refused is None:
            raise
        raise refused from error
    experiment: Experiment = getattr(module, type_name)()
    return experiment
