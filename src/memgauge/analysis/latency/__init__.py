"""The analysis of the experiment `latency`."""
