"""Parameters of `stream`."""

from typing import Annotated, ClassVar

from memgauge.experiments.shared.prefetch import Prefetch, parse_distances
from memgauge.model.counting.event_names import NONE, events_option
from memgauge.model.errors import RequestError
from memgauge.model.option import (
    Option,
    choice_option,
    choices_option,
    count_option,
    list_text,
    size_option,
    switch_option,
)
from memgauge.model.parameters import CommonParameters, page_kinds_option
from memgauge.model.units import bytes_text, parse_bytes

KERNELS = ("copy", "scale", "add", "triad", "read", "write", "update")
VARIANTS = ("standard", "tuned")
ELEMENTS = ("double", "float")
ACCESSES = ("direct", "translated")
STORES = ("temporal", "non-temporal", "flushed")
SIZED = "auto"
"""Explicit huge pages are reserved for all arrays."""

MOST_REPETITIONS_REQUESTED = 100_000
MOST_RUNS = 10_000


def _reserved(text: str, flag: str) -> int | str:
    return SIZED if text.strip() == SIZED else parse_bytes(text, flag)


prefetch_option = Option(
    help="distances in bytes of software prefetch in the tuned kernels, compared in the same "
    "rounds; NEAR:FAR prefetches into the first and the second level, such as 512:4096",
    metavar="SIZE[:SIZE],...",
    parse=parse_distances,
    write=list_text,
    repeatable=True,
    automatic="none",
)
_reserve_option = Option(
    help="memory to reserve as explicit huge pages of each requested size during the run: auto "
    "(for all arrays) or a size such as 1GiB; it is given back afterwards (requires root)",
    metavar="auto|SIZE",
    parse=_reserved,
    write=lambda value: bytes_text(value) if type(value) is int else str(value),
    automatic="none; huge pages that are free are used",
    flag="--reserve-huge-pages",
    group="where",
)


class StreamParameters(CommonParameters, frozen=True, kw_only=True):
    """What `stream` takes."""

    unlisted: ClassVar[frozenset[str]] = frozenset({"sweep"})

    pages: Annotated[str, page_kinds_option] = "auto"
    reserve: Annotated[int | str | None, _reserve_option] = None
    kernel: Annotated[tuple[str, ...], choices_option("kernels to run", KERNELS)] = KERNELS
    variant: Annotated[
        tuple[str, ...],
        choices_option(
            "implementation: a plain loop as the STREAM rules require, or one "
            "tuned for this machine",
            VARIANTS,
        ),
    ] = VARIANTS
    element: Annotated[str, choice_option("type of the array elements", ELEMENTS)] = "double"
    array_bytes: Annotated[
        int | None,
        size_option(
            "bytes of each array",
            automatic="four times the last-level caches in use, as the STREAM rules require",
        ),
    ] = None
    array_offset: Annotated[
        int | None,
        size_option(
            "offset of each array relative to the one before it",
            automatic="that of arrays which lie one behind the other, as STREAM's do",
        ),
    ] = None
    access: Annotated[
        tuple[str, ...],
        choices_option(
            "how elements in a libpmemobj pool are addressed: directly, or translated "
            "from their object at each access, as D_RO and D_RW do",
            ACCESSES,
        ),
    ] = ("direct",)
    store: Annotated[
        tuple[str, ...] | None,
        choices_option(
            "kind of stores; flushed: every line is written back, followed by a fence",
            STORES,
            automatic="the one that the variant uses",
        ),
    ] = None
    prefetch: Annotated[tuple[Prefetch, ...] | None, prefetch_option] = None
    repetitions: Annotated[
        int | None,
        count_option(
            "walks over the whole arrays, of which the first is left out: those timed as STREAM "
            "times them, and those between two readings of counters",
            2,
            MOST_REPETITIONS_REQUESTED,
            automatic="11; with counters as many as take 50 ms, at most 100",
        ),
    ] = None
    runs: Annotated[
        int | None,
        count_option(
            "times that each kernel is counted, with the counters read before and after",
            1,
            MOST_RUNS,
            automatic="at least 12, until 99 repetitions were counted",
        ),
    ] = None
    autotune: Annotated[
        bool,
        switch_option(
            "search for the fastest store kind, vector width, unrolling, "
            "sub-streams and prefetch distance"
        ),
    ] = False
    counters: Annotated[
        tuple[str, ...] | None,
        events_option(
            "counters to read around repetitions of each kernel: those of memory traffic "
            "(auto), named ones, or modelled: the traffic that the kernels are known to "
            "cause",
            automatic=NONE,
        ),
    ] = None

    def check(self) -> None:
        """Refuse what has no meaning together.

        Raises:
            RequestError: `--runs` without counters, or `--prefetch` without tuned kernels.
        """
        if self.runs is not None and self.counters in (None, (NONE,)):
            raise RequestError(
                "--runs: nothing is counted; add --counters auto, or leave --runs out"
            )
        if self.prefetch is not None and "tuned" not in self.variant:
            raise RequestError(
                "--prefetch: only the tuned kernels prefetch; add tuned to --variant, or leave "
                "--prefetch out"
            )
