"""The patterns of `stride`: kind by order by size of access by stride, all in one buffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec

from memgauge.experiments.shared.powers_of_two import power_above, power_below
from memgauge.model.errors import RequestError
from memgauge.model.option import choices_option, size_option, sizes_option
from memgauge.model.parameters import OneThreadParameters
from memgauge.model.system import System
from memgauge.model.units import format_bytes
from memgauge.system.topology.placement import caches_of

KIB = 1 << 10
MIB = 1 << 20
KINDS = ("dependent", "independent")
ORDERS = ("sequential", "random")
ACCESSES = (64, 256, KIB, 4 * KIB)
COARSE_STRIDES = (64, 256, KIB, 4 * KIB, 16 * KIB)
FINE_STRIDES = tuple(64 << power for power in range(11))
"""Every power of two from 64 B to 64 KiB."""

WORD_BYTES = 8
BLOCK_BYTES = 64
"""Larger accesses are made of these; the core loads one word of each."""

LEAST_FOOTPRINT_BYTES = 128 * MIB
CACHE_MULTIPLE = 4
MEMORY_SHARE = 8
"""Of what may be allocated, one part of so many at most, where no footprint was requested and no
cache is so large that more is needed."""

LEAST_SLOTS = 64

SAMPLE_ACCESSES = {
    ("dependent", "sequential"): (12_000, 1),
    ("dependent", "random"): (1_500, 16),
    ("independent", "sequential"): (40_000, 1),
    ("independent", "random"): (12_000, 4),
}
"""Accesses of one line in a sample, and of how many lines one may be before they become fewer.

Each is then some 0.03 to 0.3 ms; in order and without prefetchers it would be up to 2 ms.
"""

WARM_SHARE = 8
"""Untimed accesses before the timed ones, one for so many: prefetchers are trained on them."""


class StrideParameters(OneThreadParameters, frozen=True, kw_only=True):
    """What `stride` takes."""

    access_bytes: Annotated[
        tuple[int, ...],
        msgspec.structs.replace(
            sizes_option("bytes of one access: 8 B, or whole lines"), flag="--access"
        ),
    ] = ACCESSES
    stride_bytes: Annotated[
        tuple[int, ...] | None,
        msgspec.structs.replace(
            sizes_option(
                "distances between consecutive accesses",
                automatic="64 B to 16 KiB in powers of four; fine: 64 B to 64 KiB in powers of two",
            ),
            flag="--stride",
        ),
    ] = None
    order: Annotated[
        tuple[str, ...], choices_option("orders in which memory is walked", ORDERS)
    ] = ORDERS
    footprint_bytes: Annotated[
        int | None,
        msgspec.structs.replace(
            size_option(
                "bytes of memory to walk",
                automatic="four times the last-level cache, 128 MiB or more",
            ),
            flag="--footprint",
        ),
    ] = None


class Pattern(msgspec.Struct, frozen=True, kw_only=True):
    """One way to walk the buffer."""

    kind: str
    order: str
    access_bytes: int
    stride_bytes: int
    slots: int
    """Accesses until the first comes again: a power of two, which a scrambled order needs."""

    @property
    def name(self) -> str:
        """Name of the point."""
        return f"stride/{self.kind}/{self.order}/{self.access_bytes}/{self.stride_bytes}"

    @property
    def accesses(self) -> tuple[int, int]:
        """Timed accesses of a sample and untimed ones before; together at most one pass."""
        most, lines = SAMPLE_ACCESSES[self.kind, self.order]
        blocks = max(1, self.access_bytes // BLOCK_BYTES)
        timed = most * (1 + lines) // (blocks + lines)
        warm = min(max(1, timed // WARM_SHARE), self.slots // (WARM_SHARE + 1))
        return min(timed, self.slots - warm), warm

    def lines(self, line_bytes: int) -> int:
        """Cache lines that one access lies on."""
        return -(-self.access_bytes // line_bytes)

    def moved_bytes(self, line_bytes: int) -> int:
        """That an access moves from memory by the count of lines, when no cache holds any.

        Accesses in order that share a line move it once.
        """
        whole = self.lines(line_bytes) * line_bytes
        return min(whole, self.stride_bytes) if self.order == "sequential" else whole


def patterns(parameters: StrideParameters, system: System, cpu: int) -> list[Pattern]:
    """All patterns, in the order in which they are measured.

    Args:
        parameters: As requested: sizes of accesses, strides, orders and footprint.
        system: Machine, for its caches and its available memory.
        cpu: CPU that walks; its last-level cache determines the default footprint.

    Raises:
        RequestError: sizes, strides or a footprint that cannot be.
    """
    strides = strides_of(parameters)
    for access in parameters.access_bytes:
        _check_access(access)
    for stride in strides:
        _check_stride(stride, parameters.access_bytes)
    footprint = footprint_of(parameters, system, cpu)
    found = list(_patterns(parameters, strides, footprint))
    for pattern in found:
        if pattern.slots < LEAST_SLOTS:
            raise RequestError(
                f"--footprint {format_bytes(footprint)}: holds only {pattern.slots} accesses "
                f"{format_bytes(pattern.stride_bytes)} apart; ask for "
                f"{format_bytes(LEAST_SLOTS * pattern.stride_bytes)} or more, or a smaller --stride"
            )
    return found


def _patterns(
    parameters: StrideParameters, strides: Sequence[int], footprint_bytes: int
) -> Iterator[Pattern]:
    for access in parameters.access_bytes:
        for stride in strides:
            if not _fits(access, stride):
                continue
            for kind in KINDS:
                for order in parameters.order:
                    yield Pattern(
                        kind=kind,
                        order=order,
                        access_bytes=access,
                        stride_bytes=stride,
                        slots=power_below(footprint_bytes // stride),
                    )


def strides_of(parameters: StrideParameters) -> tuple[int, ...]:
    """As requested, or as fine as the sweep."""
    if parameters.stride_bytes is not None:
        return parameters.stride_bytes
    return FINE_STRIDES if parameters.is_fine else COARSE_STRIDES


def footprint_of(parameters: StrideParameters, system: System, cpu: int) -> int:
    """Bytes to walk: as requested, or a power of two, at least four times the last-level cache.

    No less where memory is short: in a smaller buffer caches would be measured.

    Args:
        parameters: As requested; with `footprint_bytes` None the default applies.
        system: Machine, for its caches and the memory that may still be allocated.
        cpu: CPU whose last-level cache the footprint must exceed.

    Raises:
        RequestError: more than may be allocated, or no more than a cache holds.
    """
    available = system.available_bytes
    last = max((cache.bytes for cache in caches_of(cpu, system).values()), default=0)
    requested = parameters.footprint_bytes
    if requested is None:
        fitting = min(LEAST_FOOTPRINT_BYTES, power_below(max(1, available // MEMORY_SHARE)))
        return max(fitting, power_above(max(1, CACHE_MULTIPLE * last)))
    if requested > available:
        raise RequestError(
            f"--footprint {format_bytes(requested)}: only {format_bytes(available)} of memory may "
            f"be used; ask for less"
        )
    if requested <= last:
        raise RequestError(
            f"--footprint {format_bytes(requested)}: fits in a cache of {format_bytes(last)}, but "
            "stride measures memory; use more, or measure the caches with workingset"
        )
    return requested


def _fits(access_bytes: int, stride_bytes: int) -> bool:
    unit = min(access_bytes, BLOCK_BYTES)
    return stride_bytes >= access_bytes and stride_bytes % unit == 0


def _check_access(access_bytes: int) -> None:
    if access_bytes != WORD_BYTES and access_bytes % BLOCK_BYTES:
        raise RequestError(
            f"--access {access_bytes}: is neither a word of {WORD_BYTES} bytes nor whole lines; "
            f"use {WORD_BYTES} or a multiple of {BLOCK_BYTES} bytes"
        )


def _check_stride(stride_bytes: int, access_bytes: Sequence[int]) -> None:
    if any(_fits(access, stride_bytes) for access in access_bytes):
        return
    smallest = min(access_bytes)
    unit = min(smallest, BLOCK_BYTES)
    raise RequestError(
        f"--stride {format_bytes(stride_bytes)}: leaves no room for an access of "
        f"{format_bytes(smallest)}, or would split one; use a multiple of {format_bytes(unit)} "
        f"from {format_bytes(smallest)} on, or a smaller --access"
    )
