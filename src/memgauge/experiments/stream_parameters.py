"""Parameters of `stream`."""

from typing import Annotated

from memgauge.model.event_names import NONE, events_option
from memgauge.model.option import choice_option, choices_option, size_option, switch_option
from memgauge.model.parameters import CommonParameters

KERNELS = ("copy", "scale", "add", "triad", "read", "write", "update")
VARIANTS = ("standard", "tuned")
ELEMENTS = ("double", "float")
ACCESSES = ("direct", "translated")
STORES = ("temporal", "non-temporal", "flushed")


class StreamParameters(CommonParameters, frozen=True, kw_only=True):
    """What `stream` takes."""

    kernel: Annotated[tuple[str, ...], choices_option("kernels to run", KERNELS)] = KERNELS
    variant: Annotated[
        tuple[str, ...],
        choices_option("plain loop by STREAM's rules, or as fast as can be", VARIANTS),
    ] = VARIANTS
    element: Annotated[str, choice_option("type of the array elements", ELEMENTS)] = "double"
    array_bytes: Annotated[
        int | None,
        size_option(
            "bytes of each array",
            automatic="four times the last-level caches used, as the STREAM rules ask",
        ),
    ] = None
    array_offset: Annotated[
        int | None,
        size_option("shift of each array against the one before", automatic="none"),
    ] = None
    access: Annotated[
        tuple[str, ...],
        choices_option(
            "how elements in a pool of libpmemobj are found: by their address, or translated from "
            "their object at each access, as D_RO and D_RW do",
            ACCESSES,
        ),
    ] = ("direct",)
    store: Annotated[
        tuple[str, ...] | None,
        choices_option(
            "kind of stores; flushed: every line written back, then a fence",
            STORES,
            automatic="the variant's own",
        ),
    ] = None
    autotune: Annotated[
        bool,
        switch_option("search store kind, vector width, unroll, sub-streams and prefetch distance"),
    ] = False
    counters: Annotated[
        tuple[str, ...] | None,
        events_option(
            "counters to read around repetitions of each kernel alone, of memory traffic (auto) or "
            "named; modelled: what the kernels are known to move",
            automatic=NONE,
        ),
    ] = None
