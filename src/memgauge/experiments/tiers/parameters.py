"""Parameters of `tiers`, and what they stand for where they were left out."""

from __future__ import annotations

from typing import Annotated

from memgauge.experiments.loaded.parameters import siblings
from memgauge.experiments.stream.parameters import ELEMENTS, KERNELS, VARIANTS
from memgauge.experiments.tiers.memory_pairs import (
    DRAM,
    PRESETS,
    RequestedSide,
    Where,
    nvm_option,
    second_memory_option,
    side_option,
)
from memgauge.experiments.transfers.parameters import HOST_DIRECTIONS
from memgauge.model import units
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.memory import MemoryPlacement
from memgauge.model.option import (
    Option,
    choice_option,
    choices_option,
    counts_option,
    shares_option,
    size_option,
    switch_option,
)
from memgauge.model.parameters import MAX_THREADS, CommonParameters
from memgauge.model.system import System
from memgauge.system.topology.placement import POLICIES, cpus_for

ACCESSES = ("direct", "translated")
STORES = ("temporal", "non-temporal", "flushed")

LONGEST_DELAY_NS = 10_000
"""After every 16 lines; a thread then draws a tenth of a GB/s."""

MOST_ITERATIONS = 100_000

COARSE_MOST = 16
FINE_MOST = 32
"""Up to so many threads every split is measured."""


_iterations_option = Option(
    help="number of passes over its arrays that each thread makes, instead of working for"
    " a common time",
    metavar="N",
    parse=lambda text, flag: units.parse_count(text.strip(), flag, 1, MOST_ITERATIONS),
    automatic="a common time",
)


class TiersParameters(CommonParameters, frozen=True, kw_only=True):
    """What `tiers` takes."""

    a: Annotated[
        RequestedSide | None,
        side_option("memory that group A reads from and writes to", "dram:dram"),
    ] = None
    b: Annotated[
        RequestedSide | None,
        side_option(
            "memory that group B reads from and writes to",
            "what --memory names, else the second tier",
        ),
    ] = None
    preset: Annotated[
        str | None,
        choice_option(
            "preset from the NVDIMM study: where group B copies while group A copies in DRAM",
            tuple(PRESETS),
            automatic="nvm-nvm",
        ),
    ] = None
    nvm: Annotated[Where | None, nvm_option] = None
    memory: Annotated[MemoryPlacement, second_memory_option] = DRAM
    threads: Annotated[
        tuple[int, ...] | None,
        counts_option(
            "total thread counts of both groups together",
            1,
            MAX_THREADS,
            automatic="all CPUs that --cpus selects",
        ),
    ] = None
    split: Annotated[
        tuple[int, ...] | None,
        counts_option(
            "numbers of threads in group B, such as 0-16",
            0,
            MAX_THREADS,
            automatic="from none to all; with many threads, a selection",
        ),
    ] = None
    kernel: Annotated[
        tuple[str, ...] | None,
        choices_option("kernels to run", KERNELS, automatic="copy; none with --read-share"),
    ] = None
    variant: Annotated[
        str | None,
        choice_option(
            "implementation: a plain loop as the STREAM rules require, or one tuned for "
            "this machine",
            VARIANTS,
            automatic="tuned; standard if addresses are translated",
        ),
    ] = None
    element: Annotated[str, choice_option("type of the array elements", ELEMENTS)] = "double"
    access: Annotated[
        tuple[str, ...],
        choices_option(
            "how elements in a pool are addressed: directly, or translated at each access", ACCESSES
        ),
    ] = ("direct",)
    store: Annotated[
        str | None,
        choice_option(
            "kind of stores",
            STORES,
            automatic="the fastest one for tuned kernels, else temporal",
        ),
    ] = None
    read_share: Annotated[
        tuple[float, ...] | None,
        shares_option(
            "share of reads among the accesses to lines, such as 100%,67%; runs mixes "
            "instead of kernels",
            automatic="none",
        ),
    ] = None
    delay_a: Annotated[
        tuple[int, ...],
        counts_option("pause of group A after every 16 lines of a mix, in ns", 0, LONGEST_DELAY_NS),
    ] = (0,)
    delay_b: Annotated[
        tuple[int, ...],
        counts_option("pause of group B after every 16 lines of a mix, in ns", 0, LONGEST_DELAY_NS),
    ] = (0,)
    transfer: Annotated[
        tuple[str, ...] | None,
        choices_option(
            "direction of transfers if group B is a GPU (--b cuda:N)",
            HOST_DIRECTIONS,
            automatic="all of them",
        ),
    ] = None
    latency: Annotated[
        bool,
        switch_option(
            "also measure, in each memory, the latency that one additional thread sees at the "
            "same time"
        ),
    ] = False
    fixed_iterations: Annotated[
        int | None,
        _iterations_option,
    ] = None
    array_bytes: Annotated[
        int | None,
        size_option(
            "bytes of each array of each thread",
            automatic="twice the last-level cache; less if memory is short",
        ),
    ] = None

    def __post_init__(self) -> None:
        """Read and check each value, then what must not stand together."""
        super().__post_init__()
        self._check_sides()
        self._check_access()
        self._check_mixes()
        _refuse(
            self.transfer is not None and not any(one.is_gpu for one in self.memories),
            "--transfer: transfers go to and from a GPU; name one with --b cuda:0",
        )
        _refuse(
            self.fixed_iterations is not None and self.latency,
            "--latency: all threads work until the probe is done, so --fixed-iterations means "
            "nothing beside it; leave one out",
        )

    def _check_sides(self) -> None:
        given = {"--preset": self.preset, "--nvm": self.nvm}
        given["--memory"] = None if self.memory == DRAM else self.memory
        others = [flag for flag, value in given.items() if value is not None]
        if self.b is not None and others:
            raise RequestError(f"--b and {others[0]} both specify what group B uses; leave one out")
        _refuse(
            {"--nvm", "--memory"} <= set(others),
            "--nvm and --memory both name the second memory; leave one out",
        )
        _refuse(
            self.preset is not None and self.a is not None,
            "--preset: group A is dram:dram in all of them; leave --a out, or --preset",
        )

    def _check_access(self) -> None:
        translated = "translated" in self.access
        _refuse(
            translated and self.variant == "tuned",
            "--access translated: a tuned kernel translates no addresses; leave --variant out",
        )
        _refuse(
            translated and self.read_share is not None,
            "--access translated: a mix translates no addresses; leave --read-share out",
        )
        _refuse(
            (translated or self.variant == "standard") and self.store == "non-temporal",
            "--store non-temporal: a plain loop has no such stores; use --store temporal or "
            "flushed, or leave --variant and --access out",
        )

    def _check_mixes(self) -> None:
        _refuse(
            any((*self.delay_a, *self.delay_b))
            and (self.read_share is None or self.kernel is not None),
            "--delay-a, --delay-b: mixes make pauses, kernels do not; give --read-share, such as "
            "50%, and no --kernel",
        )
        _refuse(
            self.read_share is not None and self.store == "flushed",
            "--store flushed: mixes have no such stores, kernels have; give --kernel instead of "
            "--read-share",
        )
        _refuse(
            self.read_share is not None and self.element != "double",
            f"--element {self.element}: mixes move doubles only, kernels also other types; leave "
            "--element out, or give --kernel instead of --read-share",
        )

    @property
    def memories(self) -> tuple[MemoryPlacement, ...]:
        """All placements that were given, each once; names of tiers are looked up in the plan."""
        named = [*(self.a.placements if self.a else (DRAM,))]
        named += self.b.placements if self.b else (self.memory,)
        if isinstance(self.nvm, MemoryPlacement):
            named.append(self.nvm)
        return tuple(dict.fromkeys(named))

    @property
    def kernels(self) -> tuple[str, ...]:
        """Kernels to run."""
        if self.kernel is not None:
            return self.kernel
        return () if self.read_share else ("copy",)

    @property
    def loop(self) -> str:
        """The variant of all kernels: one, so that access by address and translated are alike."""
        return self.variant or ("standard" if "translated" in self.access else "tuned")


def _refuse(wrong: bool, message: str) -> None:
    if wrong:
        raise RequestError(message)


def cpu_order(parameters: TiersParameters, system: System) -> list[int]:
    """CPUs in the order they are taken: the probe's first, if there is one.

    Siblings of its core then come last, unless CPUs were listed.
    """
    order = cpus_for(parameters.cpus, None, system)
    if not parameters.latency or parameters.cpus not in POLICIES:
        return order
    probe, *others = order
    beside = set(siblings(probe, system))
    return [probe, *sorted(others, key=beside.__contains__)]


def team_sizes(parameters: TiersParameters, system: System) -> tuple[int, ...]:
    """Numbers of threads in both groups together, rising.

    Raises:
        RequestError: there are fewer CPUs than threads, and the probe, need.
        NotPossibleHere: there is one CPU, and a probe beside it was requested.
    """
    offered = len(cpu_order(parameters, system))
    most = offered - parameters.latency
    if most < 1:
        raise NotPossibleHere(
            "tiers: only one CPU can be used, and --latency needs one for the probe beside those "
            "that load the memory; leave --latency out, or allow more CPUs"
        )
    if parameters.threads is None:
        return (most,)
    if max(parameters.threads) > most:
        needs = f"{max(parameters.threads)} threads"
        needs += " and the probe of --latency" if parameters.latency else ""
        raise RequestError(
            f"--threads {max(parameters.threads)}: {needs} need one CPU each, but only {offered} "
            f"can be used; use at most {most}"
        )
    return tuple(sorted(parameters.threads))


def splits(parameters: TiersParameters, threads: int) -> tuple[int, ...]:
    """How many of so many threads are in group B, rising.

    Raises:
        RequestError: more than there are threads.
    """
    if parameters.split is None:
        return _default_splits(threads, fine=parameters.is_fine)
    possible = tuple(sorted(k for k in parameters.split if k <= threads))
    largest = max(parameters.threads or (threads,))
    if not possible or max(parameters.split) > max(largest, threads):
        raise RequestError(
            f"--split {units.counts_text(parameters.split)}: of {threads} threads from 0 to "
            f"{threads} can be in group B"
        )
    return possible


def _default_splits(threads: int, *, fine: bool) -> tuple[int, ...]:
    if threads <= (FINE_MOST if fine else COARSE_MOST):
        return tuple(range(threads + 1))
    parts = 8 if fine else 4
    inner = {threads * part // parts for part in range(parts + 1)}
    return tuple(sorted(inner | {1, 2, threads - 1}))
