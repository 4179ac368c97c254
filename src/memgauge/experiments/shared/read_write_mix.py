"""Loads: mixes of reads and writes, as the traffic generator is asked for them.

A share of reads becomes a ratio of small whole numbers, because the generator makes its mixes by
instructions: so many loads to so many stores of a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Annotated

import msgspec

from memgauge import _core
from memgauge.model.errors import RequestError
from memgauge.model.option import choices_option
from memgauge.model.points.shared import TrafficMemory, TrafficMix
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point, Warning

STORES = ("temporal", "non-temporal")
ORDERS = ("sequential", "random")
TWO_TO_ONE = 2 / 3

SMALL_PERIOD = 100
LARGEST_PERIOD = 1000
"""Accesses after which a mix repeats itself; the generator takes no longer one."""
CLOSE_ENOUGH = Fraction(1, 2000)
"""Half of the tenth of a per cent that names of points show."""

PROOF_BYTES = 4 << 20
"""Sixty times the longest period, so that an unfinished one hardly shows."""

Stores = Annotated[
    tuple[str, ...], choices_option("kind of stores: ordinary, or bypassing the caches", STORES)
]


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """One mix of reads and writes."""

    read_share: float
    """As asked; of all accesses, each of one line."""
    reads: int
    writes: int
    """To so many reads: a ratio of whole numbers without a common divisor."""
    store: str | None
    """None where nothing is written."""
    order: str

    @property
    def name(self) -> str:
        """Such as `100r/sequential` or `66.7r-temporal/random`."""
        percent = f"{100 * self.reads / (self.reads + self.writes):.1f}".removesuffix(".0")
        mix = f"{percent}r" if self.store is None else f"{percent}r-{self.store}"
        return f"{mix}/{self.order}"

    @property
    def requested(self) -> dict[str, Scalar]:
        """As the records hold it."""
        return TrafficMix(
            read_share=self.read_share,
            reads=self.reads,
            writes=self.writes,
            store=self.store or "",
            order=self.order,
        ).recorded()

    def spec(self, delay: int = 0) -> _core.TrafficSpec:
        """What the generator is set to; `delay` in units of its pause."""
        return _core.TrafficSpec(
            self.reads, self.writes, self.store or "temporal", self.order, delay
        )

    def bytes_of(self, lines: int) -> tuple[int, int]:
        """Bytes counted and bytes moved, write-allocate included, of so many line accesses."""
        spec = self.spec()
        moved = spec.line_bytes * (self.reads + self.writes)
        moved += spec.write_allocate_bytes * self.writes
        return lines * spec.line_bytes, lines * moved // (self.reads + self.writes)


def ratio(read_share: float) -> tuple[int, int]:
    """Reads and writes, small whole numbers whose share of reads is as asked: 66.7% is 2:1."""
    requested = Fraction(read_share)
    simple = requested.limit_denominator(SMALL_PERIOD)
    if abs(simple - requested) > CLOSE_ENOUGH:
        simple = requested.limit_denominator(LARGEST_PERIOD)
    return simple.numerator, simple.denominator - simple.numerator


def loads(
    read_shares: Iterable[float], stores: Sequence[str], orders: Mapping[bool, Sequence[str]]
) -> list[Load]:
    """Each mix once, all stores of a mix side by side.

    Args:
        read_shares: Reads over all accesses, 0 to 1, one for each mix; 1 stores nothing.
        stores: Kinds of stores, of `STORES`; those that this processor lacks are left out.
        orders: Orders of accesses, of `ORDERS`; True: for mixes with writes, False: for pure reads.

    Raises:
        RequestError: nothing is left, because this processor has none of the stores asked for.
    """
    possible = possible_stores(stores)
    found: dict[str, Load] = {}
    for share in read_shares:
        reads, writes = ratio(share)
        kinds: Sequence[str | None] = possible if writes else (None,)
        for order in orders[writes > 0]:
            for store in kinds:
                load = Load(read_share=share, reads=reads, writes=writes, store=store, order=order)
                found.setdefault(load.name, load)
    return list(found.values())


def possible_stores(stores: Sequence[str]) -> list[str]:
    """Of the stores asked for, those this processor has.

    Raises:
        RequestError: it has none of them.
    """
    possible = [store for store in stores if store == "temporal" or has_non_temporal_stores()]
    if not possible:
        raise RequestError(
            "--store non-temporal: this processor has no stores that bypass the caches; "
            "use --store temporal"
        )
    return possible


def has_non_temporal_stores() -> bool:
    """Whether this processor can write past its caches."""
    try:
        _core.TrafficSpec(reads=0, writes=1, store="non-temporal")
    except RequestError:
        return False
    return True


def issued_share(traffic: _core.Traffic, load: Load) -> float | None:
    """Reads among the accesses that were really made, by the threads' own count of a short run."""
    threads = traffic.run(load.spec(), PROOF_BYTES).threads
    read_bytes = sum(thread.read_bytes for thread in threads)
    issued_bytes = read_bytes + sum(thread.write_bytes for thread in threads)
    return round(read_bytes / issued_bytes, 6) if issued_bytes else None


def left_out(stores: Sequence[str]) -> dict[str, Scalar]:
    """The fact that some of the stores asked for are not measured; empty where all are."""
    missing = [store for store in stores if store not in possible_stores(stores)]
    return TrafficMemory(left_out=",".join(missing)).recorded()


def warnings_of(point: Point) -> list[Warning]:
    """What was left out, said once, by the point that carries the fact."""
    if not TrafficMemory.of(point.actual).left_out:
        return []
    return [
        Warning(
            code="no-non-temporal-stores",
            message=(
                "this processor has no stores that bypass the caches: "
                "non-temporal writes were left out"
            ),
            experiment=point.experiment,
        )
    ]
