"""What `interleave` records about its points."""

from __future__ import annotations

from collections.abc import Mapping

from memgauge.model.interleave_weights import Weights
from memgauge.model.points.facts import Facts
from memgauge.model.points.shared import Backing

MOST_DIGITS = 6
"""Of a node or a weight in a record."""


class InterleaveRequested(Facts, frozen=True, kw_only=True):
    """A kernel over arrays whose pages are distributed by weights."""

    kernel: str = ""
    nodes: str = ""
    """Such as `0,2`."""
    weights: str = ""
    """Of each of these nodes, such as `3,1`."""
    element: str = ""
    threads: int | None = None
    memory: str = ""
    """The placement that these weights amount to."""
    pages: str = ""
    array_bytes: int | None = None
    """None: left to the STREAM rule."""

    @property
    def node_numbers(self) -> tuple[int, ...]:
        """The nodes; empty where the record holds no list of them."""
        return _numbers(self.nodes)

    @property
    def node_weights(self) -> Weights:
        """Their weights; empty where the record holds none for each node, or only zeros."""
        weights = _numbers(self.weights)
        return weights if len(weights) == len(self.node_numbers) and any(weights) else ()


class InterleaveActual(Backing, frozen=True, kw_only=True):
    """Where the threads ran, how the pages were distributed, and what walked them."""

    cpus: str = ""
    llc_bytes: int | None = None
    """Sum of the last-level caches that the team uses; None: the system hides it."""
    stream_conformant: bool | None = None
    """Arrays are as large as the STREAM rule requires."""
    largest_sum: int | None = None
    """Of weights: arrays have too few pages for larger ones."""
    array_bytes: int | None = None
    isa: str = ""
    store: str = ""
    shares: str = ""
    """Of the pages by node as the kernel reports them, such as `0=0.75,2=0.25`."""

    @property
    def node_shares(self) -> dict[int, float]:
        """The shares by node; empty: the kernel reports none."""
        pairs = (pair.partition("=") for pair in self.shares.split(",") if pair)
        return {int(node): float(share) for node, _, share in pairs}


def shares_text(shares: Mapping[int, float]) -> str:
    """Shares of pages by node as a record holds them."""
    return ",".join(f"{node}={round(share, 3):g}" for node, share in shares.items())


def numbers_text(numbers: Weights) -> str:
    """Nodes or weights as a record holds them."""
    return ",".join(map(str, numbers))


def _numbers(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    good = all(one.isascii() and one.isdigit() and len(one) <= MOST_DIGITS for one in parts)
    return tuple(map(int, parts)) if good else ()
