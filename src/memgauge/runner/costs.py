"""How long a survey takes to prepare and to measure, predicted before any of it.

The constants were fitted by `benchmarks/survey_costs.py` on a virtual machine with two CPUs of an
AMD EPYC of 2.4 GHz and base clocks that its host shares; a machine that is busy or slow takes them
times its pace, which a survey learns while it starts and from the groups that it prepares.
"""

from __future__ import annotations

import msgspec

from memgauge.experiments.shared.importance import Setup, Work
from memgauge.model.system import System

GIB = 1 << 30

FILL_S_PER_GIB = 0.20
"""Of one thread that touches and writes memory for the first time."""
LINK_S_PER_GIB = 0.55
"""Of one thread that touches memory and links a ring of it in random order."""
NODE_THREADS = 4
"""So many threads use a memory node fully; more do not prepare or move faster. Assumed, and below
what servers have: a node of the machine of the fit is used fully by two."""
OPEN_S = 0.03
"""Of a group, whatever it allocates: backing read back from the kernel, loads calibrated."""
THREAD_S = 150e-6
"""To start and pin a thread."""

PASS_S = 0.2e-3
"""Of a sampling pass, whatever it does: the call, its record and its figure."""
PASS_THREAD_S = 4e-6
"""Of a sampling pass, for each thread: waking it, and its stamps."""
MOVE_S_PER_GIB = 0.05
"""Of one thread that walks memory."""
LOAD_S = 100e-9
"""Of a load that waits for the one before."""


class CostModel(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds that work takes on one machine."""

    cpu_nodes: int
    """Memory nodes over which a team's threads are spread."""
    pace: float = 1.0
    """How much longer everything takes because the machine is busy or slow."""

    def sample_s(self, work: Work) -> float:
        """Seconds of a sampling pass."""
        moved_s = MOVE_S_PER_GIB * work.bytes / GIB / self._at_once(work.threads, work.nodes)
        fixed_s = PASS_S + PASS_THREAD_S * work.threads + work.seconds
        return self.pace * (fixed_s + moved_s + LOAD_S * work.loads)

    def setup_s(self, setup: Setup) -> float:
        """Seconds in which a group is opened."""
        filled_s = FILL_S_PER_GIB * setup.filled_bytes / GIB / self._at_once(setup.threads, None)
        linkers = min(setup.linkers, NODE_THREADS)
        linked_s = LINK_S_PER_GIB * setup.linked_bytes / GIB / linkers
        return self.pace * (OPEN_S + THREAD_S * setup.threads + filled_s + linked_s)

    def _at_once(self, threads: int, nodes: int | None) -> int:
        """Threads whose traffic adds up."""
        spread = min(threads, self.cpu_nodes) if nodes is None else nodes
        return max(1, min(threads, NODE_THREADS * spread))


def cost_model(system: System, pace: float = 1.0) -> CostModel:
    """The model for a machine.

    Args:
        system: The machine; its nodes with CPUs count.
        pace: How much longer everything takes than on a quiet machine.
    """
    allowed = set(system.allowed_cpus)
    nodes = {cpu.node for cpu in system.cpus if cpu.cpu in allowed}
    return CostModel(cpu_nodes=max(1, len(nodes)), pace=pace)
