"""Parameters of `core_to_core`."""

from __future__ import annotations

from typing import Annotated, ClassVar

from memgauge.model.option import count_option
from memgauge.model.parameters import CommonParameters

ALL_PAIRS_CPUS = 64
"""Up to so many CPUs all pairs are measured."""
MOST_PAIRS = ALL_PAIRS_CPUS * (ALL_PAIRS_CPUS - 1) // 2
LARGEST_PAIRS = 1_000_000


class CoreToCoreParameters(CommonParameters, frozen=True, kw_only=True):
    """What `core-to-core` takes. Threads are those that contend for one line."""

    unlisted: ClassVar[frozenset[str]] = frozenset({
        "memory", "pages", "keep", "overwrite", "sweep",
    })  # fmt: skip

    pairs: Annotated[
        int | None,
        count_option(
            "most pairs of CPUs to measure; if there are more, a sample that covers the topology",
            1,
            LARGEST_PAIRS,
            automatic=f"{MOST_PAIRS}, all pairs of {ALL_PAIRS_CPUS} CPUs",
        ),
    ] = None
