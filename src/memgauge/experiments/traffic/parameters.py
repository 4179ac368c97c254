"""Parameters of `traffic`."""

from __future__ import annotations

from typing import Annotated, Self

import msgspec

from memgauge.experiments.shared.prefetch import Prefetch, distance_label, parse_distances
from memgauge.experiments.traffic.sizes import (
    FINE_STEPS,
    STEPS,
    SizeRange,
    expand,
    parse_sizes,
    write_sizes,
)
from memgauge.model import units
from memgauge.model.counting.event_names import NONE, events_option
from memgauge.model.errors import RequestError
from memgauge.model.grid import Grid, grid_option
from memgauge.model.nests import BLAS_KERNELS, KINDS, STUDY_GRID, parse_kernel
from memgauge.model.option import (
    Option,
    count_option,
    counts_option,
    duration_option,
    list_text,
    switch_option,
)
from memgauge.model.parameters import MAX_THREADS, CommonParameters
from memgauge.model.points.traffic import library_label
from memgauge.model.text import plain, quoted, shortened

AUTO, STUDY, NO_MACHINE = "auto", "study", "none"

LARGEST_CAP = 1 << 24
LARGEST_STRIDE = 1 << 24
MOST_REPETITIONS_REQUESTED = 100_000
MOST_RUNS = 10_000

DEFAULT_STRIDE = 16
"""Doubles: 128 bytes, so that no processor's line holds two of them."""
DEFAULT_SIMULATE_S = 30.0
DEFAULT_PREFETCH = Prefetch(512)
"""Eight lines of 64 bytes."""
PREFETCH_LINE_BYTES = 64

MEASURING_SHARE = 0.75
"""Of the budget: allocating, trying, validating and the report take the rest."""


def _kernel(text: str, flag: str) -> str:
    del flag
    return parse_kernel(text)


def _repetitions(text: str, flag: str) -> str | int:
    name = text.strip()
    if name in {AUTO, STUDY}:
        return name
    if not name.isdecimal():
        raise RequestError(
            f"{flag} {quoted(text)} is neither {AUTO}, {STUDY} nor a number; write one of them"
        )
    return units.parse_count(name, flag, 1, MOST_REPETITIONS_REQUESTED)


def _machines(text: str, flag: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    if "" in names:
        raise RequestError(
            f"{flag} {quoted(text)} names no machine; write names separated by commas, such as "
            f"this,power9-5mb, or {NO_MACHINE}"
        )
    if NO_MACHINE in names and len(names) > 1:
        raise RequestError(
            f"{flag} {quoted(text)} combines {NO_MACHINE} with machines; write {NO_MACHINE} or "
            "the machines"
        )
    return names


def _libraries(text: str, flag: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    if "" in names:
        raise RequestError(
            f"{flag} {quoted(text)} names no library; write names separated by commas, such as "
            "openblas,blis, or paths of files"
        )
    if any(plain(name) != name for name in names):
        raise RequestError(
            f"{flag} {quoted(text)}: a library's name must not contain control characters"
        )
    labels = [library_label(name) for name in names]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise RequestError(
            f"{flag} {quoted(text)} names two libraries that would both be called "
            f"{shortened(twice)}; measure them in two runs"
        )
    return names


_kernel_option = Option(help="loop nest to run", metavar="KERNEL", parse=_kernel)
_sizes_option = Option(
    help="sizes N: 64:2048 gives about 16 geometric steps, 64:2048:64 steps of 64, or a list",
    metavar="FIRST:LAST[:STEP]|N,...",
    parse=parse_sizes,
    write=write_sizes,
    repeatable=True,
    automatic="sizes chosen for the kernel",
)
_repetitions_option = Option(
    help="executions between two readings: auto (for 50 ms), study (514 - 0.246 N; 10 "
    "from N = 2048), or a number",
    metavar="auto|study|N",
    parse=_repetitions,
)
_prefetch_option = Option(
    help="distances in bytes of the software prefetch of loads and stores (or of one of them, with "
    "--load-prefetch or --store-prefetch), compared in one run; NEAR:FAR prefetches twice, such as "
    "512:4096; 0: none",
    metavar="SIZE[:SIZE],...",
    parse=parse_distances,
    write=list_text,
    repeatable=True,
    automatic=f"{DEFAULT_PREFETCH.near_bytes} where something is prefetched",
)
_machine_option = Option(
    help="machines whose caches are simulated: names such as this,power9-5mb, TOML files, or none",
    metavar="NAME,...",
    parse=_machines,
    write=list_text,
    repeatable=True,
)


class NestPrefetch(msgspec.Struct, frozen=True, kw_only=True):
    """What a nest prefetches by software, and how far ahead."""

    stores: bool = False
    loads: bool = False
    distance: Prefetch = DEFAULT_PREFETCH

    @property
    def suffix(self) -> list[str]:
        """What its points are called beyond the others of their kernel and size."""
        if not (self.stores or self.loads):
            return []
        kinds = ["loads"] * self.loads + ["stores"] * (self.stores and self.loads)
        far = [] if self.distance == DEFAULT_PREFETCH else [distance_label(self.distance)]
        return ["-".join(["prefetched", *kinds, *far])]


class TrafficOptions(CommonParameters, frozen=True, kw_only=True):
    """What `memgauge traffic` takes beside the kernel."""

    threads: Annotated[
        tuple[int, ...] | None,
        counts_option(
            "thread counts, such as 1,4; each thread executes the kernel on its own arrays",
            1,
            MAX_THREADS,
            automatic="1",
        ),
    ] = None
    sizes: Annotated[tuple[SizeRange, ...] | None, _sizes_option] = None
    batched: Annotated[
        bool, switch_option("run one thread per physical core, each on its own arrays")
    ] = False
    grid: Annotated[
        Grid | None,
        grid_option(
            "grid of ranks that share the 3-D FFT of a re-sorting routine",
            automatic=f"{STUDY_GRID}, as in the study",
        ),
    ] = None
    cap: Annotated[
        int | None,
        count_option(
            "largest number of rows and columns of the matrix of gemv; for larger N it is"
            " walked repeatedly",
            1,
            LARGEST_CAP,
            automatic="2.5 times what fits a core's share of the caches, as 1280 was in the study",
        ),
    ] = None
    stride: Annotated[
        int | None,
        count_option(
            "distance between consecutive elements of strided-copy, in doubles",
            1,
            LARGEST_STRIDE,
            automatic=f"{DEFAULT_STRIDE}, 128 bytes",
        ),
    ] = None
    store_prefetch: Annotated[
        bool,
        switch_option("prefetch what is going to be stored, as gcc -fprefetch-loop-arrays does"),
    ] = False
    load_prefetch: Annotated[
        bool,
        switch_option("prefetch what is going to be loaded, as gcc -fprefetch-loop-arrays does"),
    ] = False
    prefetch: Annotated[tuple[Prefetch, ...] | None, _prefetch_option] = None
    repetitions: Annotated[str | int, _repetitions_option] = AUTO
    runs: Annotated[
        int | None,
        count_option(
            "regions measured of each size, such as the study's 50; the least and the most of them "
            "are shown",
            1,
            MOST_RUNS,
            automatic="6 to 12, as time allows",
        ),
    ] = None
    counters: Annotated[
        tuple[str, ...] | None,
        events_option(
            "counters to read around the executions: those of memory traffic (auto), "
            "named ones, or none",
            automatic="auto if some can be opened",
        ),
    ] = None
    machine: Annotated[tuple[str, ...], _machine_option] = ("this",)
    blas: Annotated[
        tuple[str, ...] | None,
        Option(
            help="installed BLAS libraries that compute gemv and gemm too, beside the loop nest: "
            "names such as openblas or mkl, or paths",
            metavar="NAME|PATH,...",
            parse=_libraries,
            write=list_text,
            repeatable=True,
            automatic="the loop nest alone",
        ),
    ] = None
    simulate_s: Annotated[
        float,
        duration_option(
            "maximum time to spend simulating, in addition to the budget; sizes that "
            "would take longer are left out",
            flag="--simulate-up-to",
        ),
    ] = DEFAULT_SIMULATE_S
    simulate_only: Annotated[
        bool, switch_option("run nothing; report only the expected and the simulated traffic")
    ] = False
    size_budget_s: Annotated[
        float | None,
        duration_option(
            "average time to measure one size; sizes that need more than the others leave"
            " are left out",
            flag="--size-budget",
            automatic="three quarters of the budget, divided by the number of sizes",
        ),
    ] = None

    def for_budget(self, budget_s: float) -> Self:
        """With each size's share of the budget, where none was requested."""
        requested = super().for_budget(budget_s)
        if requested.size_budget_s is not None:
            return requested
        return requested.replace(size_budget_s=MEASURING_SHARE * budget_s / requested.parts)

    @property
    def steps(self) -> int:
        """Sizes of a range without a step, about."""
        return FINE_STEPS if self.is_fine else STEPS

    @property
    def parts(self) -> int:
        """About what the budget is divided by: sizes, numbers of threads, and who executes."""
        sizes = self.steps if self.sizes is None else len(expand(self.sizes, steps=self.steps))
        executed = len(self.prefetches) + len(self.blas or ())
        return max(1, sizes * len(self.threads or (1,)) * executed)

    @property
    def prefetches(self) -> tuple[NestPrefetch, ...]:
        """What is prefetched in each of the nests that are compared; one without `--prefetch`."""
        stores, loads = self.store_prefetch, self.load_prefetch
        if self.prefetch is None:
            return (NestPrefetch(stores=stores, loads=loads),)
        both = not (stores or loads)
        found = (
            NestPrefetch(stores=stores or both, loads=loads or both, distance=distance)
            if distance.near_bytes
            else NestPrefetch()
            for distance in self.prefetch
        )
        return tuple(dict.fromkeys(found))


class TrafficParameters(TrafficOptions, frozen=True, kw_only=True):
    """What `traffic` takes."""

    kernel: Annotated[str, _kernel_option] = "gemm"

    @property
    def machines(self) -> tuple[str, ...]:
        """Names of those that are simulated."""
        return () if self.machine == (NO_MACHINE,) else self.machine

    def check(self) -> None:
        """Refuse what has no meaning together.

        Raises:
            RequestError: an option of another kernel, `--batched` with `--threads`, `--blas` where
                no library runs or its loops would have to be known, or nothing to do at all.
        """
        self._refuse_of_others(
            "--grid", self.grid, "the re-sorting routines", KINDS[self.kernel].is_resort
        )
        self._refuse_of_others("--cap", self.cap, "gemv", self.kernel == "gemv")
        self._refuse_of_others(
            "--stride", self.stride, "strided-copy", self.kernel == "strided-copy"
        )
        self._refuse_of_others("--blas", self.blas, "gemv and gemm", self.kernel in BLAS_KERNELS)
        if self.blas is not None and self.simulate_only:
            raise RequestError(
                "--blas: nothing is run with --simulate-only, and a library's loops cannot be "
                "simulated; leave one out"
            )
        ahead = {
            "--store-prefetch": self.store_prefetch,
            "--load-prefetch": self.load_prefetch,
            "--prefetch": self.prefetch is not None,
        }
        for flag in (flag for flag, given in ahead.items() if given and self.blas is not None):
            raise RequestError(
                f"--blas, {flag}: a library's code prefetches as it was built to; leave one out"
            )
        for distance in self.prefetch or ():
            if (
                distance.near_bytes % PREFETCH_LINE_BYTES
                or distance.far_bytes % PREFETCH_LINE_BYTES
            ):
                raise RequestError(
                    f"--prefetch {distance}: nests prefetch lines of {PREFETCH_LINE_BYTES} bytes; "
                    f"choose multiples of {PREFETCH_LINE_BYTES}"
                )
        if self.batched and self.threads is not None:
            raise RequestError(
                "--batched, --threads: --batched means one thread on each physical core; omit "
                "one of them"
            )
        if self.simulate_only and not self.machines:
            raise RequestError(
                "--simulate-only: no machine is to be simulated; name one with --machine"
            )
        if self.simulate_only and self.counters not in (None, (NONE,)):
            raise RequestError(
                "--counters: nothing is run with --simulate-only, so there is nothing to count; "
                "leave one out"
            )

    def _refuse_of_others(self, flag: str, value: object, of: str, is_mine: bool) -> None:
        if value is not None and not is_mine:
            raise RequestError(f"{flag}: is an option of {of}, not of {self.kernel}; leave it out")
