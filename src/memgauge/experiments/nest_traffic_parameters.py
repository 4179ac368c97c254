"""Parameters of `traffic`."""

from __future__ import annotations

from typing import Annotated, Self

from memgauge.experiments.nest_traffic_sizes import (
    FINE_STEPS,
    STEPS,
    SizeRange,
    expand,
    parse_sizes,
    write_sizes,
)
from memgauge.model import units
from memgauge.model.errors import RequestError
from memgauge.model.event_names import NONE, events_option
from memgauge.model.grid import Grid, grid_option
from memgauge.model.nests import KINDS, STUDY_GRID, parse_kernel
from memgauge.model.option import (
    Option,
    count_option,
    counts_option,
    duration_option,
    switch_option,
)
from memgauge.model.parameters import MAX_THREADS, CommonParameters
from memgauge.model.text import quoted

AUTO, STUDY, NO_MACHINE = "auto", "study", "none"

LARGEST_CAP = 1 << 24
LARGEST_STRIDE = 1 << 24
MOST_REPETITIONS_ASKED = 100_000

DEFAULT_STRIDE = 16
"""Doubles: 128 bytes, so that no processor's line holds two of them."""
DEFAULT_SIMULATE_S = 30.0

MEASURING_SHARE = 0.75
"""Of the budget: allocating, trying, validating and the report take the rest."""


def _kernel(text: str, flag: str) -> str:
    del flag
    return parse_kernel(text)


def _whole(text: str, flag: str, most: int) -> int:
    return units.parse_count(text.strip(), flag, 1, most)


def _repetitions(text: str, flag: str) -> str | int:
    name = text.strip()
    if name in {AUTO, STUDY}:
        return name
    if not name.isdecimal():
        raise RequestError(
            f"{flag} {quoted(text)} is neither {AUTO}, {STUDY} nor a number; write one of them"
        )
    return _whole(name, flag, MOST_REPETITIONS_ASKED)


def _machines(text: str, flag: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    if "" in names:
        raise RequestError(
            f"{flag} {quoted(text)} names no machine; write names between commas, such as "
            f"this,power9-5mb, or {NO_MACHINE}"
        )
    if NO_MACHINE in names and len(names) > 1:
        raise RequestError(
            f"{flag} {quoted(text)} asks for {NO_MACHINE} and for some; write one of them"
        )
    return names


_kernel_option = Option(help="loop nest", metavar="KERNEL", parse=_kernel)
_sizes_option = Option(
    help="sizes N: 64:2048 in about 16 steps of one ratio, 64:2048:64 in steps of 64, or a list",
    metavar="FIRST:LAST[:STEP]|N,...",
    parse=parse_sizes,
    write=write_sizes,
    repeatable=True,
    automatic="the kernel's own",
)
_repetitions_option = Option(
    help="executions between two readings: auto (50 ms of them), study (514 - 0.246 N, from "
    "N = 2048 on 10), or a number",
    metavar="auto|study|N",
    parse=_repetitions,
)
_machine_option = Option(
    help="machines whose caches are simulated, such as this,power9-5mb, a TOML file, or none",
    metavar="NAME,...",
    parse=_machines,
    write=lambda names: names if isinstance(names, str) else ",".join(map(str, names)),
    repeatable=True,
)


class TrafficOptions(CommonParameters, frozen=True, kw_only=True):
    """What `memgauge traffic` takes beside the kernel."""

    threads: Annotated[
        tuple[int, ...] | None,
        counts_option(
            "numbers of threads, each executing the kernel on arrays of its own, such as 1,4",
            1,
            MAX_THREADS,
            automatic="1",
        ),
    ] = None
    sizes: Annotated[tuple[SizeRange, ...] | None, _sizes_option] = None
    batched: Annotated[
        bool, switch_option("a thread on each physical core, each on arrays of its own")
    ] = False
    grid: Annotated[
        Grid | None,
        grid_option(
            "ranks that the 3-D FFT of a re-sorting routine is divided among",
            automatic=f"{STUDY_GRID}, the study's",
        ),
    ] = None
    cap: Annotated[
        int | None,
        count_option(
            "rows and columns that the matrix of gemv has at most; it is walked again for more",
            1,
            LARGEST_CAP,
            automatic="2.5 times what a core may keep of it, as 1280 was in the study",
        ),
    ] = None
    stride: Annotated[
        int | None,
        count_option(
            "doubles from one element to the next, of strided-copy",
            1,
            LARGEST_STRIDE,
            automatic=f"{DEFAULT_STRIDE}, 128 bytes",
        ),
    ] = None
    store_prefetch: Annotated[
        bool, switch_option("prefetch what will be stored, as gcc -fprefetch-loop-arrays does")
    ] = False
    repetitions: Annotated[str | int, _repetitions_option] = AUTO
    counters: Annotated[
        tuple[str, ...] | None,
        events_option(
            "counters to read around the executions, of memory traffic (auto) or named; none",
            automatic="auto where some can be opened",
        ),
    ] = None
    machine: Annotated[tuple[str, ...], _machine_option] = ("this",)
    simulate_s: Annotated[
        float,
        duration_option(
            "time that simulating may take, beside the budget; what would take longer is left out",
            flag="--simulate-up-to",
        ),
    ] = DEFAULT_SIMULATE_S
    simulate_only: Annotated[
        bool, switch_option("run nothing: only what is expected and what is simulated")
    ] = False
    size_budget_s: Annotated[
        float | None,
        duration_option(
            "time to measure a size, on average; sizes that need more than others leave are left "
            "out",
            flag="--size-budget",
            automatic="three quarters of the budget over all sizes",
        ),
    ] = None

    def for_budget(self, budget_s: float) -> Self:
        """With each size's share of the budget, where none was asked for."""
        asked = super().for_budget(budget_s)
        if asked.size_budget_s is not None:
            return asked
        return asked.replace(size_budget_s=MEASURING_SHARE * budget_s / asked.parts)

    @property
    def steps(self) -> int:
        """Sizes of a range whose step is not said, about."""
        return FINE_STEPS if self.is_fine else STEPS

    @property
    def parts(self) -> int:
        """About what the budget is divided by: sizes and numbers of threads."""
        sizes = self.steps if self.sizes is None else len(expand(self.sizes, steps=self.steps))
        return max(1, sizes * len(self.threads or (1,)))


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
            RequestError: an option of another kernel, `--batched` with `--threads`, or nothing to
                do at all.
        """
        self._refuse_of_others(
            "--grid", self.grid, "the re-sorting routines", KINDS[self.kernel].is_resort
        )
        self._refuse_of_others("--cap", self.cap, "gemv", self.kernel == "gemv")
        self._refuse_of_others(
            "--stride", self.stride, "strided-copy", self.kernel == "strided-copy"
        )
        if self.batched and self.threads is not None:
            raise RequestError(
                "--batched, --threads: batched is a thread on each physical core; leave one out"
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
