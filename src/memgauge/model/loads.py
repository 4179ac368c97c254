"""Names of the loads of known traffic, as records of `counters verify` hold them."""

READ = "read"
TEMPORAL = "write-temporal"
"""Load of ordinary writes."""
NON_TEMPORAL = "write-non-temporal"
"""Load of writes that bypass the caches."""
WRITE = "write"
"""Writes of a GPU, whose caches write whole sectors without reading them."""
COPY = "copy"
"""Copy of a GPU: a byte read for each byte written."""

LOADS = (READ, TEMPORAL, NON_TEMPORAL, WRITE, COPY)
