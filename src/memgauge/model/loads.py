"""Names of the loads of known traffic, as records of `counters verify` hold them."""

READ = "read"
TEMPORAL = "write-temporal"
"""Ordinary writes."""
NON_TEMPORAL = "write-non-temporal"
"""Writes past the caches."""

LOADS = (READ, TEMPORAL, NON_TEMPORAL)
