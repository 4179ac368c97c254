"""Names of the loads of known traffic, as records of `counters verify` hold them."""

READ = "read"
TEMPORAL = "write-temporal"
"""Ordinary writes."""
NON_TEMPORAL = "write-non-temporal"
"""Writes past the caches."""
WRITE = "write"
"""A GPU's, whose caches write whole sectors without reading them."""
COPY = "copy"
"""A GPU's: a byte read for each byte written."""

LOADS = (READ, TEMPORAL, NON_TEMPORAL, WRITE, COPY)
