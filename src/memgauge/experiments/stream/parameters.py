"""Parameters of `stream`."""

from typing import Annotated, ClassVar

from memgauge.model.counting.event_names import NONE, events_option
from memgauge.model.option import choice_option, choices_option, size_option, switch_option
from memgauge.model.parameters import CommonParameters

KERNELS = ("copy", "scale", "add", "triad", "read", "write", "update")
VARIANTS = ("standard", "tuned")
ELEMENTS = ("double", "float")
ACCESSES = ("direct", "translated")
STORES = ("temporal", "non-temporal", "flushed")


class StreamParameters(CommonParameters, frozen=True, kw_only=True):
    """What `stream` takes."""

    unlisted: ClassVar[frozenset[str]] = frozenset({"sweep"})

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
        size_option("offset of each array relative to the one before it", automatic="none"),
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
