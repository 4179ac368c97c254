"""Parameters of `loaded`, and what they stand for where they were left out."""

from __future__ import annotations

from typing import Annotated, ClassVar

from memgauge.experiments.traffic_loads import ORDERS, STORES, TWO_TO_ONE, Load, Stores, loads
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.option import choices_option, counts_option, shares_option
from memgauge.model.parameters import MAX_THREADS, CommonParameters
from memgauge.model.system import System
from memgauge.system.placement import cpus_for

COARSE_SHARES = (1.0, 0.75, 0.5, 0.0)
FINE_SHARES = (1.0, 0.9, 0.8, 0.75, 0.7, TWO_TO_ONE, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)

COARSE_DELAYS = (0, 10, 30, 60, 150, 500, 20_000)
FINE_DELAYS = (0, 5, 10, 20, 40, 70, 120, 200, 350, 600, 1_200, 2_500, 6_000, 20_000)
"""Units of the pause after 16 lines. One core alone takes the time of about 40 units for them, and
ten times that where many share the memory; in between bandwidth falls in about even steps, and
where it does not the sweep is refined."""

LARGEST_DELAY = 100_000
"""Beyond it a thread issues only a few lines in the time of one visit."""

COARSE_FURTHER = 3
FINE_FURTHER = 8


class LoadedParameters(CommonParameters, frozen=True, kw_only=True):
    """What `loaded` takes."""

    takes_threads: ClassVar[bool] = False
    """A survey's --threads counts threads of a team; here it counts those beside the probe."""

    threads: Annotated[
        tuple[int, ...] | None,
        counts_option(
            "numbers of generating threads beside the probe, such as 1,2,4-8",
            1,
            MAX_THREADS,
            automatic="all CPUs but the probe's; all reads also with 1, doubling, all other cores",
        ),
    ] = None
    read_share: Annotated[
        tuple[float, ...] | None,
        shares_option(
            "reads among the line accesses, such as 100%,75%",
            automatic="100%,75%,50%,0%; fine: in steps of 10%, 2:1 and 3:1",
        ),
    ] = None
    store: Stores = STORES
    order: Annotated[
        tuple[str, ...] | None,
        choices_option(
            "order of the traffic",
            ORDERS,
            automatic="sequential, for all reads also random; fine: both",
        ),
    ] = None
    delay: Annotated[
        tuple[int, ...] | None,
        counts_option(
            "pauses after every 16 lines, in multiplications",
            0,
            LARGEST_DELAY,
            automatic="0 to 20000 in 7 steps; fine: 14; more around the knee of each curve",
        ),
    ] = None

    @property
    def delays(self) -> tuple[int, ...]:
        """Delays to sweep, rising."""
        return tuple(sorted(self.delay or (FINE_DELAYS if self.is_fine else COARSE_DELAYS)))

    @property
    def loads(self) -> list[Load]:
        """A curve each."""
        shares = self.read_share or (FINE_SHARES if self.is_fine else COARSE_SHARES)
        of_mixes = self.order or (ORDERS if self.is_fine else ("sequential",))
        return loads(shares, self.store, {False: self.order or ORDERS, True: of_mixes})

    @property
    def further_points(self) -> int:
        """At most as many delays are added to a curve."""
        return FINE_FURTHER if self.is_fine else COARSE_FURTHER


def generator_counts(parameters: LoadedParameters, system: System) -> tuple[int, ...]:
    """Numbers of generating threads to measure with, rising; the last one has all curves.

    Raises:
        NotPossibleHere: there is no CPU for a second thread.
        RequestError: too few CPUs for the threads asked for.
    """
    offered = cpus_for(parameters.cpus, None, system)
    if len(offered) < 2:
        raise NotPossibleHere(
            "loaded: only one CPU can be used, but the latency of one CPU is measured while others "
            "load the memory; allow more CPUs (affinity mask, cpuset, --cpus, --nodes)"
        )
    most = len(offered) - 1
    if parameters.threads is not None:
        if max(parameters.threads) > most:
            raise RequestError(
                f"--threads {max(parameters.threads)}: so many generators and the probe need a CPU "
                f"each, {len(offered)} can be used; ask for at most {most}"
            )
        return tuple(sorted(parameters.threads))
    cores = len({cpu.core for cpu in system.cpus if cpu.cpu in set(offered)})
    doubling = {1 << power for power in range(most.bit_length())}
    return tuple(sorted({*doubling, cores - 1, most} - {0}))
