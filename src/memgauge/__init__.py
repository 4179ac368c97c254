"""Measure how fast a computer's memory really is, and where a program's memory traffic goes.

    >>> import memgauge
    >>> result = memgauge.survey(budget="30s")
    >>> print(result.text())

Everything is loaded on first use, so that importing the package is quick.
"""

# Also the start of the command line tool, which takes care of signals only after this: so not even
# typing is imported, which takes longer than all of this file.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memgauge.api import (
        combined,
        compare,
        counters,
        counters_compare,
        counters_verify,
        events,
        interleave,
        latency,
        load,
        loaded,
        machine,
        misses,
        mix,
        numa,
        pages,
        profile,
        published,
        region,
        simulate,
        stream,
        stride,
        survey,
        system,
        tiers,
        traffic,
        transfers,
        workingset,
    )
    from memgauge.model.errors import MemgaugeError
    from memgauge.results import Result

__all__ = [
    "MemgaugeError",
    "Result",
    "combined",
    "compare",
    "counters",
    "counters_compare",
    "counters_verify",
    "events",
    "interleave",
    "latency",
    "load",
    "loaded",
    "machine",
    "misses",
    "mix",
    "numa",
    "pages",
    "profile",
    "published",
    "region",
    "simulate",
    "stream",
    "stride",
    "survey",
    "system",
    "tiers",
    "traffic",
    "transfers",
    "workingset",
]


def __getattr__(name: str) -> "Any":
    if name not in __all__:
        raise AttributeError(f"module 'memgauge' has no attribute {name!r}")
    from memgauge import api
    from memgauge.model import errors

    return getattr(errors if name == "MemgaugeError" else api, name)


def __dir__() -> list[str]:
    return __all__
