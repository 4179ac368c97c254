"""The experiment `misses`."""
