"""The analysis of the experiment `misses`."""
