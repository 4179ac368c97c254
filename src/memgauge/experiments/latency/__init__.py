"""The experiment `latency`."""
