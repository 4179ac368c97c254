"""Parameters of `loaded`, and what they stand for where they were left out."""

from __future__ import annotations

from typing import Annotated, ClassVar

from memgauge.experiments.shared.read_write_mix import (
    ORDERS,
    STORES,
    TWO_TO_ONE,
    Load,
    Stores,
    loads,
)
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.option import (
    choices_option,
    count_option,
    counts_option,
    run_option,
    shares_option,
)
from memgauge.model.parameters import MAX_THREADS, CommonParameters
from memgauge.model.system import System
from memgauge.system.topology.placement import POLICIES, cpus_for

COARSE_SHARES = (1.0, 0.75, 0.5, 0.0)
FINE_SHARES = (1.0, 0.9, 0.8, 0.75, 0.7, TWO_TO_ONE, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)

COARSE_DELAYS = (0, 10, 30, 60, 150, 500, 20_000)
FINE_DELAYS = (0, 5, 10, 20, 40, 70, 120, 200, 350, 600, 1_200, 2_500, 6_000, 20_000)
"""Units of the pause after 16 lines. One core alone takes the time of about 40 units for them, and
ten times that where many share the memory; in between bandwidth falls in about even steps, and
where it does not the sweep is refined."""

LARGEST_DELAY = 100_000
"""Beyond it a thread issues only a few lines in the time of one pass."""

DEFAULT_STEPS = 12
MOST_STEPS = 100
"""That a profile is condensed to."""

COARSE_FURTHER = 3
FINE_FURTHER = 8


class LoadedParameters(CommonParameters, frozen=True, kw_only=True):
    """What `loaded` takes."""

    takes_threads: ClassVar[bool] = False
    """A survey's --threads counts threads of a team; here it counts those beside the probe."""

    threads: Annotated[
        tuple[int, ...] | None,
        counts_option(
            "counts of threads that generate traffic beside the latency probe, such as 1,2,4-8",
            1,
            MAX_THREADS,
            automatic="the CPUs of all other cores; for reads also 1, 2, 4, ... and one per core",
        ),
    ] = None
    read_share: Annotated[
        tuple[float, ...] | None,
        shares_option(
            "share of reads among the accesses to lines, such as 100%,75%",
            automatic="100%,75%,50%,0%; fine: in steps of 10%, 2:1 and 3:1",
        ),
    ] = None
    store: Stores = STORES
    order: Annotated[
        tuple[str, ...] | None,
        choices_option(
            "order in which the traffic walks memory",
            ORDERS,
            automatic="sequential, for all reads also random; fine: both",
        ),
    ] = None
    delay: Annotated[
        tuple[int, ...] | None,
        counts_option(
            "pause after every 16 lines, as a number of dependent multiplications",
            0,
            LARGEST_DELAY,
            automatic="0 to 20000 in 7 steps; fine: 14; more around the knee of each curve",
        ),
    ] = None
    like: Annotated[
        str | None,
        run_option(
            "directory of a run of 'memgauge profile' whose counted memory traffic is "
            "replayed as the load, instead of a sweep",
            metavar="PROFILE",
            automatic="none; a sweep of delays is measured",
        ),
    ] = None
    steps: Annotated[
        int | None,
        count_option(
            "with --like, steps of rate and share of reads that the profile is condensed to, "
            "at most",
            1,
            MOST_STEPS,
            automatic=str(DEFAULT_STEPS),
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
    def most_steps(self) -> int:
        """That a profile is condensed to."""
        return self.steps or DEFAULT_STEPS

    @property
    def assumed_read_share(self) -> float | None:
        """Of a profile that does not distinguish reads from writes; None: none is given.

        Raises:
            RequestError: there are several.
        """
        if self.read_share is None:
            return None
        if len(self.read_share) > 1:
            raise RequestError("--read-share: --like takes one share of reads; give one")
        return self.read_share[0]

    @property
    def further_points(self) -> int:
        """At most as many delays are added to a curve."""
        return FINE_FURTHER if self.is_fine else COARSE_FURTHER


def cpu_order(parameters: LoadedParameters, system: System) -> list[int]:
    """CPUs in the order they are taken: the probe's, then the generators'.

    Siblings of the probe's core come last of all, unless CPUs were listed: what runs there takes
    the core from the probe, not only the memory.
    """
    order = cpus_for(parameters.cpus, None, system)
    if parameters.cpus not in POLICIES:
        return order
    probe, *others = order
    beside = set(siblings(probe, system))
    return [probe, *sorted(others, key=beside.__contains__)]


def siblings(cpu: int, system: System) -> list[int]:
    """Hardware threads of the same core, itself included."""
    core = next((one.core for one in system.cpus if one.cpu == cpu), None)
    return [one.cpu for one in system.cpus if one.core == core]


def generator_counts(parameters: LoadedParameters, system: System) -> tuple[int, ...]:
    """Numbers of generating threads to measure with, rising; the last one has all curves.

    Raises:
        NotPossibleHere: there is no CPU for a second thread.
        RequestError: too few CPUs for the threads asked for.
    """
    order = cpu_order(parameters, system)
    if len(order) < 2:
        raise NotPossibleHere(
            "loaded: only one CPU can be used, but the latency of one CPU is measured while others "
            "load the memory; allow more CPUs (affinity mask, cpuset, --cpus, --nodes)"
        )
    if parameters.threads is not None:
        if max(parameters.threads) >= len(order):
            raise RequestError(
                f"--threads {max(parameters.threads)}: the generators and the probe need one CPU "
                f"each, but only {len(order)} can be used; use at most {len(order) - 1}"
            )
        return tuple(sorted(parameters.threads))
    elsewhere = set(order[1:]) - set(siblings(order[0], system))
    most = len(elsewhere) or len(order) - 1
    cores = len({cpu.core for cpu in system.cpus if cpu.cpu in elsewhere})
    doubling = {1 << power for power in range(most.bit_length())}
    return tuple(sorted({*doubling, cores, most} - {0}))
