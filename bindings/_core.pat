# Constants, which cannot hold a docstring: their lines in the stub.

compiler$:
    compiler: str
    """What built the core, such as `gcc 12.2.0`."""

POOL_LAYOUT$:
    POOL_LAYOUT: str
    """Of the pools that memgauge makes."""

MOST_THREAD_EVENTS$:
    MOST_THREAD_EVENTS: int
    """That a `ThreadLedger` counts for each thread."""

NEST_KINDS$:
    NEST_KINDS: list[str]
    """Names of all loop nests."""
