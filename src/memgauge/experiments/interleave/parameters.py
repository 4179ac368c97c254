"""Parameters of `interleave`, and what they stand for on a machine."""

from __future__ import annotations

from typing import Annotated, ClassVar

from memgauge.experiments.stream.parameters import ELEMENTS, KERNELS
from memgauge.model import units
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.memory import MAX_NODE, MemoryPlacement
from memgauge.model.option import (
    Option,
    choice_option,
    choices_option,
    counts_option,
    size_option,
)
from memgauge.model.parameters import MAX_THREADS, CommonParameters
from memgauge.model.system import System
from memgauge.system.topology.memory_nodes import nodes_with_memory, require_nodes
from memgauge.system.topology.placement import cpus_for

COARSE_UP_TO = 4
FINE_UP_TO = 8
LARGEST_UP_TO = 64
COARSE_FURTHER = 8
FINE_FURTHER = 20
"""Weights that a search may add: noise alone would let it go on."""

_up_to_option = Option(
    help="largest weight of the first sweep, relative to 1 for the other nodes",
    metavar="N",
    parse=lambda text, flag: units.parse_count(text, flag, 1, LARGEST_UP_TO),
    automatic="4; fine: 8",
)


class InterleaveParameters(CommonParameters, frozen=True, kw_only=True):
    """What `interleave` takes."""

    unlisted: ClassVar[frozenset[str]] = frozenset({"memory", "keep", "overwrite"})

    threads: Annotated[
        tuple[int, ...] | None,
        counts_option(
            "thread counts to find weights for, such as 4,8",
            1,
            MAX_THREADS,
            automatic="one per core",
        ),
    ] = None
    tiers: Annotated[
        tuple[int, ...] | None,
        counts_option(
            "nodes that pages are interleaved over, such as 0,2",
            0,
            MAX_NODE,
            automatic="all with memory",
        ),
    ] = None
    kernel: Annotated[tuple[str, ...], choices_option("kernels to find weights for", KERNELS)] = (
        "read",
        "copy",
    )
    up_to: Annotated[int | None, _up_to_option] = None
    element: Annotated[str, choice_option("type of the elements", ELEMENTS)] = "double"
    array_bytes: Annotated[
        int | None, size_option("bytes of each array", automatic="by the STREAM rule")
    ] = None

    @property
    def first_up_to(self) -> int:
        """Largest weight of the first sweep."""
        return self.up_to or (FINE_UP_TO if self.is_fine else COARSE_UP_TO)

    @property
    def most_further(self) -> int:
        """At most as many weights are added by the search."""
        return FINE_FURTHER if self.is_fine else COARSE_FURTHER


def memory_nodes(parameters: InterleaveParameters, system: System) -> list[int]:
    """Nodes to deal out to, rising.

    Raises:
        NotPossibleHere: only one node has memory, or other memory was requested.
        RequestError: a node without memory, or one node only.
    """
    if parameters.memory != MemoryPlacement():
        raise NotPossibleHere(
            f"--memory {parameters.memory}: interleave measures the nodes of --tiers; leave "
            f"--memory out, or name nodes with --tiers"
        )
    present = nodes_with_memory(system)
    require_nodes(parameters.tiers or (), "--tiers", system)
    if len(present) < 2:
        raise NotPossibleHere(
            "interleave: this machine has memory on one node only; a second one (another socket, "
            "CXL, HBM, an NVDIMM made a node by daxctl reconfigure-device --mode=system-ram) would "
            "be named with --tiers, as in --tiers 0,2"
        )
    nodes = sorted(set(parameters.tiers or present))
    if len(nodes) < 2:
        raise RequestError(
            f"--tiers {nodes[0]}: pages are dealt out to two nodes or more; name another of "
            f"{', '.join(map(str, present))}"
        )
    return nodes


def team_sizes(parameters: InterleaveParameters, system: System) -> tuple[int, ...]:
    """Numbers of threads: those requested, else one for each core."""
    if parameters.threads is not None:
        return parameters.threads
    offered = set(cpus_for(parameters.cpus, None, system))
    return (len({cpu.core for cpu in system.cpus if cpu.cpu in offered}),)
